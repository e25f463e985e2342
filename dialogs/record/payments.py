"""Payments in the record: what is owed, how far each has come, and every call made for it.

The live server inserts what a release owes; the hit manager moves it on, and adds what the team
gives by hand. Money is in cents, times are seconds since 1970-01-01 UTC.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Connection, Select, Update, bindparam, func, select

from dialogs.record.bulk import RowLock, RowUpdate
from dialogs.record.queries import chunks
from dialogs.record.tables import (
    arrivals,
    assignments,
    hits,
    ledger,
    payment_steps,
    releases,
    workers,
)
from dialogs.record.writer import Change, Decision
from dialogs.rules import AssignmentStatus, LedgerState, Release

MOST_CENTS: Final = 2**31 - 1
"""The largest payment that a row of the ledger can hold, in cents."""


@dataclass(frozen=True, slots=True)
class PaymentRow:
    """One payment, with all that is needed to decide on it.

    `worker` is the recruiter's id of the person, `status` and `seen_worker`, `seen_hit` are what
    the recruiter says of the assignment; None while it says nothing.
    """

    arrival_id: str
    reason: str
    recruiter: str
    cents: int
    currency: str
    state: LedgerState
    at: float
    note: str | None
    tries: int
    retry_at: float | None
    problem: str | None
    worker: str
    assignment_id: str
    hit_id: str | None
    remote_hit: str | None
    reward: int
    seats: int
    release: Release | None
    code: str | None
    status: AssignmentStatus | None
    seen_worker: str | None
    seen_hit: str | None
    seen_code: str | None


@dataclass(frozen=True, slots=True)
class StepRow:
    """One call of a payment; `done_at` is None while nobody knows how it ended. `detail` is what
    the recruiter wanted to know again after a crash, as JSON."""

    step: str
    key: str
    started_at: float
    done_at: float | None
    detail: str | None


PAYMENTS: Final[Select[Any]] = (
    select(
        ledger,
        workers.c.recruiter,
        workers.c.external_id,
        arrivals.c.assignment_id,
        arrivals.c.hit_id,
        hits.c.remote_id,
        func.coalesce(hits.c.reward, 0).label("reward"),
        func.coalesce(hits.c.seats, 1).label("seats"),
        releases.c.release,
        releases.c.code,
        assignments.c.status,
        assignments.c.worker.label("seen_worker"),
        assignments.c.hit_id.label("seen_hit"),
        assignments.c.code.label("seen_code"),
    )
    .select_from(ledger)
    .join(arrivals, arrivals.c.id == ledger.c.arrival_id)
    .join(workers, workers.c.id == arrivals.c.worker_id)
    .outerjoin(hits, hits.c.id == arrivals.c.hit_id)
    .outerjoin(releases, releases.c.arrival_id == ledger.c.arrival_id)
    .outerjoin(
        assignments,
        (assignments.c.study_id == arrivals.c.study_id)
        & (assignments.c.id == arrivals.c.assignment_id),
    )
)


def payment_of(row: Any) -> PaymentRow:
    return PaymentRow(
        row.arrival_id,
        row.reason,
        row.recruiter,
        row.cents,
        row.currency,
        LedgerState(row.state),
        row.at,
        row.note,
        row.tries,
        row.retry_at,
        row.problem,
        row.external_id,
        row.assignment_id,
        row.hit_id,
        row.remote_id,
        row.reward,
        row.seats,
        Release(row.release) if row.release else None,
        row.code,
        AssignmentStatus(row.status) if row.status else None,
        row.seen_worker,
        row.seen_hit,
        row.seen_code,
    )


def payments_in(
    connection: Connection, study_id: str, states: Collection[LedgerState]
) -> list[PaymentRow]:
    """The study's payments in these states, oldest first."""
    query = PAYMENTS.where(
        arrivals.c.study_id == study_id, ledger.c.state.in_([s.value for s in states])
    ).order_by(ledger.c.at, ledger.c.arrival_id, ledger.c.reason)
    return [payment_of(row) for row in connection.execute(query)]


def payments_due(
    connection: Connection,
    study_id: str,
    recruiter: str,
    states: Collection[LedgerState],
    now: float,
    most: int,
) -> list[PaymentRow]:
    """The oldest payments in these states, `most` at most, that are handed in and not put off."""
    found: list[PaymentRow] = []
    # State by state, so that each is read in the order of its index, and no further.
    for state in states:
        query = PAYMENTS.where(
            arrivals.c.study_id == study_id,
            ledger.c.state == state.value,
            workers.c.recruiter == recruiter,
            ledger.c.retry_at.is_(None) | (ledger.c.retry_at <= now),
            assignments.c.status != AssignmentStatus.TAKEN.value,
        ).order_by(ledger.c.at, ledger.c.arrival_id, ledger.c.reason)
        found += [payment_of(row) for row in connection.execute(query.limit(most))]
    return sorted(found, key=lambda p: (p.at, p.arrival_id, p.reason))[:most]


