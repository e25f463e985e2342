"""Which function answers which operation, and whether it changes anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hit_manager.marketplace.api import (
    operations_hits,
    operations_people,
    operations_qualifications,
    operations_work,
)
from hit_manager.marketplace.api.call import Call


@dataclass(frozen=True, slots=True)
class Operation:
    """Reads run beside the writer; `writes` is what must not."""

    function: Callable[[Call], dict[str, Any]]
    writes: bool


_WRITES: Final[Mapping[str, Callable[[Call], dict[str, Any]]]] = {
    "AcceptQualificationRequest": operations_qualifications.accept_request,
    "ApproveAssignment": operations_work.approve_assignment,
    "AssociateQualificationWithWorker": operations_qualifications.associate,
    "CreateAdditionalAssignmentsForHIT": operations_hits.create_additional_assignments,
    "CreateHIT": operations_hits.create_hit,
    "CreateHITType": operations_hits.create_hit_type,
    "CreateHITWithHITType": operations_hits.create_hit_with_type,
    "CreateQualificationType": operations_qualifications.create_type,
    "CreateWorkerBlock": operations_people.create_block,
    "DeleteHIT": operations_hits.delete_hit,
    "DeleteQualificationType": operations_qualifications.delete_type,
    "DeleteWorkerBlock": operations_people.delete_block,
    "DisassociateQualificationFromWorker": operations_qualifications.disassociate,
    "NotifyWorkers": operations_people.notify,
    "RejectAssignment": operations_work.reject_assignment,
    "RejectQualificationRequest": operations_qualifications.reject_request,
    "SendBonus": operations_work.send_bonus,
    "SendTestEventNotification": operations_people.send_test_event,
    "UpdateExpirationForHIT": operations_hits.update_expiration,
    "UpdateHITReviewStatus": operations_hits.update_review_status,
    "UpdateHITTypeOfHIT": operations_hits.update_hit_type_of_hit,
    "UpdateNotificationSettings": operations_people.update_notification_settings,
    "UpdateQualificationType": operations_qualifications.update_type,
}

_READS: Final[Mapping[str, Callable[[Call], dict[str, Any]]]] = {
    "GetAccountBalance": operations_work.get_account_balance,
    "GetAssignment": operations_work.get_assignment,
    "GetHIT": operations_hits.get_hit,
    "GetQualificationScore": operations_qualifications.get_score,
    "GetQualificationType": operations_qualifications.get_type,
    "ListAssignmentsForHIT": operations_work.list_assignments,
    "ListBonusPayments": operations_work.list_bonus_payments,
    "ListHITs": operations_hits.list_hits,
    "ListHITsForQualificationType": operations_hits.list_hits_for_qualification_type,
    "ListQualificationRequests": operations_qualifications.list_requests,
    "ListQualificationTypes": operations_qualifications.list_types,
    "ListReviewPolicyResultsForHIT": operations_hits.list_review_policy_results,
    "ListReviewableHITs": operations_hits.list_reviewable_hits,
    "ListWorkerBlocks": operations_people.list_blocks,
    "ListWorkersWithQualificationType": operations_qualifications.list_workers,
}

OPERATIONS: Final[Mapping[str, Operation]] = {
    **{name: Operation(function, writes=True) for name, function in _WRITES.items()},
    **{name: Operation(function, writes=False) for name, function in _READS.items()},
}
"""All of version 2017-01-17 but GetFileUploadURL, whose kind of question is long gone."""
