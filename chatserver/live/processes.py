"""Which server processes there are: each says regularly that it lives, in Redis."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import orjson
from redis.asyncio import Redis

from pairing.keys import Keys

GONE_S: Final = 15.0
"""Who has not said so for so long is there no longer, in seconds. Who said so as far in the future
goes or went by another clock, and may be there or not: nothing is said of them."""


@dataclass(frozen=True, slots=True)
class Process:
    """A server process, its last sign of life, and how many workers' pages it holds."""

    id: str
    started_at: float
    seen_at: float
    pages: int


class Processes:
    """This process among the others of its study."""

    def __init__(
        self,
        redis: Redis,
        keys: Keys,
        process_id: str,
        *,
        pages: Callable[[], int],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._redis = redis
        self._key = keys.processes
        self._id = process_id
        self._pages = pages
        self._now = now
        self._started_at = now()

    async def say(self) -> None:
        """Say that this process lives."""
        mine = [self._started_at, self._now(), self._pages()]
        await self._redis.hset(self._key, self._id, orjson.dumps(mine))

    async def leave(self) -> None:
        """This process stops."""
        await self._redis.hdel(self._key, self._id)

    async def all(self) -> list[Process]:
        """Those that live, the oldest first; the others are forgotten."""
        found = await self._redis.hgetall(self._key)
        now = self._now()
        living, gone = [], []
        for name, told in found.items():
            assert isinstance(name, bytes), "the client decodes nothing"
            started_at, seen_at, pages = orjson.loads(told)
            if now - seen_at > GONE_S:
                gone.append(name)
            elif seen_at - now <= GONE_S:
                living.append(Process(name.decode(), started_at, seen_at, pages))
        if gone:
            await self._redis.hdel(self._key, *gone)
        return sorted(living, key=lambda process: (process.started_at, process.id))