def payments_of(connection: Connection, arrival_ids: Collection[str]) -> list[PaymentRow]:
    """All payments of these arrivals."""
    found: list[PaymentRow] = []
    for chunk in chunks(arrival_ids):
        query = PAYMENTS.where(ledger.c.arrival_id.in_(chunk))
        found += [payment_of(row) for row in connection.execute(query)]
    return sorted(found, key=lambda p: (p.at, p.arrival_id, p.reason))


def steps_of(connection: Connection, arrival_id: str, reason: str) -> list[StepRow]:
    """The calls of one payment so far, in the order they were begun."""
    query = (
        select(payment_steps)
        .where(payment_steps.c.arrival_id == arrival_id, payment_steps.c.reason == reason)
        .order_by(payment_steps.c.started_at)
    )
    return [
        StepRow(row.step, row.key, row.started_at, row.done_at, row.detail)
        for row in connection.execute(query)
    ]


@dataclass(frozen=True, slots=True)
class LedgerTotal:
    """How many payments are in one state, and what they come to."""

    state: LedgerState
    payments: int
    cents: int


def ledger_totals(connection: Connection, study_id: str) -> list[LedgerTotal]:
    """The ledger summed up by state, in the order of a payment's life."""
    found = {
        row[0]: (row[1], int(row[2]))
        for row in connection.execute(
            select(ledger.c.state, func.count(), func.sum(ledger.c.cents))
            .join(arrivals, arrivals.c.id == ledger.c.arrival_id)
            .where(arrivals.c.study_id == study_id)
            .group_by(ledger.c.state)
        )
    }
    return [LedgerTotal(state, *found[state.value]) for state in LedgerState if state in found]


# --- Decisions -----------------------------------------------------------------------------

Values = Callable[[Mapping[str, ColumnElement[Any]]], Mapping[str, Any]]
"""What a change sets, by the names of its parameters."""


def _payment(values: Values, **columns: Column[Any]) -> RowUpdate:
    """A change of one payment; with `before` among its parameters, only in that state, and with
    `latest`, only if it is not put off for longer."""

    def update(p: Mapping[str, ColumnElement[Any]]) -> Update:
        mine = ledger.update().where(
            ledger.c.arrival_id == p["arrival"], ledger.c.reason == p["why"]
        )
        if "before" in columns:
            mine = mine.where(ledger.c.state == p["before"])
        if "latest" in columns:
            put_off_to = func.coalesce(ledger.c.retry_at, p["latest"])
            mine = mine.where(put_off_to <= p["latest"])
        return mine.values(**values(p))

    return RowUpdate(update, arrival=ledger.c.arrival_id, why=ledger.c.reason, **columns)


def _step(values: Values, *, unanswered: bool, **columns: Column[Any]) -> RowUpdate:
    """A change of one call of a payment; if `unanswered`, only as long as it is."""

    def update(p: Mapping[str, ColumnElement[Any]]) -> Update:
        mine = payment_steps.update().where(
            payment_steps.c.arrival_id == p["arrival"],
            payment_steps.c.reason == p["why"],
            payment_steps.c.step == p["which"],
        )
        if unanswered:
            mine = mine.where(payment_steps.c.done_at.is_(None))
        return mine.values(**values(p))

    keys = {"arrival": payment_steps.c.arrival_id, "why": payment_steps.c.reason}
    return RowUpdate(update, **keys, which=payment_steps.c.step, **columns)


_BECOMES: Final = _payment(
    lambda p: {"state": p["after"], "problem": p["what"], "retry_at": p["again"]},
    before=ledger.c.state,
    after=ledger.c.state,
    what=ledger.c.problem,
    again=ledger.c.retry_at,
)
_SENDING: Final = _payment(
    lambda p: {"state": LedgerState.SENDING.value, "problem": None, "retry_at": None},
    before=ledger.c.state,
    latest=ledger.c.retry_at,
)
_APPROVED: Final = _payment(lambda p: {"approved_at": p["now"]}, now=ledger.c.approved_at)
_STAYS_APPROVED: Final = _payment(
    lambda p: {"approved_at": func.coalesce(ledger.c.approved_at, p["now"])},
    now=ledger.c.approved_at,
)
_PAID: Final = _payment(lambda p: {"paid_at": p["now"]}, now=ledger.c.paid_at)
_TRIED: Final = _payment(
    lambda p: {"tries": ledger.c.tries + 1, "retry_at": p["latest"], "problem": p["what"]},
    before=ledger.c.state,
    latest=ledger.c.retry_at,
    what=ledger.c.problem,
)
_NOTED: Final = _payment(lambda p: {"note": p["text"]}, text=ledger.c.note)
# Looked at when the payment's own row is locked by another change of the same decision.
_UNTOUCHED: Final = RowLock(
    select(ledger.c.reason).where(
        ledger.c.arrival_id == bindparam("arrival"),
        ledger.c.reason == bindparam("why"),
        ~select(payment_steps.c.step)
        .where(
            payment_steps.c.arrival_id == ledger.c.arrival_id,
            payment_steps.c.reason == ledger.c.reason,
        )
        .exists(),
    )
)
_STEP_DONE: Final = _step(
    lambda p: {"done_at": p["now"]}, unanswered=False, now=payment_steps.c.done_at
)
_STEP_KNOWN: Final = _step(
    lambda p: {"detail": p["what"]}, unanswered=True, what=payment_steps.c.detail
)


