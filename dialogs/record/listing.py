"""Dialogs in lists, with what is told of each at a glance. Lists come in pages, the newest first.

Times are seconds since 1970-01-01 UTC.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from dialogs.events import Said
from dialogs.record.endings import ENDING, ended_so
from dialogs.record.queries import chunks
from dialogs.record.tables import admins, dialogs, events, findings, items, judgements, seats
from dialogs.rules import Acceptance, Ending, Outcome, Phase

PAGE: Final = 50
"""Rows of a page."""

Cursor = tuple[float, str]
"""The time and id of the last row of a page: the next one begins after it."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which dialogs; what is None does not matter. `since` and `until` are about the opening."""

    phase: Phase | None = None
    outcome: Ending | None = None
    acceptance: Acceptance | None = None
    flag: str | None = None
    worker: str | None = None
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A dialog in a list. `flags` are the kinds of its findings, `workers` who held its seats, and
    `judged_by` the names of those who judged it."""

    id: str
    image_id: str
    caption: str
    place: int
    phase: Phase
    outcome: Outcome | None
    ending: Ending | None
    acceptance: Acceptance | None
    opened_at: float
    ended_at: float | None
    messages: int
    flags: tuple[str, ...]
    workers: tuple[str, ...]
    judged_by: tuple[str, ...]


def matching(study_id: str, filters: Filters) -> ColumnElement[bool]:
    """The condition on `dialogs` that these filters are."""
    wanted: list[ColumnElement[bool]] = [dialogs.c.study_id == study_id]
    for column, value in (
        (dialogs.c.phase, filters.phase),
        (dialogs.c.acceptance, filters.acceptance),
    ):
        if value is not None:
            wanted.append(column == value.value)
    if filters.outcome is not None:
        wanted.append(ended_so(filters.outcome))
    # By what they find, and not dialog by dialog: that is the fewer rows by far.
    if filters.flag is not None:
        flagged = select(findings.c.dialog_id).where(findings.c.flag == filters.flag)
        wanted.append(dialogs.c.id.in_(flagged))
    if filters.worker is not None:
        theirs = select(seats.c.dialog_id).where(seats.c.worker_id == filters.worker)
        wanted.append(dialogs.c.id.in_(theirs))
    if filters.since is not None:
        wanted.append(dialogs.c.opened_at >= filters.since)
    if filters.until is not None:
        wanted.append(dialogs.c.opened_at < filters.until)
    return and_(*wanted)


def listed(
    connection: Connection, study_id: str, filters: Filters, after: Cursor | None = None
) -> tuple[list[Listed], int, Cursor | None]:
    """A page of the dialogs that match, how many match in all, and where the next page begins."""
    condition = matching(study_id, filters)
    total = connection.execute(
        select(func.count()).select_from(dialogs).where(condition)
    ).scalar_one()
    query = (
        select(dialogs, ENDING.label("ending"), items.c.image_id, items.c.caption)
        .join(items, items.c.id == dialogs.c.item_id)
        .where(condition)
        .order_by(dialogs.c.opened_at.desc(), dialogs.c.id.desc())
        .limit(PAGE + 1)
    )
    if after is not None:
        query = query.where(older(dialogs.c.opened_at, dialogs.c.id, after))
    rows = connection.execute(query).all()
    following = (rows[PAGE - 1].opened_at, rows[PAGE - 1].id) if len(rows) > PAGE else None
    return _complete(connection, rows[:PAGE]), total, following


def older(at: Any, id_: Any, after: Cursor) -> ColumnElement[bool]:
    """What comes after this cursor in a list that begins with the newest."""
    when, which = after
    return or_(at < when, and_(at == when, id_ < which))


def dialogs_of_worker(connection: Connection, worker_id: str, most: int) -> list[Listed]:
    """Somebody's latest dialogs."""
    query = (
        select(dialogs, ENDING.label("ending"), items.c.image_id, items.c.caption)
        .join(items, items.c.id == dialogs.c.item_id)
        .join(seats, seats.c.dialog_id == dialogs.c.id)
        .where(seats.c.worker_id == worker_id)
        .order_by(dialogs.c.opened_at.desc(), dialogs.c.id.desc())
        .limit(most)
    )
    return _complete(connection, connection.execute(query).all())


def _complete(connection: Connection, rows: Sequence[Any]) -> list[Listed]:
    ids = [row.id for row in rows]
    messages = _messages(connection, ids)
    flags = _together(
        connection,
        select(findings.c.dialog_id, findings.c.flag).order_by(findings.c.number),
        findings.c.dialog_id,
        ids,
    )
    people = _together(
        connection,
        select(seats.c.dialog_id, seats.c.worker_id).order_by(seats.c.role.desc()),
        seats.c.dialog_id,
        ids,
    )
    judges = _together(
        connection,
        select(judgements.c.dialog_id, admins.c.name)
        .join(admins, admins.c.id == judgements.c.admin_id)
        .order_by(judgements.c.at),
        judgements.c.dialog_id,
        ids,
    )
    return [
        Listed(
            row.id,
            row.image_id,
            row.caption,
            row.place,
            Phase(row.phase),
            Outcome(row.outcome) if row.outcome else None,
            Ending(row.ending) if row.ending else None,
            Acceptance(row.acceptance) if row.acceptance else None,
            row.opened_at,
            row.ended_at,
            messages.get(row.id, 0),
            tuple(flags[row.id]),
            tuple(people[row.id]),
            tuple(judges[row.id]),
        )
        for row in rows
    ]


def _messages(connection: Connection, ids: Collection[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for chunk in chunks(ids):
        query = (
            select(events.c.dialog_id, func.count())
            .where(events.c.dialog_id.in_(chunk), events.c.kind == Said.kind)
            .group_by(events.c.dialog_id)
        )
        found.update({row[0]: row[1] for row in connection.execute(query)})
    return found


def _together(
    connection: Connection, query: Any, key: Any, ids: Collection[str]
) -> dict[str, list[str]]:
    """The second column of `query` for each of `ids`, each value once."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for chunk in chunks(ids):
        for id_, value in connection.execute(query.where(key.in_(chunk))):
            found[id_][value] = None
    return defaultdict(list, {id_: list(values) for id_, values in found.items()})
