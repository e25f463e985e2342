"""Whether this process may act on time, and whether it is fit to serve.

A process fires no deadline until it has been ready for one unbroken grace period after an
outage, and none at all while Redis TIME and the monotonic clock disagree: no outage of ours
and no clock jump costs anybody a seat. That this process stood still (stopped, or a machine that
was paused) is such an outage: nobody could reach it, and when it goes on, everything seems due.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from redis.exceptions import RedisError

from dialogs.record.errors import RecordError

log = logging.getLogger("duologue.health")

ANSWER_WITHIN_S: Final = 2.0
JUMP_S: Final = 5.0


class Health:
    """Readiness of database and Redis, by regular questions.

    `ask_database` and `ask_redis` must answer within 2 s; `ask_redis` returns Redis TIME.
    `on_jump` is called when the clocks have parted by 5 s. Who was not asked for `silence_s`
    counts as not ready since.
    """

    def __init__(
        self,
        ask_database: Callable[[], Awaitable[object]],
        ask_redis: Callable[[], Awaitable[float]],
        *,
        on_jump: Callable[[], Awaitable[None]],
        silence_s: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask_database = ask_database
        self._ask_redis = ask_redis
        self._on_jump = on_jump
        self._silence_s = silence_s
        self._monotonic = monotonic
        self._offset: float | None = None
        self._ready_since: float | None = None
        self._unready_since: float = monotonic()
        self._ran_at: float = monotonic()
        self.database_ok = False
        self.redis_ok = False

    @property
    def ready(self) -> bool:
        return self._ready_since is not None

    def ready_for(self) -> float:
        """Seconds of unbroken readiness; 0 while not ready, or not known to be."""
        now = self._monotonic()
        if self._ready_since is None or self._stood_still(now):
            return 0.0
        return now - self._ready_since

    def _stood_still(self, now: float) -> bool:
        return now - self._ran_at > self._silence_s

    def unready_for(self) -> float:
        """Seconds without readiness; 0 while ready."""
        return 0.0 if self._ready_since is not None else self._monotonic() - self._unready_since

    def in_step(self, redis_time: float) -> bool:
        """Whether Redis TIME and the monotonic clock still run together."""
        offset = redis_time - self._monotonic()
        return self._offset is not None and abs(offset - self._offset) < JUMP_S

    def redis_now(self) -> float:
        """Redis TIME as far as this process can tell without asking, in seconds."""
        return self._monotonic() + (self._offset or 0.0)

    async def check(self) -> bool:
        """Ask both once. Returns whether the process is ready."""
        self._runs()
        self.database_ok = await self._answers(self._ask_database, "the database")
        self._runs()
        self.redis_ok = await self._answers(self._look_at_redis, "Redis")
        now = self._runs()
        if self.database_ok and self.redis_ok:
            if self._ready_since is None:
                log.info("ready")
                self._ready_since = now
        elif self._ready_since is not None:
            log.warning("not ready")
            self._ready_since = None
            self._unready_since = now
        return self.ready

    def _runs(self) -> float:
        """Note that this process runs: between two questions as well, which may each take their
        time. Returns the moment."""
        now = self._monotonic()
        if self._ready_since is not None and self._stood_still(now):
            log.warning("this process stood still for %.1f s", now - self._ran_at)
            self._ready_since = None
            self._unready_since = now
        self._ran_at = now
        return now

    async def _look_at_redis(self) -> None:
        redis_time = await self._ask_redis()
        offset = redis_time - self._monotonic()
        if self._offset is not None and not self.in_step(redis_time):
            log.warning("the clock has jumped: all deadlines are armed anew")
            # Should this fail, the clocks go on counting as apart, and nothing fires.
            await self._on_jump()
        # Taken anew each time, so that clocks which drift apart slowly never seem to jump.
        self._offset = offset

    async def _answers(self, ask: Callable[[], Awaitable[object]], name: str) -> bool:
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                await ask()
        except (RedisError, RecordError, OSError, TimeoutError) as error:
            log.warning("%s does not answer: %s", name, error)
            return False
        return True
