"""What is done next for one payment: nothing twice, and nothing where something does not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogs.record.payments import PaymentRow, StepRow
from dialogs.rules import AssignmentStatus, LedgerState, Release
from hit_manager.config import HitConfig
from hit_manager.ledger import Call, Fail, Hold, Settled, Wait, cost, next_for, price_of_a_person
from hit_manager.recruiters.base import Recruiter, Step
from hit_manager.recruiters.link import Link
from hit_manager.recruiters.mturk import Mturk, MturkConfig

MTURK = Mturk(MturkConfig("sandbox", "KEY", "SECRET"))
PAYMENT = PaymentRow(
    arrival_id="a1",
    reason="dialog",
    recruiter="mturk",
    cents=150,
    currency="USD",
    state=LedgerState.APPROVED,
    at=1.0,
    note=None,
    tries=0,
    retry_at=None,
    problem=None,
    worker="A1",
    assignment_id="3A",
    hit_id="h1",
    remote_hit="3H",
    reward=50,
    seats=1,
    release=Release.COMPLETED,
    code="c",
    status=AssignmentStatus.SUBMITTED,
    seen_worker="A1",
    seen_hit="h1",
    seen_code="c",
)


def step(name: Step, done: bool) -> StepRow:
    return StepRow(name.value, "k", 1.0, 2.0 if done else None, None)


def made(**steps: bool) -> dict[str, StepRow]:
    return {name: step(Step(name), done) for name, done in steps.items()}


TAKEN, SUBMITTED = AssignmentStatus.TAKEN, AssignmentStatus.SUBMITTED
APPROVED, REJECTED = AssignmentStatus.APPROVED, AssignmentStatus.REJECTED
RETURNED = AssignmentStatus.RETURNED


@pytest.mark.parametrize(
    ("changes", "steps", "expected"),
    [
        # Nothing is known, or it is not handed in.
        ({"status": None}, {}, Wait),
        ({"status": TAKEN}, {}, Wait),
        # The usual way.
        ({}, {}, Call(Step.APPROVE, again=False)),
        ({}, {"approve": False}, Call(Step.APPROVE, again=True)),
        ({}, {"approve": True}, Call(Step.BONUS, again=False)),
        ({}, {"approve": True, "bonus": False}, Call(Step.BONUS, again=True)),
        ({}, {"approve": True, "bonus": True}, Settled),
        ({"cents": 50}, {}, Call(Step.APPROVE, again=False)),
        ({"cents": 50}, {"approve": True}, Settled),
        # Approved by others, or by time.
        ({"status": APPROVED}, {}, Call(Step.BONUS, again=False)),
        ({"status": APPROVED}, {"approve": False}, Call(Step.BONUS, again=False)),
        ({"status": APPROVED, "cents": 50}, {}, Settled),
        # Decided otherwise over there.
        ({"status": REJECTED}, {}, Hold),
        ({"status": RETURNED}, {}, Hold),
        # Somebody else, somewhere else, or less than approving pays.
        ({"seen_worker": "A2"}, {}, Hold),
        ({"seen_hit": "h2"}, {}, Hold),
        ({"seen_hit": None}, {}, Hold),
        ({"cents": 49}, {}, Fail),
        # What the team adds needs no approval, but the right person.
        ({"reason": "bonus-1", "cents": 10}, {}, Call(Step.BONUS, again=False)),
        ({"reason": "bonus-1", "cents": 10}, {"bonus": True}, Settled),
        ({"reason": "bonus-1", "status": REJECTED}, {}, Call(Step.BONUS, again=False)),
        ({"reason": "bonus-1", "seen_worker": "A2"}, {}, Hold),
        ({"reason": "bonus-1", "status": TAKEN}, {}, Wait),
    ],
)
def test_what_is_next(changes: dict[str, object], steps: dict[str, bool], expected: object) -> None:
    found = next_for(replace(PAYMENT, **changes), MTURK, made(**steps))  # type: ignore[arg-type]
    if isinstance(expected, type):
        assert isinstance(found, expected)
    else:
        assert found == expected


def test_who_pays_nobody_cannot_pay() -> None:
    assert isinstance(next_for(PAYMENT, Link(None), {}), Fail)


payments = st.builds(
    lambda **changes: replace(PAYMENT, **changes),
    cents=st.integers(1, 500),
    reward=st.integers(1, 200),
    reason=st.sampled_from(["dialog", "waiting", "bonus-1"]),
    status=st.none() | st.sampled_from(list(AssignmentStatus)),
    seen_worker=st.sampled_from(["A1", "A1", "A2", None]),
    seen_hit=st.sampled_from(["h1", "h1", "h2", None]),
)
step_states = st.dictionaries(st.sampled_from(["approve", "bonus"]), st.booleans())


@given(payments, step_states)
def test_no_call_is_made_twice_or_on_a_mismatch(
    payment: PaymentRow, states: dict[str, bool]
) -> None:
    found = next_for(payment, MTURK, made(**states))
    if payment.status in (None, TAKEN):
        assert isinstance(found, Wait)
    elif payment.seen_worker != payment.worker or payment.seen_hit != payment.hit_id:
        assert isinstance(found, Hold)
    elif isinstance(found, Call):
        assert not states.get(found.step, False)
        assert found.again == (found.step in states)
    elif isinstance(found, Settled):
        approved = payment.status is APPROVED or states.get("approve", False)
        assert approved or payment.reason == "bonus-1"


@given(payments)
def test_it_comes_to_an_end_in_two_calls(payment: PaymentRow) -> None:
    states: dict[str, bool] = {}
    for _ in range(3):
        found = next_for(payment, MTURK, made(**states))
        if not isinstance(found, Call):
            break
        states[found.step] = True
        if found.step is Step.APPROVE:
            payment = replace(payment, status=APPROVED)
    assert not isinstance(found, Call)


@given(payments)
def test_the_price_is_the_amount_and_the_commission_of_each_call(payment: PaymentRow) -> None:
    price = cost(payment, MTURK)
    assert price > payment.cents
    if payment.reason == "bonus-1":
        assert price == payment.cents + MTURK.commission(payment.cents, bonus=True)
    elif payment.cents > payment.reward:
        fees = MTURK.commission(payment.reward, seats=1)
        fees += MTURK.commission(payment.cents - payment.reward, bonus=True)
        assert price == payment.cents + fees


@pytest.mark.parametrize(("reward", "price"), [(50, 180), (150, 180), (1, 151 + 30)])
def test_a_person_who_is_paid_in_full(reward: int, price: int) -> None:
    config = HitConfig("s", "t", "d", "k", reward, 150, "USD", "https://x.example")
    recruiter: Recruiter = MTURK
    assert price_of_a_person(config, recruiter) == price
    paid = replace(PAYMENT, reward=reward)
    assert cost(paid, recruiter) == price
