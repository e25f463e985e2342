"""The forms of the requests that are answered.

A table of our own, and not botocore's service model: that is deleted from botocore some time
after a service has closed, as this one has, while this server has to go on; and it would be 30
MB for a few lines. Tests compare the two, member by member.

Source: the service model of the API, version 2017-01-17.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hit_manager.marketplace.requirements import Comparator, Guard
from hit_manager.marketplace.states import (
    SHOWN,
    Event,
    HitStatus,
    QualificationStatus,
    TypeStatus,
)


@dataclass(frozen=True, slots=True)
class Text:
    """A text of `least` to `most` characters, matching `pattern` as a whole, or one of `words`."""

    pattern: str | None = None
    least: int | None = None
    most: int | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number that fits into so many bits."""

    bits: int = 32
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds since 1970-01-01 UTC, with or without a fraction."""


@dataclass(frozen=True, slots=True)
class Many:
    """A list."""

    member: Shape


@dataclass(frozen=True, slots=True)
class Parts:
    """An object."""

    members: Mapping[str, Shape]
    required: frozenset[str]


Shape = Text | Whole | Flag | Time | Many | Parts


def _words(*of: StrEnum) -> Text:
    return Text(words=tuple(word.value for word in of))


_ENTITY: Final = Text(pattern="[A-Z0-9]+", least=1, most=64)
_NAMED: Final[dict[str, Shape]] = {
    "text": Text(),
    "id": _ENTITY,
    "person": Text(pattern="A[A-Z0-9]+", least=1, most=64),
    "money": Text(pattern=r"[0-9]+(\.)?[0-9]{0,2}", least=None, most=None),
    "token": Text(least=1, most=64),
    "page": Text(least=1, most=255),
    "place": Text(least=2, most=2),
    "int": Whole(),
    "long": Whole(bits=64),
    "results": Whole(least=1, most=100),
    "flag": Flag(),
    "time": Time(),
    "comparator": _words(*Comparator),
    "guard": _words(*Guard),
    "event": _words(*Event),
    "transport": Text(words=("Email", "SQS", "SNS")),
    "assignment_status": _words(*SHOWN),
    "reviewable": _words(HitStatus.REVIEWABLE, HitStatus.REVIEWING),
    "type_status": _words(*TypeStatus),
    "granted": _words(*QualificationStatus),
    "level": Text(words=("Assignment", "HIT")),
}


def _parts(line: str) -> Parts:
    """An object's form from `Name:shape`, with a star behind the names that must be there and
    brackets around the shape of a list's members."""
    members: dict[str, Shape] = {}
    required = set()
    for part in line.split():
        name, shape = part.split(":")
        if name.endswith("*"):
            name = name[:-1]
            required.add(name)
        inner = _NAMED[shape.strip("[]")]
        members[name] = Many(inner) if shape.startswith("[") else inner
    return Parts(members, frozenset(required))


_NAMED["locale"] = _parts("Country*:place Subdivision:place")
_NAMED["requirement"] = _parts(
    "QualificationTypeId*:text Comparator*:comparator IntegerValues:[int] LocaleValues:[locale] "
    "RequiredToPreview:flag ActionsGuarded:guard"
)
_NAMED["layout"] = _parts("Name*:text Value*:text")
_NAMED["map_entry"] = _parts("Key:text Values:[text]")
_NAMED["parameter"] = _parts("Key:text Values:[text] MapEntries:[map_entry]")
_NAMED["policy"] = _parts("PolicyName*:text Parameters:[parameter]")
_NAMED["notification"] = _parts(
    "Destination*:text Transport*:transport Version*:text EventTypes*:[event]"
)

