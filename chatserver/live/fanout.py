"""Telling the other server processes, over Redis. For speed only: it is not delivery.

Whatever is lost here, every process finds in the record within `poll_s`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any, Final

import orjson
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from chatserver.ending import told_to_end
from chatserver.live.batcher import Batcher

log = logging.getLogger("duologue.fanout")

Handler = Callable[[Any], None]
_SILENCE_S: Final = 2.0
_RETRY_S: Final = 0.2
ALONE_S: Final = 1.0
"""How long a process believes that it is the only one, in seconds."""


class Fanout:
    """Publishes notes to all processes of a study, and hands theirs to the handlers.

    `on_up` is called when the subscription is (again) in place: notes may have been missed.
    """

    def __init__(self, redis: Redis, listener: Redis, channel: str, process_id: str) -> None:
        self._redis = redis
        self._listener = listener
        self._channel = channel
        self._process_id = process_id
        self._handlers: dict[str, list[Handler]] = {}
        self._batcher: Batcher[tuple[str, Any]] = Batcher(self._publish, "fan-out")
        self._subscribed = False
        self._alone_until = 0.0
        self.on_up: Callable[[], None] | None = None

    def on(self, kind: str, handler: Handler) -> None:
        """Let `handler` take the notes of this kind, beside those that do already."""
        self._handlers.setdefault(kind, []).append(handler)

    def tell(self, kind: str, note: Any) -> None:
        """Queue a note (JSON types) to the other processes; this one does not get it."""
        self._batcher.add((kind, note))

    def alone(self) -> bool:
        """Whether nobody else listened a moment ago, so that what is found in the record anyway
        need not be told."""
        return time.monotonic() < self._alone_until

    async def send(self) -> None:
        """Publish until cancelled."""
        await self._batcher.run()

    async def flushed(self) -> None:
        await self._batcher.flushed()

    async def _publish(self, notes: list[tuple[str, Any]]) -> None:
        told = await self._redis.publish(self._channel, orjson.dumps([self._process_id, notes]))
        if told <= self._subscribed:
            self._alone_until = time.monotonic() + ALONE_S

    async def listen(self) -> None:
        """Receive until cancelled; survives a Redis that goes away and comes back."""
        while not told_to_end():
            try:
                await self._listen_once()
            except (RedisError, OSError, TimeoutError) as error:
                log.info("not subscribed: %s", error)
            await asyncio.sleep(_RETRY_S)

    async def _listen_once(self) -> None:
        pubsub = self._listener.pubsub()
        try:
            async with asyncio.timeout(_SILENCE_S):
                await pubsub.subscribe(self._channel)
            loop = asyncio.get_running_loop()
            heard = loop.time()
            while not told_to_end():
                message = await pubsub.get_message(ignore_subscribe_messages=False, timeout=0.5)
                if message is None:
                    # A frozen server is told from a quiet one by a ping.
                    if loop.time() - heard > _SILENCE_S:
                        raise RedisConnectionError("no sign of life on the channel")
                    async with asyncio.timeout(_SILENCE_S):
                        await pubsub.ping()
                    continue
                heard = loop.time()
                if message["type"] == "subscribe":
                    self._subscribed = True
                    if self.on_up:
                        self.on_up()
                elif message["type"] == "message":
                    self._receive(message["data"])
        finally:
            self._subscribed = False
            try:
                async with asyncio.timeout(_SILENCE_S):
                    await pubsub.aclose()  # type: ignore[no-untyped-call]
            except (RedisError, OSError, TimeoutError):
                pass

    def _receive(self, data: bytes) -> None:
        sender, notes = orjson.loads(data)
        if sender == self._process_id:
            return
        for kind, note in notes:
            for handler in self._handlers.get(kind, ()):
                try:
                    handler(note)
                except Exception:
                    log.exception("a note of kind %s could not be handled", kind)
