"""A hit manager that is killed again and again, while a crowd works; and what must hold then."""

from __future__ import annotations

import asyncio
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, select

from dialogs.record import payments
from dialogs.record.hits import hit_by_token
from dialogs.record.queries import free_places
from dialogs.record.supply import unposted_relaunches
from dialogs.record.tables import dialogs, hits, ledger, relaunch_seats, relaunches
from dialogs.rules import HitState, LedgerState, StudyStatus
from hit_manager.ids import posting_key
from tests.chaos.hits_child import CALLS, MOMENTS, Job, Point
from tests.contract.recruiters import NoSeat
from tests.records import STUDY
from tests.recruiting import KEY, Recruiting, add_items, recruiting, release

COMMITS: Final = 9
"""Commits of a life at which it may end: lease, wish, posting, and the steps of a payment."""

POINTS: Final = (
    *(Point(call, moment) for call in CALLS for moment in MOMENTS),
    *(Point("commit", moment, nth) for nth in range(1, COMMITS + 1) for moment in MOMENTS),
)
GROWING_POINTS: Final = (*POINTS, *(Point("grow", moment) for moment in MOMENTS))
"""Where HITs grow."""
LIFE_S: Final = 61.0
"""Between two lives, so that the lease of the first has run out."""


def points_of(seats: int) -> tuple[Point, ...]:
    """Where a manager may die in a study whose HITs have so many seats at most."""
    return POINTS if seats == 1 else GROWING_POINTS


