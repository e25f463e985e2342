"""When the machine was too busy to run a process: nobody can be served on time then."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

Span = tuple[float, float]
"""From and to, in seconds since 1970."""

STALLS_FILE: Final = "stalls.jsonl"
PULSE_S: Final = 0.1
LATE_S: Final = 0.4


async def watch_stalls(file: Path) -> None:
    """Write down every span in which this process's event loop stood still, until cancelled."""
    with file.open("w", encoding="utf-8") as out:
        last = time.time()
        while True:
            await asyncio.sleep(PULSE_S)
            now = time.time()
            if now - last > PULSE_S + LATE_S:
                out.write(json.dumps((last, now)) + "\n")
                out.flush()
            last = now


def read_stalls(files: Iterable[Path]) -> list[Span]:
    """The spans that were written down."""
    lines = [line for file in files for line in file.read_bytes().split(b"\n")[:-1]]
    return [(since, until) for since, until in map(json.loads, lines)]


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same seconds as spans that do not overlap, in order."""
    whole: list[Span] = []
    for since, until in sorted(spans):
        if whole and since <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(whole[-1][1], until))
        else:
            whole.append((since, until))
    return whole
