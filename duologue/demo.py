"""A small study to try: drawn scenes, embedded services, and simulated people if wanted."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from chatserver.config import ServerConfig
from chatserver.server import Server
from dialogs.export.visdial import export_visdial
from dialogs.money import to_text
from dialogs.record import queries
from dialogs.record.totals import study_totals
from dialogs.rules import ArrivalStatus
from duologue.admin import demo_line
from duologue.embedded import EmbeddedRedis
from duologue.problems import BadInput
from duologue.scenes import write_scenes
from duologue.serve import (
    STUDY_FILE,
    Site,
    check_port,
    prepare_record,
    running,
    server_config,
    unless_told_to_stop,
    until_told_to_stop,
    url_of,
)
from duologue.settings import Settings, read_settings
from duologue.simulate.corpus import Corpus
from duologue.simulate.mix import ALL_NORMAL, Kind, Mix
from duologue.simulate.pace import Pace
from duologue.simulate.plan import Plan
from duologue.simulate.run import Progress, keep_partner, simulate
from duologue.simulate.summary import Summary
from duologue.study import read_study
from duologue.template import template
from duologue.words import count

SCENES: Final = 12
GUESTS: Final = ("ada", "ben")
LOBBY_LIMIT_S: Final = 60.0
BROKEN_OFF: Final = "ended while the simulated people were at it; this is what there was"

_STUDY: Final[Mapping[str, str]] = {
    "id": '"demo"',
    "title": '"Talk with a partner about a picture"',
    "description": '"A demonstration: nothing is paid, and nothing leaves this machine."',
    "contact": '"whoever started this demonstration"',
    "dialogs_per_worker": "100",
    "file": '"scenes/items.jsonl"',
    "limit_s": f"{LOBBY_LIMIT_S}",
    # Two people who try it out would otherwise wait for somebody else after their first dialog.
    "repeat_partners": "true",
    "consent": '"This is a demonstration on your own machine. Nobody else sees what you write."',
}


def make_site(
    folder: Path,
    environment: Mapping[str, str],
    workers: int,
    *,
    spare: int = 1,
    more: Mapping[str, str] = MappingProxyType({}),
) -> Site:
    """A demonstration study in `folder`, with places enough for `workers`, and `spare` dialogs
    more about each item. `more` are further keys of the study file, as TOML."""
    write_scenes(folder / "scenes", SCENES)
    wanted = math.ceil(workers / 2 / SCENES) + spare
    text = template()
    for key, value in {**_STUDY, "dialogs_per_item": str(wanted), **more}.items():
        text = re.sub(rf'^{key} = (""".*?"""|.*?)$', f"{key} = {value}", text, count=1, flags=_TOML)
    (folder / STUDY_FILE).write_text(text, encoding="utf-8")
    return Site(folder, read_study(folder / STUDY_FILE), read_settings(environment, folder))


_TOML: Final = re.MULTILINE | re.DOTALL


def config_for(site: Site) -> ServerConfig:
    """The site's configuration, on any free port when the usual one is taken."""
    config = server_config(site, guests=True)
    if chose_port(site.settings):
        return config
    try:
        check_port(config.host, config.port)
    except BadInput:
        return replace(config, port=0)
    return config


def chose_port(settings: Settings) -> bool:
    """Whether the port was named, so that no other will do."""
    return "port" in settings.model_fields_set


async def run_demo(
    site: Site,
    redis: EmbeddedRedis | str,
    *,
    workers: int,
    partner: bool,
    leave_at_end: bool,
    plan: Plan,
    say: Callable[[str], None],
    progress: Callable[[Progress], None],
) -> dict[str, Any]:
    """Serve the demonstration; returns the final counts for `--json`."""
    config = config_for(site)
    await prepare_record(site)
    async with running(site, url_of(redis), config=config) as server:
        for name, guest in zip(("first", "second"), GUESTS, strict=True):
            say(f"{name + ' worker:':15}{server.url}/work?guest={guest}")
        say(await demo_line(server))
        plan = replace(plan, check_answers=tuple(check.answer for check in config.study.check))
        summary = None
        if workers:
            summary = await unless_told_to_stop(redis, simulate(server.url, plan, progress))
            for line in summary.lines() if summary else (BROKEN_OFF,):
                say(line)
        if not leave_at_end and not (workers and summary is None):
            say("Ctrl-C ends it; the study's folder stays.")
            await _until_stopped(server, redis, plan, partner=partner)
        return await _results(server, site, summary, say)


async def _until_stopped(
    server: Server, redis: EmbeddedRedis | str, plan: Plan, *, partner: bool
) -> None:
    stop = asyncio.Event()
    partners = None
    if partner:
        partners = asyncio.ensure_future(
            keep_partner(server.url, plan, stop, somebody_waits=lambda: _somebody_waits(server))
        )
    await until_told_to_stop(redis)
    stop.set()
    if partners is not None:
        await partners


async def _somebody_waits(server: Server) -> bool:
    service = server.service
    waiting = await service.record.read(
        queries.open_arrivals, service.config.study.id, (ArrivalStatus.WAITING,)
    )
    return bool(waiting)


async def _results(
    server: Server, site: Site, summary: Summary | None, say: Callable[[str], None]
) -> dict[str, Any]:
    record = server.service.record
    study_id = site.study.study.id
    totals = await record.read(study_totals, study_id)
    exported = None
    if totals.complete:
        exported = await record.read(export_visdial, study_id, site.folder / "export")
        say(f"export      {exported.file} ({count(exported.dialogs, 'dialog')})")
    currency = site.study.pay.currency
    amount = to_text(totals.owed_cents, currency)
    say(f"owed        {count(totals.owed, 'payment')}, {amount} {currency} in all")
    return {
        "complete": totals.complete,
        "messages": totals.messages,
        "owed": totals.owed,
        "owed_cents": totals.owed_cents,
        "solo": totals.solo,
        "abandoned": totals.abandoned,
        "relaunches": totals.relaunches,
        "export": str(exported.file) if exported else None,
        "waits_s": _spread(summary, "waits_s"),
        "durations_s": _spread(summary, "durations_s"),
        "violations": list(summary.violations) if summary else [],
        "unfinished": summary.unfinished if summary else 0,
    }


def _spread(summary: Summary | None, name: str) -> dict[str, float] | None:
    return summary.to_json()[name] if summary else None


def demo_plan(workers: int, leavers: int, seed: int, pace: float, corpus: Path | None) -> Plan:
    """How the demonstration's simulated people behave; `leavers` of the workers leave early."""
    return Plan(
        workers=workers,
        mix=Mix({Kind.NORMAL: workers - leavers, Kind.LEAVER: leavers}) if leavers else ALL_NORMAL,
        seed=seed,
        pace=Pace(pace),
        corpus=Corpus.load(corpus) if corpus else Corpus.builtin(),
        arrive_s=min(2.0, 0.05 * workers),
    )
