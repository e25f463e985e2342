"""What moves in the monitor without being loaded again, and what it does when it is cut off."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, expect

from duologue.serve import Site, prepare_record, running
from duologue.settings import read_settings
from tests.e2e.office import Colleague, Office, at_work
from tests.e2e.stage import WAIT_MS, Stage, on_stage, photos, quick, rounds, write_study

pytestmark = pytest.mark.e2e

_MARKED = "window.loadedAt = performance.timeOrigin"


async def is_the_same_page(colleague: Colleague) -> bool:
    """Whether it was not loaded again since it was marked."""
    return bool(await colleague.page.evaluate("window.loadedAt === performance.timeOrigin"))


def said(colleague: Colleague) -> Locator:
    return colleague.page.locator("[data-testid=transcript] .said-text")


async def test_the_lobby_and_the_board_move_by_themselves(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    async with (
        on_stage(browser, site, redis_url, quick(site, rules={"grace_s": 60.0})) as stage,
        at_work(browser, stage.server) as office,
    ):
        owner = await office.colleague()
        await owner.shows("Now")
        await owner.page.evaluate(_MARKED)
        waiting = owner.get("lobby").locator("li")
        await expect(waiting).to_have_count(0)
        one, other = await stage.person(), await stage.person()
        await one.ready()
        await expect(waiting).to_have_count(1, timeout=WAIT_MS)
        waited = waiting.locator(".lobby-wait")
        before = await waited.inner_text()
        # It goes up by itself; from where, a busy machine decides.
        await expect(waited).not_to_have_text(before, timeout=WAIT_MS)
        await other.ready()
        await one.start()
        await other.start()
        tile = owner.get("tile")
        await expect(tile).to_have_count(1, timeout=WAIT_MS)
        await expect(waiting).to_have_count(0, timeout=WAIT_MS)
        await expect(tile).to_contain_text("Round 1/10")
        await expect(tile).to_contain_text("Questioner’s turn")
        asker, teller = (one, other) if await one.role() == "questioner" else (other, one)
        await rounds(asker, teller, 1, 1)
        await asker.say("question 2?")
        await expect(tile).to_contain_text("Round 2/10", timeout=WAIT_MS)
        await expect(tile).to_contain_text("Answerer’s turn")
        figures = owner.get("figures")
        await expect(figures).to_contain_text("2 people inside", timeout=WAIT_MS)
        await asker.press("leave")
        await asker.press("leave-confirm")
        await expect(tile).to_contain_text("gone", timeout=WAIT_MS)
        await expect(tile).to_contain_text("alone")
        await teller.press("leave")
        await teller.press("leave-confirm")
        await expect(tile).to_have_count(0, timeout=WAIT_MS)
        await expect(figures).to_contain_text("0 people inside", timeout=WAIT_MS)
        assert await is_the_same_page(owner)


async def test_a_lost_connection_is_told_and_heals(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    await prepare_record(site)
    config = quick(site, rules={"grace_s": 60.0})
    async with running(site, redis_url, config=config) as server:
        office, stage = Office(browser, server), Stage(browser, server)
        owner = await office.colleague()
        asker, teller = await stage.pair()
        await asker.say("question 1?")
        await owner.get("tile").get_by_role("link").click(timeout=WAIT_MS)
        await expect(said(owner)).to_have_text(["question 1?"], timeout=WAIT_MS)
        await owner.page.evaluate(_MARKED)
    await expect(owner.get("lost")).to_contain_text("lost since", timeout=WAIT_MS)
    await expect(owner.get("status")).to_contain_text("Not live")
    # What it missed is fetched once; it must not be by this that it knows what comes later.
    fetched = asyncio.ensure_future(
        owner.page.wait_for_event(
            "response", lambda answer: "/api/monitor/dialogs/" in answer.url, timeout=2 * WAIT_MS
        )
    )
    port = int(server.url.rsplit(":", 1)[1])
    async with running(site, redis_url, config=replace(config, port=port)) as again:
        office.server = again
        await expect(owner.get("lost")).to_have_count(0, timeout=WAIT_MS)
        await expect(owner.get("status")).to_contain_text("Live")
        await (await fetched).finished()
        # What is said from now on comes by itself, and nothing is there twice.
        await teller.say("answer 1.")
        await expect(said(owner)).to_have_text(["question 1?", "answer 1."], timeout=WAIT_MS)
        await asker.say("question 2?")
        await expect(said(owner)).to_have_count(3, timeout=WAIT_MS)
        assert await is_the_same_page(owner)
        # That nobody answered is all that the browser's console may have said of it.
        owner.faults = [each for each in owner.faults if "ERR_CONNECTION_REFUSED" not in each]
        await office.close()
        await stage.close()


async def test_dialogs_of_another_process_are_seen(
    browser: Browser, tmp_path: Path, redis_url: str, migrated_postgres_url: str
) -> None:
    short = {"rounds": "2", "pair_again_below": "1"}
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"), **short)
    there = {"DUOLOGUE_PORT": "0", "DUOLOGUE_DATABASE_URL": migrated_postgres_url}
    site = Site(site.folder, site.study, read_settings(there, site.folder))
    await prepare_record(site)
    config = quick(site, rules={"grace_s": 60.0})
    async with (
        running(site, redis_url, config=config) as watched,
        running(site, redis_url, config=config, hits=False) as other,
        at_work(browser, watched) as office,
    ):
        owner, stage = await office.colleague(), Stage(browser, other)
        asker, teller = await stage.pair()
        await owner.get("tile").get_by_role("link").click(timeout=WAIT_MS)
        await owner.shows("Dialog")
        await owner.page.evaluate(_MARKED)
        assert list(watched.service.hub.pages()) == []
        # Each message by itself: when the dialog ends, the page fetches it as a whole.
        for n, (person, text) in enumerate(
            ((asker, "question 1?"), (teller, "answer 1."), (asker, "question 2?")), start=1
        ):
            await person.say(text)
            await expect(said(owner)).to_have_count(n, timeout=WAIT_MS)
        await teller.get("box").fill("answer 2.")
        await teller.press("send")
        ended = owner.page.locator(".quiet-ended")
        await expect(ended).to_contain_text("complete", timeout=WAIT_MS)
        await expect(said(owner)).to_have_count(4)
        assert await is_the_same_page(owner)
        await owner.go("Now")
        processes = owner.get("health").locator("dt").filter(has_text="process")
        await expect(processes).to_have_count(2)
        await stage.close()
