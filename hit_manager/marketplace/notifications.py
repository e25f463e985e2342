"""Notifications: stored in the transaction of what they tell of, delivered afterwards.

A type's notifications of `Transport` SNS go to an HTTPS address, which stands where Amazon has
the ARN of a topic. What arrives has the envelope of SNS (`Type`, `MessageId`, `TopicArn`,
`Message`, `Timestamp`) and in `Message` the document of Mechanical Turk (`EventDocId`,
`CustomerId`, `Events`). It is not signed as SNS signs, with Amazon's certificates, but by two
headers of ours:

    X-Marketplace-Timestamp: seconds since 1970-01-01 UTC
    X-Marketplace-Signature: v1=HEX

HEX is the HMAC-SHA256 of the timestamp, a full stop and the body, keyed with the requester's
webhook secret. As with Amazon, a notification can come more than once and out of order: it is
known by its `EventDocId`, and it is a hint to look, no more.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

from sqlalchemy import Connection, delete, insert, select, update

from hit_manager.marketplace.addresses import is_callable
from hit_manager.marketplace.errors import BadTransport, InvalidValue
from hit_manager.marketplace.states import Event
from hit_manager.marketplace.tables import deliveries, hits, notification_settings, requesters

TIMESTAMP_HEADER: Final = "X-Marketplace-Timestamp"
SIGNATURE_HEADER: Final = "X-Marketplace-Signature"
VERSIONS: Final = frozenset({"2006-05-05", "2014-08-15"})
"""The service model names the first, the reference the second."""

DOCUMENT_VERSION: Final = "2014-08-15"
RETRY_AFTER_S: Final = (5, 30, 120, 600, 3600, 6 * 3600, 12 * 3600)
"""After each failed try; after the last one the notification is given up."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a type's notifications go, and which."""

    destination: str
    transport: str
    event_types: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Delivery:
    """A notification on its way. `body` is the document of Mechanical Turk, in JSON."""

    n: int
    id: str
    requester_id: str
    destination: str
    body: str
    tries: int
    secret: str


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """The value of the signature header."""
    mac = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"v1={mac.hexdigest()}"


def envelope(delivery: Delivery, now: float) -> bytes:
    """The body that is sent: SNS's envelope around the document."""
    return json.dumps(
        {
            "Type": "Notification",
            "MessageId": delivery.id,
            "TopicArn": delivery.destination,
            "Message": delivery.body,
            "Timestamp": datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        }
    ).encode()


def check_target(target: Target, *, test: bool, allow_http: bool) -> None:
    """Look at what a requester asks for.

    Raises:
        BadTransport: another transport than SNS, or no address that may be called.
        InvalidValue: `Ping` outside of a test.
    """
    if target.transport != "SNS":
        raise BadTransport(
            f"This marketplace delivers by Transport SNS, to an HTTPS address; not by "
            f"{target.transport}."
        )
    if not test and Event.PING in target.event_types:
        raise InvalidValue("Ping is for SendTestEventNotification only.")
    try:
        parts = urlsplit(target.destination)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise BadTransport(f"{target.destination} is not an address.") from None
    schemes = {"https", "http"} if allow_http else {"https"}
    if parts.scheme not in schemes or not host or "@" in parts.netloc:
        raise BadTransport(f"{target.destination} is not an HTTPS address.")
    if not allow_http and not is_callable(target.destination):
        raise BadTransport(f"{target.destination} is not an address on the public network.")


def set_target(connection: Connection, type_id: str, target: Target, *, active: bool) -> None:
    """Let a type's notifications go there, in place of what was set before."""
    connection.execute(
        delete(notification_settings).where(notification_settings.c.type_id == type_id)
    )
    connection.execute(
        insert(notification_settings).values(
            type_id=type_id,
            destination=target.destination,
            transport=target.transport,
            event_types=json.dumps(sorted(set(target.event_types))),
            active=active,
        )
    )


