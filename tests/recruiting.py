"""A study that recruits, for tests: rows of the record as the live server would have left them.

People are `worker-N` with the arrival `arrival-N`, known to the recruiter by ids of its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select, update

from dialogs.record import payments, studies
from dialogs.record.hits import HitRow, hits_in
from dialogs.record.payments import PaymentRow
from dialogs.record.store import Record
from dialogs.record.tables import (
    arrivals,
    dialogs,
    hits,
    items,
    ledger,
    relaunch_seats,
    relaunches,
    releases,
    seats,
    workers,
)
from dialogs.rules import (
    Acceptance,
    ArrivalStatus,
    AssignmentStatus,
    HitState,
    LedgerReason,
    LedgerState,
    Outcome,
    Phase,
    Release,
    SeatStatus,
    StudyStatus,
)
from hit_manager.config import HitConfig
from hit_manager.ids import record_key
from hit_manager.manager import HitManager, Round
from hit_manager.marketplace import money
from tests.contract.mturk_stage import MturkStage
from tests.contract.recruiters import Visit
from tests.records import OPENED_AT, STUDY, opened, prepared

CONFIG = HitConfig(
    study_id=STUDY,
    title="Talk about a picture",
    description="Two people talk about a picture.",
    keywords="chat, picture",
    reward=50,
    full_pay=150,
    currency="USD",
    url="https://study.example.org",
)

KEY = record_key(STUDY, 1.0)
"""What the keys of its HITs over there begin with."""


# --- Rows ------------------------------------------------------------------------------------


def add_items(connection: Connection, names: Iterable[str], wanted: int = 1) -> None:
    for n, name in enumerate(names):
        row = studies.new_items(STUDY, [prepared(name, wanted, n)], 1.0).inserts[0][1]
        connection.execute(items.insert(), row)


def add_arrival(
    connection: Connection,
    n: int | str,
    *,
    status: ArrivalStatus = ArrivalStatus.WAITING,
    recruiter: str = "mturk",
    external_id: str | None = None,
    assignment_id: str | None = None,
    hit_id: str | None = None,
    created_at: float = OPENED_AT,
) -> str:
    """Somebody comes; returns their arrival's id."""
    connection.execute(
        workers.insert(),
        {
            "id": f"worker-{n}",
            "study_id": STUDY,
            "recruiter": recruiter,
            "external_id": external_id or f"PERSON{n}",
            "created_at": created_at,
        },
    )
    connection.execute(
        arrivals.insert(),
        {
            "id": f"arrival-{n}",
            "study_id": STUDY,
            "worker_id": f"worker-{n}",
            "assignment_id": assignment_id or f"assignment-{n}",
            "status": status.value,
            "language": "en",
            "created_at": created_at,
            "hit_id": hit_id,
        },
    )
    return f"arrival-{n}"


def add_dialog(
    connection: Connection,
    name: str,
    item: str,
    place: int = 1,
    *,
    phase: Phase = Phase.PAIRED,
    outcome: Outcome | None = None,
    acceptance: Acceptance | None = None,
    people: Iterable[tuple[str, SeatStatus]] = (),
    at: float = OPENED_AT,
) -> None:
    """A dialog; `people` are arrivals with their seats' status."""
    connection.execute(
        dialogs.insert(),
        {
            "id": name,
            "study_id": STUDY,
            "item_id": item,
            "place": place,
            "phase": phase.value,
            "outcome": outcome and outcome.value,
            "acceptance": acceptance and acceptance.value,
            "language": "en",
            "same_address": False,
            "opened_at": at,
            "ended_at": at if outcome else None,
        },
    )
    for role, (arrival, status) in zip(("questioner", "answerer"), people, strict=False):
        row = {
            "dialog_id": name,
            "role": role,
            "arrival_id": arrival,
            "worker_id": arrival.replace("arrival", "worker"),
            "item_id": item,
            "status": status.value,
        }
        connection.execute(seats.insert(), row)
        if status is SeatStatus.LIVE:
            set_status(connection, arrival, ArrivalStatus.SEATED)


