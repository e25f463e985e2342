"""What a worker saw and did, line by line: what a checker compares with the record.

Each line is a JSON object with `at` (seconds since 1970, this machine's clock), `event`, and
the number of the worker's `arrival`, `dialog` and `connection`, counted from 1. `acked` is
written when the acknowledgement has come in, and only then; what was sent and neither
acknowledged nor refused is `unanswered`: only the record knows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any, TextIO

import orjson

Line = dict[str, Any]


class Entry(StrEnum):
    """What a line is about, and the fields it has beside the common ones."""

    WORKER = "worker"
    """First line: `number`, `kind`, `worker_key`, `query`."""
    ARRIVED = "arrived"
    """`POST /api/arrivals` gave a token: `url`."""
    TURNED_AWAY = "turned_away"
    """It was refused for good: `error`, `code`."""
    CONNECTED = "connected"
    """`url`."""
    DISCONNECTED = "disconnected"
    """The connection is lost, by the server or the network."""
    CUT = "cut"
    """The worker dropped its connection itself."""
    DOWN = "down"
    """The server could not be reached: `url`, `error`."""
    ASKED = "asked"
    """A request other than a message: `name`."""
    ANSWERED = "answered"
    """Its acknowledgement: `name`, `answer`."""
    SENT = "sent"
    """A message: `key`, `text`, `attempt` from 1."""
    ACKED = "acked"
    """`key`, `seq`."""
    REFUSED = "refused"
    """`key`, `error`, `code`."""
    UNANSWERED = "unanswered"
    """No acknowledgement came: `key` or `name`, `why`."""
    ABUSED = "abused"
    """Something that must be refused: `name`, `what`, `key`; SENT is not written for it."""
    FRAME = "frame"
    """A dialog event: `name`, `seq`, `via` (live, sync, state), `applied`, and its payload with
    the server's time as `said_at`."""
    STATE = "state"
    """`stage`, `seq`."""
    GAP = "gap"
    """A frame came too early: `seq`, `had`."""
    STOPPED = "stopped"
    """`error`, `code`."""
    VANISHED = "vanished"
    """The worker is gone for good without a word."""
    RELEASED = "released"
    """`release`, `outcome`, `cents`, `code`."""
    VIOLATION = "violation"
    """The server did what it must not do: `what`."""
    FAULT = "fault"
    """An answer that was not expected: `what`."""


class WorkerLog:
    """The log of one worker: in memory, and in `folder` as `worker-NUMBER.jsonl` if given."""

    def __init__(
        self, number: int, folder: Path | None = None, now: Callable[[], float] = time.time
    ) -> None:
        self.number = number
        self.lines: list[Line] = []
        self.arrival = 0
        self.dialog = 0
        self.connection = 0
        self._now = now
        self._file: TextIO | None = None
        if folder is not None:
            # Kept open, and written line by line: it must be whole if this process is killed.
            self._file = (folder / f"worker-{number:05d}.jsonl").open("w", encoding="utf-8")

    def write(self, entry: Entry, **fields: Any) -> None:
        """Add a line."""
        line: Line = {
            "at": self._now(),
            "event": entry.value,
            "arrival": self.arrival,
            "dialog": self.dialog,
            "connection": self.connection,
            **fields,
        }
        self.lines.append(line)
        if self._file is not None:
            self._file.write(orjson.dumps(line).decode() + "\n")
            self._file.flush()

    def of(self, entry: Entry) -> list[Line]:
        """The lines about `entry`, in order."""
        return [line for line in self.lines if line["event"] == entry.value]

    @property
    def acknowledged(self) -> dict[str, int]:
        """The `seq` of every message whose acknowledgement came, by key."""
        return {line["key"]: line["seq"] for line in self.of(Entry.ACKED)}

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def read_log(file: Path) -> list[Line]:
    """The lines of a log; the last one is left out if the process died while writing it."""
    lines = file.read_bytes().split(b"\n")
    return [orjson.loads(line) for line in lines[:-1]]
