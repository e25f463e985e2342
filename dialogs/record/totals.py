"""How far a study has come, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, select

from dialogs.events import Said
from dialogs.record.tables import arrivals, dialogs, events, items, ledger, relaunches, releases
from dialogs.rules import LedgerState, Outcome


@dataclass(frozen=True, slots=True)
class Totals:
    """How far a study has come."""

    places: int
    complete: int
    live: int
    solo: int
    abandoned: int
    messages: int
    owed: int
    owed_cents: int
    relaunches: int
    releases: Mapping[str, int]


def study_totals(connection: Connection, study_id: str) -> Totals:
    """Counts over a whole study. `messages` are those of complete dialogs."""

    def count(query: Select[Any]) -> int:
        return int(connection.execute(query).scalar_one() or 0)

    of_study = dialogs.c.study_id == study_id
    by_outcome = {
        row[0]: row[1]
        for row in connection.execute(
            select(dialogs.c.outcome, func.count()).where(of_study).group_by(dialogs.c.outcome)
        )
    }
    said = (
        select(func.count())
        .select_from(events.join(dialogs, dialogs.c.id == events.c.dialog_id))
        .where(of_study, events.c.kind == Said.kind, dialogs.c.outcome == Outcome.COMPLETE.value)
    )
    owed = select(func.count(), func.coalesce(func.sum(ledger.c.cents), 0)).select_from(
        ledger.join(arrivals, arrivals.c.id == ledger.c.arrival_id)
    )
    owed_rows, owed_cents = connection.execute(
        owed.where(arrivals.c.study_id == study_id, ledger.c.state != LedgerState.CANCELLED.value)
    ).one()
    released = connection.execute(
        select(releases.c.release, func.count())
        .select_from(releases.join(arrivals, arrivals.c.id == releases.c.arrival_id))
        .where(arrivals.c.study_id == study_id)
        .group_by(releases.c.release)
    )
    return Totals(
        places=count(select(func.sum(items.c.wanted)).where(items.c.study_id == study_id)),
        complete=by_outcome.get(Outcome.COMPLETE.value, 0),
        live=by_outcome.get(None, 0),
        solo=by_outcome.get(Outcome.SOLO.value, 0),
        abandoned=by_outcome.get(Outcome.ABANDONED.value, 0),
        messages=count(said),
        owed=int(owed_rows),
        owed_cents=int(owed_cents),
        relaunches=count(
            select(func.count())
            .select_from(relaunches.join(dialogs, dialogs.c.id == relaunches.c.dialog_id))
            .where(of_study)
        ),
        releases={row[0]: row[1] for row in released},
    )
