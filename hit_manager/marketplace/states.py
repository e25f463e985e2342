"""The lifecycles of the marketplace, with the words of Amazon's API where it shows them.

Sources: Amazon's API reference for the data structures HIT, Assignment, Qualification and
QualificationType, and for the notification events.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class HitStatus(StrEnum):
    """Assignable ⇄ Unassignable → Reviewable ⇄ Reviewing → Disposed; more time or more
    assignments lead back from Reviewable."""

    ASSIGNABLE = "Assignable"
    UNASSIGNABLE = "Unassignable"
    REVIEWABLE = "Reviewable"
    REVIEWING = "Reviewing"
    DISPOSED = "Disposed"


class AssignmentStatus(StrEnum):
    """A worker's hold on a HIT. Requesters see only those from `SUBMITTED` on."""

    ACCEPTED = "Accepted"
    SUBMITTED = "Submitted"
    APPROVED = "Approved"
    REJECTED = "Rejected"
    RETURNED = "Returned"
    ABANDONED = "Abandoned"


HOLDING: Final = (
    AssignmentStatus.ACCEPTED,
    AssignmentStatus.SUBMITTED,
    AssignmentStatus.APPROVED,
    AssignmentStatus.REJECTED,
)
"""Those that take a slot of their HIT; the others have given it back."""

SHOWN: Final = (
    AssignmentStatus.SUBMITTED,
    AssignmentStatus.APPROVED,
    AssignmentStatus.REJECTED,
)
"""Those that requesters can see."""


class QualificationStatus(StrEnum):
    GRANTED = "Granted"
    REVOKED = "Revoked"


class TypeStatus(StrEnum):
    """Of a qualification type: whether it can be asked for and used in new HITs."""

    ACTIVE = "Active"
    INACTIVE = "Inactive"


class RequestStatus(StrEnum):
    """Of a worker's request for a qualification."""

    PENDING = "pending"
    GRANTED = "granted"
    REJECTED = "rejected"


class Action(StrEnum):
    """What a worker may want to do with a HIT, in the order they do it."""

    DISCOVER = "discover"
    PREVIEW = "preview"
    ACCEPT = "accept"


class Event(StrEnum):
    """What notifications tell of."""

    ASSIGNMENT_ACCEPTED = "AssignmentAccepted"
    ASSIGNMENT_ABANDONED = "AssignmentAbandoned"
    ASSIGNMENT_RETURNED = "AssignmentReturned"
    ASSIGNMENT_SUBMITTED = "AssignmentSubmitted"
    ASSIGNMENT_REJECTED = "AssignmentRejected"
    ASSIGNMENT_APPROVED = "AssignmentApproved"
    HIT_CREATED = "HITCreated"
    HIT_EXPIRED = "HITExpired"
    HIT_REVIEWABLE = "HITReviewable"
    HIT_EXTENDED = "HITExtended"
    HIT_DISPOSED = "HITDisposed"
    PING = "Ping"
