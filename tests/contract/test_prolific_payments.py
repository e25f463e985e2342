"""Payments on Prolific by the outbox: what is stored of each step is enough after a crash."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import pytest_asyncio

from dialogs.record import payments
from dialogs.rules import LedgerReason, LedgerState, Release
from hit_manager.config import Approval
from hit_manager.recruiters.base import Step
from hit_manager.taking_back import in_the_way
from tests.contract.prolific_server import Trouble
from tests.contract.prolific_stage import CODES
from tests.contract.prolific_world import World
from tests.prolific_recruiting import ProlificRecruiting, recruiting_there
from tests.recruiting import release

PAY = r"/pay/$"
CREATE = r"submissions/bonus-payments/$"


@pytest_asyncio.fixture
async def at(sqlite_url: str, tmp_path: Path) -> AsyncIterator[ProlificRecruiting]:
    async with recruiting_there(sqlite_url, tmp_path) as opened:
        opened.world.payments_take_s = 300.0
        opened.study_of_items("dog")
        await opened.round()
        yield opened


async def give(at: ProlificRecruiting, arrival: str, name: str, cents: int = 20) -> None:
    given = payments.given_by_hand(arrival, name, cents, "USD", "Well done.", float(len(name)))
    await at.record.writer.commit(given)


async def settle(at: ProlificRecruiting) -> None:
    for _ in range(6):
        at.stage.clock.advance(1200.0)
        await at.round()


async def states(at: ProlificRecruiting, arrival: str) -> list[LedgerState]:
    found = await at.record.read(payments.payments_of, [arrival])
    return [payment.state for payment in found if payment.reason.startswith("bonus")]


async def test_being_asked_to_return_keeps_nothing_from_being_taken_back(
    at: ProlificRecruiting,
) -> None:
    [arrival, _] = await at.talk("d1", "dog", well=True, cents=40)
    payment = await at.payment(arrival)
    await at.record.writer.commit(payments.step_begins(payment, Step.RETURN, "k", 1.0))
    await at.record.writer.commit(payments.step_done(payment, Step.RETURN, 2.0))
    assert await in_the_way(at.record, at.stage.recruiter, payment) == ""
    await at.record.writer.commit(payments.step_begins(payment, Step.BONUS, "k", 3.0))
    await at.record.writer.commit(payments.step_done(payment, Step.BONUS, 4.0))
    told = await in_the_way(at.record, at.stage.recruiter, payment)
    assert told == "a part of it has gone out already"


@pytest.mark.parametrize("trouble", [Trouble.LOST, Trouble.BAD_GATEWAY_AFTER, Trouble.BAD_GATEWAY])
async def test_an_equal_bonus_is_no_riddle_after_a_crash(
    at: ProlificRecruiting, trouble: Trouble
) -> None:
    """The amounts listed over there tell nothing by themselves; what was stored does."""
    [arrival, _] = await at.talk("d1", "dog", well=True)
    await give(at, arrival, "1")
    await at.round()
    assert await at.got(arrival) == ([150], [20])
    at.stage.clock.advance(301.0)
    await give(at, arrival, "22")
    at.there.server.trouble(trouble, path=PAY)
    await at.round()
    [step] = await at.record.read(payments.steps_of, arrival, "bonus-22")
    assert step.done_at is None
    kept = orjson.loads(step.detail or "{}")
    assert (kept["step"], kept["before"], kept["total"]) == ("pay", 1, 28)
    assert kept["payment"] in at.world.payments
    await at.restarted()
    await settle(at)
    assert await at.got(arrival) == ([150], [20, 20])
    assert await states(at, arrival) == [LedgerState.PAID] * 2


async def test_a_process_that_stood_by_for_long_waits_until_a_payment_would_be_listed(
    at: ProlificRecruiting,
) -> None:
    stood_by = await at.there.again()
    at.stage.clock.advance(86_400.0)
    [arrival, _] = await at.talk("d1", "dog", well=True)
    await give(at, arrival, "1")
    # It reaches Prolific, and the process that sent it is gone before it hears of that.
    at.there.server.trouble(Trouble.LOST, path=PAY)
    await at.round()
    await at.restarted(stood_by)
    await at.round()
    assert await at.got(arrival) == ([150], [20])
    await settle(at)
    assert await at.got(arrival) == ([150], [20])
    assert await states(at, arrival) == [LedgerState.PAID]


async def test_one_that_was_not_begun_is_paid_after_a_crash(at: ProlificRecruiting) -> None:
    [arrival, _] = await at.talk("d1", "dog", well=True)
    await give(at, arrival, "1")
    await at.round()
    at.stage.clock.advance(301.0)
    await give(at, arrival, "22")
    at.there.server.trouble(Trouble.BAD_GATEWAY, 99, path=CREATE)
    await at.round()
    at.there.server.plans.clear()
    await at.restarted()
    await at.round()
    assert await at.got(arrival) == ([150], [20, 20])


async def test_after_a_crash_equal_bonuses_are_not_on_their_way_together(
    at: ProlificRecruiting,
) -> None:
    [arrival, _] = await at.talk("d1", "dog", well=True)
    await give(at, arrival, "1")
    at.there.server.trouble(Trouble.BAD_GATEWAY, path=PAY)
    await at.round()
    # The first has not arrived, and nobody knows it yet.
    await at.restarted()
    await give(at, arrival, "22")
    await give(at, arrival, "333", 30)
    await at.round()
    assert await at.got(arrival) == ([150], [30])
    await settle(at)
    await settle(at)
    assert sorted((await at.got(arrival))[1]) == [20, 20, 30]
    assert await states(at, arrival) == [LedgerState.PAID] * 3


async def test_one_that_was_just_paid_is_not_taken_for_the_next(at: ProlificRecruiting) -> None:
    [arrival, _] = await at.talk("d1", "dog", well=True)
    await give(at, arrival, "1")
    await at.round()
    # It is not listed yet when the next process begins.
    await at.restarted()
    await give(at, arrival, "22")
    at.there.server.trouble(Trouble.BAD_GATEWAY, path=PAY)
    await at.round()
    await at.restarted()
    await settle(at)
    assert await at.got(arrival) == ([150], [20, 20])


# --- Who waited in vain ------------------------------------------------------------------------


async def waited(at: ProlificRecruiting, cents: int) -> str:
    """Somebody waited, is owed so much, and has handed in."""
    [arrival] = await at.come_in(1)
    how: dict[str, Any] = {"how": Release.NEVER_PAIRED, "reason": LedgerReason.WAITING}
    at.write(release, arrival, cents, **how)
    await at.there.submit(at.visits[arrival], CODES.waited)
    return arrival


@pytest_asyncio.fixture
async def with_screen_outs(sqlite_url: str, tmp_path: Path) -> AsyncIterator[ProlificRecruiting]:
    world = World(has_screen_outs=True)
    options = {"screen_out_cents": 30}
    async with recruiting_there(sqlite_url, tmp_path, world=world, options=options) as opened:
        opened.study_of_items("dog")
        await opened.round()
        yield opened


@pytest.mark.parametrize(
    ("cents", "reward", "bonus", "asked"),
    [(30, [30], [], False), (45, [30], [15], False), (20, [], [20], True)],
)
@pytest.mark.parametrize("lost", [False, True])
async def test_who_waited_is_screened_out_and_gets_it_all_once(
    with_screen_outs: ProlificRecruiting,
    cents: int,
    reward: list[int],
    bonus: list[int],
    asked: bool,
    lost: bool,
) -> None:
    at = with_screen_outs
    arrival = await waited(at, cents)
    if lost:
        at.there.server.trouble(Trouble.LOST, 9, path=r"/transition/$|request-return")
        await at.round()
        at.there.server.plans.clear()
        await at.restarted()
    await settle(at)
    assert await at.got(arrival) == (reward, bonus)
    assert (await at.payment(arrival, "waiting")).state is LedgerState.PAID
    submission = at.world.submissions[at.visits[arrival].assignment_id]
    assert (submission.return_requested is not None) == asked
    assert all("bonus" in why for why in submission.return_reasons)


async def test_who_waited_and_gave_it_back_is_paid_all_the_same(
    with_screen_outs: ProlificRecruiting,
) -> None:
    at = with_screen_outs
    at.set(approval=Approval.BY_HAND)
    arrival = await waited(at, 45)
    await at.round()
    await at.there.give_back(at.visits[arrival])
    at.set(approval=Approval.AUTOMATIC)
    await settle(at)
    assert await at.got(arrival) == ([], [45])
    assert (await at.payment(arrival, "waiting")).state is LedgerState.PAID


async def test_without_screen_outs_they_are_asked_to_return(at: ProlificRecruiting) -> None:
    arrival = await waited(at, 45)
    submission = at.world.submissions[at.visits[arrival].assignment_id]
    submission.return_requested, submission.return_reasons = None, []
    await settle(at)
    assert await at.got(arrival) == ([], [45])
    [why] = submission.return_reasons
    assert "Your waiting time is paid as a bonus" in why


async def test_who_left_is_not_told_of_a_wait(at: ProlificRecruiting) -> None:
    [arrival] = await at.come_in(1)
    at.write(release, arrival, 25, how=Release.LEFT)
    submission = at.world.submissions[at.visits[arrival].assignment_id]
    await at.there.submit(at.visits[arrival], CODES.completed)
    await settle(at)
    [why] = submission.return_reasons
    assert "paid as a bonus" in why
    assert "wait" not in why
    assert await at.got(arrival) == ([], [25])
