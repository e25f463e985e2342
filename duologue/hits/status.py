"""`hits status`: where a study's recruiting and paying stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from dialogs.record import hits as rows
from dialogs.record import payments
from dialogs.record import supply as supplies
from dialogs.record.stuck import with_problem
from dialogs.record.told import problems_reported
from dialogs.record.unowed import handed_in_for_nothing
from dialogs.rules import HitState, LedgerState
from duologue.console import AS_JSON, STUDY, run, show
from duologue.hits.desk import Desk, demand_of, desk
from duologue.words import count

_NEED_A_PERSON: Final = {LedgerState.HELD, LedgerState.FAILED, HitState.FAILED}
_NAMED: Final = 5
"""How many of a kind are named in the text; JSON names all."""


def some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


@click.command()
@STUDY
@click.option("--items", "with_items", is_flag=True, help="Show each item's dialogs too.")
@AS_JSON
def status(study: Path, with_items: bool, as_json: bool) -> None:
    """HITs, people on their way, payments by state, and what needs a person.

    Example: duologue hits status my-study --items
    """

    async def look() -> tuple[dict[str, Any], str]:
        async with desk(study) as at:
            plan, supply = await demand_of(at)
            all_hits = await at.record.read(rows.hits_in, at.study_id, tuple(HitState))
            totals = await at.record.read(payments.ledger_totals, at.study_id)
            stuck = await at.record.read(with_problem, at.study_id)
            undecided = await at.record.read(handed_in_for_nothing, at.study_id)
            reported = await at.record.read(problems_reported, at.study_id)
            states = Counter(hit.state.value for hit in all_hits)
            values = {
                "missing": supply.missing,
                "wanted": supply.wanted,
                "have": supply.have,
                "why": plan.why if at.recruiter.capabilities.posts else "",
                "hits": dict(states),
                "ledger": {
                    t.state.value: {"payments": t.payments, "cents": t.cents} for t in totals
                },
                "problems": [
                    {
                        "arrival": p.arrival_id,
                        "reason": p.reason,
                        "state": p.state.value,
                        "problem": p.problem,
                    }
                    for p in stuck
                ]
                + [
                    {"hit": hit.id, "state": hit.state.value, "problem": hit.problem}
                    for hit in all_hits
                    if hit.state is HitState.FAILED
                ],
                "handed_in_for_nothing": undecided,
                "problem_reports": reported,
            }
            text = _status_text(at, values)
            if with_items:
                chains = await at.record.read(supplies.chains, at.study_id)
                values["items"] = [asdict(chain) for chain in chains]
                text += "\n" + "\n".join(_chain_text(chain) for chain in chains)
            return values, text

    values, text = run(look())
    show(as_json, values, text)


def _status_text(at: Desk, values: dict[str, Any]) -> str:
    hits = ", ".join(f"{n} {state}" for state, n in values["hits"].items()) or "none"
    lines = [
        f"dialogs missing  {values['missing']}",
        f"people wanted    {values['wanted']}, on their way {values['have']}",
        f"HITs             {hits}",
    ]
    for state, total in values["ledger"].items():
        amount = f"{count(total['payments'], 'payment')}, {at.money(total['cents'])}"
        lines.append(f"{LedgerState(state).shown:<16} {amount}")
    put_off: dict[str, list[str]] = {}
    for problem in values["problems"]:
        where = problem.get("arrival") or problem.get("hit")
        if problem["state"] in _NEED_A_PERSON:
            lines.append(f"needs a person   {where}: {problem['problem']}")
        else:
            put_off.setdefault(problem["problem"], []).append(where)
    for why, arrivals in put_off.items():
        number = count(len(arrivals), "payment")
        lines.append(f"put off          {number} ({some(arrivals)}): {why}")
    if undecided := values["handed_in_for_nothing"]:
        lines.append(
            f"handed in        {count(len(undecided), 'piece')} of work for which nothing is owed "
            f"({some(undecided)}): approved over there by itself, unless you say `duologue hits "
            "reject`, after taking back what was given for it by hand"
        )
    if reported := values["problem_reports"]:
        lines.append(
            f"reported         {count(reported, 'problem')} by workers: `duologue reports` shows "
            + ("it" if reported == 1 else "them")
        )
    if values["why"]:
        lines.append(f"nobody new       {values['why']}")
    return "\n".join(lines)


def _chain_text(chain: supplies.Chain) -> str:
    held = "; ".join(
        f"{dialog} {how}" + (f" → relaunched as {', '.join(again)}" if again else "")
        for dialog, how, again in chain.dialogs
    )
    return f"{chain.image_id}: {chain.complete} of {chain.wanted}  {held}".rstrip()
