"""Things in the API's form. What has not happened yet is left out, as Amazon does."""

from __future__ import annotations

from typing import Any

from hit_manager.marketplace import money
from hit_manager.marketplace.assignments import Assignment
from hit_manager.marketplace.hits import Hit
from hit_manager.marketplace.qualification_requests import Request
from hit_manager.marketplace.qualification_types import QualificationType
from hit_manager.marketplace.qualifications import Qualification
from hit_manager.marketplace.requirements import show_requirements


def present(**members: Any) -> dict[str, Any]:
    """The members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def show_hit(hit: Hit) -> dict[str, Any]:
    return present(
        HITId=hit.id,
        HITTypeId=hit.type_id,
        # HITs of a type are one group to workers.
        HITGroupId=hit.type_id,
        CreationTime=hit.created_at,
        Title=hit.type.title,
        Description=hit.type.description,
        Question=hit.question,
        Keywords=hit.type.keywords,
        HITStatus=hit.status.value,
        MaxAssignments=hit.max_assignments,
        Reward=money.dollars(hit.type.reward),
        AutoApprovalDelayInSeconds=hit.type.auto_approval_s,
        Expiration=hit.expires_at,
        AssignmentDurationInSeconds=hit.type.duration_s,
        RequesterAnnotation=hit.annotation,
        QualificationRequirements=show_requirements(hit.type.requirements),
        HITReviewStatus="NotReviewed",
        NumberOfAssignmentsPending=hit.counts.pending,
        NumberOfAssignmentsAvailable=hit.free,
        NumberOfAssignmentsCompleted=hit.counts.approved + hit.counts.rejected,
    )


def show_assignment(assignment: Assignment) -> dict[str, Any]:
    return present(
        AssignmentId=assignment.id,
        WorkerId=assignment.worker_id,
        HITId=assignment.hit_id,
        AssignmentStatus=assignment.status.value,
        AutoApprovalTime=assignment.auto_approve_at,
        AcceptTime=assignment.accepted_at,
        SubmitTime=assignment.submitted_at,
        ApprovalTime=assignment.approved_at,
        RejectionTime=assignment.rejected_at,
        Deadline=assignment.deadline_at,
        Answer=assignment.answer,
        RequesterFeedback=assignment.feedback,
    )


def show_qualification_type(found: QualificationType) -> dict[str, Any]:
    draft = found.draft
    own = found.requester_id is not None
    return present(
        QualificationTypeId=found.id,
        CreationTime=found.created_at,
        Name=draft.name,
        Description=draft.description,
        Keywords=draft.keywords,
        QualificationTypeStatus=draft.status.value,
        Test=draft.test,
        TestDurationInSeconds=draft.test_duration_s,
        AnswerKey=draft.answer_key,
        RetryDelayInSeconds=draft.retry_delay_s,
        IsRequestable=own,
        AutoGranted=draft.auto_granted,
        AutoGrantedValue=draft.auto_value if draft.auto_granted else None,
    )


def show_qualification(qualification: Qualification) -> dict[str, Any]:
    return present(
        QualificationTypeId=qualification.type_id,
        WorkerId=qualification.worker_id,
        GrantTime=qualification.granted_at,
        IntegerValue=qualification.value,
        Status=qualification.status.value,
    )


def show_request(request: Request, test: str | None) -> dict[str, Any]:
    return present(
        QualificationRequestId=request.id,
        QualificationTypeId=request.type_id,
        WorkerId=request.worker_id,
        Test=test,
        Answer=request.answer,
        SubmitTime=request.submitted_at,
    )
