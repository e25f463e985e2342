"""HITs: limits, types, expiry, slots, review, disposal, tokens."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError

from hit_manager.marketplace import assignments
from hit_manager.marketplace.errors import NoMoreAssignments
from hit_manager.marketplace.faults import Fault
from tests.contract.requester_stage import ANSWER, HIT, QUESTION, TYPE, Market

DAY_S = 86_400
YEAR_S = 365 * DAY_S
GROWTH = "CreateAdditionalAssignmentsForHIT"


def question_of(size: int) -> str:
    """A question of so many bytes, some of them of characters of two."""
    head, tail = QUESTION.split("</ExternalURL>")
    room = size - len(QUESTION.encode())
    filled = f"{head}{'é' * (room // 2)}{'x' * (room % 2)}</ExternalURL>{tail}"
    assert len(filled.encode()) == size
    return filled


def needs(number: int) -> list[dict[str, Any]]:
    return [
        {
            "QualificationTypeId": "00000000000000000040",
            "Comparator": "GreaterThan",
            "IntegerValues": [n],
        }
        for n in range(number)
    ]


@pytest.mark.parametrize(
    "allowed",
    [
        {"LifetimeInSeconds": 30},
        {"LifetimeInSeconds": YEAR_S},
        {"AssignmentDurationInSeconds": 30},
        {"AssignmentDurationInSeconds": YEAR_S},
        {"AutoApprovalDelayInSeconds": 0},
        {"AutoApprovalDelayInSeconds": 30 * DAY_S},
        {"MaxAssignments": 9},
        {"Question": question_of(65_535)},
        {"QualificationRequirements": needs(10)},
        {"Title": "t" * 128},
        {"Description": "d" * 2000},
        {"Keywords": "k" * 1000},
        {"RequesterAnnotation": "a" * 255},
        {"Reward": "5"},
        {"Reward": "5."},
        {"Reward": "0.5"},
        {"Reward": "0.01"},
    ],
    ids=lambda given: "-".join(given),
)
async def test_the_last_value_allowed(market: Market, allowed: dict[str, Any]) -> None:
    await market.hit(**allowed)


OUT_OF_RANGE = [
    {"LifetimeInSeconds": 29},
    {"LifetimeInSeconds": YEAR_S + 1},
    {"AssignmentDurationInSeconds": 29},
    {"AssignmentDurationInSeconds": YEAR_S + 1},
    {"AutoApprovalDelayInSeconds": -1},
    {"AutoApprovalDelayInSeconds": 30 * DAY_S + 1},
    {"MaxAssignments": 0},
    {"MaxAssignments": 1_000_000_001},
    {"Question": question_of(65_536)},
    {"Title": "t" * 129},
    {"Title": ""},
    {"Description": "d" * 2001},
    {"Keywords": "k" * 1001},
    {"RequesterAnnotation": "a" * 256},
    {"Reward": "0"},
    {"Reward": "0.00"},
    {"Reward": "9" * 40},
]


@pytest.mark.parametrize("wrong", OUT_OF_RANGE, ids=lambda given: "-".join(given))
async def test_the_first_value_refused(market: Market, wrong: dict[str, Any]) -> None:
    refusal = await market.refused("CreateHIT", **{**TYPE, **HIT, **wrong})
    assert (refusal.code, refusal.http_status) == ("ParameterValidationError", 400)
    assert (await market.call("ListHITs"))["NumResults"] == 0
    assert await market.balance() == ("1000.00", "0.00")


@pytest.mark.parametrize(
    "question",
    [
        "",
        "Hello",
        "<Question/>",
        QUESTION.replace("2006-07-14", "2016-07-14"),
        QUESTION.replace("&amp;", "&"),
        QUESTION.replace("https", "ftp"),
        QUESTION.replace("<FrameHeight>0</FrameHeight>", ""),
        QUESTION.replace(">0<", ">high<"),
        QUESTION.replace(">0<", ">-1<"),
        f'<!DOCTYPE x [<!ENTITY e "https://example.org">]>{QUESTION}',
        f"<!DOCTYPE ExternalQuestion>{QUESTION}",
    ],
)
async def test_a_question_is_one_of_the_documents(market: Market, question: str) -> None:
    refusal = await market.refused("CreateHIT", **{**TYPE, **HIT, "Question": question})
    assert (refusal.code, refusal.turk_code) == ("RequestError", "XMLParseError")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"QualificationRequirements": needs(11)}, "InvalidParameterValue"),
        ({"HITLayoutId": "3LAYOUT"}, "HITLayoutDoesNotExist"),
        (
            {"HITReviewPolicy": {"PolicyName": "SimplePlurality/2011-09-01"}},
            "InvalidParameterValue",
        ),
        ({"Title": "a\x08b"}, "InvalidParameterValue"),
    ],
)
async def test_other_refusals_of_a_new_hit(
    market: Market, given: dict[str, Any], code: str
) -> None:
    refusal = await market.refused("CreateHIT", **{**TYPE, **HIT, **given})
    assert (refusal.code, refusal.turk_code) == ("RequestError", code)


async def test_a_hit_needs_a_question(market: Market) -> None:
    given = {**TYPE, "LifetimeInSeconds": 60}
    assert (await market.refused("CreateHIT", **given)).turk_code == "InvalidParameterValue"


async def test_equal_types_are_one(market: Market) -> None:
    first = await market.call("CreateHITType", **TYPE)
    assert await market.call("CreateHITType", **TYPE) == first
    hit = await market.get(await market.hit())
    assert hit["HITTypeId"] == first["HITTypeId"]
    for change in (
        {"Title": "Other"},
        {"Reward": "0.51"},
        {"AssignmentDurationInSeconds": 601},
        {"QualificationRequirements": needs(1)},
    ):
        assert await market.call("CreateHITType", **{**TYPE, **change}) != first
    stranger = await market.another_requester()
    assert await market.call_as(stranger, "CreateHITType", **TYPE) != first
    refusal = await market.refused_as(stranger, "CreateHITWithHITType", **first, **HIT)
    assert refusal.code == "RequestError"


async def test_a_hit_gets_all_of_another_type(market: Market) -> None:
    hit_id = await market.hit()
    dearer = await market.call("CreateHITType", **{**TYPE, "Reward": "2.00", "Title": "More"})
    await market.call("UpdateHITTypeOfHIT", HITId=hit_id, **dearer)
    hit = await market.get(hit_id)
    assert (hit["Title"], hit["Reward"]) == ("More", "2.00")
    assert await market.balance() == ("997.60", "2.40")


async def test_an_expired_hit_is_not_accepted_and_can_be_finished(market: Market) -> None:
    hit_id = await market.hit(MaxAssignments=3, AssignmentDurationInSeconds=7200)
    inside = await market.accept(hit_id)
    market.clock.advance(3600)
    assert await market.status(hit_id) == ("Unassignable", 0, 1, 0)
    with pytest.raises(NoMoreAssignments):
        await market.accept(hit_id)
    await market.market.write(assignments.submit, inside.id, ANSWER)
    assert await market.status(hit_id) == ("Reviewable", 0, 0, 0)


async def test_expiring_at_once(market: Market) -> None:
    hit_id = await market.hit(MaxAssignments=2)
    inside = await market.accept(hit_id)
    for _ in range(2):
        await market.call("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=0)
        assert await market.status(hit_id) == ("Unassignable", 0, 1, 0)
    assert (await market.get(hit_id))["Expiration"].timestamp() == pytest.approx(
        market.clock.now(), abs=0.001
    )
    # What nobody can take any more holds no money.
    assert await market.balance() == ("999.40", "0.60")
    await market.market.write(assignments.give_back, inside.worker_id, inside.id)
    assert await market.status(hit_id) == ("Reviewable", 0, 0, 0)
    assert await market.balance() == ("1000.00", "0.00")


async def test_more_time_opens_a_hit_again(market: Market) -> None:
    hit_id = await market.hit()
    market.clock.advance(5000)
    assert (await market.status(hit_id))[0] == "Reviewable"
    until = int(market.clock.now()) + 3601
    for _ in range(2):
        await market.call("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=until)
        assert await market.status(hit_id) == ("Assignable", 1, 0, 0)
    assert await market.balance() == ("999.40", "0.60")
    market.clock.advance(3602)
    assert (await market.status(hit_id))[0] == "Reviewable"


async def test_time_is_not_shortened_nor_lengthened_a_little(market: Market) -> None:
    hit_id = await market.hit()
    end = market.clock.now() + 3600
    for until in (end - 600, end + 59, end + YEAR_S + 2):
        refusal = await market.refused("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=until)
        assert refusal.code == "ParameterValidationError"
        assert "ExpirationIncrementInSeconds" in refusal.message
    await market.call("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=end + 61)


async def test_slots_open_again(any_market: Market) -> None:
    market = any_market
    hit_id = await market.hit(MaxAssignments=5, LifetimeInSeconds=DAY_S)
    accepted = [await market.accept(hit_id) for _ in range(3)]
    assert await market.status(hit_id) == ("Assignable", 2, 3, 0)
    accepted += [await market.accept(hit_id) for _ in range(2)]
    with pytest.raises(NoMoreAssignments):
        await market.accept(hit_id)
    for a in accepted[:2]:
        await market.market.write(assignments.submit, a.id, ANSWER)
    assert await market.status(hit_id) == ("Unassignable", 0, 3, 0)
    returned = accepted[2]
    await market.market.write(assignments.give_back, returned.worker_id, returned.id)
    assert await market.status(hit_id) == ("Assignable", 1, 2, 0)
    # Who returned it may take it once more.
    again = await market.accept(hit_id, returned.worker_id)
    assert again.id != returned.id
    market.clock.advance(601)
    assert await market.status(hit_id) == ("Assignable", 3, 0, 0)
    assert await market.balance() == ("997.00", "3.00")
    for _ in range(3):
        await market.submit(hit_id)
    assert await market.status(hit_id) == ("Reviewable", 0, 0, 0)


async def test_nine_do_not_become_ten(market: Market) -> None:
    hit_id = await market.hit(MaxAssignments=8)
    await market.call(GROWTH, HITId=hit_id, NumberOfAdditionalAssignments=1)
    refusal = await market.refused(GROWTH, HITId=hit_id, NumberOfAdditionalAssignments=1)
    assert refusal.turk_code == "InvalidMaximumAssignmentsIncrease"
    assert (await market.get(hit_id))["MaxAssignments"] == 9
    large = await market.hit(MaxAssignments=10)
    await market.call(GROWTH, HITId=large, NumberOfAdditionalAssignments=5)
    assert (await market.get(large))["MaxAssignments"] == 15
    for number in (0, -1, 1_000_000_001):
        refusal = await market.refused(GROWTH, HITId=large, NumberOfAdditionalAssignments=number)
        assert refusal.code == "ParameterValidationError"


async def test_more_assignments_lead_back_from_review(market: Market) -> None:
    hit_id = await market.hit()
    await market.submit(hit_id)
    await market.call("UpdateHITReviewStatus", HITId=hit_id)
    assert (await market.status(hit_id))[0] == "Reviewing"
    await market.call(GROWTH, HITId=hit_id, NumberOfAdditionalAssignments=1)
    assert await market.status(hit_id) == ("Assignable", 1, 0, 0)


async def test_reviewing_starts_from_reviewable_and_back(market: Market) -> None:
    hit_id = await market.hit()
    wrong = await market.refused("UpdateHITReviewStatus", HITId=hit_id)
    assert wrong.turk_code == "InvalidHITState"
    await market.submit(hit_id)
    wrong = await market.refused("UpdateHITReviewStatus", HITId=hit_id, Revert=True)
    assert wrong.turk_code == "InvalidHITState"
    await market.call("UpdateHITReviewStatus", HITId=hit_id)
    wrong = await market.refused("UpdateHITReviewStatus", HITId=hit_id)
    assert wrong.turk_code == "InvalidHITState"
    await market.call("UpdateHITReviewStatus", HITId=hit_id, Revert=True)
    assert (await market.status(hit_id))[0] == "Reviewable"


async def test_only_what_is_reviewed_is_disposed_of(market: Market) -> None:
    hit_id = await market.hit(MaxAssignments=2)
    work = await market.submit(hit_id)
    assert (await market.refused("DeleteHIT", HITId=hit_id)).turk_code == "InvalidHITState"
    await market.call("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=0)
    assert (await market.status(hit_id))[0] == "Reviewable"
    assert (await market.refused("DeleteHIT", HITId=hit_id)).turk_code == "InvalidHITState"
    await market.call("RejectAssignment", AssignmentId=work.id, RequesterFeedback="Empty")
    await market.call("DeleteHIT", HITId=hit_id)
    for operation, given in (
        ("DeleteHIT", {}),
        ("UpdateHITReviewStatus", {}),
        ("UpdateExpirationForHIT", {"ExpireAt": market.clock.now() + 5000}),
        (GROWTH, {"NumberOfAdditionalAssignments": 1}),
    ):
        refusal = await market.refused(operation, HITId=hit_id, **given)
        assert refusal.turk_code == "InvalidHITState", operation
    refusal = await market.refused("GetAssignment", AssignmentId=work.id)
    assert refusal.turk_code == "AssignmentDoesNotExist"
    refusal = await market.refused(
        "ApproveAssignment", AssignmentId=work.id, OverrideRejection=True
    )
    assert refusal.turk_code == "InvalidHITState"
    assert await market.balance() == ("1000.00", "0.00")


async def test_a_token_makes_one_hit_in_a_day(market: Market) -> None:
    given = {**TYPE, **HIT, "UniqueRequestToken": "row-1"}
    made = (await market.call("CreateHIT", **given))["HIT"]
    refusal = await market.refused("CreateHIT", **given)
    assert refusal.turk_code == "HITAlreadyExists"
    assert f'The HIT with ID "{made["HITId"]}" already exists.' in refusal.message
    market.clock.advance(DAY_S - 1)
    assert (await market.refused("CreateHIT", **given)).turk_code == "HITAlreadyExists"
    with_type = {"HITTypeId": made["HITTypeId"], **HIT, "UniqueRequestToken": "row-1"}
    refusal = await market.refused("CreateHITWithHITType", **with_type)
    assert refusal.turk_code == "HITAlreadyExists"
    stranger = await market.another_requester()
    await market.call_as(stranger, "CreateHIT", **given)
    market.clock.advance(1)
    again = (await market.call("CreateHIT", **given))["HIT"]
    assert again["HITId"] != made["HITId"]


async def test_a_refused_call_uses_no_token_up(market: Market) -> None:
    given = {**TYPE, **HIT, "UniqueRequestToken": "row-1"}
    await market.refused("CreateHIT", **{**given, "MaxAssignments": 9, "Reward": "500"})
    await market.call("CreateHIT", **given)


async def test_a_token_adds_assignments_once(market: Market) -> None:
    hit_id = await market.hit()
    given = {"HITId": hit_id, "NumberOfAdditionalAssignments": 2, "UniqueRequestToken": "grow-1"}
    await market.call(GROWTH, **given)
    refusal = await market.refused(GROWTH, **given)
    assert refusal.code == "RequestError"
    assert 'The idempotency token "grow-1" has already been processed.' in refusal.message
    assert (await market.get(hit_id))["MaxAssignments"] == 3


async def test_a_lost_response_and_the_token(market: Market) -> None:
    given = {**TYPE, **HIT, "UniqueRequestToken": "row-1"}
    market.faults.add("CreateHIT", Fault.LOST)
    with pytest.raises(ConnectionClosedError):
        await market.call("CreateHIT", **given)
    refusal = await market.refused("CreateHIT", **given)
    assert refusal.turk_code == "HITAlreadyExists"
    assert (await market.call("ListHITs"))["NumResults"] == 1


async def test_others_have_no_part_in_a_hit(market: Market) -> None:
    hit_id = await market.hit()
    stranger = await market.another_requester()
    for operation, given in (
        ("GetHIT", {}),
        ("DeleteHIT", {}),
        ("UpdateExpirationForHIT", {"ExpireAt": 0}),
        ("ListAssignmentsForHIT", {}),
        ("ListBonusPayments", {}),
        (GROWTH, {"NumberOfAdditionalAssignments": 1}),
    ):
        refusal = await market.refused_as(stranger, operation, HITId=hit_id, **given)
        assert refusal.turk_code == "HITDoesNotExist", operation
    assert (await market.call_as(stranger, "ListHITs"))["HITs"] == []


async def test_a_blocked_worker_finishes_what_they_hold(market: Market) -> None:
    hit_id = await market.hit()
    inside = await market.accept(hit_id)
    await market.call("CreateWorkerBlock", WorkerId=inside.worker_id, Reason="Rude")
    await market.market.write(assignments.submit, inside.id, ANSWER)
    assert (await market.status(hit_id))[0] == "Reviewable"
