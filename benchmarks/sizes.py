"""Measures one thing for studies of several sizes, on either database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.collected import Size
from tests.services import PostgresServer

Row = dict[str, Any]
Tell = Callable[[str], None]


@dataclass(slots=True)
class Found:
    """What was measured, what went wrong, and each database's settings of durability."""

    rows: list[Row] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    settings: dict[str, dict[str, str]] = field(default_factory=dict)


Measured = tuple[list[Row], list[str], dict[str, str]]
Measure = Callable[[str, int | None, str, Size], Coroutine[Any, Any, Measured]]
"""Called with the database's name, its server's process id if it has one, a URL of a database that
is new, and the size. Returns rows, problems and settings."""


def on_each(folder: Path, sizes: Iterable[Size], measure: Measure) -> Found:
    """Each size on SQLite, in `folder`, and then each on PostgreSQL."""
    found = Found()

    def all_sizes(database: str, pid: int | None, url_for: Callable[[Size], str]) -> None:
        for size in sizes:
            rows, problems, settings = asyncio.run(measure(database, pid, url_for(size), size))
            found.rows += rows
            found.problems += problems
            found.settings[database] = settings

    all_sizes("SQLite", None, lambda size: f"sqlite:///{folder / f'{size.items}.sqlite'}")
    with PostgresServer() as postgres:
        all_sizes("PostgreSQL", postgres.pid, lambda size: postgres.create_database())
    return found
