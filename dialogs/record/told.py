"""What workers have told the team: problems, why they left, and their feedback at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, func, literal, select, union_all

from dialogs.record.tables import arrivals, reports, seats
from dialogs.rules import ReportKind, SeatStatus

FEEDBACK: Final = "feedback"
"""Stands where the kind of a report does, of what people wrote on the page after the end."""


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that a worker told; `kind` is a `ReportKind`, or `FEEDBACK`."""

    at: float
    arrival_id: str
    dialog_id: str | None
    kind: str
    text: str


def told(connection: Connection, study_id: str) -> list[Told]:
    """All that workers of a study have told, oldest first. Who they are does not stand in it."""
    reported = (
        select(reports.c.at, reports.c.arrival_id, reports.c.kind, reports.c.text)
        .join(arrivals, arrivals.c.id == reports.c.arrival_id)
        .where(arrivals.c.study_id == study_id)
    )
    feedback = select(
        arrivals.c.feedback_at, arrivals.c.id, literal(FEEDBACK), arrivals.c.feedback
    ).where(arrivals.c.study_id == study_id, arrivals.c.feedback != "")
    each = union_all(reported, feedback).subquery()
    held = (seats.c.arrival_id == each.c.arrival_id) & (seats.c.status != SeatStatus.GIVEN_UP.value)
    query = (
        select(each, seats.c.dialog_id)
        .outerjoin(seats, held)
        .order_by(each.c.at, each.c.arrival_id, each.c.kind)
    )
    return [
        Told(row.at, row.arrival_id, row.dialog_id, row.kind, row.text)
        for row in connection.execute(query)
    ]


def problems_reported(connection: Connection, study_id: str) -> int:
    """How many problems the workers of a study have reported."""
    query = (
        select(func.count())
        .select_from(reports.join(arrivals, arrivals.c.id == reports.c.arrival_id))
        .where(arrivals.c.study_id == study_id, reports.c.kind == ReportKind.PROBLEM.value)
    )
    return connection.execute(query).scalar_one()
