"""Paging by boto3: whole lists, in changing sets, and tokens that are none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hit_manager.marketplace import qualification_requests
from tests.contract.requester_stage import Market

KIND = {"Description": "d", "QualificationTypeStatus": "Active"}


async def test_ten_by_default_and_all_in_the_end(any_market: Market) -> None:
    market = any_market
    made = [await market.hit() for _ in range(12)]
    first = await market.call("ListHITs")
    assert (first["NumResults"], len(first["HITs"])) == (10, 10)
    rest = await market.call("ListHITs", NextToken=first["NextToken"], MaxResults=2)
    assert rest["NumResults"] == 2
    assert "NextToken" not in rest
    # Newest first.
    assert [h["HITId"] for h in first["HITs"] + rest["HITs"]] == made[::-1]


async def test_what_changes_meanwhile_moves_nothing(market: Market) -> None:
    made = [await market.hit() for _ in range(6)]
    first = await market.call("ListHITs", MaxResults=3)
    await market.hit()
    gone = first["HITs"][0]["HITId"]
    await market.call("UpdateExpirationForHIT", HITId=gone, ExpireAt=0)
    await market.call("DeleteHIT", HITId=gone)
    rest = await market.call("ListHITs", MaxResults=3, NextToken=first["NextToken"])
    assert [h["HITId"] for h in rest["HITs"]] == made[2::-1]


async def test_what_is_submitted_meanwhile_comes_on_a_later_page(market: Market) -> None:
    hit_id = await market.hit(MaxAssignments=9)
    work = [(await market.submit(hit_id)).id for _ in range(3)]
    first = await market.call("ListAssignmentsForHIT", HITId=hit_id, MaxResults=2)
    market.clock.advance(1)
    work.append((await market.submit(hit_id)).id)
    await market.call("ApproveAssignment", AssignmentId=work[0])
    rest = await market.call(
        "ListAssignmentsForHIT", HITId=hit_id, MaxResults=2, NextToken=first["NextToken"]
    )
    assert [a["AssignmentId"] for a in first["Assignments"] + rest["Assignments"]] == work


async def test_tokens_that_are_none(market: Market) -> None:
    hit_id = await market.hit(MaxAssignments=5)
    for _ in range(3):
        await market.submit(hit_id)
    given: dict[str, Any] = {"HITId": hit_id, "MaxResults": 1}
    token = (await market.call("ListAssignmentsForHIT", **given))["NextToken"]
    await market.call("ListAssignmentsForHIT", **given, NextToken=token)
    changed = ("A" if token[0] != "A" else "B") + token[1:]
    for wrong in ("x", "garbage!", "é", "WzFd", changed, token[:-4]):
        refusal = await market.refused("ListAssignmentsForHIT", **given, NextToken=wrong)
        assert (refusal.code, refusal.turk_code) == ("RequestError", "InvalidParameterValue")
    # Of another list, of another filter.
    refusal = await market.refused("ListHITs", NextToken=token)
    assert refusal.turk_code == "InvalidParameterValue"
    refusal = await market.refused(
        "ListAssignmentsForHIT", **given, AssignmentStatuses=["Submitted"], NextToken=token
    )
    assert refusal.turk_code == "InvalidParameterValue"
    refusal = await market.refused("ListHITs", NextToken="x" * 256)
    assert refusal.code == "ValidationException"


async def _hits(market: Market) -> dict[str, Any]:
    for _ in range(5):
        await market.hit()
    return {}


async def _reviewable(market: Market) -> dict[str, Any]:
    for _ in range(5):
        await market.hit()
    market.clock.advance(4000)
    return {}


async def _assignments(market: Market) -> dict[str, Any]:
    hit_id = await market.hit(MaxAssignments=5)
    for _ in range(5):
        await market.submit(hit_id)
    return {"HITId": hit_id}


async def _bonuses(market: Market) -> dict[str, Any]:
    work = await market.submit(await market.hit())
    for n in range(5):
        await market.call(
            "SendBonus",
            AssignmentId=work.id,
            WorkerId=work.worker_id,
            BonusAmount=f"0.0{n + 1}",
            Reason="Thanks",
        )
    return {"HITId": work.hit_id}


async def _blocks(market: Market) -> dict[str, Any]:
    for _ in range(5):
        await market.call("CreateWorkerBlock", WorkerId=await market.worker(), Reason="Rude")
    return {}


async def _types(market: Market) -> dict[str, Any]:
    for n in range(5):
        await market.call("CreateQualificationType", Name=f"Kind {n}", **KIND)
    return {"MustBeRequestable": False}


async def _type(market: Market) -> str:
    made = await market.call("CreateQualificationType", Name="Fluent", **KIND)
    type_id: str = made["QualificationType"]["QualificationTypeId"]
    return type_id


async def _qualified(market: Market) -> dict[str, Any]:
    type_id = await _type(market)
    for _ in range(5):
        await market.call(
            "AssociateQualificationWithWorker",
            QualificationTypeId=type_id,
            WorkerId=await market.worker(),
        )
    return {"QualificationTypeId": type_id}


async def _requests(market: Market) -> dict[str, Any]:
    type_id = await _type(market)
    for _ in range(5):
        kim = await market.worker()
        await market.market.write(qualification_requests.ask, kim, type_id)
    return {"QualificationTypeId": type_id}


async def _asking(market: Market) -> dict[str, Any]:
    type_id = await _type(market)
    asks = [{"QualificationTypeId": type_id, "Comparator": "Exists"}]
    for _ in range(5):
        await market.hit(QualificationRequirements=asks)
    await market.hit()
    return {"QualificationTypeId": type_id}


@pytest.mark.parametrize(
    ("paginator", "key", "prepare"),
    [
        ("list_hits", "HITs", _hits),
        ("list_reviewable_hits", "HITs", _reviewable),
        ("list_hits_for_qualification_type", "HITs", _asking),
        ("list_assignments_for_hit", "Assignments", _assignments),
        ("list_bonus_payments", "BonusPayments", _bonuses),
        ("list_worker_blocks", "WorkerBlocks", _blocks),
        ("list_qualification_types", "QualificationTypes", _types),
        ("list_workers_with_qualification_type", "Qualifications", _qualified),
        ("list_qualification_requests", "QualificationRequests", _requests),
    ],
)
async def test_every_paginator_of_boto3(
    market: Market, paginator: str, key: str, prepare: Callable[[Market], Any]
) -> None:
    given = await prepare(market)

    def pages(size: int) -> list[list[Any]]:
        found = market.client.get_paginator(paginator).paginate(
            **given, PaginationConfig={"PageSize": size}
        )
        return [page[key] for page in found]

    one = await asyncio.to_thread(pages, 5)
    assert [len(page) for page in one] == [5]
    three = await asyncio.to_thread(pages, 2)
    assert [len(page) for page in three] == [2, 2, 1]
    assert [row for page in three for row in page] == one[0]
