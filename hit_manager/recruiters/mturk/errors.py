"""What the service's refusals and the network's faults mean, in the words of `base`.

Amazon tells its own errors by `TurkErrorCode`, which boto3 hands over only for the two shapes its
model knows; what the front door says (signature, throttling, validation) is in `Error.Code`.
There is no public list of all codes, so a code is judged by its form where it has one.
Sources: boto3's service model of 2017-01-17, "Amazon Mechanical Turk API Reference", CommonErrors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from hit_manager.recruiters.base import (
    NoFunds,
    NotThere,
    NotYet,
    RecruiterError,
    Refused,
    Unavailable,
    Unsure,
)

_PREFIX: Final = re.compile(r"^AWS\.(MechanicalTurk\.)?", re.IGNORECASE)
# Texts end in " (1542881973916)" or " (1542881973916 s)": the moment, of no use to anybody.
_STAMP: Final = re.compile(r"\s*\(\d{10,}( s)?\)\s*$")
# Texts of errors get into logs, where worker ids have no place.
_WORKER: Final = re.compile(r"\bA[A-Z0-9]{12,63}\b")
_ALREADY: Final = re.compile(r"already (exists|been processed)", re.IGNORECASE)

# As in botocore's own list of what is throttling (botocore/retries/standard.py).
_THROTTLED: Final = frozenset(
    {
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "RequestThrottled",
        "RequestThrottledException",
        "TooManyRequestsException",
        "RequestLimitExceeded",
        "LimitExceededException",
        "SlowDown",
        "PriorRequestNotComplete",
        "429",
    }
)
_CREDENTIALS: Final = frozenset(
    {
        "AccessDeniedException",
        "IncompleteSignatureException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationTokenException",
        "OptInRequired",
        "UnrecognizedClientException",
        "AWS.BadCredentialSupplied",
        "AWS.NotAuthorized",
    }
)


_NOT_THE_SERVICE: Final = "something answered, but not the service; check the endpoint"


class Throttled(Unavailable):
    """Refused as one request too many, and surely not carried out."""


class AlreadyDone(Refused):
    """The key of this request has been used: what it asks for has been done."""


class WrongState(NotYet):
    """The HIT or the assignment is not in a state in which this can be done."""


class NeedsPerson(Unavailable):
    """Wrong keys, a wrong clock or a wrong address. Nothing was done, and nothing is wrong with
    what was asked for: it can be done once somebody has put that right."""


def from_answer(operation: str, response: Mapping[str, Any], *, changes: bool) -> RecruiterError:
    """The error for an answer that is not a success, boto3's `ClientError.response`.

    `changes`: whether the request would have changed anything; then a fault over there leaves
    it open whether it has.
    """
    error = response.get("Error", {})
    status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    shape = str(error.get("Code", ""))
    turk = str(response.get("TurkErrorCode") or "")
    text = masked(
        _STAMP.sub("", str(error.get("Message") or response.get("Message") or "no reason"))
    )
    code = turk or shape
    said = f"{operation}: {text} ({code})"
    if shape in _THROTTLED or status == 429:
        return Throttled(said, code)
    if status >= 500 or shape == "ServiceFault" or turk == "AWS.ServiceUnavailable":
        return (Unsure if changes else Unavailable)(said, code)
    if shape == str(status):
        # As boto3 names an answer that is none of the service's: a page that says 404, say.
        return NeedsPerson(f"{operation}: {_NOT_THE_SERVICE} ({status})", shape)
    if shape in _CREDENTIALS or turk in _CREDENTIALS:
        return NeedsPerson(f"{said}; check the access key and the machine's clock", code)
    name = _PREFIX.sub("", turk).casefold()
    # A validation error repeats what was sent, which may hold any words: of a bonus, say, whose
    # reason was refused and that would pass for paid.
    quotes = shape == "ValidationException"
    if name.endswith(("alreadyexists", "alreadyprocessed")) or (
        not quotes and _ALREADY.search(text)
    ):
        return AlreadyDone(said, code)
    if name.endswith("doesnotexist"):
        return NotThere(said, code)
    if name == "insufficientfunds":
        return NoFunds(said, code)
    if name.startswith("invalid") and name.endswith("state"):
        return WrongState(said, code)
    return Refused(said, code)


def masked(text: str) -> str:
    """A text without worker ids."""
    return _WORKER.sub("A…", text)


def no_request_id(operation: str, *, changes: bool) -> RecruiterError:
    """The error for a success that the service did not sign as its own: a proxy's page, say,
    which boto3 takes for an empty answer."""
    text = f"{operation}: {_NOT_THE_SERVICE}"
    return (Unsure if changes else Unavailable)(text, "NoRequestId")


_ID_IN_TEXT: Final = re.compile(r"HIT with ID \"?([A-Z0-9]{1,64})\"?", re.IGNORECASE)


def hit_named_in(error: RecruiterError) -> str | None:
    """The id in "The HIT with ID "…" already exists."."""
    found = _ID_IN_TEXT.search(str(error))
    return found.group(1) if found else None
