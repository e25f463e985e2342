"""Does the monitor's page stay as light as it was, however long it is open?

A study at human pace, whose pairs are replaced when they are done, and one page in Chromium that
shows *Now* while everything moves, then a dialog, then *Now* again. Each minute the page's memory
is read after its garbage was collected: what is used of the JavaScript heap, nodes of the document,
and listeners. It must be flat: once what is shown has filled up, the last third of the time no
larger than the first by a tenth, at the median. Nothing here is about speed, so that it may run
beside other work.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from playwright.async_api import CDPSession, Page

from benchmarks.messages import target
from benchmarks.monitor import NAME, PASSWORD, add_owner
from benchmarks.servers import ROOT, Server, start_duologue
from tests.browser import open_browser
from tests.services import PostgresServer, ValkeyServer

PAIRS: Final = 30
GAP_S: Final = 4.0
MINUTES: Final = 60
QUICK_MINUTES: Final = 8
GROWTH: Final = 1.1
"""How much larger the last third may be than the first."""
SETTLED: Final = 1 / 6
"""The first share of the time is passed over: of an hour ten minutes, in which the lists fill."""


async def read(cdp: CDPSession) -> dict[str, float]:
    """What the page uses, its garbage collected."""
    await cdp.send("HeapProfiler.collectGarbage")
    found = await cdp.send("Performance.getMetrics")
    metrics = {each["name"]: each["value"] for each in found["metrics"]}
    return {
        "heap_mb": round(metrics["JSHeapUsedSize"] / 1e6, 2),
        "nodes": metrics["Nodes"],
        "listeners": metrics["JSEventListeners"],
    }


async def sign_in(page: Page, url: str) -> None:
    await page.goto(f"{url}/sign-in")
    await page.get_by_label("Name").fill(NAME)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"{url}/monitor")


async def watch(server: Server, minutes: int, tell: Callable[[str], None]) -> list[dict[str, Any]]:
    """Keep the page open, and read what it uses each minute."""
    rows: list[dict[str, Any]] = []
    async with open_browser() as browser:
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await sign_in(page, server.url)
        cdp = await page.context.new_cdp_session(page)
        await cdp.send("Performance.enable")
        tiles = page.locator("a[href^='/monitor/dialogs/']")
        began = time.monotonic()
        for minute in range(1, minutes + 1):
            if minute % 5 == 0 and await tiles.count():
                # By a click, as people do: the page stays the same one.
                await tiles.first.click()
                await asyncio.sleep(20)
                await page.go_back()
            await asyncio.sleep(began + 60 * minute - time.monotonic())
            rows.append({"minute": minute, "tiles": await tiles.count(), **await read(cdp)})
            tell(_line(rows[-1]))
    return rows


def run(*, quick: bool, tell: Callable[[str], None]) -> dict[str, Any]:
    """Measure for an hour, or with `quick` for some minutes."""
    minutes = QUICK_MINUTES if quick else MINUTES
    places = 200 + PAIRS * minutes * 2
    with ValkeyServer() as valkey, PostgresServer() as postgres:
        url = postgres.create_database()
        with start_duologue("duologue", url, valkey.url, places=places) as server:
            add_owner(url)
            command = [sys.executable, "-m", "benchmarks.load", "--url", server.url, "--flow"]
            # Longer than it is watched, however slow the machine: it is ended then.
            seconds = str(2 * minutes * 60 + 120)
            with subprocess.Popen(
                [*command, "--pairs", str(PAIRS), "--gap", str(GAP_S), "--seconds", seconds],
                cwd=ROOT,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as talking:
                try:
                    rows = asyncio.run(watch(server, minutes, tell))
                finally:
                    talking.kill()
    return judged(rows)


def judged(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Compare the end with the beginning."""
    settled = rows[int(len(rows) * SETTLED) :]
    third = max(1, len(settled) // 3)

    def growth(name: str) -> float:
        first = statistics.median(row[name] for row in settled[:third])
        last = statistics.median(row[name] for row in settled[-third:])
        return float(last / first)

    empty = [row["minute"] for row in rows if not row["tiles"]]
    targets = [
        target(f"times the {what} of the beginning", growth(name), GROWTH, most=True)
        for name, what in (("heap_mb", "heap"), ("nodes", "nodes"), ("listeners", "listeners"))
    ]
    return {
        "question": f"the monitor's page over {len(rows)} minutes",
        "rows": rows,
        "targets": targets,
        "problems": [f"no dialog was shown in minutes {empty}"] if empty else [],
    }


def _line(row: dict[str, Any]) -> str:
    return (
        f"minute {row['minute']:>3}  {row['tiles']:>3} tiles  {row['heap_mb']:>7} MB  "
        f"{row['nodes']:>7.0f} nodes  {row['listeners']:>5.0f} listeners"
    )


def table(result: dict[str, Any]) -> str:
    """The result as a table for people."""
    lines = [_line(row) for row in result["rows"]]
    for each in result["targets"]:
        met = "met" if each["met"] else "missed"
        lines.append(f"{each['reached']} {each['what']} ({each['wanted']}: {met})")
    lines += [f"FAILED: {problem}" for problem in result["problems"]]
    return "\n".join(lines)
