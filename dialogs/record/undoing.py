"""Taking a reviewer's judgement back, as long as nothing has followed from it."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, select

from dialogs.record.audit import audited
from dialogs.record.bulk import RowUpdate
from dialogs.record.cases import Case, Judgement
from dialogs.record.judging import Overtaken, once_more
from dialogs.record.payments import unapproved
from dialogs.record.review_queue import Claim, claim_row, given_back, in_own_hands
from dialogs.record.tables import (
    dialogs,
    judgements,
    relaunch_seats,
    relaunches,
    review_claims,
)
from dialogs.record.writer import Change, Decision
from dialogs.rules import Acceptance, LedgerState

_NO_VERDICT: Final = RowUpdate(
    lambda p: (
        dialogs.update()
        .where(dialogs.c.id == p["dialog"], dialogs.c.acceptance == p["verdict"])
        .values(acceptance=None)
    ),
    dialog=dialogs.c.id,
    verdict=dialogs.c.acceptance,
)
_since = dialogs.alias("since")
_NO_RELAUNCH: Final = RowUpdate(
    lambda p: relaunches.delete().where(
        relaunches.c.dialog_id == p["dialog"],
        ~select(relaunch_seats.c.hit_id)
        .where(relaunch_seats.c.dialog_id == relaunches.c.dialog_id)
        .exists(),
        ~select(_since.c.id)
        .where(
            _since.c.item_id == relaunches.c.item_id,
            _since.c.place == relaunches.c.place,
            _since.c.id != relaunches.c.dialog_id,
            _since.c.opened_at >= relaunches.c.at,
        )
        .exists(),
    ),
    dialog=relaunches.c.dialog_id,
)
_NO_JUDGEMENT: Final = RowUpdate(
    lambda p: judgements.delete().where(
        judgements.c.dialog_id == p["dialog"],
        judgements.c.admin_id == p["admin"],
        judgements.c.at == p["when"],
        # Becomes false when somebody else judges the dialog too.
        judgements.c.again == p["open"],
    ),
    dialog=judgements.c.dialog_id,
    admin=judgements.c.admin_id,
    when=judgements.c.at,
    open=judgements.c.again,
)


def undone(
    case: Case, judgement: Judgement, admin_id: str, earlier: Claim | None, now: float
) -> Decision:
    """A judgement is as if it had never been, and the dialog in the hands of whoever takes it
    back, who had `earlier` in hand. Conflicts if anything that matters has changed since the case
    was read.

    Raises:
        Overtaken: something has followed from it that cannot be taken back.
    """
    claims = {claim.dialog_id: claim for claim in (case.claim, earlier) if claim is not None}
    if case.claim and case.claim.admin_id != admin_id and case.claim.until > now:
        raise Overtaken("Somebody else has this dialog in hand.")
    changes = [
        *in_own_hands(case.dialog_id, admin_id, now),
        *(given_back(claim) for claim in claims.values()),
        Change(
            _NO_JUDGEMENT,
            {
                "dialog": case.dialog_id,
                "admin": judgement.admin_id,
                "when": judgement.at,
                "open": judgement.again,
            },
        ),
    ]
    if not judgement.decides:
        first = case.decided_by
        assert first is not None, "what comes second came after the one that decided"
        changes.append(once_more(first, before=False))
    else:
        changes += _undecided(case, judgement)
    inserts = (
        (review_claims, claim_row(case.dialog_id, admin_id, now)),
        audited(
            case.study_id,
            admin_id,
            "review.undo",
            case.dialog_id,
            {"verdict": judgement.verdict, "by": judgement.admin_id},
            {"verdict": None},
            now,
        ),
    )
    return Decision(case.dialog_id, inserts, tuple(changes))


def _undecided(case: Case, judgement: Judgement) -> list[Change]:
    if len(case.judgements) > 1:
        raise Overtaken("Somebody else has judged this dialog since.")
    if case.refused_at(judgement.at):
        raise Overtaken("Pay was refused with it, which is final; it can be made good as a bonus.")
    changes: list[Change] = []
    if judgement.verdict is not None:
        params = {"dialog": case.dialog_id, "verdict": judgement.verdict.value}
        changes.append(Change(_NO_VERDICT, params))
    if judgement.verdict is Acceptance.REJECTED:
        if case.taken_since:
            raise Overtaken("Two other people have taken its place since.")
        if case.reposted:
            raise Overtaken("People have been invited for its place since.")
        changes.append(Change(_NO_RELAUNCH, {"dialog": case.dialog_id}))
    for payment in case.payments:
        if case.approved_at.get((payment.arrival_id, payment.reason)) != judgement.at:
            continue
        if payment.state is not LedgerState.APPROVED or case.is_begun(payment):
            raise Overtaken("Pay that was approved with it is on its way.")
        changes += unapproved(payment).changes
    return changes


def last_judgement(connection: Connection, study_id: str, admin_id: str) -> Judgement | None:
    """What this reviewer judged last."""
    query = (
        select(judgements)
        .join(dialogs, dialogs.c.id == judgements.c.dialog_id)
        .where(judgements.c.admin_id == admin_id, dialogs.c.study_id == study_id)
        .order_by(judgements.c.at.desc(), judgements.c.dialog_id.desc())
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else Judgement.of(row)
