"""`hits plan`, `launch`, `reconcile`, `extend`, `expire`, `cost`, `invite`."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from dialogs.record import hits as rows
from dialogs.record import queries
from dialogs.record import supply as supplies
from dialogs.record.payments import PaymentRow
from dialogs.rules import HitState, StudyStatus
from duologue.console import AS_JSON, STUDY, Between, new_file, run, show, site_of
from duologue.hits.desk import (
    DRY_RUN,
    YES,
    Desk,
    address_of,
    demand_of,
    desk,
    needs,
    note_of_address,
    sure,
)
from duologue.problems import BadInput
from duologue.study import read_invitations
from duologue.words import count
from hit_manager import ledger
from hit_manager.csvfiles import write_csv
from hit_manager.demand import Demand
from hit_manager.ledger import price_of_a_person
from hit_manager.outbox import Paid
from hit_manager.posting import Posters
from hit_manager.reconciler import Down
from hit_manager.recruiters.base import NotYet, Refused
from hit_manager.recruiters.link import add_invitations, invitation_rows, make_invitations


def _plan_of(
    at: Desk, plan: Demand, supply: supplies.Supply, balance: int | None
) -> dict[str, Any]:
    each = price_of_a_person(at.config, at.recruiter)
    return {
        "recruiter": at.recruiter.name,
        "missing": supply.missing,
        "wanted": supply.wanted,
        "have": supply.have,
        "seats": plan.seats,
        "expire": len(plan.expire),
        "why": plan.why,
        "unfit": at.site.study.unfit(),
        "reward_cents": at.config.reward,
        "each_cents": each,
        "cost_cents": plan.seats * each,
        "balance_cents": balance,
        "currency": at.config.currency,
    }


def _plan_text(at: Desk, values: dict[str, Any]) -> str:
    balance = values["balance_cents"]
    lines = [
        f"dialogs missing   {values['missing']}",
        f"people wanted     {values['wanted']}, on their way {values['have']}",
        f"to be posted      {count(values['seats'], 'seat')}",
        f"to be expired     {count(values['expire'], 'HIT')}",
        f"cost at most      {at.money(values['cost_cents'])}: {at.money(values['each_cents'])} a "
        "person, commission included",
        f"money over there  {at.money(balance) if balance is not None else 'not known'}",
    ]
    if values["why"]:
        lines.append(f"because           {values['why']}")
    if values["unfit"]:
        lines.append(f"not to be posted  {values['unfit']}")
    return "\n".join(lines)


@click.command()
@STUDY
@AS_JSON
def plan(study: Path, as_json: bool) -> None:
    """Say what would be posted and expired now, and what it would cost. Posts nothing.

    A study that has never run is begun by this: all items of its items file are taken into its
    record, and are wanted from then on, also when they are taken out of the file again.

    Example: duologue hits plan my-study
    """

    async def look() -> tuple[dict[str, Any], str]:
        async with desk(study, remote=True, begins=True) as at:
            needs(at.recruiter.capabilities.posts, at, "posts no HITs; send people its link")
            values = _plan_of(at, *await demand_of(at), await at.recruiter.balance())
            return values, _plan_text(at, values)

    values, text = run(look())
    show(as_json, values, text)


@click.command()
@STUDY
@YES
@DRY_RUN
@AS_JSON
def launch(study: Path, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Post what is wanted, after saying what it costs. Pays nobody.

    Whoever takes a HIT needs the study's server: start `duologue serve --no-hits` before.
    `duologue serve` posts by itself.

    Example: duologue hits launch my-study
    """
    _reconcile(study, pays=False, yes=yes, dry_run=dry_run, as_json=as_json)


@click.command()
@STUDY
@YES
@DRY_RUN
@AS_JSON
def reconcile(study: Path, yes: bool, dry_run: bool, as_json: bool) -> None:
    """One round by hand: post what is missing, expire what is not wanted, pay what may be paid.

    Ends with exit code 2 if a payment failed.

    Example: duologue hits reconcile my-study --yes
    """
    _reconcile(study, pays=True, yes=yes, dry_run=dry_run, as_json=as_json)


