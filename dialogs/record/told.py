"""What workers have told the team: problems, why they left, and their feedback at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Select, Subquery, func, literal, select, true, union_all

from dialogs.record.listing import PAGE, Cursor, older
from dialogs.record.tables import arrivals, reports, seats
from dialogs.rules import ReportKind, SeatStatus, ToldKind

LATELY_S: Final = 3600.0
"""For so long a problem that was reported is called new, in seconds."""


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that a worker told."""

    at: float
    arrival_id: str
    dialog_id: str | None
    kind: ToldKind
    text: str


@dataclass(frozen=True, slots=True)
class ToldBy(Told):
    """The same with an id of its own, and whose it is."""

    id: str
    worker_id: str


def told(connection: Connection, study_id: str) -> list[Told]:
    """All that workers of a study have told, oldest first. Who they are does not stand in it."""
    return [
        Told(row.at, row.arrival_id, row.dialog_id, ToldKind(row.kind), row.text)
        for row in connection.execute(_with_dialogs(_all(study_id)))
    ]


def listed_told(
    connection: Connection, study_id: str, kind: ToldKind | None = None, after: Cursor | None = None
) -> tuple[list[ToldBy], int, Cursor | None]:
    """A page of what workers have told, the newest first, how much there is in all, and where the
    next page begins."""
    each = _all(study_id)
    wanted = each.c.kind == kind.value if kind is not None else true()
    total = connection.execute(select(func.count()).select_from(each).where(wanted)).scalar_one()
    beyond = older(each.c.at, each.c.id, after) if after is not None else true()
    page = (
        select(each)
        .where(wanted, beyond)
        .order_by(each.c.at.desc(), each.c.id.desc())
        .limit(PAGE + 1)
        .subquery()
    )
    query = _with_dialogs(page).order_by(None).order_by(page.c.at.desc(), page.c.id.desc())
    rows = [
        ToldBy(
            row.at,
            row.arrival_id,
            row.dialog_id,
            ToldKind(row.kind),
            row.text,
            row.id,
            row.worker_id,
        )
        for row in connection.execute(query)
    ]
    following = (rows[PAGE - 1].at, rows[PAGE - 1].id) if len(rows) > PAGE else None
    return rows[:PAGE], total, following


def _all(study_id: str) -> Subquery:
    reported = (
        select(
            reports.c.id,
            reports.c.at,
            reports.c.arrival_id,
            arrivals.c.worker_id,
            reports.c.kind,
            reports.c.text,
        )
        .join(arrivals, arrivals.c.id == reports.c.arrival_id)
        .where(arrivals.c.study_id == study_id)
    )
    feedback = select(
        ("feedback-" + arrivals.c.id).label("id"),
        arrivals.c.feedback_at,
        arrivals.c.id,
        arrivals.c.worker_id,
        literal(ToldKind.FEEDBACK.value),
        arrivals.c.feedback,
    ).where(arrivals.c.study_id == study_id, arrivals.c.feedback != "")
    return union_all(reported, feedback).subquery()


def _with_dialogs(each: Subquery) -> Select[Any]:
    held = (seats.c.arrival_id == each.c.arrival_id) & (seats.c.status != SeatStatus.GIVEN_UP.value)
    return (
        select(each, seats.c.dialog_id)
        .outerjoin(seats, held)
        .order_by(each.c.at, each.c.arrival_id, each.c.kind)
    )


def problems_reported(connection: Connection, study_id: str, since: float = 0.0) -> int:
    """How many problems the workers of a study have reported since then."""
    query = (
        select(func.count())
        .select_from(reports.join(arrivals, arrivals.c.id == reports.c.arrival_id))
        .where(
            arrivals.c.study_id == study_id,
            reports.c.kind == ReportKind.PROBLEM.value,
            reports.c.at >= since,
        )
    )
    return connection.execute(query).scalar_one()
