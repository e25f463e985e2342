"""What to do next for one payment. Pure: no I/O, no clock.

A payment is made by one or two calls (`Step`). Each is written down before it is made and after
it was answered, so whoever goes on after a crash knows which calls may have been made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dialogs.record.payments import PaymentRow, StepRow
from dialogs.record.spending import Amounts
from dialogs.rules import AssignmentStatus, LedgerReason
from hit_manager.config import HitConfig
from hit_manager.recruiters.base import Recruiter, Refused, Step, Unsupported


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing can be done now; it is not the payment's fault."""

    why: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Something does not fit; a person must look."""

    problem: str


@dataclass(frozen=True, slots=True)
class Fail:
    """It can never be paid this way; a person must look."""

    problem: str


@dataclass(frozen=True, slots=True)
class Call:
    """Make this call. `again` says that it was begun before and nobody knows how it ended."""

    step: Step
    again: bool


@dataclass(frozen=True, slots=True)
class Settled:
    """Every call has been made."""


Next = Wait | Hold | Fail | Call | Settled


def is_by_hand(payment: PaymentRow) -> bool:
    """Whether the team gives this, beside what the rules of the study owe."""
    return payment.reason not in set(LedgerReason)


def steps_for(
    payment: PaymentRow, recruiter: Recruiter, made: Mapping[str, StepRow]
) -> tuple[Step, ...]:
    """The calls that make this payment. The reward of the work belongs to what the release owes;
    whatever the team gives beside that is a bonus.

    Raises:
        Refused, Unsupported: it cannot be paid through this recruiter.
    """
    if not is_by_hand(payment):
        # Who has given the work back by themselves cannot be screened out any more.
        here = payment.status is not AssignmentStatus.RETURNED or Step.SCREEN_OUT in made
        waited = payment.reason == LedgerReason.WAITING and here
        return recruiter.steps(payment.cents, payment.reward, waited=waited)
    return (Step.BONUS,)


def next_for(payment: PaymentRow, recruiter: Recruiter, made: Mapping[str, StepRow]) -> Next:
    """The next thing to do for a payment that may go out.

    On Mechanical Turk a worker id in a link proves nothing before the work is handed in, so the
    recruiter's word on who did it and for which HIT must match ours.
    """
    status = payment.status
    if status is None or status is AssignmentStatus.TAKEN:
        return Wait("the work has not been handed in over there yet")
    if payment.seen_worker != payment.worker:
        return Hold("over there, somebody else did this work")
    if payment.seen_hit != payment.hit_id:
        return Hold("over there, this work belongs to another HIT")
    try:
        planned = steps_for(payment, recruiter, made)
    except (Refused, Unsupported) as error:
        return Fail(str(error))
    for step in planned:
        known = made.get(step)
        if known is not None and known.done_at is not None:
            continue
        if step is Step.APPROVE:
            if status is AssignmentStatus.APPROVED:
                # Approved by hand, or by time: what was wanted has happened.
                continue
            if status is AssignmentStatus.REJECTED:
                return Hold("over there, the work was rejected")
            if status is AssignmentStatus.RETURNED:
                return Hold("over there, the work was given back or ran out of time")
        return Call(step, again=known is not None)
    return Settled()


def cost(payment: PaymentRow, recruiter: Recruiter) -> int:
    """What a payment takes from the budget, commission included, in cents."""
    alike = Amounts(1, is_by_hand(payment), payment.cents, payment.reward, payment.seats)
    return cost_of(alike, recruiter)


def cost_of(alike: Amounts, recruiter: Recruiter) -> int:
    """What payments that are alike take from the budget in all, commission included, in cents."""
    reward = 0 if alike.by_hand else min(alike.reward, alike.cents)
    beside = alike.cents - reward
    each = alike.cents
    if reward:
        each += recruiter.commission(reward, seats=alike.seats)
    if beside:
        each += recruiter.commission(beside, bonus=True)
    return alike.payments * each


def price_of_a_person(config: HitConfig, recruiter: Recruiter) -> int:
    """What one person costs who is paid in full, commission included, in cents."""
    beside = config.full_pay - config.reward
    price = config.full_pay + recruiter.commission(config.reward, seats=config.seats)
    return price + (recruiter.commission(beside, bonus=True) if beside > 0 else 0)
