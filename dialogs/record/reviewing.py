"""What a reviewer looks at: every arrival that ended, with its dialog and what it is owed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

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
    workers,
)
from dialogs.record.unowed import never_came
from dialogs.rules import LedgerState

_URGENCY: Final = [
    state.value
    for state in (
        LedgerState.FAILED,
        LedgerState.HELD,
        LedgerState.OWED,
        LedgerState.APPROVED,
        LedgerState.SENDING,
        LedgerState.PAID,
        LedgerState.CANCELLED,
    )
]


_NOTHING: Final[tuple[int, str | None]] = (0, None)

NEVER_CAME: Final = "never_came"
"""Stands where a release does, of people who handed in and never opened our page."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """One arrival that ended, or, by its assignment's id, work of somebody who never came.

    `messages` are those of its dialog; `state` is that of its payment, of several the one that
    needs a person most; `status` is what the recruiter says of its assignment. `worker` is the
    person's id at the recruiter; None, of who never came.
    """

    arrival_id: str
    assignment_id: str
    release: str
    code: str
    dialog_id: str | None
    image_id: str | None
    outcome: str | None
    acceptance: str | None
    messages: int
    owed_cents: int
    state: str | None
    status: str | None
    worker: str | None = None


def reviewed(connection: Connection, study_id: str) -> list[Reviewed]:
    """All arrivals of a study that ended, in the order in which they did, and after them the work
    of those who never came."""
    messages = connection.execute(
        select(events.c.dialog_id, func.count().label("n"))
        .join(dialogs, dialogs.c.id == events.c.dialog_id)
        .where(dialogs.c.study_id == study_id, events.c.kind == Said.kind)
        .group_by(events.c.dialog_id)
    )
    said: dict[str, int] = {row.dialog_id: row.n for row in messages}
    owed: dict[str, tuple[int, str]] = {}
    for row in connection.execute(
        select(ledger.c.arrival_id, ledger.c.cents, ledger.c.state)
        .join(arrivals, arrivals.c.id == ledger.c.arrival_id)
        .where(arrivals.c.study_id == study_id)
    ):
        cents, state = owed.get(row.arrival_id, (0, row.state))
        more = 0 if row.state == LedgerState.CANCELLED.value else row.cents
        owed[row.arrival_id] = (cents + more, min(state, row.state, key=_URGENCY.index))
    query = (
        select(
            releases,
            arrivals.c.assignment_id,
            workers.c.external_id,
            dialogs.c.outcome,
            dialogs.c.acceptance,
            items.c.image_id,
            assignments.c.status,
        )
        .join(arrivals, arrivals.c.id == releases.c.arrival_id)
        .join(workers, workers.c.id == arrivals.c.worker_id)
        .outerjoin(dialogs, dialogs.c.id == releases.c.dialog_id)
        .outerjoin(items, items.c.id == dialogs.c.item_id)
        .outerjoin(
            assignments,
            (assignments.c.study_id == arrivals.c.study_id)
            & (assignments.c.id == arrivals.c.assignment_id),
        )
        .where(arrivals.c.study_id == study_id)
        .order_by(releases.c.at, releases.c.arrival_id)
    )
    came = [
        Reviewed(
            row.arrival_id,
            row.assignment_id,
            row.release,
            row.code,
            row.dialog_id,
            row.image_id,
            row.outcome,
            row.acceptance,
            said.get(row.dialog_id, 0),
            *owed.get(row.arrival_id, _NOTHING),
            row.status,
            row.external_id,
        )
        for row in connection.execute(query)
    ]
    strangers = [
        Reviewed(
            each.assignment_id,
            each.assignment_id,
            NEVER_CAME,
            each.code or "",
            None,
            None,
            None,
            None,
            0,
            *_NOTHING,
            each.status.value,
        )
        for each in never_came(connection, study_id)
    ]
    return came + strangers
