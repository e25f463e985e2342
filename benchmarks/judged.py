"""A study that is half judged, for the benchmark of reading: what `collected` wrote, and the team.

Of what ended every other dialog is judged, some of them by two people; something was found in
every tenth; of the rest everybody is still owed their pay.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Connection, Engine, select, text, update

from benchmarks import collected
from benchmarks.collected import STUDY, Size
from benchmarks.far_side import FarSide
from dialogs.record import tables as t
from dialogs.rules import Acceptance, AdminRole, ArrivalStatus, LedgerState, Role

ADMINS: Final = ("ad-1", "ad-2", "ad-3")
FLAGS: Final = ("too_short", "copied", "too_fast", "link")
IN_LOBBY: Final = 100
MESSAGES: Final = 6
"""Of each dialog: enough to make the table of events larger than all others."""


def fill(engine: Engine, size: Size) -> None:
    """Write the whole study."""
    far_side = FarSide()
    everything = range(size.dialogs)
    collected.begin(engine, size)
    seats = collected.closed_seats(engine, far_side, size.assignments)
    collected.hold(engine, far_side, size, everything, seats, known=True)
    collected.write(engine, t.admins, (_admin(name) for name in ADMINS))
    collected.write(engine, t.events, (row for n in everything for row in _said(n)))
    collected.write(engine, t.findings, (_finding(n) for n in everything if is_flagged(n)))
    collected.write(engine, t.judgements, (row for n in everything for row in _judgements(n)))
    collected.write(engine, t.arrivals, (_waiting(n, size) for n in range(IN_LOBBY)))
    with collected.patient(engine) as connection:
        _follow(connection)
    _tidy(engine)


def _follow(connection: Connection) -> None:
    """What follows from the judgements, and from looking everything through."""
    said = (
        select(t.judgements.c.verdict)
        .where(t.judgements.c.dialog_id == t.dialogs.c.id, t.judgements.c.decides.is_(True))
        .scalar_subquery()
    )
    connection.execute(update(t.dialogs).values(acceptance=said, checked_at=t.dialogs.c.ended_at))
    judged = (
        select(t.seats.c.arrival_id)
        .join(t.judgements, t.judgements.c.dialog_id == t.seats.c.dialog_id)
        .where(t.judgements.c.decides.is_(True))
    )
    connection.execute(
        update(t.ledger)
        .where(t.ledger.c.arrival_id.in_(judged))
        .values(state=LedgerState.PAID.value, approved_at=t.ledger.c.at, paid_at=t.ledger.c.at)
    )


def _tidy(engine: Engine) -> None:
    """What PostgreSQL does by itself within a minute or so."""
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("SET statement_timeout = 0"))
            connection.execute(text("VACUUM ANALYZE"))
            connection.execute(text("RESET statement_timeout"))


def is_judged(number: int) -> bool:
    """Whether the dialog of this number is judged."""
    return number % 2 == 0


def is_flagged(number: int) -> bool:
    """Whether something was found in it: in every tenth, judged or not, complete or not."""
    return number % 10 == number // 10 % 10


def _admin(name: str) -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "role": AdminRole.REVIEWER.value,
        "password": "none",
        "created_at": 0.0,
    }


def _said(number: int) -> Iterator[dict[str, Any]]:
    for seq in range(1, MESSAGES + 1):
        yield {
            "dialog_id": f"d-{number}",
            "seq": seq,
            "kind": "said",
            "at": number * collected.EVERY_S,
            "data": '{"n":1}',
        }


def _finding(number: int) -> dict[str, Any]:
    return {
        "dialog_id": f"d-{number}",
        "number": 1,
        "flag": FLAGS[number // 10 % len(FLAGS)],
        "role": Role.QUESTIONER.value,
        "reason": "It shows.",
        "at": collected.ended_at(number),
    }


def _judgements(number: int) -> Iterator[dict[str, Any]]:
    """The first one, every fiftieth of which waits for a second; and a second one of some."""
    if not is_judged(number):
        return
    rejected = number % 40 == 0
    verdict = Acceptance.REJECTED if rejected else Acceptance.ACCEPTED
    complete = not collected.is_alone(number)
    row = {
        "dialog_id": f"d-{number}",
        "admin_id": ADMINS[number // 2 % 3],
        "verdict": verdict.value if complete else None,
        "reason": "",
        "decides": True,
        "again": complete and number % 100 == 2,
        "at": collected.ended_at(number),
    }
    yield row
    if complete and number % 100 in (10, 20, 30, 40):
        who = ADMINS[(number // 2 + 1) % 3]
        yield row | {"admin_id": who, "decides": False, "verdict": Acceptance.ACCEPTED.value}


def _waiting(number: int, size: Size) -> dict[str, Any]:
    at = size.dialogs * collected.EVERY_S - number
    return {
        "id": f"a-waits-{number}",
        "study_id": STUDY,
        "worker_id": collected.worker_id(number),
        "assignment_id": f"waits-{number}",
        "status": ArrivalStatus.WAITING.value,
        "language": "en",
        "created_at": at,
        "ready_at": at,
    }
