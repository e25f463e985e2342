"""`hits reject` refuses work over there; `hits cancel` takes back what was to be paid."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final

import click

from dialogs.record import payments as rows
from dialogs.record import queries
from dialogs.record.errors import Conflict
from dialogs.record.payments import PaymentRow
from dialogs.record.unowed import never_came
from dialogs.rules import ArrivalStatus, AssignmentStatus, LedgerReason, LedgerState
from duologue.console import AS_JSON, run, show
from duologue.hits.desk import DRY_RUN, YES, Desk, desk, needs, sure
from duologue.hits.money import ARRIVAL, ARRIVALS, STUDY_OPTION, chosen, told
from duologue.problems import BadInput
from duologue.words import count
from hit_manager.refusing import is_owed, of_somebody_else, refuse
from hit_manager.taking_back import in_the_way


@click.command()
@ARRIVAL
@STUDY_OPTION
@click.option("--reason", required=True, help="What the worker is told.")
@YES
@DRY_RUN
@AS_JSON
def reject(arrival: str, study: Path, reason: str, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Refuse the work of ARRIVAL where it was handed in; nothing is paid for it.

    Who is owed something is never rejected: first decide that nothing is owed. Work of somebody
    who never came is named by its assignment, as `hits status` and `hits review` do.

    Example: duologue hits reject a_12ab --reason "Nothing was written." --study my-study
    """

    async def work() -> tuple[dict[str, Any], str]:
        async with desk(study, remote=True) as at:
            needs(at.recruiter.capabilities.pays, at, "takes no work in that could be refused")
            assignment_id = await _assignment_of(at, arrival)
            told = await at.recruiter.assignment(assignment_id)
            if told.status is not AssignmentStatus.SUBMITTED:
                raise BadInput([f"{arrival}: is {told.status.value} over there"])
            row = await at.record.one(queries.arrivals_by_id, arrival)
            if row is not None and await of_somebody_else(at.record, row, told):
                raise BadInput([f"{arrival}: over there, somebody else did this work"])
            values = {"arrival": arrival, "rejected": not dry_run}
            if dry_run:
                return values, f"would reject the work of {arrival}"
            sure(f"Reject the work of {arrival}?", yes=yes, as_json=as_json)
            await refuse(at.record, at.recruiter, at.study_id, assignment_id, reason)
            return values, f"the work of {arrival} is rejected"

    values, text = run(work())
    show(as_json, values, text)


async def _assignment_of(at: Desk, name: str) -> str:
    """The assignment over there of an arrival that is owed nothing, or of one who never came."""
    row = await at.record.one(queries.arrivals_by_id, name)
    if row is None or row.study_id != at.study_id:
        strangers = await at.record.read(never_came, at.study_id)
        if name in {each.assignment_id for each in strangers}:
            return name
        raise BadInput([f"{name}: is no arrival of this study"])
    if row.status is not ArrivalStatus.RELEASED:
        # What they will be owed is not known yet, and what was refused cannot be paid any more.
        raise BadInput([f"{name}: is not done here yet, so the work cannot be refused"])
    payments = await at.record.read(rows.payments_of, [name])
    if owed := is_owed(payments, at.config.currency):
        raise BadInput([f"{name}: {owed}, so the work cannot be refused"])
    return row.assignment_id


# --- Taking back ---------------------------------------------------------------------------

LEAST_REASON: Final = 20
"""Characters of the reason for taking back what somebody is owed by the study's rules, at least:
somebody will ask, and "no" is no answer."""

_CAN_BE: Final = (LedgerState.OWED, LedgerState.APPROVED, LedgerState.HELD, LedgerState.FAILED)


@click.command()
@ARRIVALS
@STUDY_OPTION
@click.option("--reason", required=True, help="Why, for your own records.")
@click.option(
    "--payment",
    "names",
    multiple=True,
    help="Only payments of this name, such as dialog, waiting or bonus-1f00; repeatable.",
)
@YES
@DRY_RUN
@AS_JSON
def cancel(
    arrivals: tuple[str, ...],
    study: Path,
    reason: str,
    names: tuple[str, ...],
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Take back what was to be paid for these ARRIVALS, while nothing of it has gone out.

    For a bonus with a wrong amount, or for work that was never handed in and is paid by other
    means. It cannot be undone.

    Example: duologue hits cancel a_12ab --payment bonus-1f00 --reason typo --study my-study
    """

    async def work() -> tuple[dict[str, Any], str]:
        async with desk(study) as at:
            found = await _in_question(at, arrivals, names)
            by_rule = [p for p in found if p.reason in set(LedgerReason)]
            if by_rule and len(reason.strip()) < LEAST_REASON:
                owed = is_owed(by_rule[:1], at.config.currency)
                raise BadInput(
                    [
                        f"{by_rule[0].arrival_id}: {owed}; say in at least "
                        f"{LEAST_REASON} characters why it is taken back"
                    ]
                )
            values, text = told(at, found)
            if dry_run:
                return values, f"would be taken back: {text}"
            sure(f"Take back {text}? It cannot be undone.", yes=yes, as_json=as_json)
            done = []
            for payment in found:
                try:
                    await at.record.writer.commit(rows.cancelled(payment, reason.strip()))
                except Conflict:
                    continue
                done.append(payment)
            values, text = told(at, done)
            left = len(found) - len(done)
            note = f"; {count(left, 'payment')} went on meanwhile and stayed" if left else ""
            return values, f"taken back: {text}{note}"

    values, text = run(work())
    show(as_json, values, text)


async def _in_question(
    at: Desk, arrivals: Sequence[str], names: Collection[str]
) -> list[PaymentRow]:
    """The payments to be taken back, none of which may have gone out."""
    if not arrivals:
        raise BadInput(["name at least one arrival"])
    found = await chosen(at, arrivals, _CAN_BE, everything=False)
    mine: dict[str, list[PaymentRow]] = {arrival: [] for arrival in arrivals}
    for payment in found:
        if not names or payment.reason in names:
            mine[payment.arrival_id].append(payment)
    problems = []
    for arrival, each in mine.items():
        if not each:
            problems.append(f"{arrival}: has no payment called {' or '.join(names)} to take back")
        if len(each) > 1 and not names:
            several = ", ".join(f"{p.reason} ({at.money(p.cents)})" for p in each)
            problems.append(f"{arrival}: has {several}; say which with --payment")
    if problems:
        raise BadInput(problems)
    found = [payment for each in mine.values() for payment in each]
    for payment in found:
        if why := await in_the_way(at.record, at.recruiter, payment):
            problems.append(
                f"{payment.arrival_id}: {payment.reason} cannot be taken back: {why}; if it has "
                "reached the worker, say `duologue hits pay --mark-paid`"
            )
    if problems:
        raise BadInput(problems)
    return found