def _reconcile(study: Path, *, pays: bool, yes: bool, dry_run: bool, as_json: bool) -> None:
    async def work() -> tuple[dict[str, Any], str]:
        async with desk(study, remote=True, begins=True) as at:
            needs(at.recruiter.capabilities.posts, at, "posts no HITs; send people its link")
            values = _plan_of(at, *await demand_of(at), await at.recruiter.balance())
            plan_text, due = _plan_text(at, values), await _due(at) if pays else []
            if pays:
                price = sum(ledger.cost(payment, at.recruiter) for payment in due)
                values |= {"payments": len(due), "payments_cents": price}
                said = f"{count(len(due), 'payment')}, {at.money(price)} with commission"
                plan_text += f"\nto be paid        {said}"
            if dry_run:
                return values, plan_text
            if values["unfit"]:
                raise BadInput([values["unfit"]])
            if not as_json:
                click.echo(plan_text)
            if values["seats"] or due:
                also = f", and send {count(len(due), 'payment')}" if due else ""
                question = f"Post {count(values['seats'], 'seat')}{also}?"
                sure(question, yes=yes, as_json=as_json)
            report = await at.manager.reconcile()
            # No more than was said: what has come in meanwhile waits for the next round.
            paid = await at.manager.pay(due) if due else Paid()
            if report is None or paid is None:
                raise BadInput(
                    [
                        "a server that runs does all of this by itself, so nothing is to be done; "
                        "if none runs, one was killed a moment ago: try again in a minute"
                    ]
                )
            text = (
                f"{count(report.posted, 'HIT')} posted, {report.grown} given more seats, "
                f"{report.expired} expired, "
                f"{count(report.strays, 'stray')} taken down"
            )
            if pays:
                text += f", {count(paid.payments, 'payment')} sent"
            lines = (text, *report.problems, *paid.problems)
            return {**asdict(report), "paid": asdict(paid)}, "\n".join(lines)

    values, text = run(work())
    show(as_json, values, text, failed=bool(values.get("paid", {}).get("failed")))


async def _due(at: Desk) -> list[PaymentRow]:
    return await at.manager.outbox.due() if at.recruiter.capabilities.pays else []


@click.command()
@click.argument("hours", type=Between(min=0.1, max=8760))
@STUDY
@AS_JSON
def extend(hours: float, study: Path, as_json: bool) -> None:
    """Let the HITs that are open be found for HOURS from now.

    Example: duologue hits extend 24 my-study
    """

    async def work() -> tuple[int, list[str]]:
        async with desk(study, remote=True) as at:
            open_hits = await at.record.read(rows.hits_in, at.study_id, (HitState.OPEN,))
            until = time.time() + 3600 * hours
            longer, problems = 0, []
            for hit in open_hits:
                if not hit.remote_id or (hit.expires_at or 0) >= until:
                    continue
                try:
                    await at.recruiter.extend(hit.remote_id, until)
                except (Refused, NotYet) as error:
                    # One that is gone over there must not let the others run out.
                    problems.append(f"HIT {hit.id} could not be extended: {error}")
                    continue
                await at.record.writer.commit(rows.hit_extended(hit.id, until))
                longer += 1
            return longer, problems

    longer, problems = run(work())
    text = f"{count(longer, 'HIT')} can be found for {hours:g} hours"
    values = {"extended": longer, "problems": problems}
    show(as_json, values, "\n".join((text, *problems)), failed=bool(problems))


@click.command()
@STUDY
@click.option(
    "--foreign",
    is_flag=True,
    help="Take down only what another record of the same study has posted, such as that of a "
    "copied folder; asks.",
)
@YES
@AS_JSON
def expire(study: Path, foreign: bool, yes: bool, as_json: bool) -> None:
    """Take down all open HITs; people inside may finish and are paid.

    While the study is open, `duologue serve` posts what is missing again: pause it first.

    Example: duologue pause my-study && duologue hits expire my-study
    """

    async def work() -> tuple[dict[str, Any], str]:
        async with desk(study, remote=True) as at:
            if foreign:
                return await _expire_foreign(at, yes=yes, as_json=as_json)
            row = await at.record.read(queries.study, at.study_id)
            still = row is not None and row.status is StudyStatus.OPEN
            down = await at.manager.take_all_down()
            # Where the lease is another's, a server that runs does the rest.
            by_server = down is None
            down = down or await _expire_open(at)
            values = {**asdict(down), "by_server": by_server}
            return values, _expired_text(down, still=still, by_server=by_server)

    values, text = run(work())
    show(as_json, values, text)


