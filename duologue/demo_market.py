"""The demonstration with a marketplace: HITs are posted, found, done, relaunched and paid."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import Connection, func, select

from chatserver.server import Server
from dialogs.export.visdial import export_visdial
from dialogs.money import to_text
from dialogs.record import hits as hit_rows
from dialogs.record import supply as supplies
from dialogs.record.payments import LedgerTotal, ledger_totals
from dialogs.record.reviewing import reviewed
from dialogs.record.stuck import OVER
from dialogs.record.totals import study_totals
from dialogs.rules import HitState, LedgerState, Release
from duologue.admin import demo_line
from duologue.console import program
from duologue.demo import BROKEN_OFF, config_for, make_site
from duologue.embedded import EmbeddedRedis
from duologue.market import alone, keep_url, store_url
from duologue.serve import (
    Site,
    prepare_record,
    running,
    unless_told_to_stop,
    until_told_to_stop,
    url_of,
)
from duologue.simulate.market import simulate_market
from duologue.simulate.plan import Plan
from duologue.simulate.run import Progress
from duologue.simulate.summary import Summary
from duologue.words import count
from hit_manager.config import Approval
from hit_manager.marketplace import tables as market
from hit_manager.marketplace.clock import Clock
from hit_manager.marketplace.server import MarketplaceServer, serve_marketplace
from hit_manager.marketplace.states import AssignmentStatus, HitStatus
from hit_manager.marketplace.workers import create_key, create_requester, invite

BALANCE: Final = 100_000
"""What the demonstration's requester has to spend, in cents. It is no real money."""

VISITORS: Final = 2
ROUND_S: Final = 0.5
LOOK_S: Final = 0.2
SETTLED_WITHIN_S: Final = 60.0

_STUDY: Final[Mapping[str, str]] = {
    "kind": '"mturk"',
    "description": '"A demonstration: the money is not real, and nothing leaves this machine."',
    # People who vanish are simulated: nobody need be waited for.
    "grace_s": "2",
}


class ShiftedClock(Clock):
    """The machine's clock, which can be put forward."""

    def __init__(self) -> None:
        self.shift_s = 0.0

    def now(self) -> float:
        return time.time() + self.shift_s


@dataclass(frozen=True, slots=True)
class MarketSite:
    """A study that recruits on a marketplace of its own, both on this machine."""

    site: Site
    server: MarketplaceServer
    clock: ShiftedClock
    invitations: tuple[str, ...]


