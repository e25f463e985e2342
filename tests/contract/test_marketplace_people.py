"""Blocks and messages by boto3."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from hit_manager.marketplace.errors import Blocked
from hit_manager.marketplace.tables import messages
from tests.contract.requester_stage import Market


async def inbox(market: Market, worker_id: str) -> list[tuple[str, str]]:
    def query(connection: Any, _now: float) -> list[tuple[str, str]]:
        found = select(messages.c.subject, messages.c.text).where(messages.c.worker_id == worker_id)
        return [(row.subject, row.text) for row in connection.execute(found)]

    return await market.market.read(query)


async def test_a_blocked_worker_is_kept_out_and_not_told_why(any_market: Market) -> None:
    market = any_market
    hit_id, kim = await market.hit(MaxAssignments=2), await market.worker()
    for reason in ("Rude", "Very rude"):
        await market.call("CreateWorkerBlock", WorkerId=kim, Reason=reason)
    blocks = (await market.call("ListWorkerBlocks"))["WorkerBlocks"]
    assert blocks == [{"WorkerId": kim, "Reason": "Very rude"}]
    with pytest.raises(Blocked):
        await market.accept(hit_id, kim)
    told = await inbox(market, kim)
    assert len(told) == 1
    assert "ude" not in str(told)
    stranger = await market.another_requester()
    assert (await market.call_as(stranger, "ListWorkerBlocks"))["WorkerBlocks"] == []
    await market.call_as(stranger, "DeleteWorkerBlock", WorkerId=kim)
    assert (await market.call("ListWorkerBlocks"))["NumResults"] == 1
    for _ in range(2):
        await market.call("DeleteWorkerBlock", WorkerId=kim, Reason="Sorry")
    await market.accept(hit_id, kim)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"WorkerId": "A1NOBODY", "Reason": "Rude"}, "ParameterValidationError"),
        ({"WorkerId": "A1NOBODY", "Reason": ""}, "ParameterValidationError"),
        ({"WorkerId": "B1NOBODY", "Reason": "Rude"}, "ValidationException"),
        ({"WorkerId": "A1NOBODY"}, "ValidationException"),
    ],
)
async def test_blocks_refused(market: Market, given: dict[str, str], code: str) -> None:
    assert (await market.refused("CreateWorkerBlock", **given)).code == code


async def test_only_those_who_worked_are_told(market: Market) -> None:
    hit_id = await market.hit(MaxAssignments=3)
    approved, submitted = await market.submit(hit_id), await market.submit(hit_id)
    await market.call("ApproveAssignment", AssignmentId=approved.id)
    stranger = await market.worker()
    everybody = [approved.worker_id, submitted.worker_id, stranger, "A1NOBODY"]
    given = {"Subject": "New HITs", "MessageText": "Come back"}
    said = await market.call("NotifyWorkers", **given, WorkerIds=[*everybody, everybody[0]])
    failed = said["NotifyWorkersFailureStatuses"]
    assert [f["WorkerId"] for f in failed] == everybody[1:]
    assert {f["NotifyWorkersFailureCode"] for f in failed} == {"HardFailure"}
    assert await inbox(market, approved.worker_id) == [("New HITs", "Come back")]
    assert await inbox(market, stranger) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"Subject": "s" * 201},
        {"Subject": ""},
        {"MessageText": "m" * 4097},
        {"WorkerIds": []},
        {"WorkerIds": [f"A{n}" for n in range(101)]},
    ],
    ids=lambda given: next(iter(given)),
)
async def test_limits_of_messages(market: Market, wrong: dict[str, Any]) -> None:
    given: dict[str, Any] = {"Subject": "s", "MessageText": "m", "WorkerIds": ["A1"], **wrong}
    refusal = await market.refused("NotifyWorkers", **given)
    assert refusal.code == "ParameterValidationError"
