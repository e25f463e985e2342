"""The outbox against the marketplace: everybody gets what they are owed, to the cent and once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import Connection, update

from dialogs.record import payments
from dialogs.record.supply import supply
from dialogs.record.tables import ledger as ledger_rows
from dialogs.record.tables import payment_steps
from dialogs.rules import (
    AssignmentStatus,
    HitState,
    LedgerReason,
    LedgerState,
    Release,
    StudyStatus,
)
from hit_manager import ledger
from hit_manager.config import Approval
from hit_manager.marketplace import workers
from hit_manager.marketplace.faults import Fault
from hit_manager.outbox import ROUND_S
from hit_manager.recruiters.base import Bonus, Keep, Unsure
from hit_manager.taking_back import in_the_way
from tests.records import STUDY
from tests.recruiting import Recruiting, owes, recruiting, release

CALLS = ("ApproveAssignment", "RejectAssignment", "SendBonus")


@pytest_asyncio.fixture
async def at(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Recruiting]:
    async with recruiting(sqlite_url, tmp_path) as opened:
        opened.study_of_items(*(f"item-{n}" for n in range(5)))
        await opened.round()
        yield opened


async def rounds(at: Recruiting, number: int = 8, *, apart_s: float = 4000.0) -> None:
    for _ in range(number):
        await at.round()
        at.stage.clock.advance(apart_s)


def calls(at: Recruiting) -> list[int]:
    return [at.stage.faults.calls[name] for name in CALLS]


# --- What is paid ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cents", "bonuses"), [(50, []), (51, [1]), (150, [100]), (10_050, [10_000])]
)
async def test_reward_and_bonus_make_the_exact_amount(
    at: Recruiting, cents: int, bonuses: list[int]
) -> None:
    arrival = await at.worked(cents)
    done = await at.round()
    assert (done.paid.payments, done.paid.cents) == (1, cents)
    assert await at.got(arrival) == ([50], bonuses)
    payment = await at.payment(arrival)
    assert payment.state is LedgerState.PAID
    assert ledger.cost(payment, at.stage.recruiter) == await at.manager.outbox.spent()
    await rounds(at, 3)
    assert await at.got(arrival) == ([50], bonuses)
    # What we think was spent is what left the account, commission included.
    assert await at.stage.spent() == await at.manager.outbox.spent()


async def test_what_the_team_adds_is_paid_beside(at: Recruiting) -> None:
    arrival = await at.worked(150)
    for name, cents in (("1", 20), ("2", 20)):
        given = payments.given_by_hand(arrival, name, cents, "USD", f"Reason {name}", 1.0)
        await at.record.writer.commit(given)
    await at.round()
    assert await at.got(arrival) == ([50], [20, 20, 100])
    await rounds(at, 3)
    assert await at.got(arrival) == ([50], [20, 20, 100])


async def test_a_record_that_came_back_from_a_backup_pays_no_bonus_again(at: Recruiting) -> None:
    arrival = await at.worked(150)
    await at.round()
    assert await at.got(arrival) == ([50], [100])

    def from_the_day_before(connection: Connection) -> None:
        connection.execute(payment_steps.delete())
        before = {"state": LedgerState.OWED.value, "paid_at": None, "approved_at": None}
        connection.execute(update(ledger_rows).values(**before))

    at.write(from_the_day_before)
    # Keys are remembered over there for a day.
    at.stage.clock.advance(3 * 86_400.0)
    await rounds(at, 3)
    assert await at.got(arrival) == ([50], [100])
    assert (await at.payment(arrival)).state is LedgerState.PAID


async def test_a_bonus_is_paid_when_the_hit_has_been_cleared_away(at: Recruiting) -> None:
    arrival = await at.worked(150)
    await rounds(at)
    visit = at.visits[arrival]
    [hit] = [each for each in await at.hits() if each.remote_id == visit.hit_id]
    assert hit.state is HitState.DONE
    late = payments.given_by_hand(arrival, "late", 25, "USD", "You were great.", 1.0)
    await at.record.writer.commit(late)
    await at.round()
    assert (await at.payment(arrival, "bonus-late")).state is LedgerState.PAID
    await rounds(at, 3)
    assert await at.got(arrival) == ([50], [100, 25])


async def test_nobody_is_approved_rejected_or_paid_without_being_owed(at: Recruiting) -> None:
    """Trap 32."""
    leaver = await at.worked(0)
    # And somebody who never opened our page hands in whatever they like.
    hit = (await at.hits(HitState.OPEN))[-1]
    assert hit.remote_id
    await at.stage.submit(await at.stage.take(hit.remote_id))
    await rounds(at, 5, apart_s=60.0)
    assert calls(at) == [0, 0, 0]
    assert await at.got(leaver) == ([], [])


async def test_by_hand_means_by_hand(at: Recruiting) -> None:
    at.set(approval=Approval.BY_HAND)
    arrival = await at.worked(150)
    await rounds(at, 4)
    assert calls(at) == [0, 0, 0]
    assert (await at.payment(arrival)).state is LedgerState.OWED
    assert await at.manager.outbox.approve(await at.payment(arrival))
    await rounds(at, 1)
    assert await at.got(arrival) == ([50], [100])


async def test_a_bonus_waits_for_the_work(at: Recruiting) -> None:
    """Trap 26."""
    arrival = await at.arrive((await at.hits(HitState.OPEN))[0])
    at.write(release, arrival, 150)
    await rounds(at, 3, apart_s=600.0)
    assert calls(at) == [0, 0, 0]
    # Even when it is asked for by hand.
    payment = await at.payment(arrival)
    done = await at.manager.pay([payment])
    assert done is not None
    assert (done.payments, done.waiting) == (0, 1)
    assert calls(at) == [0, 0, 0]
    assert (await at.payment(arrival)).problem
    await at.hand_in(arrival)
    await rounds(at, 2)
    assert await at.got(arrival) == ([50], [100])


async def test_work_is_paid_in_the_round_in_which_it_is_seen(at: Recruiting) -> None:
    arrival = await at.arrive((await at.hits(HitState.OPEN))[0])
    at.write(release, arrival, 150)
    for _ in range(30):
        await at.round()
        at.stage.clock.advance(15.0)
    await at.hand_in(arrival)
    assert (await at.round()).paid.payments == 1


# --- What others did over there ------------------------------------------------------------------


async def test_approved_already_is_approved(at: Recruiting) -> None:
    """Trap 27."""
    arrival = await at.worked(150)
    await at.stage.decide(at.visits[arrival], AssignmentStatus.APPROVED)
    await rounds(at, 2)
    assert await at.got(arrival) == ([50], [100])
    assert (await at.payment(arrival)).state is LedgerState.PAID


async def test_approved_between_the_look_and_the_call(at: Recruiting) -> None:
    arrival = await at.worked(150)
    at.stage.faults.add("ApproveAssignment", Fault.LOST)
    await rounds(at, 3)
    assert await at.got(arrival) == ([50], [100])


async def test_rejected_over_there_is_held_and_shown(at: Recruiting) -> None:
    """Trap 29: what the recruiter says is right."""
    arrival = await at.worked(150)
    await at.stage.decide(at.visits[arrival], AssignmentStatus.REJECTED)
    await rounds(at, 3)
    payment = await at.payment(arrival)
    assert payment.state is LedgerState.HELD
    assert payment.problem == "over there, the work was rejected"
    assert payment.status is AssignmentStatus.REJECTED
    assert await at.got(arrival) == ([], [])


async def test_work_that_was_approved_by_time_gets_its_bonus(at: Recruiting) -> None:
    arrival = await at.worked(150)
    at.stage.clock.advance(8 * 86_400.0)
    await rounds(at, 2)
    assert await at.got(arrival) == ([50], [100])


@pytest.mark.parametrize("what", ["worker", "hit", "assignment"])
async def test_what_does_not_match_is_held_and_shown(at: Recruiting, what: str) -> None:
    one, other = (await at.hits(HitState.OPEN))[:2]
    assert one.remote_id
    visit = await at.stage.take(one.remote_id)
    forged = {
        "worker": {"external_id": "AFORGEDWORKER1"},
        "hit": {},
        "assignment": {"assignment_id": at.stage.unknown_id},
    }[what]
    arrival = at.come(visit, (other if what == "hit" else one).id, **forged)
    at.write(release, arrival, 150)
    await at.stage.submit(visit)
    await rounds(at, 3)
    payment = await at.payment(arrival)
    if what == "assignment":
        # Nothing was ever handed in under that name.
        assert payment.state is LedgerState.OWED
        await at.manager.pay([payment])
        payment = await at.payment(arrival)
        assert payment.state is LedgerState.FAILED
    else:
        assert payment.state is LedgerState.HELD
    assert payment.problem
    assert calls(at) == [0, 0, 0]
    assert await at.got(arrival) == ([], [])
    # A person who lets it go anyway is shown the same again.
    if what != "assignment":
        await at.manager.outbox.approve(await at.payment(arrival))
        await rounds(at, 1)
        assert (await at.payment(arrival)).state is LedgerState.HELD
        assert calls(at) == [0, 0, 0]


async def test_less_than_the_reward_cannot_be_paid_and_is_shown(at: Recruiting) -> None:
    arrival = await at.worked(20)
    await rounds(at, 2)
    payment = await at.payment(arrival)
    assert payment.state is LedgerState.FAILED
    assert "20" in str(payment.problem)
    assert calls(at) == [0, 0, 0]


# --- Bad networks ------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["ApproveAssignment", "SendBonus"])
@pytest.mark.parametrize("fault", list(Fault))
async def test_whatever_becomes_of_a_call_it_is_paid_once(
    at: Recruiting, operation: str, fault: Fault
) -> None:
    """Trap 28: the answer is lost after the commit."""
    arrivals = [await at.worked(150) for _ in range(3)]
    at.stage.faults.add(operation, fault, 7)
    await rounds(at)
    for arrival in arrivals:
        assert await at.got(arrival) == ([50], [100])
        assert (await at.payment(arrival)).state is LedgerState.PAID


async def test_a_bonus_is_paid_once_when_its_key_is_forgotten(at: Recruiting) -> None:
    arrival = await at.worked(150)
    at.stage.faults.add("SendBonus", Fault.LOST)
    await at.round()
    assert (await at.payment(arrival)).state is LedgerState.SENDING
    # Keys are remembered for 24 hours.
    at.stage.clock.advance(3 * 86_400.0)
    await rounds(at, 2)
    assert await at.got(arrival) == ([50], [100])
    assert (await at.payment(arrival)).state is LedgerState.PAID


async def test_one_payment_that_cannot_go_out_keeps_no_other(at: Recruiting) -> None:
    bad = await at.worked(20)
    good = [await at.worked(150) for _ in range(2)]
    done = await at.round()
    assert (done.paid.payments, done.paid.failed) == (2, 1)
    assert await at.got(bad) == ([], [])
    for arrival in good:
        assert await at.got(arrival) == ([50], [100])


async def test_without_money_it_waits(at: Recruiting) -> None:
    arrival = await at.worked(150)
    await at.money_left(0)
    await rounds(at, 2)
    payment = await at.payment(arrival)
    assert payment.state is LedgerState.SENDING
    assert "funds" in str(payment.problem)
    # The reward is held for the HIT and was paid; the bonus waits.
    assert await at.got(arrival) == ([50], [])
    await at.money_left(1000)
    await rounds(at, 2)
    assert await at.got(arrival) == ([50], [100])


async def test_what_was_tried_for_months_keeps_nobody_else_from_being_paid(at: Recruiting) -> None:
    """More often than a double-precision number could be doubled."""
    arrival = await at.worked(150)
    await at.money_left(0)
    await rounds(at, 1)
    with at.record.engine.begin() as connection:
        connection.execute(update(ledger_rows).values(tries=2000))
    other = await at.worked(150)
    await rounds(at, 2)
    payment = await at.payment(arrival)
    assert (payment.state, payment.tries > 2000) == (LedgerState.SENDING, True)
    await at.money_left(1000)
    await rounds(at, 2)
    for each in (arrival, other):
        assert await at.got(each) == ([50], [100])


# --- The budget ----------------------------------------------------------------------------------


async def test_payments_stop_before_the_budget_is_passed(at: Recruiting) -> None:
    arrivals = [await at.worked(150) for _ in range(4)]
    at.set(budget=2 * 180 + 179)
    await rounds(at, 4)
    states = [(await at.payment(arrival)).state for arrival in arrivals]
    assert states.count(LedgerState.PAID) == 2
    assert await at.manager.outbox.spent() == 360
    waiting = [
        p for p in [await at.payment(a) for a in arrivals] if p.state is not LedgerState.PAID
    ]
    assert all("budget" in str(p.problem) for p in waiting)
    # Asking by hand does not help; a larger budget does.
    await at.manager.pay([replace(p, retry_at=None) for p in waiting])
    assert await at.manager.outbox.spent() == 360
    at.set(budget=4 * 180)
    await rounds(at, 2)
    assert await at.manager.outbox.spent() == 720


async def test_what_got_stuck_half_way_is_in_what_was_spent(at: Recruiting) -> None:
    arrival = await at.worked(150)
    await at.money_left(0)
    await at.round()
    payment = await at.payment(arrival)
    await at.record.writer.commit(payments.stopped(payment, LedgerState.HELD, "Look at it."))
    assert await at.manager.outbox.spent() == 180


async def test_many_over_the_budget_are_told_once(at: Recruiting) -> None:
    for _ in range(4):
        await at.worked(150)
    at.set(budget=0)
    done = await at.round()
    assert len(done.paid.problems) == 1
    assert done.paid.waiting == 4


async def test_a_round_that_takes_long_leaves_the_rest_to_the_next(
    at: Recruiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HITs are looked after between the rounds."""
    for _ in range(4):
        await at.worked(150)
    approve = at.stage.recruiter.approve

    async def slowly(assignment_id: str) -> None:
        at.stage.clock.advance(ROUND_S * 0.6)
        await approve(assignment_id)

    monkeypatch.setattr(at.stage.recruiter, "approve", slowly)
    assert [(await at.round()).paid.payments for _ in range(3)] == [2, 2, 0]


