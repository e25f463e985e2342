"""Assignments: accepted, returned, abandoned, submitted, approved, rejected.

    accepted → submitted → approved
       ↓  ↓        ↓           ↑ within 30 days, by override
    returned     rejected ─────┘
      abandoned

`settle` does what time does: expired HITs, missed deadlines, automatic approval.

Sources: Amazon's API reference, the operations of the same names and the data structure
Assignment; the state `Reviewable` in its messages is what it shows as `Submitted`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, insert, literal, select, update

from hit_manager.marketplace import hits, money
from hit_manager.marketplace.errors import (
    AssignmentAlreadyExists,
    Blocked,
    DoesNotMeetRequirements,
    NoMoreAssignments,
    NoSuchAssignment,
    WrongAssignmentState,
    WrongHitState,
)
from hit_manager.marketplace.ids import entity_id
from hit_manager.marketplace.notifications import emit
from hit_manager.marketplace.qualifications import holdings
from hit_manager.marketplace.requirements import allowed
from hit_manager.marketplace.states import (
    HOLDING,
    SHOWN,
    Action,
    AssignmentStatus,
    Event,
    HitStatus,
)
from hit_manager.marketplace.tables import assignments, blocks
from hit_manager.marketplace.tables import hits as hits_table

OVERRIDE_WITHIN_S: Final = 30 * 86_400


@dataclass(frozen=True, slots=True)
class Assignment:
    """One worker's hold on a HIT. `paid` and `fee` are cents, set when it is approved."""

    n: int
    id: str
    hit_id: str
    worker_id: str
    status: AssignmentStatus
    accepted_at: float
    deadline_at: float
    submitted_at: float | None
    auto_approve_at: float | None
    approved_at: float | None
    rejected_at: float | None
    due_at: float | None
    ended_at: float | None
    answer: str | None
    feedback: str | None
    paid: int
    fee: int


def load(
    connection: Connection,
    *where: ColumnElement[bool],
    order_by: Sequence[ColumnElement[Any]] = (assignments.c.n,),
    limit: int | None = None,
) -> list[Assignment]:
    """The assignments that fulfil conditions on the table, oldest first."""
    rows = connection.execute(select(assignments).where(*where).order_by(*order_by).limit(limit))
    return [_assignment(row) for row in rows]


def find(connection: Connection, assignment_id: str) -> Assignment | None:
    """An assignment in any state."""
    found = load(connection, assignments.c.id == assignment_id, limit=1)
    return found[0] if found else None


def get_shown(
    connection: Connection, now: float, requester_id: str, assignment_id: str
) -> tuple[Assignment, hits.Hit]:
    """A submitted assignment of a requester's, with its HIT.

    Raises:
        NoSuchAssignment: none, or of somebody else.
        WrongAssignmentState: not submitted, or of a HIT that was disposed of.
    """
    assignment, hit = of_requester(connection, now, requester_id, assignment_id)
    if hit.status is HitStatus.DISPOSED:
        raise NoSuchAssignment(f"Assignment {assignment_id} does not exist.")
    if assignment.status not in SHOWN:
        raise WrongAssignmentState(
            "This operation can be called with a status of: Reviewable,Approved,Rejected"
        )
    return assignment, hit


def accept(connection: Connection, now: float, worker_id: str, hit_id: str) -> Assignment:
    """Let a worker take a slot of a HIT.

    Raises:
        NoSuchHit: there is none.
        AssignmentAlreadyExists: this worker holds it, or has done it.
        Blocked, DoesNotMeetRequirements: this worker may not.
        NoMoreAssignments: all slots are taken, or its time is over.
    """
    hit = hits.get(connection, now, hit_id)
    holds = assignments.c.status.in_(HOLDING)
    mine = (assignments.c.hit_id == hit_id, assignments.c.worker_id == worker_id)
    if load(connection, *mine, holds, limit=1):
        raise AssignmentAlreadyExists("You have accepted this HIT before.")
    if hit.status is not HitStatus.ASSIGNABLE or not hit.free:
        raise NoMoreAssignments("There are no more assignments of this HIT available.")
    if is_blocked(connection, hit.requester_id, worker_id):
        raise Blocked("You cannot work on HITs of this requester.")
    if not allowed(hit.type.requirements, holdings(connection, worker_id), Action.ACCEPT):
        raise DoesNotMeetRequirements("You do not meet the requirements of this HIT.")
    assignment_id = entity_id()
    connection.execute(
        insert(assignments).values(
            id=assignment_id,
            hit_id=hit_id,
            worker_id=worker_id,
            status=AssignmentStatus.ACCEPTED,
            accepted_at=now,
            deadline_at=now + hit.type.duration_s,
            due_at=now + hit.type.duration_s,
        )
    )
    emit(connection, now, Event.ASSIGNMENT_ACCEPTED, hit_id, assignment_id)
    hits.refresh(connection, now, hit_id)
    return _require(connection, assignment_id)


