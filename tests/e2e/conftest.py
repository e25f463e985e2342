"""A real browser, started once: that takes longer than many a test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.browser import chromium_path, open_browser


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser lives in one loop, so what uses it runs in that one."""
    in_one_loop = pytest.mark.asyncio(loop_scope="session")
    for item in items:
        if item.get_closest_marker("e2e") and pytest_asyncio.is_async_test(item):
            item.add_marker(in_one_loop, append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """A Chromium for the whole run."""
    if chromium_path() is None:
        pytest.skip("no Chromium on this machine: apt install chromium")
    async with open_browser() as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def browser(chromium: Browser) -> AsyncIterator[Browser]:
    """Chromium with nothing open. Each `new_context()` is a person with their own storage."""
    yield chromium
    for context in chromium.contexts:
        await context.close()
