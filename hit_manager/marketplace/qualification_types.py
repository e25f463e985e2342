"""Qualification types: made, changed, deleted, found.

An answer key is kept and not applied, unlike at Amazon: every test is judged by its requester.

Source: Amazon's API reference (the operations; data structure QualificationType).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, insert, select, update

from hit_manager.marketplace.errors import (
    InvalidValue,
    NoSuchQualificationType,
    NotPermitted,
    QualificationTypeAlreadyExists,
    WrongQualificationTypeState,
)
from hit_manager.marketplace.ids import entity_id
from hit_manager.marketplace.requirements import SYSTEM_TYPES, Requirement
from hit_manager.marketplace.states import RequestStatus, TypeStatus
from hit_manager.marketplace.tables import qualification_requests, qualification_types


@dataclass(frozen=True, slots=True)
class TypeDraft:
    """What a requester sets of a qualification type. Times are in seconds; no `retry_delay_s`
    means one request ever."""

    name: str
    description: str
    keywords: str
    status: TypeStatus
    test: str | None = None
    answer_key: str | None = None
    test_duration_s: int | None = None
    retry_delay_s: int | None = None
    auto_granted: bool = False
    auto_value: int = 1


@dataclass(frozen=True, slots=True)
class QualificationType:
    """`requester_id` is None for those of the system, which nobody can ask for."""

    n: int
    id: str
    requester_id: str | None
    created_at: float
    draft: TypeDraft


def check_draft(draft: TypeDraft) -> None:
    """Look at what belongs together.

    Raises:
        InvalidValue: a combination that the reference excludes.
    """
    if draft.test is not None and draft.auto_granted:
        raise InvalidValue("A Qualification type with a Test cannot be AutoGranted.")
    if draft.test is not None and draft.test_duration_s is None:
        raise InvalidValue("A Test needs TestDurationInSeconds.")
    if draft.answer_key is not None and draft.test is None:
        raise InvalidValue("An AnswerKey needs a Test.")


def create_type(
    connection: Connection, now: float, requester_id: str, draft: TypeDraft
) -> QualificationType:
    """Make a qualification type.

    Raises:
        QualificationTypeAlreadyExists: the requester has one of that name.
        InvalidValue: a combination that the reference excludes.
    """
    check_draft(draft)
    same = select(qualification_types.c.id).where(
        qualification_types.c.requester_id == requester_id,
        qualification_types.c.name == draft.name,
        qualification_types.c.deleted_at.is_(None),
    )
    if connection.execute(same).first():
        raise QualificationTypeAlreadyExists(
            f"You have already created a QualificationType with this name: {draft.name}"
        )
    made = entity_id()
    connection.execute(
        insert(qualification_types).values(
            id=made, requester_id=requester_id, created_at=now, **_columns(draft)
        )
    )
    return find_type(connection, made)


def update_type(
    connection: Connection, requester_id: str, type_id: str, draft: TypeDraft
) -> QualificationType:
    """Give a qualification type these properties; its name and keywords stay.

    Raises:
        NoSuchQualificationType: not this requester's.
        InvalidValue: a combination that the reference excludes, or retries switched off.
    """
    before = own_type(connection, requester_id, type_id).draft
    check_draft(draft)
    if before.retry_delay_s is not None and draft.retry_delay_s is None:
        raise InvalidValue("Retries cannot be disabled.")
    connection.execute(
        update(qualification_types)
        .where(qualification_types.c.id == type_id)
        .values(**_columns(draft))
    )
    return find_type(connection, type_id)


def delete_type(connection: Connection, now: float, requester_id: str, type_id: str) -> None:
    """Delete a qualification type. What was granted stays; open requests are rejected.

    Raises:
        NoSuchQualificationType: not this requester's.
    """
    own_type(connection, requester_id, type_id)
    connection.execute(
        update(qualification_types)
        .where(qualification_types.c.id == type_id)
        .values(deleted_at=now)
    )
    connection.execute(
        update(qualification_requests)
        .where(
            qualification_requests.c.type_id == type_id,
            qualification_requests.c.status == RequestStatus.PENDING,
        )
        .values(status=RequestStatus.REJECTED, settled_at=now)
    )


def find_type(connection: Connection, type_id: str) -> QualificationType:
    """A type of anybody's, or of the system's.

    Raises:
        NoSuchQualificationType: none, or deleted.
    """
    if type_id in SYSTEM_TYPES:
        name = SYSTEM_TYPES[type_id]
        return QualificationType(
            0, type_id, None, 0.0, TypeDraft(name, name, "", TypeStatus.ACTIVE)
        )
    found = load_types(connection, qualification_types.c.id == type_id, limit=1)
    if not found:
        raise NoSuchQualificationType(f"QualificationType {type_id} does not exist.")
    return found[0]


def own_type(connection: Connection, requester_id: str, type_id: str) -> QualificationType:
    """A type of this requester's.

    Raises:
        NoSuchQualificationType: there is none.
        NotPermitted: it is somebody else's.
    """
    found = find_type(connection, type_id)
    if found.requester_id != requester_id:
        raise NotPermitted(f"QualificationType {type_id} is not one of yours.")
    return found


def load_types(
    connection: Connection, *where: ColumnElement[bool], limit: int | None = None
) -> list[QualificationType]:
    """The types that are not deleted and fulfil conditions on the table, oldest first."""
    rows = connection.execute(
        select(qualification_types)
        .where(qualification_types.c.deleted_at.is_(None), *where)
        .order_by(qualification_types.c.n)
        .limit(limit)
    )
    return [_type(row) for row in rows]


def check_requirements(connection: Connection, requirements: Sequence[Requirement]) -> None:
    """Make sure that new HITs can ask for these.

    Raises:
        NoSuchQualificationType, WrongQualificationTypeState: none, or not active.
    """
    for requirement in requirements:
        found = find_type(connection, requirement.type_id)
        if found.draft.status is not TypeStatus.ACTIVE:
            raise WrongQualificationTypeState(
                f"QualificationType {requirement.type_id} is not active."
            )


def _columns(draft: TypeDraft) -> dict[str, Any]:
    return {
        "name": draft.name,
        "description": draft.description,
        "keywords": draft.keywords,
        "status": draft.status,
        "test": draft.test,
        "answer_key": draft.answer_key,
        "test_duration_s": draft.test_duration_s,
        "retry_delay_s": draft.retry_delay_s,
        "auto_granted": draft.auto_granted,
        "auto_value": draft.auto_value,
    }


def _type(row: Row[Any]) -> QualificationType:
    values = row._asdict()
    draft = TypeDraft(
        **{name: values[name] for name in TypeDraft.__slots__} | {"status": TypeStatus(row.status)}
    )
    return QualificationType(row.n, row.id, row.requester_id, row.created_at, draft)