def is_blocked(connection: Connection, requester_id: str, worker_id: str) -> bool:
    return (
        connection.execute(
            select(literal(1)).where(
                blocks.c.requester_id == requester_id, blocks.c.worker_id == worker_id
            )
        ).first()
        is not None
    )


def give_back(connection: Connection, now: float, worker_id: str, assignment_id: str) -> Assignment:
    """Return an accepted assignment; its slot is free again. Once returned, it stays so.

    Raises:
        NoSuchAssignment: not this worker's.
        WrongAssignmentState: submitted already, or run out.
    """
    assignment = find(connection, assignment_id)
    if assignment is None or assignment.worker_id != worker_id:
        raise NoSuchAssignment("This assignment does not exist.")
    if assignment.status is AssignmentStatus.RETURNED:
        return assignment
    if assignment.status is not AssignmentStatus.ACCEPTED:
        raise WrongAssignmentState("Only work that is not submitted can be returned.")
    return _end(connection, now, assignment, AssignmentStatus.RETURNED, at=now)


def submit(connection: Connection, now: float, assignment_id: str, answer: str) -> Assignment:
    """Submit an accepted assignment with its answer, a QuestionFormAnswers document.

    Who submits again is told that it is submitted; the first answer stays. With no delay of
    approval it is approved at once.

    Raises:
        NoSuchAssignment: there is none.
        WrongAssignmentState: returned, or its time is over.
    """
    assignment = _require(connection, assignment_id)
    if assignment.status in SHOWN:
        return assignment
    if assignment.status is not AssignmentStatus.ACCEPTED:
        raise WrongAssignmentState("The time for this assignment is over, or it was returned.")
    hit = hits.get(connection, now, assignment.hit_id)
    _set(
        connection,
        assignment_id,
        status=AssignmentStatus.SUBMITTED,
        submitted_at=now,
        auto_approve_at=now + hit.type.auto_approval_s,
        due_at=now + hit.type.auto_approval_s,
        answer=answer,
    )
    emit(connection, now, Event.ASSIGNMENT_SUBMITTED, hit.id, assignment_id)
    hits.refresh(connection, now, hit.id)
    if not hit.type.auto_approval_s:
        _approve(connection, now, _require(connection, assignment_id), None, at=now)
    return _require(connection, assignment_id)


def approve(
    connection: Connection,
    now: float,
    requester_id: str,
    assignment_id: str,
    feedback: str | None,
    *,
    override: bool = False,
) -> None:
    """Approve a submitted assignment and pay for it; with `override` also a rejected one.

    Raises:
        NoSuchAssignment: none, or of somebody else.
        WrongAssignmentState: in no state to be approved.
        InsufficientFunds: the override cannot be paid.
    """
    assignment, hit = of_requester(connection, now, requester_id, assignment_id)
    if assignment.status is AssignmentStatus.REJECTED and override:
        if hit.status is HitStatus.DISPOSED:
            raise WrongHitState(f"Hit {hit.id} was disposed of.")
        if now > (assignment.submitted_at or 0) + OVERRIDE_WITHIN_S:
            raise WrongAssignmentState(
                f"Assignment {assignment_id} was submitted more than 30 days ago."
            )
    elif assignment.status is not AssignmentStatus.SUBMITTED:
        raise WrongAssignmentState("This operation can be called with a status of: Submitted")
    _approve(connection, now, assignment, feedback, at=now)


