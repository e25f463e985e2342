"""A live dialog in the monitor: what is seen of it, and what the team does to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import orjson
import pytest
from playwright.async_api import Browser, Locator, Page, expect

from dialogs.record import tables
from tests.e2e.inspector import too_wide
from tests.e2e.office import Colleague, Office, two_talk
from tests.e2e.stage import WAIT_MS, Person

pytestmark = pytest.mark.e2e

AT_ONCE_S: Final = 1.0
"""How long a message may take from the record to whoever watches."""

_NOTES_WHEN: Final = """
(text) => {
    window.seenAt = new Promise((done) => {
        const look = () => {
            const lines = [...document.querySelectorAll("[data-testid=transcript] .said-text")];
            if (!lines.some((line) => line.textContent === text)) return;
            watcher.disconnect();
            done(Date.now() / 1000);
        };
        const watcher = new MutationObserver(look);
        watcher.observe(document.body, { childList: true, subtree: true, characterData: true });
    });
}
"""


def said(page: Page) -> Locator:
    return page.locator("[data-testid=transcript] .said-text")


def quiet(page: Page, text: str) -> Locator:
    return page.locator("[data-testid=transcript] .quiet").filter(has_text=text)


async def data(office: Office, action: str) -> list[tuple[str, str, Any]]:
    """Who did it, to what, and what was after; the oldest first."""
    names = {row.id: row.name for row in await office.rows(tables.admins)}
    return [
        (names[row.admin_id], row.target, orjson.loads(row.after or "null"))
        for row in await office.actions(action)
    ]


async def seconds_until_seen(
    office: Office, watcher: Colleague, person: Person, text: str
) -> float:
    """From the moment by which a message is in the record to when it stands in the transcript.

    The message is acknowledged after that moment, so that this is no less than what counts.
    """
    await watcher.page.evaluate(_NOTES_WHEN, text)
    await person.say(text)
    seen_at = await watcher.page.evaluate("window.seenAt")
    (event,) = [row for row in await office.rows(tables.events) if text in row.data]
    return float(seen_at) - float(event.at)


async def open_from_now(owner: Colleague) -> None:
    """As somebody does who sees a dialog come up on the page *Now*."""
    await expect(owner.get("tile")).to_have_count(1, timeout=WAIT_MS)
    await owner.get("tile").get_by_role("link").click()
    await owner.shows("Dialog")


async def test_what_the_team_does_to_a_live_dialog(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    async with two_talk(browser, tmp_path, redis_url) as there:
        _, office, owner, questioner, answerer = there
        await open_from_now(owner)
        (dialog,) = await office.rows(tables.dialogs)

        took = [
            await seconds_until_seen(office, owner, person, f"message {n} of four.")
            for n, person in enumerate((questioner, answerer) * 2, start=1)
        ]
        # One of them may have met with a busy machine.
        assert sorted(took)[2] < AT_ONCE_S, took
        await expect(said(owner.page)).to_have_count(4, timeout=WAIT_MS)
        await questioner.get("box").press_sequentially("half a")
        await expect(owner.page.locator(".typing")).to_contain_text("Questioner is writing")

        # To one, and then to both.
        await tell(owner, "Please ask about the sky.", "questioner")
        await tell(owner, "Thank you both.", "both")
        notes = [("Please ask about the sky.", (1, 0)), ("Thank you both.", (1, 1))]
        for text, counts in notes:
            for person, count in zip((questioner, answerer), counts, strict=True):
                note = person.get("team-message").filter(has_text=text)
                await expect(note).to_have_count(count, timeout=WAIT_MS)
        await expect(quiet(owner.page, "The team told the questioner")).to_contain_text("the sky")
        await expect(quiet(owner.page, "The team told both")).to_contain_text("Thank you both.")

        before = await limit_of(owner)
        await owner.press("act-extend")
        await owner.fill("extend-minutes", "7")
        await owner.submit()
        await owner.is_told("7 minutes more")
        for person in (questioner, answerer):
            await expect(person.get("more-time")).to_have_count(1, timeout=WAIT_MS)
        await expect(quiet(owner.page, "The team gave 7 min more")).to_have_count(1)
        assert await limit_of(owner) != before

        await flag(owner, "The answers are too short.")
        await expect(owner.page.locator(".flag-line")).to_contain_text("too short", timeout=WAIT_MS)
        (finding,) = [row for row in await office.rows(tables.findings) if row.admin_id]
        assert (finding.dialog_id, finding.role) == (dialog.id, "answerer")

        await end_it(owner, "We stop here, thank you.", answerer="0.40")
        for person, amount in ((questioner, "$1.50"), (answerer, "$0.40")):
            await person.shows("released")
            await expect(person.page.locator("h1")).to_contain_text("research team ended")
            await expect(person.get("team-reason")).to_contain_text("We stop here")
            await expect(person.get("amount")).to_have_text(amount)
        await expect(owner.get("act-end")).to_have_count(0, timeout=WAIT_MS)
        releases = {row.release for row in await office.rows(tables.releases)}
        assert releases == {"ended_by_team"}
        assert sorted(row.cents for row in await office.rows(tables.ledger)) == [40, 150]
        assert len(await office.rows(tables.relaunches)) == 1

        name = owner.name
        told = await data(office, "dialog.message")
        assert [(by, at, after["to"]) for by, at, after in told] == [
            (name, dialog.id, "questioner"),
            (name, dialog.id, "both"),
        ]
        assert [after["minutes"] for _, _, after in await data(office, "dialog.extend")] == [7]
        ((by, at, after),) = await data(office, "dialog.end")
        assert (by, at, after["cents"]) == (name, dialog.id, {"questioner": 150, "answerer": 40})
        await reads_the_log(owner, dialog.id)


async def tell(owner: Colleague, text: str, to: str) -> None:
    await owner.press("act-tell")
    await owner.choose("tell-to", to)
    await owner.fill("tell-text", text)
    await owner.submit()
    await owner.is_told("The message was sent.")


async def flag(owner: Colleague, reason: str, about: str = "answerer") -> None:
    await owner.press("act-flag")
    await owner.choose("flag-about", about)
    await owner.fill("flag-reason", reason)
    await owner.submit()
    await owner.is_told("Flagged.")


async def end_it(owner: Colleague, reason: str, *, answerer: str) -> None:
    """The answerer gets another amount than the questioner, who is paid in full."""
    await owner.press("act-end")
    await owner.choose("end-how", "own")
    await expect(owner.get("end-questioner")).to_have_value("1.50", timeout=WAIT_MS)
    await owner.fill("end-answerer", answerer)
    await owner.press("ask-submit")
    # It is not ended without a reason that both can be told.
    await expect(owner.get("problem")).to_have_text("Write the reason.")
    await owner.fill("end-reason", reason)
    await expect(owner.get("ask-submit")).to_have_text("End it and pay $1.90")
    await owner.submit()
    await owner.is_told("The dialog was ended.")


async def limit_of(owner: Colleague) -> str:
    fact = owner.get("facts").locator("div").filter(has_text="Ends at the latest").locator("dd")
    return await fact.inner_text()


async def reads_the_log(owner: Colleague, dialog_id: str) -> None:
    """The log says who did what to this dialog, the newest first."""
    await owner.go("Log")
    await owner.fill("filter-target", dialog_id)
    rows = owner.get("audit").locator("tbody tr")
    await expect(rows).to_have_count(5, timeout=WAIT_MS)
    done = [await row.locator("td").nth(2).inner_text() for row in await rows.all()]
    assert done == [
        "Ended a dialog",
        "Flagged a dialog",
        "Gave more time",
        "Wrote to a dialog",
        "Wrote to a dialog",
    ]
    for row in await rows.all():
        await expect(row.locator("td").nth(1)).to_have_text(owner.name)


# --- Text is text --------------------------------------------------------------------------

ODD: Final = (
    '<img src=x onerror="window.pwned=1"><script>window.pwned=2</script><u>line</u> &amp; {{7*7}}',
    "\u202eright to left\u202c and שלום and مرحبا \u200b\u200dzero\ufeffwidth",
    "javascript:window.pwned=3 https://example.org/?<svg/onload=window.pwned=4>",
    "W" * 500,
)
"""What a worker may send and nobody's page may take for anything but text."""


