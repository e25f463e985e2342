"""A study's folder and the commands of `duologue hits` run in it, for tests."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from sqlalchemy import Connection, create_engine, select

from dialogs.record.tables import ledger, studies
from dialogs.rules import Release
from duologue.cli import main
from hit_manager.marketplace.faults import Faults
from tests.records import STUDY
from tests.recruiting import add_arrival, add_items, release

STUDY_FILE = """
[study]
id = "study"
title = "Talk about a picture"
[items]
file = "items.jsonl"
[pay]
complete = "1.50"
[texts]
consent = "You will talk about a picture."
[recruiter]
"""

MARKET_FILE = "market.sqlite3"
"""The marketplace's database, in the study's folder."""


@dataclass
class Desk:
    """A study's folder, and its commands run in it."""

    folder: Path
    database: str
    capsys: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch
    faults: Faults | None = None

    def __call__(
        self, *words: str, answer: str = "", meanwhile: Callable[[], Any] = lambda: None
    ) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of `duologue hits …`; `meanwhile` happens
        while a question stands."""
        return self.duologue("hits", *words, answer=answer, meanwhile=meanwhile)

    def duologue(
        self, *words: str, answer: str = "", meanwhile: Callable[[], Any] = lambda: None
    ) -> tuple[int, str, str]:
        """The same of any command."""
        self.patch.setattr(sys, "argv", ["duologue", *words])
        lines = iter(answer.splitlines())

        def asked(_: str) -> str:
            meanwhile()
            return next(lines)

        self.patch.setattr(click.termui, "visible_prompt_func", asked)
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        said = self.capsys.readouterr()
        return code, said.out, said.err

    def json(self, *words: str, ends: int = 0) -> dict[str, Any]:
        """What it prints for a script; it `ends` with this exit code."""
        code, out, err = self(*words, "--json")
        assert (code, err) == (ends, ""), err
        found: dict[str, Any] = json.loads(out)
        return found

    def write(self, change: Callable[..., Any], *args: Any, **how: Any) -> Any:
        return _written(self.database, change, *args, **how)

    def there(self, change: Callable[..., Any], *args: Any, **how: Any) -> Any:
        """Change the marketplace's own books, as its pages do."""
        url = f"sqlite:///{self.folder / MARKET_FILE}"
        return _written(url, change, time.time(), *args, **how)

    def states(self) -> list[str]:
        def read(connection: Connection) -> list[str]:
            return list(connection.execute(select(ledger.c.state).order_by(ledger.c.arrival_id))
                        .scalars())  # fmt: skip

        found: list[str] = self.write(read)
        return found


def _written(url: str, change: Callable[..., Any], *args: Any, **how: Any) -> Any:
    engine = create_engine(url)
    with engine.begin() as connection:
        result = change(connection, *args, **how)
    engine.dispose()
    return result


def begin(connection: Connection) -> None:
    row = {"id": STUDY, "status": "open", "config": "{}", "created_at": 1.0}
    connection.execute(studies.insert(), row)
    add_items(connection, ["dog"])


def desk_of(folder: Path, url: str, capsys: Any, patch: pytest.MonkeyPatch, section: str) -> Desk:
    (folder / "study.toml").write_text(STUDY_FILE + section, encoding="utf-8")
    patch.setenv("DUOLOGUE_DATABASE_URL", url)
    patch.chdir(folder)
    desk = Desk(folder, url, capsys, patch)
    recruiter = "mturk" if "mturk" in section else "link"

    def people(connection: Connection) -> None:
        begin(connection)
        for n, cents in enumerate((150, 10, 0)):
            how = Release.COMPLETED if cents == 150 else Release.LEFT
            arrival = add_arrival(connection, n, recruiter=recruiter)
            release(connection, arrival, cents, how=how)

    desk.write(people)
    return desk
