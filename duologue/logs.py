"""Logging of a server process: to standard error, and so that no client and no outage fills it.

A line never says who somebody is or what they wrote: of people it names arrivals and dialogs, by
ids of our own.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from aiohttp.http import HttpProcessingError

QUIET_S: Final = 30.0
"""The time in which the same is said only so often, in seconds."""
OFTEN: Final = {logging.INFO: 100, logging.WARNING: 1, logging.ERROR: 10}
"""How often, by level."""
_MOST_KEPT: Final = 1000
FIELDS: Final = ("arrival", "arrivals", "dialog")
"""What a call may say in its `extra`, so that programs need not look for it in the text."""


@dataclass(slots=True)
class _Said:
    since: float
    times: int = 0
    left_out: int = 0


class SayOnce(logging.Filter):
    """Lets the same pass only so often in `quiet_s` seconds, and then says how much it left out.

    While a database or Redis is away, every loop of a server says so several times a second; and
    what a client can cause once, it can cause without end.
    """

    def __init__(
        self, quiet_s: float = QUIET_S, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._quiet_s = quiet_s
        self._monotonic = monotonic
        self._said: dict[tuple[object, ...], _Said] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        most = OFTEN.get(record.levelno)
        if most is None:
            return True
        key, now = _what(record), self._monotonic()
        said = self._said.get(key)
        left_out = 0
        if said is None or now - said.since >= self._quiet_s:
            left_out = said.left_out if said else 0
            if len(self._said) >= _MOST_KEPT:
                self._said.clear()
            said = self._said[key] = _Said(now)
        if said.times >= most:
            said.left_out += 1
            return False
        said.times += 1
        # At once for an outage, which warns as long as it lasts; nobody needs the number.
        if left_out and record.levelno != logging.WARNING:
            record.msg, record.args = f"{record.getMessage()} ({left_out} like it left out)", None
        return True


def _what(record: logging.LogRecord) -> tuple[object, ...]:
    """What makes two records the same.

    Errors that are not the same must not hide each other: with a traceback they are the same if
    they were raised in the same place, else if they read the same. Of anything else the template
    counts, as ids and numbers in it differ each time.
    """
    if record.levelno == logging.ERROR:
        if record.exc_info is None or record.exc_info[0] is None:
            return (record.name, record.levelno, record.getMessage())
        kind, _, traceback = record.exc_info
        while traceback is not None and traceback.tb_next is not None:
            traceback = traceback.tb_next
        place = traceback and (traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
        return (record.name, record.levelno, kind, place)
    return (record.name, record.levelno, str(record.msg))


class NoStrangers(logging.Filter):
    """Keeps the addresses of clients, and their bad HTTP, out of what the HTTP library logs.

    Who sends bad HTTP is answered 400, and nobody here can do anything about it.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "aiohttp.websocket":
            # Only which protocols a client asked for in vain.
            return record.levelno >= logging.ERROR
        if record.name != "aiohttp.server":
            return True
        if record.exc_info and isinstance(record.exc_info[1], HttpProcessingError):
            return False
        if str(record.msg).startswith("Error handling request from"):
            record.msg, record.args = "a request could not be answered", None
        return True


class JsonLines(logging.Formatter):
    """One JSON object a line: `time` (UTC), `level`, `logger`, `message`, those of `FIELDS` that
    the call has named, and `exception` with its traceback. In ASCII, whatever is in it."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        said: dict[str, object] = {
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        for name in FIELDS:
            if (value := getattr(record, name, None)) is not None:
                said[name] = value
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        return json.dumps(said)


def log_to_stderr(level: str, style: Literal["text", "json"] = "text") -> None:
    """Set up logging at `level`: debug, info, warning or error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonLines()
        if style == "json"
        else logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    )
    handler.addFilter(NoStrangers())
    handler.addFilter(SayOnce())
    # What libraries say for their makers is whole requests, with everything in them.
    lowest = max(logging.getLevelNamesMapping()[level.upper()], logging.INFO)
    logging.basicConfig(level=lowest, handlers=[handler])
    logging.getLogger("duologue").setLevel(level.upper())
    logging.getLogger("alembic").setLevel(logging.WARNING)
