"""A study's record as it would be after people have worked: written in bulk, for benchmarks.

Of five dialogs four are complete and one was finished alone, which is relaunched; each has two
people, and everybody is owed something, a leaver too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Engine, Table, literal, select, text

from benchmarks.far_side import FarSide
from dialogs.record import tables as t
from dialogs.record.bulk import insert_rows
from dialogs.rules import (
    ArrivalStatus,
    AssignmentStatus,
    HitState,
    LedgerReason,
    LedgerState,
    Outcome,
    Phase,
    Release,
    Role,
    SeatStatus,
    StudyStatus,
)
from hit_manager.ids import new_hit_id, new_token
from hit_manager.recruiters.base import HitStatus, RemoteHit

STUDY: Final = "bench"
CURRENCY: Final = "USD"
REWARD: Final = 10
FULL_PAY: Final = 150
LEAVERS_PAY: Final = 20
DIALOGS_A_WORKER: Final = 5
EVERY_S: Final = 60.0
"""Seconds from one dialog to the next."""
_AT_ONCE: Final = 2_000
"""Rows in one transaction."""
_UNSEEN: Final = 50
"""Changed rows that PostgreSQL lets pass before it looks at a table (its
autovacuum_analyze_threshold)."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a study is: `items` wanted once each, and all who come in the end."""

    items: int

    @property
    def dialogs(self) -> int:
        return self.items * 5 // 4

    @property
    def assignments(self) -> int:
        return 2 * self.dialogs

    @property
    def workers(self) -> int:
        return self.assignments // DIALOGS_A_WORKER


@dataclass(frozen=True, slots=True)
class Seat:
    """A HIT with one seat, as both sides know it."""

    hit_id: str
    remote_id: str


def begin(engine: Engine, size: Size) -> None:
    """A study with its items and with people who have not come yet."""
    study = {"id": STUDY, "status": StudyStatus.OPEN.value, "config": "{}", "created_at": 0.0}
    write(engine, t.studies, [study])
    write(engine, t.items, (_item(n) for n in range(size.items)))
    write(
        engine,
        t.workers,
        (
            {
                "id": worker_id(n),
                "study_id": STUDY,
                "recruiter": FarSide.name,
                "external_id": _external(n),
                "created_at": 0.0,
            }
            for n in range(size.workers)
        ),
    )


def posted_seats(engine: Engine, number: int) -> list[Seat]:
    """The oldest open HITs."""
    query = (
        select(t.hits.c.id, t.hits.c.remote_id)
        .where(t.hits.c.study_id == STUDY, t.hits.c.state == HitState.OPEN.value)
        .order_by(t.hits.c.created_at, t.hits.c.id)
        .limit(number)
    )
    with engine.connect() as connection:
        return [Seat(row.id, row.remote_id) for row in connection.execute(query)]


def closed_seats(engine: Engine, far_side: FarSide, number: int) -> list[Seat]:
    """New HITs that were taken and are closed, on both sides."""
    made = [Seat(new_hit_id(), f"4{n:029d}") for n in range(number)]
    for seat in made:
        far_side.add_hit(RemoteHit(seat.remote_id, HitStatus.CLOSED, 1, 0))
    write(
        engine,
        t.hits,
        (
            {
                "id": seat.hit_id,
                "study_id": STUDY,
                "recruiter": FarSide.name,
                "token": new_token(),
                "remote_id": seat.remote_id,
                "state": HitState.CLOSED.value,
                "seats": 1,
                "reward": REWARD,
                "currency": CURRENCY,
                "created_at": 1.0,
                "posted_at": 1.0,
                "expires_at": 2.0,
            }
            for seat in made
        ),
    )
    return made


def hold(
    engine: Engine,
    far_side: FarSide,
    size: Size,
    numbers: range,
    seats: Sequence[Seat],
    *,
    known: bool,
) -> None:
    """The dialogs of these numbers, each by two people who took two of the `seats`.

    Their work is handed in over there; with `known`, the record says so.
    """
    both = list(zip(_twice(numbers), seats, strict=True))
    for (number, side), seat in both:
        far_side.hand_in(
            seat.remote_id,
            _assignment(number, side),
            _external(_who(size, number, side)),
            f"code-{number}-{side}",
        )
    write(engine, t.dialogs, (_dialog(number) for number in numbers))
    write(engine, t.arrivals, (_arrival(size, n, side, seat) for (n, side), seat in both))
    write(engine, t.seats, (_seat(size, n, side) for (n, side), _ in both))
    write(engine, t.releases, (_release(n, side) for (n, side), _ in both))
    write(engine, t.ledger, (_owed(n, side) for (n, side), _ in both))
    write(engine, t.relaunches, (_relaunch(n) for n in numbers if is_alone(n)))
    if known:
        write(engine, t.assignments, (_told(size, n, side, seat) for (n, side), seat in both))


