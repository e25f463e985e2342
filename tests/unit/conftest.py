"""Studies whose commands are run: one by a plain link, one on a marketplace."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from hit_manager.marketplace import workers
from hit_manager.marketplace.faults import Faults
from hit_manager.marketplace.server import serve_marketplace
from hit_manager.marketplace.workers import Key
from tests.desks import MARKET_FILE, Desk, desk_of


@pytest.fixture
def link(
    tmp_path: Path,
    sqlite_url: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Desk:
    """A study by a plain link in which three people ended: two are owed something."""
    return desk_of(tmp_path, sqlite_url, capsys, monkeypatch, 'kind = "link"\n')


@pytest.fixture
def market(
    tmp_path: Path,
    sqlite_url: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Desk]:
    """The same on a marketplace that runs in a thread of its own."""
    ready, stop, loop = threading.Event(), asyncio.Event(), asyncio.new_event_loop()
    found: dict[str, Any] = {}
    faults = Faults()

    async def serve() -> None:
        url = f"sqlite:///{tmp_path / MARKET_FILE}"
        async with serve_marketplace(url, faults=faults) as server:

            def start(connection: Connection, now: float) -> Key:
                requester = workers.create_requester(connection, now, "Lab", 100_000)
                return workers.create_key(connection, now, requester)

            found["key"] = await server.market.write(start)
            found["url"] = server.url
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert ready.wait(60)
    monkeypatch.setenv("DUOLOGUE_MTURK_ACCESS_KEY", found["key"].id)
    monkeypatch.setenv("DUOLOGUE_MTURK_SECRET_KEY", found["key"].secret)
    section = f'kind = "mturk"\nendpoint = "{found["url"]}"\n'
    desk = desk_of(tmp_path, sqlite_url, capsys, monkeypatch, section)
    desk.faults = faults
    yield desk
    loop.call_soon_threadsafe(stop.set)
    thread.join()
    loop.close()
