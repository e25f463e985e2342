"""`hits reject`: work is refused where it was handed in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from dialogs.record import payments as rows
from dialogs.record import queries
from dialogs.record.hits import assignments_by_id, assignments_seen
from dialogs.record.payments import PaymentRow
from dialogs.record.unowed import never_came
from dialogs.rules import AssignmentStatus, LedgerReason
from duologue.console import AS_JSON, run, show
from duologue.hits.desk import DRY_RUN, YES, Desk, desk, needs, sure
from duologue.hits.money import STUDY_OPTION
from duologue.problems import BadInput


async def refuse(at: Desk, assignment_id: str, feedback: str) -> None:
    """Refuse work over there, and remember it: it is undecided no longer.

    Raises:
        RecruiterError: it was not refused.
    """
    await at.recruiter.reject(assignment_id, feedback)
    known = await at.record.read(assignments_by_id, at.study_id, [assignment_id])
    for row in known.values():
        refused = replace(row, status=AssignmentStatus.REJECTED)
        await at.record.writer.commit(assignments_seen(at.study_id, [], [refused]))


@click.command()
@click.argument("arrival")
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
            values = {"arrival": arrival, "rejected": not dry_run}
            if dry_run:
                return values, f"would reject the work of {arrival}"
            sure(f"Reject the work of {arrival}?", yes=yes, as_json=as_json)
            await refuse(at, assignment_id, reason)
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
    if owed := await at.record.read(rows.payments_of, [name]):
        raise BadInput([f"{name}: {is_owed(at, owed)}, so the work cannot be refused"])
    return row.assignment_id


def is_owed(at: Desk, owed: list[PaymentRow]) -> str:
    """`is owed 1.50 USD by the rules of the study`, and what was given beside it."""
    ruled = sum(p.cents for p in owed if p.reason in set(LedgerReason))
    given = sum(p.cents for p in owed) - ruled
    told = []
    if ruled:
        told.append(f"is owed {at.money(ruled)} by the rules of the study")
    if given:
        told.append(f"was given {at.money(given)} by hand")
    return " and ".join(told)
