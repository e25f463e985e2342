"""Excluding a worker from a study: they get no new arrival and no new dialog, until the team allows
it again. What they have begun they finish, and are paid for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, select

from dialogs.record.bulk import RowUpdate
from dialogs.record.queries import chunks
from dialogs.record.tables import arrivals, workers
from dialogs.record.writer import Change, Decision
from dialogs.rules import ArrivalStatus

_EXCLUDED: Final = RowUpdate(
    lambda p: (
        workers.update()
        .where(workers.c.id == p["worker"], workers.c.excluded_at.is_(None))
        .values(excluded_at=p["now"], excluded_why=p["why"])
    ),
    worker=workers.c.id,
    now=workers.c.excluded_at,
    why=workers.c.excluded_why,
)
_ALLOWED: Final = RowUpdate(
    lambda p: (
        workers.update()
        .where(workers.c.id == p["worker"], workers.c.excluded_at.is_not(None))
        .values(excluded_at=None, excluded_why=None)
    ),
    worker=workers.c.id,
)


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker, as their recruiter knows them, and whether the team has excluded them."""

    id: str
    study_id: str
    recruiter: str
    external_id: str
    excluded_at: float | None
    excluded_why: str | None


def excluded(worker_id: str, why: str, now: float) -> Decision:
    """The worker gets no new arrival and no new dialog; conflicts if they are excluded already."""
    params = {"worker": worker_id, "now": now, "why": why}
    return Decision(worker_id, (), (Change(_EXCLUDED, params),))


def allowed_again(worker_id: str) -> Decision:
    """The worker may take part again; conflicts if they may already."""
    return Decision(worker_id, (), (Change(_ALLOWED, {"worker": worker_id}),))


def workers_by_id(connection: Connection, ids: Collection[str]) -> dict[str, WorkerRow]:
    return {
        row.id: WorkerRow(
            row.id,
            row.study_id,
            row.recruiter,
            row.external_id,
            row.excluded_at,
            row.excluded_why,
        )
        for chunk in chunks(ids)
        for row in connection.execute(select(workers).where(workers.c.id.in_(chunk)))
    }


def excluded_outside(connection: Connection, study_id: str) -> list[str]:
    """The arrivals of excluded workers that hold no seat and are not released."""
    outside = [ArrivalStatus.ARRIVED.value, ArrivalStatus.WAITING.value]
    query = (
        select(arrivals.c.id)
        .join(workers, workers.c.id == arrivals.c.worker_id)
        .where(
            arrivals.c.study_id == study_id,
            arrivals.c.status.in_(outside),
            workers.c.excluded_at.is_not(None),
        )
        .order_by(arrivals.c.id)
    )
    return list(connection.execute(query).scalars())
