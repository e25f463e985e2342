"""The outbox: pays what is owed, once, whatever dies in between.

owed → approved → sending → paid, or failed, or held for a person. Each state and each call is in
the record before the recruiter is asked, and its answer after; what was begun and not answered
is looked up over there before it is asked for again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import Final

import orjson

from dialogs.record import payments as rows
from dialogs.record.errors import Conflict
from dialogs.record.hits import (
    AssignmentRow,
    assignments_by_id,
    assignments_seen,
    hit_by_remote_id,
)
from dialogs.record.payments import PaymentRow, StepRow
from dialogs.record.spending import Which, amounts
from dialogs.record.store import Record
from dialogs.record.unowed import unowed
from dialogs.record.writer import Decision, together
from dialogs.rules import AssignmentStatus, LedgerReason, LedgerState
from hit_manager import ledger
from hit_manager.config import Approval, HitConfig
from hit_manager.ids import bonus_key
from hit_manager.ledger import Call, Fail, Hold, Settled, Wait
from hit_manager.recruiters.base import (
    Bonus,
    Known,
    NoFunds,
    NotThere,
    NotYet,
    Recruiter,
    RecruiterError,
    Refused,
    RemoteAssignment,
    Step,
    Unavailable,
    Unsupported,
)

log = logging.getLogger("duologue.payments")

FIRST_RETRY_S: Final = 10.0
LONGEST_RETRY_S: Final = 3600.0
ROUND_S: Final = 30.0
"""After so many seconds no further payment is begun: HITs must not wait longer to be looked after.
By time, not by number, as each round first adds up all that was spent."""
AT_ONCE: Final = 2_000
"""Payments of one round, at most."""

REASON: Final = "Thank you for your work in our dialog study."

RETURN_AFTER_WAITING: Final = (
    "Thank you for waiting. Nobody was there to talk with, so please return this submission. "
    "Your waiting time is paid as a bonus, and returning it is no rejection."
)
RETURN_UNFINISHED: Final = (
    "The dialog was not completed, so please return this submission. What is owed to you for "
    "your part is paid as a bonus, and returning it is no rejection."
)
"""Shown to those who are asked to give work back that was not done."""


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
    """Pays one study's ledger through one recruiter.

    `still()` is asked before each payment: False stops, as somebody else may be at it.
    """

    def __init__(
        self,
        record: Record,
        recruiter: Recruiter,
        config: HitConfig,
        *,
        still: Callable[[], bool] = lambda: True,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._still = still
        self._record = record
        self._recruiter = recruiter
        self._config = config
        self._now = now

    def go_on_with(self, config: HitConfig) -> None:
        """The study pays or is something else from now on."""
        self._config = config

    async def once(self) -> Paid:
        """One round over what may go out; what it has no time for is left to the next.

        Raises:
            RecordError: the database does not answer.
        """
        if not self._recruiter.capabilities.pays:
            return Paid()
        until = self._now() + ROUND_S
        return await self.pay(await self.due(), until=until)

    async def due(self) -> list[PaymentRow]:
        """What may go out now: what is approved and handed in, and, if the rules of the study
        suffice, what is owed and handed in. Oldest first, and no more than one round pays."""
        states = [LedgerState.APPROVED, LedgerState.SENDING]
        if self._config.approval is Approval.AUTOMATIC:
            states.append(LedgerState.OWED)
        return await self._record.read(
            rows.payments_due,
            self._config.study_id,
            self._recruiter.name,
            states,
            self._now(),
            AT_ONCE,
        )

    async def approve(self, payment: PaymentRow) -> bool:
        """Let a payment go out; False if its state has changed meanwhile."""
        try:
            await self._record.writer.commit(rows.approved(payment, self._now()))
        except Conflict:
            return False
        return True

    async def pay(self, due: Iterable[PaymentRow], *, until: float = inf) -> Paid:
        """Pay these, one after the other: money is not sent in parallel. None is begun after
        `until`, in seconds since 1970-01-01 UTC.

        What is owed among them is approved by being named here.
        """
        done, budget = Paid(), self._config.budget
        # Without a limit nobody asks what was spent.
        spent = await self.spent() if budget is not None else 0
        for payment in due:
            if not self._still() or self._now() >= until:
                break
            if payment.state is LedgerState.OWED:
                if not await self.approve(payment):
                    continue
                payment = replace(payment, state=LedgerState.APPROVED)
            price = ledger.cost(payment, self._recruiter)
            # What was begun is in what was spent.
            fresh = payment.state is LedgerState.APPROVED and not await self._steps(payment)
            if fresh and budget is not None and spent + price > budget:
                problem = f"paying it would go over the budget of {budget}"
                await self._put_off(payment, problem)
                done = _counted(done, payment, payment.state, problem)
                continue
            state, problem = await self._pay(payment)
            if fresh and (state is LedgerState.PAID or await self._steps(payment)):
                spent += price
            done = _counted(done, payment, state, problem)
        return done

    async def spent(self) -> int:
        """What has been or is being paid so far, and what may have been, commission included, in
        cents: by us, or by the recruiter by itself for work that nothing is owed for."""
        return await self._price(Which.BEGUN)

    async def unsure(self) -> int:
        """How much of what was spent may not have gone out, commission included, in cents."""
        return await self._price(Which.UNSURE)

    async def committed(self) -> int:
        """What has been paid and what is owed so far, commission included, in cents."""
        return await self._price(Which.ALL)

    async def _price(self, which: Which) -> int:
        study_id, name = self._config.study_id, self._recruiter.name
        found = await self._record.read(amounts, study_id, name, which)
        if which is not Which.UNSURE:
            approved = which is Which.BEGUN
            found += await self._record.read(unowed, study_id, name, approved=approved)
        return sum(ledger.cost_of(alike, self._recruiter) for alike in found)

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
                        earlier = await self._begin(payment, todo, made)
                        payment = replace(payment, state=LedgerState.SENDING)
                        seen = await self._call(payment, todo.step, made, earlier)
                        if await self._answered(payment, todo.step, made, seen):
                            return LedgerState.PAID, ""
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
        try:
            told = await self._recruiter.assignment(payment.assignment_id)
        except NotThere:
            # A HIT that was cleared away took its assignments along. What the team gives later is
            # paid by what was seen of them.
            if ledger.is_by_hand(payment) and payment.status is AssignmentStatus.APPROVED:
                return payment
            raise
        seen_hit = payment.hit_id if told.hit_id == payment.remote_hit else f"? {told.hit_id}"
        await self._remember(told)
        return replace(payment, status=told.status, seen_worker=told.worker_id, seen_hit=seen_hit)

    async def _remember(self, told: RemoteAssignment) -> None:
        """Keep what was seen, so that the HIT can be cleared away when all is reviewed."""
        study_id = self._config.study_id
        # Its HIT is that which the recruiter names, whatever the worker's link said.
        hit = await self._record.read(hit_by_remote_id, study_id, told.hit_id)
        if hit is None:
            return
        row = AssignmentRow(
            told.id, hit.id, told.worker_id, told.status, told.code, told.submitted_at
        )
        known = (await self._record.read(assignments_by_id, study_id, [told.id])).get(told.id)
        if known is None:
            await self._record.writer.commit(assignments_seen(study_id, [row], []))
        elif known != row:
            await self._record.writer.commit(assignments_seen(study_id, [], [row]))

    async def _seen_approved(self, payment: PaymentRow) -> list[Decision]:
        study_id, name = self._config.study_id, payment.assignment_id
        known = (await self._record.read(assignments_by_id, study_id, [name])).get(name)
        if known is None:
            return []
        row = replace(known, status=AssignmentStatus.APPROVED)
        return [assignments_seen(study_id, [], [row])]

    async def _steps(self, payment: PaymentRow) -> list[StepRow]:
        return await self._record.read(rows.steps_of, payment.arrival_id, payment.reason)

    async def _begin(
        self, payment: PaymentRow, call: Call, made: Mapping[str, StepRow]
    ) -> int | None:
        """Write down that a call is about to be made; returns what `_earlier` says of a bonus."""
        begins, earlier = [], None
        if payment.state is not LedgerState.SENDING:
            begins.append(rows.sending(payment, self._now()))
        if not call.again:
            if call.step is Step.BONUS:
                earlier = await self._earlier(payment, self._beside(payment, made))
            key = bonus_key(payment)
            begins.append(rows.step_begins(payment, call.step.value, key, self._now()))
        if begins:
            await self._record.writer.commit(together(*begins))
        return earlier

    async def _call(
        self, payment: PaymentRow, step: Step, made: Mapping[str, StepRow], earlier: int | None
    ) -> list[Decision]:
        """Make a call that was begun; returns what is to be written down with its answer."""
        self._go_on()
        match step:
            case Step.APPROVE:
                await self._recruiter.approve(payment.assignment_id)
                return await self._seen_approved(payment)
            case Step.RETURN:
                waited = payment.reason == LedgerReason.WAITING
                why = RETURN_AFTER_WAITING if waited else RETURN_UNFINISHED
                await self._recruiter.request_return(payment.assignment_id, why)
            case Step.SCREEN_OUT:
                await self._recruiter.screen_out(payment.assignment_id)
            case Step.BONUS:
                await self._bonus(payment, bonus_key(payment), made, earlier)
        return []

    async def _answered(
        self,
        payment: PaymentRow,
        step: Step,
        made: Mapping[str, StepRow],
        seen: Sequence[Decision],
    ) -> bool:
        """Write down that a call was answered, and with the last one that all is paid; returns
        whether it was the last."""
        now, writer = self._now(), self._record.writer
        answered = together(*seen, rows.step_done(payment, step.value, now))
        done = {step.value: StepRow(step.value, bonus_key(payment), now, now, None)}
        if not isinstance(ledger.next_for(payment, self._recruiter, {**made, **done}), Settled):
            await writer.commit(answered)
            return False
        try:
            await writer.commit(together(answered, rows.paid(payment, now)))
        except Conflict:
            # Somebody has settled it meanwhile; that this call went out must be known all the same.
            await writer.commit(answered)
            raise
        return True

    def _go_on(self) -> None:
        """Asked right before money may move.

        Raises:
            Unavailable: somebody else may be at it. They look first at what this was about to do.
        """
        if not self._still():
            raise Unavailable("this process has been stopped, or has lost the lease")

    async def _bonus(
        self, payment: PaymentRow, key: str, made: Mapping[str, StepRow], earlier: int | None
    ) -> None:
        """Pay what the other calls do not; a row of an earlier try is among those `made`.
        `earlier` is what `_earlier` said before this one was begun."""
        begun = made.get(Step.BONUS)
        kept = begun.detail if begun is not None else None
        bonus = Bonus(
            key=key,
            assignment_id=payment.assignment_id,
            hit_id=payment.remote_hit or "",
            worker_id=payment.worker,
            cents=self._beside(payment, made),
            currency=payment.currency,
            reason=payment.note or REASON,
            known=orjson.loads(kept) if kept else {},
        )
        # A record that came back from a backup knows no step of what was paid since, and keys are
        # not remembered for ever over there: who can tell by the key is asked every time.
        if begun is not None or self._recruiter.capabilities.repeat_safe:
            was = await self._recruiter.paid(bonus)
            if was:
                return
            if was is None and not self._recruiter.capabilities.repeat_safe:
                raise _CannotTell(
                    "it may have been paid, and nobody can tell: look over there; if it was, say "
                    "`duologue hits pay --mark-paid`, if not, give it as a bonus"
                )

        async def keep(known: Known) -> None:
            detail = orjson.dumps(known).decode()
            await self._record.writer.commit(rows.step_known(payment, Step.BONUS.value, detail))
            self._go_on()

        if earlier is None:
            earlier = await self._earlier(payment, bonus.cents)
        await self._recruiter.pay(replace(bonus, earlier=earlier), keep)

    async def _earlier(self, payment: PaymentRow, cents: int) -> int:
        """How many bonuses of the same amount were paid for the same work.

        Raises:
            NotYet: one may be on its way, and nobody could tell it from this one.
        """
        if self._recruiter.capabilities.repeat_safe:
            return 0
        earlier = 0
        for other in await self._record.read(rows.payments_of, [payment.arrival_id]):
            if other.reason == payment.reason:
                continue
            made = {s.step: s for s in await self._steps(other)}
            bonus = made.get(Step.BONUS)
            if bonus is None or self._beside(other, made) != cents:
                continue
            if bonus.done_at is None and other.state is LedgerState.SENDING:
                raise NotYet("another bonus of this amount may be on its way")
            earlier += bonus.done_at is not None
        return earlier

    def _beside(self, payment: PaymentRow, made: Mapping[str, StepRow]) -> int:
        planned = ledger.steps_for(payment, self._recruiter, made)
        return payment.cents - sum(self._recruiter.pays(step, payment.reward) for step in planned)

    async def _stop(
        self, payment: PaymentRow, state: LedgerState, problem: str
    ) -> tuple[LedgerState, str]:
        log.warning(
            "payment %s of arrival %s: %s",
            payment.reason,
            payment.arrival_id,
            problem,
            extra={"arrival": payment.arrival_id},
        )
        with suppress(Conflict):
            await self._record.writer.commit(rows.stopped(payment, state, problem))
        return state, problem

    async def _put_off(self, payment: PaymentRow, problem: str) -> None:
        wait_s = min(FIRST_RETRY_S * 2 ** min(payment.tries, 20), LONGEST_RETRY_S)
        decision = rows.put_off(payment, problem, self._now() + wait_s)
        with suppress(Conflict):
            await self._record.writer.commit(decision)


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
