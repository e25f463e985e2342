"""What time it is for the marketplace: the machine's clock, or one that tests move.

Only statuses follow this clock (lifetimes, deadlines, automatic approval, tokens). Whether a
signed request is stale is measured on the machine's clock, for its sender uses that too.
"""

from __future__ import annotations

import time


class Clock:
    """The machine's clock. Times are seconds since 1970-01-01 UTC."""

    def now(self) -> float:
        return time.time()


class MovableClock(Clock):
    """A clock that stands still until it is moved, and only goes forward."""

    def __init__(self, start: float | None = None) -> None:
        self._now = time.time() if start is None else start

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> float:
        """Move on by `seconds` and say what time it is then.

        Raises:
            ValueError: backwards.
        """
        if seconds < 0:
            raise ValueError("this clock only goes forward")
        self._now += seconds
        return self._now
