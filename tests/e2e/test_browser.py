"""The browser that the tests drive is there and asks nobody outside for anything."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser

pytestmark = pytest.mark.e2e


async def test_it_renders_a_page(browser: Browser) -> None:
    page = await browser.new_page()
    await page.set_content("<h1>Duologue</h1>")
    assert await page.get_by_role("heading").inner_text() == "Duologue"
