"""Work that was handed in at a recruiter and for which the study owes nothing.

Nobody has to pay it, but a platform that hears nothing approves it by itself, and then it costs
its reward and the commission as any other work does. It was handed in by somebody who came and is
owed nothing, or by somebody who never opened our page.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Select, and_, func, select

from dialogs.record.spending import Amounts
from dialogs.record.tables import arrivals, assignments, hits, ledger, releases, team_requests
from dialogs.rules import ArrivalStatus, AssignmentStatus, LedgerReason, LedgerState, RequestKind

HANDED_IN: Final = (
    AssignmentStatus.SUBMITTED,
    AssignmentStatus.APPROVED,
    AssignmentStatus.REJECTED,
)

_BY_RULE: Final = [reason.value for reason in LedgerReason]
_OURS: Final = (arrivals.c.study_id == assignments.c.study_id) & (
    arrivals.c.assignment_id == assignments.c.id
)
_CAME: Final = select(arrivals.c.id).where(_OURS).exists()
_OWED: Final = (
    select(ledger.c.reason)
    .select_from(arrivals.join(ledger, ledger.c.arrival_id == arrivals.c.id))
    .where(_OURS, ledger.c.reason.in_(_BY_RULE), ledger.c.state != LedgerState.CANCELLED.value)
    .exists()
)
# What they will be owed is not known yet, and they are counted among the people who are there.
_INSIDE: Final = (
    select(arrivals.c.id).where(_OURS, arrivals.c.status != ArrivalStatus.RELEASED.value).exists()
)


@dataclass(frozen=True, slots=True)
class NeverCame:
    """Work of somebody who never opened our page, by its assignment's id over there."""

    assignment_id: str
    hit_id: str
    status: AssignmentStatus
    code: str | None


def unowed(
    connection: Connection, study_id: str, recruiter: str, *, approved: bool
) -> list[Amounts]:
    """What such work costs by its reward: with `approved`, what has been approved over there,
    else also what waits for a decision."""
    cost = assignments.c.status == AssignmentStatus.APPROVED.value
    if not approved:
        waits = (assignments.c.status == AssignmentStatus.SUBMITTED.value) & ~_INSIDE
        cost = cost | waits
    query = (
        select(func.count().label("n"), hits.c.reward, hits.c.seats)
        .select_from(assignments.join(hits, hits.c.id == assignments.c.hit_id))
        .where(assignments.c.study_id == study_id, hits.c.recruiter == recruiter, cost, ~_OWED)
        .group_by(hits.c.reward, hits.c.seats)
    )
    return [
        Amounts(row.n, False, row.reward, row.reward, row.seats)
        for row in connection.execute(query)
    ]


def _never_came(study_id: str, statuses: Collection[AssignmentStatus], *what: Any) -> Select[Any]:
    return select(*what).where(
        assignments.c.study_id == study_id,
        assignments.c.status.in_([status.value for status in statuses]),
        ~_CAME,
    )


def never_came(
    connection: Connection, study_id: str, statuses: Collection[AssignmentStatus] = HANDED_IN
) -> list[NeverCame]:
    """Work in these statuses of people who never opened our page, in the order it came in."""
    query = _never_came(study_id, statuses, assignments).order_by(
        assignments.c.submitted_at, assignments.c.id
    )
    return [
        NeverCame(row.id, row.hit_id, AssignmentStatus(row.status), row.code)
        for row in connection.execute(query)
    ]


def undecided_strangers(connection: Connection, study_id: str) -> int:
    """How many pieces of such work wait for a decision over there."""
    query = _never_came(study_id, [AssignmentStatus.SUBMITTED], func.count())
    return int(connection.execute(query).scalar_one())


def handed_in_for_nothing(connection: Connection, study_id: str) -> list[str]:
    """Arrivals that ended, are owed nothing, and whose work waits for a decision over there, or
    whose work the team wanted to refuse and could not, as a bonus was given for it; after them, by
    their assignments, those who never came."""
    kept = select(ledger.c.reason).where(
        ledger.c.arrival_id == arrivals.c.id, ledger.c.state != LedgerState.CANCELLED.value
    )
    refused = (
        select(team_requests.c.id)
        .where(
            team_requests.c.target == arrivals.c.id,
            team_requests.c.kind == RequestKind.REJECT.value,
        )
        .exists()
    )
    query = (
        select(arrivals.c.id)
        .join(releases, releases.c.arrival_id == arrivals.c.id)
        .join(
            assignments,
            and_(
                assignments.c.study_id == arrivals.c.study_id,
                assignments.c.id == arrivals.c.assignment_id,
            ),
        )
        .where(
            arrivals.c.study_id == study_id,
            assignments.c.status == AssignmentStatus.SUBMITTED.value,
            ~kept.exists() | (refused & ~kept.where(ledger.c.reason.in_(_BY_RULE)).exists()),
        )
        .order_by(releases.c.at, arrivals.c.id)
    )
    strangers = never_came(connection, study_id, [AssignmentStatus.SUBMITTED])
    return [*connection.execute(query).scalars(), *(each.assignment_id for each in strangers)]
