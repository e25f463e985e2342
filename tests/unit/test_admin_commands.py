"""`duologue admin`: who may sign in, told clearly, and beside a running server."""

from __future__ import annotations

import io
import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import argon2
import pytest
from sqlalchemy import Connection, select

from dialogs.record.tables import admins, audit
from duologue.admin import command
from tests.desks import Desk

ROOT = Path(__file__).resolve().parents[2]
GOOD = "nine lemons under the piano"
COMMANDS = sorted(command.commands)

Says = Callable[..., tuple[int, str, str]]


@pytest.fixture
def admin(link: Desk, monkeypatch: pytest.MonkeyPatch) -> Says:
    """Runs `duologue admin …`; `typed` is what stands in standard input. Hashing costs little."""
    cheap = argon2.Parameters(argon2.Type.ID, 19, 8, 4, time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr("chatserver.monitor.passwords._PARAMETERS", cheap)

    def run(*words: str, typed: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        return link.duologue("admin", *words)

    return run


def add(admin: Says, name: str, role: str = "owner", password: str = GOOD) -> None:
    found = admin("add", name, "--role", role, "--password-stdin", typed=password)
    assert (found[0], found[2]) == (0, ""), found


def rows(connection: Connection) -> dict[str, Any]:
    return {row.name: row for row in connection.execute(select(admins))}


def is_right(link: Desk, name: str, password: str) -> bool:
    try:
        return argon2.PasswordHasher().verify(link.write(rows)[name].password, password)
    except argon2.exceptions.VerifyMismatchError:
        return False


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_of_itself_and_speaks_json(name: str) -> None:
    assert f"admin {name}" in (command.commands[name].help or "").split("Example:", 1)[1]
    options = {option for each in command.commands[name].params for option in each.opts}
    assert {"--json", "--study"} <= options


def test_somebody_is_added_and_looked_after(admin: Says, link: Desk) -> None:
    code, out, _ = admin("list")
    assert (code, out) == (0, "nobody may sign in yet\n")
    add(admin, "Ada")
    # The end of the line is not meant, everything else is.
    add(admin, "ben", "viewer", "  nine lemons \n")
    assert is_right(link, "ada", GOOD)
    assert is_right(link, "ben", "  nine lemons ")
    assert admin("role", "BEN", "reviewer")[1] == "ben is reviewer\n"
    assert admin("password", "ben", "--password-stdin", typed=GOOD)[1] == (
        "ben has another password; 0 sessions ended\n"
    )
    assert is_right(link, "ben", GOOD)
    assert admin("disable", "ben")[1] == "ben may sign in no more; 0 sessions ended\n"
    told = json.loads(admin("list", "--json")[1])["admins"]
    assert told == [
        {"name": "ada", "role": "owner", "disabled": False, "sessions": 0, "seen_at": None},
        {"name": "ben", "role": "reviewer", "disabled": True, "sessions": 0, "seen_at": None},
    ]
    assert admin("list")[1].splitlines()[1].endswith("last seen never  disabled")
    assert admin("enable", "ben")[1] == "ben may sign in again\n"
    assert json.loads(admin("sign-out", "ben", "--json")[1]) == {"name": "ben", "ended": 0}

    def noted(connection: Connection) -> list[tuple[Any, ...]]:
        found = connection.execute(select(audit).order_by(audit.c.at))
        return [(row.action, row.target, row.admin_id) for row in found]

    assert link.write(noted) == [
        ("admin.add", "ada", None),
        ("admin.add", "ben", None),
        ("admin.role", "ben", None),
        ("admin.password", "ben", None),
        ("admin.disable", "ben", None),
        ("admin.enable", "ben", None),
        ("admin.sign_out", "ben", None),
    ]


def test_a_password_is_made_up_and_shown_once(admin: Says, link: Desk) -> None:
    code, out, err = admin("add", "ada", "--role", "owner", "--generate")
    assert (code, err) == (0, "")
    first = out.splitlines()[1].removeprefix("password: ")
    assert is_right(link, "ada", first)
    made = json.loads(admin("password", "ada", "--generate", "--json")[1])
    assert made["password"] != first
    assert is_right(link, "ada", made["password"])
    assert "password" not in json.loads(
        admin("password", "ada", "--password-stdin", "--json", typed=GOOD)[1]
    )


@pytest.mark.parametrize(
    ("line", "typed", "told"),
    [
        ("add", "", "missing argument 'NAME' (see"),
        ("add eve", "", "missing option '--role'"),
        ("add eve --role king", "", "'king' is not one of 'owner', 'reviewer', 'viewer'"),
        ("role ada king", "", "'king' is not one of 'owner', 'reviewer', 'viewer'"),
        ("add eve --role owner", "", "no terminal to ask at; say --password-stdin or --generate"),
        ("add eve --role owner --password-stdin --generate", GOOD, "leave one of both out"),
        ("add eve --role owner --password-stdin", "short", "must have at least 12 characters"),
        ("add evelyn.brooks --role owner --password-stdin", "Evelyn.Brooks\n", "not be the name"),
        ("add eve --role owner --password-stdin", "passwordpassword", "everybody tries first"),
        ("add e/e --role owner --generate", "", "'e/e': a name is made of letters, digits and"),
        ("add ada --role viewer --generate", "", "ada: there is such an admin already"),
        ("role eve owner", "", "eve: there is no such admin"),
        ("password eve --generate", "", "eve: there is no such admin"),
        ("password ada --password-stdin", "", "must have at least 12 characters"),
        ("disable eve", "", "eve: there is no such admin"),
        ("enable ada", "", "ada: is not disabled"),
        ("sign-out eve", "", "eve: there is no such admin"),
        ("disable ada", "", "ada: is the last owner; make somebody else an owner first"),
        ("role ada viewer", "", "ada: is the last owner; make somebody else an owner first"),
        ("list --study nowhere", "", "there is no study file"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(
    admin: Says, link: Desk, line: str, typed: str, told: str
) -> None:
    add(admin, "ada")
    before = link.write(rows)
    code, out, err = admin(*line.split(), typed=typed)
    assert (code, out) == (2, "")
    assert err.startswith("duologue: ")
    assert err.count("\n") == 1
    assert told in err
    # A password never stands in what is shown.
    assert not typed or typed not in err
    assert link.write(rows) == before


def test_it_works_before_the_study_has_ever_run(
    admin: Says, link: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    shutil.copy(link.folder / "study.toml", fresh)
    monkeypatch.delenv("DUOLOGUE_DATABASE_URL")
    monkeypatch.chdir(tmp_path)
    add(admin, "ada")  # In the folder of before, whose database is named no more.
    code, out, _ = admin("add", "ada", "--role", "owner", "--generate", "--study", "fresh")
    assert (code, out.splitlines()[0]) == (0, "ada may sign in, as owner")
    assert (fresh / "duologue.sqlite").is_file()


@pytest.mark.parametrize(
    ("answers", "code", "told"),
    [
        ((GOOD, GOOD), 0, "ada may sign in, as owner"),
        (("short", "short"), 2, "must have at least 12 characters"),
    ],
)
def test_a_password_is_asked_for_twice_and_not_shown(
    link: Desk, answers: tuple[str, ...], code: int, told: str
) -> None:
    """On a real terminal."""
    ours, theirs = pty.openpty()
    words = ["admin", "add", "ada", "--role", "owner", "--study", str(link.folder)]
    process = subprocess.Popen(
        [sys.executable, "-m", "duologue", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    os.close(theirs)
    seen = b""
    for asked, answer in zip((b"Password: ", b"The same again: "), answers, strict=True):
        while asked not in seen:
            seen += os.read(ours, 1000)
        os.write(ours, answer.encode() + b"\n")
    try:
        while some := os.read(ours, 1000):
            seen += some
    except OSError:
        pass  # So Linux says that the other side is closed.
    assert process.wait(30) == code
    os.close(ours)
    assert told.encode() in seen
    assert answers[0].encode() not in seen
    assert code or is_right(link, "ada", answers[0])