def _moves(
    payment: PaymentRow, to: LedgerState, problem: str | None = None, retry_at: float | None = None
) -> Change:
    return Change(
        _BECOMES,
        {
            "arrival": payment.arrival_id,
            "why": payment.reason,
            "before": payment.state.value,
            "after": to.value,
            "what": problem,
            "again": retry_at,
        },
    )


def _named(payment: PaymentRow, **more: Any) -> dict[str, Any]:
    return {"arrival": payment.arrival_id, "why": payment.reason, **more}


def approved(payment: PaymentRow, now: float, *, not_before: float | None = None) -> Decision:
    """It may be paid, from `not_before` on where that is given; conflicts if its state has changed
    meanwhile. What was held or failed was approved before, and keeps that moment: by it the
    judgement that approved it is known."""
    first = payment.state is LedgerState.OWED
    changes = (
        _moves(payment, LedgerState.APPROVED, retry_at=not_before),
        Change(_APPROVED if first else _STAYS_APPROVED, _named(payment, now=now)),
    )
    return Decision(payment.arrival_id, (), changes)


def unapproved(payment: PaymentRow) -> Decision:
    """It waits for a decision again; conflicts if its state has changed, or a call for it was
    begun."""
    changes = (
        _moves(payment, LedgerState.OWED),
        Change(_APPROVED, _named(payment, now=None)),
        untouched(payment),
    )
    return Decision(payment.arrival_id, (), changes)


def untouched(payment: PaymentRow) -> Change:
    """Nothing changes; conflicts if a call for this payment was begun."""
    return Change(_UNTOUCHED, _named(payment))


def stopped(payment: PaymentRow, state: LedgerState, problem: str) -> Decision:
    """It is held, failed, or back where it waits, and why."""
    return Decision(payment.arrival_id, (), (_moves(payment, state, problem),))


def put_off(payment: PaymentRow, problem: str, retry_at: float) -> Decision:
    """A call brought nothing; it is made again from `retry_at` on. Conflicts if the payment's
    state has changed meanwhile, or it is put off for longer."""
    params = _named(payment, before=payment.state.value, latest=retry_at, what=problem)
    return Decision(payment.arrival_id, (), (Change(_TRIED, params),))


def sending(payment: PaymentRow, now: float) -> Decision:
    """The recruiter is about to be asked. Conflicts if the payment's state has changed meanwhile,
    or it was put off since: it was approved anew, and that can be taken back for a while."""
    latest = max(now, payment.retry_at or now)
    params = _named(payment, before=payment.state.value, latest=latest)
    return Decision(payment.arrival_id, (), (Change(_SENDING, params),))


def step_begins(payment: PaymentRow, step: str, key: str, now: float) -> Decision:
    """One call is about to be made; conflicts if it was begun before."""
    row = {
        "arrival_id": payment.arrival_id,
        "reason": payment.reason,
        "step": step,
        "key": key,
        "started_at": now,
    }
    return Decision(payment.arrival_id, ((payment_steps, row),))


def step_known(payment: PaymentRow, step: str, detail: str) -> Decision:
    """What the recruiter wants to know again after a crash of a call that is being made;
    conflicts if it has been answered."""
    params = _named(payment, which=step, what=detail)
    return Decision(payment.arrival_id, (), (Change(_STEP_KNOWN, params),))


def step_done(payment: PaymentRow, step: str, now: float) -> Decision:
    """The call has been answered."""
    params = _named(payment, which=step, now=now)
    return Decision(payment.arrival_id, (), (Change(_STEP_DONE, params),))


def paid(payment: PaymentRow, now: float, note: str | None = None) -> Decision:
    """It has reached the worker."""
    changes = (
        _moves(payment, LedgerState.PAID, note),
        Change(_PAID, _named(payment, now=now)),
    )
    return Decision(payment.arrival_id, (), changes)


def cancelled(payment: PaymentRow, reason: str) -> Decision:
    """It is taken back, and why; conflicts if its state has changed meanwhile."""
    note = f"{payment.note} (taken back: {reason})" if payment.note else f"taken back: {reason}"
    changes = (
        _moves(payment, LedgerState.CANCELLED),
        Change(_NOTED, _named(payment, text=note)),
    )
    return Decision(payment.arrival_id, (), changes)


def given_by_hand(
    arrival_id: str, bonus_id: str, cents: int, currency: str, note: str, now: float
) -> Decision:
    """The team adds a bonus; it is approved by being given."""
    row = {
        "arrival_id": arrival_id,
        "reason": f"bonus-{bonus_id}",
        "cents": cents,
        "currency": currency,
        "state": LedgerState.APPROVED.value,
        "at": now,
        "note": note,
        "approved_at": now,
    }
    return Decision(arrival_id, ((ledger, row),))
