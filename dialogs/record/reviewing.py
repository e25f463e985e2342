"""What a reviewer looks at: every arrival that ended, with its dialog and what it is owed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from dialogs.events import Said
from dialogs.record.tables import (
    arrivals,
    assignments,
    dialogs,
    events,
    items,
    ledger,
    releases,
)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """One arrival that ended. `messages` are those of its dialog; `state` is its payment's,
    `status` what the recruiter says of its assignment."""

    arrival_id: str
    assignment_id: str
    release: str
    code: str
    dialog_id: str | None
    image_id: str | None
    outcome: str | None
    messages: int
    owed_cents: int
    state: str | None
    status: str | None


def reviewed(connection: Connection, study_id: str) -> list[Reviewed]:
    """All arrivals of a study that ended, in the order in which they did."""
    said: dict[str, int] = dict(
        connection.execute(
            select(events.c.dialog_id, func.count())
            .join(dialogs, dialogs.c.id == events.c.dialog_id)
            .where(dialogs.c.study_id == study_id, events.c.kind == Said.kind)
            .group_by(events.c.dialog_id)
        )
        .tuples()
        .all()
    )
    owed = (
        select(
            ledger.c.arrival_id,
            func.sum(ledger.c.cents).label("cents"),
            func.min(ledger.c.state).label("state"),
        )
        .group_by(ledger.c.arrival_id)
        .subquery()
    )
    query = (
        select(
            releases,
            arrivals.c.assignment_id,
            dialogs.c.outcome,
            items.c.image_id,
            owed.c.cents,
            owed.c.state,
            assignments.c.status,
        )
        .join(arrivals, arrivals.c.id == releases.c.arrival_id)
        .outerjoin(dialogs, dialogs.c.id == releases.c.dialog_id)
        .outerjoin(items, items.c.id == dialogs.c.item_id)
        .outerjoin(owed, owed.c.arrival_id == releases.c.arrival_id)
        .outerjoin(
            assignments,
            (assignments.c.study_id == arrivals.c.study_id)
            & (assignments.c.id == arrivals.c.assignment_id),
        )
        .where(arrivals.c.study_id == study_id)
        .order_by(releases.c.at, releases.c.arrival_id)
    )
    return [
        Reviewed(
            row.arrival_id,
            row.assignment_id,
            row.release,
            row.code,
            row.dialog_id,
            row.image_id,
            row.outcome,
            said.get(row.dialog_id, 0),
            int(row.cents or 0),
            row.state,
            row.status,
        )
        for row in connection.execute(query)
    ]
