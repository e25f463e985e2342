"""The page on the marketplace's API names what there is."""

from __future__ import annotations

import re
from pathlib import Path

from hit_manager.marketplace.api.operations import OPERATIONS
from hit_manager.marketplace.notifications import SIGNATURE_HEADER, TIMESTAMP_HEADER

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-the-marketplace-api.md"


def test_every_operation_is_on_the_page() -> None:
    page = PAGE.read_text()
    table = page.partition("## Operations")[2].partition("##")[0]
    assert sorted(re.findall(r"`(\w+)`", table)) == sorted(OPERATIONS)
    assert f"`{SIGNATURE_HEADER}`" in page
    assert f"`{TIMESTAMP_HEADER}`" in page
