"""Take the pictures of the README and the tutorial: `python -m tests.e2e.pictures [FOLDER]`.

A real study, two real browsers, drawn scenes. Each picture is of what a worker sees.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Browser

from duologue.scenes import write_scenes
from tests.browser import open_browser
from tests.e2e.stage import Person, Stage, on_stage, rounds, write_study
from tests.services import ValkeyServer

TARGET: Final = Path(__file__).parents[2] / "docs" / "pictures"
WIDE: Final = {"viewport": {"width": 1100, "height": 760}}
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


async def main(folder: Path) -> None:
    redis = ValkeyServer(appendfsync="no").start()
    with redis:
        async with open_browser() as browser:
            await shoot(browser, folder, redis.url)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if sys.argv[1:] else TARGET
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target))
