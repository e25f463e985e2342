"""`duologue erase`: on somebody's request, their texts and ids are overwritten."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any, Final

import click

from chatserver.tokens import Tokens
from dialogs.money import to_text
from dialogs.record import erasing
from dialogs.record.erasing import Person
from dialogs.record.errors import Conflict
from duologue.console import AS_JSON, record_of, run, show, site_of
from duologue.hits.desk import DRY_RUN, YES, sure
from duologue.hits.money import STUDY_OPTION
from duologue.problems import BadInput
from duologue.serve import Site
from duologue.words import count

_ELSEWHERE: Final = (
    "not erased by this: exports made before, backups, and what the platform keeps of its workers"
)
_NOT_SWEPT: Final = (
    "the database's files may still hold old copies, as others were reading: say the same again "
    "when nothing runs"
)


@click.command()
@click.argument("arrivals", nargs=-1, metavar="ARRIVAL...")
@STUDY_OPTION
@YES
@DRY_RUN
@AS_JSON
def erase(arrivals: tuple[str, ...], study: Path, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Erase what the people of these ARRIVALs wrote and who they are, because they ask for it.

    An ARRIVAL may be named by its completion code, which is what a person has. All that the same
    person did in the study is erased with it; counts and amounts stay, and exports leave the
    dialogs out from now on. Nobody is erased while inside, or while something is still to be
    paid. It cannot be undone.

    Example: duologue erase 7KQM-2VXD-H9TA --study my-study
    """
    site = site_of(study)
    if not arrivals:
        raise BadInput(["name at least one arrival or completion code"])

    async def work() -> tuple[dict[str, Any], str]:
        found = await _looked_up(site, arrivals)
        values = {
            "people": len(found),
            "arrivals": [arrival for person in found for arrival in person.arrivals],
            "texts": sum(person.texts for person in found),
            "erased": False,
        }
        text = _told(values)
        if all(person.erased_before and not person.texts for person in found):
            text += "; all of it has been erased before"
        if dry_run:
            return values, f"would be erased: {text}"
        sure(f"Erase {text}? It cannot be undone.", yes=yes, as_json=as_json)
        pseudonym = Tokens(site.settings.secret_key, site.study.study.id).erased
        try:
            swept = await asyncio.to_thread(
                erasing.erase,
                site.settings.database_url,
                [person.worker_id for person in found],
                pseudonym,
                time.time(),
            )
        except Conflict as error:
            raise BadInput([str(error)]) from None
        values |= {"erased": True, "files_swept": swept}
        notes = [f"erased: {text}", _ELSEWHERE] + ([] if swept else [_NOT_SWEPT])
        return values, "\n".join(notes)

    values, text = run(work())
    show(as_json, values, text)


def _told(values: dict[str, Any]) -> str:
    people = count(values["people"], "person", "people")
    return (
        f"{people}, {count(len(values['arrivals']), 'arrival')}, {count(values['texts'], 'text')}"
    )


async def _looked_up(site: Site, names: tuple[str, ...]) -> list[Person]:
    """The people behind these names.

    Raises:
        BadInput: somebody is not known, or cannot be erased yet, and what would help.
    """
    async with record_of(site) as record:
        known = await record.read(erasing.named, site.study.study.id, names)
        if missing := [name for name in names if name not in known]:
            raise BadInput(
                [f"{name}: is no arrival or completion code of this study" for name in missing]
            )
        found = await record.read(erasing.people, list(known.values()))
    if problems := [why for person in found for why in _in_the_way(site, person)]:
        raise BadInput(problems)
    return found


def _in_the_way(site: Site, person: Person) -> list[str]:
    currency = site.study.pay.currency
    return [
        *(
            f"{name}: is still inside; erase them when they have ended, which a server that runs "
            "sees to in time"
            for name in person.inside
        ),
        *(
            f"{name}: their partner is still in the dialog; erase them when it has ended"
            for name in person.running
            if name not in person.inside
        ),
        *(
            f"{p.arrival_id}: its payment {p.reason} of {to_text(p.cents, currency)} {currency} is "
            f"{p.state.shown}, and could not be made any more; first make it (`duologue hits pay`) "
            "or take it back (`duologue hits cancel`)"
            for p in person.unpaid
        ),
    ]
