"""What processes have used, read from /proc (Linux)."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import Final

_TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")
_PARENT, _USER, _SYSTEM, _CHILD_USER, _CHILD_SYSTEM = 1, 11, 12, 13, 14
"""Places in /proc/PID/stat, counted after the command's closing bracket (proc(5), fields 3…)."""


def _fields(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text.rpartition(")")[2].split()


def cpu_seconds(pid: int) -> float:
    """Processor seconds, user and system, of all threads of `pid` itself; 0 when it is gone."""
    fields = _fields(pid)
    return 0.0 if fields is None else (int(fields[_USER]) + int(fields[_SYSTEM])) * _TICK_S


def tree_cpu_seconds(root: int) -> float:
    """Processor seconds of `root` and all that descends from it, the ended children included."""
    children: dict[int, list[int]] = defaultdict(list)
    stats: dict[int, list[str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _fields(int(entry.name))) is not None:
            stats[int(entry.name)] = fields
            children[int(fields[_PARENT])].append(int(entry.name))
    ticks, todo = 0, [root]
    while todo:
        pid = todo.pop()
        todo += children[pid]
        if (fields := stats.get(pid)) is not None:
            places = (_USER, _SYSTEM, _CHILD_USER, _CHILD_SYSTEM)
            ticks += sum(int(fields[place]) for place in places)
    return ticks * _TICK_S
