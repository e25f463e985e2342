"""Payments on Prolific by the outbox: what is stored of each step is enough after a crash."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest
import pytest_asyncio

from dialogs.record import payments
from dialogs.rules import LedgerState
from tests.contract.prolific_server import Trouble
from tests.prolific_recruiting import ProlificRecruiting, recruiting_there

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
