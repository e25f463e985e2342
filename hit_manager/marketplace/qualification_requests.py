"""Requests for qualifications: workers ask, requesters grant or refuse.

Source: Amazon's API reference (the operations; data structure QualificationRequest).
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, insert, select, update

from hit_manager.marketplace import workers
from hit_manager.marketplace.errors import (
    NoRetake,
    NoSuchQualificationRequest,
    RetryTooEarly,
    WrongQualificationRequestState,
    WrongQualificationTypeState,
)
from hit_manager.marketplace.ids import entity_id
from hit_manager.marketplace.qualification_types import find_type
from hit_manager.marketplace.qualifications import grant, put
from hit_manager.marketplace.states import RequestStatus, TypeStatus
from hit_manager.marketplace.tables import qualification_requests, qualification_types


@dataclass(frozen=True, slots=True)
class Request:
    """A worker's request for a qualification, with the answers to its test where it has one."""

    n: int
    id: str
    type_id: str
    worker_id: str
    answer: str | None
    status: RequestStatus
    submitted_at: float


def load_requests(
    connection: Connection, *where: ColumnElement[bool], limit: int | None = None
) -> list[Request]:
    """The requests that fulfil conditions on the table, oldest first."""
    table = qualification_requests
    rows = connection.execute(
        select(
            table.c.n,
            table.c.id,
            table.c.type_id,
            table.c.worker_id,
            table.c.answer,
            table.c.status,
            table.c.submitted_at,
        )
        .where(*where)
        .order_by(table.c.n)
        .limit(limit)
    )
    return [Request(**row._asdict() | {"status": RequestStatus(row.status)}) for row in rows]


def accept_request(
    connection: Connection, now: float, requester_id: str, request_id: str, value: int
) -> None:
    """Grant what a worker asked for.

    Raises:
        NoSuchQualificationRequest, WrongQualificationRequestState: none of theirs, or settled.
    """
    request = _own_request(connection, requester_id, request_id)
    grant(connection, now, requester_id, request.type_id, request.worker_id, value, tell=True)


def reject_request(
    connection: Connection, now: float, requester_id: str, request_id: str, reason: str | None
) -> None:
    """Refuse what a worker asked for, and tell them with the reason.

    Raises:
        NoSuchQualificationRequest, WrongQualificationRequestState: none of theirs, or settled.
    """
    request = _own_request(connection, requester_id, request_id)
    connection.execute(
        update(qualification_requests)
        .where(qualification_requests.c.id == request_id)
        .values(status=RequestStatus.REJECTED, settled_at=now, reason=reason)
    )
    name = find_type(connection, request.type_id).draft.name
    workers.send(
        connection,
        now,
        requester_id,
        request.worker_id,
        "Qualification not granted",
        f"You were not granted the qualification “{name}”." + (f" {reason}" if reason else ""),
    )


def ask(
    connection: Connection, now: float, worker_id: str, type_id: str, answer: str | None = None
) -> Request:
    """Ask for a qualification, with the answers to its test; an automatic one is granted.

    Raises:
        NoSuchQualificationType, WrongQualificationTypeState: none that can be asked for.
        NoRetake, RetryTooEarly: asked before.
    """
    wanted = find_type(connection, type_id)
    draft = wanted.draft
    if wanted.requester_id is None or draft.status is not TypeStatus.ACTIVE:
        raise WrongQualificationTypeState("This qualification cannot be requested.")
    table = qualification_requests
    before = load_requests(connection, table.c.type_id == type_id, table.c.worker_id == worker_id)
    if before:
        if draft.retry_delay_s is None:
            raise NoRetake("This qualification can be requested once only.")
        if before[-1].status is RequestStatus.PENDING:
            raise RetryTooEarly("Your request has not been answered yet.")
        if now < before[-1].submitted_at + draft.retry_delay_s:
            raise RetryTooEarly("It is too early to request this qualification again.")
    made = entity_id()
    status = RequestStatus.GRANTED if draft.auto_granted else RequestStatus.PENDING
    connection.execute(
        insert(table).values(
            id=made,
            type_id=type_id,
            worker_id=worker_id,
            answer=answer,
            status=status,
            submitted_at=now,
            settled_at=now if draft.auto_granted else None,
        )
    )
    if draft.auto_granted:
        put(connection, now, type_id, worker_id, draft.auto_value)
    return load_requests(connection, table.c.id == made)[0]


def _own_request(connection: Connection, requester_id: str, request_id: str) -> Request:
    found = load_requests(
        connection,
        qualification_requests.c.id == request_id,
        qualification_requests.c.type_id.in_(
            select(qualification_types.c.id).where(
                qualification_types.c.requester_id == requester_id
            )
        ),
    )
    if not found:
        raise NoSuchQualificationRequest(f"QualificationRequest {request_id} does not exist.")
    if found[0].status is not RequestStatus.PENDING:
        raise WrongQualificationRequestState(
            "This operation can be called with a status of: Pending"
        )
    return found[0]
