"""People and lobbies for the tests of pairing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis

from pairing.lobby import Lobby
from pairing.rules import Match, Waiting


def person(name: str, ready_at: float = 0.0, **rest: Any) -> Waiting:
    """Somebody with arrival id `name` and, unless told otherwise, a worker id of their own."""
    known = {"worker_id": f"worker-{name}", "language": "en"}
    return Waiting(**{"arrival_id": name, "ready_at": ready_at, **known, **rest})


def people(count: int, **rest: Any) -> list[Waiting]:
    return [person(f"a{i:04d}", float(i), **rest) for i in range(count)]


def places(count: int) -> list[tuple[str, int]]:
    return [(f"item-{i:04d}", 1) for i in range(count)]


@asynccontextmanager
async def open_lobby(
    redis_url: str, study_id: str = "study", *, seed: int = 1, **settings: Any
) -> AsyncIterator[Lobby]:
    """A lobby in this Redis. At the end every key must have a time to live: nothing may leak."""
    # A pool of the usual kind raises an error at the 101st call at once; this one lets it wait.
    pool = BlockingConnectionPool.from_url(redis_url, max_connections=20)
    async with Redis.from_pool(pool) as client:
        yield Lobby(client, study_id, rng=Random(seed), **settings)
        for key in await client.keys():
            assert await client.ttl(key) > 0, f"{key!r} would stay for ever"


async def all_matches(lobby: Lobby) -> list[Match]:
    """Every match that can be made now, in the order in which they are made."""
    found = []
    while match := await lobby.match():
        found.append(match)
    return found


async def data_left(lobby: Lobby) -> dict[str, str]:
    """The keys of arrivals, matches and held places that still hold something, and their types."""
    keys, client = lobby.keys, lobby._client
    watched = (keys.lobby, keys.arrivals, keys.beats, keys.matches, keys.due, keys.matched)
    kinds = {key: str(await client.type(key)) for key in (*watched, keys.workers, keys.held)}
    return {key: kind for key, kind in kinds.items() if "none" not in kind}
