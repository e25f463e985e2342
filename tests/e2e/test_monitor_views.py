"""Every view of the monitor in every look, while sixty simulated people are at work."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Browser, expect

from dialogs.record import tables
from dialogs.rules import AdminRole, Outcome
from duologue.demo import config_for
from duologue.demo_market import MarketSite, market_site
from duologue.serve import prepare_record, running
from duologue.simulate import Mix, Pace
from duologue.simulate.market import simulate_market
from tests.e2e.inspector import Inspector, Look
from tests.e2e.office import Colleague, Office, at_work
from tests.e2e.stage import WAIT_MS
from tests.live import eventually

pytestmark = pytest.mark.e2e

PEOPLE: Final = 60
EARLIER: Final = 12
LOOKS: Final[tuple[Look, ...]] = (
    ("light", (1440, 900)),
    ("dark", (1440, 900)),
    ("dark", (390, 844)),
    ("light", (390, 844)),
)
MIX: Final = Mix.parse("normal=48,leaver=5,flaky=2,spammer=3,silent=2")


@dataclass
class Busy:
    """A study at a marketplace with people in it, some of whom have been and gone."""

    at: MarketSite
    office: Office

    async def earlier(self) -> None:
        """A few people come and go, and are paid."""
        office = self.office

        async def done() -> bool:
            rows = await office.rows(tables.dialogs)
            return sum(row.outcome is not None for row in rows) >= EARLIER // 3

        plan = office.plan(EARLIER, mix=Mix.parse("normal=9,leaver=2,spammer=1"))
        crowd = asyncio.ensure_future(
            simulate_market(self.at.invitations[:EARLIER], plan, lambda: False)
        )
        try:
            await eventually(done, within=90)
        finally:
            crowd.cancel()
            await asyncio.gather(crowd, return_exceptions=True)

    @asynccontextmanager
    async def people(self) -> AsyncIterator[None]:
        """Sixty people who take their time, for as long as the context is open."""
        plan = self.office.plan(PEOPLE, mix=MIX, pace=Pace(0.7), arrive_s=3.0)
        crowd = asyncio.ensure_future(
            simulate_market(self.at.invitations[EARLIER:], plan, lambda: False)
        )
        try:
            yield
            assert not crowd.done()
        finally:
            crowd.cancel()
            await asyncio.gather(crowd, return_exceptions=True)


@asynccontextmanager
async def busy(browser: Browser, folder: Path, redis_url: str) -> AsyncIterator[Busy]:
    more = {"dialogs_per_item": "5", "grace_s": "20", "repeat_partners": "true"}
    async with market_site(folder, {"DUOLOGUE_PORT": "0"}, PEOPLE + EARLIER, more) as at:
        await prepare_record(at.site)
        config = replace(config_for(at.site), heartbeat_s=2.0)
        async with (
            running(at.site, redis_url, config=config, hits_every_s=0.5) as server,
            at_work(browser, server) as office,
        ):
            yield Busy(at, office)


async def walk(inspector: Inspector, owner: Colleague, office: Office) -> None:
    """Through every view, and what stands behind each first press."""
    rows = await office.rows(tables.dialogs)
    live = next(row for row in reversed(rows) if row.phase != "ended")
    complete = next(row for row in rows if row.outcome == Outcome.COMPLETE.value)
    seats = await office.rows(tables.seats)
    worker = next(seat.worker_id for seat in seats if seat.dialog_id == complete.id)
    page = owner.page
    await expect(owner.get("tile").nth(10)).to_be_visible(timeout=WAIT_MS)
    await inspector.look(page, "now")
    for path, heading, name in (
        ("/monitor/dialogs", "Dialogs", "dialogs"),
        (f"/monitor/dialogs/{live.id}", "Dialog", "dialog"),
        (f"/monitor/dialogs/{complete.id}", "Dialog", "dialog that has ended"),
        ("/monitor/review", "Review", "review"),
        ("/monitor/workers", "Workers", "workers"),
        (f"/monitor/workers/{worker}", "Worker", "worker"),
        ("/monitor/money", "Money", "money"),
        ("/monitor/study", "Study", "study"),
        ("/monitor/log", "Log", "log"),
        ("/monitor/nowhere", "no such page", "missing"),
    ):
        await owner.open(path, heading)
        await inspector.look(page, name)


async def test_every_view_in_every_look_with_sixty_people_at_work(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    shots = os.environ.get("DUOLOGUE_TEST_PICTURES")
    inspector = Inspector(LOOKS, Path(shots) if shots else None)
    async with busy(browser, tmp_path, redis_url) as at:
        office = at.office
        await at.earlier()
        async with at.people():
            stranger = await office.browser_of("nobody", AdminRole.OWNER, reduced_motion="reduce")
            await stranger.open("/monitor/money", "Sign in")
            await inspector.look(stranger.page, "sign in")
            owner = await office.colleague(reduced_motion="reduce")
            await walk(inspector, owner, office)
    assert inspector.faults == []
    assert len(set(inspector.seen)) == 12
