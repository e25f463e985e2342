"""Logging of a server process: to standard error, and without saying the same over and over."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from typing import Final

QUIET_S: Final = 30.0
"""How long a warning is not repeated, in seconds."""


class SayOnce(logging.Filter):
    """Lets a warning pass once in `quiet_s` seconds, however often it is given.

    While a database or Redis is away, every loop of a server says so several times a second.
    """

    def __init__(
        self, quiet_s: float = QUIET_S, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._quiet_s = quiet_s
        self._monotonic = monotonic
        self._said: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING:
            return True
        # The template, not the text: ids and counts in it differ each time.
        key = (record.name, str(record.msg))
        now = self._monotonic()
        if now - self._said.get(key, -self._quiet_s) < self._quiet_s:
            return False
        self._said[key] = now
        return True


def log_to_stderr(level: str) -> None:
    """Set up logging at `level`: debug, info, warning or error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(SayOnce())
    logging.basicConfig(level=level.upper(), handlers=[handler])
    logging.getLogger("alembic").setLevel(logging.WARNING)