def set_status(connection: Connection, arrival: str, status: ArrivalStatus) -> None:
    connection.execute(update(arrivals).where(arrivals.c.id == arrival).values(status=status.value))


def add_relaunch(
    connection: Connection, dialog: str, item: str, place: int = 1, at: float = OPENED_AT
) -> None:
    row = {"dialog_id": dialog, "item_id": item, "place": place, "at": at}
    connection.execute(relaunches.insert(), row)


def release(
    connection: Connection,
    arrival: str,
    cents: int,
    *,
    how: Release = Release.COMPLETED,
    reason: LedgerReason = LedgerReason.DIALOG,
    state: LedgerState = LedgerState.OWED,
    dialog: str | None = None,
    at: float = OPENED_AT,
) -> None:
    """An arrival ends, and is owed something, or with 0 nothing."""
    row = {
        "arrival_id": arrival,
        "dialog_id": dialog,
        "release": how.value,
        "code": f"code-{arrival}",
        "at": at,
    }
    connection.execute(releases.insert(), row)
    set_status(connection, arrival, ArrivalStatus.RELEASED)
    if cents:
        owes(connection, arrival, cents, reason=reason, state=state, at=at)


def owes(
    connection: Connection,
    arrival: str,
    cents: int,
    *,
    reason: str = LedgerReason.DIALOG,
    state: LedgerState = LedgerState.OWED,
    at: float = OPENED_AT,
) -> None:
    row = {
        "arrival_id": arrival,
        "reason": str(reason),
        "cents": cents,
        "currency": "USD",
        "state": state.value,
        "at": at,
    }
    connection.execute(ledger.insert(), row)


# --- A study on a marketplace ------------------------------------------------------------------


