"""The marketplace's pages in a real browser, with a task on another site."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, FrameLocator, Page, Request, expect

from hit_manager.marketplace import assignments, workers
from hit_manager.marketplace.requirements import NUMBER_APPROVED, Comparator, Requirement
from tests.browser import open_wary_browser
from tests.markets import Market, external, html_question, open_market, task_site

pytestmark = pytest.mark.e2e

AXE: Final = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
WAIT_MS: Final = 20_000
WIDE: Final = (1200, 800)
PHONE: Final = (390, 844)

# As small as a task can be: it hands back whom it was told of, and keeps what it can.
TASK: Final = """<!doctype html><html lang="en"><title>Task</title>
<body><h1>The task</h1><p id="who"></p>
<form id="form" method="post">
<input type="hidden" name="assignmentId"><label>Code <input name="code" value="K7"></label>
<button>Submit</button></form>
<script>
const said = new URLSearchParams(location.search);
form.action = said.get("turkSubmitTo") + "/mturk/externalSubmit";
form.assignmentId.value = said.get("assignmentId");
try { document.cookie = "seen=1; SameSite=None; Secure"; } catch {}
let keeps = true;
try { localStorage.setItem("probe", "1"); } catch { keeps = false; }
who.textContent = [said.get("workerId") ?? "nobody", keeps ? "keeps" : "keeps nothing"].join(", ");
</script></body></html>"""


@pytest_asyncio.fixture(loop_scope="session")
async def market(tmp_path: Path) -> AsyncIterator[Market]:
    async with open_market(f"sqlite:///{tmp_path / 'market.sqlite3'}") as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def site() -> AsyncIterator[str]:
    async with task_site(TASK) as opened:
        yield opened


async def join(page: Page, market: Market) -> None:
    await page.goto(f"{market.url}/worker/join/{await market.invite()}")
    await page.get_by_label("Name to show").fill("Ada")
    await page.get_by_label("Country you live in").select_option("DE")
    await page.get_by_test_id("join").click()
    await expect(page.get_by_role("heading", name="HITs", exact=True)).to_be_visible()


def task(page: Page) -> FrameLocator:
    return page.frame_locator("[data-testid=task]")


async def all_the_way(page: Page, market: Market) -> str:
    """Join, list, search, preview, accept, submit, my work; returns the assignment's id."""
    await join(page, market)
    await page.get_by_label("Search").fill("picture")
    await page.get_by_role("button", name="Search").click()
    await expect(page.get_by_test_id("group")).to_have_count(1)
    await page.get_by_test_id("preview").click()
    await expect(task(page).locator("#who")).to_contain_text("nobody", timeout=WAIT_MS)
    await page.get_by_test_id("accept").click()
    worker_id = await page.get_by_test_id("worker-id").inner_text()
    await expect(task(page).locator("#who")).to_contain_text(worker_id, timeout=WAIT_MS)
    assignment_id = page.url.rpartition("/")[2]
    await expect(page.get_by_test_id("timer")).to_contain_text("29:", timeout=WAIT_MS)
    await task(page).get_by_role("button", name="Submit").click()
    await page.wait_for_url("**/worker/work?said=submitted", timeout=WAIT_MS)
    await expect(page.get_by_test_id("row")).to_have_attribute("data-state", "submitted")
    return assignment_id


async def test_from_the_invitation_to_my_work(browser: Browser, market: Market, site: str) -> None:
    await market.hit(external(site))
    await market.hit(external(site), title="Something else", description="", keywords="")
    page = await browser.new_page()
    elsewhere: list[str] = []
    page.on("request", lambda request: elsewhere.append(request.url))
    assignment_id = await all_the_way(page, market)
    assert all(url.startswith((market.url, site, "data:")) for url in elsewhere)
    write, requester = market.market.write, market.requester_id
    await write(assignments.approve, requester, assignment_id, "Thank you")
    await page.reload()
    await expect(page.get_by_test_id("earned")).to_contain_text("$1.25")
    await expect(page.get_by_test_id("row")).to_contain_text("Thank you")


