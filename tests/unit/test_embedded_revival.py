"""A Redis that ended comes back with what it held, however long it takes to load that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import BusyLoadingError, Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from duologue import serve
from duologue.embedded import CannotStart, EmbeddedRedis, free_port
from duologue.problems import BadInput
from duologue.serve import check_redis, look_after
from tests.services import ValkeyServer, write_a_long_history

KILLS = 3
KEYS = 150_000


def size_of(folder: Path) -> int:
    """Of the append-only file in a server's folder, in bytes."""
    return sum(file.stat().st_size for file in (folder / "appendonlydir").iterdir())


def _until_ready(server: EmbeddedRedis) -> None:
    give_up_at = time.monotonic() + 30
    while not server.ready():
        assert time.monotonic() < give_up_at


def test_a_killed_server_is_started_again_and_a_living_one_left_alone(tmp_path: Path) -> None:
    with EmbeddedRedis.start(tmp_path / "redis") as server:
        assert not server.revive()
        url = server.url
        with Redis.from_url(url) as client:
            client.set("kept", "yes")
            client.execute_command("BGREWRITEAOF")
        server.process.kill()
        server.process.wait()
        assert server.revive()
        _until_ready(server)
        assert server.url == url
        with Redis.from_url(url) as client:
            assert client.get("kept") == b"yes"


def test_a_start_returns_only_when_everything_is_loaded(tmp_path: Path) -> None:
    with EmbeddedRedis.start(tmp_path) as server:
        write_a_long_history(server.url, KEYS)
        assert size_of(tmp_path) > 10_000_000
        server.process.kill()
    for _ in range(KILLS):
        with EmbeddedRedis.start(tmp_path) as server, Redis.from_url(server.url) as client:
            assert client.dbsize() == KEYS
            server.process.kill()


def test_a_server_that_is_revived_is_ready_only_when_everything_is_loaded(tmp_path: Path) -> None:
    with EmbeddedRedis.start(tmp_path) as server:
        write_a_long_history(server.url, KEYS)
        assert size_of(tmp_path) > 10_000_000
        for _ in range(KILLS):
            server.process.kill()
            server.process.wait()
            assert server.revive()
            _until_ready(server)
            with Redis.from_url(server.url) as client:
                assert client.dbsize() == KEYS


async def test_a_server_that_does_not_come_up_again_ends_the_looking_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "LOOK_S", 0.01)
    with EmbeddedRedis.start(tmp_path) as server:
        server.process.kill()
        server.process.wait()
        for file in (tmp_path / "appendonlydir").glob("*.manifest"):
            file.write_text("not a manifest")
        with pytest.raises(CannotStart, match="does not start again"):
            await asyncio.wait_for(look_after(server), 20)


def test_history_is_dropped_from_the_file_long_before_it_is_slow_to_load(tmp_path: Path) -> None:
    with EmbeddedRedis.start(tmp_path) as server, Redis.from_url(server.url) as client:
        for _ in range(12):
            with client.pipeline(transaction=False) as pipeline:
                for _ in range(10_000):
                    pipeline.set("beat", "x" * 100)
                pipeline.execute()
        give_up_at = time.monotonic() + 30
        while (size := client.info("persistence")["aof_current_size"]) > 4_000_000:
            assert time.monotonic() < give_up_at, f"{size} bytes"
        assert client.get("beat") == b"x" * 100


# --- A Redis of somebody else's ------------------------------------------------------------


@pytest.fixture
def loading() -> Iterator[str]:
    """The URL of a Redis that has begun to load for about two seconds."""
    with ValkeyServer(settings={"key-load-delay": "100"}) as server:
        write_a_long_history(server.url, 20_000)
        server.kill()
        server.start(wait=False)
        give_up_at = time.monotonic() + 30
        with Redis.from_url(server.url, retry=Retry(NoBackoff(), 0)) as client:
            while True:
                assert time.monotonic() < give_up_at
                try:
                    client.ping()
                except BusyLoadingError:
                    break
                except RedisError:
                    continue
                raise AssertionError("it has loaded already")
        yield server.url


async def test_a_redis_that_is_loading_is_waited_for(loading: str) -> None:
    await check_redis(loading)
    with Redis.from_url(loading) as client:
        assert client.dbsize() == 20_000


async def test_a_redis_that_loads_for_too_long_is_not_said_to_be_away(loading: str) -> None:
    with pytest.raises(BadInput, match="is still loading its data after 0 s") as refusal:
        await check_redis(loading, loaded_within_s=0.1)
    assert len(refusal.value.problems) == 1


async def test_a_redis_that_is_away_is_told_at_once() -> None:
    with pytest.raises(BadInput, match="does not answer"):
        await check_redis(f"redis://127.0.0.1:{free_port()}/0")
