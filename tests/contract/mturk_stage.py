"""The far side of Mechanical Turk: a marketplace, reached by boto3 over HTTP."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Self
from urllib.parse import parse_qsl, urlsplit

import aiohttp
from sqlalchemy import Connection, Table, select

from dialogs.rules import AssignmentStatus
from hit_manager.marketplace import assignments, hits, workers
from hit_manager.marketplace.clock import MovableClock
from hit_manager.marketplace.errors import (
    Blocked,
    DoesNotMeetRequirements,
    NoMoreAssignments,
)
from hit_manager.marketplace.faults import Fault, Faults
from hit_manager.marketplace.money import balance
from hit_manager.marketplace.pages.task import NOT_AVAILABLE, show
from hit_manager.marketplace.server import MarketplaceServer, serve_marketplace
from hit_manager.marketplace.states import AssignmentStatus as Here
from hit_manager.marketplace.states import HitStatus as HitHere
from hit_manager.marketplace.tables import assignments as assignments_table
from hit_manager.marketplace.tables import bonuses, messages
from hit_manager.marketplace.tables import hits as hits_table
from hit_manager.marketplace.workers import Key
from hit_manager.recruiters.backoff import Patience
from hit_manager.recruiters.mturk import Mturk, MturkConfig
from tests.contract.recruiters import NoSeat, Stage, Visit

MONEY: Final = 1_000_000
"""Cents on the requester's account at the beginning."""


class NextCalls(Faults):
    """Faults of the next calls, whichever they are."""

    def __init__(self) -> None:
        super().__init__()
        self.throttled = 0
        self.lost = 0

    def take(self, operation: str, fault: Fault) -> bool:
        if fault is Fault.THROTTLED and self.throttled:
            self.throttled -= 1
            return True
        # The qualification of the soft block is made beside the first HIT.
        looks = operation.startswith(("Get", "List")) or operation == "CreateQualificationType"
        if fault is Fault.LOST and self.lost and not looks:
            self.lost -= 1
            return True
        return super().take(operation, fault)


