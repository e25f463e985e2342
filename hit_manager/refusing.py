"""Refusing work over there: whether it may be, and that it was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dialogs.money import with_currency
from dialogs.record import queries
from dialogs.record.erasing import erased_among
from dialogs.record.hits import assignments_by_id, assignments_seen
from dialogs.record.payments import PaymentRow
from dialogs.record.queries import ArrivalRow
from dialogs.record.store import Record
from dialogs.rules import AssignmentStatus, LedgerReason, LedgerState
from hit_manager.recruiters.base import Recruiter, RemoteAssignment


async def refuse(
    record: Record, recruiter: Recruiter, study_id: str, assignment_id: str, feedback: str
) -> None:
    """Refuse work over there, and remember it: it is undecided no longer. Done twice is done once.

    Raises:
        RecruiterError: it was not refused.
    """
    await recruiter.reject(assignment_id, feedback)
    known = await record.read(assignments_by_id, study_id, [assignment_id])
    for row in known.values():
        refused = replace(row, status=AssignmentStatus.REJECTED)
        await record.writer.commit(assignments_seen(study_id, [], [refused]))


def is_owed(owed: Iterable[PaymentRow], currency: str) -> str:
    """`is owed 1.50 USD by the rules of the study`, and what was given beside it; empty, if
    nothing is owed."""
    owed = [p for p in owed if p.state is not LedgerState.CANCELLED]
    ruled = sum(p.cents for p in owed if p.reason in set(LedgerReason))
    by_hand = sum(p.cents for p in owed) - ruled
    told = []
    if ruled:
        told.append(f"is owed {with_currency(ruled, currency)} by the rules of the study")
    if by_hand:
        told.append(f"was given {with_currency(by_hand, currency)} by hand")
    return " and ".join(told)


async def of_somebody_else(record: Record, row: ArrivalRow, told: RemoteAssignment) -> bool:
    """Whether the recruiter says that another worker did the work of this arrival: a link can
    name anybody's. Of people who were erased nobody can tell."""
    if await record.read(erased_among, [row.worker_id]):
        return False
    claimed = await record.read(queries.external_ids, [row.worker_id])
    return told.worker_id != claimed[row.worker_id]
