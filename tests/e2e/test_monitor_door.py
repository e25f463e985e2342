"""Who is let into the monitor, what each may do there, and how a session ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Browser, expect

from chatserver.monitor.access import API, NEEDS
from dialogs.record import tables
from dialogs.rules import AdminRole
from tests.e2e.office import Colleague, Office, at_work
from tests.e2e.stage import WAIT_MS, Stage, on_stage, photos, quick, write_study
from tests.team import add_admin

pytestmark = pytest.mark.e2e

WRONG: Final = "nine melons under the piano"


async def is_out(colleague: Colleague, place: str) -> None:
    """At the sign-in, which will lead back to this place; and the server says the same."""
    await colleague.shows("Sign in")
    assert colleague.page.url == f"{colleague.url}/sign-in?next={place.replace('/', '%2F')}"
    answer = await colleague.page.request.get(f"{colleague.url}{API}/now")
    assert (answer.status, (await answer.json())["code"]) == (401, "signed_out")


async def open_sessions(office: Office) -> int:
    rows = await office.rows(tables.admin_sessions)
    return sum(row.ended_at is None for row in rows)


async def leave(colleague: Colleague, *, everywhere: bool = False) -> None:
    await colleague.press("account")
    await colleague.press("sign-out-everywhere" if everywhere else "sign-out")


async def test_in_and_out_here_and_everywhere(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"))
    async with (
        on_stage(browser, site, redis_url, quick(site)) as stage,
        at_work(browser, stage.server) as office,
    ):
        await add_admin(stage.server.service.record, "ada", AdminRole.REVIEWER)
        desk = await office.browser_of("ada", AdminRole.REVIEWER)
        # Who is not signed in sees nothing, and comes back to where they wanted to be.
        await desk.page.goto(f"{desk.url}/monitor/workers?flagged=true")
        await desk.shows("Sign in")
        await desk.press("sign-in")
        await expect(desk.get("problem")).to_have_text("Write your name and your password.")
        await desk.write_in(WRONG)
        told = "The name or the password is not right."
        await expect(desk.get("problem")).to_have_text(told, timeout=WAIT_MS)
        assert await open_sessions(office) == 0
        await desk.write_in()
        await desk.shows("Workers")
        assert desk.page.url == f"{desk.url}/monitor/workers?flagged=true"
        await expect(desk.get("account")).to_contain_text("ada reviewer")
        assert await open_sessions(office) == 1
        assert [row.target for row in await office.actions("sign_in")] == ["ada"]

        await desk.go("Now")
        await leave(desk)
        await is_out(desk, "/monitor")
        assert await open_sessions(office) == 0
        # Neither does the back button show anything.
        await desk.page.goto(f"{desk.url}/monitor/money")
        await desk.shows("Sign in")

        # What ends in one browser ends in all of them, and each comes back to where it was.
        await desk.write_in()
        await desk.shows("Money")
        phone = await office.browser_of("ada", AdminRole.REVIEWER)
        await phone.sign_in("/monitor/study")
        await phone.shows("Study")
        await expect(phone.get("status")).to_contain_text("Live", timeout=WAIT_MS)
        await leave(desk, everywhere=True)
        await is_out(desk, "/monitor/money")
        await is_out(phone, "/monitor/study")
        assert await open_sessions(office) == 0
        await phone.write_in()
        await phone.shows("Study")
        assert phone.page.url == f"{phone.url}/monitor/study"


ACTIONS: Final = (
    *("act-tell", "act-extend", "act-end", "act-flag"),
    *("act-write", "act-bonus", "act-exclude", "act-allow", "note-add"),
    *("accept", "reject", "settle", "review-flag", "skip", "undo", "bulk"),
    *("approve", "retry", "pause", "resume", "limits-review"),
)
"""Every button that does something to the study or its people."""


async def buttons(colleague: Colleague, stage: Stage) -> list[str]:
    """Those of `ACTIONS` that somebody sees in any view."""
    office = Office(colleague.page.context.browser, stage.server)  # type: ignore[arg-type]
    dialogs = [row.id for row in await office.rows(tables.dialogs)]
    workers = [row.id for row in await office.rows(tables.workers)]
    seen: set[str] = set()
    for path, heading in (
        ("", "Now"),
        ("/dialogs", "Dialogs"),
        *((f"/dialogs/{each}", "Dialog") for each in dialogs),
        ("/review", "Review"),
        ("/workers", "Workers"),
        (f"/workers/{workers[0]}", "Worker"),
        ("/money", "Money"),
        ("/study", "Study"),
        ("/log", "Log"),
    ):
        await colleague.open(f"/monitor{path}", heading)
        shown = colleague.page.locator("[data-testid]")
        seen.update(await shown.evaluate_all("(all) => all.map((each) => each.dataset.testid)"))
    return sorted(seen & set(ACTIONS))


BODIES: Final[dict[str, Any]] = {
    "key": "a-key-of-a-page",
    "text": "A text.",
    "subject": "A subject.",
    "reason": "A reason.",
}


async def tries_everything(colleague: Colleague) -> dict[str, tuple[int, str]]:
    """Ask the server for every action by hand, as the page would; what it answered."""
    request = colleague.page.request
    me = await (await request.get(f"{colleague.url}{API}/me")).json()
    answers = {}
    for method, path in NEEDS:
        if method == "GET" or path.startswith("/sign-out"):
            continue
        answer = await request.post(
            f"{colleague.url}{API}{path.replace('{}', 'x')}",
            data=BODIES,
            headers={"X-CSRF-Token": me["csrf"]},
        )
        answers[path] = (answer.status, (await answer.json())["code"])
    return answers


async def test_who_may_only_look_sees_no_button_and_is_refused_everything(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    short = {"rounds": "2", "pair_again_below": "1"}
    site = write_study(tmp_path / "study", photos(tmp_path / "photos"), **short)
    async with (
        on_stage(browser, site, redis_url, quick(site)) as stage,
        at_work(browser, stage.server) as office,
    ):
        await office.crowd(4)
        questioner, _ = await stage.pair()
        await questioner.say("question 1?")
        viewer = await office.colleague(AdminRole.VIEWER)
        assert await buttons(viewer, stage) == []
        before = await office.rows(tables.audit)
        answers = await tries_everything(viewer)
        assert len(answers) == sum(method == "POST" for method, _ in NEEDS) - 2
        assert set(answers.values()) == {(403, "not_allowed")}
        assert await office.rows(tables.audit) == before
        await viewer.open("/monitor/review", "Review")
        await expect(viewer.get("empty")).to_contain_text("judged by reviewers and owners")

        # An owner has them all, so that the names above are those of the page.
        owner = await office.colleague(AdminRole.OWNER)
        pays = {"act-write", "act-bonus", "retry"}
        other = {"act-allow", "settle", "resume"}
        assert set(ACTIONS) - set(await buttons(owner, stage)) == pays | other
