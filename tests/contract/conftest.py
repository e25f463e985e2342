"""Marketplaces for requesters' programs, once on SQLite and where it matters on PostgreSQL too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.contract.requester_stage import Market, opened_market


@pytest_asyncio.fixture
async def market(tmp_path: Path) -> AsyncIterator[Market]:
    """On SQLite."""
    async with opened_market(f"sqlite:///{tmp_path / 'market.sqlite3'}") as opened:
        yield opened


@pytest_asyncio.fixture
async def any_market(empty_database_url: str) -> AsyncIterator[Market]:
    """On SQLite, and once more on PostgreSQL."""
    async with opened_market(empty_database_url) as opened:
        yield opened
