"""`hits approve`, `bonus`, `pay`: each says what it will do, and asks."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from dialogs.money import to_cents
from dialogs.record import payments as rows
from dialogs.record import queries
from dialogs.record.errors import Conflict
from dialogs.record.payments import PaymentRow
from dialogs.record.queries import ArrivalRow
from dialogs.rules import LedgerState
from duologue.console import AS_JSON, run, show
from duologue.hits.desk import DRY_RUN, YES, Desk, desk, needs, sure
from duologue.problems import BadInput
from duologue.words import count
from hit_manager import giving, ledger


def _named(context: click.Context, param: click.Parameter, given: Any) -> Any:
    """An empty name, as of a script's variable that is not set, is none."""
    for name in (given,) if isinstance(given, str) else given:
        if not name.strip():
            raise click.BadParameter("an arrival's name must not be empty", context, param)
    return given


ARRIVALS = click.argument("arrivals", nargs=-1, callback=_named, metavar="[ARRIVAL]...")
ARRIVAL = click.argument("arrival", callback=_named)
STUDY_OPTION = click.option(
    "--study",
    type=click.Path(path_type=Path),
    default=Path(),
    help="The study's folder.  [default: the current folder]",
)
ALL = click.option("--all", "everything", is_flag=True, help="All that are in question.")


async def chosen(
    at: Desk, arrivals: Sequence[str], states: Collection[LedgerState], *, everything: bool
) -> list[PaymentRow]:
    """The payments in these states: of the arrivals named, or all of them."""
    if bool(arrivals) is everything:
        raise BadInput(["name arrivals, or say --all"])
    found = await at.record.read(rows.payments_in, at.study_id, states)
    mine = [p for p in found if everything or p.arrival_id in arrivals]
    unknown = set(arrivals) - {p.arrival_id for p in mine}
    if unknown:
        wanted = " or ".join(state.shown for state in states)
        raise BadInput([f"{name}: has no payment that is {wanted}" for name in sorted(unknown)])
    return mine


def told(at: Desk, found: Sequence[PaymentRow]) -> tuple[dict[str, Any], str]:
    """What these payments come to, for a script and for a person."""
    cents = sum(p.cents for p in found)
    price = sum(ledger.cost(p, at.recruiter) for p in found)
    values = {
        "payments": len(found),
        "cents": cents,
        "commission_cents": price - cents,
        "currency": at.config.currency,
        "arrivals": [p.arrival_id for p in found],
    }
    payments = count(len(found), "payment")
    text = f"{payments}, {at.money(cents)}, and {at.money(price - cents)} commission"
    return values, text


