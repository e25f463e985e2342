"""The audit: what somebody of the team did, when, and what it changed. Never changed itself."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import ColumnElement, Connection, Table, and_, func, or_, select

from dialogs.record.bulk import Row
from dialogs.record.tables import admins, audit

PAGE: Final = 50


def audited(
    study_id: str | None,
    admin_id: str | None,
    action: str,
    target: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    now: float,
) -> tuple[Table, Row]:
    """An insert for the decision that makes the change. Without `admin_id` it was made on the
    command line, without `study_id` it is about all studies of the database.

    What somebody wrote does not belong here: rows of the audit are never changed, not even for who
    asks to be erased.
    """
    row = {
        "id": f"au_{secrets.token_hex(12)}",
        "study_id": study_id,
        "admin_id": admin_id,
        "action": action,
        "target": target,
        "before": None if before is None else orjson.dumps(before).decode(),
        "after": None if after is None else orjson.dumps(after).decode(),
        "at": now,
    }
    return audit, row


def after_of(connection: Connection, audit_id: str) -> str | None:
    """What the row with this id says of how things are after it, as JSON; None if there is none."""
    found: str | None = connection.execute(
        select(audit.c.after).where(audit.c.id == audit_id)
    ).scalar_one_or_none()
    return found


@dataclass(frozen=True, slots=True)
class Audited:
    """One row of the audit; `by` is the admin's name, `before` and `after` are JSON as text."""

    id: str
    at: float
    by: str | None
    action: str
    target: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Some rows, the newest first; `total` of all that match, `next` begins the next page."""

    rows: list[Audited]
    total: int
    next: str | None


def audit_page(
    connection: Connection,
    study_id: str,
    *,
    by: str | None = None,
    action: str | None = None,
    target: str | None = None,
    after: str | None = None,
    limit: int = PAGE,
) -> AuditPage:
    """What was done in a study and to the admins, who are the same in all studies. `by` is an
    admin's name.

    Raises:
        ValueError: `after` is no end of a page, or a text holds what no database can.
    """
    if any("\0" in text for text in (by, action, target, after) if text is not None):
        raise ValueError("this holds a NUL character")
    wanted: list[ColumnElement[bool]] = [
        or_(audit.c.study_id == study_id, audit.c.study_id.is_(None))
    ]
    if by is not None:
        wanted.append(admins.c.name == by)
    if action is not None:
        wanted.append(audit.c.action == action)
    if target is not None:
        wanted.append(audit.c.target == target)
    source = audit.outerjoin(admins, admins.c.id == audit.c.admin_id)
    matching = select(func.count()).select_from(source).where(*wanted)
    if after is not None:
        at, id_ = _end(after)
        wanted.append(or_(audit.c.at < at, and_(audit.c.at == at, audit.c.id < id_)))
    found = connection.execute(
        select(
            audit.c.id,
            audit.c.at,
            admins.c.name.label("by"),
            audit.c.action,
            audit.c.target,
            audit.c.before,
            audit.c.after,
        )
        .select_from(source)
        .where(*wanted)
        .order_by(audit.c.at.desc(), audit.c.id.desc())
        .limit(limit + 1)
    ).all()
    rows = [Audited(**row._mapping) for row in found[:limit]]
    return AuditPage(
        rows,
        connection.execute(matching).scalar_one(),
        f"{rows[-1].at!r},{rows[-1].id}" if len(found) > limit else None,
    )


def _end(text: str) -> tuple[float, str]:
    at, _, id_ = text.partition(",")
    try:
        return float(at), id_
    except ValueError:
        raise ValueError("this is no end of a page") from None
