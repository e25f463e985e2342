"""Qualifications: who has which, the system's own among them.

The system's own are computed from this marketplace's record.

Source: Amazon's API reference (the operations; data structure Qualification).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from hit_manager.marketplace import workers
from hit_manager.marketplace.errors import NoSuchQualification, WrongQualificationState
from hit_manager.marketplace.money import MASTERS
from hit_manager.marketplace.qualification_types import own_type
from hit_manager.marketplace.requirements import (
    ADULT,
    NUMBER_APPROVED,
    PERCENT_APPROVED,
    Holdings,
    Locale,
)
from hit_manager.marketplace.states import (
    SHOWN,
    AssignmentStatus,
    QualificationStatus,
    RequestStatus,
)
from hit_manager.marketplace.tables import assignments, qualification_requests, qualifications
from hit_manager.marketplace.tables import workers as workers_table

MANY_SUBMITTED: Final = 100
"""The percentage of approved work stays 100 until so many assignments were submitted."""


@dataclass(frozen=True, slots=True)
class Qualification:
    n: int
    type_id: str
    worker_id: str
    value: int
    status: QualificationStatus
    granted_at: float


def holdings(connection: Connection, worker_id: str) -> Holdings:
    """All that a worker's qualifications say, the system's own among them.

    The percentage is of approved assignments among those approved and rejected, rounded down.
    """
    person = connection.execute(
        select(workers_table).where(workers_table.c.id == worker_id)
    ).one_or_none()
    if person is None:
        return Holdings()
    values = {
        row.type_id: row.value
        for row in connection.execute(
            select(qualifications.c.type_id, qualifications.c.value).where(
                qualifications.c.worker_id == worker_id,
                qualifications.c.status == QualificationStatus.GRANTED,
            )
        )
    }
    counted = connection.execute(
        select(assignments.c.status, func.count())
        .where(assignments.c.worker_id == worker_id, assignments.c.status.in_(SHOWN))
        .group_by(assignments.c.status)
    )
    work: dict[str, int] = {row[0]: row[1] for row in counted}
    approved = work.get(AssignmentStatus.APPROVED, 0)
    reviewed = approved + work.get(AssignmentStatus.REJECTED, 0)
    early = sum(work.values()) < MANY_SUBMITTED or not reviewed
    values[NUMBER_APPROVED] = approved
    values[PERCENT_APPROVED] = 100 if early else approved * 100 // reviewed
    values[ADULT] = int(person.adult)
    if person.master:
        values |= dict.fromkeys(MASTERS, 1)
    locale = Locale(person.country, person.subdivision) if person.country else None
    return Holdings(values, locale)


def grant(
    connection: Connection,
    now: float,
    requester_id: str,
    type_id: str,
    worker_id: str,
    value: int,
    *,
    tell: bool,
) -> None:
    """Grant a qualification, or change its value, and tell the worker.

    Raises:
        NoSuchQualificationType, NotPermitted: not this requester's.
        OutOfRange: there is no such worker.
    """
    name = own_type(connection, requester_id, type_id).draft.name
    workers.require_worker(connection, worker_id)
    put(connection, now, type_id, worker_id, value)
    connection.execute(
        update(qualification_requests)
        .where(
            qualification_requests.c.type_id == type_id,
            qualification_requests.c.worker_id == worker_id,
            qualification_requests.c.status == RequestStatus.PENDING,
        )
        .values(status=RequestStatus.GRANTED, settled_at=now)
    )
    if tell:
        workers.send(
            connection,
            now,
            requester_id,
            worker_id,
            "Qualification granted",
            f"You have been granted the qualification “{name}”.",
        )


def put(connection: Connection, now: float, type_id: str, worker_id: str, value: int) -> None:
    """Let a worker have a qualification with this value from now on."""
    values = {"value": value, "status": QualificationStatus.GRANTED, "granted_at": now}
    changed = connection.execute(
        update(qualifications)
        .where(qualifications.c.type_id == type_id, qualifications.c.worker_id == worker_id)
        .values(**values)
    )
    if not changed.rowcount:
        connection.execute(
            insert(qualifications).values(type_id=type_id, worker_id=worker_id, **values)
        )


def revoke(
    connection: Connection,
    now: float,
    requester_id: str,
    type_id: str,
    worker_id: str,
    reason: str | None,
) -> None:
    """Take a qualification away, and tell the worker the reason if there is one.

    Without a reason nobody is told: there would be nothing to do about it, and it would read like
    a punishment. Whatever HIT needs the qualification says so.

    Raises:
        NoSuchQualificationType, NotPermitted: not this requester's.
        NoSuchQualification, WrongQualificationState: never granted, or revoked already.
    """
    name = own_type(connection, requester_id, type_id).draft.name
    found = score(connection, requester_id, type_id, worker_id)
    connection.execute(
        update(qualifications)
        .where(qualifications.c.n == found.n)
        .values(status=QualificationStatus.REVOKED)
    )
    if reason:
        workers.send(
            connection,
            now,
            requester_id,
            worker_id,
            "A qualification has ended",
            f"The qualification “{name}” no longer applies to you. You need not do anything. "
            f"The reason given: {reason}",
        )


def score(connection: Connection, requester_id: str, type_id: str, worker_id: str) -> Qualification:
    """The qualification that a worker was granted.

    Raises:
        NoSuchQualificationType, NotPermitted: not this requester's.
        NoSuchQualification, WrongQualificationState: never granted, or revoked.
    """
    own_type(connection, requester_id, type_id)
    found = load(
        connection,
        qualifications.c.type_id == type_id,
        qualifications.c.worker_id == worker_id,
        limit=1,
    )
    if not found:
        raise NoSuchQualification(
            f"You requested a Qualification that does not exist for Worker {worker_id}."
        )
    if found[0].status is not QualificationStatus.GRANTED:
        raise WrongQualificationState("This operation can be called with a status of: Granted")
    return found[0]


def load(
    connection: Connection, *where: ColumnElement[bool], limit: int | None = None
) -> list[Qualification]:
    """The qualifications that fulfil conditions on the table, oldest first."""
    rows = connection.execute(
        select(qualifications).where(*where).order_by(qualifications.c.n).limit(limit)
    )
    return [
        Qualification(**row._asdict() | {"status": QualificationStatus(row.status)}) for row in rows
    ]