@dataclass
class Recruiting:
    """A study's record, a marketplace, and the hit manager between them, which does nothing by
    itself: `round` is one round."""

    record: Record
    stage: MturkStage
    config: HitConfig
    people: int = 0
    visits: dict[str, Visit] = field(default_factory=dict)
    manager: HitManager = field(init=False)

    def __post_init__(self) -> None:
        self.manager = self.another()

    def another(self, **changes: Any) -> HitManager:
        """A manager as after a start of the program, or one beside the first."""
        self.config = replace(self.config, **changes)
        return HitManager(self.record, self.stage.recruiter, self.config, now=self.stage.clock.now)

    def set(self, **changes: Any) -> None:
        """Go on with other settings."""
        self.manager = self.another(**changes)
        # The lease of the manager before is given up.
        self.stage.clock.advance(61.0)

    async def round(self) -> Round:
        return await self.manager.round()

    def write(self, change: Any, *args: Any, **how: Any) -> Any:
        with self.record.engine.connect() as connection, connection.begin():
            return change(connection, *args, **how)

    async def study_becomes(self, status: StudyStatus) -> None:
        await self.record.writer.commit(studies.changed_status(STUDY, status))

    async def hits(self, *states: HitState) -> list[HitRow]:
        return await self.record.read(hits_in, STUDY, states or tuple(HitState))

    def again(self, *dialogs: str) -> list[tuple[str, str, int]]:
        """What was posted for relaunches, of these dialogs or of all: (dialog, our HIT, seats)."""
        query = select(relaunch_seats).order_by(relaunch_seats.c.dialog_id)
        with self.record.engine.connect() as connection:
            found = [(r.dialog_id, r.hit_id, r.seats) for r in connection.execute(query)]
        return [each for each in found if not dialogs or each[0] in dialogs]

    async def open_there(self) -> list[str]:
        """The ids of the HITs that somebody could take over there."""
        return sorted(await self.stage.open_hits())

    async def arrive(self, hit: HitRow, **how: Any) -> str:
        """A new worker takes the HIT over there, and opens our page; returns the arrival."""
        assert hit.remote_id
        visit = await self.stage.take(hit.remote_id)
        return self.come(visit, hit.id, **how)

    def come(self, visit: Visit, hit_id: str, **how: Any) -> str:
        n, self.people = self.people, self.people + 1
        given: dict[str, Any] = {
            "external_id": visit.worker_id,
            "assignment_id": visit.assignment_id,
            "hit_id": hit_id,
            "created_at": self.stage.clock.now(),
        }
        arrival: str = self.write(add_arrival, n, **(given | how))
        self.visits[arrival] = visit
        return arrival

    async def hand_in(self, arrival: str) -> None:
        await self.stage.submit(self.visits[arrival], f"code-{arrival}")

    async def worked(self, cents: int = 150, *, hit: HitRow | None = None) -> str:
        """Somebody has come by a HIT, is owed so much, and has handed in."""
        if hit is None:
            taken = {visit.hit_id for visit in self.visits.values()}
            hit = next(h for h in await self.hits(HitState.OPEN) if h.remote_id not in taken)
        arrival = await self.arrive(hit)
        self.write(release, arrival, cents)
        await self.hand_in(arrival)
        return arrival

    async def payment(self, arrival: str, reason: str = "dialog") -> PaymentRow:
        found = await self.record.read(payments.payments_of, [arrival])
        return next(p for p in found if p.reason == reason)

    async def got(self, arrival: str) -> tuple[list[int], list[int]]:
        """What the worker has got over there: rewards and bonuses, in cents."""
        visit = self.visits[arrival]
        return list(await self.stage.rewards(visit)), list(await self.stage.bonuses(visit))

    async def status_there(self, arrival: str) -> AssignmentStatus:
        told = await self.stage.recruiter.assignment(self.visits[arrival].assignment_id)
        return told.status

    async def money_left(self, cents: int) -> None:
        """The requester has so much at hand over there."""
        requester = self.stage.key.requester_id

        def become(connection: Connection, now: float) -> None:
            had = money.balance(connection, requester).available
            money.deposit(connection, requester, cents - had)

        await self.stage.market.write(become)

    def forget_posting(self) -> None:
        """As if whoever posted the HITs had died before the answers were stored."""

        def forget(connection: Connection) -> None:
            before = {"state": HitState.WANTED.value, "remote_id": None, "posted_at": None}
            connection.execute(update(hits).values(**before, free=0, pending=0, seats_there=0))

        self.write(forget)

    def complete(self, name: str) -> None:
        """A dialog becomes complete; its people's releases are not written."""

        def end(connection: Connection) -> None:
            how = {"phase": Phase.ENDED.value, "outcome": Outcome.COMPLETE.value}
            connection.execute(update(dialogs).where(dialogs.c.id == name).values(**how))
            done = seats.update().where(seats.c.dialog_id == name)
            connection.execute(done.values(status=SeatStatus.DONE.value))

        self.write(end)

    def study_of_items(self, *names: str, wanted: int = 1) -> None:
        self.write(add_items, names, wanted)

    def pair(self, name: str, a: str, b: str, item: str, place: int = 1) -> None:
        people = [(a, SeatStatus.LIVE), (b, SeatStatus.LIVE)]
        at = self.stage.clock.advance(1.0)
        self.write(add_dialog, name, item, place, people=people, at=at)

    def fail(self, name: str, item: str, place: int = 1) -> None:
        """A dialog that was paired ends incomplete: nobody is left in it, and all went home."""

        def end(connection: Connection) -> None:
            connection.execute(
                update(dialogs)
                .where(dialogs.c.id == name)
                .values(phase=Phase.ENDED.value, outcome=Outcome.ABANDONED.value)
            )
            held = select(seats.c.arrival_id).where(seats.c.dialog_id == name)
            for arrival in list(connection.execute(held).scalars()):
                release(connection, arrival, 0, how=Release.LEFT)
            connection.execute(
                update(seats).where(seats.c.dialog_id == name).values(status=SeatStatus.LOST.value)
            )
            add_relaunch(connection, name, item, place, at=self.stage.clock.advance(1.0))

        self.write(end)


@asynccontextmanager
async def recruiting(url: str, folder: Path, **changes: Any) -> AsyncIterator[Recruiting]:
    """An open study without items, on a new marketplace in `folder`."""
    market = folder / "market"
    market.mkdir()
    async with MturkStage.opened(market) as stage, opened(url) as record:
        await record.writer.commit(studies.new_study(STUDY, {}, 1.0))
        yield Recruiting(record, stage, replace(CONFIG, **changes))
