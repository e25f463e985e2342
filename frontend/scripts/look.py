"""Looks at every screen of a gallery in headless Chromium: axe, overflow, errors, pictures.

    python frontend/scripts/look.py [--monitor] [--pictures DIR] [SCREEN …]

Exits with 1 when any screen breaks a rule of axe-core, is wider than the window, or logs an error.
"""

from __future__ import annotations

import argparse
import itertools
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from playwright.sync_api import Browser, Page, sync_playwright

FRONTEND = Path(__file__).parents[1]
AXE = FRONTEND / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SCHEMES = ("light", "dark")


@dataclass(frozen=True)
class Gallery:
    """A page of screens, and how it is looked at: `sizes` in pixels."""

    page: str
    sizes: tuple[tuple[int, int], ...]
    languages: tuple[str, ...]
    ready: str = "h1"
    """What is there when a screen has got to its state."""


WORKER = Gallery(
    "gallery.html", ((1100, 760), (700, 640), (360, 640), (780, 390), (390, 420)), ("en", "ar")
)
MONITOR = Gallery("monitor-gallery.html", ((1440, 900), (390, 844)), ("en",), "[data-ready] h1")


@contextmanager
def serve(page: str) -> Iterator[str]:
    """The address of a gallery that is served for as long as the block runs."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # Not by npx: ending that would leave the server behind.
    vite_js = FRONTEND / "node_modules" / "vite" / "bin" / "vite.js"
    command = ["node", str(vite_js), "--host", "127.0.0.1", "--port", str(port), "--strictPort"]
    vite = subprocess.Popen(command, cwd=FRONTEND, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/static/{page}"
    try:
        until = monotonic() + 30
        while monotonic() < until:
            with suppress(OSError), urllib.request.urlopen(address):
                break
            sleep(0.1)
        yield address
    finally:
        vite.terminate()
        vite.wait()


def look(page: Page, address: str, ready: str) -> list[str]:
    """What is wrong with one screen."""
    page.goto(address)
    page.locator(ready).first.wait_for(state="attached")
    faults = []
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        faults.append("wider than the window")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    for violation in result["violations"]:
        where = ", ".join(node["html"][:100] for node in violation["nodes"][:3])
        faults.append(f"axe: {violation['help']}: {where}")
    return faults


def look_everywhere(
    browser: Browser, gallery: Gallery, address: str, wanted: list[str], pictures: Path | None
) -> int:
    """The number of faults on the wanted screens (all when empty), each printed as one line."""
    index = browser.new_page()
    index.goto(address)
    names = wanted or index.get_by_test_id("screens").get_by_role("link").all_inner_texts()
    found = 0
    for (width, height), scheme, language in itertools.product(
        gallery.sizes, SCHEMES, gallery.languages
    ):
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
        for name in names:
            errors.clear()
            where = f"{address}?screen={name}&lang={language}"
            for fault in look(page, where, gallery.ready) + errors:
                found += 1
                print(f"{name} {width} {scheme} {language}: {fault}")
            if pictures is not None:
                file = pictures / f"{name}-{width}-{scheme}-{language}.png"
                page.screenshot(path=file, full_page=True)
        context.close()
    print(f"{len(names)} screens, {found} faults")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--monitor", action="store_true", help="the team's page, not the worker's")
    parser.add_argument("--pictures", type=Path, help="a folder for a picture of every screen")
    parser.add_argument("screens", nargs="*", help="only these screens")
    given = parser.parse_args()
    if given.pictures is not None:
        given.pictures.mkdir(parents=True, exist_ok=True)
    gallery = MONITOR if given.monitor else WORKER
    with serve(gallery.page) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        faults = look_everywhere(browser, gallery, address, given.screens, given.pictures)
        browser.close()
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