# --- Several at a time ---------------------------------------------------------------------


async def test_two_managers_pay_once(at: Recruiting) -> None:
    arrivals = [await at.worked(150) for _ in range(4)]
    managers = [at.manager, at.another(), at.another()]
    await asyncio.gather(*(manager.round() for manager in managers for _ in range(2)))
    await rounds(at, 2)
    for arrival in arrivals:
        assert await at.got(arrival) == ([50], [100])


async def test_two_without_a_lease_pay_once(at: Recruiting) -> None:
    """The lease saves work; what keeps money from going out twice is the record."""
    arrivals = [await at.worked(150) for _ in range(4)]
    await at.manager.reconciler.once()
    boxes = [at.another().outbox for _ in range(3)]
    for box in boxes:
        box._still = lambda: True
    await asyncio.gather(*(box.once() for box in boxes))
    await rounds(at, 3)
    for arrival in arrivals:
        assert await at.got(arrival) == ([50], [100])
        assert (await at.payment(arrival)).state is LedgerState.PAID


async def test_who_lost_the_lease_stops_paying(at: Recruiting) -> None:
    arrivals = [await at.worked(150) for _ in range(2)]
    await at.manager.reconciler.once()
    due = await at.manager.outbox.due()
    assert len(due) == 2
    async with at.manager._lease() as ours:
        assert ours
        at.stage.clock.advance(61.0)
        await at.manager.outbox.pay(due)
    for arrival in arrivals:
        assert await at.got(arrival) == ([], [])


