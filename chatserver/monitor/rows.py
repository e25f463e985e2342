"""From the record's rows to what travels. No I/O here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from chatserver.monitor.showing import entries, standing
from chatserver.monitor.wire import (
    DialogOut,
    DialogRow,
    FindingOut,
    JudgementOut,
    PaymentOut,
    RequestOut,
    WorkerBrief,
    WorkerRow,
)
from dialogs.record.accounts import ListedPayment
from dialogs.record.listing import Listed
from dialogs.record.people import Habits, Person
from dialogs.record.requests import TeamRequest
from dialogs.record.whole import Whole
from dialogs.rules import AdminRole, RequestKind


def dialog_out(found: Whole, now: float) -> DialogOut:
    """Everything about one dialog."""
    state, item = found.state, found.item
    return DialogOut(
        id=state.dialog_id,
        now=now,
        item_id=item.id,
        image_id=item.image_id,
        caption=item.caption,
        width=item.width,
        height=item.height,
        place=state.place,
        language=found.language,
        same_address=found.same_address,
        opened_at=state.opened_at,
        rounds=state.rules.rounds,
        acceptance=found.acceptance,
        standing=standing(state),
        entries=list(entries(found.events)),
        findings=[
            FindingOut(
                number=each.number,
                flag=each.flag,
                role=each.role,
                round=each.round,
                seq=each.seq,
                reason=each.reason,
                by=each.by,
            )
            for each in found.findings
        ],
        judgements=[
            JudgementOut(
                by=each.by,
                verdict=each.verdict,
                reason=each.reason,
                decides=each.decides,
                at=each.at,
            )
            for each in found.judgements
        ],
        workers=[
            worker_brief(found.people[seat.worker_id], found.habits[seat.worker_id])
            for seat in state.seats.values()
        ],
        payments=[payment_out(each) for each in found.payments],
        relaunched=found.relaunched,
    )


def dialog_row(row: Listed) -> DialogRow:
    return DialogRow(
        id=row.id,
        image_id=row.image_id,
        caption=row.caption,
        place=row.place,
        phase=row.phase,
        outcome=row.outcome,
        ending=row.ending,
        acceptance=row.acceptance,
        opened_at=row.opened_at,
        ended_at=row.ended_at,
        messages=row.messages,
        flags=list(row.flags),
        workers=list(row.workers),
        judged_by=list(row.judged_by),
    )


def worker_brief(person: Person, habits: Habits) -> WorkerBrief:
    return WorkerBrief(
        id=person.id,
        dialogs=person.dialogs,
        complete=person.complete,
        solo=person.solo,
        left=person.left,
        flags=person.flags,
        rejected=person.rejected,
        excluded=person.excluded_at is not None,
        median_answer_s=habits.answer_s,
    )


def worker_row(person: Person) -> WorkerRow:
    return WorkerRow(
        id=person.id,
        recruiter=person.recruiter,
        first_at=person.first_at,
        last_at=person.last_at,
        arrivals=person.arrivals,
        dialogs=person.dialogs,
        complete=person.complete,
        flags=person.flags,
        rejected=person.rejected,
        owed=person.owed,
        paid=person.paid,
        excluded=person.excluded_at is not None,
        inside=person.inside,
    )


def payment_out(row: ListedPayment) -> PaymentOut:
    payment = row.payment
    return PaymentOut(
        arrival_id=payment.arrival_id,
        reason=payment.reason,
        worker_id=row.worker_id,
        dialog_id=row.dialog_id,
        cents=payment.cents,
        state=payment.state,
        at=payment.at,
        paid_at=row.paid_at,
        problem=payment.problem,
        note=payment.note,
        handed_in=payment.status,
    )


def needed_for(kind: RequestKind) -> AdminRole:
    """The least role of who may ask the recruiter for this."""
    match kind:
        case RequestKind.MESSAGE | RequestKind.REJECT:
            return AdminRole.REVIEWER
        case RequestKind.BONUS | RequestKind.BLOCK | RequestKind.UNBLOCK | RequestKind.RETRY:
            return AdminRole.OWNER
        case _:
            assert_never(kind)


def request_out(request: TeamRequest, worker_id: str, names: Mapping[str, str]) -> RequestOut:
    """`worker_id` is who it is about; `names` are those of admins by their ids."""
    words = [request.data.get(name) for name in ("subject", "text", "reason")]
    return RequestOut(
        id=request.id,
        kind=request.kind,
        target=request.target,
        worker_id=worker_id,
        needs=needed_for(request.kind),
        by=names.get(request.admin_id or ""),
        state=request.state,
        at=request.at,
        done_at=request.done_at,
        problem=request.problem,
        text=" · ".join(str(each) for each in words if each),
    )