@dataclass
class Killing:
    """The study, its crowd, and the process in which managers live and die."""

    at: Recruiting
    database: str
    process: asyncio.subprocess.Process
    random: random.Random
    deaths: Counter[str] = field(default_factory=Counter)
    lives: int = 0
    dialogs: int = 0
    waiting: list[str] = field(default_factory=list)
    interrupted: set[str] = field(default_factory=set)
    bonuses: Counter[str] = field(default_factory=Counter)

    # --- Lives -------------------------------------------------------------------------------

    async def life(self, point: Point | None = None, rounds: int = 1) -> int:
        """One life; its exit status, -9 if it was killed."""
        clock, stage = self.at.stage.clock, self.at.stage
        job = Job(
            self.database,
            stage.server.url,
            stage.key.id,
            stage.key.secret,
            self.at.config,
            clock.advance(LIFE_S),
            rounds,
            point,
        )
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(job.to_json().encode() + b"\n")
        status = int(await self.process.stdout.readline())
        self.lives += 1
        assert status in (0, -9), "a manager failed; its error is above"
        if status == -9:
            self.deaths[str(point)] += 1
        return status

    async def kill_at(self, point: Point) -> None:
        """Let a manager work until it dies at this point."""
        for _ in range(6):
            await self.work_for(point)
            if await self.life(point) == -9:
                await self.at.study_becomes(StudyStatus.OPEN)
                return
            await self.at.study_becomes(StudyStatus.OPEN)
        raise AssertionError(f"no manager ever came to the point {point}")

    async def work_for(self, point: Point) -> None:
        """Something to be posted, something to be paid, or something to be taken down."""
        self.at.write(add_items, [f"item-{self.lives}"])
        if point.what == "expire":
            if not await self.at.open_there():
                await self.life()
            self.interrupted |= set(self.at.write(_on_their_way))
            await self.at.study_becomes(StudyStatus.PAUSED)
            return
        await self.crowd()

    # --- The crowd -----------------------------------------------------------------------------

    async def crowd(self) -> None:
        """People take HITs that stand open, talk if they are two, and hand in."""
        for remote_id in (await self.at.open_there())[:4]:
            try:
                visit = await self.at.stage.take(remote_id)
            except NoSeat:
                # What a dead manager had sent may arrive after its death.
                continue
            # By the token of the link, as at the door: its row may still say `wanted`.
            hit = await self.at.record.read(hit_by_token, STUDY, visit.query["hit"])
            assert hit is not None
            self.waiting.append(self.at.come(visit, hit.id))
        while len(self.waiting) >= 2:
            places = self.at.write(_free_items)
            if not places:
                break
            await self.talk(self.waiting.pop(0), self.waiting.pop(0), places[0])

    async def talk(self, one: str, other: str, item: str) -> None:
        name, self.dialogs = f"dialog-{self.dialogs}", self.dialogs + 1
        self.at.pair(name, one, other, item)
        if self.random.random() < 0.4:
            # Both vanish with their HITs: two people are needed again.
            self.at.fail(name, item)
            return
        self.at.complete(name)
        for arrival in (one, other):
            self.at.write(release, arrival, self.random.choice((50, 150, 151)), dialog=name)
            await self.at.hand_in(arrival)
        if self.random.random() < 0.3:
            number = self.bonuses.total()
            self.bonuses[one] += 1
            given = payments.given_by_hand(one, f"{number}", 20, "USD", "Well done.", 1.0)
            await self.at.record.writer.commit(given)

    # --- The end -------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Managers that nobody kills do what was left, then the study is paused."""
        await self.life(rounds=3)
        await self.life(rounds=2)
        left = await self.at.record.read(unposted_relaunches, STUDY)
        assert not left, f"relaunches without a HIT: {left}"
        await self.at.study_becomes(StudyStatus.PAUSED)
        self.interrupted |= set(self.at.write(_on_their_way))
        await self.life(rounds=3)

    async def check(self) -> list[str]:
        """Everything that is not as it must be; run after `settle`."""
        wrong = [f"{hit} stands open over there" for hit in await self.at.open_there()]
        for hit in await self.at.hits(HitState.WANTED, HitState.OPEN):
            wrong.append(f"{hit.id} is {hit.state} here")
        wrong += await self._posted_once()
        wrong += await self._paid_once()
        return wrong

    async def _posted_once(self) -> list[str]:
        there = await self.at.stage.recruiter.hits()
        rows = {hit.id: hit for hit in await self.at.hits()}
        posted = await self.at.stage.postings()
        wrong = []
        for hit in rows.values():
            times = posted[posting_key(KEY, hit)]
            if times != (hit.remote_id is not None):
                wrong.append(f"{hit.id} ({hit.state}) was posted {times} times")
        names = {hit.remote_id for hit in rows.values()}
        wrong += [f"{each.id} is unknown here" for each in there if each.id not in names]
        seats: Counter[str] = Counter()
        for relaunch, hit_id, number, last in self.at.write(_relaunch_seats):
            if rows[hit_id].seats_there >= last:
                seats[relaunch] += number
        by_remote = {hit.remote_id: hit for hit in rows.values()}
        for remote in there:
            hit = by_remote.get(remote.id)
            if hit is not None and not hit.seats_there == remote.seats <= hit.seats:
                ours = f"{hit.seats_there} of {hit.seats} by its row"
                wrong.append(f"{hit.id} has {remote.seats} seats, {ours}")
        # People who waited may have taken the place before anybody had to be invited for it.
        again = set(self.at.write(_taken_again))
        for relaunch in self.at.write(_relaunches):
            least = 0 if relaunch in self.interrupted | again else 2
            if not least <= seats[relaunch] <= 2:
                wrong.append(f"the relaunch of {relaunch} has {seats[relaunch]} seats")
        return wrong

    async def _paid_once(self) -> list[str]:
        wrong = []
        found = await self.at.record.read(payments.payments_in, STUDY, list(LedgerState))
        owed: Counter[str] = Counter()
        for payment in found:
            owed[payment.arrival_id] += payment.cents
            if payment.state is not LedgerState.PAID:
                wrong.append(f"{payment.arrival_id} {payment.reason}: {payment.state}")
        for arrival in self.at.visits:
            rewards, bonuses = await self.at.got(arrival)
            if len(rewards) != (arrival in owed) or sum(rewards) + sum(bonuses) != owed[arrival]:
                wrong.append(f"{arrival}: {owed[arrival]} are owed, got {rewards} and {bonuses}")
        return wrong

    def summary(self, title: str) -> str:
        counts = self.at.write(_counts)
        lines = [
            title,
            f"  killed with -9: {self.deaths.total()} times at {len(self.deaths)} points, "
            f"{self.lives} lives in all",
        ]
        for what in (*CALLS, "grow", "commit"):
            by = {
                m: sum(n for p, n in self.deaths.items() if p.startswith(f"{m} {what}"))
                for m in MOMENTS
            }
            lines.append(f"    {what:8} {by['before']:3} before, {by['after']:3} after")
        lines += [f"  {name}: {number}" for name, number in counts.items()]
        return "\n".join(lines)