async def test_marked_as_paid_while_it_waits_stays_so(at: Recruiting) -> None:
    arrival = await at.worked(150)
    await at.manager.reconciler.once()
    [due] = await at.manager.outbox.due()
    await at.record.writer.commit(payments.approved(due, 1.0))
    approved = await at.payment(arrival)
    await at.record.writer.commit(payments.paid(approved, 2.0, "paid by other means"))
    # The outbox still has the row as it was.
    async with at.manager._lease():
        done = await at.manager.outbox.pay([approved])
    assert done.payments == 0
    assert calls(at) == [0, 0, 0]
    assert (await at.payment(arrival)).state is LedgerState.PAID


async def test_a_call_that_went_out_is_known_whoever_settles_the_payment(
    at: Recruiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrival = await at.worked(150)
    pay = at.stage.recruiter.pay

    async def meanwhile(bonus: Bonus, keep: Keep) -> None:
        await pay(bonus, keep)
        sending = await at.payment(arrival)
        await at.record.writer.commit(payments.paid(sending, 2.0, "paid by other means"))

    monkeypatch.setattr(at.stage.recruiter, "pay", meanwhile)
    await at.round()
    assert (await at.payment(arrival)).problem == "paid by other means"
    steps = await at.record.read(payments.steps_of, arrival, LedgerReason.DIALOG.value)
    assert {step.step: step.done_at is not None for step in steps} == {
        "approve": True,
        "bonus": True,
    }


async def test_waiting_is_paid_from_the_reward_up(at: Recruiting) -> None:
    arrival = await at.arrive((await at.hits(HitState.OPEN))[0])
    at.write(release, arrival, 60, how=Release.NEVER_PAIRED, reason=LedgerReason.WAITING)
    at.write(owes, arrival, 15, reason="bonus-x", state=LedgerState.APPROVED)
    await at.hand_in(arrival)
    await rounds(at, 2)
    rewards, bonuses = await at.got(arrival)
    assert rewards == [50]
    assert sorted(bonuses) == [10, 15]
    totals = await at.record.read(payments.ledger_totals, STUDY)
    assert [(t.state, t.payments, t.cents) for t in totals] == [(LedgerState.PAID, 2, 75)]


# --- Work that is never handed in, and what is taken back ------------------------------------


async def test_who_never_hands_in_is_held_when_their_time_is_over(at: Recruiting) -> None:
    at.set(budget=2000, lifetime_s=3600.0)
    hit = (await at.hits(HitState.OPEN))[0]
    arrival = await at.arrive(hit)
    at.write(release, arrival, 150)
    await at.round()
    await at.study_becomes(StudyStatus.PAUSED)
    # The HIT is closed at once, and they may still hand in.
    for _ in range(2):
        await at.round()
        assert (await at.payment(arrival)).state is LedgerState.OWED
        at.stage.clock.advance(at.config.assignment_duration_s - 300.0)
    for _ in range(3):
        await at.round()
        at.stage.clock.advance(1000.0)
    held = await at.payment(arrival)
    assert held.state is LedgerState.HELD
    assert held.problem is not None
    assert "never handed in" in held.problem
    # Its HIT is cleared away, and the money is kept until somebody decides.
    assert hit.id in {each.id for each in await at.hits(HitState.DONE)}
    assert await at.manager.outbox.committed() == 180
    assert await in_the_way(at.record, at.stage.recruiter, held) == ""
    await at.record.writer.commit(payments.cancelled(held, "they wrote that they want nothing"))
    assert await at.manager.outbox.committed() == 0
    taken_back = await at.payment(arrival)
    assert taken_back.note == "taken back: they wrote that they want nothing"
    await rounds(at, 3)
    assert await at.stage.spent() == 0


async def test_who_hands_in_late_is_paid(at: Recruiting) -> None:
    hit = (await at.hits(HitState.OPEN))[0]
    arrival = await at.arrive(hit)
    at.write(release, arrival, 150)
    await at.study_becomes(StudyStatus.PAUSED)
    await at.round()
    at.stage.clock.advance(at.config.assignment_duration_s - 1.0)
    await at.hand_in(arrival)
    at.stage.clock.advance(5000.0)
    await at.round()
    assert await at.got(arrival) == ([50], [100])


async def test_a_bonus_that_was_taken_back_is_not_paid(at: Recruiting) -> None:
    arrival = await at.worked(150)
    at.write(owes, arrival, 5000, reason="bonus-x", state=LedgerState.APPROVED)
    bonus = await at.payment(arrival, "bonus-x")
    await at.record.writer.commit(payments.cancelled(bonus, "typo"))
    await rounds(at, 3)
    assert await at.got(arrival) == ([50], [100])
    assert (await at.payment(arrival, "bonus-x")).state is LedgerState.CANCELLED
    assert await at.manager.outbox.spent() == await at.stage.spent() == 180


async def test_what_may_have_gone_out_cannot_be_taken_back(at: Recruiting) -> None:
    arrival = await at.worked(150)
    # Approved, while there was no money for the bonus.
    await at.money_left(0)
    await at.round()
    payment = await at.payment(arrival)
    told = await in_the_way(at.record, at.stage.recruiter, payment)
    assert told == "a part of it has gone out already"
    # Sent, while the answer was lost.
    other = await at.worked(50)
    at.write(owes, other, 20, reason="bonus-x", state=LedgerState.APPROVED)
    await at.money_left(100_000)
    at.stage.faults.add("SendBonus", Fault.LOST, 1)
    at.stage.faults.add("GetAssignment", Fault.FAILED, 100)
    given = await at.payment(other, "bonus-x")
    await at.record.writer.commit(payments.step_begins(given, "bonus", "key", 1.0))
    with pytest.raises(Unsure):
        await at.stage.recruiter.pay(
            Bonus("key", given.assignment_id, "", given.worker, 20, "USD", "Thanks.")
        )
    sent = replace(given, note="Thanks.")
    told = await in_the_way(at.record, at.stage.recruiter, sent)
    assert told == "a part of it has gone out already"


async def test_a_call_that_was_refused_keeps_nothing_from_being_taken_back(
    at: Recruiting,
) -> None:
    arrival = await at.worked(50)
    at.write(owes, arrival, 20, reason="bonus-x", state=LedgerState.FAILED)
    given = await at.payment(arrival, "bonus-x")
    await at.record.writer.commit(payments.step_begins(given, "bonus", "key", 1.0))
    assert await in_the_way(at.record, at.stage.recruiter, given) == ""


# --- Work that nothing is owed for -----------------------------------------------------------


async def test_what_the_platform_pays_by_itself_is_in_the_budget(at: Recruiting) -> None:
    """Somebody hands in one HIT after the other and never opens our page; their work is approved
    over there by time."""
    at.set(budget=500, auto_approval_s=86_400.0)
    worker = await at.stage.market.write(workers.create_worker, name="Free", country="US")
    handed_in = 0
    for _ in range(20):
        await at.round()
        for hit in await at.hits(HitState.OPEN):
            assert hit.remote_id
            await at.stage.submit(await at.stage.take_again(worker, hit.remote_id), "x")
            handed_in += 1
        at.stage.clock.advance(16.0)
    # What was open at the beginning, when nothing was known; and none was posted after it.
    assert handed_in <= 10
    assert await at.manager.outbox.spent() == 0
    assert await at.manager.outbox.committed() == 60 * handed_in
    assert (await at.record.read(supply, STUDY)).strangers == handed_in
    for _ in range(21):
        at.stage.clock.advance(86_400.0)
        await at.round()
    assert await at.manager.outbox.spent() == await at.stage.spent() == 60 * handed_in
    assert await at.manager.people_affordable() == 0


async def test_who_came_and_is_owed_nothing_costs_the_reward_too(at: Recruiting) -> None:
    hit = (await at.hits(HitState.OPEN))[0]
    arrival = await at.arrive(hit)
    # While they are inside they count among the people, not among the money.
    await at.hand_in(arrival)
    await at.round()
    assert await at.manager.outbox.committed() == 0
    at.write(release, arrival, 0, how=Release.LEFT)
    assert await at.manager.outbox.committed() == 60
    assert await at.manager.outbox.spent() == 0
    await at.stage.decide(at.visits[arrival], AssignmentStatus.APPROVED)
    await rounds(at, 21)
    assert await at.manager.outbox.spent() == await at.stage.spent() == 60
    assert (await at.record.read(supply, STUDY)).strangers == 0
