"""Assignments by boto3: seen, approved, rejected, overridden, approved by time, and bonuses."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError

from hit_manager.marketplace import assignments
from hit_manager.marketplace.errors import AssignmentAlreadyExists, WrongAssignmentState
from hit_manager.marketplace.faults import Fault
from tests.contract.requester_stage import ANSWER, Market

DAY_S = 86_400
BONUS: dict[str, Any] = {"BonusAmount": "0.53", "Reason": "Waited long"}


async def shown(market: Market, assignment_id: str) -> dict[str, Any]:
    found = await market.call("GetAssignment", AssignmentId=assignment_id)
    assignment: dict[str, Any] = found["Assignment"]
    return assignment


async def test_nothing_is_seen_before_submission(market: Market) -> None:
    hit_id = await market.hit()
    inside = await market.accept(hit_id)
    refusal = await market.refused("GetAssignment", AssignmentId=inside.id)
    assert (refusal.code, refusal.turk_code) == ("RequestError", "InvalidAssignmentState")
    assert "Reviewable,Approved,Rejected" in refusal.message
    assert (await market.call("ListAssignmentsForHIT", HITId=hit_id))["Assignments"] == []
    refusal = await market.refused("ApproveAssignment", AssignmentId=inside.id)
    assert refusal.turk_code == "InvalidAssignmentState"
    refusal = await market.refused(
        "SendBonus", AssignmentId=inside.id, WorkerId=inside.worker_id, **BONUS
    )
    assert refusal.turk_code == "AssignmentDoesNotExist"


@pytest.mark.parametrize("operation", ["GetAssignment", "ApproveAssignment"])
async def test_unknown_and_foreign_assignments_do_not_exist(market: Market, operation: str) -> None:
    work = await market.submit(await market.hit())
    refusal = await market.refused(operation, AssignmentId="3UNKNOWN")
    assert refusal.turk_code == "AssignmentDoesNotExist"
    stranger = await market.another_requester()
    refusal = await market.refused_as(stranger, operation, AssignmentId=work.id)
    assert refusal.turk_code == "AssignmentDoesNotExist"


async def test_approved_once(any_market: Market) -> None:
    market = any_market
    work = await market.submit(await market.hit())
    await market.call("ApproveAssignment", AssignmentId=work.id)
    found = await shown(market, work.id)
    assert found["ApprovalTime"].timestamp() == pytest.approx(market.clock.now(), abs=0.001)
    for operation, given in (
        ("ApproveAssignment", {}),
        ("ApproveAssignment", {"OverrideRejection": True}),
        ("RejectAssignment", {"RequesterFeedback": "Empty"}),
    ):
        refusal = await market.refused(operation, AssignmentId=work.id, **given)
        assert refusal.turk_code == "InvalidAssignmentState"
        assert "status of: Submitted" in refusal.message
    assert await market.balance() == ("999.40", "0.00")


async def test_rejected_and_overridden(market: Market) -> None:
    hit_id = await market.hit()
    work = await market.submit(hit_id)
    await market.call("RejectAssignment", AssignmentId=work.id, RequesterFeedback="Empty")
    found = await shown(market, work.id)
    assert (found["AssignmentStatus"], found["RequesterFeedback"]) == ("Rejected", "Empty")
    assert "ApprovalTime" not in found
    assert await market.status(hit_id) == ("Reviewable", 0, 0, 1)
    assert await market.balance() == ("1000.00", "0.00")
    refusal = await market.refused("ApproveAssignment", AssignmentId=work.id)
    assert refusal.turk_code == "InvalidAssignmentState"
    market.clock.advance(30 * DAY_S)
    await market.call("ApproveAssignment", AssignmentId=work.id, OverrideRejection=True)
    assert (await shown(market, work.id))["AssignmentStatus"] == "Approved"
    assert await market.balance() == ("999.40", "0.00")


async def test_a_rejection_stands_after_thirty_days(market: Market) -> None:
    work = await market.submit(await market.hit())
    await market.call("RejectAssignment", AssignmentId=work.id, RequesterFeedback="Empty")
    market.clock.advance(30 * DAY_S + 1)
    refusal = await market.refused(
        "ApproveAssignment", AssignmentId=work.id, OverrideRejection=True
    )
    assert refusal.turk_code == "InvalidAssignmentState"


@pytest.mark.parametrize("feedback", ["", "x" * 1025])
async def test_feedback_has_its_length(market: Market, feedback: str) -> None:
    work = await market.submit(await market.hit())
    refusal = await market.refused(
        "RejectAssignment", AssignmentId=work.id, RequesterFeedback=feedback
    )
    assert refusal.code == "ParameterValidationError"
    refusal = await market.refused(
        "RejectAssignment", AssignmentId=work.id, RequesterFeedback="a\x0bb"
    )
    assert refusal.turk_code == "InvalidParameterValue"
    await market.call("RejectAssignment", AssignmentId=work.id, RequesterFeedback="x" * 1024)


async def test_approved_by_time(any_market: Market) -> None:
    market = any_market
    work = await market.submit(await market.hit(AutoApprovalDelayInSeconds=3600))
    found = await shown(market, work.id)
    due = found["AutoApprovalTime"]
    assert due.timestamp() - found["SubmitTime"].timestamp() == pytest.approx(3600, abs=0.001)
    market.clock.advance(3599)
    assert (await shown(market, work.id))["AssignmentStatus"] == "Submitted"
    market.clock.advance(5000)
    found = await shown(market, work.id)
    # Dated when it was due, not when somebody looked.
    assert (found["AssignmentStatus"], found["ApprovalTime"]) == ("Approved", due)
    assert await market.balance() == ("999.40", "0.00")


async def test_a_rejection_is_not_approved_by_time(market: Market) -> None:
    work = await market.submit(await market.hit(AutoApprovalDelayInSeconds=60))
    await market.call("RejectAssignment", AssignmentId=work.id, RequesterFeedback="Empty")
    market.clock.advance(DAY_S)
    assert (await shown(market, work.id))["AssignmentStatus"] == "Rejected"


async def test_no_delay_approves_at_once(market: Market) -> None:
    work = await market.submit(await market.hit(AutoApprovalDelayInSeconds=0))
    assert work.status == "Approved"
    assert (await shown(market, work.id))["AssignmentStatus"] == "Approved"


async def test_a_deadline_is_one(market: Market) -> None:
    hit_id = await market.hit()
    inside = await market.accept(hit_id)
    market.clock.advance(600)
    with pytest.raises(WrongAssignmentState):
        await market.market.write(assignments.submit, inside.id, ANSWER)
    assert await market.status(hit_id) == ("Assignable", 1, 0, 0)


async def test_submitting_again_changes_nothing(market: Market) -> None:
    work = await market.submit(await market.hit())
    market.clock.advance(10)
    again = await market.market.write(assignments.submit, work.id, "<other/>")
    assert (again.answer, again.submitted_at) == (ANSWER, work.submitted_at)


async def test_nobody_has_two_slots_of_a_hit(market: Market) -> None:
    hit_id = await market.hit(MaxAssignments=3)
    work = await market.submit(hit_id)
    with pytest.raises(AssignmentAlreadyExists):
        await market.accept(hit_id, work.worker_id)


async def test_a_bonus_is_paid_with_its_fee(any_market: Market) -> None:
    market = any_market
    hit_id = await market.hit()
    work = await market.submit(hit_id)
    given = {"AssignmentId": work.id, "WorkerId": work.worker_id, **BONUS}
    await market.call("SendBonus", **given)
    # 1000 − (0.53 + 0.11) − 0.60 on hold
    assert await market.balance() == ("998.76", "0.60")
    await market.call("SendBonus", **given)
    paid = (await market.call("ListBonusPayments", AssignmentId=work.id))["BonusPayments"]
    assert [p["BonusAmount"] for p in paid] == ["0.53", "0.53"]
    assert paid[0]["WorkerId"] == work.worker_id
    assert paid[0]["Reason"] == "Waited long"


async def test_a_token_pays_one_bonus_in_a_day(any_market: Market) -> None:
    market = any_market
    work = await market.submit(await market.hit())
    given = {"AssignmentId": work.id, "WorkerId": work.worker_id, **BONUS}
    given["UniqueRequestToken"] = "ledger-7"
    market.faults.add("SendBonus", Fault.LOST)
    with pytest.raises(ConnectionClosedError):
        await market.call("SendBonus", **given)
    refusal = await market.refused("SendBonus", **given)
    assert refusal.code == "RequestError"
    assert 'The idempotency token "ledger-7" has already been processed.' in refusal.message
    assert (await market.call("ListBonusPayments", AssignmentId=work.id))["NumResults"] == 1
    market.clock.advance(DAY_S)
    await market.call("SendBonus", **given)
    assert (await market.call("ListBonusPayments", AssignmentId=work.id))["NumResults"] == 2


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"WorkerId": "A1OTHERWORKER"}, "InvalidParameterValue"),
        ({"AssignmentId": "3UNKNOWN"}, "AssignmentDoesNotExist"),
        ({"BonusAmount": "5000"}, "InsufficientFunds"),
        ({"BonusAmount": "0.00"}, None),
        ({"Reason": ""}, None),
    ],
)
async def test_bonuses_refused(market: Market, change: dict[str, str], code: str | None) -> None:
    work = await market.submit(await market.hit())
    given = {"AssignmentId": work.id, "WorkerId": work.worker_id, **BONUS, **change}
    refusal = await market.refused("SendBonus", **given)
    assert refusal.turk_code == code
    assert refusal.code == ("RequestError" if code else "ParameterValidationError")
    assert (await market.call("ListBonusPayments", AssignmentId=work.id))["NumResults"] == 0


async def test_bonuses_are_listed_by_one_thing(market: Market) -> None:
    work = await market.submit(await market.hit())
    for given in ({}, {"HITId": work.hit_id, "AssignmentId": work.id}):
        refusal = await market.refused("ListBonusPayments", **given)
        assert refusal.turk_code == "InvalidParameterValue"


async def test_listed_by_status_in_the_order_of_submission(market: Market) -> None:
    hit_id = await market.hit(MaxAssignments=4)
    early, late = await market.accept(hit_id), await market.accept(hit_id)
    work = []
    for accepted in (late, early):
        market.clock.advance(1)
        work.append(await market.market.write(assignments.submit, accepted.id, ANSWER))
    await market.call("RejectAssignment", AssignmentId=late.id, RequesterFeedback="Empty")

    async def listed(*statuses: str) -> list[str]:
        given = {"AssignmentStatuses": list(statuses)} if statuses else {}
        found = await market.call("ListAssignmentsForHIT", HITId=hit_id, **given)
        assert found["NumResults"] == len(found["Assignments"])
        return [a["AssignmentId"] for a in found["Assignments"]]

    assert await listed() == [late.id, early.id]
    assert await listed("Submitted") == [early.id]
    assert await listed("Approved") == []
    assert await listed("Rejected", "Submitted") == [late.id, early.id]


async def test_a_submission_is_seen_late(market: Market) -> None:
    hit_id = await market.hit()
    market.faults.late_s = 60
    refusal = await market.refused("GetHIT", HITId=hit_id)
    assert refusal.turk_code == "HITDoesNotExist"
    assert (await market.call("ListHITs"))["HITs"] == []
    market.clock.advance(60)
    await market.get(hit_id)
    work = await market.submit(hit_id)
    refusal = await market.refused("GetAssignment", AssignmentId=work.id)
    assert "status of: null" in refusal.message
    assert (await market.refused("ApproveAssignment", AssignmentId=work.id)).code == "RequestError"
    assert (await market.call("ListAssignmentsForHIT", HITId=hit_id))["Assignments"] == []
    market.clock.advance(60)
    await market.call("ApproveAssignment", AssignmentId=work.id)


async def test_a_new_hit_can_be_expired_before_it_is_seen(market: Market) -> None:
    market.faults.late_s = 60
    hit_id = await market.hit()
    until = market.clock.now() + 7200
    refusal = await market.refused("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=until)
    assert refusal.turk_code == "HITDoesNotExist"
    await market.call("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=0)
