"""Whoever a worker is: axe-core, the keyboard alone, small windows, a frame of another site."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest
from aiohttp import web
from playwright.async_api import Browser, Frame, expect

from duologue.serve import Site
from tests.browser import open_wary_browser
from tests.e2e.inspector import Inspector, Look, too_wide
from tests.e2e.stage import WAIT_MS, Person, on_stage, photos, quick, rounds, write_study

pytestmark = pytest.mark.e2e

WIDE: Final = (1100, 760)
PHONE: Final = (360, 640)

# What moves is caught between two colours; and whoever reads along has all the time they need.
STILL: Final[dict[str, Any]] = {"reduced_motion": "reduce"}
PATIENT: Final[dict[str, Any]] = {"start_s": 300.0}


def short_study(folder: Path, items: Path, **changes: str) -> Site:
    return write_study(folder, items, rounds="3", **changes)


async def look_on_the_way_in(inspector: Inspector, person: Person) -> None:
    """`Person.ready`, stopping at every screen."""
    await person.open()
    await person.shows("preview")
    await inspector.look(person.page, "preview")
    await person.press("begin")
    await person.shows("consent")
    await inspector.look(person.page, "consent")
    await person.press("agree")
    await person.shows("instructions")
    await inspector.look(person.page, "instructions")
    await person.press("instructions-next")
    await person.shows("check")
    await person.press("check-submit")
    await expect(person.get("check-incomplete")).to_be_visible(timeout=WAIT_MS)
    questions = await person.get("check-question").all()
    for question in questions:
        await question.get_by_test_id("check-option").nth(1).click()
    await inspector.look(person.page, "check")
    await person.press("check-submit")
    for question in questions:
        await expect(question).to_have_attribute("data-again", "true", timeout=WAIT_MS)
    await inspector.look(person.page, "check, wrong")
    for question in questions:
        await question.get_by_test_id("check-option").first.click()
    await person.press("check-submit")
    await person.shows("arrived")
    await inspector.look(person.page, "arrived")
    await person.press("ready")
    await person.shows("waiting")
    await inspector.look(person.page, "waiting")


async def look_at_the_dialogs(inspector: Inspector, person: Person, opener: str) -> None:
    """A native dialog over the page: it closes on Escape, and the focus is where it was."""
    shown = {"zoom-open": "zoom", "leave": "leave-dialog", "report": "report-dialog"}[opener]
    await person.get(opener).press("Enter")
    await expect(person.get(shown)).to_be_visible(timeout=WAIT_MS)
    await inspector.look(person.page, shown)
    await person.page.keyboard.press("Escape")
    await expect(person.get(shown)).to_have_count(0, timeout=WAIT_MS)
    await expect(person.get(opener)).to_be_focused(timeout=WAIT_MS)


@pytest.mark.parametrize(
    ("language", "direction", "looks"),
    [
        ("en", "ltr", (("light", WIDE), ("dark", PHONE))),
        ("ar", "rtl", (("dark", WIDE), ("light", PHONE))),
    ],
)
async def test_no_screen_on_the_way_breaks_a_rule_of_axe(
    browser: Browser,
    tmp_path: Path,
    redis_url: str,
    language: str,
    direction: str,
    looks: tuple[Look, ...],
) -> None:
    site = short_study(tmp_path / "study", photos(tmp_path / "photos"), languages='["ar", "en"]')
    config = quick(site, study=PATIENT, rules={"grace_s": 60.0})
    inspector = Inspector(looks)
    async with on_stage(browser, site, redis_url, config) as stage:
        one = await stage.person(locale=language, **STILL)
        other = await stage.person(locale=language, **STILL)
        await look_on_the_way_in(inspector, one)
        assert await one.page.evaluate("document.documentElement.dir") == direction
        await other.ready()
        await one.shows("matched")
        await inspector.look(one.page, "matched")
        await one.start()
        await inspector.look(one.page, "matched, started")
        await other.start()
        asker, teller = (one, other) if await one.role() == "questioner" else (other, one)
        await rounds(asker, teller, 1, 1)
        await inspector.look(asker.page, "asking")
        await asker.say("question 2?")
        await inspector.look(asker.page, "waiting for an answer")
        await teller.reads("question 2?")
        await teller.get("box").fill("x" * 501)
        await inspector.look(teller.page, "answering")
        await look_at_the_dialogs(inspector, teller, "zoom-open")
        await look_at_the_dialogs(inspector, teller, "leave")
        await look_at_the_dialogs(inspector, asker, "report")
        await asker.press("leave")
        await asker.press("leave-confirm")
        await asker.shows("released")
        await inspector.look(asker.page, "left")
        await expect(teller.get("pair-again")).to_be_visible(timeout=WAIT_MS)
        await inspector.look(teller.page, "alone")
        for n in range(2, 4):
            await teller.get("box").fill(f"alone {n}")
            await teller.press("send")
            await expect(teller.get("message").filter(has_text=f"alone {n}")).to_be_visible(
                timeout=WAIT_MS
            )
        await teller.shows("released")
        await expect(teller.get("transcript")).to_be_visible()
        await inspector.look(teller.page, "end")
        await teller.press("finish")
        await expect(teller.get("finished")).to_be_visible(timeout=WAIT_MS)
        await inspector.look(teller.page, "finished")
    assert inspector.faults == []
    assert len(set(inspector.seen)) == 19


# --- The keyboard --------------------------------------------------------------------------


class Typist(Person):
    """Somebody who has no mouse."""

    async def reach(self, testid: str) -> None:
        """Go on by Tab until the focus is there, as it must be before it has gone round."""
        stops: list[str] = []
        for _ in range(30):
            await self.page.keyboard.press("Tab")
            stops.append(await self.page.evaluate("document.activeElement.dataset.testid ?? '?'"))
            if stops[-1] == testid:
                return
        pytest.fail(f"Tab never came to {testid}, but to {stops}")

    async def press(self, testid: str) -> None:
        await self.get(testid).wait_for(timeout=WAIT_MS)
        await self.reach(testid)
        await self.page.keyboard.press("Enter")

    async def begins_at_the_top(self, screen: str) -> None:
        await self.shows(screen)
        await expect(self.page.locator("h1")).to_be_focused(timeout=WAIT_MS)

    async def come_in(self) -> None:
        await self.open()
        await self.begins_at_the_top("preview")
        await self.press("begin")
        await self.begins_at_the_top("consent")
        await self.press("agree")
        await self.begins_at_the_top("instructions")
        await self.press("instructions-next")
        await self.begins_at_the_top("check")
        for _ in range(await self.get("check-question").count()):
            await self.reach("check-option")
            await self.page.keyboard.press("Space")
        await self.press("check-submit")
        await self.begins_at_the_top("arrived")

    async def say(self, text: str) -> None:
        """Write where the focus is: it stays in the box from message to message."""
        await expect(self.get("box")).to_be_focused(timeout=WAIT_MS)
        await self.page.keyboard.type(text)
        await self.page.keyboard.press("Enter")
        await self.reads(text)


async def test_from_the_link_to_the_code_by_keyboard_alone(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = short_study(tmp_path / "study", photos(tmp_path / "photos"))
    config = quick(site, study=PATIENT)
    async with on_stage(browser, site, redis_url, config) as stage:
        somebody, other = await stage.person(), await stage.person()
        typist = Typist(somebody.page, somebody.url)
        await typist.ready()
        await typist.begins_at_the_top("waiting")
        await other.ready()
        await typist.begins_at_the_top("matched")
        await typist.press("start")
        await expect(typist.get("match-line")).to_have_text(re.compile("ready"), timeout=WAIT_MS)
        await expect(typist.get("start")).to_be_focused()
        await other.start()
        asks = await typist.role() == "questioner"
        asker, teller = (typist, other) if asks else (other, typist)
        await rounds(asker, teller, 1, 1)

        await typist.press("leave")
        await expect(typist.get("leave-dialog")).to_be_visible()
        await typist.press("leave-cancel")
        await expect(typist.get("leave-dialog")).to_have_count(0)
        await expect(typist.get("leave")).to_be_focused(timeout=WAIT_MS)
        await typist.reach("box")

        await rounds(asker, teller, 2, 2)
        await asker.say("question 3?")
        await teller.reads("question 3?")
        if asks:
            await other.get("box").fill("answer 3.")
            await other.press("send")
        else:
            await typist.page.keyboard.type("answer 3.")
            await typist.page.keyboard.press("Enter")
        await typist.begins_at_the_top("released")
        assert await typist.code()
        await typist.reach("feedback")
        await typist.page.keyboard.type("It went well.")
        await typist.press("finish")
        await expect(typist.get("finished")).to_be_visible(timeout=WAIT_MS)
        await expect(typist.get("finished").locator(":focus")).to_have_count(1, timeout=WAIT_MS)


# --- Small windows -------------------------------------------------------------------------


def wordy(folder: Path) -> Path:
    """Items whose captions are as long as captions get."""
    file = photos(folder)
    items = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for item in items:
        item["caption"] = "A market square in the evening. " * 8 + "x" * 60
    file.write_text("\n".join(json.dumps(item) for item in items), encoding="utf-8")
    return file


async def test_long_words_and_captions_fit_small_windows(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = short_study(tmp_path / "study", wordy(tmp_path / "photos"))
    async with on_stage(browser, site, redis_url, quick(site, study=PATIENT)) as stage:
        asker, teller = await stage.pair()
        long = "w" * 500
        await asker.get("box").fill(long)
        for width, height in (PHONE, (640, 360), (700, 500), (320, 256)):
            await asker.page.set_viewport_size({"width": width, "height": height})
            assert not await too_wide(asker.page), f"the box at {width}"
        await asker.say(long)
        await teller.reads(long)
        await teller.get("box").fill("a half-written answer")
        for person in (asker, teller):
            for width, height in (PHONE, (640, 360), (700, 500), (320, 256)):
                await person.page.set_viewport_size({"width": width, "height": height})
                assert not await too_wide(person.page), f"the conversation at {width}"
                # Low windows scroll, but there is always a conversation to be seen in them.
                room = await person.page.locator(".view").bounding_box()
                assert room is not None
                assert room["height"] >= 80, f"the conversation at {width}"


LOW: Final = ((780, 390), (844, 330), (390, 500), (390, 420), (390, 390))
"""A phone held sideways, and one whose keyboard is out."""


async def hidden_parts(person: Person, text: str) -> list[str]:
    """What of the newest message and the button is not whole in the window as it stands."""
    hidden: list[str] = []
    view = await person.page.locator(".view").bounding_box()
    window = person.page.viewport_size
    assert view is not None
    assert window is not None
    places = {
        "the newest message": (person.get("message").filter(has_text=text), view),
        "the button": (person.get("send"), {"y": 0.0, "height": float(window["height"])}),
    }
    for name, (place, within) in places.items():
        box = await place.bounding_box()
        end = within["y"] + within["height"]
        if box["y"] < within["y"] - 1 or box["y"] + box["height"] > end + 1:
            hidden.append(f"{name} at {window}: {box} in {within}")
    if await person.page.evaluate("scrollY + document.documentElement.scrollHeight > innerHeight"):
        hidden.append(f"the page scrolls at {window}")
    return hidden


async def test_low_windows_show_the_newest_message_and_the_button(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    phone = {"viewport": {"width": 390, "height": 700}, **STILL}
    async with on_stage(browser, site, redis_url, quick(site, study=PATIENT)) as stage:
        one, other = await stage.person(**phone), await stage.person(**phone)
        await one.ready()
        await other.ready()
        await one.start()
        await other.start()
        asker, teller = (one, other) if await one.role() == "questioner" else (other, one)
        await rounds(asker, teller, 1, 5)
        await asker.say("question 6?")
        await teller.reads("question 6?")
        faults: list[str] = []
        for person in (asker, teller):
            for low in (*LOW, *reversed(LOW)):
                for width, height in ((390, 700), low):
                    await person.page.set_viewport_size({"width": width, "height": height})
                    # The list is at its end before and after.
                    with suppress(AssertionError):
                        await expect(person.get("to-end")).to_have_count(0, timeout=2_000)
                    await settled(person)
                    faults += await hidden_parts(person, "question 6?")
        # Whoever has gone back to read stays where they are.
        await teller.page.set_viewport_size({"width": 390, "height": 700})
        await teller.page.locator(".view").evaluate("view => view.scrollTo(0, 0)")
        await expect(teller.get("to-end")).to_be_visible(timeout=WAIT_MS)
        await teller.page.set_viewport_size({"width": 390, "height": 420})
        await settled(teller)
        assert await teller.page.locator(".view").evaluate("view => view.scrollTop") == 0
    assert faults == []


async def settled(person: Person) -> None:
    """Let the page draw what a new size has changed."""
    await person.page.evaluate(
        "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


# --- A frame of another site ---------------------------------------------------------------


@asynccontextmanager
async def marketplace(address: dict[str, str]) -> AsyncIterator[str]:
    """Another site, with a page that shows `address["work"]` in a frame 700 pixels wide."""

    async def task(_: web.Request) -> web.Response:
        frame = f'<iframe name="work" src="{address["work"]}" width="700" height="500"></iframe>'
        return web.Response(text=f"<!doctype html>{frame}", content_type="text/html")

    app = web.Application()
    app.router.add_get("/", task)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        # By this name it is another site than the server, which goes by the number.
        yield f"http://localhost:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


class Framed(Person):
    """Somebody whose page is a frame of another page."""

    frame: Frame

    async def open(self) -> None:
        await super().open()
        frame = self.page.frame("work")
        assert frame is not None
        self.frame = frame

    def get(self, testid: str) -> Any:
        return self.frame.get_by_test_id(testid)


async def keeps(frame: Frame, shelf: str) -> bool:
    """Whether a page in this frame may keep anything in this storage."""
    return bool(
        await frame.evaluate(
            """(shelf) => {
                try { window[shelf].setItem("probe", "probe"); return true; }
                catch { return false; }
            }""",
            shelf,
        )
    )


async def test_in_a_frame_of_another_site_that_may_keep_nothing(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = short_study(tmp_path / "study", photos(tmp_path / "photos"))
    address: dict[str, str] = {}
    async with (
        marketplace(address) as outside,
        on_stage(
            browser, site, redis_url, quick(site, study=PATIENT, frame_ancestors=(outside,))
        ) as stage,
        open_wary_browser(tmp_path / "profile") as context,
    ):
        address["work"] = f"{stage.server.url}/work"
        framed, other = Framed(context.pages[0], outside), await stage.person()
        framed.page.on("response", lambda response: framed.responses.append(response))
        await framed.ready()
        assert not await keeps(framed.frame, "localStorage")
        assert not await keeps(framed.frame, "sessionStorage")
        await other.ready()
        await framed.start()
        await other.start()
        asks = await framed.role() == "questioner"
        asker, teller = (framed, other) if asks else (other, framed)
        await rounds(asker, teller, 1, 2)
        assert not await too_wide(framed.frame)
        await asker.say("question 3?")
        await teller.reads("question 3?")
        await teller.get("box").fill("answer 3.")
        await teller.press("send")
        assert await framed.code() != await other.code()
        assert not await too_wide(framed.frame)
        assert framed.responses
        for response in framed.responses:
            assert "set-cookie" not in response.headers


async def test_no_frame_of_a_site_that_the_study_does_not_name(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = short_study(tmp_path / "study", photos(tmp_path / "photos"))
    address: dict[str, str] = {}
    async with marketplace(address) as outside, on_stage(browser, site, redis_url) as stage:
        address["work"] = f"{stage.server.url}/work"
        person = await stage.person()
        said = person.page.expect_console_message(
            lambda message: "frame-ancestors" in message.text, timeout=WAIT_MS
        )
        async with said:
            await person.page.goto(outside)
