"""What a reviewer decides about a dialog that has ended.

Two things are decided apart: whether it is data, and what becomes of the pay. A dialog that is
rejected as data is paid all the same, and its place is collected once more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import orjson
from sqlalchemy import Table, bindparam, select

from dialogs.limits import is_blank
from dialogs.record.audit import audited
from dialogs.record.bulk import Row, RowLock, RowUpdate
from dialogs.record.cases import Case, Judgement
from dialogs.record.payments import (
    PaymentRow,
    approved,
    cancelled,
    untouched,
)
from dialogs.record.review_queue import given_back, in_own_hands
from dialogs.record.tables import (
    arrivals,
    dialogs,
    judgements,
    ledger,
    relaunches,
    team_requests,
)
from dialogs.record.writer import Change, Decision
from dialogs.rules import (
    Acceptance,
    LedgerReason,
    LedgerState,
    Outcome,
    RequestKind,
    RequestState,
)

UNDO_S: Final = 20.0
"""For so long after a judgement the pay that it approves is not sent, so that the judgement can be
taken back; in seconds."""

_BY_RULE: Final = frozenset(reason.value for reason in LedgerReason)


class BadJudgement(ValueError):
    """It can never be carried out; the text is one sentence."""


class Overtaken(Exception):
    """It cannot be carried out as things stand, and nothing was; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class Pay:
    """What becomes of what an arrival is owed; refusing it takes a reason."""

    approve: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Settled:
    """A payment as it stands after a judgement; `moved` says that the judgement did it."""

    arrival_id: str
    reason: str
    cents: int
    state: LedgerState
    moved: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement that is ready to be stored. `frees` says that the dialog's place is free with
    it."""

    decision: Decision
    decides: bool
    pay: tuple[Settled, ...]
    frees: bool


def is_for_two(dialog_id: str, share: float) -> bool:
    """Whether a second person is to judge this dialog too: always the same for a dialog, and so
    for `share` of all."""
    digest = hashlib.sha256(dialog_id.encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2**64


# --- Statements ----------------------------------------------------------------------------

_VERDICT: Final = RowUpdate(
    lambda p: (
        dialogs.update()
        .where(
            dialogs.c.id == p["dialog"],
            dialogs.c.outcome == Outcome.COMPLETE.value,
            dialogs.c.acceptance.is_(None),
        )
        .values(acceptance=p["verdict"])
    ),
    dialog=dialogs.c.id,
    verdict=dialogs.c.acceptance,
)
_AGAIN: Final = RowUpdate(
    lambda p: (
        judgements.update()
        .where(
            judgements.c.dialog_id == p["dialog"],
            judgements.c.admin_id == p["admin"],
            judgements.c.again == p["before"],
        )
        .values(again=p["then"])
    ),
    dialog=judgements.c.dialog_id,
    admin=judgements.c.admin_id,
    before=judgements.c.again,
    then=judgements.c.again,
)

_NO_BONUS: Final = RowLock(
    select(arrivals.c.id).where(
        arrivals.c.id == bindparam("arrival"),
        ~select(ledger.c.reason)
        .where(
            ledger.c.arrival_id == arrivals.c.id,
            ledger.c.reason.not_in(_BY_RULE),
            ledger.c.state != LedgerState.CANCELLED.value,
        )
        .exists(),
        ~select(team_requests.c.id)
        .where(
            team_requests.c.target == arrivals.c.id,
            team_requests.c.kind == RequestKind.BONUS.value,
            team_requests.c.state == RequestState.WANTED.value,
        )
        .exists(),
    )
)

Inserts = list[tuple[Table, Row]]


# --- Judging -------------------------------------------------------------------------------


def judged(
    case: Case,
    admin_id: str,
    verdict: Acceptance | None,
    reason: str,
    pay: Mapping[str, Pay],
    now: float,
    *,
    twice: float = 0.0,
) -> Judged:
    """A reviewer's judgement. The first one of a dialog decides; one that comes later is kept to
    compare it with, and decides nothing. `pay` is by arrival; who is not in it is left as they
    are. `twice` is the share of dialogs that two are to judge.

    The decision conflicts if anything that matters has changed since the case was read.

    Raises:
        BadJudgement: the verdict does not go with the outcome, or refused pay has no reason.
        Overtaken: it has been judged, somebody else has it in hand, or pay that is to be refused
            may have gone out.
    """
    _check(case, verdict, pay)
    mine = in_own_hands(case.dialog_id, admin_id, now)
    changes = [*mine, *_out_of_hands(case, admin_id, now)]
    first = case.decided_by
    if case.judged_by(admin_id) is not None:
        raise Overtaken("You have judged this dialog already.")
    if first is None and case.acceptance is not None:
        raise Overtaken("Somebody has decided on this dialog already.")
    if first is not None:
        return _second(case, admin_id, first, verdict, reason, pay, now, changes)
    row = _row(case.dialog_id, admin_id, verdict, reason, now)
    row |= {"decides": True, "again": verdict is not None and is_for_two(case.dialog_id, twice)}
    inserts: Inserts = [(judgements, row)]
    if verdict is not None:
        more, change = as_data(case, verdict, now)
        inserts += more
        changes.append(change)
    settled: list[Settled] = []
    for arrival_id, what in pay.items():
        decided = _approve(case, arrival_id, now) if what.approve else None
        if decided is None:
            decided = _refuse(case, arrival_id, admin_id, what.reason, now)
        inserts += decided.inserts
        changes += decided.changes
        settled += decided.settled
    moved = [each for each in settled if each.moved]
    after = {
        "verdict": verdict,
        "approved": {
            f"{p.arrival_id} {p.reason}": p.cents for p in moved if p.state is LedgerState.APPROVED
        },
        "refused": sorted(name for name, what in pay.items() if not what.approve),
        "taken_back": {
            f"{p.arrival_id} {p.reason}": p.cents for p in moved if p.state is LedgerState.CANCELLED
        },
    }
    inserts.append(
        audited(case.study_id, admin_id, "review.judge", case.dialog_id,
                {"verdict": None}, after, now)
    )  # fmt: skip
    decision = Decision(case.dialog_id, tuple(inserts), tuple(changes))
    return Judged(decision, True, tuple(settled), verdict is Acceptance.REJECTED)


def standing(case: Case, judgement: Judgement, pay: Mapping[str, Pay]) -> Judged:
    """What was judged before, as things stand: nothing is to be stored for it. `pay` is what is
    asked about it now.

    Raises:
        Overtaken: that is not what was decided on it.
    """
    refused = case.refused_at(judgement.at)
    asked = {name: what.reason for name, what in pay.items() if not what.approve}
    payments = case.payments if judgement.decides else ()
    left = [p for p in payments if p.state is LedgerState.OWED and p.arrival_id in pay]
    if asked != (refused if judgement.decides else {}) or left:
        raise Overtaken("You have judged this dialog already, and decided otherwise on its pay.")
    settled = []
    for payment in payments:
        with_it = case.approved_at.get((payment.arrival_id, payment.reason)) == judgement.at
        moved = (payment.state is LedgerState.APPROVED and with_it) or (
            payment.state is LedgerState.CANCELLED and payment.arrival_id in refused
        )
        settled.append(_settled(payment, payment.state, moved))
    return Judged(Decision(case.dialog_id, ()), judgement.decides, tuple(settled), frees=False)


def as_data(case: Case, verdict: Acceptance, now: float) -> tuple[Inserts, Change]:
    """A complete dialog is data or is not; with a rejected one its relaunch. Conflicts if that
    was decided before."""
    change = Change(_VERDICT, {"dialog": case.dialog_id, "verdict": verdict.value})
    if verdict is Acceptance.ACCEPTED:
        return [], change
    row = {
        "dialog_id": case.dialog_id,
        "item_id": case.item_id,
        "place": case.place,
        "at": now,
    }
    return [(relaunches, row)], change


def _check(case: Case, verdict: Acceptance | None, pay: Mapping[str, Pay]) -> None:
    complete = case.outcome is Outcome.COMPLETE
    if complete and verdict is None:
        raise BadJudgement("verdict: a complete dialog is accepted or rejected")
    if not complete and verdict is not None:
        raise BadJudgement("verdict: only a complete dialog can be data")
    for arrival_id, what in pay.items():
        if arrival_id not in case.arrivals:
            raise BadJudgement("pay: that arrival has no part in this dialog")
        if not what.approve and is_blank(what.reason):
            raise BadJudgement("pay: say in the reason why pay is refused")


def _out_of_hands(case: Case, admin_id: str, now: float) -> list[Change]:
    """With the judgement, nobody has the dialog in hand any more."""
    if case.claim is None:
        return []
    if case.claim.admin_id != admin_id and case.claim.until > now:
        raise Overtaken("Somebody else has this dialog in hand.")
    return [given_back(case.claim)]


def _row(dialog_id: str, admin_id: str, verdict: Acceptance | None, reason: str, now: float) -> Row:
    return {
        "dialog_id": dialog_id,
        "admin_id": admin_id,
        "verdict": None if verdict is None else verdict.value,
        "reason": reason,
        "at": now,
    }


def _second(
    case: Case,
    admin_id: str,
    first: Judgement,
    verdict: Acceptance | None,
    reason: str,
    pay: Mapping[str, Pay],
    now: float,
    changes: list[Change],
) -> Judged:
    if not first.again:
        raise Overtaken("Somebody else has judged this dialog already.")
    if any(not what.approve for what in pay.values()):
        raise Overtaken("Somebody else has decided on the pay of this dialog already.")
    row = _row(case.dialog_id, admin_id, verdict, reason, now)
    after = {"verdict": verdict, "second": True}
    inserts = (
        (judgements, row | {"decides": False, "again": False}),
        audited(case.study_id, admin_id, "review.judge", case.dialog_id, None, after, now),
    )
    return Judged(
        Decision(case.dialog_id, inserts, (*changes, once_more(first, before=True))),
        False,
        (),
        frees=False,
    )


def once_more(first: Judgement, *, before: bool) -> Change:
    """Whether a second person is still to judge the dialog becomes the opposite of `before`."""
    params = {"dialog": first.dialog_id, "admin": first.admin_id}
    return Change(_AGAIN, params | {"before": before, "then": not before})


@dataclass(frozen=True, slots=True)
class _OnPay:
    settled: tuple[Settled, ...]
    changes: tuple[Change, ...]
    inserts: tuple[tuple[Table, Row], ...] = ()


def _approve(case: Case, arrival_id: str, now: float) -> _OnPay:
    """What is owed may be paid; what is further stays as it is."""
    settled: list[Settled] = []
    changes: list[Change] = []
    for payment in case.payments_of(arrival_id):
        owed = payment.state is LedgerState.OWED
        if owed:
            changes += approved(payment, now, not_before=now + UNDO_S).changes
        settled.append(_settled(payment, LedgerState.APPROVED if owed else payment.state, owed))
    return _OnPay(tuple(settled), tuple(changes))


def _settled(payment: PaymentRow, state: LedgerState, moved: bool) -> Settled:
    return Settled(payment.arrival_id, payment.reason, payment.cents, state, moved)


def _refuse(case: Case, arrival_id: str, admin_id: str, reason: str, now: float) -> _OnPay:
    """Nothing is paid for the work, and the recruiter is to be told, by the hit manager."""
    if arrival_id in case.refused:
        raise Overtaken("This work has been refused already.")
    if arrival_id in case.promised:
        raise Overtaken("A bonus is asked for this work, so its pay cannot be refused.")
    settled: list[Settled] = []
    changes = [Change(_NO_BONUS, {"arrival": arrival_id})]
    for payment in case.payments_of(arrival_id):
        if payment.state is LedgerState.CANCELLED:
            settled.append(_settled(payment, payment.state, moved=False))
            continue
        if payment.reason not in _BY_RULE:
            raise Overtaken("A bonus has been given for this work, so its pay cannot be refused.")
        waits = payment.state in (LedgerState.OWED, LedgerState.APPROVED)
        if not waits or case.is_begun(payment):
            raise Overtaken("Some of this pay may have gone out already; it cannot be refused.")
        changes += [*cancelled(payment, reason).changes, untouched(payment)]
        settled.append(_settled(payment, LedgerState.CANCELLED, moved=True))
    # Of somebody who came by a link, nobody has any work in hand that could be refused.
    nobody_to_tell = case.arrivals[arrival_id] is None
    row = {
        "id": f"reject-{arrival_id}",
        "study_id": case.study_id,
        "admin_id": admin_id,
        "kind": RequestKind.REJECT.value,
        "target": arrival_id,
        "data": orjson.dumps({"reason": reason}).decode(),
        "state": (RequestState.DONE if nobody_to_tell else RequestState.WANTED).value,
        "at": now,
        "done_at": now if nobody_to_tell else None,
    }
    return _OnPay(tuple(settled), tuple(changes), ((team_requests, row),))
