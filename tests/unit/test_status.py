"""A study at a glance in a terminal: right, on either database, and nobody is named."""

from __future__ import annotations

import asyncio
import fcntl
import io
import json
import os
import pty
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sqlalchemy import Connection, insert, update

from dialogs.events import Away, Part, Said
from dialogs.record import tables
from dialogs.record.decisions import happenings
from dialogs.record.leases import HITS, SERVING
from dialogs.record.studies import new_study
from dialogs.rules import Acceptance, LedgerState, Outcome, Phase, Role, SeatStatus
from duologue.console import site_of
from duologue.watch import watched
from duologue.words import lasting
from tests.desks import STUDY_FILE, Desk, desk_of
from tests.live import until
from tests.records import STUDY, open_a_dialog, opened
from tests.recruiting import add_arrival, add_dialog, add_items, release
from tests.services import PostgresServer

SECRETS = ("worker-", "PERSON", "person-", "a private matter", "\x1b")


@pytest.fixture
def desk(
    tmp_path: Path,
    database_url: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Desk:
    """A study on either database."""
    return desk_of(tmp_path, database_url, capsys, monkeypatch, 'kind = "link"\n')


async def talk(url: str) -> None:
    """Two people talk in the study, and one of them is away; a third waits."""
    async with opened(url, serving=False) as record:
        for n in (10, 11, 12):
            with record.engine.begin() as connection:
                add_arrival(connection, n)
                mine = update(tables.arrivals).where(tables.arrivals.c.id == f"arrival-{n}")
                connection.execute(mine.values(ready_at=time.time() - 75.0))
        state = await open_a_dialog(record, "d_1", 10, 11)
        now, words = time.time(), (Part("a private matter \x1b[31m"),)
        happened = (Said(now, Role.QUESTIONER, "k", 1, words), Away(now - 5.0, Role.ANSWERER))
        decision, _ = happenings(state, happened, str)
        await record.writer.commit(decision)


def seen(connection: Connection, work: str = SERVING, until_: float = 0.0) -> None:
    row = {"study_id": STUDY, "work": work, "holder": "p", "until": until_ or time.time()}
    connection.execute(insert(tables.leases), row)


def stopped(connection: Connection) -> None:
    mine = update(tables.ledger).where(tables.ledger.c.cents == 10)
    connection.execute(mine.values(state=LedgerState.HELD.value, problem="somebody else"))


def test_a_study_at_a_glance(desk: Desk) -> None:
    asyncio.run(talk(desk.database))
    desk.write(seen)
    desk.write(stopped)
    code, out, err = desk.duologue("status")
    assert (code, err) == (0, "")
    told = [line.split(None, 1) for line in out.splitlines()]
    lines = dict(told)
    assert lines["study"] == "study is open"
    assert lines["server"].startswith("runs (seen ")
    assert lines["done"] == "0 of 1 dialog (0 %) about 1 item"
    assert lines["live"] == "1 paired, 0 solo"
    assert lines["lobby"].startswith("1 person, the longest for 1 min 1")
    assert lines["inside"] == "3 people: 1 waiting, 2 seated"
    assert lines["owed"] == "1 payment, 1.50 USD"
    assert lines["held"] == "1 payment, 0.10 USD"
    assert lines["attention"] == "1 payment held: `duologue hits status` says why"
    assert not [each for each in SECRETS if each in out]

    code, out, err = desk.duologue("status", "--json")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    assert found["status"] == "open"
    assert (found["items"], found["places"], found["done"]) == (1, 1, 0)
    assert found["live"] == {"paired": 1, "solo": 0}
    assert found["lobby"]["people"] == 1
    assert 75 <= found["lobby"]["longest_wait_s"] < 200
    assert found["people"] == {"arrived": 0, "waiting": 1, "seated": 2, "released": 3}
    assert found["payments"]["owed"] == {"payments": 1, "cents": 150}
    assert found["server"]["runs"] is True
    assert found["attention"] == [{"what": "payments_held", "number": 1}]
    assert found["latest"][0]["what"] in ("opened", "left", "completed")
    assert not [each for each in SECRETS if each in out]


def test_a_study_says_what_waits_for_review_and_what_was_refused(desk: Desk) -> None:
    def judged(connection: Connection) -> None:
        for n, acceptance in ((20, None), (22, None), (24, Acceptance.ACCEPTED)):
            people = [f"arrival-{n}", f"arrival-{n + 1}"]
            for arrival in (n, n + 1):
                add_arrival(connection, arrival)
            add_items(connection, [f"item-{n}"])
            add_dialog(
                connection,
                f"d_{n}",
                f"item-{n}",
                phase=Phase.ENDED,
                outcome=Outcome.COMPLETE,
                acceptance=acceptance,
                people=[(arrival, SeatStatus.DONE) for arrival in people],
            )
            for arrival in people:
                release(connection, arrival, 150, dialog=f"d_{n}", state=LedgerState.CANCELLED)

    desk.write(judged)
    code, out, _ = desk.duologue("status")
    assert code == 0
    assert "to review  2 dialogs\n" in out
    assert "refused    6 payments, 9.00 USD\n" in out
    assert "cancelled" not in out
    assert json.loads(desk.duologue("status", "--json")[1])["to_review"] == 2
    assert "to review  2 dialogs\n" in desk.duologue("watch", "--once")[1]
    assert "refused          6 payments, 9.00 USD\n" in desk.duologue("hits", "status")[1]


def test_people_without_a_server_need_attention(desk: Desk) -> None:
    assert "has never run" in desk.duologue("status")[1]
    desk.write(seen, until_=time.time() - 200.0)
    assert "attention" not in desk.duologue("status")[1]
    asyncio.run(talk(desk.database))
    out = desk.duologue("status")[1]
    assert "server     not seen for 3 min " in out
    assert "attention  no server runs, and 3 people are inside: `duologue serve`" in out


def test_a_study_that_recruits_tells_whether_anybody_does(market: Desk) -> None:
    out = market.duologue("status")[1]
    assert "attention  no process recruits and pays: `duologue serve`" in out
    market.write(seen)
    market.write(seen, HITS, time.time() + 60.0)
    out = market.duologue("status")[1]
    assert "attention" not in out
    assert "runs (seen 0 s ago), and recruits and pays" in out


def test_a_study_by_link_pays_nobody(desk: Desk) -> None:
    desk.write(seen)
    desk.write(seen, HITS, time.time() + 60.0)
    out = desk.duologue("status")[1]
    assert "runs (seen 0 s ago)\n" in out


def test_a_study_that_never_ran_is_one_line(desk: Desk, tmp_path: Path) -> None:
    text = (tmp_path / "study.toml").read_text().replace('id = "study"', 'id = "another"')
    (tmp_path / "study.toml").write_text(text)
    for command in ("status", "watch"):
        code, out, err = desk.duologue(command)
        assert (code, out) == (2, "")
        assert err.startswith("duologue: the study another has never run")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-1, "0 s"),
        (59.9, "59 s"),
        (60, "1 min 00 s"),
        (3599, "59 min 59 s"),
        (7384, "2 h 03 min"),
        (86_400, "1 day 0 h"),
        (180_000, "2 days 2 h"),
    ],
)
def test_how_long_it_lasts(seconds: float, said: str) -> None:
    assert lasting(seconds) == said


