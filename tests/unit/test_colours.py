"""The marketplace's pages need no build, so they repeat the colours of the others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "frontend" / "src" / "styles" / "base.css"
MARKET = ROOT / "hit_manager" / "marketplace" / "pages" / "static" / "market.css"
LIGHT, DARK = 0, 1


def colours(file: Path) -> list[dict[str, str]]:
    """The custom properties by name: those of light pages, then those of dark ones."""
    blocks = re.findall(r":root \{(.*?)\}", file.read_text(), re.DOTALL)
    return [dict(re.findall(r"(--[\w-]+): (.*?);", block)) for block in blocks]


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_the_marketplace_has_the_colours_of_the_other_pages(scheme: int) -> None:
    pages, market = colours(PAGES)[scheme], colours(MARKET)[scheme]
    both = pages.keys() & market.keys()
    assert {"--ground", "--text", "--accent", "--bad", "--good"} <= both
    assert {name: market[name] for name in both} == {name: pages[name] for name in both}
