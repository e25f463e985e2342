"""What is decided on before a recruiter is asked: HITs to be posted, and HITs to grow.

Only the hit manager writes this. Money is in cents, times are seconds since 1970-01-01 UTC.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

from sqlalchemy import Table

from dialogs.record.bulk import RowUpdate
from dialogs.record.hits import HitRow
from dialogs.record.tables import hits, relaunch_seats
from dialogs.record.writer import Change, Decision
from dialogs.rules import HitState

_GROWS: Final = RowUpdate(
    lambda p: (
        hits.update()
        .where(
            hits.c.id == p["hit"],
            hits.c.seats == p["before"],
            hits.c.state.in_([HitState.WANTED.value, HitState.OPEN.value]),
        )
        .values(seats=p["total"])
    ),
    hit=hits.c.id,
    before=hits.c.seats,
    total=hits.c.seats,
)
_AGAIN: Final = RowUpdate(
    lambda p: (
        hits.update()
        .where(
            hits.c.id == p["hit"],
            hits.c.seats == p["before"],
            hits.c.state == HitState.CLOSED.value,
        )
        .values(state=HitState.WANTED.value, seats=p["total"])
    ),
    hit=hits.c.id,
    before=hits.c.seats,
    total=hits.c.seats,
)


@dataclass(frozen=True, slots=True)
class NewHit:
    """A HIT that is decided on."""

    id: str
    token: str
    seats: int
    reward: int
    currency: str
    terms: str = ""


@dataclass(frozen=True, slots=True)
class MoreSeats:
    """A HIT that was posted, and how many seats it is to have in all; a closed one is opened
    again."""

    hit: HitRow
    total: int


@dataclass(frozen=True, slots=True)
class RelaunchSeats:
    """`seats` of a HIT, up to its `upto`th, are for the relaunch of this dialog."""

    dialog_id: str
    hit_id: str
    seats: int
    upto: int


def wanted_hits(
    study_id: str,
    recruiter: str,
    new: Iterable[NewHit],
    now: float,
    guard: tuple[Change, ...] = (),
    more: Iterable[MoreSeats] = (),
    relaunched: Iterable[RelaunchSeats] = (),
) -> Decision:
    """These HITs are to be posted, or to grow; conflicts if `guard` does not hold any more, or
    one that is to grow has changed."""
    inserts: list[tuple[Table, dict[str, Any]]] = [
        (
            hits,
            {
                "id": hit.id,
                "study_id": study_id,
                "recruiter": recruiter,
                "token": hit.token,
                "state": HitState.WANTED.value,
                "seats": hit.seats,
                "reward": hit.reward,
                "currency": hit.currency,
                "terms": hit.terms,
                "created_at": now,
            },
        )
        for hit in new
    ]
    inserts += [(relaunch_seats, asdict(each)) for each in relaunched]
    changes = [
        Change(
            _AGAIN if each.hit.state is HitState.CLOSED else _GROWS,
            {"hit": each.hit.id, "before": each.hit.seats, "total": each.total},
        )
        for each in more
    ]
    return Decision(study_id, tuple(inserts), (*guard, *changes))