def reject(
    connection: Connection, now: float, requester_id: str, assignment_id: str, feedback: str
) -> None:
    """Reject a submitted assignment; what was held for it comes back.

    Raises:
        NoSuchAssignment, WrongAssignmentState: none, or not submitted.
    """
    assignment, hit = of_requester(connection, now, requester_id, assignment_id)
    if assignment.status is not AssignmentStatus.SUBMITTED:
        raise WrongAssignmentState("This operation can be called with a status of: Submitted")
    _set(
        connection,
        assignment_id,
        status=AssignmentStatus.REJECTED,
        rejected_at=now,
        due_at=None,
        feedback=feedback,
    )
    emit(connection, now, Event.ASSIGNMENT_REJECTED, hit.id, assignment_id)
    hits.refresh(connection, now, hit.id)


def due(connection: Connection, now: float) -> bool:
    """Whether time has changed anything that is not settled."""
    return any(
        connection.execute(select(literal(1)).where(table.c.due_at <= now).limit(1)).first()
        for table in (hits_table, assignments)
    )


def settle(connection: Connection, now: float, limit: int | None = None) -> None:
    """Do what time has done, of HITs and of assignments at most `limit` each.

    All is dated when it became due, not when it was noticed.
    """
    expired = connection.execute(
        select(hits_table.c.id, hits_table.c.due_at)
        .where(hits_table.c.due_at <= now)
        .order_by(hits_table.c.due_at)
        .limit(limit)
    ).all()
    for hit_id, at in expired:
        hits.note_expiry(connection, now, hit_id, at=at)
    by_time = (assignments.c.due_at, assignments.c.n)
    for a in load(connection, assignments.c.due_at <= now, order_by=by_time, limit=limit):
        at = now if a.due_at is None else a.due_at
        if a.status is AssignmentStatus.SUBMITTED:
            _approve(connection, now, a, None, at=at)
        else:
            _end(connection, now, a, AssignmentStatus.ABANDONED, at=at)


def _approve(
    connection: Connection, now: float, assignment: Assignment, feedback: str | None, *, at: float
) -> None:
    hit = hits.get(connection, now, assignment.hit_id)
    money.pay_held(connection, hit.requester_id, hit.id, hit.cost)
    values: dict[str, Any] = {} if feedback is None else {"feedback": feedback}
    _set(
        connection,
        assignment.id,
        status=AssignmentStatus.APPROVED,
        approved_at=at,
        rejected_at=None,
        due_at=None,
        paid=hit.type.reward,
        fee=hit.fee,
        **values,
    )
    emit(connection, at, Event.ASSIGNMENT_APPROVED, hit.id, assignment.id)
    hits.refresh(connection, now, hit.id)


def _end(
    connection: Connection,
    now: float,
    assignment: Assignment,
    status: AssignmentStatus,
    *,
    at: float,
) -> Assignment:
    _set(connection, assignment.id, status=status, ended_at=at, due_at=None)
    returned = status is AssignmentStatus.RETURNED
    event = Event.ASSIGNMENT_RETURNED if returned else Event.ASSIGNMENT_ABANDONED
    emit(connection, at, event, assignment.hit_id, assignment.id)
    hits.refresh(connection, now, assignment.hit_id, at=at)
    return _require(connection, assignment.id)


def _set(connection: Connection, assignment_id: str, **values: Any) -> None:
    connection.execute(
        update(assignments).where(assignments.c.id == assignment_id).values(**values)
    )


def _require(connection: Connection, assignment_id: str) -> Assignment:
    assignment = find(connection, assignment_id)
    if assignment is None:
        raise NoSuchAssignment("This assignment does not exist.")
    return assignment


def of_requester(
    connection: Connection, now: float, requester_id: str, assignment_id: str
) -> tuple[Assignment, hits.Hit]:
    """An assignment in any state of a requester's HIT, with the HIT.

    Raises:
        NoSuchAssignment: none, or of somebody else.
    """
    assignment = find(connection, assignment_id)
    hit = hits.get(connection, now, assignment.hit_id) if assignment else None
    if assignment is None or hit is None or hit.requester_id != requester_id:
        raise NoSuchAssignment(f"Assignment {assignment_id} does not exist.")
    return assignment, hit


def _assignment(row: Row[Any]) -> Assignment:
    values = row._asdict()
    return Assignment(**values | {"status": AssignmentStatus(row.status)})