async def _expire_foreign(at: Desk, *, yes: bool, as_json: bool) -> tuple[dict[str, Any], str]:
    found = await at.manager.reconciler.foreign(await at.recruiter.hits())
    number = count(len(found), "HIT")
    if found:
        question = f"Take down {number} of another record of this study? It may be at work."
        sure(question, yes=yes, as_json=as_json)
    down = await at.manager.reconciler.take_foreign_down() if found else 0
    return {"expired": down}, f"{count(down, 'HIT')} of another record taken down"


async def _expire_open(at: Desk) -> Down:
    open_hits = await at.record.read(rows.hits_in, at.study_id, (HitState.OPEN,))
    posters = Posters(at.record, at.recruiter, at.config, time.time)
    return Down(expired=await posters.expire(open_hits), problems=posters.told())


def _expired_text(down: Down, *, still: bool, by_server: bool) -> str:
    text = f"{count(down.expired, 'HIT')} taken down"
    if down.strays:
        text += f", and {count(down.strays, 'stray')}"
    if down.unseen:
        text += (
            f"; {down.unseen} more had been decided on and cannot be seen over there: if a server "
            "was killed a moment ago, say this again in a quarter of an hour"
        )
    if by_server:
        text += (
            "; HITs whose posting was cut off, if there are any, are taken down by the server that "
            "runs"
        )
    if still:
        text += "; the study is open, so what is missing is posted again"
    return "\n".join((text, *down.problems))


@click.command()
@STUDY
@AS_JSON
def cost(study: Path, as_json: bool) -> None:
    """What the study has cost, what it owes, and what the rest will cost; commission included.

    A payment that failed or is held after it was begun may have gone out all the same. It stands
    in a line of its own, and the budget is charged with it until it is decided.

    Example: duologue hits cost my-study
    """

    async def look() -> tuple[dict[str, Any], str]:
        async with desk(study) as at:
            supply = await at.record.read(supplies.supply, at.study_id)
            outbox = at.manager.outbox
            charged, committed = await outbox.spent(), await outbox.committed()
            unsure = await outbox.unsure()
            rest = (supply.wanted + supply.alone) * price_of_a_person(at.config, at.recruiter)
            values = {
                "spent_cents": charged - unsure,
                "unsure_cents": unsure,
                "owed_cents": committed - charged,
                "rest_cents": rest,
                "budget_cents": at.config.budget,
                "currency": at.config.currency,
            }
            budget = at.config.budget
            limit = at.money(budget) if budget is not None else "none"
            lines = [f"spent   {at.money(charged - unsure)}"]
            if unsure:
                lines.append(
                    f"unsure  {at.money(unsure)} may have gone out: failed or held half-way"
                )
            lines += [
                f"owed    {at.money(committed - charged)}",
                f"rest    {at.money(rest)} for {count(supply.missing, 'dialog')}",
                f"budget  {limit}",
            ]
            return values, "\n".join(lines)

    values, text = run(look())
    show(as_json, values, text)


@click.command()
@click.argument("number", type=click.IntRange(1, 100_000))
@STUDY
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The file for the links, one for each person.",
)
@AS_JSON
def invite(number: int, study: Path, csv_file: Path, as_json: bool) -> None:
    """Make NUMBER invitation links, each good for one person, and add their codes to the study.

    Example: duologue hits invite 200 my-study --csv my-study/links.csv
    """

    site = site_of(study)
    file = site.study.invitations_path
    if file is None:
        raise BadInput(
            [
                "study.one_time_invitations is not set; set it, and name the file of the codes in "
                "study.invitations"
            ]
        )
    if csv_file.resolve() == file.resolve():
        raise BadInput([f"{csv_file}: is the study's file of codes; name another for the links"])
    known = read_invitations(file) if file.exists() and file.stat().st_size else ()
    codes = make_invitations(number, known)
    with new_file(csv_file) as links:
        # In this order: a code without a link harms nobody, a link without a code lets nobody in.
        try:
            _add(file, codes)
        except BadInput:
            # Empty, it would only be in the way of the next try.
            csv_file.unlink()
            raise
        write_csv(invitation_rows(codes, f"{address_of(site)}/work"), links)
    if note := note_of_address(site):
        click.echo(note, err=True)
    show(
        as_json,
        {"invitations": len(codes), "csv": str(csv_file)},
        f"{csv_file}: {count(len(codes), 'link')}; a server that runs already knows them when it "
        "is started anew",
    )


def _add(file: Path, codes: Iterable[str]) -> None:
    try:
        add_invitations(file, codes)
    except OSError as error:
        raise BadInput([f"{file}: cannot be written: {error.strerror}"]) from None
