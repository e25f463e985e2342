"""What a study's payments come to: alike ones are counted together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, func, select

from dialogs.record.tables import arrivals, hits, ledger, payment_steps, workers
from dialogs.rules import LedgerReason, LedgerState

_BEGUN: Final = ledger.c.state.in_([LedgerState.SENDING.value, LedgerState.PAID.value]) | (
    select(payment_steps.c.step)
    .where(
        payment_steps.c.arrival_id == ledger.c.arrival_id,
        payment_steps.c.reason == ledger.c.reason,
    )
    .exists()
)


@dataclass(frozen=True, slots=True)
class Amounts:
    """How many payments are alike in all that decides what they cost."""

    payments: int
    by_hand: bool
    cents: int
    reward: int
    seats: int


def amounts(
    connection: Connection, study_id: str, recruiter: str, *, begun: bool = False
) -> list[Amounts]:
    """The payments of a study by what they come to, without those that were taken back; with
    `begun`, those of which something has gone out, or may have: being sent or paid, or with a call
    that was begun."""
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
        )
    )
    each = (payments.where(_BEGUN) if begun else payments).subquery()
    query = select(func.count().label("n"), *each.c).group_by(*each.c)
    return [
        Amounts(row.n, bool(row.by_hand), row.cents, row.reward, row.seats)
        for row in connection.execute(query)
    ]