def settle(engine: Engine) -> None:
    """Let PostgreSQL look at its tables, as it does by itself within a minute: at those that hold
    more rows than it lets pass unseen."""
    if engine.dialect.name == "postgresql":
        with patient(engine) as connection:
            for table in t.metadata.sorted_tables:
                seen = select(literal(1)).select_from(table).offset(_UNSEEN).limit(1)
                if connection.execute(seen).first():
                    connection.execute(text(f"ANALYZE {table.name}"))


def write(engine: Engine, table: Table, rows: Iterable[dict[str, Any]]) -> None:
    """Insert the rows, some thousands in a transaction."""
    waiting = list(rows)
    for start in range(0, len(waiting), _AT_ONCE):
        with patient(engine) as connection:
            insert_rows(connection, table, waiting[start : start + _AT_ONCE])


@contextmanager
def patient(engine: Engine) -> Iterator[Connection]:
    """A transaction whose statements may take long: it is not what is measured."""
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL statement_timeout = 0"))
        yield connection


def _twice(numbers: range) -> Iterator[tuple[int, int]]:
    return ((number, side) for number in numbers for side in (0, 1))


def ended_at(number: int) -> float:
    """When the dialog of this number ended."""
    return number * EVERY_S + 1.0


def is_alone(number: int) -> bool:
    """Whether one of the two left, and the other finished alone."""
    return number % 5 == 4


def _about(number: int) -> str:
    """The item of a dialog: one that failed is about the same as the complete one before."""
    within = number % 5
    return f"item-{4 * (number // 5) + (within if within < 4 else 0)}"


def _who(size: Size, number: int, side: int) -> int:
    return (2 * number + side) % size.workers


def worker_id(n: int) -> str:
    return f"w-{n}"


def _external(n: int) -> str:
    return f"A{n:013d}"


def _assignment(number: int, side: int) -> str:
    return f"assignment-{number}-{side}"


def _id(number: int, side: int) -> str:
    return f"a-{number}-{side}"


def _item(n: int) -> dict[str, Any]:
    return {
        "id": f"item-{n}",
        "study_id": STUDY,
        "image_id": str(n),
        "caption": "a photo of something",
        "file": f"{n}.jpg",
        "width": 640,
        "height": 480,
        "sha256": f"{n:064x}",
        "wanted": 1,
        "position": n,
        "added_at": 0.0,
    }


def _dialog(number: int) -> dict[str, Any]:
    return {
        "id": f"d-{number}",
        "study_id": STUDY,
        "item_id": _about(number),
        "place": 1,
        "phase": Phase.ENDED.value,
        "outcome": (Outcome.SOLO if is_alone(number) else Outcome.COMPLETE).value,
        "language": "en",
        "same_address": False,
        "opened_at": number * EVERY_S,
        "ended_at": ended_at(number),
    }


def _arrival(size: Size, number: int, side: int, seat: Seat) -> dict[str, Any]:
    return {
        "id": _id(number, side),
        "study_id": STUDY,
        "worker_id": worker_id(_who(size, number, side)),
        "assignment_id": _assignment(number, side),
        "status": ArrivalStatus.RELEASED.value,
        "language": "en",
        "created_at": number * EVERY_S,
        "hit_id": seat.hit_id,
    }


def _seat(size: Size, number: int, side: int) -> dict[str, Any]:
    left = is_alone(number) and side == 1
    return {
        "dialog_id": f"d-{number}",
        "role": (Role.QUESTIONER, Role.ANSWERER)[side].value,
        "arrival_id": _id(number, side),
        "worker_id": worker_id(_who(size, number, side)),
        "item_id": _about(number),
        "status": (SeatStatus.LOST if left else SeatStatus.DONE).value,
    }


def _release(number: int, side: int) -> dict[str, Any]:
    how = Release.COMPLETED
    if is_alone(number):
        how = Release.LEFT if side == 1 else Release.FINISHED_ALONE
    return {
        "arrival_id": _id(number, side),
        "dialog_id": f"d-{number}",
        "release": how.value,
        "code": f"code-{number}-{side}",
        "at": ended_at(number),
    }


def _owed(number: int, side: int) -> dict[str, Any]:
    return {
        "arrival_id": _id(number, side),
        "reason": LedgerReason.DIALOG.value,
        "cents": LEAVERS_PAY if is_alone(number) and side == 1 else FULL_PAY,
        "currency": CURRENCY,
        "state": LedgerState.OWED.value,
        "at": ended_at(number),
    }


def _relaunch(number: int) -> dict[str, Any]:
    return {
        "dialog_id": f"d-{number}",
        "item_id": _about(number),
        "place": 1,
        "at": ended_at(number),
    }


def _told(size: Size, number: int, side: int, seat: Seat) -> dict[str, Any]:
    return {
        "study_id": STUDY,
        "id": _assignment(number, side),
        "hit_id": seat.hit_id,
        "worker": _external(_who(size, number, side)),
        "status": AssignmentStatus.SUBMITTED.value,
        "code": f"code-{number}-{side}",
        "submitted_at": 0.0,
    }
