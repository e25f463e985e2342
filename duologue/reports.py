"""`duologue reports`: what workers have told the team."""

from __future__ import annotations

import re
import time
from dataclasses import asdict
from pathlib import Path
from typing import Final

import click

from dialogs.record.told import Told, told
from duologue.console import AS_JSON, STUDY, record_of, run, show, site_of

_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys instead of showing it, and what turns the direction of the rest."""


@click.command()
@STUDY
@AS_JSON
def reports(study: Path, as_json: bool) -> None:
    """Show what workers told the team: problems, why they left, and feedback. Newest last.

    Example: duologue reports my-study
    """
    site = site_of(study, keyed=False)

    async def look() -> list[Told]:
        async with record_of(site) as record:
            return await record.read(told, site.study.study.id)

    found = run(look())
    text = "\n".join(_as_text(each) for each in found) or "no worker has reported anything"
    show(as_json, {"reports": [asdict(each) for each in found]}, text)


def _as_text(each: Told) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(each.at))
    where = f"{each.arrival_id}, {each.dialog_id}" if each.dialog_id else each.arrival_id
    # Every line of it is indented: none can be taken for the head of another report.
    said = "\n".join(f"    {line}" for line in harmless(each.text).split("\n"))
    return f"{when}  {each.kind}  {where}\n{said}"


def harmless(text: str) -> str:
    """What somebody wrote, with control characters as escapes: `\\x1b` for ESC."""
    return _UNSAFE.sub(
        lambda found: found[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n")
    )
