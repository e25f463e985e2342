"""What HITs hold and what work costs, by boto3."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from hit_manager.marketplace import money
from tests.contract.requester_stage import HIT, TYPE, Market, opened_market

MASTERS = "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"
REQUIRED = [{"QualificationTypeId": MASTERS, "Comparator": "Exists"}]


@pytest_asyncio.fixture
async def poor(tmp_path: Path) -> AsyncIterator[Market]:
    """A requester with 1.20 dollars: two assignments of 0.50."""
    async with opened_market(f"sqlite:///{tmp_path / 'poor.sqlite3'}", money=120) as opened:
        yield opened


@pytest.mark.parametrize(
    ("reward", "number", "types", "fee"),
    [
        (50, 1, [], 10),
        (50, 9, [], 10),
        (50, 10, [], 20),
        (50, 1, [MASTERS], 13),
        (50, 10, [MASTERS], 23),
        (1, 1, [], 1),
        (1, 10, [], 1),
        (2, 1, [], 1),
        (7, 1, [], 1),
        (8, 1, [], 2),
        (52, 1, [], 10),
        (53, 1, [], 11),
        (10, 1, [MASTERS], 3),
    ],
)
def test_fees(reward: int, number: int, types: list[str], fee: int) -> None:
    assert money.reward_fee(reward, number, types) == fee


@pytest.mark.parametrize(
    ("written", "cents"),
    [("5", 500), ("5.", 500), ("0.5", 50), ("101.42", 10_142), ("00.07", 7), ("0", 0)],
)
def test_amounts(written: str, cents: int) -> None:
    assert money.cents(written) == cents
    assert money.cents(money.dollars(cents)) == cents


@pytest.mark.parametrize(
    ("given", "held"),
    [
        ({}, "0.60"),
        ({"MaxAssignments": 9}, "5.40"),
        ({"MaxAssignments": 10}, "7.00"),
        ({"QualificationRequirements": REQUIRED}, "0.63"),
        ({"Reward": "0.01"}, "0.02"),
    ],
)
async def test_what_a_hit_holds(market: Market, given: dict[str, Any], held: str) -> None:
    await market.hit(**given)
    available = f"{1000 - float(held):.2f}"
    assert await market.balance() == (available, held)


async def test_a_hit_that_cannot_be_paid_is_not_posted(poor: Market) -> None:
    refusal = await poor.refused("CreateHIT", **TYPE, **HIT, MaxAssignments=3)
    assert refusal.turk_code == "InsufficientFunds"
    assert "insufficient funds" in refusal.message
    assert (await poor.call("ListHITs"))["NumResults"] == 0
    hit_id = await poor.hit(MaxAssignments=2)
    assert await poor.balance() == ("0.00", "1.20")
    refusal = await poor.refused(
        "CreateAdditionalAssignmentsForHIT", HITId=hit_id, NumberOfAdditionalAssignments=1
    )
    assert refusal.turk_code == "InsufficientFunds"
    assert (await poor.get(hit_id))["MaxAssignments"] == 2
    # What is held is enough for whatever is approved.
    for _ in range(2):
        work = await poor.submit(hit_id)
        await poor.call("ApproveAssignment", AssignmentId=work.id)
    assert await poor.balance() == ("0.00", "0.00")


async def test_an_override_needs_money_too(poor: Market) -> None:
    hit_id = await poor.hit()
    work = await poor.submit(hit_id)
    await poor.call("RejectAssignment", AssignmentId=work.id, RequesterFeedback="Empty")
    await poor.hit(MaxAssignments=2)
    override = {"AssignmentId": work.id, "OverrideRejection": True}
    refusal = await poor.refused("ApproveAssignment", **override)
    assert refusal.turk_code == "InsufficientFunds"
    shown = await poor.call("GetAssignment", AssignmentId=work.id)
    assert shown["Assignment"]["AssignmentStatus"] == "Rejected"


async def test_an_override_does_not_spend_what_others_need(market: Market) -> None:
    hit_id = await market.hit(MaxAssignments=2)
    work = await market.submit(hit_id)
    await market.call("RejectAssignment", AssignmentId=work.id, RequesterFeedback="Empty")
    assert await market.balance() == ("999.40", "0.60")
    await market.call("ApproveAssignment", AssignmentId=work.id, OverrideRejection=True)
    assert await market.balance() == ("998.80", "0.60")


async def test_an_extension_that_cannot_be_paid(poor: Market) -> None:
    hit_id = await poor.hit()
    await poor.call("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=0)
    await poor.hit(MaxAssignments=2)
    until = poor.clock.now() + 3600
    refusal = await poor.refused("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=until)
    assert refusal.turk_code == "InsufficientFunds"
    assert (await poor.status(hit_id))[0] == "Reviewable"
