"""A whole paid study in real browsers: from the marketplace's list to *paid*."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, Route, expect
from sqlalchemy import select

from chatserver.server import Server
from dialogs.record import tables
from dialogs.record.payments import ledger_totals
from dialogs.rules import LedgerState
from duologue.demo import config_for
from duologue.demo_market import MarketSite, market_site
from duologue.serve import prepare_record, running
from tests.browser import open_wary_browser
from tests.e2e.stage import WAIT_MS, Person, rounds

pytestmark = pytest.mark.e2e

STUDY = {"rounds": "2", "pair_again_below": "1"}
SUBMIT = "**/mturk/externalSubmit"


@dataclass
class Market:
    """A study that recruits on a marketplace, both running."""

    at: MarketSite
    server: Server

    async def arrivals(self) -> int:
        rows = await self.server.service.record.read(
            lambda connection: connection.execute(select(tables.arrivals.c.id)).all()
        )
        return len(rows)


@asynccontextmanager
async def open_study(folder: Path, redis_url: str) -> AsyncIterator[Market]:
    async with market_site(_made(folder), {"DUOLOGUE_PORT": "0"}, 0, STUDY) as at:
        await prepare_record(at.site)
        config = replace(config_for(at.site), heartbeat_s=1.0)
        async with running(at.site, redis_url, config=config, hits_every_s=0.3) as server:
            yield Market(at, server)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def find_a_hit(page: Page, invitation: str, name: str) -> None:
    """From the invitation to the preview of a HIT of the study."""
    await page.goto(invitation)
    await page.get_by_label("Name to show").fill(name)
    await page.get_by_label("Country you live in").select_option("DE")
    await page.get_by_test_id("join").click()
    await preview(page)


async def preview(page: Page) -> None:
    """From any page of the marketplace to the preview of a HIT of the study."""

    async def listed() -> bool:
        await page.goto(page.url.partition("/worker/")[0] + "/worker/")
        return await page.get_by_test_id("preview").count() > 0

    async with asyncio.timeout(WAIT_MS / 1000):
        while not await listed():
            pass
    await page.get_by_test_id("preview").click()


def inside(page: Page) -> Person:
    """The worker's page in the frame, as a person sees it."""
    frame: Any = page.frame_locator("[data-testid=task]")
    return Person(frame, "")


async def look_then_accept(market: Market, page: Page) -> Person:
    """The preview shows the study and takes no seat; then the HIT is accepted."""
    before = await market.arrivals()
    person = inside(page)
    await person.shows("preview")
    await expect(person.get("begin")).to_be_disabled()
    assert await market.arrivals() == before
    await page.get_by_test_id("accept").click()
    person = inside(page)
    await person.shows("preview")
    return person


async def enter(person: Person) -> None:
    """From the accepted HIT to the lobby."""
    await person.press("begin")
    await person.shows("consent")
    await person.press("agree")
    await person.shows("instructions")
    await person.press("instructions-next")
    await person.shows("check")
    for question in await person.get("check-question").all():
        await question.get_by_test_id("check-option").first.click()
    await person.press("check-submit")
    await person.shows("arrived")
    await person.press("ready")


async def talk(first: Person, second: Person) -> None:
    await first.start()
    await second.start()
    asker, teller = (first, second) if await first.role() == "questioner" else (second, first)
    await rounds(asker, teller, 1, 1)
    await asker.say("question 2?")
    # Who closes the page now would never hand in.
    await expect(asker.get("now-line")).to_contain_text("the button that hands your work in")
    await teller.reads("question 2?")
    await teller.get("box").fill("answer 2.")
    await teller.press("send")


async def is_paid(page: Page) -> None:
    """On *my work*: approved, with the whole pay, reward and bonus together."""
    async with asyncio.timeout(WAIT_MS / 1000):
        while "$1.50" not in await page.get_by_test_id("earned").inner_text():
            await page.reload()
    await expect(page.get_by_test_id("row")).to_have_attribute("data-state", "approved")


