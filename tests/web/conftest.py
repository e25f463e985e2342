"""What the tests of the live server and of the marketplace share: both on either database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from dialogs.images import Prepared
from tests.live import Live, draw_pictures, open_live
from tests.markets import Market, open_market
from tests.services import PostgresServer, ValkeyServer

Pictures = tuple[Path, Sequence[Prepared]]


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Pictures:
    folder = tmp_path_factory.mktemp("pictures")
    return folder, draw_pictures(folder)


@pytest_asyncio.fixture
async def live(
    sqlite_url: str, redis_url: str, tmp_path: Path, pictures: Pictures
) -> AsyncIterator[Live]:
    """A study on SQLite."""
    async with open_live(sqlite_url, redis_url, tmp_path / "live", pictures) as opened:
        yield opened


@pytest_asyncio.fixture
async def live_each(
    database_url: str, redis_url: str, tmp_path: Path, pictures: Pictures
) -> AsyncIterator[Live]:
    """A study once on SQLite and once on PostgreSQL."""
    async with open_live(database_url, redis_url, tmp_path / "live", pictures) as opened:
        yield opened


@pytest_asyncio.fixture
async def live_postgres(
    migrated_postgres_url: str, redis_url: str, tmp_path: Path, pictures: Pictures
) -> AsyncIterator[Live]:
    """A study on PostgreSQL, for several servers."""
    async with open_live(migrated_postgres_url, redis_url, tmp_path / "live", pictures) as opened:
        yield opened


@pytest_asyncio.fixture
async def live_redis(
    sqlite_url: str, valkey_server: ValkeyServer, tmp_path: Path, pictures: Pictures
) -> AsyncIterator[Live]:
    """A study whose Redis is the test's own: `valkey_server`."""
    async with open_live(sqlite_url, valkey_server.url, tmp_path / "live", pictures) as opened:
        yield opened


@pytest_asyncio.fixture
async def live_frozen(
    postgres_server: PostgresServer, redis_url: str, tmp_path: Path, pictures: Pictures
) -> AsyncIterator[Live]:
    """A study whose PostgreSQL is the test's own: `postgres_server`."""
    url = postgres_server.create_database()
    async with open_live(url, redis_url, tmp_path / "live", pictures) as opened:
        yield opened


@pytest_asyncio.fixture
async def live_two(
    migrated_postgres_url: str, valkey_server: ValkeyServer, tmp_path: Path, pictures: Pictures
) -> AsyncIterator[Live]:
    """A study on PostgreSQL whose Redis is the test's own: `valkey_server`."""
    url = valkey_server.url
    async with open_live(migrated_postgres_url, url, tmp_path / "live", pictures) as opened:
        yield opened


@pytest_asyncio.fixture
async def market(empty_database_url: str) -> AsyncIterator[Market]:
    """A marketplace once on SQLite and once on PostgreSQL."""
    async with open_market(empty_database_url) as opened:
        yield opened


@pytest_asyncio.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Market]:
    """A marketplace on SQLite, where the database does not matter."""
    async with open_market(f"sqlite:///{tmp_path / 'market.sqlite3'}") as opened:
        yield opened
