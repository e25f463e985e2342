"""`hits message`, `block`, `unblock`: by arrival, so that no worker id need be typed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from dialogs.record import queries
from duologue.console import AS_JSON, run, show
from duologue.hits.desk import Desk, desk, needs
from duologue.hits.money import ARRIVALS, STUDY_OPTION
from duologue.problems import BadInput
from duologue.words import count
from hit_manager.people import known_as
from hit_manager.recruiters.base import NotYet, Refused


async def _workers_of(at: Desk, arrivals: Sequence[str]) -> dict[str, str]:
    """The recruiter's ids of the people of these arrivals, each with the arrivals it is of."""
    if not arrivals:
        raise BadInput(["name at least one arrival"])
    rows = await at.record.read(queries.arrivals_by_id, arrivals)
    missing = [a for a in arrivals if a not in rows or rows[a].study_id != at.study_id]
    if missing:
        raise BadInput([f"{name}: is no arrival of this study" for name in missing])
    found, problems = await known_as(at.record, at.study_id, rows)
    if problems:
        raise BadInput(problems)
    return {worker: ", ".join(sorted(found[worker])) for worker in sorted(found)}


async def _each(people: Mapping[str, str], done: Callable[[str], Awaitable[None]]) -> int:
    """Do it for all of these people; how many they are. One who is not known over there keeps
    nobody else from it.

    Raises:
        BadInput: it was refused for some, and for whom.
    """
    failed = []
    for worker, names in people.items():
        try:
            await done(worker)
        except (Refused, NotYet) as error:
            failed.append(f"{names}: {error}")
    if failed:
        left = len(people) - len(failed)
        raise BadInput([*failed, f"done for {count(left, 'other person', 'other people')}"])
    return len(people)


@click.command()
@ARRIVALS
@STUDY_OPTION
@click.option("--subject", required=True, help="The subject line.")
@click.option("--text", required=True, help="The message.")
@AS_JSON
def message(arrivals: tuple[str, ...], study: Path, subject: str, text: str, as_json: bool) -> None:
    """Write to the workers of these ARRIVALs through their recruiter.

    Ends with exit code 2 if somebody was not reached, and says who.

    Example: duologue hits message a_12ab --subject "Thank you" --text "…" --study my-study
    """

    async def work() -> dict[str, Any]:
        async with desk(study, remote=True) as at:
            needs(at.recruiter.capabilities.messages, at, "carries no messages")
            people = await _workers_of(at, arrivals)
            failed = await at.recruiter.message(people, subject, text)
            told = sorted(f"{people[worker]}: {why}" for worker, why in failed.items())
            return {"sent": len(people) - len(failed), "failed": told}

    values = run(work())
    why = "".join(f"\nnot reached: {each}" for each in values["failed"])
    text = f"{count(values['sent'], 'message')} sent{why}"
    show(as_json, values, text, failed=bool(values["failed"]))


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
            return await _each(people, lambda worker: at.recruiter.block(worker, reason))

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
            return await _each(await _workers_of(at, arrivals), at.recruiter.unblock)

    number = run(work())
    show(
        as_json,
        {"unblocked": number},
        f"{count(number, 'worker sees', 'workers see')} your HITs again",
    )