@pytest.mark.parametrize("size", [WIDE, PHONE, (360, 640)])
async def test_the_task_is_seen_whole_once_the_notice_is_put_away(
    browser: Browser, market: Market, site: str, size: tuple[int, int]
) -> None:
    hit_id = await market.hit(external(site))
    page = await browser.new_page(viewport={"width": size[0], "height": size[1]})
    await join(page, market)
    await page.goto(f"{market.url}/worker/hits/{hit_id}")
    await page.get_by_test_id("accept").click()
    await page.wait_for_url("**/worker/assignments/*")
    await page.goto(f"{page.url}?said=other")
    await page.get_by_test_id("dismiss").click()
    await expect(page.get_by_test_id("notice")).to_have_count(0)
    await expect(page.get_by_test_id("task")).to_be_in_viewport(ratio=1)
    await page.reload()
    await expect(page.get_by_test_id("notice")).to_have_count(0)


async def test_with_third_party_cookies_blocked(tmp_path: Path, market: Market, site: str) -> None:
    """Trap 30: nothing that a worker does in the frame needs a cookie."""
    await market.hit(external(site))
    async with open_wary_browser(tmp_path / "profile") as context:
        page = context.pages[0]
        await join(page, market)
        await page.get_by_test_id("preview").click()
        await expect(task(page).locator("#who")).to_have_text("nobody, keeps nothing")
        await page.goto(f"{market.url}/worker/")
        sent: list[dict[str, str]] = []

        async def note(request: Any) -> None:
            if "externalSubmit" in request.url:
                sent.append(await request.all_headers())

        page.on("requestfinished", note)
        await page.get_by_test_id("preview").click()
        await page.get_by_test_id("accept").click()
        await task(page).get_by_role("button", name="Submit").click()
        await page.wait_for_url("**/worker/work?said=submitted", timeout=WAIT_MS)
        assert len(sent) == 1
        assert "cookie" not in sent[0]
        kept = [cookie["name"] for cookie in await context.cookies()]
        assert kept == ["market_worker"]


async def test_the_first_submit_fails_and_the_second_works(
    browser: Browser, market: Market, site: str
) -> None:
    """Trap 31, where it is the marketplace's: it is away, and then it is there again."""
    await market.hit(external(site))
    page = await browser.new_page()
    await join(page, market)
    await page.get_by_test_id("preview").click()
    await task(page).get_by_role("button", name="Submit").click()
    refused = task(page).get_by_test_id("refused")
    await expect(refused).to_have_attribute("data-reason", "preview", timeout=WAIT_MS)
    await page.get_by_test_id("accept").click()
    engine = market.market.store.engine
    with engine.connect() as busy, busy.begin():
        await task(page).get_by_role("button", name="Submit").click()
        await expect(refused).to_have_attribute("data-reason", "unavailable", timeout=WAIT_MS)
    await task(page).get_by_test_id("again").click()
    await page.wait_for_url("**/worker/work?said=submitted", timeout=WAIT_MS)


def note_hint(hinted: list[str], request: Request) -> None:
    if request.url.endswith("/done"):
        hinted.append(request.url)


async def test_a_task_cannot_lead_the_page_away_nor_speak_for_the_marketplace(
    browser: Browser, market: Market
) -> None:
    evil = """<!doctype html><title>Task</title><p id="out">waiting</p><script>
    parent.postMessage({kind: "submitted", assignmentId: "x"}, "*");
    parent.postMessage({kind: "submitted",
      assignmentId: new URLSearchParams(location.search).get("assignmentId")}, "*");
    let out = [];
    try { top.location = "https://example.org/"; out.push("led"); } catch { out.push("kept"); }
    try { parent.document.body; out.push("saw"); } catch { out.push("blind"); }
    document.getElementById("out").textContent = out.join(" ");
    </script>"""
    async with task_site(evil) as site:
        first = await market.hit(external(site))
        second = await market.hit(html_question(evil), title="A page of its own")
        page = await browser.new_page()
        await join(page, market)
        for hit_id in (first, second):
            await page.goto(f"{market.url}/worker/hits/{hit_id}")
            await expect(task(page).locator("#out")).to_have_text("kept blind", timeout=WAIT_MS)
            assert page.url == f"{market.url}/worker/hits/{hit_id}"
        # Another site's word is nothing. Where the frame has no origin, it is taken for a hint,
        # and the server knows better: the page and the work in it stay as they are.
        for hit_id, hints in ((first, 0), (second, 1)):
            hinted: list[str] = []
            page.on("request", partial(note_hint, hinted))
            await page.goto(f"{market.url}/worker/hits/{hit_id}")
            await page.get_by_test_id("accept").click()
            await expect(task(page).locator("#out")).to_have_text("kept blind", timeout=WAIT_MS)
            await expect(page.get_by_test_id("timer")).to_contain_text("29:", timeout=WAIT_MS)
            assert "/worker/assignments/" in page.url
            assert len(hinted) == hints


