"""A real Chromium for the browser tests, driven by Playwright."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, async_playwright

# Headless Chromium calls home at every start unless told not to.
_FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium_path() -> Path | None:
    """The machine's Chromium, or None. Playwright's own would have to be downloaded."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return Path(found)
    return None


def _how() -> dict[str, Any]:
    """How Chromium is started, whatever for."""
    path = chromium_path()
    assert path is not None, "no Chromium on PATH"
    # Its sandbox needs privileges to give up, which root in a container has not.
    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
    return {"executable_path": path, "args": [*_FLAGS, *sandbox]}


@asynccontextmanager
async def open_browser(*, headless: bool = True) -> AsyncIterator[Browser]:
    """Starts Chromium; each `new_context()` of it is a person with storage of their own."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(headless=headless, **_how())
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def open_wary_browser(profile: Path) -> AsyncIterator[BrowserContext]:
    """A Chromium of somebody who lets no frame of another site keep anything."""
    preferences = profile / "Default" / "Preferences"
    preferences.parent.mkdir(parents=True)
    wary = {"block_third_party_cookies": True, "cookie_controls_mode": 1}
    preferences.write_text(json.dumps({"profile": wary}), encoding="utf-8")
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(profile, **_how())
        try:
            yield context
        finally:
            await context.close()