async def through(market: Market, pages: tuple[Page, Page]) -> tuple[Person, Person]:
    """Two people from their invitations to the end of a dialog."""
    people = []
    for page, link, name in zip(pages, market.at.invitations, ("Ada", "Ben"), strict=False):
        await find_a_hit(page, link, name)
        people.append(await look_then_accept(market, page))
    for person in people:
        await enter(person)
    await talk(*people)
    for person in people:
        await person.shows("released")
        # Who does not see the last step is not paid for the rest.
        await expect(person.get("finish")).to_be_in_viewport(ratio=1)
        await expect(person.get("code")).to_have_count(0)
    return people[0], people[1]


async def all_paid(market: Market) -> None:
    record, study_id = market.server.service.record, market.at.site.study.study.id
    totals = await record.read(ledger_totals, study_id)
    assert [(t.state, t.payments, t.cents) for t in totals] == [(LedgerState.PAID, 2, 300)]


async def test_two_people_from_the_list_to_paid(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    """Trap 31: what is done here and could not be handed in is handed in again."""
    async with open_study(tmp_path / "study", redis_url) as market:
        contexts = [await browser.new_context() for _ in range(2)]
        first, second = [await context.new_page() for context in contexts]
        ada, ben = await through(market, (first, second))
        failed = 0

        async def fail_once(route: Route) -> None:
            nonlocal failed
            failed += 1
            await route.fulfill(status=503, body="away") if failed == 1 else await route.continue_()

        await first.route(SUBMIT, fail_once)
        await ada.press("finish")
        await expect(first.frame_locator("[data-testid=task]").get_by_text("away")).to_be_visible()
        await first.reload()
        ada = inside(first)
        await ada.shows("released")
        await ada.press("finish")
        await ben.press("finish")
        for page in (first, second):
            await page.wait_for_url("**/worker/work?said=submitted", timeout=WAIT_MS)
            await is_paid(page)
        assert failed == 2
        await all_paid(market)
        for context in contexts:
            await context.close()


async def test_who_leaves_unpaid_returns_the_work_on_the_marketplace(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    """What is owed nothing is not handed in, and only the marketplace can take it back."""
    async with open_study(tmp_path / "study", redis_url) as market:
        contexts = [await browser.new_context() for _ in range(2)]
        one, other = market.at.invitations

        async def come(context: BrowserContext, link: str, name: str) -> tuple[Page, Person]:
            page = await context.new_page()
            await find_a_hit(page, link, name)
            person = await look_then_accept(market, page)
            await enter(person)
            return page, person

        page, ada = await come(contexts[0], one, "Ada")
        await ada.shows("waiting")
        await leave(ada)
        await page.get_by_test_id("return").click()
        await page.get_by_test_id("return-confirm").click()
        await page.wait_for_url("**/worker/work?said=returned", timeout=WAIT_MS)

        await preview(page)
        ada = await look_then_accept(market, page)
        await enter(ada)
        _, ben = await come(contexts[1], other, "Ben")
        await ada.start()
        await ben.start()
        await ben.shows("talking")
        await leave(ada)
        await expect(ben.get("solo-note")).to_be_visible(timeout=WAIT_MS)
        for context in contexts:
            await context.close()


async def leave(person: Person) -> None:
    """Leave, and be told to return the work and nothing else."""
    await person.press("leave")
    await person.press("leave-confirm")
    await person.shows("released")
    await expect(person.get("give-back")).to_contain_text("press Return")
    for testid in ("code", "finish", "another"):
        await expect(person.get(testid)).to_have_count(0)


async def test_the_same_with_third_party_cookies_blocked(tmp_path: Path, redis_url: str) -> None:
    """Trap 30: the frame may keep nothing, and needs nothing kept."""
    async with (
        open_study(tmp_path / "study", redis_url) as market,
        open_wary_browser(tmp_path / "ada") as one,
        open_wary_browser(tmp_path / "ben") as other,
    ):
        pages = one.pages[0], other.pages[0]
        for person in await through(market, pages):
            await person.press("finish")
        for page in pages:
            await page.wait_for_url("**/worker/work?said=submitted", timeout=WAIT_MS)
            await is_paid(page)
        await all_paid(market)
