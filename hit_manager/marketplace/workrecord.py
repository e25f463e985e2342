"""What workers have taken: the work in hand, what became of the rest, earnings, messages.

Nothing here changes anything. Times are seconds since 1970-01-01 UTC, money US cents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, func, select

from hit_manager.marketplace.errors import NoSuchAssignment
from hit_manager.marketplace.states import AssignmentStatus
from hit_manager.marketplace.tables import (
    assignments,
    bonuses,
    hit_types,
    hits,
    messages,
    requesters,
)

MAX_MESSAGES: Final = 100


@dataclass(frozen=True, slots=True)
class Held:
    """An assignment of the worker's, with what its frame needs."""

    assignment_id: str
    hit_id: str
    title: str
    reward: int
    deadline: float
    status: AssignmentStatus
    question: str


@dataclass(frozen=True, slots=True)
class BonusLine:
    amount: int
    reason: str


@dataclass(frozen=True, slots=True)
class WorkRow:
    """A line of *my work*. `at` is when it came into its state; `n` orders."""

    n: int
    assignment_id: str
    title: str
    requester: str
    reward: int
    status: AssignmentStatus
    at: float
    deadline: float
    auto_approval_at: float | None
    feedback: str | None
    bonuses: tuple[BonusLine, ...]


@dataclass(frozen=True, slots=True)
class Earnings:
    """Cents and counts by state. `submitted` is what awaits review."""

    submitted: int = 0
    submitted_count: int = 0
    approved: int = 0
    approved_count: int = 0
    rejected_count: int = 0
    bonuses: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    requester: str
    subject: str
    text: str
    at: float


_HELD: Final = (
    select(
        assignments.c.id,
        assignments.c.hit_id,
        assignments.c.deadline_at,
        assignments.c.status,
        hit_types.c.title,
        hit_types.c.reward,
        hits.c.question,
    )
    .join(hits, hits.c.id == assignments.c.hit_id)
    .join(hit_types, hit_types.c.id == hits.c.type_id)
)


def held_by(connection: Connection, now: float, worker_id: str) -> list[Held]:
    """What this worker is working on, the most urgent first."""
    rows = connection.execute(
        _HELD.where(
            assignments.c.worker_id == worker_id,
            assignments.c.status == AssignmentStatus.ACCEPTED,
        ).order_by(assignments.c.deadline_at)
    )
    return [_held(row) for row in rows]


def assignment(connection: Connection, now: float, worker_id: str, assignment_id: str) -> Held:
    """An assignment of this worker's, in any state.

    Raises:
        NoSuchAssignment: none of theirs.
    """
    row = connection.execute(
        _HELD.where(assignments.c.id == assignment_id, assignments.c.worker_id == worker_id)
    ).one_or_none()
    if row is None:
        raise NoSuchAssignment("This assignment is not yours, or it does not exist.")
    return _held(row)


def _held(row: Any) -> Held:
    return Held(
        assignment_id=row.id,
        hit_id=row.hit_id,
        title=row.title,
        reward=row.reward,
        deadline=row.deadline_at,
        status=AssignmentStatus(row.status),
        question=row.question,
    )


def my_work(
    connection: Connection, now: float, worker_id: str, before: int | None, limit: int
) -> list[WorkRow]:
    """What this worker has taken, the newest first, at most `limit` older than `before`."""
    older = () if before is None else (assignments.c.n < before,)
    rows = connection.execute(
        select(assignments, hit_types.c.title, hit_types.c.reward, requesters.c.name)
        .join(hits, hits.c.id == assignments.c.hit_id)
        .join(hit_types, hit_types.c.id == hits.c.type_id)
        .join(requesters, requesters.c.id == hits.c.requester_id)
        .where(assignments.c.worker_id == worker_id, *older)
        .order_by(assignments.c.n.desc())
        .limit(limit)
    ).all()
    extra: dict[str, list[BonusLine]] = {}
    for bonus in connection.execute(
        select(bonuses)
        .where(bonuses.c.assignment_id.in_([row.id for row in rows]))
        .order_by(bonuses.c.n)
    ):
        line = BonusLine(bonus.amount, bonus.reason)
        extra.setdefault(bonus.assignment_id, []).append(line)
    return [_work_row(row, tuple(extra.get(row.id, ()))) for row in rows]


def _work_row(row: Row[Any], extra: tuple[BonusLine, ...]) -> WorkRow:
    status = AssignmentStatus(row.status)
    came = {
        AssignmentStatus.ACCEPTED: row.accepted_at,
        AssignmentStatus.SUBMITTED: row.submitted_at,
        AssignmentStatus.APPROVED: row.approved_at,
        AssignmentStatus.REJECTED: row.rejected_at,
        AssignmentStatus.RETURNED: row.ended_at,
        AssignmentStatus.ABANDONED: row.ended_at,
    }
    return WorkRow(
        n=row.n,
        assignment_id=row.id,
        title=row.title,
        requester=row.name,
        # What was paid, even if the HIT has been given another type since.
        reward=row.paid if status is AssignmentStatus.APPROVED else row.reward,
        status=status,
        at=came[status],
        deadline=row.deadline_at,
        auto_approval_at=row.auto_approve_at,
        feedback=row.feedback,
        bonuses=extra,
    )


def earnings(connection: Connection, now: float, worker_id: str) -> Earnings:
    """What this worker has earned and may still earn, over all time."""
    rows = connection.execute(
        select(
            assignments.c.status,
            func.count(),
            func.sum(assignments.c.paid),
            func.sum(hit_types.c.reward),
        )
        .join(hits, hits.c.id == assignments.c.hit_id)
        .join(hit_types, hit_types.c.id == hits.c.type_id)
        .where(assignments.c.worker_id == worker_id)
        .group_by(assignments.c.status)
    )
    found = {status: (count, int(paid), int(reward)) for status, count, paid, reward in rows}
    submitted = found.get(AssignmentStatus.SUBMITTED, (0, 0, 0))
    approved = found.get(AssignmentStatus.APPROVED, (0, 0, 0))
    extra = connection.execute(
        select(func.coalesce(func.sum(bonuses.c.amount), 0)).where(bonuses.c.worker_id == worker_id)
    ).scalar_one()
    return Earnings(
        submitted=submitted[2],
        submitted_count=submitted[0],
        approved=approved[1],
        approved_count=approved[0],
        rejected_count=found.get(AssignmentStatus.REJECTED, (0, 0, 0))[0],
        bonuses=int(extra),
    )


def messages_of(connection: Connection, now: float, worker_id: str) -> list[Message]:
    """The newest messages to this worker."""
    rows = connection.execute(
        select(messages, requesters.c.name)
        .outerjoin(requesters, requesters.c.id == messages.c.requester_id)
        .where(messages.c.worker_id == worker_id)
        .order_by(messages.c.n.desc())
        .limit(MAX_MESSAGES)
    )
    return [Message(r.name or "The marketplace", r.subject, r.text, r.sent_at) for r in rows]
