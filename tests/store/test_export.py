"""The export of a study: complete dialogs only, nothing of the people, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import Connection, Engine, update

from dialogs.dialog import EndByTeam, Extend, Leave, Say, Tell, decide, open_dialog
from dialogs.events import Ended, Event, Part, SeatTaken, to_json
from dialogs.export.folder import MANIFEST, ExportError, write_folder
from dialogs.export.visdial import LeftOut, export_visdial
from dialogs.record import tables as t
from dialogs.record.engine import open_engine
from dialogs.rules import Acceptance, Role, Rules
from dialogs.state import evolve, fold
from tests.visdial_reader import read_visdial

RULES = Rules(rounds=3, pair_again_below=0)
SECRETS = ("WORKERID", "ASSIGNMENTID", "203.0.113.7", "ARRIVALID", "FEEDBACK", "RELEASECODE")


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = open_engine(database_url)
    with engine.begin() as connection:
        connection.execute(
            t.studies.insert(),
            [
                {"id": name, "status": "open", "config": "{}", "created_at": 1.0}
                for name in ("study", "other")
            ],
        )
    yield engine
    engine.dispose()


def add_item(connection: Connection, number: int, study: str = "study", **fields: Any) -> str:
    row = {
        "id": f"item-{study}-{number}",
        "study_id": study,
        "image_id": str(1000 - number),
        "caption": f"Picture {number}.",
        "file": "f.jpg",
        "width": 8,
        "height": 8,
        "sha256": "00",
        "wanted": 5,
        "position": number,
        "added_at": 1.0,
        **fields,
    }
    connection.execute(t.items.insert(), row)
    return str(row["id"])


def hold(
    connection: Connection,
    item: str,
    place: int = 1,
    *,
    messages: int = 6,
    leaves: Role | None = None,
    study: str = "study",
    name: str = "",
    steered: bool = False,
    ends: bool = False,
) -> str:
    """A dialog as the server would record it: `messages` sent, then perhaps somebody leaves, or
    the team `ends` it. `steered`: the team writes, and gives more time, before each message."""
    name = name or f"{item}-{place}"
    seats = []
    for role in Role:
        worker, arrival = f"WORKERID-{role}-{name}", f"ARRIVALID-{role}-{name}"
        connection.execute(
            t.workers.insert(),
            {"id": worker, "study_id": study, "recruiter": "link", "external_id": worker,
             "created_at": 1.0},
        )  # fmt: skip
        connection.execute(
            t.arrivals.insert(),
            {"id": arrival, "study_id": study, "worker_id": worker, "status": "released",
             "assignment_id": f"ASSIGNMENTID-{arrival}", "language": "en",
             "address": "203.0.113.7", "created_at": 1.0, "feedback": "FEEDBACK"},
        )  # fmt: skip
        seats.append(SeatTaken(role, arrival, worker))
    opened = open_dialog(RULES, item, place, tuple(seats), 1.0)
    happened: list[Event] = [opened]
    state = fold(name, happened)

    def do(command: Say | Leave | Tell | Extend | EndByTeam) -> None:
        nonlocal state
        answer = decide(state, command, 2.0 + len(happened))
        assert isinstance(answer, tuple)
        for event in answer:
            state = evolve(state, event)
            happened.append(event)

    for number in range(messages):
        role = RULES.kind.role_at(number)
        if steered:
            do(Tell(f"tell-{number}", role if number % 2 else None, "TOLDBYTHETEAM"))
            do(Extend(f"extend-{number}", 60.0))
        text = f"Is {name} {number}?" if role is Role.QUESTIONER else f"It is  {name} {number}."
        do(Say(role, f"key-{number}", (Part(text),)))
    if leaves:
        do(Leave(leaves))
        while state.outcome is None:
            do(Say(state.remaining.role, f"alone-{len(happened)}", (Part("ALONE"),)))
    if ends:
        do(EndByTeam("end", "TOLDBYTHETEAM"))
    ended = isinstance(happened[-1], Ended)
    connection.execute(
        t.dialogs.insert(),
        {"id": name, "study_id": study, "item_id": item, "place": place, "phase": state.phase,
         "outcome": state.outcome, "language": "en", "same_address": False, "opened_at": 1.0,
         "ended_at": 9.0 if ended else None},
    )  # fmt: skip
    connection.execute(
        t.events.insert(),
        [
            {"dialog_id": name, "seq": seq, "kind": event.kind, "at": event.at,
             "data": orjson.dumps(to_json(event)).decode()}
            for seq, event in enumerate(happened, 1)
        ],
    )  # fmt: skip
    for seat in seats:
        connection.execute(
            t.releases.insert(),
            {"arrival_id": seat.arrival_id, "dialog_id": name, "release": "completed",
             "code": f"RELEASECODE-{seat.arrival_id}", "at": 9.0},
        )  # fmt: skip
    return name


def reject(connection: Connection, dialog: str) -> None:
    connection.execute(
        update(t.dialogs)
        .where(t.dialogs.c.id == dialog)
        .values(acceptance=Acceptance.REJECTED.value)
    )


def expected(name: str) -> list[tuple[str, str]]:
    return [(f"is {name} {n}", f"it is {name} {n + 1}") for n in (0, 2, 4)]


def test_complete_dialogs_come_out_as_they_were_said(engine: Engine, tmp_path: Path) -> None:
    with engine.begin() as connection:
        first, second = add_item(connection, 1), add_item(connection, 2, image_id="b-2")
        late = hold(connection, second)
        two = hold(connection, first, 2)
        one = hold(connection, first, 1)
        done = export_visdial(connection, "study", tmp_path / "out", "val")
    assert done.file == tmp_path / "out" / "visdial_1.0_val.json"
    assert (done.dialogs, done.messages, done.left_out) == (3, 18, {})
    read = read_visdial(json.loads(done.file.read_bytes()))
    assert [(d.image_id, d.caption) for d in read] == [
        (999, "picture 1"), (999, "picture 1"), ("b-2", "picture 2"),
    ]  # fmt: skip
    assert [d.rounds for d in read] == [expected(name) for name in (one, two, late)]


def test_what_the_team_did_in_a_dialog_is_not_in_it(engine: Engine, tmp_path: Path) -> None:
    with engine.begin() as connection:
        item = add_item(connection, 1)
        hold(connection, item, 1, steered=True)
        hold(connection, item, 2, messages=4, steered=True, ends=True)
        done = export_visdial(connection, "study", tmp_path / "out")
    assert done.left_out == {LeftOut.ABANDONED: 1}
    assert b"TOLDBYTHETEAM".lower() not in done.file.read_bytes().lower()
    read = read_visdial(json.loads(done.file.read_bytes()))
    assert [d.rounds for d in read] == [expected(f"{item}-1")]


def test_only_complete_dialogs_come_out(engine: Engine, tmp_path: Path) -> None:
    with engine.begin() as connection:
        items = [add_item(connection, n) for n in range(5)]
        kept = hold(connection, items[0])
        hold(connection, items[1], messages=4, leaves=Role.QUESTIONER)
        hold(connection, items[1], 2, messages=5, leaves=Role.ANSWERER)
        hold(connection, items[2], messages=3)
        reject(connection, hold(connection, items[3]))
        again = hold(connection, items[3], 1, name="again")
        accepted = hold(connection, items[4])
        connection.execute(
            update(t.dialogs).where(t.dialogs.c.id == accepted).values(acceptance="accepted")
        )
        hold(connection, add_item(connection, 9, "other"), study="other")
        abandoned = hold(connection, items[4], 2, messages=2)
        connection.execute(
            update(t.dialogs)
            .where(t.dialogs.c.id == abandoned)
            .values(phase="ended", outcome="abandoned")
        )
        done = export_visdial(connection, "study", tmp_path / "out")
    assert done.left_out == {
        LeftOut.SOLO: 2, LeftOut.RUNNING: 1, LeftOut.REJECTED: 1, LeftOut.ABANDONED: 1,
    }  # fmt: skip
    read = read_visdial(json.loads(done.file.read_bytes()))
    assert [d.rounds for d in read] == [expected(name) for name in (kept, again, accepted)]
    manifest = json.loads((tmp_path / "out" / MANIFEST).read_bytes())
    assert manifest["dialogs"] == 3
    assert manifest["left_out"] == {"abandoned": 1, "rejected": 1, "running": 1, "solo": 2}
    assert set(manifest["files"]) == {"visdial_1.0_train.json"}


def test_a_dialog_with_erased_words_is_no_data_any_more(engine: Engine, tmp_path: Path) -> None:
    with engine.begin() as connection:
        item = add_item(connection, 1)
        kept, gone, rejected = (hold(connection, item, place) for place in (1, 2, 3))
        reject(connection, rejected)
        for name in (gone, rejected):
            worker = f"WORKERID-{Role.ANSWERER}-{name}"
            connection.execute(
                t.seats.insert(),
                {"dialog_id": name, "role": "answerer", "arrival_id": f"ARRIVALID-answerer-{name}",
                 "worker_id": worker, "item_id": item, "status": "done"},
            )  # fmt: skip
            connection.execute(
                t.erasures.insert(), {"worker_id": worker, "at": 1.0, "arrivals": 1, "texts": 3}
            )
        done = export_visdial(connection, "study", tmp_path / "out")
    assert done.left_out == {LeftOut.ERASED: 1, LeftOut.REJECTED: 1}
    read = read_visdial(json.loads(done.file.read_bytes()))
    assert [d.rounds for d in read] == [expected(kept)]
    manifest = json.loads((tmp_path / "out" / MANIFEST).read_bytes())
    assert manifest["left_out"] == {"erased": 1, "rejected": 1}


def test_invariant_9_nothing_of_the_people_is_exported(engine: Engine, tmp_path: Path) -> None:
    with engine.begin() as connection:
        name = hold(connection, add_item(connection, 1), name="plain")
        stored = connection.execute(t.events.select()).all()
        export_visdial(connection, "study", tmp_path / "out")
    assert any("WORKERID" in row.data for row in stored), "the record does hold them"
    written = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert name.encode() in written
    for secret in SECRETS:
        assert secret.encode() not in written


def test_the_same_record_gives_the_same_bytes(engine: Engine, tmp_path: Path) -> None:
    with engine.begin() as connection:
        for number in range(4):
            hold(connection, add_item(connection, number))
        for out in ("one", "two"):
            export_visdial(connection, "study", tmp_path / out)
    one, two = (
        {p.name: p.read_bytes() for p in (tmp_path / out).iterdir()} for out in ("one", "two")
    )
    assert one == two
    assert len(one) == 2


def test_many_dialogs_keep_their_order_and_their_messages(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dialogs.record.collected._CHUNK", 3)
    with engine.begin() as connection:
        names = [hold(connection, add_item(connection, number)) for number in range(10)]
        done = export_visdial(connection, "study", tmp_path / "out")
    read = read_visdial(json.loads(done.file.read_bytes()))
    assert [d.rounds for d in read] == [expected(name) for name in names]


def test_an_export_replaces_an_older_one(engine: Engine, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with engine.begin() as connection:
        hold(connection, add_item(connection, 1))
        export_visdial(connection, "study", out, "val")
        hold(connection, add_item(connection, 2))
        done = export_visdial(connection, "study", out, "train")
    assert len(read_visdial(json.loads(done.file.read_bytes()))) == 2
    assert {path.name for path in out.iterdir()} == {"visdial_1.0_train.json", MANIFEST}
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_a_study_without_a_complete_dialog_writes_nothing(engine: Engine, tmp_path: Path) -> None:
    with engine.begin() as connection:
        hold(connection, add_item(connection, 1), messages=2)
        with pytest.raises(ExportError, match=r"no complete dialog yet \(1 running\)"):
            export_visdial(connection, "study", tmp_path / "out")
        with pytest.raises(ExportError, match="none at all"):
            export_visdial(connection, "unknown", tmp_path / "out")
        with pytest.raises(ExportError, match="must be a word"):
            export_visdial(connection, "study", tmp_path / "out", "../val")
    assert not (tmp_path / "out").exists()


def test_a_record_that_breaks_the_rules_is_not_exported(engine: Engine, tmp_path: Path) -> None:
    with engine.begin() as connection:
        name = hold(connection, add_item(connection, 1))
        said = (t.events.c.dialog_id == name) & (t.events.c.seq == 3)
        connection.execute(t.events.delete().where(said))
        with pytest.raises(ExportError, match="does not alternate"):
            export_visdial(connection, "study", tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- The folder ----------------------------------------------------------------------------


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write_folder(tmp_path / "out", {"a.json": b"{}"}, {})
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"a.json", MANIFEST}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("notes.txt", "mine"),
        (MANIFEST, "{}"),
        (MANIFEST, '{"kind": "another", "files": {}}'),
        (MANIFEST, "not json"),
        (MANIFEST, "[]"),
        (".hidden", ""),
    ],
)
def test_other_files_are_never_overwritten(tmp_path: Path, name: str, content: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text(content)
    with pytest.raises(ExportError, match="holds other files"):
        write_folder(out, {"a.json": b"{}"}, {})
    assert (out / name).read_text() == content
    assert [path.name for path in tmp_path.rglob("*")] == ["out", name]


def test_a_file_put_beside_an_export_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_folder(out, {"a.json": b"old"}, {})
    (out / "notes.txt").write_text("mine")
    with pytest.raises(ExportError, match=r"holds notes\.txt beside an export"):
        write_folder(out, {"a.json": b"new"}, {})
    assert (out / "a.json").read_bytes() == b"old"


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(ExportError, match="Not a directory"):
        write_folder(tmp_path / "out", {}, {})
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("fails_at", ["fsync", "rename"])
def test_an_export_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, older: bool, fails_at: str
) -> None:
    out = tmp_path / "out"
    if older:
        write_folder(out, {"a.json": b"old"}, {})
    before = {path.name: path.read_bytes() for path in tmp_path.rglob("*.json")}
    if fails_at == "fsync":

        def full(_descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
    else:
        rename = Path.rename

        def busy(self: Path, target: Path) -> Path:
            if self.name.endswith(".partial"):
                raise OSError(16, "Device or resource busy")
            return rename(self, target)

        monkeypatch.setattr(Path, "rename", busy)
    with pytest.raises(ExportError, match=r"cannot be written: (No space|Device)"):
        write_folder(out, {"a.json": b"new", "b.json": b"new"}, {})
    assert {path.name: path.read_bytes() for path in tmp_path.rglob("*.json")} == before
    assert {path.name for path in tmp_path.iterdir()} == ({"out"} if older else set())
