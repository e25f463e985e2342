"""`duologue study changes`: what the team has changed in the monitor, and letting it go again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from dialogs.money import to_text
from dialogs.record import queries
from dialogs.record.changing import CannotChange, change_terms
from dialogs.record.store import Record
from dialogs.terms import CHANGEABLE, PAY, Changes, contradictions
from duologue.console import AS_JSON, STUDY, record_of, run, show, site_of
from duologue.problems import BadInput
from duologue.serve import STUDY_FILE, Site
from duologue.study import StudyFile
from duologue.words import count


async def changes_of(record: Record, study_id: str) -> Changes:
    """What the team has changed while the study ran."""
    stored = await record.read(queries.study, study_id)
    return stored.changes if stored is not None else {}


def told(study: StudyFile, changes: Changes) -> list[str]:
    """`pay.complete is 2.00 (1.50 in study.toml)`, for each of what was changed."""
    before = study.terms().values()

    def text(name: str, value: float) -> str:
        return to_text(int(value), study.pay.currency) if name in PAY else f"{value:g}"

    return [
        f"{CHANGEABLE[name]} is {text(name, changes[name])} ({text(name, before[name])} in "
        f"{STUDY_FILE})"
        for name in CHANGEABLE
        if name in changes
    ]


async def note_of_changes(site: Site) -> str:
    """What a start says of changes that go before the study file; empty, if there are none.

    Raises:
        BadInput: the file has been changed since, so that both do not fit together.
    """
    async with record_of(site) as record:
        changes = await changes_of(record, site.study.study.id)
    if not changes:
        return ""
    drop = "`duologue study changes --drop` lets the file hold again"
    if problems := contradictions(site.study.terms().changed(changes)):
        since = f"with what was changed in the monitor ({'; '.join(told(site.study, changes))})"
        raise BadInput([f"{STUDY_FILE}: {problem}, {since}; {drop}" for problem in problems])
    return f"note: changed in the monitor: {'; '.join(told(site.study, changes))}; {drop}"


@click.group()
def study() -> None:
    """Look after what a study pays and allows while it runs.

    Example: duologue study changes my-study
    """


@study.command("changes")
@STUDY
@click.option("--drop", is_flag=True, help="Let the study file hold again.")
@AS_JSON
def changes_command(study: Path, drop: bool, as_json: bool) -> None:
    """Show what was changed in the monitor, which goes before the study file.

    Example: duologue study changes --drop my-study
    """
    site = site_of(study)

    async def work() -> tuple[dict[str, Any], str]:
        async with record_of(site) as record:
            changes = await changes_of(record, site.study.study.id)
            values = {"changes": dict(changes), "dropped": False}
            lines = "\n".join(told(site.study, changes)) or "nothing is changed"
            if not drop or not changes:
                return values, lines
            try:
                await change_terms(
                    record,
                    site.study.study.id,
                    site.study.terms(),
                    {},
                    reason="dropped at the command line",
                    admin_id=None,
                    now=time.time(),
                )
            except CannotChange as error:
                raise BadInput([str(error)]) from None
            dropped = f"{count(len(changes), 'change')} dropped; {STUDY_FILE} holds again"
            return values | {"dropped": True}, dropped

    values, text = run(work())
    show(as_json, values, text)
