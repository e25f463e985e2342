"""Blocks, messages to workers, and notifications to requesters."""

from __future__ import annotations

from typing import Any

from hit_manager.marketplace import hit_types, notifications, workers
from hit_manager.marketplace.api.call import Call
from hit_manager.marketplace.errors import InvalidValue, OutOfRange
from hit_manager.marketplace.notifications import Target
from hit_manager.marketplace.states import Event

MOST_ADDRESSED = 100


def create_block(call: Call) -> dict[str, Any]:
    reason = call.limited("Reason", 2000, least=1) or ""
    worker_id = call.given["WorkerId"]
    workers.block(call.connection, call.now, call.requester_id, worker_id, reason)
    return {}


def delete_block(call: Call) -> dict[str, Any]:
    workers.unblock(call.connection, call.now, call.requester_id, call.given["WorkerId"])
    return {}


def list_blocks(call: Call) -> dict[str, Any]:
    after = call.after() or [0]
    size = call.page_size + 1
    rows = workers.list_blocks(call.connection, call.requester_id, after[0], size)
    return call.page(
        "WorkerBlocks",
        rows,
        lambda block: {"WorkerId": block.worker_id, "Reason": block.reason},
        lambda block: [block.n],
    )


def notify(call: Call) -> dict[str, Any]:
    """Those who cannot be told are listed in the answer; the others are told."""
    subject = call.limited("Subject", 200, least=1) or ""
    text = call.limited("MessageText", 4096, least=1) or ""
    ids: list[str] = call.given["WorkerIds"]
    if not 1 <= len(ids) <= MOST_ADDRESSED:
        raise OutOfRange(f"WorkerIds has {len(ids)} ids. Valid are 1 to {MOST_ADDRESSED}.")
    failures = []
    # Whoever is named twice is told once.
    for worker_id in dict.fromkeys(ids):
        if workers.knows(call.connection, call.requester_id, worker_id):
            workers.send(call.connection, call.now, call.requester_id, worker_id, subject, text)
            continue
        failures.append(
            {
                "NotifyWorkersFailureCode": "HardFailure",
                "NotifyWorkersFailureMessage": (
                    "You can only message Workers whose work you have approved or rejected."
                ),
                "WorkerId": worker_id,
            }
        )
    return {"NotifyWorkersFailureStatuses": failures}


def update_notification_settings(call: Call) -> dict[str, Any]:
    type_id: str = call.given["HITTypeId"]
    hit_types.require_type(call.connection, call.requester_id, type_id)
    given, active = call.get("Notification"), call.get("Active")
    if given is not None:
        target = _target(call, given, test=False)
        notifications.set_target(
            call.connection, type_id, target, active=True if active is None else active
        )
    elif active is None:
        raise InvalidValue("Give Notification or Active.")
    elif not notifications.set_active(call.connection, type_id, active=active):
        raise InvalidValue(f"HITType {type_id} has no notifications set up.")
    return {}


def send_test_event(call: Call) -> dict[str, Any]:
    target = _target(call, call.given["Notification"], test=True)
    event = Event(call.given["TestEventType"])
    notifications.ping(call.connection, call.now, call.requester_id, target, event)
    return {}


def _target(call: Call, given: dict[str, Any], *, test: bool) -> Target:
    if given["Version"] not in notifications.VERSIONS:
        raise InvalidValue(f"Version has to be one of {sorted(notifications.VERSIONS)}.")
    if not given["EventTypes"]:
        raise InvalidValue("EventTypes is empty.")
    target = Target(
        given["Destination"], given["Transport"], tuple(Event(e) for e in given["EventTypes"])
    )
    notifications.check_target(target, test=test, allow_http=call.allow_http)
    return target
