"""Asking again with patience: ever longer pauses, with chance in them, each of them shown.

Source of the pauses: "full jitter", AWS Architecture Blog, "Exponential backoff and jitter".
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from hit_manager.recruiters.base import RecruiterError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pause:
    """A wait before a call is made again. `attempt` counts the tries so far, from 1."""

    call: str
    attempt: int
    seconds: float
    why: str


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a call is made in all, and how long is waited in between (seconds).

    The pause before try n+1 is drawn between nothing and `first_s` × 2^(n-1), at most
    `longest_s`: people who were refused together must not come back together.
    """

    tries: int = 5
    first_s: float = 1.0
    longest_s: float = 20.0
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    told: Callable[[Pause], object] = lambda pause: None

    async def call(
        self,
        name: str,
        attempt: Callable[[], Awaitable[T]],
        again_after: Callable[[RecruiterError], bool],
    ) -> T:
        """Make a call; again, after a pause, as long as `again_after` says so of its error.

        Raises:
            RecruiterError: the error of the last try.
        """
        tried = 0
        while True:
            tried += 1
            try:
                return await attempt()
            except RecruiterError as error:
                if tried >= self.tries or not again_after(error):
                    raise
                most = min(self.longest_s, self.first_s * 2 ** (tried - 1))
                pause = Pause(name, tried, most * self.chance(), str(error))
            self.told(pause)
            await self.sleep(pause.seconds)