@asynccontextmanager
async def market_site(
    folder: Path,
    environment: Mapping[str, str],
    workers: int,
    more: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[MarketSite]:
    """A marketplace that runs while the context is open, and a study that recruits there; `more`
    are keys of its study file, as TOML."""
    clock = ShiftedClock()
    store = store_url(folder, None, new=True)
    with alone(folder):
        async with serve_marketplace(store, clock=clock, settle_every_s=ROUND_S) as server:
            keep_url(folder, server)
            yield await _site_on(server, clock, folder, environment, workers, more)


async def _site_on(
    server: MarketplaceServer,
    clock: ShiftedClock,
    folder: Path,
    environment: Mapping[str, str],
    workers: int,
    more: Mapping[str, str],
) -> MarketSite:
    requester = await server.market.write(create_requester, "Demonstration", BALANCE)
    key = await server.market.write(create_key, requester)
    codes = await server.market.write(invite, max(workers, VISITORS))
    keys = {
        "DUOLOGUE_MTURK_ACCESS_KEY": key.id,
        "DUOLOGUE_MTURK_SECRET_KEY": key.secret,
    }
    more = {**_STUDY, "endpoint": f'"{server.url}"', **more}
    site = make_site(folder, {**environment, **keys}, workers, spare=0 if workers else 1, more=more)
    links = tuple(f"{server.url}/worker/join/{code}" for code in codes)
    return MarketSite(site, server, clock, links)


async def run_market_demo(
    at: MarketSite,
    redis: EmbeddedRedis | str,
    *,
    workers: int,
    leave_at_end: bool,
    plan: Plan,
    say: Callable[[str], None],
    progress: Callable[[Progress], None],
) -> dict[str, Any]:
    """Serve the demonstration; returns the final counts for `--json`."""
    config = replace(config_for(at.site), closed_s=0.5)
    await prepare_record(at.site)
    async with running(at.site, url_of(redis), config=config, hits_every_s=ROUND_S) as server:
        say(f"marketplace:   {at.server.url}/worker/")
        say(await demo_line(server))
        for line in requester_lines(at):
            say(line)
        if not workers:
            for name, link in zip(("first", "second"), at.invitations, strict=False):
                say(f"{name + ' worker:':15}{link}")
        plan = replace(plan, check_answers=tuple(check.answer for check in config.study.check))
        summary, handed_in = None, 0
        if workers:
            crowd = await unless_told_to_stop(redis, _crowd(at, server, plan, progress))
            if crowd is None:
                say(BROKEN_OFF)
                return await _results(at, server, None, 0, say)
            summary, handed_in = crowd
            for line in summary.lines():
                say(line)
            if (again := summary.arrivals - summary.workers) > 0:
                say(f"again       {count(again, 'HIT')} taken by people who had done one before")
        if not leave_at_end:
            say("Ctrl-C ends it; the study's folder stays.")
            await until_told_to_stop(redis)
        else:
            await _settle(at, server)
        return await _results(at, server, summary, handed_in, say)


def _requester(at: MarketSite) -> dict[str, str]:
    """What lets a person at another terminal be the requester: settings, by their names."""
    settings = at.site.settings
    return {
        "DUOLOGUE_MTURK_ACCESS_KEY": settings.mturk_access_key or "",
        "DUOLOGUE_MTURK_SECRET_KEY": settings.mturk_secret_key or "",
    }


def _status_of(at: MarketSite) -> list[str]:
    return [program(), "hits", "status", str(at.site.folder)]


def requester_lines(at: MarketSite) -> list[str]:
    """The same, to be pasted."""
    return [
        "requester:     paste these lines into another terminal",
        *(f"export {name}={value}" for name, value in _requester(at).items()),
        shlex.join(_status_of(at)),
    ]


async def _crowd(
    at: MarketSite, server: Server, plan: Plan, progress: Callable[[Progress], None]
) -> tuple[Summary, int]:
    record, study_id = server.service.record, at.site.study.study.id
    enough = asyncio.Event()

    async def watch() -> None:
        while True:
            supply = await record.read(supplies.supply, study_id)
            if supply.missing <= 0 and not supply.inside:
                enough.set()
            await asyncio.sleep(LOOK_S)

    watching = asyncio.ensure_future(watch())
    try:
        return await simulate_market(at.invitations, plan, enough.is_set, progress)
    finally:
        watching.cancel()


async def _settle(at: MarketSite, server: Server) -> None:
    """Let what is owed be paid, and the time of those who vanished run out."""
    record, study_id = server.service.record, at.site.study.study.id
    until = time.monotonic() + SETTLED_WITHIN_S
    while time.monotonic() < until:
        totals = await record.read(ledger_totals, study_id)
        if all(total.state in OVER for total in totals):
            break
        await asyncio.sleep(LOOK_S)
    at.clock.shift_s += at.site.study.recruiter.assignment_duration_s
    alive = (HitState.WANTED, HitState.OPEN, HitState.CLOSED)
    while time.monotonic() < until:
        left = await record.read(hit_rows.hits_in, study_id, alive)
        if not left:
            break
        await asyncio.sleep(LOOK_S)


@dataclass(frozen=True, slots=True)
class Earned:
    """What the marketplace says that workers have: cents, and how often each was paid."""

    rewards: int
    reward_cents: int
    bonuses: int
    bonus_cents: int
    open_hits: int


def _earned(connection: Connection, now: float) -> Earned:
    approved = (
        select(func.count(), func.coalesce(func.sum(market.hit_types.c.reward), 0))
        .select_from(market.assignments)
        .join(market.hits, market.hits.c.id == market.assignments.c.hit_id)
        .join(market.hit_types, market.hit_types.c.id == market.hits.c.type_id)
        .where(market.assignments.c.status == AssignmentStatus.APPROVED.value)
    )
    bonuses = select(func.count(), func.coalesce(func.sum(market.bonuses.c.amount), 0))
    still = select(func.count()).where(market.hits.c.status == HitStatus.ASSIGNABLE.value)
    rewards, reward_cents = connection.execute(approved).one()
    number, bonus_cents = connection.execute(bonuses).one()
    return Earned(
        rewards, reward_cents, number, bonus_cents, connection.execute(still).scalar_one()
    )


async def _results(
    at: MarketSite,
    server: Server,
    summary: Summary | None,
    handed_in: int,
    say: Callable[[str], None],
) -> dict[str, Any]:
    record, study_id = server.service.record, at.site.study.study.id
    totals = await record.read(study_totals, study_id)
    ledger = await record.read(ledger_totals, study_id)
    earned = await at.server.market.write(_earned)
    currency = at.site.study.pay.currency
    exported = None
    if totals.complete:
        exported = await record.read(export_visdial, study_id, at.site.folder / "export")
        say(f"export      {exported.file} ({count(exported.dialogs, 'dialog')})")
    for line in _ledger_lines(ledger, earned, currency):
        say(line)
    ended = await record.read(reviewed, study_id)
    leavers_paid = sum(each.owed_cents for each in ended if each.release == Release.LEFT.value)
    paid = sum(total.cents for total in ledger if total.state is LedgerState.PAID)
    there = earned.reward_cents + earned.bonus_cents
    # What nobody has approved yet is not paid.
    waits = at.site.study.recruiter.approval is Approval.BY_HAND
    adds_up = paid == there and (waits or all(t.state in OVER for t in ledger))
    states = await record.read(hit_rows.hits_in, study_id, tuple(HitState))
    still_open = sum(hit.state in (HitState.WANTED, HitState.OPEN) for hit in states)
    violations = list(summary.violations) if summary else []
    if summary and not adds_up:
        violations.append(f"the ledger says {paid} cents, the marketplace {there}")
    return {
        "complete": totals.complete,
        "places": totals.places,
        "messages": totals.messages,
        "hits": len(states),
        "hits_open": still_open + earned.open_hits,
        "relaunches": totals.relaunches,
        "handed_in": handed_in,
        "owed": totals.owed,
        "owed_cents": totals.owed_cents,
        "paid_cents": paid,
        "earned_cents": there,
        "leavers": sum(each.release == Release.LEFT.value for each in ended),
        "leavers_cents": leavers_paid,
        "export": str(exported.file) if exported else None,
        "violations": violations,
        "unfinished": summary.unfinished if summary else 0,
        "requester": _requester(at) | {"status": shlex.join(_status_of(at))},
    }


def _ledger_lines(ledger: list[LedgerTotal], earned: Earned, currency: str) -> list[str]:
    lines = [
        f"ledger      {total.state}: {count(total.payments, 'payment')}, "
        f"{to_text(total.cents, currency)} {currency}"
        for total in ledger
    ]
    there = earned.reward_cents + earned.bonus_cents
    lines.append(
        f"over there  {earned.rewards} approved ({to_text(earned.reward_cents, currency)}), "
        f"{count(earned.bonuses, 'bonus', 'bonuses')} ({to_text(earned.bonus_cents, currency)}): "
        f"{to_text(there, currency)} {currency}; {count(earned.open_hits, 'HIT')} open"
    )
    return lines
