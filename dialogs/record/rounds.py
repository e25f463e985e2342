"""How the last round of recruiting and paying went, for whoever looks at the study's health."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson
from sqlalchemy import Connection, func, select

from dialogs.record.bulk import RowUpdate
from dialogs.record.errors import Conflict
from dialogs.record.store import Record
from dialogs.record.tables import recruiting
from dialogs.record.writer import Change, Decision

MOST_PROBLEMS: Final = 20
"""Sentences that are kept of one round: many are the same fault, met again and again."""

_AGAIN: Final = RowUpdate(
    lambda p: (
        recruiting.update()
        .where(recruiting.c.study_id == p["study"])
        .values(
            at=p["now"],
            good_at=func.coalesce(p["good"], recruiting.c.good_at),
            problems=p["told"],
        )
    ),
    study=recruiting.c.study_id,
    now=recruiting.c.at,
    good=recruiting.c.good_at,
    told=recruiting.c.problems,
)


@dataclass(frozen=True, slots=True)
class LastRound:
    """`at` is when the last round ended, `good_at` the last one without a problem; `problems` are
    what was in the way of the last one, in sentences for the team."""

    at: float
    good_at: float | None
    problems: tuple[str, ...]


async def round_ended(record: Record, study_id: str, now: float, problems: Sequence[str]) -> None:
    """Note how a round went.

    Raises:
        Unavailable: the database does not answer.
    """
    told = orjson.dumps([*problems][:MOST_PROBLEMS]).decode()
    good_at = None if problems else now
    params = {"study": study_id, "now": now, "good": good_at, "told": told}
    try:
        await record.writer.commit(Decision(study_id, (), (Change(_AGAIN, params),)))
    except Conflict:
        row = {"study_id": study_id, "at": now, "good_at": good_at, "problems": told}
        await record.writer.commit(Decision(study_id, ((recruiting, row),)))


def last_round(connection: Connection, study_id: str) -> LastRound | None:
    """How the study's last round went; None before the first."""
    query = select(recruiting).where(recruiting.c.study_id == study_id)
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    return LastRound(row.at, row.good_at, tuple(orjson.loads(row.problems)))
