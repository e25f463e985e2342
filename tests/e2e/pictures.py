"""Take the pictures of the README and the tutorial: `python -m tests.e2e.pictures [FOLDER]`.

A real study, real browsers, drawn scenes. Each picture is of what a worker sees, and one of what
the team sees. `--monitor` takes only this one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Browser, Page

from duologue.scenes import write_scenes
from duologue.serve import server_config
from tests.browser import open_browser
from tests.e2e.busy import busy
from tests.e2e.stage import Person, Stage, on_stage, rounds, write_study
from tests.services import ValkeyServer, flush
from tests.team import PASSWORD, add_admin

TARGET: Final = Path(__file__).parents[2] / "docs" / "pictures"
WIDE: Final = {"viewport": {"width": 1100, "height": 760}}
TEAM: Final = {"viewport": {"width": 1280, "height": 1000}}
PHONE: Final = {"viewport": {"width": 390, "height": 844}}
TALKS: Final = {
    "kitchen": (
        ("Is anybody in the kitchen?", "No, I see nobody."),
        ("What kind of fruit is it?", "Apples and two bananas, in a white bowl."),
        ("Is there anything to drink?", "A yellow mug, and it is steaming."),
    ),
    "beach": (
        ("What colour is the parasol?", "Purple and blue, in stripes."),
        ("Is the person a child?", "Hard to say. Blond, in a yellow jacket."),
        ("Are there boats on the water?", "Yes, three small ones with sails."),
    ),
    "bus": (
        ("Is the bus full?", "It looks empty to me."),
        ("What do the shops sell?", "One sells pizza. It has a striped awning."),
        ("Do you see anybody?", "One person in a purple sweater."),
    ),
}
"""What people say about the scene whose caption holds this word."""


async def take(person: Person, folder: Path, name: str) -> None:
    await person.page.screenshot(path=folder / f"{name}.png")
    print(folder / f"{name}.png")


async def talk(questioner: Person, answerer: Person) -> None:
    caption = await questioner.get("caption").inner_text()
    (said,) = (lines for word, lines in TALKS.items() if word in caption)
    for question, answer in said:
        await questioner.say(question)
        await answerer.reads(question)
        await answerer.say(answer)
        await questioner.reads(answer)


async def pair(
    stage: Stage, first: dict[str, Any], second: dict[str, Any]
) -> tuple[Person, Person]:
    """Two people with these browser settings, whichever role each gets; the questioner first."""
    one, other = await stage.person(**first), await stage.person(**second)
    await one.ready()
    await other.ready()
    await one.start()
    await other.start()
    return (one, other) if await one.role() == "questioner" else (other, one)


async def shoot(browser: Browser, folder: Path, redis_url: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        site = write_study(
            Path(place) / "study",
            write_scenes(Path(place) / "scenes"),
            title='"Talk with a partner about a picture"',
            contact='"the picture team, team@example.org"',
        )
        async with on_stage(browser, site, redis_url) as stage:
            await alone(stage, folder)
            for scheme in ("light", "dark"):
                questioner, answerer = await pair(
                    stage, {**WIDE, "color_scheme": scheme}, {**WIDE, "color_scheme": scheme}
                )
                await talk(questioner, answerer)
                await questioner.get("box").fill("Is it day or nig")
                await answerer.get("partner-typing").wait_for()
                await take(answerer, folder, f"answerer-{scheme}")
                await take(questioner, folder, f"questioner-{scheme}")
                if scheme == "light":
                    await questioner.press("leave")
                    await questioner.press("leave-confirm")
                    await answerer.get("solo-note").wait_for()
                    await take(answerer, folder, "alone")
            questioner, answerer = await pair(stage, PHONE, PHONE)
            await talk(questioner, answerer)
            await take(questioner, folder, "questioner-phone")
            await take(answerer, folder, "answerer-phone")
            await rounds(questioner, answerer, 4, 9)
            await questioner.say("Anything else?")
            await answerer.reads("Anything else?")
            await answerer.get("box").fill("No, that is all.")
            await answerer.press("send")
            await questioner.code()
            await take(questioner, folder, "end-phone")


async def alone(stage: Stage, folder: Path) -> None:
    """What one person sees before there is a partner."""
    person = await stage.person(**WIDE)
    await person.open()
    await person.shows("preview")
    await take(person, folder, "preview")
    await person.come_in()
    await person.press("ready")
    await person.shows("waiting")
    await take(person, folder, "waiting")
    await person.press("leave")
    await person.press("leave-confirm")
    await person.shows("released")


async def monitor(browser: Browser, folder: Path, redis_url: str) -> None:
    """What the team sees of a study that has gone on for some hours."""
    with tempfile.TemporaryDirectory() as place:
        site = write_study(
            Path(place) / "study",
            many(write_scenes(Path(place) / "scenes")),
            title='"Talk about a picture"',
            contact='"the picture team, team@example.org"',
            dialogs_per_item="1",
        )
        async with on_stage(browser, site, redis_url, server_config(site)) as stage:
            await add_admin(stage.server.service.record, "ada")
            async with busy(stage.server):
                for scheme in ("light", "dark"):
                    person = await stage.person(**TEAM, color_scheme=scheme)
                    await sign_in(person.page, stage.server.url)
                    await person.page.screenshot(path=folder / f"monitor-{scheme}.png")
                    print(folder / f"monitor-{scheme}.png")


def many(items: Path) -> Path:
    """The same scenes ten times over, so that people who talk at a time have different ones."""
    lines = items.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) | {"image_id": n} for n, line in enumerate(lines * 10)]
    items.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return items


async def sign_in(page: Page, url: str) -> None:
    await page.goto(f"{url}/monitor")
    await page.get_by_label("Name").fill("ada")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_test_id("tile").first.wait_for()
    await page.locator(".u-over").wait_for()
    # The chart is drawn on a canvas, which tells nobody when it is done.
    await page.wait_for_timeout(1_500)


async def main(folder: Path, *, only_monitor: bool) -> None:
    redis = ValkeyServer(appendfsync="no").start()
    with redis:
        async with open_browser() as browser:
            if not only_monitor:
                await shoot(browser, folder, redis.url)
                # The next study has a record of its own, which knows nobody who still waits here.
                flush(redis.url)
            await monitor(browser, folder, redis.url)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m tests.e2e.pictures",
        description="Take the pictures of the README and the tutorial.",
    )
    parser.add_argument("folder", nargs="?", type=Path, default=TARGET, help="where they go")
    parser.add_argument("--monitor", action="store_true", help="take only those of the monitor")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(given.folder, only_monitor=given.monitor))