async def is_only_text(colleague: Colleague, place: Locator, text: str) -> None:
    """Word for word there, with nothing made of it, and the page no wider for it."""
    found = place.filter(has_text=text[:60]).first
    await expect(found).to_be_visible(timeout=WAIT_MS)
    assert text in (await found.text_content() or "")
    assert await found.locator("u, script, svg, img, iframe, a[href^=java]").count() == 0
    for width in (1440, 390):
        await colleague.page.set_viewport_size({"width": width, "height": 900})
        assert not await too_wide(colleague.page), f"{colleague.page.url} at {width}: {text[:20]}"
    assert await colleague.page.evaluate("window.pwned") is None


async def test_what_a_worker_writes_is_text_wherever_the_team_reads_it(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    short = {"rounds": "2", "pair_again_below": "1"}
    async with two_talk(browser, tmp_path, redis_url, **short) as there:
        _, office, owner, questioner, answerer = there
        await open_from_now(owner)
        for person, other, text in zip(
            (questioner, answerer) * 2, (answerer, questioner) * 2, ODD, strict=True
        ):
            await person.get("box").fill(text)
            await person.press("send")
            await is_only_text(owner, said(owner.page), text)
            if text != ODD[-1]:
                await other.reads(text[:40])
        (dialog,) = await office.rows(tables.dialogs)
        await questioner.shows("released")
        for text in ODD[:3]:
            await flag(owner, text)
            await is_only_text(owner, owner.page.locator(".flag-line"), text)
        await owner.open("/monitor/review", "Review")
        for text in ODD:
            await is_only_text(owner, said(owner.page), text)

        worker = (await office.rows(tables.seats))[0].worker_id
        await owner.open(f"/monitor/workers/{worker}", "Worker")
        for text in ODD:
            await owner.fill("note-text", text)
            await owner.press("note-add")
            await is_only_text(owner, owner.get("notes").locator("li"), text)
        await owner.press("act-exclude")
        await owner.fill("exclude-reason", ODD[0])
        await owner.submit()
        await is_only_text(owner, owner.get("excluded"), ODD[0])
        await owner.open("/monitor/log", "Log")
        await is_only_text(owner, owner.get("audit").locator("tbody tr"), ODD[0])
        await owner.open(f"/monitor/dialogs/{dialog.id}", "Dialog")
        await is_only_text(owner, owner.page.locator(".flag-line"), ODD[1])