def set_active(connection: Connection, type_id: str, *, active: bool) -> bool:
    """Switch a type's notifications on or off; False where none were set up."""
    changed = connection.execute(
        update(notification_settings)
        .where(notification_settings.c.type_id == type_id)
        .values(active=active)
    )
    return bool(changed.rowcount)


def emit(
    connection: Connection, at: float, event: Event, hit_id: str, assignment_id: str | None = None
) -> None:
    """Store the notification of an event, if its HIT's requester wants to be told."""
    row = connection.execute(
        select(
            hits.c.requester_id,
            hits.c.type_id,
            notification_settings.c.destination,
            notification_settings.c.event_types,
        )
        .join(notification_settings, notification_settings.c.type_id == hits.c.type_id)
        .where(hits.c.id == hit_id, notification_settings.c.active)
    ).one_or_none()
    if row is None or event not in json.loads(row.event_types):
        return
    told = {"EventType": event, "EventTimestamp": _iso(at), "HITTypeId": row.type_id}
    told |= {"HITId": hit_id} | ({"AssignmentId": assignment_id} if assignment_id else {})
    store(connection, at, row.requester_id, row.destination, told)


def ping(
    connection: Connection, now: float, requester_id: str, target: Target, event: Event
) -> None:
    """Store a test notification of any event, whatever the target's filter says."""
    told = {"EventType": event, "EventTimestamp": _iso(now)}
    if event is not Event.PING:
        # A test is of no HIT; readers may expect ids of the right form.
        told |= {"HITTypeId": "T" * 30, "HITId": "H" * 30}
        if event.startswith("Assignment"):
            told |= {"AssignmentId": "A" * 30}
    store(connection, now, requester_id, target.destination, told)


def store(
    connection: Connection, at: float, requester_id: str, destination: str, told: dict[str, str]
) -> None:
    document_id = uuid4().hex
    body = {
        "EventDocVersion": DOCUMENT_VERSION,
        "EventDocId": document_id,
        "CustomerId": requester_id,
        "Events": [told],
    }
    connection.execute(
        insert(deliveries).values(
            id=document_id,
            requester_id=requester_id,
            destination=destination,
            body=json.dumps(body),
            created_at=at,
            tries=0,
            next_try_at=at,
        )
    )


def waiting(connection: Connection, now: float, limit: int) -> Sequence[Delivery]:
    """The notifications whose time has come, oldest first."""
    rows = connection.execute(
        select(
            deliveries.c.n,
            deliveries.c.id,
            deliveries.c.requester_id,
            deliveries.c.destination,
            deliveries.c.body,
            deliveries.c.tries,
            requesters.c.webhook_secret.label("secret"),
        )
        .join(requesters, requesters.c.id == deliveries.c.requester_id)
        .where(deliveries.c.next_try_at <= now)
        .order_by(deliveries.c.n)
        .limit(limit)
    )
    return [Delivery(**row._asdict()) for row in rows]


def delivered(connection: Connection, now: float, n: int) -> None:
    connection.execute(
        update(deliveries)
        .where(deliveries.c.n == n)
        .values(delivered_at=now, next_try_at=None, tries=deliveries.c.tries + 1, error=None)
    )


def failed(connection: Connection, now: float, delivery: Delivery, error: str) -> None:
    """Try again later, or give up."""
    last = delivery.tries >= len(RETRY_AFTER_S)
    connection.execute(
        update(deliveries)
        .where(deliveries.c.n == delivery.n)
        .values(
            tries=delivery.tries + 1,
            next_try_at=None if last else now + RETRY_AFTER_S[delivery.tries],
            error=error[:500],
        )
    )


def postpone(connection: Connection, now: float, others: Sequence[Delivery]) -> None:
    """Leave these for a while: the address that they go to does not answer."""
    if others:
        connection.execute(
            update(deliveries)
            .where(deliveries.c.n.in_([delivery.n for delivery in others]))
            .values(next_try_at=now + RETRY_AFTER_S[0])
        )


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
