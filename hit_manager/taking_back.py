"""Whether a payment can still be taken back: nothing of it may have gone out."""

from __future__ import annotations

from dialogs.record import payments as rows
from dialogs.record.payments import PaymentRow
from dialogs.record.store import Record
from hit_manager.outbox import REASON
from hit_manager.recruiters.base import (
    AssignmentStatus,
    Bonus,
    Recruiter,
    RecruiterError,
    Step,
)


async def in_the_way(record: Record, recruiter: Recruiter, payment: PaymentRow) -> str:
    """Why this payment cannot be taken back; empty, if it can.

    A call that was begun and not answered may have been carried out, so the recruiter is asked.
    """
    for step in await record.read(rows.steps_of, payment.arrival_id, payment.reason):
        if step.done_at is not None:
            return "a part of it has gone out already"
        try:
            gone = await _went_out(recruiter, payment, Step(step.step), step.key)
        except RecruiterError as error:
            return f"a part of it may have gone out, and nobody can tell now: {error}"
        if gone is None:
            return "a part of it may have gone out, and nobody can tell"
        if gone:
            return "a part of it has gone out already"
    return ""


async def _went_out(recruiter: Recruiter, payment: PaymentRow, step: Step, key: str) -> bool | None:
    match step:
        case Step.APPROVE:
            told = await recruiter.assignment(payment.assignment_id)
            return told.status is AssignmentStatus.APPROVED
        case Step.RETURN:
            # Being asked to give work back costs nothing.
            return False
        case Step.BONUS:
            # A bonus is known again by its key, worker and assignment; of Prolific's, of which
            # only amounts are listed, a part may be the reward.
            amounts = {payment.cents, payment.cents - payment.reward} - {0}
            told_of = [
                await recruiter.paid(_bonus(payment, key, cents)) for cents in sorted(amounts)
            ]
            return True if any(told_of) else None if None in told_of else False


def _bonus(payment: PaymentRow, key: str, cents: int) -> Bonus:
    return Bonus(
        key=key,
        assignment_id=payment.assignment_id,
        hit_id=payment.remote_hit or "",
        worker_id=payment.worker,
        cents=cents,
        currency=payment.currency,
        reason=payment.note or REASON,
    )
