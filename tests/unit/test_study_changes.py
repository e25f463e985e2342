"""What was changed in the monitor goes before the study file, is told at the start, and can go."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import select, update

from dialogs.record.tables import audit, hits, studies
from duologue.changes import note_of_changes
from duologue.console import site_of
from duologue.problems import BadInput
from tests.desks import Desk, desk_of

MTURK = 'kind = "mturk"\n'


@pytest.fixture
def desk(
    sqlite_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Desk:
    monkeypatch.setenv("DUOLOGUE_MTURK_ACCESS_KEY", "a")
    monkeypatch.setenv("DUOLOGUE_MTURK_SECRET_KEY", "s")
    return desk_of(tmp_path, sqlite_url, capsys, monkeypatch, MTURK)


def change(desk: Desk, **changes: Any) -> None:
    text = orjson.dumps(changes).decode() if changes else None
    desk.write(lambda connection: connection.execute(update(studies).values(changes=text)))


def changes(desk: Desk) -> Any:
    return desk.write(lambda connection: connection.execute(select(studies.c.changes)).scalar_one())


def note(desk: Desk) -> str:
    return asyncio.run(note_of_changes(site_of(desk.folder)))


def test_a_start_says_what_was_changed(desk: Desk) -> None:
    assert note(desk) == ""
    change(desk, grace_s=45.0, pay_complete=200)
    assert note(desk) == (
        "note: changed in the monitor: protocol.grace_s is 45 (60 in study.toml); pay.complete is "
        "2.00 (1.50 in study.toml); `duologue study changes --drop` lets the file hold again"
    )


def test_a_file_that_contradicts_what_was_changed_does_not_start(desk: Desk) -> None:
    change(desk, grace_s=100.0)
    file = desk.folder / "study.toml"
    file.write_text(file.read_text() + "[protocol]\nturn_limit_s = 90.0\ngrace_s = 30.0\n")
    with pytest.raises(BadInput) as caught:
        note(desk)
    (problem,) = caught.value.problems
    assert problem.startswith(
        "study.toml: protocol.grace_s must be less than protocol.turn_limit_s, with what was "
        "changed in the monitor (protocol.grace_s is 100 (30 in study.toml))"
    )


def test_changes_are_shown_and_dropped(desk: Desk) -> None:
    assert desk.duologue("study", "changes") == (0, "nothing is changed\n", "")
    change(desk, grace_s=45.0)
    _, out, _ = desk.duologue("study", "changes", "--json")
    assert orjson.loads(out) == {"changes": {"grace_s": 45.0}, "dropped": False}
    code, out, _ = desk.duologue("study", "changes", "--drop")
    assert (code, out) == (0, "1 change dropped; study.toml holds again\n")
    assert changes(desk) is None
    (row,) = desk.write(lambda connection: connection.execute(select(audit)).all())
    assert (row.action, row.admin_id) == ("study.change", None)
    assert orjson.loads(row.before) == {"changes": {"grace_s": 45.0}}


def test_pay_that_hits_promise_is_not_dropped(desk: Desk) -> None:
    change(desk, pay_complete=200)
    row = {"id": "h", "study_id": "study", "recruiter": "mturk", "token": "t", "state": "open",
           "seats": 1, "reward": 10, "currency": "USD", "created_at": 1.0}  # fmt: skip
    desk.write(lambda connection: connection.execute(hits.insert(), row))
    code, _, err = desk.duologue("study", "changes", "--drop")
    assert code == 2
    assert "pay.complete cannot be lowered from 2.00" in err
    assert changes(desk) is not None


def test_commands_count_with_what_was_changed(desk: Desk) -> None:
    before = desk.json("cost")
    change(desk, pay_complete=200)
    after = desk.json("cost")
    assert before != after
