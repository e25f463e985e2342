"""The outbox: pays what is owed, once, whatever dies in between.

owed → approved → sending → paid, or failed, or held for a person. Each state and each call is in
the record before the recruiter is asked, and its answer after; what was begun and not answered
is looked up over there before it is asked for again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Final

from dialogs.record import payments as rows
from dialogs.record.errors import Conflict
from dialogs.record.hits import AssignmentRow, assignments_by_id, assignments_seen
from dialogs.record.payments import PaymentRow, StepRow
from dialogs.record.store import Record
from dialogs.rules import AssignmentStatus, LedgerState
from hit_manager import ledger
from hit_manager.config import Approval, HitConfig
from hit_manager.ids import bonus_key
from hit_manager.ledger import Call, Fail, Hold, Settled, Wait
from hit_manager.recruiters.base import (
    Bonus,
    NoFunds,
    NotYet,
    Recruiter,
    RecruiterError,
    Refused,
    Step,
    Unavailable,
    Unsupported,
)

log = logging.getLogger("duologue.payments")

FIRST_RETRY_S: Final = 10.0
LONGEST_RETRY_S: Final = 3600.0
REASON: Final = "Thank you for your work in our dialog study."


@dataclass(frozen=True, slots=True)
class Paid:
    """What one round did: payments and cents that went out, and what needs a person."""

    payments: int = 0
    cents: int = 0
    waiting: int = 0
    held: int = 0
    failed: int = 0
    problems: tuple[str, ...] = ()


class Outbox:
    """Pays one study's ledger through one recruiter."""

    def __init__(
        self,
        record: Record,
        recruiter: Recruiter,
        config: HitConfig,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._record = record
        self._recruiter = recruiter
        self._config = config
        self._now = now

    async def once(self) -> Paid:
        """One round over everything that may go out.

        Raises:
            RecordError: the database does not answer.
        """
        if not self._recruiter.capabilities.pays:
            return Paid()
        await self._approve_by_rule()
        return await self.pay(await self._due((LedgerState.APPROVED, LedgerState.SENDING)))

    async def _due(self, states: Iterable[LedgerState]) -> list[PaymentRow]:
        found = await self._record.read(rows.payments_in, self._config.study_id, list(states))
        now = self._now()
        return [
            p
            for p in found
            if p.recruiter == self._recruiter.name and (p.retry_at is None or p.retry_at <= now)
        ]

    async def _approve_by_rule(self) -> None:
        if self._config.approval is not Approval.AUTOMATIC:
            return
        for payment in await self._due((LedgerState.OWED,)):
            # What is not handed in cannot be paid; until then it is merely owed.
            if payment.status in (None, AssignmentStatus.TAKEN):
                continue
            await self.approve(payment)

    async def approve(self, payment: PaymentRow) -> bool:
        """Let a payment go out; False if its state has changed meanwhile."""
        try:
            await self._record.writer.commit(rows.approved(payment, self._now()))
        except Conflict:
            return False
        return True

    async def pay(self, due: Iterable[PaymentRow]) -> Paid:
        """Pay these, one after the other: money is not sent in parallel."""
        done = Paid()
        spent = await self.spent()
        for payment in due:
            price = ledger.cost(payment, self._recruiter)
            fresh = payment.state is LedgerState.APPROVED
            budget = self._config.budget
            if fresh and budget is not None and spent + price > budget:
                problem = f"paying it would go over the budget of {budget}"
                await self._put_off(payment, problem)
                done = replace(done, waiting=done.waiting + 1, problems=(*done.problems, problem))
                continue
            state, problem = await self._pay(payment)
            if fresh and state in (LedgerState.SENDING, LedgerState.PAID):
                spent += price
            done = _counted(done, payment, state, problem)
        return done

    async def spent(self) -> int:
        """What has been or is being paid so far, commission included, in cents."""
        return await self._cost_of((LedgerState.SENDING, LedgerState.PAID))

    async def committed(self) -> int:
        """What has been paid and what is owed so far, commission included, in cents."""
        return await self._cost_of(list(LedgerState))

    async def _cost_of(self, states: Collection[LedgerState]) -> int:
        found = await self._record.read(rows.payments_in, self._config.study_id, states)
        return sum(
            ledger.cost(p, self._recruiter) for p in found if p.recruiter == self._recruiter.name
        )

    # --- One payment -----------------------------------------------------------------------

    async def _pay(self, payment: PaymentRow) -> tuple[LedgerState, str]:
        """Go as far as it goes; returns the state it is left in, and why not further."""
        try:
            payment = await self._looked_up(payment)
            while True:
                made = {s.step: s for s in await self._steps(payment)}
                todo = ledger.next_for(payment, self._recruiter, made)
                match todo:
                    case Settled():
                        await self._record.writer.commit(rows.paid(payment, self._now()))
                        return LedgerState.PAID, ""
                    case Wait(why):
                        await self._put_off(payment, why)
                        return payment.state, why
                    case Hold(problem):
                        return await self._stop(payment, LedgerState.HELD, problem)
                    case Fail(problem):
                        return await self._stop(payment, LedgerState.FAILED, problem)
                    case Call():
                        if payment.state is not LedgerState.SENDING:
                            await self._record.writer.commit(rows.sending(payment))
                            payment = replace(payment, state=LedgerState.SENDING)
                        await self._call(payment, todo, made)
        except Conflict:
            return payment.state, "somebody else is at it"
        except (NoFunds, NotYet, Unavailable) as error:
            await self._put_off(payment, str(error))
            return payment.state, str(error)
        except (Refused, Unsupported) as error:
            return await self._stop(payment, LedgerState.FAILED, str(error))
        except _CannotTell as error:
            return await self._stop(payment, LedgerState.HELD, str(error))

    async def _looked_up(self, payment: PaymentRow) -> PaymentRow:
        """The payment with what the recruiter says of the assignment at this moment."""
        told = await self._recruiter.assignment(payment.assignment_id)
        seen_hit = payment.hit_id if told.hit_id == payment.remote_hit else f"? {told.hit_id}"
        await self._remember(payment, told.status, told.worker_id)
        return replace(payment, status=told.status, seen_worker=told.worker_id, seen_hit=seen_hit)

    async def _remember(self, payment: PaymentRow, status: AssignmentStatus, worker: str) -> None:
        """Keep what was seen, so that the HIT can be cleared away when all is reviewed."""
        study_id = self._config.study_id
        known = await self._record.read(assignments_by_id, study_id, [payment.assignment_id])
        row = known.get(payment.assignment_id)
        if row is not None and row.status is not status:
            decision = assignments_seen(study_id, [], [replace(row, status=status)])
            await self._record.writer.commit(decision)
        elif row is None and payment.hit_id is not None:
            new = AssignmentRow(payment.assignment_id, payment.hit_id, worker, status, None, None)
            await self._record.writer.commit(assignments_seen(study_id, [new], []))

    async def _steps(self, payment: PaymentRow) -> list[StepRow]:
        return await self._record.read(rows.steps_of, payment.arrival_id, payment.reason)

    async def _call(self, payment: PaymentRow, call: Call, made: dict[str, StepRow]) -> None:
        step, key = call.step, bonus_key(payment)
        if not call.again:
            begins = rows.step_begins(payment, step.value, key, self._now())
            await self._record.writer.commit(begins)
        match step:
            case Step.APPROVE:
                await self._recruiter.approve(payment.assignment_id)
                await self._remember(payment, AssignmentStatus.APPROVED, payment.worker)
            case Step.RETURN:
                await self._recruiter.request_return(payment.assignment_id, REASON)
            case Step.BONUS:
                await self._bonus(payment, key, again=call.again)
        await self._record.writer.commit(rows.step_done(payment, step.value, self._now()))

    async def _bonus(self, payment: PaymentRow, key: str, *, again: bool) -> None:
        bonus = Bonus(
            key=key,
            assignment_id=payment.assignment_id,
            hit_id=payment.remote_hit or "",
            worker_id=payment.worker,
            cents=self._beside_reward(payment),
            currency=payment.currency,
            reason=payment.note or REASON,
        )
        if again:
            was = await self._recruiter.paid(bonus)
            if was:
                return
            if was is None and not self._recruiter.capabilities.repeat_safe:
                raise _CannotTell(
                    "it may have been paid, and nobody can tell: look over there; if it was, say "
                    "`duologue hits pay --mark-paid`, if not, give it as a bonus"
                )
        await self._recruiter.pay(bonus)

    def _beside_reward(self, payment: PaymentRow) -> int:
        planned = ledger.steps_for(payment, self._recruiter)
        return payment.cents - (payment.reward if Step.APPROVE in planned else 0)

    async def _stop(
        self, payment: PaymentRow, state: LedgerState, problem: str
    ) -> tuple[LedgerState, str]:
        log.warning("payment %s of arrival %s: %s", payment.reason, payment.arrival_id, problem)
        await self._record.writer.commit(rows.stopped(payment, state, problem))
        return state, problem

    async def _put_off(self, payment: PaymentRow, problem: str) -> None:
        wait_s = min(FIRST_RETRY_S * 2**payment.tries, LONGEST_RETRY_S)
        await self._record.writer.commit(rows.put_off(payment, problem, self._now() + wait_s))


class _CannotTell(RecruiterError):
    """Nobody knows whether a payment was made."""


def _counted(done: Paid, payment: PaymentRow, state: LedgerState, problem: str) -> Paid:
    problems = (*done.problems, problem) if problem and problem not in done.problems else None
    done = replace(done, problems=problems or done.problems)
    match state:
        case LedgerState.PAID:
            return replace(done, payments=done.payments + 1, cents=done.cents + payment.cents)
        case LedgerState.HELD:
            return replace(done, held=done.held + 1)
        case LedgerState.FAILED:
            return replace(done, failed=done.failed + 1)
        case _:
            return replace(done, waiting=done.waiting + 1)
