"""The whole life of HITs by boto3, on both databases."""

from __future__ import annotations

from typing import Any

from hit_manager.marketplace import qualification_requests
from hit_manager.marketplace.api.operations import OPERATIONS
from tests.contract.requester_stage import ANSWER, HIT, QUESTION, TYPE, Market

NOTIFICATION = {
    "Destination": "http://127.0.0.1:9/hook",
    "Transport": "SNS",
    "Version": "2006-05-05",
    "EventTypes": ["AssignmentSubmitted", "HITReviewable"],
}


async def test_a_hit_from_posting_to_disposal(any_market: Market) -> None:
    market = any_market
    made = await market.call(
        "CreateHIT", **TYPE, **HIT, MaxAssignments=2, RequesterAnnotation="item-7"
    )
    hit = made["HIT"]
    assert hit == await market.get(hit["HITId"])
    assert (hit["Question"], hit["Reward"]) == (QUESTION, "0.50")
    assert hit["Expiration"].timestamp() - hit["CreationTime"].timestamp() == 3600
    assert (hit["RequesterAnnotation"], hit["HITReviewStatus"]) == ("item-7", "NotReviewed")
    assert await market.balance() == ("998.80", "1.20")

    hit_id = hit["HITId"]
    assert await market.status(hit_id) == ("Assignable", 2, 0, 0)
    first = await market.submit(hit_id)
    second = await market.accept(hit_id)
    assert await market.status(hit_id) == ("Unassignable", 0, 1, 0)
    assert (await market.call("ListReviewableHITs"))["HITs"] == []

    market.clock.advance(601)
    # The second one ran out; then the HIT does.
    assert await market.status(hit_id) == ("Assignable", 1, 0, 0)
    market.clock.advance(3000)
    assert await market.status(hit_id) == ("Reviewable", 0, 0, 0)
    assert [h["HITId"] for h in (await market.call("ListReviewableHITs"))["HITs"]] == [hit_id]
    assert await market.balance() == ("999.40", "0.60")

    listed = await market.call("ListAssignmentsForHIT", HITId=hit_id)
    assert [a["AssignmentId"] for a in listed["Assignments"]] == [first.id]
    assert second.id not in str(listed)
    found = await market.call("GetAssignment", AssignmentId=first.id)
    assert found["HIT"]["HITId"] == hit_id
    shown = found["Assignment"]
    assert (shown["WorkerId"], shown["AssignmentStatus"]) == (first.worker_id, "Submitted")
    assert (shown["Answer"], "ApprovalTime" in shown) == (ANSWER, False)

    await market.call("ApproveAssignment", AssignmentId=first.id, RequesterFeedback="Thank you")
    shown = (await market.call("GetAssignment", AssignmentId=first.id))["Assignment"]
    assert (shown["AssignmentStatus"], shown["RequesterFeedback"]) == ("Approved", "Thank you")
    assert await market.status(hit_id) == ("Reviewable", 0, 0, 1)
    assert await market.balance() == ("999.40", "0.00")

    await market.call("DeleteHIT", HITId=hit_id)
    assert (await market.get(hit_id))["HITStatus"] == "Disposed"
    assert (await market.call("ListHITs"))["HITs"] == []


