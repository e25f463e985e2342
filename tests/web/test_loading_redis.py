"""A Redis that has much to load is away for longer, and that is all."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import ClientSession

from duologue.demo import make_site
from duologue.embedded import EmbeddedRedis
from duologue.serve import REDIS_FOLDER
from tests.live import Live, eventually, open_live, until
from tests.services import ValkeyServer, write_a_long_history
from tests.web.conftest import Pictures

# --- `duologue serve` with the embedded one --------------------------------------------------


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """`duologue serve` as a process of its own, and its URL."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("DUOLOGUE_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "duologue", "serve", str(folder),
        env={**kept, "DUOLOGUE_PORT": "0"}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            while not (line := (await process.stdout.readline()).decode()).startswith("workers: "):
                assert line, "it ended before it served"
        yield line.split()[1].removesuffix("/work"), process
    finally:
        if process.returncode is None:
            process.kill()
        # To its end, or the pipe is still open when the loop is closed.
        await process.communicate()


async def test_a_study_killed_with_a_long_history_is_served_again(tmp_path: Path) -> None:
    make_site(tmp_path, {}, 2)
    with EmbeddedRedis.start(tmp_path / REDIS_FOLDER) as redis:
        write_a_long_history(redis.url)
        redis.process.kill()
    kept = (tmp_path / REDIS_FOLDER / "appendonlydir").iterdir()
    assert sum(file.stat().st_size for file in kept) > 10_000_000
    for _ in range(2):
        async with served(tmp_path) as (url, process), ClientSession() as http:

            async def ready(http: ClientSession = http, url: str = url) -> bool:
                async with http.get(f"{url}/readyz") as answer:
                    return answer.status == 200

            await eventually(ready)
            process.kill()


# --- One that loads while people talk ---------------------------------------------------------


@pytest.fixture
def slow_redis() -> Iterator[ValkeyServer]:
    """A Redis that loads for about three seconds whenever it starts."""
    with ValkeyServer(settings={"key-load-delay": "100"}) as server:
        write_a_long_history(server.url, 30_000)
        yield server


@pytest_asyncio.fixture
async def live_slow(
    sqlite_url: str, slow_redis: ValkeyServer, tmp_path: Path, pictures: Pictures
) -> AsyncIterator[Live]:
    async with open_live(sqlite_url, slow_redis.url, tmp_path / "live", pictures) as opened:
        yield opened


async def test_a_redis_that_is_loading_costs_nobody_the_seat(
    live_slow: Live, slow_redis: ValkeyServer, caplog: pytest.LogCaptureFixture
) -> None:
    server = await live_slow.begin(
        rules={"grace_s": 1.0, "turn_limit_s": 60.0}, no_outage_s=0.5, outage_s=1.0, closed_s=0.3
    )
    asker, teller = await live_slow.pair(*await live_slow.people(2))
    await live_slow.converse(asker, teller, 3)
    slow_redis.kill()
    slow_redis.start(wait=False)
    await until(lambda: "loading the dataset" in caplog.text)
    assert not server.service.health.ready
    # Messages do not wait for Redis.
    await teller.say_surely("message 4")
    await asyncio.to_thread(slow_redis.wait_ready)
    for person in (asker, teller):
        await person.until(lambda person=person: person.connected and person.phase == "paired")
    await live_slow.converse(asker, teller)
    for person in (asker, teller):
        await person.shows("released")
        assert person.released["release"] == "completed"
    assert not await live_slow.happened("seat_lost")
    assert not [each for each in caplog.records if each.levelname == "ERROR"]
