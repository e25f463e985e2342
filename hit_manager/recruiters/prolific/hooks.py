"""What Prolific tells us by itself: where to look, and never what to believe.

An event may come twice, late, out of order, or not at all, so it only makes us look at the
submission or study it names sooner than we would have. Sources:
https://docs.prolific.com/api-reference/webhooks/verifying (signature),
https://docs.prolific.com/api-reference/webhooks/receiving (events),
https://docs.prolific.com/api-reference/webhooks/idempotency-and-the-x-event-id-header.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import orjson

from hit_manager.recruiters.base import Refused

SIGNATURE: Final = "X-Prolific-Request-Signature"
TIMESTAMP: Final = "X-Prolific-Request-Timestamp"
EVENT_ID: Final = "X-Event-ID"
TOLERANCE_S: Final = 300.0
"""How far a hook's time may be from ours, in seconds: an old one may be a replay."""


class LookAt(StrEnum):
    """What an event is about."""

    SUBMISSION = "submission"
    STUDY = "study"


@dataclass(frozen=True, slots=True)
class Look:
    """Look at this submission or study. `event_id` is the same each time the event is sent."""

    at: LookAt
    id: str
    event_id: str = ""


def read_hook(
    headers: Mapping[str, str],
    body: bytes,
    *,
    secret: str,
    now: float,
    tolerance_s: float = TOLERANCE_S,
) -> Look | None:
    """Where to look, or None for an event of no interest. `body` is as it came, byte by byte;
    `now` in seconds since 1970.

    Raises:
        Refused: it is not from Prolific, or too old, or cannot be read.
    """
    given = {name.lower(): value for name, value in headers.items()}
    timestamp = given.get(TIMESTAMP.lower(), "")
    signature = given.get(SIGNATURE.lower(), "")
    # An empty secret would be everybody's.
    if not secret or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise Refused("a hook without a time")
    if not hmac.compare_digest(sign(secret, timestamp, body), signature.encode()):
        raise Refused("a hook with a wrong signature")
    if abs(now - int(timestamp)) > tolerance_s:
        raise Refused("a hook of another time")
    try:
        event = orjson.loads(body)
        kind, resource = event["event_type"], event["resource_id"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise Refused("a hook that cannot be read") from None
    if not isinstance(kind, str) or not isinstance(resource, str):
        raise Refused("a hook that cannot be read")
    for at in LookAt:
        if kind.startswith(f"{at}."):
            return Look(at, resource, given.get(EVENT_ID.lower(), ""))
    return None


def sign(secret: str, timestamp: str, body: bytes) -> bytes:
    """The signature of a hook, in base64."""
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return base64.b64encode(digest)