def _on_their_way(connection: Connection) -> list[str]:
    """Relaunches whose seats are not all there."""
    wanted = (
        select(relaunch_seats.c.dialog_id)
        .join(hits, hits.c.id == relaunch_seats.c.hit_id)
        .where(hits.c.seats_there < relaunch_seats.c.upto)
    )
    found = list(connection.execute(wanted).scalars())
    return found + unposted_relaunches(connection, STUDY)


def _relaunch_seats(connection: Connection) -> list[tuple[str, str, int, int]]:
    columns = relaunch_seats.c
    query = select(columns.dialog_id, columns.hit_id, columns.seats, columns.upto)
    return [(row[0], row[1], row[2], row[3]) for row in connection.execute(query)]


def _free_items(connection: Connection) -> list[str]:
    return [item for item, _ in free_places(connection, STUDY)]


def _taken_again(connection: Connection) -> Sequence[str]:
    """Relaunches on whose place there was a dialog later."""
    same = (dialogs.c.item_id == relaunches.c.item_id) & (dialogs.c.place == relaunches.c.place)
    later = dialogs.c.opened_at >= relaunches.c.at
    query = select(relaunches.c.dialog_id).join(dialogs, same & later)
    return list(connection.execute(query).scalars())


def _relaunches(connection: Connection) -> Sequence[str]:
    return list(connection.execute(select(relaunches.c.dialog_id)).scalars())


def _counts(connection: Connection) -> dict[str, int | str]:
    def states(table: object, column: object) -> str:
        found = Counter(connection.execute(select(column)).scalars())  # type: ignore[call-overload]
        return ", ".join(f"{n} {state}" for state, n in sorted(found.items()))

    return {
        "dialogs": states(dialogs, dialogs.c.outcome),
        "relaunches": len(_relaunches(connection)),
        "HITs": states(hits, hits.c.state),
        "payments": states(ledger, ledger.c.state),
        "cents": sum(connection.execute(select(ledger.c.cents)).scalars()),
    }


@asynccontextmanager
async def killing(url: str, folder: Path, seed: int, *, seats: int = 1) -> AsyncIterator[Killing]:
    """A study on a marketplace, and nobody alive in it yet. HITs of several `seats` grow."""
    # Money for everything, and nothing that runs out in the meantime.
    how: dict[str, Any] = {
        "seats": seats,
        "lifetime_s": 1e7,
        "assignment_duration_s": 1e7,
        "auto_approval_s": 2_592_000.0,
    }
    async with recruiting(url, folder, **how) as at:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.chaos.hits_child",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            yield Killing(at, url, process, random.Random(seed))
        finally:
            assert process.stdin
            process.stdin.close()
            await process.wait()


async def kill_often(killed: Killing, times: int) -> list[str]:
    """Kill managers at all points in turn, let others finish; returns what is wrong then."""
    await killed.life()
    points = list(points_of(killed.at.config.seats))
    for n in range(times):
        if not n % len(points):
            killed.random.shuffle(points)
        await killed.kill_at(points[n % len(points)])
    await killed.settle()
    return await killed.check()