# --- As it goes on ---------------------------------------------------------------------------


def test_what_goes_on_as_plain_lines(desk: Desk) -> None:
    asyncio.run(talk(desk.database))
    code, out, err = desk.duologue("watch", "--once")
    assert (code, err) == (0, "")
    assert "waits      arrival-12  en, 1 min 1" in out
    assert "dialog     d_1  image image-dog, paired, round 1/2, answerer's turn, silent for" in out
    assert ", away: answerer " in out
    assert not [each for each in SECRETS if each in out]
    out = desk.duologue("watch", "--once", "--words")[1]
    assert "questioner: a private matter \\x1b[31m" in out


def watch_in_terminal(folder: Path, columns: int) -> tuple[str, int]:
    """What a terminal of this width got until Ctrl-C, and the exit code."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-m", "duologue", "watch", str(folder), "--interval", "0.5"]
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": os.pathsep.join(sys.path)}
    watching = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(theirs)
    got, told = b"", False
    while True:
        try:
            more = os.read(ours, 65_536)
        except OSError:  # The other end is closed.
            break
        if not more:
            break
        got += more
        if b"d_1" in got and not told:
            os.write(ours, b"\x03")
            told = True
    os.close(ours)
    return got.decode(), watching.wait()


@pytest.mark.parametrize("columns", [32, 120])
def test_a_terminal_is_filled_and_given_back(desk: Desk, tmp_path: Path, columns: int) -> None:
    asyncio.run(talk(desk.database))
    got, code = watch_in_terminal(tmp_path, columns)
    assert code == 0
    assert "Traceback" not in got
    # The screen of before comes back, and the cursor.
    assert got.count("\x1b[?1049h") == got.count("\x1b[?1049l") == 1
    assert got.rindex("\x1b[?25h") > got.rindex("\x1b[?25l")
    shown = got.partition("\x1b[?1049h")[2]
    assert "dialogs: 1" in shown
    assert not [each for each in SECRETS[:-1] if each in shown]


async def test_a_record_that_goes_away_and_comes_back(
    postgres_server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_server.create_database()
    async with opened(url) as record:
        await record.writer.commit(new_study(STUDY, {}, 1.0))
    (tmp_path / "study.toml").write_text(STUDY_FILE + 'kind = "link"\n')
    monkeypatch.setenv("DUOLOGUE_DATABASE_URL", url)
    said, stop = io.StringIO(), asyncio.Event()
    console = Console(file=said)
    watching = asyncio.create_task(watched(site_of(tmp_path, keyed=False), console, stop, 0.1))
    await until(lambda: "study is open" in said.getvalue())
    postgres_server.kill()
    await until(lambda: "trying again" in said.getvalue())
    postgres_server.start()
    before = said.getvalue().count("study is open")
    await until(lambda: said.getvalue().count("study is open") > before)
    stop.set()
    await watching
