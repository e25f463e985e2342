"""Assignments and what is paid for them."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import and_, insert, or_, select

from hit_manager.marketplace import assignments, money, tokens
from hit_manager.marketplace.api.call import Call
from hit_manager.marketplace.api.operations_hits import amount
from hit_manager.marketplace.api.show import show_assignment, show_hit
from hit_manager.marketplace.assignments import Assignment
from hit_manager.marketplace.errors import (
    InvalidValue,
    NoSuchAssignment,
    TokenAlreadyProcessed,
    WrongAssignmentState,
)
from hit_manager.marketplace.hits import Hit
from hit_manager.marketplace.states import SHOWN
from hit_manager.marketplace.tables import assignments as table
from hit_manager.marketplace.tables import bonuses

MOST_FEEDBACK: Final = 1024


def get_assignment(call: Call) -> dict[str, Any]:
    assignment, hit = _shown(call)
    return {"Assignment": show_assignment(assignment), "HIT": show_hit(hit)}


def list_assignments(call: Call) -> dict[str, Any]:
    hit = call.hit(call.given["HITId"])
    wanted = call.get("AssignmentStatuses") or [status.value for status in SHOWN]
    conditions = [
        table.c.hit_id == hit.id,
        table.c.status.in_(wanted),
        table.c.submitted_at <= call.seen_until,
    ]
    # In the order of submission: what is submitted meanwhile comes on a later page.
    if after := call.after():
        at, n = after
        later = and_(table.c.submitted_at == at, table.c.n > n)
        conditions.append(or_(table.c.submitted_at > at, later))
    rows = assignments.load(
        call.connection,
        *conditions,
        order_by=(table.c.submitted_at, table.c.n),
        limit=call.page_size + 1,
    )
    return call.page("Assignments", rows, show_assignment, lambda a: [a.submitted_at, a.n])


def approve_assignment(call: Call) -> dict[str, Any]:
    feedback = call.limited("RequesterFeedback", MOST_FEEDBACK)
    _seen(call)
    assignments.approve(
        call.connection,
        call.now,
        call.requester_id,
        call.given["AssignmentId"],
        feedback,
        override=call.get("OverrideRejection", False),
    )
    return {}


def reject_assignment(call: Call) -> dict[str, Any]:
    feedback = call.limited("RequesterFeedback", MOST_FEEDBACK, least=1) or ""
    _seen(call)
    assignments.reject(
        call.connection, call.now, call.requester_id, call.given["AssignmentId"], feedback
    )
    return {}


def send_bonus(call: Call) -> dict[str, Any]:
    token: str | None = call.get("UniqueRequestToken")
    who = (call.connection, call.now, call.requester_id, call.operation)
    if token and tokens.made_with(*who, token):
        raise TokenAlreadyProcessed(f'The idempotency token "{token}" has already been processed.')
    reason = call.limited("Reason", MOST_FEEDBACK, least=1)
    paid = amount(call, "BonusAmount")
    assignment, hit = assignments.of_requester(
        call.connection, call.now, call.requester_id, call.given["AssignmentId"]
    )
    submitted_at = assignment.submitted_at
    # To Amazon's SendBonus, work that is not submitted is not there.
    if submitted_at is None or submitted_at > call.seen_until:
        raise _unknown(call)
    if assignment.worker_id != call.given["WorkerId"]:
        raise InvalidValue(
            f"Assignment {assignment.id} was not done by Worker {call.given['WorkerId']}."
        )
    fee = money.bonus_fee(paid)
    money.pay(call.connection, call.requester_id, paid + fee)
    call.connection.execute(
        insert(bonuses).values(
            requester_id=call.requester_id,
            hit_id=hit.id,
            assignment_id=assignment.id,
            worker_id=assignment.worker_id,
            amount=paid,
            fee=fee,
            reason=reason,
            granted_at=call.now,
        )
    )
    if token:
        tokens.remember(*who, token, assignment.id)
    return {}


def list_bonus_payments(call: Call) -> dict[str, Any]:
    hit_id, assignment_id = call.get("HITId"), call.get("AssignmentId")
    if (hit_id is None) == (assignment_id is None):
        raise InvalidValue("Give either HITId or AssignmentId.")
    conditions = [bonuses.c.requester_id == call.requester_id]
    if hit_id is not None:
        conditions.append(bonuses.c.hit_id == call.hit(hit_id).id)
    else:
        found = assignments.find(call.connection, assignment_id)
        if found is None:
            raise _unknown(call)
        conditions.append(bonuses.c.assignment_id == assignment_id)
    if after := call.after():
        conditions.append(bonuses.c.n > after[0])
    rows = call.connection.execute(
        select(bonuses).where(*conditions).order_by(bonuses.c.n).limit(call.page_size + 1)
    ).all()
    return call.page(
        "BonusPayments",
        rows,
        lambda row: {
            "WorkerId": row.worker_id,
            "BonusAmount": money.dollars(row.amount),
            "AssignmentId": row.assignment_id,
            "Reason": row.reason,
            "GrantTime": row.granted_at,
        },
        lambda row: [row.n],
    )


def get_account_balance(call: Call) -> dict[str, Any]:
    balance = money.balance(call.connection, call.requester_id)
    return {
        "AvailableBalance": money.dollars(balance.available),
        "OnHoldBalance": money.dollars(balance.on_hold),
    }


def _shown(call: Call) -> tuple[Assignment, Hit]:
    assignment, hit = assignments.get_shown(
        call.connection, call.now, call.requester_id, call.given["AssignmentId"]
    )
    _seen(call)
    return assignment, hit


def _seen(call: Call) -> None:
    """Let a submission be unknown as long as it is too new to be seen."""
    found = assignments.find(call.connection, call.given["AssignmentId"])
    if found and found.submitted_at and found.submitted_at > call.seen_until:
        raise WrongAssignmentState("This operation can be called with a status of: null")


def _unknown(call: Call) -> NoSuchAssignment:
    return NoSuchAssignment(f"Assignment {call.given['AssignmentId']} does not exist.")
