"""Dialogs that have ended and reviewers who judge them, for tests: rows as the live server would
have left them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, update

from dialogs.record.review_desk import ReviewDesk
from dialogs.record.review_queue import Filters
from dialogs.record.store import Record
from dialogs.record.tables import admins, dialogs, findings, ledger
from dialogs.rules import (
    LedgerState,
    Outcome,
    Phase,
    Release,
    SeatStatus,
)
from tests.records import STUDY, begin_study, opened
from tests.recruiting import add_arrival, add_dialog, add_items, release

ENDED_AT = 1_700_000_000.0
ANY = Filters()
REVIEWERS = ("ada", "bob", "cleo")


class Clock:
    def __init__(self) -> None:
        self.at = ENDED_AT + 10_000.0

    def __call__(self) -> float:
        self.at += 0.001
        return self.at


@dataclass
class Review:
    """A record with dialogs `d0`, `d1`, … that ended one after the other, each about an item of
    its own by two people of its own, who are owed 150 and 150."""

    record: Record
    clock: Clock = field(default_factory=Clock)
    dialogs: int = 0

    def desk(self, *, twice: float = 0.0, record: Record | None = None) -> ReviewDesk:
        return ReviewDesk(record or self.record, STUDY, twice=twice, now=self.clock)

    def write(self, change: Callable[..., Any], *args: Any, **how: Any) -> Any:
        with self.record.engine.begin() as connection:
            return change(connection, *args, **how)

    def ended(
        self,
        outcome: Outcome = Outcome.COMPLETE,
        *,
        cents: int = 150,
        state: LedgerState = LedgerState.OWED,
        hit_id: str | None = None,
        item: str | None = None,
        worker: str | None = None,
        flags: tuple[str, ...] = (),
    ) -> str:
        """One more dialog that has ended; returns its id."""
        n, self.dialogs = self.dialogs, self.dialogs + 1

        def add(connection: Connection) -> None:
            name = f"d{n}"
            if item is None:
                add_items(connection, [f"item-{n}"])
            people = []
            for side in "qa":
                arrival = add_arrival(connection, f"{n}{side}", hit_id=hit_id)
                people.append((arrival, SeatStatus.DONE))
            at = ENDED_AT + n
            add_dialog(connection, name, item or f"item-{n}", phase=Phase.ENDED, outcome=outcome,
                       people=people, at=at)  # fmt: skip
            for arrival, _ in people:
                how = Release.COMPLETED if outcome is Outcome.COMPLETE else Release.LEFT
                release(connection, arrival, cents, how=how, state=state, dialog=name, at=at)
            for number, flag in enumerate(flags, start=1):
                row = {"dialog_id": name, "number": number, "flag": flag, "reason": "It shows.",
                       "at": at}  # fmt: skip
                connection.execute(findings.insert(), row)

        self.write(add)
        return f"d{n}"

    def pay_becomes(self, arrival: str, state: LedgerState) -> None:
        mine = update(ledger).where(ledger.c.arrival_id == arrival)
        self.write(lambda connection: connection.execute(mine.values(state=state.value)))

    def acceptance(self, dialog: str) -> str | None:
        with self.record.engine.connect() as connection:
            found: str | None = (
                connection.execute(dialogs.select().where(dialogs.c.id == dialog)).one().acceptance
            )
        return found


def add_admins(connection: Connection, *names: str) -> None:
    for name in names:
        row = {"id": name, "name": name.title(), "role": "reviewer", "password": "x",
               "created_at": 1.0}  # fmt: skip
        connection.execute(admins.insert(), row)


@asynccontextmanager
async def reviewing(url: str, *names: str, **how: Any) -> AsyncIterator[Review]:
    async with opened(url, **how) as record:
        await begin_study(record, people=0, items=())
        with record.engine.begin() as connection:
            add_admins(connection, *(names or REVIEWERS))
        yield Review(record)