async def test_every_operation_is_answered(any_market: Market) -> None:
    market = any_market
    call = market.call
    kind: dict[str, Any] = {
        "Name": "Fluent",
        "Description": "d",
        "QualificationTypeStatus": "Active",
    }
    type_id = (await call("CreateQualificationType", **kind))["QualificationType"][
        "QualificationTypeId"
    ]
    await call("UpdateQualificationType", QualificationTypeId=type_id, Description="Speaks well")
    found = await call("GetQualificationType", QualificationTypeId=type_id)
    assert found["QualificationType"]["Description"] == "Speaks well"
    listed = await call("ListQualificationTypes", MustBeRequestable=True)
    assert listed["QualificationTypes"] == [found["QualificationType"]]
    kim, lee = await market.worker(), await market.worker()
    asked = [
        await market.market.write(qualification_requests.ask, worker, type_id)
        for worker in (kim, lee)
    ]
    listed = await call("ListQualificationRequests", QualificationTypeId=type_id)
    assert [r["QualificationRequestId"] for r in listed["QualificationRequests"]] == [
        request.id for request in asked
    ]
    await call("AcceptQualificationRequest", QualificationRequestId=asked[0].id, IntegerValue=90)
    await call("RejectQualificationRequest", QualificationRequestId=asked[1].id, Reason="Not yet")
    await call("AssociateQualificationWithWorker", QualificationTypeId=type_id, WorkerId=lee)
    score = await call("GetQualificationScore", QualificationTypeId=type_id, WorkerId=kim)
    assert score["Qualification"]["IntegerValue"] == 90
    await call("DisassociateQualificationFromWorker", QualificationTypeId=type_id, WorkerId=lee)
    listed = await call("ListWorkersWithQualificationType", QualificationTypeId=type_id)
    assert [q["WorkerId"] for q in listed["Qualifications"]] == [kim]

    asks = [{"QualificationTypeId": type_id, "Comparator": "GreaterThan", "IntegerValues": [80]}]
    hit_type = (await call("CreateHITType", **TYPE))["HITTypeId"]
    plain = (await call("CreateHITType", **TYPE, QualificationRequirements=asks))["HITTypeId"]
    await call("UpdateNotificationSettings", HITTypeId=plain, Notification=NOTIFICATION)
    await call("SendTestEventNotification", Notification=NOTIFICATION, TestEventType="Ping")
    hit_id = (await call("CreateHITWithHITType", HITTypeId=hit_type, **HIT))["HIT"]["HITId"]
    await call("UpdateHITTypeOfHIT", HITId=hit_id, HITTypeId=plain)
    listed = await call("ListHITsForQualificationType", QualificationTypeId=type_id)
    assert [h["HITId"] for h in listed["HITs"]] == [hit_id]
    await call("CreateAdditionalAssignmentsForHIT", HITId=hit_id, NumberOfAdditionalAssignments=1)
    work = await market.submit(hit_id, kim)
    await call("RejectAssignment", AssignmentId=work.id, RequesterFeedback="Empty")
    await call("ApproveAssignment", AssignmentId=work.id, OverrideRejection=True)
    bonus = {"WorkerId": kim, "AssignmentId": work.id, "BonusAmount": "1.5", "Reason": "Long wait"}
    await call("SendBonus", **bonus)
    listed = await call("ListBonusPayments", HITId=hit_id)
    assert [b["BonusAmount"] for b in listed["BonusPayments"]] == ["1.50"]
    assert listed == await call("ListBonusPayments", AssignmentId=work.id)
    await call("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=0)
    await call("UpdateHITReviewStatus", HITId=hit_id)
    assert (await call("ListReviewableHITs", Status="Reviewing"))["NumResults"] == 1
    assert (await call("ListHITs"))["NumResults"] == 1
    await call("ListAssignmentsForHIT", HITId=hit_id, AssignmentStatuses=["Approved"])
    await call("ListReviewPolicyResultsForHIT", HITId=hit_id)
    await call("GetAssignment", AssignmentId=work.id)
    await call("GetHIT", HITId=hit_id)
    told = await call("NotifyWorkers", Subject="s", MessageText="t", WorkerIds=[kim, lee])
    assert [f["WorkerId"] for f in told["NotifyWorkersFailureStatuses"]] == [lee]
    await call("CreateWorkerBlock", WorkerId=kim, Reason="Rude")
    assert (await call("ListWorkerBlocks"))["WorkerBlocks"] == [{"WorkerId": kim, "Reason": "Rude"}]
    await call("DeleteWorkerBlock", WorkerId=kim)
    await call("DeleteHIT", HITId=hit_id)
    await call("DeleteQualificationType", QualificationTypeId=type_id)
    # 1000 − (0.50 + 0.10) − (1.50 + 0.30)
    assert await market.balance() == ("997.60", "0.00")
    await call("CreateHIT", **TYPE, **HIT)
    assert market.answered == set(OPERATIONS)
