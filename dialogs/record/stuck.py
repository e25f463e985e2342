"""Payments that do not go out, and why, and the HITs that are kept for those that may."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, select, union

from dialogs.record.payments import PAYMENTS, PaymentRow, payment_of
from dialogs.record.tables import arrivals, assignments, hits, ledger, workers
from dialogs.rules import ArrivalStatus, AssignmentStatus, HitState, LedgerState

OVER: Final = (LedgerState.PAID, LedgerState.CANCELLED)
"""Nothing more happens to payments in these states."""

NEED_A_PERSON: Final = (LedgerState.FAILED, LedgerState.HELD)
"""Payments in these states go on when somebody has looked at them."""

# Named one by one, as an index finds what is equal and not what is unequal.
_NOT_OVER: Final = [state.value for state in LedgerState if state not in OVER]
_INSIDE: Final = [s.value for s in ArrivalStatus if s is not ArrivalStatus.RELEASED]


def with_problem(connection: Connection, study_id: str) -> list[PaymentRow]:
    """Unpaid payments of which something is known that is in their way, oldest first: those that
    need a person, and those that were put off."""
    query = PAYMENTS.where(
        arrivals.c.study_id == study_id,
        ledger.c.state.in_(_NOT_OVER),
        ledger.c.problem.is_not(None),
    ).order_by(ledger.c.at, ledger.c.arrival_id, ledger.c.reason)
    return [payment_of(row) for row in connection.execute(query)]


def never_handed_in(
    connection: Connection, study_id: str, recruiter: str, came_before: float, most: int
) -> list[PaymentRow]:
    """Payments, `most` at most, of people who came before that moment and whose work will not be
    handed in any more: their HIT is closed over there, and nobody has anything of it in hand."""
    query = PAYMENTS.where(
        arrivals.c.study_id == study_id,
        workers.c.recruiter == recruiter,
        ledger.c.state.in_([LedgerState.OWED.value, LedgerState.APPROVED.value]),
        arrivals.c.created_at < came_before,
        hits.c.state.in_([HitState.CLOSED.value, HitState.DONE.value]),
        hits.c.pending == 0,
        assignments.c.status.is_(None) | (assignments.c.status == AssignmentStatus.TAKEN.value),
    ).order_by(ledger.c.at, ledger.c.arrival_id, ledger.c.reason)
    return [payment_of(row) for row in connection.execute(query.limit(most))]


def hits_with_unpaid(connection: Connection, study_id: str) -> set[str]:
    """Our ids of the HITs whose people are still inside, or may still be paid over there.

    What is held and was never handed in cannot be, whatever becomes of the HIT.
    """
    handed_in = (
        select(assignments.c.id)
        .where(
            assignments.c.study_id == arrivals.c.study_id,
            assignments.c.id == arrivals.c.assignment_id,
            assignments.c.status != AssignmentStatus.TAKEN.value,
        )
        .correlate(arrivals)
        .exists()
    )
    of_hits = (arrivals.c.study_id == study_id) & arrivals.c.hit_id.is_not(None)
    # Each half begins at the few rows that are not over yet; one condition with an OR would look
    # at everybody who ever came.
    inside = select(arrivals.c.hit_id).where(of_hits, arrivals.c.status.in_(_INSIDE))
    unpaid = (
        select(arrivals.c.hit_id)
        .join(ledger, ledger.c.arrival_id == arrivals.c.id)
        .where(
            of_hits,
            ledger.c.state.in_(_NOT_OVER),
            (ledger.c.state != LedgerState.HELD.value) | handed_in,
        )
    )
    query = union(inside, unpaid)
    return set(connection.execute(query).scalars())
