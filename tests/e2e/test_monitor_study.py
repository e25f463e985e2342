"""The study in the monitor: paused and resumed, and changed for dialogs to come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from playwright.async_api import Browser, expect

from dialogs.record import tables
from tests.e2e.office import Colleague, Office, two_talk
from tests.e2e.stage import WAIT_MS, rounds

pytestmark = pytest.mark.e2e


async def rules_of_newest(office: Office) -> dict[str, Any]:
    """The rules that the newest dialog was opened with."""
    opened = [row for row in await office.rows(tables.events) if row.kind == "opened"]
    newest = max(opened, key=lambda row: row.at)
    found: dict[str, Any] = orjson.loads(newest.data)["rules"]
    return found


async def answers_the_question(owner: Colleague, opener: str, told: str) -> None:
    await owner.press(opener)
    await expect(owner.get("status-ask")).to_be_visible()
    await owner.submit()
    await owner.is_told(told)


async def test_a_pause_lets_nobody_in_and_ends_nothing(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    async with two_talk(browser, tmp_path, redis_url) as there:
        stage, office, owner, questioner, answerer = there
        await owner.go("Study")
        await answers_the_question(owner, "pause", "The study is paused.")
        await expect(owner.get("status")).to_contain_text("Paused", timeout=WAIT_MS)
        await expect(owner.get("standing")).to_contain_text("Nobody new is let in.")
        (study,) = await office.rows(tables.studies)
        assert study.status == "paused"
        await rounds(questioner, answerer, 1, 1)
        late = await stage.person()
        await late.open()
        await late.shows("preview")
        await expect(late.page.locator("main")).to_contain_text("The team has paused this study.")
        await expect(late.get("begin")).to_be_disabled()
        assert len(await office.rows(tables.arrivals)) == 2
        await owner.go("Now")
        await expect(owner.get("attention")).to_contain_text("The study is paused")

        await owner.go("Study")
        await answers_the_question(owner, "resume", "The study is open.")
        await expect(owner.get("status")).to_contain_text("Open", timeout=WAIT_MS)
        await late.ready()
        await late.shows("waiting")
        lines = owner.get("study-log").locator("tbody tr")
        await expect(lines).to_have_count(2, timeout=WAIT_MS)
        for line, words in (
            (0, ("Opened the study", "paused", "open")),
            (1, ("Paused the study",)),
        ):
            for word in (owner.name, *words):
                await expect(lines.nth(line)).to_contain_text(word)


async def test_changed_limits_and_pay_are_those_of_dialogs_to_come(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    async with two_talk(browser, tmp_path, redis_url) as there:
        _, office, owner, questioner, answerer = there
        await owner.go("Study")
        await owner.fill("limit-turn_limit_s", "soon")
        await owner.press("limits-review")
        await expect(owner.get("limits")).to_contain_text("Some fields are no numbers.")
        await owner.fill("limit-turn_limit_s", "240")
        await owner.fill("limit-pay_complete", "2.25")
        await owner.press("limits-review")
        ask = owner.get("change-ask")
        await expect(ask.locator("li")).to_have_text(
            ["Time for a message: 3 min → 4 min", "Pay for a complete dialog: $1.50 → $2.25"]
        )
        await owner.press("ask-submit")
        await expect(owner.get("problem")).to_have_text("Write the reason.")
        await owner.fill("change-reason", "People asked for more time.")
        await owner.submit()
        await owner.is_told("The study is changed.")
        await expect(owner.get("limits")).to_contain_text("now: $2.25", timeout=WAIT_MS)

        await office.crowd(2)
        rules = await rules_of_newest(office)
        assert (rules["turn_limit_s"], rules["pay"]["complete"]) == (240.0, 225)
        assert sorted(row.cents for row in await office.rows(tables.ledger)) == [225, 225]
        # Whoever had begun before is paid as they were told.
        await questioner.press("leave")
        await questioner.press("leave-confirm")
        await questioner.shows("released")
        await expect(answerer.get("solo-note")).to_be_visible(timeout=WAIT_MS)
        for n in range(10):
            await answerer.say(f"alone {n}")
        await answerer.shows("released")
        await expect(answerer.get("amount")).to_have_text("$1.50")

        (row,) = await office.actions("study.change")
        assert row.admin_id == f"ad-{owner.name}"
        await owner.go("Log")
        line = owner.get("audit").locator("tbody tr").filter(has_text="Changed the study")
        for words in (
            owner.name,
            "Time for a message: 180 → 240",
            "Pay for a complete dialog: $1.50 → $2.25",
            "more time",
        ):
            await expect(line).to_contain_text(words)