_TYPE: Final = (
    "Title*:text Description*:text Keywords:text Reward*:money "
    "AssignmentDurationInSeconds*:long AutoApprovalDelayInSeconds:long "
    "QualificationRequirements:[requirement] "
)
_HIT: Final = (
    "LifetimeInSeconds*:long MaxAssignments:int Question:text RequesterAnnotation:text "
    "UniqueRequestToken:token AssignmentReviewPolicy:policy HITReviewPolicy:policy "
    "HITLayoutId:id HITLayoutParameters:[layout] "
)
_PAGED: Final = "NextToken:page MaxResults:results "
_TESTED: Final = (
    "RetryDelayInSeconds:long Test:text AnswerKey:text TestDurationInSeconds:long "
    "AutoGranted:flag AutoGrantedValue:int "
)

INPUTS: Final[Mapping[str, Parts]] = {
    name: _parts(line)
    for name, line in {
        "AcceptQualificationRequest": "QualificationRequestId*:text IntegerValue:int",
        "ApproveAssignment": "AssignmentId*:id RequesterFeedback:text OverrideRejection:flag",
        "AssociateQualificationWithWorker": (
            "QualificationTypeId*:id WorkerId*:person IntegerValue:int SendNotification:flag"
        ),
        "CreateAdditionalAssignmentsForHIT": (
            "HITId*:id NumberOfAdditionalAssignments*:int UniqueRequestToken:token"
        ),
        "CreateHIT": _TYPE + _HIT,
        "CreateHITType": _TYPE,
        "CreateHITWithHITType": "HITTypeId*:id " + _HIT,
        "CreateQualificationType": (
            "Name*:text Keywords:text Description*:text QualificationTypeStatus*:type_status "
            + _TESTED
        ),
        "CreateWorkerBlock": "WorkerId*:person Reason*:text",
        "DeleteHIT": "HITId*:id",
        "DeleteQualificationType": "QualificationTypeId*:id",
        "DeleteWorkerBlock": "WorkerId*:person Reason:text",
        "DisassociateQualificationFromWorker": (
            "WorkerId*:person QualificationTypeId*:id Reason:text"
        ),
        "GetAccountBalance": "",
        "GetAssignment": "AssignmentId*:id",
        "GetHIT": "HITId*:id",
        "GetQualificationScore": "QualificationTypeId*:id WorkerId*:person",
        "GetQualificationType": "QualificationTypeId*:id",
        "ListAssignmentsForHIT": "HITId*:id AssignmentStatuses:[assignment_status] " + _PAGED,
        "ListBonusPayments": "HITId:id AssignmentId:id " + _PAGED,
        "ListHITs": _PAGED,
        "ListHITsForQualificationType": "QualificationTypeId*:id " + _PAGED,
        "ListQualificationRequests": "QualificationTypeId:id " + _PAGED,
        "ListQualificationTypes": (
            "Query:text MustBeRequestable*:flag MustBeOwnedByCaller:flag " + _PAGED
        ),
        "ListReviewPolicyResultsForHIT": (
            "HITId*:id PolicyLevels:[level] RetrieveActions:flag RetrieveResults:flag " + _PAGED
        ),
        "ListReviewableHITs": "HITTypeId:id Status:reviewable " + _PAGED,
        "ListWorkerBlocks": _PAGED,
        "ListWorkersWithQualificationType": "QualificationTypeId*:id Status:granted " + _PAGED,
        "NotifyWorkers": "Subject*:text MessageText*:text WorkerIds*:[person]",
        "RejectAssignment": "AssignmentId*:id RequesterFeedback*:text",
        "RejectQualificationRequest": "QualificationRequestId*:text Reason:text",
        "SendBonus": (
            "WorkerId*:person BonusAmount*:money AssignmentId*:id Reason*:text "
            "UniqueRequestToken:token"
        ),
        "SendTestEventNotification": "Notification*:notification TestEventType*:event",
        "UpdateExpirationForHIT": "HITId*:id ExpireAt*:time",
        "UpdateHITReviewStatus": "HITId*:id Revert:flag",
        "UpdateHITTypeOfHIT": "HITId*:id HITTypeId*:id",
        "UpdateNotificationSettings": "HITTypeId*:id Notification:notification Active:flag",
        "UpdateQualificationType": (
            "QualificationTypeId*:id Description:text QualificationTypeStatus:type_status "
            + _TESTED
        ),
    }.items()
}
