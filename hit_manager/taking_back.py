"""Whether a payment can still be taken back: nothing of it may have gone out."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from dialogs.record import payments as rows
from dialogs.record.payments import PaymentRow, StepRow
from dialogs.record.store import Record
from dialogs.rules import AssignmentStatus
from hit_manager import ledger
from hit_manager.outbox import REASON
from hit_manager.recruiters.base import Bonus, Recruiter, RecruiterError, Step


async def in_the_way(record: Record, recruiter: Recruiter, payment: PaymentRow) -> str:
    """Why this payment cannot be taken back; empty, if it can.

    A call that was begun and not answered may have been carried out, so the recruiter is asked.
    """
    found = await record.read(rows.steps_of, payment.arrival_id, payment.reason)
    made = {step.step: step for step in found}
    for name, step in made.items():
        if step.done_at is not None and name != Step.RETURN:
            return "a part of it has gone out already"
        try:
            gone = await _went_out(recruiter, payment, Step(name), made)
        except RecruiterError as error:
            return f"a part of it may have gone out, and nobody can tell now: {error}"
        if gone is None:
            return "a part of it may have gone out, and nobody can tell"
        if gone:
            return "a part of it has gone out already"
    return ""


async def _went_out(
    recruiter: Recruiter, payment: PaymentRow, step: Step, made: Mapping[str, StepRow]
) -> bool | None:
    match step:
        case Step.RETURN:
            # Being asked to give work back pays nobody.
            return False
        case Step.APPROVE:
            told = await recruiter.assignment(payment.assignment_id)
            return told.status is AssignmentStatus.APPROVED
        case Step.SCREEN_OUT:
            # Who was screened out and who gave the work back look alike.
            told = await recruiter.assignment(payment.assignment_id)
            return None if told.status is AssignmentStatus.RETURNED else False
        case Step.BONUS:
            return await recruiter.paid(_bonus(recruiter, payment, made))


def _bonus(recruiter: Recruiter, payment: PaymentRow, made: Mapping[str, StepRow]) -> Bonus:
    """The bonus as the outbox sent it."""
    planned = ledger.steps_for(payment, recruiter, made)
    step = made[Step.BONUS]
    return Bonus(
        key=step.key,
        assignment_id=payment.assignment_id,
        hit_id=payment.remote_hit or "",
        worker_id=payment.worker,
        cents=payment.cents - sum(recruiter.pays(each, payment.reward) for each in planned),
        currency=payment.currency,
        reason=payment.note or REASON,
        known=orjson.loads(step.detail) if step.detail else {},
    )