class MturkStage(Stage):
    """A marketplace with one requester, whose clock stands still unless it is moved."""

    def __init__(
        self, server: MarketplaceServer, key: Key, clock: MovableClock, faults: NextCalls
    ) -> None:
        self.waits = []
        self.server = server
        self.market = server.market
        self.key = key
        self.clock = clock
        self.faults = faults
        self.config = MturkConfig(server.url, key.id, key.secret)
        self._made: list[Mturk] = []
        self.recruiter = self.another()

    @classmethod
    @asynccontextmanager
    async def opened(cls, folder: Path) -> AsyncIterator[Self]:
        clock, faults = MovableClock(), NextCalls()
        url = f"sqlite:///{folder / 'market.sqlite'}"
        async with serve_marketplace(url, clock=clock, faults=faults) as server:

            def begin(connection: Connection, now: float) -> Key:
                requester = workers.create_requester(connection, now, "Ada's lab", MONEY)
                return workers.create_key(connection, now, requester)

            stage = cls(server, await server.market.write(begin), clock, faults)
            await stage.recruiter.open()
            yield stage
            for recruiter in stage._made:
                await recruiter.close()

    @property
    def mturk(self) -> Mturk:
        assert isinstance(self.recruiter, Mturk)
        return self.recruiter

    @property
    def calls(self) -> int:
        return self.faults.calls.total()

    def another(self) -> Mturk:
        """A second recruiter, not opened."""

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        patience = Patience(sleep=sleep, chance=lambda: 0.5)
        self._made.append(Mturk(self.config, patience=patience, now=self.clock.now))
        return self._made[-1]

    async def again(self) -> Mturk:
        recruiter = self.another()
        await recruiter.open()
        return recruiter

    # --- Workers ---------------------------------------------------------------------------

    async def take(self, hit_id: str) -> Visit:
        worker = await self.market.write(workers.create_worker, name="Kim", country="US")
        return await self.take_again(worker, hit_id)

    async def take_again(self, worker_id: str, hit_id: str) -> Visit:
        try:
            taken = await self.market.write(assignments.accept, worker_id, hit_id)
        except (Blocked, DoesNotMeetRequirements, NoMoreAssignments) as error:
            raise NoSeat(str(error)) from None
        query = await self._query(hit_id, taken.id, worker_id)
        return Visit(worker_id, taken.id, hit_id, query)

    async def _query(
        self, hit_id: str, assignment_id: str | None, worker_id: str | None
    ) -> dict[str, str]:
        """What the page in the frame is opened with."""
        hit = await self.market.read(hits.get, hit_id)
        task = show(
            hit.question,
            self.market.public_url,
            hit_id,
            is_ours=lambda _: False,
            assignment_id=assignment_id,
            worker_id=worker_id,
        )
        assert task.src is not None
        return dict(parse_qsl(urlsplit(task.src).query))

    def previews(self, visit: Visit) -> Sequence[Mapping[str, str]]:
        query = visit.query
        always = ("assignmentId", "hitId", "workerId", "turkSubmitTo")
        return [
            {},
            {"assignmentId": NOT_AVAILABLE},
            {**query, "assignmentId": NOT_AVAILABLE},
            *({n: v for n, v in query.items() if n != left_out} for left_out in always),
            *({**query, name: ""} for name in always),
            {**query, "turkSubmitTo": "https://evil.example"},
            {**query, "turkSubmitTo": f"{query['turkSubmitTo']}.evil.example"},
        ]

    async def submit(self, visit: Visit, code: str = "CODE1234") -> None:
        arriving = self.recruiter.arriving(visit.query)
        assert arriving is not None
        # Without a cookie, as a frame of another site has none.
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as browser,
            browser.post(
                arriving.submit_to, data={"assignmentId": visit.assignment_id, "code": code}
            ) as page,
        ):
            assert page.status == 200, await page.text()

    async def give_back(self, visit: Visit) -> None:
        await self.market.write(assignments.give_back, visit.worker_id, visit.assignment_id)

    # --- The team at the platform's own pages, and the platform's books ----------------------

    async def decide(self, visit: Visit, status: AssignmentStatus) -> None:
        requester = self.key.requester_id
        if status is AssignmentStatus.APPROVED:
            await self.market.write(assignments.approve, requester, visit.assignment_id, None)
        else:
            await self.market.write(assignments.reject, requester, visit.assignment_id, "No.")

    async def rewards(self, visit: Visit) -> Sequence[int]:
        found = await self._column(
            assignments_table, "paid", id=visit.assignment_id, status=Here.APPROVED
        )
        return [int(str(each)) for each in found]

    async def bonuses(self, visit: Visit) -> Sequence[int]:
        found = await self._column(
            bonuses, "amount", assignment_id=visit.assignment_id, worker_id=visit.worker_id
        )
        return [int(str(each)) for each in found]

    async def inbox(self, worker_id: str) -> Sequence[str]:
        return [str(each) for each in await self._column(messages, "text", worker_id=worker_id)]

    async def posted(self, key: str) -> int:
        annotation = f"{self.config.mark}:{key}"
        return len(await self._column(hits_table, "id", annotation=annotation))

    async def open_hits(self) -> Sequence[str]:
        """The ids of the HITs that somebody could take, from the marketplace's own books."""
        found = await self._column(hits_table, "id", status=HitHere.ASSIGNABLE)
        return [str(each) for each in found]

    async def postings(self) -> Counter[str]:
        """How often each key was posted."""
        found = await self._column(hits_table, "annotation")
        return Counter(str(each).removeprefix(f"{self.config.mark}:") for each in found)

    async def expires_at(self, hit_id: str) -> float:
        return (await self.market.read(hits.get, hit_id)).expires_at

    async def spent(self) -> int:
        """Cents that have left the requester's account, commission included."""

        def read(connection: Connection, now: float) -> int:
            held = balance(connection, self.key.requester_id)
            return MONEY - held.available - held.on_hold

        return await self.market.read(read)

    async def _column(self, table: Table, column: str, **where: str) -> Sequence[object]:
        def read(connection: Connection, now: float) -> Sequence[object]:
            statement = select(table.c[column]).order_by(table.c.n)
            for name, value in where.items():
                statement = statement.where(table.c[name] == value)
            return connection.execute(statement).scalars().all()

        return await self.market.read(read)

    # --- The network -------------------------------------------------------------------------

    def lose_answers(self, number: int = 1) -> None:
        self.faults.lost = number

    def throttle(self, number: int) -> None:
        self.faults.throttled = number
