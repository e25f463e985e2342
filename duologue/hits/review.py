"""`hits review`: decisions and verdicts by spreadsheet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dialogs.record import payments as rows
from dialogs.record.admins import AdminRow
from dialogs.record.payments import PaymentRow
from dialogs.record.reviewing import reviewed
from dialogs.rules import LedgerState
from duologue.console import AS_JSON, STUDY, new_file, run, show
from duologue.hits.desk import DRY_RUN, YES, Desk, desk, needs, sure
from duologue.hits.verdicts import counts, judge, judge_of, to_judge
from duologue.problems import BadInput
from duologue.words import count
from hit_manager.csvfiles import CsvError, read_csv, write_csv
from hit_manager.recruiters.base import RecruiterError
from hit_manager.recruiters.link import Link
from hit_manager.refusing import is_owed, refuse
from hit_manager.review import (
    Decided,
    JudgedData,
    Verdict,
    decisions,
    passed_over,
    table,
    verdicts,
)


@click.command()
@STUDY
@click.option(
    "--csv",
    "out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write what has ended to this file, to be filled in.",
)
@click.option(
    "--from",
    "back",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Carry out the decisions of a file that was filled in.",
)
@click.option("--as", "who", metavar="NAME", help="Who of the team judges, if the file does.")
@YES
@DRY_RUN
@AS_JSON
def review(
    study: Path,
    out: Path | None,
    back: Path | None,
    who: str | None,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Review by spreadsheet: write a file, fill it in, read it back.

    In the column decision, approve or reject is about somebody's pay; in the column verdict, accept
    or reject is about their dialog as data. The two have nothing to do with each other. A rejection
    takes a reason in the column feedback. A dialog that is rejected as data is collected once more.

    Example: duologue hits review my-study --csv my-study/review.csv
    """
    if (out is None) is (back is None):
        raise BadInput(["say --csv FILE to write a file, or --from FILE to read one back"])

    async def write(file: Path) -> tuple[dict[str, Any], str]:
        async with desk(study) as at:
            found = await at.record.read(reviewed, at.study_id)
            rows = table(found, invitations=at.recruiter.name == Link.name)
        with new_file(file, "utf-8-sig") as target:
            number = write_csv(rows, target) - 1
        return {"arrivals": number, "csv": str(file)}, f"{file}: {count(number, 'arrival')}"

    async def read(file: Path) -> tuple[dict[str, Any], str]:
        try:
            with file.open(encoding="utf-8-sig", newline="") as source:
                rows = list(read_csv(source, ("arrival",)))
            own = passed_over(rows[0][1]) if rows else []
            decided, judged = decisions(rows), verdicts(rows)
        except CsvError as error:
            raise BadInput([f"{file.name}, {error}"]) from None
        except UnicodeDecodeError:
            raise BadInput([f"{file.name}: is not UTF-8; save the file as UTF-8"]) from None
        async with desk(study, remote=not dry_run and bool(decided)) as at:
            admin = await judge_of(at, who) if judged else None
            values, text = await _carry_out(
                at, decided, judged, admin, file.name, yes=yes, dry_run=dry_run, json=as_json
            )
        if own:
            names = ", ".join(map(repr, own))
            text += f"\nnothing was looked for in what is not a column of ours: {names}"
        return {**values, "passed_over": own}, text

    values, text = run(write(out) if out is not None else read(_given(back)))
    show(as_json, values, text)


def _given(file: Path | None) -> Path:
    assert file is not None, "one of both is given"
    return file


async def _carry_out(
    at: Desk,
    decided: list[Decided],
    judged: list[JudgedData],
    admin: AdminRow | None,
    name: str,
    *,
    yes: bool,
    dry_run: bool,
    json: bool,
) -> tuple[dict[str, Any], str]:
    known = {each.arrival_id: each for each in await at.record.read(reviewed, at.study_id)}
    owed = {
        p.arrival_id: p
        for p in await at.record.read(rows.payments_in, at.study_id, (LedgerState.OWED,))
    }
    refused = [d.arrival_id for d in decided if d.verdict is Verdict.REJECT]
    kept: dict[str, list[PaymentRow]] = {}
    for payment in await at.record.read(rows.payments_of, refused):
        if payment.state is not LedgerState.CANCELLED:
            kept.setdefault(payment.arrival_id, []).append(payment)
    problems = [
        f"{name}, line {each.line}: {each.arrival_id} is no arrival of this study that has ended"
        for each in decided
        if each.arrival_id not in known
    ]
    owed_to = {arrival: is_owed(each, at.config.currency) for arrival, each in kept.items()}
    problems += [
        f"{name}, line {each.line}: {each.arrival_id} {owed_to[each.arrival_id]}, so the work "
        "cannot be rejected"
        for each in decided
        if each.verdict is Verdict.REJECT and each.arrival_id in known and each.arrival_id in kept
    ]
    if problems:
        raise BadInput(problems)
    approve = [
        owed[d.arrival_id] for d in decided if d.verdict is Verdict.APPROVE and d.arrival_id in owed
    ]
    reject = [d for d in decided if d.verdict is Verdict.REJECT]
    if reject:
        needs(at.recruiter.capabilities.pays, at, "takes no work in that could be refused")
    new = await to_judge(at, admin, name, judged) if admin is not None else []
    cents = sum(p.cents for p in approve)
    idle = sum(d.verdict is Verdict.APPROVE for d in decided) - len(approve)
    values = {"approved": len(approve), "cents": cents, "rejected": len(reject), "idle": idle}
    text = f"{len(approve)} approved ({at.money(cents)}), {len(reject)} rejected"
    if idle:
        text += f"; {idle} need no approval: nothing is owed, or it is decided already"
    data = counts(new)
    values |= {**data, "judged_before": len(judged) - len(new)}
    if judged:
        text += "; as data {accepted_as_data} accepted, {rejected_as_data} rejected".format(**data)
        if len(new) < len(judged):
            text += f" ({len(judged) - len(new)} more as they are already)"
    if not decided and not judged:
        return values, f"{name} decides nothing: its cells of verdict and decision are empty"
    if dry_run:
        return values, f"would be: {text}"
    if not (approve or reject or new):
        return values, f"nothing was to be done: {text}"
    sure(f"Carry out: {text}?", yes=yes, as_json=json)
    for payment in approve:
        await at.manager.outbox.approve(payment)
    failed = await judge(at, admin, name, new) if admin is not None else []
    for each in reject:
        try:
            await refuse(
                at.record,
                at.recruiter,
                at.study_id,
                known[each.arrival_id].assignment_id,
                each.feedback,
            )
        except RecruiterError as error:
            failed.append(f"{name}, line {each.line}: {each.arrival_id} was not rejected: {error}")
    if failed:
        raise BadInput([*failed, "everything else in the file has been carried out"])
    return values, text
