"""Why the marketplace did not do something.

MarketplaceError             has a text that may be shown to whoever asked
├── Refused                  the API's RequestError: each leaf has its TurkErrorCode
│   ├── DoesNotExist
│   │   ├── NoSuchHit, NoSuchAssignment, NoSuchQualificationType, NoSuchQualification,
│   │   └── NoSuchQualificationRequest, NoSuchLayout
│   ├── WrongState           what is asked for cannot be done in this state
│   │   ├── WrongHitState, WrongAssignmentState, WrongQualificationTypeState,
│   │   └── WrongQualificationState, WrongQualificationRequestState
│   ├── AlreadyExists        done before: the asker may take it as done
│   │   ├── HitAlreadyExists, TokenAlreadyProcessed, QualificationTypeAlreadyExists,
│   │   └── AssignmentAlreadyExists
│   ├── InvalidValue         a value that the shape allows and the meaning does not
│   │   └── BadQuestion, BadIncrease, BadTransport
│   ├── InsufficientFunds
│   ├── NotPermitted         somebody else's
│   ├── DoesNotMeetRequirements, NoMoreAssignments, Blocked     said to workers
│   └── RetryTooEarly, NoRetake                                 said to workers
├── OutOfRange               the API's ParameterValidationError
├── BadShape                 the API's ValidationException
├── NotLetIn                 refused before anything was looked at
│   ├── NotSigned, UnknownKey, BadSignature
│   └── UnknownOperation, Unreadable, TooLarge, Throttled
└── Fault                    the API's ServiceFault: the marketplace cannot now; try again
    └── Unavailable          the database did not answer, or its answer is unknown
"""

from __future__ import annotations

from http import HTTPStatus
from typing import ClassVar


class MarketplaceError(Exception):
    """Base of every refusal.

    `kind` and `http_status` are how the API says it; `turk_code` is the part of its
    TurkErrorCode behind `AWS.MechanicalTurk.`, where it has one.
    """

    kind: ClassVar[str] = "ServiceFault"
    http_status: ClassVar[int] = HTTPStatus.INTERNAL_SERVER_ERROR
    turk_code: ClassVar[str | None] = None


class Refused(MarketplaceError):
    """Understood, and not done. Nothing has changed."""

    kind = "RequestError"
    http_status = HTTPStatus.BAD_REQUEST
    turk_code = "InvalidParameterValue"


class DoesNotExist(Refused):
    """No such thing, or none of the asker's."""


class NoSuchHit(DoesNotExist):
    turk_code = "HITDoesNotExist"


class NoSuchAssignment(DoesNotExist):
    turk_code = "AssignmentDoesNotExist"


class NoSuchQualificationType(DoesNotExist):
    turk_code = "QualificationTypeDoesNotExist"


class NoSuchQualification(DoesNotExist):
    turk_code = "QualificationDoesNotExist"


class NoSuchQualificationRequest(DoesNotExist):
    turk_code = "QualificationRequestDoesNotExist"


class NoSuchLayout(DoesNotExist):
    turk_code = "HITLayoutDoesNotExist"


class WrongState(Refused):
    """It exists, but in a state in which this cannot be done."""


class WrongHitState(WrongState):
    turk_code = "InvalidHITState"


class WrongAssignmentState(WrongState):
    turk_code = "InvalidAssignmentState"


class WrongQualificationTypeState(WrongState):
    turk_code = "InvalidQualificationTypeState"


class WrongQualificationState(WrongState):
    turk_code = "InvalidQualificationState"


class WrongQualificationRequestState(WrongState):
    turk_code = "InvalidQualificationRequestState"


class AlreadyExists(Refused):
    """Done before; doing it once more would be once too often."""


class HitAlreadyExists(AlreadyExists):
    turk_code = "HITAlreadyExists"


class TokenAlreadyProcessed(AlreadyExists):
    """Amazon documents the message of this case and not its code; the code is ours."""

    turk_code = "IdempotencyTokenAlreadyProcessed"


class QualificationTypeAlreadyExists(AlreadyExists):
    turk_code = "QualificationTypeAlreadyExists"


class AssignmentAlreadyExists(AlreadyExists):
    """Said to a worker who holds, or has done, this HIT."""

    turk_code = "AssignmentAlreadyExists"


class InvalidValue(Refused):
    """A value that its shape allows and its meaning does not."""


class BadQuestion(InvalidValue):
    turk_code = "XMLParseError"


class BadIncrease(InvalidValue):
    """Ten assignments or more cost more for each: a HIT of fewer cannot grow to them."""

    turk_code = "InvalidMaximumAssignmentsIncrease"


class BadTransport(InvalidValue):
    turk_code = "InvalidTransportEndpoint"


class InsufficientFunds(Refused):
    turk_code = "InsufficientFunds"


class NotPermitted(Refused):
    turk_code = "PermissionDeniedException"


class DoesNotMeetRequirements(Refused):
    """Said to a worker whose qualifications do not suffice."""

    turk_code = "DoesNotMeetRequirements"


class NoMoreAssignments(Refused):
    """Said to a worker who comes too late."""

    turk_code = "NoMoreWorkableHITsInGroupException"


class Blocked(Refused):
    """Said to a worker whom the requester has blocked."""

    turk_code = "PermissionDeniedException"


class RetryTooEarly(Refused):
    turk_code = "QualificationTypeRetryDelayNotElapsed"


class NoRetake(Refused):
    turk_code = "QualificationTypeDoesNotAllowRetake"


class OutOfRange(MarketplaceError):
    """A value outside of what the reference prints in words."""

    kind = "ParameterValidationError"
    http_status = HTTPStatus.BAD_REQUEST


class BadShape(MarketplaceError):
    """Not the shape that the service model prescribes."""

    kind = "ValidationException"
    http_status = HTTPStatus.BAD_REQUEST


class NotLetIn(MarketplaceError):
    """Turned away at the door."""

    http_status = HTTPStatus.BAD_REQUEST


class NotSigned(NotLetIn):
    kind = "MissingAuthenticationTokenException"


class UnknownKey(NotLetIn):
    kind = "UnrecognizedClientException"


class BadSignature(NotLetIn):
    kind = "InvalidSignatureException"


class UnknownOperation(NotLetIn):
    kind = "UnknownOperationException"


class Unreadable(NotLetIn):
    kind = "SerializationException"


class TooLarge(NotLetIn):
    kind = "RequestEntityTooLargeException"
    http_status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class Throttled(NotLetIn):
    kind = "ThrottlingException"


class Fault(MarketplaceError):
    """Not the asker's fault; whether anything has changed may be unknown."""


class Unavailable(Fault):
    """The database did not answer in time."""