@click.command()
@ARRIVALS
@STUDY_OPTION
@ALL
@YES
@DRY_RUN
@AS_JSON
def approve(
    arrivals: tuple[str, ...],
    study: Path,
    everything: bool,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Let what is owed be paid. It is sent by `duologue serve` or `duologue hits pay`.

    Example: duologue hits approve --all --study my-study
    """

    async def work() -> tuple[dict[str, Any], str]:
        async with desk(study) as at:
            states = (LedgerState.OWED, LedgerState.HELD, LedgerState.FAILED)
            wanted = states[:1] if everything else states
            found = await chosen(at, arrivals, wanted, everything=everything)
            values, text = told(at, found)
            if dry_run:
                return values, f"would be approved: {text}"
            if not found:
                return values, f"nothing was to be approved: {text}"
            sure(f"Approve {text}?", yes=yes, as_json=as_json)
            done = [p for p in found if await at.manager.outbox.approve(p)]
            values, text = told(at, done)
            return values, f"approved: {text}"

    values, text = run(work())
    show(as_json, values, text)


@click.command()
@ARRIVALS
@STUDY_OPTION
@ALL
@YES
@DRY_RUN
@AS_JSON
@click.option("--mark-paid", is_flag=True, help="They have been paid by other means: only note it.")
def pay(
    arrivals: tuple[str, ...],
    study: Path,
    everything: bool,
    yes: bool,
    dry_run: bool,
    as_json: bool,
    mark_paid: bool,
) -> None:
    """Send what is approved now. With --mark-paid, note that it was paid by other means.

    Ends with exit code 2 if a payment failed.

    Example: duologue hits pay --all --study my-study --dry-run
    """

    async def work() -> tuple[dict[str, Any], str]:
        async with desk(study, remote=not (mark_paid or dry_run)) as at:
            able = at.recruiter.capabilities.pays or mark_paid or dry_run
            needs(able, at, "pays nobody; pay by your own means and say --mark-paid")
            states = [LedgerState.APPROVED, LedgerState.SENDING]
            if mark_paid:
                # What was owed or refused is noted only for those who are named.
                states = [LedgerState.APPROVED, LedgerState.HELD]
                if not everything:
                    states += [LedgerState.OWED, LedgerState.FAILED]
            found = await chosen(at, arrivals, states, everything=everything)
            values, text = told(at, found)
            if dry_run:
                return values, f"would be paid: {text}"
            if not found:
                return values, f"nothing was to be paid: {text}"
            if mark_paid:
                sure(f"Note as paid: {text}?", yes=yes, as_json=as_json)
                return await _mark(at, found)
            sure(f"Pay {text}?", yes=yes, as_json=as_json)
            # What is put off as far as is known here is asked for by hand now.
            paid = await at.manager.pay(found)
            if paid is None:
                raise BadInput(
                    [
                        "a server that runs pays what is approved by itself, so nothing is to be "
                        "done; if none runs, one was killed a moment ago: try again in a minute"
                    ]
                )
            text = (
                f"{count(paid.payments, 'payment')} sent, {at.money(paid.cents)}; "
                f"{paid.waiting} waiting, {paid.held} held, {paid.failed} failed"
            )
            return asdict(paid), "\n".join((text, *paid.problems))

    values, text = run(work())
    show(as_json, values, text, failed=bool(values.get("failed")))


async def _mark(at: Desk, found: Sequence[PaymentRow]) -> tuple[dict[str, Any], str]:
    done = []
    for payment in found:
        try:
            await at.record.writer.commit(rows.paid(payment, time.time(), "paid by other means"))
        except Conflict:
            continue
        done.append(payment)
    values, text = told(at, done)
    return values, f"noted as paid: {text}"


@click.command()
@ARRIVAL
@click.argument("amount")
@STUDY_OPTION
@click.option("--reason", required=True, help="What the worker is told.")
@click.option(
    "--id",
    "name",
    help="A name of your own for this bonus: given again with the same name, it is given once. "
    "For scripts that may be killed and run again.",
)
@YES
@DRY_RUN
@AS_JSON
def bonus(
    arrival: str,
    amount: str,
    study: Path,
    reason: str,
    name: str | None,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Give the worker of ARRIVAL an AMOUNT beside what is owed.

    Example: duologue hits bonus a_12ab 0.50 --reason "You waited long." --study my-study
    """

    async def work() -> tuple[dict[str, Any], str]:
        async with desk(study) as at:
            cents = _amount(at, amount)
            if problem := giving.unfit(reason):
                raise BadInput([f"--reason {problem}"])
            row = await at.record.one(queries.arrivals_by_id, arrival)
            if row is None or row.study_id != at.study_id:
                raise BadInput([f"{arrival}: is no arrival of this study"])
            bonus_id = _bonus_id(name)
            known = f"bonus-{bonus_id}"
            await _check_not_erased(at, row)
            fee = at.recruiter.commission(cents, bonus=True)
            values = {
                "arrival": arrival,
                "cents": cents,
                "commission_cents": fee,
                "currency": at.config.currency,
                "payment": known,
                "given": False,
            }
            if earlier := await giving.given(at.record, arrival, known):
                return values, _given_before(earlier, cents)
            await _affordable(at, cents + fee)
            text = f"{at.money(cents)}, and {at.money(fee)} commission, to {arrival}"
            if dry_run:
                return values, f"would give {text}"
            sure(f"Give {text}?", yes=yes, as_json=as_json)
            # While the question stood, somebody else may have given another one.
            await _affordable(at, cents + fee)
            await _check_not_erased(at, row)
            given = rows.given_by_hand(
                arrival, bonus_id, cents, at.config.currency, reason, time.time()
            )
            try:
                await at.record.writer.commit(given)
            except Conflict:
                # Another script gave it by this name in this moment.
                if (earlier := await giving.given(at.record, arrival, known)) is None:
                    raise
                return values, _given_before(earlier, cents)
            values["given"] = True
            return (
                values,
                f"{at.money(cents)} for {arrival} is approved as {known} and will be paid",
            )

    values, text = run(work())
    show(as_json, values, text)


async def _check_not_erased(at: Desk, row: ArrivalRow) -> None:
    if problem := await giving.erased(at.record, row):
        raise BadInput([f"{row.id}: {problem}"])


def _amount(at: Desk, amount: str) -> int:
    try:
        cents = to_cents(amount, at.config.currency)
    except ValueError as error:
        raise BadInput([f"AMOUNT {error}"]) from None
    if cents < 1:
        raise BadInput(["AMOUNT must be more than nothing"])
    if cents > rows.MOST_CENTS:
        raise BadInput([f"AMOUNT must not be more than {at.money(rows.MOST_CENTS)}"])
    return cents


def _bonus_id(name: str | None) -> str:
    if name is None:
        return secrets.token_hex(4)
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name):
        raise BadInput(["--id must have 1 to 64 letters, digits, dots, - or _"])
    return name


def _given_before(earlier: PaymentRow, cents: int) -> str:
    """What is said of a bonus that stands in the record under this name already."""
    if problem := giving.differs(earlier, cents):
        raise BadInput([f"{earlier.arrival_id}: {problem}; name another --id"])
    return (
        f"{earlier.reason} was given to {earlier.arrival_id} already, and is {earlier.state.shown}"
    )


async def _affordable(at: Desk, price: int) -> None:
    if problem := await giving.unaffordable(at.config, at.manager.outbox, price):
        raise BadInput([problem])
