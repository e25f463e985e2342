"""A study on a real server, and people with real browsers in it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, Response, expect

from chatserver.config import ServerConfig, StudyConfig
from chatserver.server import Server
from dialogs.rules import Role
from duologue.serve import Site, prepare_record, running, server_config
from duologue.settings import read_settings
from duologue.study import read_study
from duologue.template import template

PHOTOS = Path(__file__).parents[3] / "shared" / "data" / "photos"
WAIT_MS = 20_000


def write_study(folder: Path, items: Path, **changes: str) -> Site:
    """A study folder as `duologue init` makes it, with keys of the study file changed."""
    folder.mkdir(parents=True, exist_ok=True)
    text = template().replace('file = "items.jsonl"', f"file = {json.dumps(str(items))}")
    for key, value in changes.items():
        text, found = re.subn(rf"^{key} = .*$", f"{key} = {value}", text, flags=re.MULTILINE)
        assert found, f"the template has no key {key}"
    (folder / "study.toml").write_text(text, encoding="utf-8")
    study = read_study(folder / "study.toml")
    return Site(folder, study, read_settings({"DUOLOGUE_PORT": "0"}, folder))


def photos(folder: Path) -> Path:
    """An items file of a few photographs: shared ones where they are, else drawn scenes."""
    if not PHOTOS.is_dir():
        from duologue.scenes import write_scenes

        return write_scenes(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lines = (PHOTOS / "items.jsonl").read_text(encoding="utf-8").splitlines()
    items = [json.loads(line) for line in lines if line]
    for item in items:
        item["image"] = str(Path(item["image"]).name)
        (folder / item["image"]).write_bytes((PHOTOS / item["image"]).read_bytes())
    file = folder / "items.jsonl"
    file.write_text("\n".join(json.dumps(item) for item in items), encoding="utf-8")
    return file


def quick(site: Site, **changes: Any) -> ServerConfig:
    """The site's configuration with the short times that a test wants (seconds)."""
    config = server_config(site)
    study: StudyConfig = config.study
    rules = replace(study.rules, **{"grace_s": 4.0, **changes.pop("rules", {})})
    study = replace(study, **{"rules": rules, **changes.pop("study", {})})
    return replace(config, study=study, heartbeat_s=1.0, sweep_s=5.0, **changes)


@dataclass
class Person:
    """One person in a browser of their own, with everything their page was sent."""

    page: Page
    url: str
    responses: list[Response] = field(default_factory=list)

    async def open(self) -> None:
        await self.page.goto(self.url)

    async def shows(self, screen: str) -> None:
        """Wait until this screen is shown."""
        await expect(self.get(f"screen-{screen}")).to_be_visible(timeout=WAIT_MS)

    def get(self, testid: str) -> Any:
        return self.page.get_by_test_id(testid)

    async def press(self, testid: str) -> None:
        await self.get(testid).click(timeout=WAIT_MS)

    async def come_in(self) -> None:
        """From the link to the ready button: preview, consent, instructions, check."""
        await self.open()
        await self.shows("preview")
        await self.press("begin")
        await self.shows("consent")
        await self.press("agree")
        await self.shows("instructions")
        await self.press("instructions-next")
        await self.shows("check")
        for question in await self.get("check-question").all():
            # The template's right answers are the first ones.
            await question.get_by_test_id("check-option").first.click()
        await self.press("check-submit")
        await self.shows("arrived")

    async def ready(self) -> None:
        await self.come_in()
        await self.press("ready")

    async def start(self) -> None:
        await self.shows("matched")
        await self.press("start")

    async def say(self, text: str) -> None:
        """Write a message and wait until it stands confirmed in the conversation."""
        await self.get("box").fill(text)
        await self.press("send")
        await self.reads(text)

    async def reads(self, text: str) -> None:
        await expect(self.get("message").filter(has_text=text)).to_have_count(1, timeout=WAIT_MS)

    async def role(self) -> str:
        await self.shows("talking")
        role = await self.get("role").get_attribute("data-role", timeout=WAIT_MS)
        assert role in ("questioner", "answerer")
        return str(role)

    async def code(self) -> str:
        await self.shows("released")
        return str(await self.get("code").inner_text())


class Stage:
    """A running study and its people."""

    def __init__(self, browser: Browser, server: Server) -> None:
        self._browser = browser
        self.server = server
        self._contexts: list[BrowserContext] = []

    async def person(self, **options: Any) -> Person:
        """Somebody new, with a browser profile of their own."""
        context = await self._browser.new_context(**options)
        self._contexts.append(context)
        return await self.tab(context)

    async def tab(self, context: BrowserContext) -> Person:
        """Another tab of somebody who is here already."""
        page = await context.new_page()
        person = Person(page, f"{self.server.url}/work")
        page.on("response", lambda response: person.responses.append(response))
        return person

    async def pair(self) -> tuple[Person, Person]:
        """Two new people in one dialog: the questioner and the answerer."""
        one, other = await self.person(), await self.person()
        await one.ready()
        await other.ready()
        await one.start()
        await other.start()
        if await one.role() == "questioner":
            return one, other
        return other, one

    async def cut(self, person: Person) -> None:
        """Break the connection of somebody who is offline: Chromium keeps open sockets."""
        role = await person.role()
        service = self.server.service
        for page in service.hub.pages():
            state = service.dialogs.peek(page.dialog_id) if page.dialog_id else None
            if state and state.seats[Role(role)].arrival_id == page.arrival_id:
                service.wire.abort(page.sid)

    async def close(self) -> None:
        for context in self._contexts:
            await context.close()


@asynccontextmanager
async def on_stage(
    browser: Browser, site: Site, redis_url: str, config: ServerConfig | None = None
) -> AsyncIterator[Stage]:
    """The study with its items, served on a free port."""
    await prepare_record(site)
    async with running(site, redis_url, config=config or quick(site)) as server:
        stage = Stage(browser, server)
        try:
            yield stage
        finally:
            await stage.close()


async def rounds(questioner: Person, answerer: Person, first: int, last: int) -> None:
    """Whole rounds of a dialog, each message read by the other before the next is written."""
    for n in range(first, last + 1):
        await questioner.say(f"question {n}?")
        await answerer.reads(f"question {n}?")
        await answerer.say(f"answer {n}.")
        await questioner.reads(f"answer {n}.")
