"""What a study's payments come to: alike ones are counted together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from sqlalchemy import Connection, func, select, true

from dialogs.record.tables import arrivals, hits, ledger, payment_steps, workers
from dialogs.rules import LedgerReason, LedgerState


class Which(Enum):
    """Which payments of a study; those that were taken back are never among them."""

    ALL = auto()
    BEGUN = auto()
    """Something has gone out, or may have: being sent or paid, or with a call that was begun."""
    UNSURE = auto()
    """Of those, neither being sent nor paid: refused, held, or approved once more. Whether
    something has gone out, only the recruiter can tell."""


_GONE: Final = ledger.c.state.in_([LedgerState.SENDING.value, LedgerState.PAID.value])
_CALLED: Final = (
    select(payment_steps.c.step)
    .where(
        payment_steps.c.arrival_id == ledger.c.arrival_id,
        payment_steps.c.reason == ledger.c.reason,
    )
    .exists()
)
_THESE: Final = {
    Which.ALL: true(),
    Which.BEGUN: _GONE | _CALLED,
    Which.UNSURE: ~_GONE & _CALLED,
}


@dataclass(frozen=True, slots=True)
class Amounts:
    """How many payments are alike in all that decides what they cost."""

    payments: int
    by_hand: bool
    cents: int
    reward: int
    seats: int


def amounts(
    connection: Connection, study_id: str, recruiter: str, which: Which = Which.ALL
) -> list[Amounts]:
    """These payments of a study by what they come to."""
    by_hand = ledger.c.reason.not_in([reason.value for reason in LedgerReason])
    payments = (
        select(
            by_hand.label("by_hand"),
            ledger.c.cents,
            func.coalesce(hits.c.reward, 0).label("reward"),
            func.coalesce(hits.c.seats, 1).label("seats"),
        )
        .select_from(ledger)
        .join(arrivals, arrivals.c.id == ledger.c.arrival_id)
        .join(workers, workers.c.id == arrivals.c.worker_id)
        .outerjoin(hits, hits.c.id == arrivals.c.hit_id)
        .where(
            arrivals.c.study_id == study_id,
            workers.c.recruiter == recruiter,
            ledger.c.state != LedgerState.CANCELLED.value,
            _THESE[which],
        )
    )
    each = payments.subquery()
    query = select(func.count().label("n"), *each.c).group_by(*each.c)
    return [
        Amounts(row.n, bool(row.by_hand), row.cents, row.reward, row.seats)
        for row in connection.execute(query)
    ]
