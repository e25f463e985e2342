"""Changing what a study pays and allows while it runs, for dialogs to come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dialogs.money import to_text
from dialogs.record import queries
from dialogs.record.audit import audited
from dialogs.record.errors import Conflict
from dialogs.record.store import Record
from dialogs.record.studies import Promised, changed_terms, promised, turned_status
from dialogs.record.writer import Decision, together
from dialogs.rules import StudyStatus
from dialogs.terms import CHANGEABLE, PAY, Changes, Terms, contradictions, far_above, least_for

_OTHERWISE: Final = "Somebody else changed it meanwhile; look again."


class CannotChange(Exception):
    """The study is not changed; the text is for the team, a sentence for each reason."""


class ChangedMeanwhile(CannotChange):
    """Somebody else changed it at this moment."""


async def change_terms(
    record: Record,
    study_id: str,
    file: Terms,
    wanted: Changes,
    *,
    reason: str,
    admin_id: str | None,
    now: float,
    known: Changes | None = None,
) -> None:
    """Let new dialogs be opened with what is `wanted`, instead of all that was changed before;
    `file` is what the study file says. With nothing wanted, the file holds again.

    `known` is what whoever asks believes to be changed so far. Asked again, nothing happens.

    Pay must not fall below what approving a posted HIT pays by itself, since such payments could
    not be made. Nor is it lowered while people can take, or work on, a HIT that promises more.

    Raises:
        CannotChange: it does not fit together, or HITs are in the way.
        ChangedMeanwhile: something else is changed than was `known`.
    """
    stored = await record.read(queries.study, study_id)
    if stored is None:
        raise CannotChange("The study has never run.")
    # What is as in the file is no change, so that a later file holds again.
    after = {name: value for name, value in wanted.items() if value != file.values()[name]}
    if known is not None and dict(known) != stored.changes:
        if after == stored.changes:
            return
        raise ChangedMeanwhile(_OTHERWISE)
    is_now, becomes = file.changed(stored.changes), file.changed(after)
    if problems := [*contradictions(becomes), *far_above(file, is_now, becomes)]:
        raise CannotChange(_sentences(problems))
    # Where nothing is posted, there is nothing to fall below.
    least = least_for(becomes.recruiter, becomes.rules.pay) if becomes.recruiter != "link" else 0
    lowered = bool(_lowered(is_now, becomes))
    decision = changed_terms(study_id, stored.changes, after, least=least, lowered=lowered)
    touched = sorted({*stored.changes, *after})
    was, holds = ({n: terms.values()[n] for n in touched} for terms in (is_now, becomes))
    told = {"changes": holds, "reason": reason}
    row = audited(study_id, admin_id, "study.change", study_id, {"changes": was}, told, now)
    try:
        await record.writer.commit(together(decision, Decision(study_id, (row,))))
    except Conflict:
        there = await record.read(promised, study_id)
        if problems := list(_in_the_way(is_now, becomes, there, least)):
            raise CannotChange(_sentences(problems)) from None
        raise ChangedMeanwhile(_OTHERWISE) from None


def _lowered(is_now: Terms, becomes: Terms) -> list[str]:
    before, after = is_now.values(), becomes.values()
    return [name for name in PAY if after[name] < before[name]]


def _in_the_way(is_now: Terms, becomes: Terms, there: Promised, least: int) -> Iterator[str]:
    currency = becomes.rules.pay.currency
    if there.reward > least:
        reward = to_text(there.reward, currency)
        for name in PAY:
            if 0 < becomes.values()[name] < there.reward:
                yield (
                    f"{CHANGEABLE[name]} must be at least {reward}: approving a HIT that is posted "
                    "pays this by itself"
                )
    lowered = _lowered(is_now, becomes)
    if lowered and there.current:
        for name in lowered:
            amount = to_text(int(is_now.values()[name]), currency)
            yield (
                f"{CHANGEABLE[name]} cannot be lowered from {amount} while people can take, or "
                f"work on, HITs that promise it ({there.current}); pause the study, and lower it "
                "when they are handed in"
            )


def _sentences(problems: list[str]) -> str:
    return " ".join(f"{problem}." for problem in problems)


async def turn(
    record: Record, study_id: str, status: StudyStatus, *, admin_id: str | None, now: float
) -> bool:
    """Pause or resume a study, without `admin_id` from the command line; whether it was the other.

    Raises:
        LookupError: there is no such study.
    """
    action = "study.pause" if status is StudyStatus.PAUSED else "study.resume"
    while True:
        study = await record.read(queries.study, study_id)
        if study is None:
            raise LookupError(study_id)
        if study.status is status:
            return False
        before, after = {"status": study.status}, {"status": status}
        row = audited(study_id, admin_id, action, study_id, before, after, now)
        change = turned_status(study_id, study.status, status)
        try:
            await record.writer.commit(together(change, Decision(study_id, (row,))))
        except Conflict:
            # Somebody has done it at this very moment, or the opposite.
            continue
        return True
