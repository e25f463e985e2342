"""A real Chromium for the browser tests, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, async_playwright

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


@asynccontextmanager
async def open_browser(*, headless: bool = True) -> AsyncIterator[Browser]:
    """Starts Chromium; each `new_context()` of it is a person with storage of their own."""
    path = chromium_path()
    assert path is not None, "no Chromium on PATH"
    # Its sandbox needs privileges to give up, which root in a container has not.
    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path, headless=headless, args=[*_FLAGS, *sandbox]
        )
        try:
            yield browser
        finally:
            await browser.close()
