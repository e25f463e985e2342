"""`hits message`, `block`, `unblock`: by arrival, so that no worker id need be typed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dialogs.record import queries
from dialogs.record.hits import assignments_by_id
from duologue.console import AS_JSON, run, show
from duologue.hits.desk import Desk, desk, needs
from duologue.hits.money import ARRIVALS, STUDY_OPTION
from duologue.problems import BadInput
from duologue.words import count


async def _workers_of(at: Desk, arrivals: Sequence[str]) -> list[str]:
    """The recruiter's ids of the people of these arrivals.

    A link says who somebody is, and so can name anybody; what the recruiter says of the assignment
    counts as soon as it says something.
    """
    if not arrivals:
        raise BadInput(["name at least one arrival"])
    rows = await at.record.read(queries.arrivals_by_id, arrivals)
    missing = [a for a in arrivals if a not in rows or rows[a].study_id != at.study_id]
    if missing:
        raise BadInput([f"{name}: is no arrival of this study" for name in missing])
    claimed = await at.record.read(queries.external_ids, [row.worker_id for row in rows.values()])
    told = await at.record.read(
        assignments_by_id, at.study_id, [row.assignment_id for row in rows.values()]
    )
    found, wrong = set(), []
    for name, row in rows.items():
        worker, seen = claimed[row.worker_id], told.get(row.assignment_id)
        if seen is not None and seen.worker != worker:
            wrong.append(
                f"{name}: came with the id of somebody else; the recruiter says that another "
                "worker did this work"
            )
        found.add(worker)
    if wrong:
        raise BadInput(wrong)
    return sorted(found)


@click.command()
@ARRIVALS
@STUDY_OPTION
@click.option("--subject", required=True, help="The subject line.")
@click.option("--text", required=True, help="The message.")
@AS_JSON
def message(arrivals: tuple[str, ...], study: Path, subject: str, text: str, as_json: bool) -> None:
    """Write to the workers of these ARRIVALs through their recruiter.

    Example: duologue hits message a_12ab --subject "Thank you" --text "…" --study my-study
    """

    async def work() -> dict[str, Any]:
        async with desk(study, remote=True) as at:
            needs(at.recruiter.capabilities.messages, at, "carries no messages")
            people = await _workers_of(at, arrivals)
            failed = await at.recruiter.message(people, subject, text)
            return {"sent": len(people) - len(failed), "failed": sorted(failed.values())}

    values = run(work())
    why = "".join(f"\nnot reached: {reason}" for reason in values["failed"])
    show(as_json, values, f"{count(values['sent'], 'message')} sent{why}")


@click.command()
@ARRIVALS
@STUDY_OPTION
@click.option("--reason", default="", help="For your own records.")
@AS_JSON
def block(arrivals: tuple[str, ...], study: Path, reason: str, as_json: bool) -> None:
    """Show the workers of these ARRIVALs none of your HITs any more. Nobody is accused.

    Example: duologue hits block a_12ab --study my-study
    """

    async def work() -> int:
        async with desk(study, remote=True) as at:
            needs(at.recruiter.capabilities.blocks, at, "can keep nobody away")
            people = await _workers_of(at, arrivals)
            for worker in people:
                await at.recruiter.block(worker, reason)
            return len(people)

    number = run(work())
    show(
        as_json,
        {"blocked": number},
        f"{count(number, 'worker sees', 'workers see')} no HITs of yours any more",
    )


@click.command()
@ARRIVALS
@STUDY_OPTION
@AS_JSON
def unblock(arrivals: tuple[str, ...], study: Path, as_json: bool) -> None:
    """Show the workers of these ARRIVALs your HITs again.

    Example: duologue hits unblock a_12ab --study my-study
    """

    async def work() -> int:
        async with desk(study, remote=True) as at:
            needs(at.recruiter.capabilities.blocks, at, "can keep nobody away")
            people = await _workers_of(at, arrivals)
            for worker in people:
                await at.recruiter.unblock(worker)
            return len(people)

    number = run(work())
    show(
        as_json,
        {"unblocked": number},
        f"{count(number, 'worker sees', 'workers see')} your HITs again",
    )