async def test_an_html_question_is_submitted_from_its_frame(
    browser: Browser, market: Market
) -> None:
    await market.hit(html_question(TASK))
    page = await browser.new_page()
    await all_the_way(page, market)


async def test_returning_asks_once_and_works_by_keyboard(
    browser: Browser, market: Market, site: str
) -> None:
    hit_id = await market.hit(external(site))
    page = await browser.new_page()
    await join(page, market)
    await page.goto(f"{market.url}/worker/hits/{hit_id}")
    await page.get_by_test_id("accept").press("Enter")
    await page.get_by_test_id("return").press("Enter")
    await expect(page.get_by_test_id("return-confirm")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_test_id("return-confirm")).to_be_hidden()
    await expect(page.get_by_test_id("return")).to_be_focused()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await expect(page.get_by_test_id("return-confirm")).to_be_focused()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/worker/work?said=returned")
    await expect(page.get_by_test_id("row")).to_have_attribute("data-state", "returned")


async def test_without_scripts_all_but_the_timer_works(
    browser: Browser, market: Market, site: str
) -> None:
    hit_id = await market.hit(external(site))
    context = await browser.new_context(java_script_enabled=False)
    page = await context.new_page()
    await join(page, market)
    await page.get_by_test_id("preview").click()
    await page.get_by_test_id("accept").click()
    await expect(page.get_by_test_id("timer")).to_contain_text("30:00")
    await page.get_by_test_id("return").click()
    await page.get_by_test_id("return-confirm").click()
    await expect(page.get_by_test_id("notice")).to_contain_text("Returned")
    assert hit_id


async def test_when_the_time_is_up_the_page_says_so(
    browser: Browser, market: Market, site: str
) -> None:
    hit_id = await market.hit(external(site), duration_s=30)
    page = await browser.new_page()
    await page.clock.install()
    await join(page, market)
    await page.goto(f"{market.url}/worker/hits/{hit_id}")
    await page.get_by_test_id("accept").click()
    await expect(page.get_by_test_id("timer")).to_contain_text("0:30")
    await page.clock.run_for(31_000)
    await expect(page.get_by_text("The time is up")).to_be_visible()
    await expect(page.get_by_test_id("timer")).to_contain_text("0:00")


async def test_times_are_those_of_the_reader(browser: Browser, market: Market, site: str) -> None:
    await market.hit(external(site))
    for scripts, zone in ((True, "GMT+9"), (False, "UTC")):
        context = await browser.new_context(
            timezone_id="Asia/Tokyo", java_script_enabled=scripts, locale="en-US"
        )
        page = await context.new_page()
        await join(page, market)
        await expect(page.locator("time").first).to_contain_text(zone)
        await page.get_by_test_id("preview").click()
        await expect(page.locator("time").first).to_contain_text(zone)
        await context.close()


@pytest.mark.parametrize("size", [WIDE, PHONE, (360, 640)])
async def test_the_task_begins_where_the_bar_does_and_has_most_of_a_phone(
    browser: Browser, market: Market, size: tuple[int, int]
) -> None:
    # Nobody listens there: the page says what may be the matter.
    hit_id = await market.hit(external("http://localhost:9"), title="A title of many words " * 4)
    page = await browser.new_page(viewport={"width": size[0], "height": size[1]})
    await join(page, market)
    await page.goto(f"{market.url}/worker/hits/{hit_id}")
    await page.get_by_test_id("accept").click()
    await expect(page.get_by_test_id("nothing-shown")).to_be_in_viewport(ratio=1)
    frame = await page.get_by_test_id("task").bounding_box()
    heading = await page.get_by_role("heading", level=1).bounding_box()
    first = await page.locator(".brand svg" if size == WIDE else ".nav").bounding_box()
    assert frame is not None
    assert heading is not None
    assert first is not None
    inset = 0.75 * 16 if size != WIDE else 0
    assert frame["x"] == heading["x"] == first["x"] + inset
    assert frame["y"] < 130
    back = page.get_by_test_id("return")
    await expect(back).to_have_text("Return HIT")
    await expect(back).to_be_in_viewport(ratio=1)


