"""Leases: who does a piece of work that only one process may do at a time.

Beside them stands when a server last said that it runs, which only looks like one.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from sqlalchemy import or_

from dialogs.record.bulk import RowUpdate
from dialogs.record.errors import Conflict
from dialogs.record.store import Record
from dialogs.record.tables import leases
from dialogs.record.writer import Change, Decision

HITS: Final = "hits"
"""The work of recruiting and paying."""
SERVING: Final = "serving"
"""No work that is leased: `until` is when a server process, the `holder`, last said that it runs.
Any number of processes say so."""

_TAKE: Final = RowUpdate(
    lambda p: (
        leases.update()
        .where(
            leases.c.study_id == p["study"],
            leases.c.work == p["what"],
            or_(
                leases.c.until < p["now"],
                leases.c.holder == p["who"],
                # Nobody takes one for so long: it was taken while a clock was wrong.
                leases.c.until > p["never"],
            ),
        )
        .values(holder=p["who"], until=p["end"])
    ),
    study=leases.c.study_id,
    what=leases.c.work,
    who=leases.c.holder,
    now=leases.c.until,
    end=leases.c.until,
    never=leases.c.until,
)
_GIVE_BACK: Final = RowUpdate(
    lambda p: (
        leases.update()
        .where(
            leases.c.study_id == p["study"], leases.c.work == p["what"], leases.c.holder == p["who"]
        )
        .values(until=0.0)
    ),
    study=leases.c.study_id,
    what=leases.c.work,
    who=leases.c.holder,
)


_SEEN: Final = RowUpdate(
    lambda p: (
        leases.update()
        .where(leases.c.study_id == p["study"], leases.c.work == p["what"])
        .values(holder=p["who"], until=p["now"])
    ),
    study=leases.c.study_id,
    what=leases.c.work,
    who=leases.c.holder,
    now=leases.c.until,
)
_STILL: Final = RowUpdate(
    lambda p: (
        leases.update()
        .where(
            leases.c.study_id == p["study"],
            leases.c.work == p["what"],
            leases.c.holder == p["who"],
            leases.c.until >= p["now"],
        )
        .values(holder=leases.c.holder)
    ),
    study=leases.c.study_id,
    what=leases.c.work,
    who=leases.c.holder,
    now=leases.c.until,
)


def held(study_id: str, work: str, holder: str, now: float) -> Change:
    """Part of a decision that only the lease's holder may make."""
    return Change(_STILL, {"study": study_id, "what": work, "who": holder, "now": now})


async def take(record: Record, study_id: str, work: str, holder: str, now: float, s: float) -> bool:
    """Take or prolong a lease of `s` seconds; False while somebody else holds it.

    One that ends further ahead than twice as long was taken by a clock that ran ahead and has
    been set right since: it is taken over.
    """
    params = {
        "study": study_id,
        "what": work,
        "who": holder,
        "now": now,
        "end": now + s,
        "never": now + 2 * s,
    }
    try:
        await record.writer.commit(Decision(study_id, (), (Change(_TAKE, params),)))
        return True
    except Conflict:
        pass
    row = {"study_id": study_id, "work": work, "holder": holder, "until": now + s}
    try:
        await record.writer.commit(Decision(study_id, ((leases, row),)))
        return True
    except Conflict:
        return False


async def give_back(record: Record, study_id: str, work: str, holder: str) -> None:
    """End a lease before its time, if it is still this holder's."""
    params = {"study": study_id, "what": work, "who": holder}
    with suppress(Conflict):
        await record.writer.commit(Decision(study_id, (), (Change(_GIVE_BACK, params),)))


async def say_alive(record: Record, study_id: str, process: str, now: float) -> None:
    """Write down that a server process runs, which also shows that the database takes writes.

    Raises:
        RecordError: it does not.
    """
    params = {"study": study_id, "what": SERVING, "who": process, "now": now}
    try:
        await record.writer.commit(Decision(study_id, (), (Change(_SEEN, params),)))
        return
    except Conflict:
        pass
    row = {"study_id": study_id, "work": SERVING, "holder": process, "until": now}
    # Another process may be the first at the same moment.
    with suppress(Conflict):
        await record.writer.commit(Decision(study_id, ((leases, row),)))
