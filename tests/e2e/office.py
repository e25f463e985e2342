"""The research team with real browsers in front of the monitor of a server that runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect
from sqlalchemy import Table, select

from chatserver.server import Server
from dialogs.record import tables
from dialogs.rules import AdminRole
from duologue.simulate import Pace, Plan, Summary, simulate
from tests.e2e.stage import WAIT_MS, Person, Stage, on_stage, photos, quick, write_study
from tests.team import PASSWORD, add_admin

DESK: Final[dict[str, Any]] = {"viewport": {"width": 1440, "height": 900}}

_TELLS_OF_CSP: Final = """
addEventListener("securitypolicyviolation", (event) => {
    console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`);
});
"""
_ASKS_WHO: Final = ("/api/monitor/me", "/api/sign-in")
"""Where a browser that nobody is signed in by is told so: Chromium logs that as an error."""


@dataclass
class Colleague:
    """Somebody of the team in a browser of their own; `faults` is what their page complained of."""

    name: str
    role: AdminRole
    page: Page
    url: str
    faults: list[str] = field(default_factory=list)

    def listen(self) -> None:
        self.page.on("pageerror", lambda error: self.faults.append(f"{self.page.url}: {error}"))
        self.page.on("console", self._hear)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type != "error":
            return
        told = f"{self.page.url}: {message.text}"
        asks = message.location.get("url", "").endswith(_ASKS_WHO)
        if not (asks and "status of 401" in message.text):
            self.faults.append(told)

    def get(self, testid: str) -> Locator:
        return self.page.get_by_test_id(testid)

    async def press(self, testid: str) -> None:
        await self.get(testid).click(timeout=WAIT_MS)

    async def fill(self, testid: str, text: str) -> None:
        await self.get(testid).fill(text, timeout=WAIT_MS)

    async def choose(self, testid: str, value: str) -> None:
        """One of the round buttons of a question."""
        await self.get(testid).locator(f"input[value={value}]").check(timeout=WAIT_MS)

    async def submit(self) -> None:
        """Answer the question before the page, and see that it goes."""
        await self.press("ask-submit")
        await expect(self.page.locator("dialog[open]")).to_have_count(0, timeout=WAIT_MS)

    async def is_told(self, text: str) -> None:
        """What came of an action, in a line that goes by itself; it is put away."""
        toast = self.get("toasts").locator(".toast").filter(has_text=text)
        await expect(toast).to_have_count(1, timeout=WAIT_MS)
        await toast.get_by_role("button").click()

    async def shows(self, heading: str) -> None:
        """Wait until the view of this heading is shown, with what it fetches."""
        await expect(self.page.locator("h1")).to_contain_text(heading, timeout=WAIT_MS)
        await expect(self.page.locator(".skeleton")).to_have_count(0, timeout=WAIT_MS)

    async def open(self, path: str, heading: str) -> None:
        await self.page.goto(self.url + path)
        await self.shows(heading)

    async def go(self, view: str) -> None:
        """To another view, as somebody does who does not load the page anew."""
        path = "/monitor" if view == "Now" else f"/monitor/{view.lower()}"
        await self.page.locator(f"nav a[href='{path}']").click(timeout=WAIT_MS)
        await self.shows(view)

    async def write_in(self, password: str = PASSWORD) -> None:
        await self.fill("name", self.name)
        await self.fill("password", password)
        await self.press("sign-in")

    async def sign_in(self, path: str = "/monitor") -> None:
        """By the page, to the view at this path."""
        await self.page.goto(self.url + path)
        await self.write_in()
        await expect(self.get("account")).to_be_visible(timeout=WAIT_MS)


class Office:
    """A server and the team at it."""

    def __init__(self, browser: Browser, server: Server) -> None:
        self._browser = browser
        self.server = server
        self._contexts: list[BrowserContext] = []
        self.team: list[Colleague] = []

    async def colleague(
        self, role: AdminRole = AdminRole.OWNER, name: str = "", **options: Any
    ) -> Colleague:
        """Somebody new with this role, who has signed in."""
        name = name or f"{role}-{len(self.team)}"
        await add_admin(self.server.service.record, name, role)
        found = await self.browser_of(name, role, **options)
        await found.sign_in()
        return found

    async def browser_of(self, name: str, role: AdminRole, **options: Any) -> Colleague:
        """A browser of somebody, in which nobody has signed in."""
        context = await self._browser.new_context(**{**DESK, **options})
        self._contexts.append(context)
        await context.add_init_script(_TELLS_OF_CSP)
        found = Colleague(name, role, await context.new_page(), self.server.url)
        found.listen()
        self.team.append(found)
        return found

    async def rows(self, table: Table) -> list[Any]:
        """A table of the record."""
        return await self.server.service.record.read(
            lambda connection: list(connection.execute(select(table)))
        )

    async def actions(self, action: str) -> list[Any]:
        """What the audit holds of an action, the oldest first."""
        rows = [row for row in await self.rows(tables.audit) if row.action == action]
        return sorted(rows, key=lambda row: row.at)

    async def crowd(self, workers: int, **plan: Any) -> Summary:
        """Let simulated people come, who take no time, and wait until they are done."""
        return await simulate(self.server.url, self.plan(workers, **plan))

    def plan(self, workers: int, **plan: Any) -> Plan:
        checks = tuple(check.answer for check in self.server.service.config.study.check)
        quick: dict[str, Any] = {"pace": Pace(0.0), "arrive_s": 0.0, "check_answers": checks}
        return Plan(workers=workers, **{**quick, **plan})

    async def close(self) -> None:
        for context in self._contexts:
            await context.close()
        assert [fault for each in self.team for fault in each.faults] == []


@asynccontextmanager
async def at_work(browser: Browser, server: Server) -> AsyncIterator[Office]:
    """The team of a server; afterwards no page of theirs may have complained of anything."""
    office = Office(browser, server)
    try:
        yield office
    except BaseException:
        for each in office.team:
            print(each.name, each.page.url, each.faults)
        raise
    else:
        await office.close()


class TwoTalk(NamedTuple):
    """Two people who have begun a dialog, and an owner who has signed in."""

    stage: Stage
    office: Office
    owner: Colleague
    questioner: Person
    answerer: Person


@asynccontextmanager
async def two_talk(
    browser: Browser, folder: Path, redis_url: str, **changes: str
) -> AsyncIterator[TwoTalk]:
    """A study on the stage, with keys of its file changed. Nobody loses their seat for being away
    while the team looks at it."""
    site = write_study(folder / "study", photos(folder / "photos"), **changes)
    config = quick(site, rules={"grace_s": 60.0})
    async with (
        on_stage(browser, site, redis_url, config) as stage,
        at_work(browser, stage.server) as office,
    ):
        owner = await office.colleague()
        yield TwoTalk(stage, office, owner, *await stage.pair())
