"""Gathers what arrives while the last call is in flight, and sends it with the next one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from redis.exceptions import RedisError

from chatserver.ending import told_to_end

log = logging.getLogger("duologue.redis")

T = TypeVar("T")
MAX_WAITING = 50_000


class Batcher(Generic[T]):
    """For Redis work that may be lost without harm: what cannot be sent is dropped.

    With `pause_s`, at least so many seconds lie between two calls: fewer and larger ones.
    """

    def __init__(
        self, send: Callable[[list[T]], Awaitable[None]], name: str, *, pause_s: float = 0.0
    ) -> None:
        self._send = send
        self._name = name
        self._pause_s = pause_s
        self._waiting: list[T] = []
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    def add(self, item: T) -> None:
        if len(self._waiting) < MAX_WAITING:
            self._waiting.append(item)
            self._idle.clear()
            self._wake.set()

    async def flushed(self) -> None:
        """Wait until everything added so far has been sent or dropped."""
        await self._idle.wait()

    async def run(self) -> None:
        """Send until cancelled."""
        while not told_to_end():
            await self._wake.wait()
            self._wake.clear()
            items, self._waiting = self._waiting, []
            try:
                await self._send(items)
            except (RedisError, OSError, TimeoutError) as error:
                log.warning("%s: %d dropped: %s", self._name, len(items), error)
            if not self._waiting:
                self._idle.set()
            if self._pause_s:
                await asyncio.sleep(self._pause_s)