async def test_a_task_that_knows_dark_stands_on_dark(browser: Browser, market: Market) -> None:
    """Under such a page the browser paints nothing: its light text would stand on our white."""
    knows = '<!doctype html><meta name="color-scheme" content="light dark"><p id="who">Hello</p>'
    async with task_site(knows) as site:
        hit_id = await market.hit(external(site))
        page = await browser.new_page(color_scheme="dark")
        await join(page, market)
        await page.goto(f"{market.url}/worker/hits/{hit_id}")
        await expect(task(page).locator("#who")).to_have_css("color", "rgb(255, 255, 255)")
        ground = "getComputedStyle(document.querySelector('iframe')).backgroundColor"
        assert await page.evaluate(ground) == "rgb(18, 18, 18)"


async def look(page: Page, name: str, faults: list[str]) -> None:
    """Let axe look at a page in each of the looks."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE.read_text(encoding="utf-8"))
    looks: tuple[tuple[Any, tuple[int, int]], ...] = (
        ("light", WIDE),
        ("dark", WIDE),
        ("light", PHONE),
        ("dark", PHONE),
    )
    for scheme, (width, height) in looks:
        await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        await page.set_viewport_size({"width": width, "height": height})
        where = f"{name}, {scheme}, {width}"
        if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            faults.append(f"{where}: wider than the window")
        # The task is somebody else's page.
        found = await page.evaluate(
            "axe.run(document, {resultTypes: ['violations'], iframes: false})"
        )
        assert found["passes"], f"{where}: axe found nothing to look at"
        for violation in found["violations"]:
            nodes = ", ".join(node["html"][:100] for node in violation["nodes"][:3])
            faults.append(f"{where}: {violation['help']}: {nodes}")


async def test_no_page_breaks_a_rule_of_axe(browser: Browser, market: Market, site: str) -> None:
    needs = Requirement(NUMBER_APPROVED, Comparator.GREATER_OR_EQUAL, (100,))
    await market.hit(external(site), title="x" * 128, requirements=(needs,))
    await market.hits(4, external(site))
    faults: list[str] = []
    page = await browser.new_page()
    await page.goto(f"{market.url}/worker/join/{await market.invite()}")
    await look(page, "join", faults)
    await page.get_by_test_id("join").click()
    await expect(page.locator("[aria-invalid=true]")).to_have_count(2)
    await look(page, "join, refused", faults)
    await join(page, market)
    await look(page, "list", faults)
    await page.goto(f"{market.url}/worker/?q=nothing-like-it")
    await look(page, "nothing found", faults)
    await page.goto(f"{market.url}/worker/")
    await page.get_by_test_id("preview").last.click()
    await look(page, "preview, not qualified", faults)
    ids = []
    for n in range(3):
        await page.goto(f"{market.url}/worker/")
        await page.get_by_test_id("preview").first.click()
        if not n:
            await look(page, "preview", faults)
        await page.get_by_test_id("accept").click()
        ids.append(page.url.rpartition("/")[2])
        if n == 2:
            await look(page, "work", faults)
            await page.get_by_test_id("return").click()
            await look(page, "work, asked", faults)
            break
        await task(page).get_by_role("button", name="Submit").click()
        await page.wait_for_url("**/worker/work?said=submitted", timeout=WAIT_MS)
    await look(page, "work", faults)
    write, requester = market.market.write, market.requester_id
    await write(assignments.approve, requester, ids[0], "Thank you")
    await write(assignments.reject, requester, ids[1], "Nothing was said.")
    await page.goto(f"{market.url}/worker/work")
    await look(page, "my work", faults)
    await page.goto(f"{market.url}/worker/")
    await look(page, "list, with work in hand", faults)
    worker_id = await page.get_by_test_id("worker-id").inner_text()
    await write(workers.send, requester, worker_id, "A word", "x" * 300)
    await page.goto(f"{market.url}/worker/messages")
    await look(page, "messages", faults)
    await page.goto(f"{market.url}/worker/nothing")
    await look(page, "no such page", faults)
    for pairs in ({"assignmentId": ids[0], "code": "x"}, {"assignmentId": "3X", "code": "y" * 200}):
        inputs = "".join(f'<input name="{key}" value="{value}">' for key, value in pairs.items())
        await page.set_content(
            f'<form method="post" action="{market.url}/mturk/externalSubmit">{inputs}'
            "<button>Go</button></form>"
        )
        await page.get_by_role("button").click()
        if await page.locator("summary").count():
            await page.locator("summary").click()
        await look(page, f"answer to {pairs}", faults)
    assert faults == []
