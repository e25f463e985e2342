"""What the `hits` commands work with: a study's record, its recruiter, and the hit manager."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import click

from dialogs.money import with_currency
from dialogs.record import hits as rows
from dialogs.record import queries
from dialogs.record import supply as supplies
from dialogs.record.store import Record
from dialogs.rules import HitState, StudyStatus
from dialogs.terms import Changes
from duologue.console import note_of_links, record_of, site_of
from duologue.problems import BadInput
from duologue.recruiting import hit_config, recruiter_for
from duologue.serve import Site
from duologue.settings import is_loopback
from duologue.unlisted import note_of_unlisted
from hit_manager.config import HitConfig
from hit_manager.demand import Demand, demand
from hit_manager.manager import HitManager
from hit_manager.recruiters.base import Recruiter

YES = click.option("--yes", is_flag=True, help="Do not ask; for scripts.")
DRY_RUN = click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")


@dataclass(frozen=True, slots=True)
class Desk:
    """A study's record and recruiter, open."""

    site: Site
    record: Record
    recruiter: Recruiter
    config: HitConfig
    manager: HitManager

    @property
    def study_id(self) -> str:
        return self.config.study_id

    def money(self, cents: int) -> str:
        """`12.50 USD`."""
        return with_currency(cents, self.config.currency)


def address_of(site: Site) -> str:
    """Where workers reach the study's server."""
    return site.settings.public_url or f"http://{site.settings.host}:{site.settings.port}"


def note_of_address(site: Site) -> str:
    """What to say of links to the study that only this machine can open; empty, where others
    can."""
    return note_of_links(
        address_of(site),
        "set DUOLOGUE_PUBLIC_URL to the address under which people reach the server",
    )


def _is_far(site: Site) -> bool:
    """Whether people come from a platform that is not on this machine."""
    section = site.study.recruiter
    near = section.kind == "mturk" and is_loopback(urlsplit(section.endpoint).hostname or "")
    return site.study.posts and not near


@asynccontextmanager
async def desk(study: Path, *, remote: bool = False, begins: bool = False) -> AsyncIterator[Desk]:
    """Open a study's desk; with `remote`, the recruiter is asked whether it lets us in; with
    `begins`, the study need not have run before.

    Raises:
        BadInput: the study has never run, or what its recruiter needs is missing.
        RecruiterError: the recruiter does not let us in.
    """
    site = site_of(study)
    recruiter = recruiter_for(site.study, site.settings)
    async with record_of(site, begins=begins and recruiter.capabilities.posts) as record:

        def config_for(changes: Changes) -> HitConfig:
            return hit_config(site.study.changed(changes), address_of(site))

        stored = await record.read(queries.study, site.study.study.id)
        changes = stored.changes if stored else {}
        config = config_for(changes)
        manager = HitManager(record, recruiter, config, changes=changes, config_for=config_for)
        try:
            if begins and (note := await note_of_unlisted(record, site.study)):
                click.echo(note, err=True)
            if begins and _is_far(site) and (note := note_of_address(site)):
                click.echo(note, err=True)
            if remote:
                await recruiter.open()
            yield Desk(site, record, recruiter, config, manager)
        finally:
            # With the lease, if it was taken, so that the next command or a server goes on.
            await manager.close()


async def demand_of(at: Desk) -> tuple[Demand, supplies.Supply]:
    """What the next round would do about people, and how many are needed and there."""
    supply = await at.record.read(supplies.supply, at.study_id)
    live = await at.record.read(rows.hits_in, at.study_id, (HitState.WANTED, HitState.OPEN))
    study = await at.record.read(queries.study, at.study_id)
    assert study is not None, "the desk opens only for studies that have run"
    plan = demand(
        at.config,
        supply,
        live,
        running=study.status is StudyStatus.OPEN,
        affordable=await at.manager.people_affordable(),
        now=time.time(),
    )
    return plan, supply


def needs(able: bool, desk_: Desk, what: str) -> None:
    """Stop where the study's recruiter cannot do what the command is about."""
    if not able:
        raise BadInput([f"the recruiter {desk_.recruiter.name!r} {what}"])


def sure(question: str, *, yes: bool, as_json: bool) -> None:
    """Ask before something is done that costs; `--yes` and scripts answer by themselves."""
    if yes:
        return
    if as_json:
        raise BadInput(["this asks before it goes on; with --json, say --yes as well"])
    click.confirm(question, abort=True)
