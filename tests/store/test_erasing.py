"""Erasing people: nothing of them is left in the record or its files, and every count is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, select, update

from dialogs.dialog import EndByTeam, Say, Tell, decide
from dialogs.events import Meta, Part, Settlement
from dialogs.record import decisions, erasing, requests
from dialogs.record import hits as hit_rows
from dialogs.record.audit import audited
from dialogs.record.erasing import MARK, Person
from dialogs.record.errors import Conflict
from dialogs.record.excluding import excluded
from dialogs.record.hits import AssignmentRow
from dialogs.record.notes import noted
from dialogs.record.store import Record
from dialogs.record.stuck import OVER
from dialogs.record.tables import (
    arrivals,
    assignments,
    dialogs,
    erasures,
    hits,
    ledger,
    metadata,
    payment_steps,
    releases,
    workers,
)
from dialogs.record.writer import Decision, together
from dialogs.rules import (
    ERASED,
    ArrivalStatus,
    AssignmentStatus,
    LedgerState,
    Phase,
    Release,
    ReportKind,
    RequestKind,
    Role,
)
from dialogs.state import begin
from tests.records import (
    STUDY,
    begin_study,
    commit_all,
    opened,
    opening,
    opening_of,
    rows_of,
    state_of,
)

WORDS = ("SAIDBYZERO", "FELTBYZERO", "REPORTEDBYZERO", "LEFTBYZERO", "KEYOFZERO")
NAMES = (
    "person-0",
    "ADDRESSOFZERO",
    "CODEOFZERO",
    "SUBMITTOZERO",
    "NOTEFORZERO",
    "DETAILOFZERO",
    "NOTEDOFZERO",
    "WRITTENTOZERO",
    "WHYNOTZERO",
)


def pseudonym(recruiter: str, external_id: str) -> str:
    return f"{ERASED}{recruiter}-{len(external_id)}-{hash(external_id) & 0xFFFF}"


def erase(record: Record, url: str, *people: int, now: float = 500.0) -> bool:
    return erasing.erase(url, [f"worker-{n}" for n in people], pseudonym, now)


async def look(record: Record, *people: int) -> list[Person]:
    return await record.read(erasing.people, [f"worker-{n}" for n in people])


def change(record: Record, *statements: Any) -> None:
    with record.engine.begin() as connection:
        for statement in statements:
            connection.execute(statement)


async def a_life(record: Record) -> None:
    """Persons 0 and 1 hold a dialog and are paid; person 2 has gone home from the lobby."""
    await begin_study(record, people=3)
    await record.writer.commit(opening("d", 0, 1))
    state = begin("d", opening_of("d", 0, 1))
    said = (
        (Role.QUESTIONER, "SAIDBYZERO one", "KEYOFZERO"),
        (Role.ANSWERER, "SAIDBYONE one", "k-2"),
        (Role.QUESTIONER, "SAIDBYZERO two", "k-3"),
        (Role.ANSWERER, "SAIDBYONE two", "k-4"),
    )
    for n, (role, words, key) in enumerate(said):
        command = Say(role, key, (Part(words),), Meta(pasted=True, composed_ms=1234, edits=7))
        answer = decide(state, command, 1_700_000_010.0 + n)
        assert isinstance(answer, tuple)
        decision, state = decisions.happenings(state, answer, "CODEOF-{}".format)
        await record.writer.commit(decision)
    assert state.phase is Phase.ENDED
    await commit_all(
        record,
        decisions.release_unseated("arrival-2", ArrivalStatus.WAITING, Release.RETURNED, 0, "USD",
                                   90.0, "CODEOF-{}".format),
        decisions.feedback("arrival-0", "FELTBYZERO", 100.0),
        decisions.feedback("arrival-1", "FELTBYONE", 100.0),
        decisions.report("r-0", "arrival-0", ReportKind.PROBLEM, "REPORTEDBYZERO", 101.0),
        decisions.report("r-1", "arrival-0", ReportKind.LEAVING, "LEFTBYZERO", 102.0),
        decisions.report("r-2", "arrival-1", ReportKind.PROBLEM, "REPORTEDBYONE", 103.0),
    )  # fmt: skip
    rows = [
        {"study_id": STUDY, "id": "assignment-0", "hit_id": "h", "worker": "person-0",
         "status": "approved", "code": "CODEOFZERO", "submitted_at": 1.0},
        {"study_id": STUDY, "id": "opened-by-nobody", "hit_id": "h", "worker": "person-0",
         "status": "returned", "code": None, "submitted_at": None},
        {"study_id": STUDY, "id": "assignment-1", "hit_id": "h", "worker": "person-1",
         "status": "approved", "code": "CODEOFONE", "submitted_at": 1.0},
    ]  # fmt: skip
    hit = {"id": "h", "study_id": STUDY, "recruiter": "link", "token": "t", "state": "closed",
           "seats": 3, "reward": 50, "currency": "USD", "created_at": 1.0}  # fmt: skip
    step = {"arrival_id": "arrival-0", "reason": "dialog", "step": "bonus", "key": "k",
            "started_at": 1.0, "done_at": 2.0, "detail": '{"id": "DETAILOFZERO"}'}  # fmt: skip
    mine = arrivals.c.id == "arrival-0"
    change(
        record,
        hits.insert().values(hit),
        assignments.insert().values(rows),
        payment_steps.insert().values(step),
        update(ledger).values(state="paid", paid_at=3.0, note="NOTEFORZERO"),
        update(ledger).where(ledger.c.arrival_id == "arrival-1").values(note="NOTEFORONE"),
        update(releases).where(releases.c.arrival_id == "arrival-0").values(code="CODEOFZERO"),
        # Written and overwritten, as a life in the lobby does.
        *(update(arrivals).where(mine).values(waited_s=n, address="ADDRESSOFZERO")
          for n in range(5)),
        update(arrivals).where(mine).values(submit_to="SUBMITTOZERO"),
    )  # fmt: skip
    ask, text = RequestKind.MESSAGE, {"subject": "s", "text": "WRITTENTOZERO"}
    why = audited(STUDY, None, "worker.exclude", "worker-0", None, {"why": "WHYNOTZERO"}, 5.0)
    await commit_all(
        record,
        noted("n", "worker-0", None, "NOTEDOFZERO", 5.0),
        requests.asked(STUDY, "one", None, ask, "worker-0", text, 5.0),
        requests.asked(STUDY, "two", None, ask, "arrival-0", text, 5.0),
        together(excluded("worker-0", "WHYNOTZERO", 5.0), Decision("worker-0", (why,))),
        noted("other", "worker-1", None, "NOTEDOFONE", 5.0),
    )


def everything(record: Record) -> dict[str, list[dict[str, Any]]]:
    return {table.name: rows_of(record, table) for table in metadata.sorted_tables}


def of_zero(row: dict[str, Any]) -> bool:
    return any(str(value) in ("worker-0", "arrival-0") for value in row.values())


async def test_nothing_of_the_person_is_left_and_all_of_everybody_else(database_url: str) -> None:
    async with opened(database_url) as record:
        await a_life(record)
        before = everything(record)
        text = repr(before)
        assert all(word in text for word in (*WORDS, *NAMES))
        assert '"composed_ms":1234' in text
        [zero] = await look(record, 0)
        assert zero.may_be_erased
        assert (zero.arrivals, zero.texts, zero.erased_before) == (("arrival-0",), 5, False)
        assert erase(record, database_url, 0)
        after = everything(record)

        left = repr(after)
        assert [word for word in (*WORDS, *NAMES) if word in left] == []
        for word in ("SAIDBYONE one", "FELTBYONE", "REPORTEDBYONE", "NOTEFORONE", "CODEOFONE",
                     "NOTEDOFONE"):  # fmt: skip
            assert word in left
        assert after.pop("erasures") == [
            {"worker_id": "worker-0", "at": 500.0, "arrivals": 1, "texts": 5}
        ]
        before.pop("erasures")
        for name, rows in after.items():
            assert len(rows) == len(before[name]), name
        # Of each row that is of the person, only what says who they are or what they wrote.
        changed = {
            (name, key)
            for name, rows in after.items()
            for was, now in zip(sorted(before[name], key=repr_of(name)),
                                sorted(rows, key=repr_of(name)), strict=True)
            for key in now
            if now[key] != was[key]
        }  # fmt: skip
        assert changed == {
            ("arrivals", "address"), ("arrivals", "feedback"), ("arrivals", "submit_to"),
            ("assignments", "code"), ("assignments", "worker"), ("events", "data"),
            ("ledger", "note"), ("payment_steps", "detail"), ("releases", "code"),
            ("reports", "text"), ("workers", "external_id"),
            ("audit", "after"), ("team_requests", "data"), ("team_requests", "problem"),
            ("team_requests", "state"), ("worker_notes", "text"), ("workers", "excluded_why"),
        }  # fmt: skip
        for name, rows in before.items():
            kept = [row for row in rows if not of_zero(row)]
            if name not in ("events", "assignments"):
                assert all(row in after[name] for row in kept), name


def repr_of(name: str) -> Any:
    keys = [column.name for column in metadata.tables[name].primary_key.columns]
    return lambda row: [str(row[key]) for key in keys]


async def test_the_dialog_can_still_be_read_with_its_rounds(database_url: str) -> None:
    async with opened(database_url) as record:
        await a_life(record)
        before = await state_of(record, "d")
        erase(record, database_url, 0)
        after = await state_of(record, "d")
        assert [m.said.text for m in after.messages] == [
            MARK, "SAIDBYONE one", MARK, "SAIDBYONE two"
        ]  # fmt: skip
        for was, now in zip(before.messages, after.messages, strict=True):
            assert (was.seq, was.said.round, was.said.role, was.said.at) == (
                now.seq, now.said.round, now.said.role, now.said.at
            )  # fmt: skip
        assert (before.seq, before.outcome, before.seats) == (
            after.seq, after.outcome, after.seats
        )  # fmt: skip
        assert len(after.keys) == 4
        typed = Meta(pasted=True, composed_ms=1234, edits=7)
        assert [m.said.meta for m in after.messages] == [Meta(), typed, Meta(), typed]


async def test_what_the_team_wrote_in_their_dialogs_is_erased_with_it(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=4, items=("dog", "cat"))
        for name, pair, item in (("d", (0, 1), "dog"), ("others", (2, 3), "cat")):
            await record.writer.commit(opening(name, *pair, item))
            state = begin(name, opening_of(name, *pair, item))
            for command in (
                Tell("k1", Role.QUESTIONER, f"TOLDTOONE in {name}"),
                Tell("k2", Role.ANSWERER, f"TOLDTOTHEOTHER in {name}"),
                Tell("k3", None, f"TOLDTOBOTH in {name}"),
                EndByTeam("k4", f"REASON in {name}", {Role.QUESTIONER: 0, Role.ANSWERER: 0}),
            ):
                answer = decide(state, command, 1_700_000_010.0)
                assert isinstance(answer, tuple)
                decision, state = decisions.happenings(state, answer, "CODEOF-{}".format)
                await record.writer.commit(decision)
        before = await state_of(record, "d")
        [zero] = await look(record, 0)
        assert (zero.may_be_erased, zero.texts) == (True, 4)
        assert erase(record, database_url, 0)
        after = await state_of(record, "d")
        assert [m.told.text for m in after.told] == [MARK] * 3
        assert after.reason == MARK
        assert [(m.seq, m.told.to, m.told.key) for m in after.told] == [
            (m.seq, m.told.to, m.told.key) for m in before.told
        ]
        assert (after.seats, after.ended_by_team) == (before.seats, True)
        release = Settlement("arrival-1", Release.ENDED_BY_TEAM, 0)
        assert after.seats[Role.ANSWERER].settlement == release
        others = await state_of(record, "others")
        assert [m.told.text.split()[0] for m in others.told] == [
            "TOLDTOONE", "TOLDTOTHEOTHER", "TOLDTOBOTH"
        ]  # fmt: skip
        assert others.reason == "REASON in others"
        # The other of the two is erased later: nothing is left to be erased of the team's words.
        [one] = await look(record, 1)
        assert one.texts == 0


async def test_an_end_without_a_reason_stays_without(database_url: str) -> None:
    async with opened(database_url) as record:
        await a_life(record)
        erase(record, database_url, 0)
        assert (await state_of(record, "d")).reason == ""


async def test_no_byte_of_it_stays_in_the_files(sqlite_url: str, tmp_path: Path) -> None:
    def careless(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA secure_delete=OFF")

    # As SQLite is where its builder has not chosen otherwise.
    event.listen(Engine, "connect", careless, insert=True)
    try:
        async with opened(sqlite_url) as record:
            await a_life(record)
            path = Path(record.engine.url.database or "")

            def files() -> bytes:
                return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))

            assert all(word.encode() in files() for word in (*WORDS, *NAMES))
            # The server that runs keeps its connections open.
            assert erase(record, sqlite_url, 0)
            assert [word for word in (*WORDS, *NAMES) if word.encode() in files()] == []
            assert b"SAIDBYONE" in files()
    finally:
        event.remove(Engine, "connect", careless)


async def test_who_reads_for_long_keeps_the_files_from_being_swept(sqlite_url: str) -> None:
    async with opened(sqlite_url) as record:
        await a_life(record)
        with record.engine.connect().execution_options(reading=True) as reader:
            reader.execute(select(workers)).all()
            assert not erase(record, sqlite_url, 0)
        assert [row["worker_id"] for row in rows_of(record, erasures)] == ["worker-0"]
        # Nothing is left to be erased, and nothing is noted again; the files are swept.
        assert erase(record, sqlite_url, 0, now=600.0)
        assert [row["at"] for row in rows_of(record, erasures)] == [500.0]


async def test_what_came_later_is_erased_by_a_second_time(database_url: str) -> None:
    async with opened(database_url) as record:
        await a_life(record)
        erase(record, database_url, 0)
        name = rows_of(record, workers)[0]["external_id"]
        await record.writer.commit(decisions.feedback("arrival-0", "AGAINBYZERO", 510.0))
        [zero] = await look(record, 0)
        assert (zero.texts, zero.erased_before) == (1, True)
        erase(record, database_url, 0, now=600.0)
        assert "AGAINBYZERO" not in repr(everything(record))
        assert rows_of(record, workers)[0]["external_id"] == name
        assert [(row["at"], row["texts"]) for row in rows_of(record, erasures)] == [
            (500.0, 5), (600.0, 1)
        ]  # fmt: skip


async def test_work_taken_since_then_is_erased_by_a_second_time(database_url: str) -> None:
    """Work that no arrival tells of comes with the id that the recruiter knows them by."""
    async with opened(database_url) as record:
        await a_life(record)
        erase(record, database_url, 0)
        name = rows_of(record, workers)[0]["external_id"]
        rows = [
            AssignmentRow(each, "h", who, AssignmentStatus.SUBMITTED, "CODE", 9.0)
            for each, who in (("taken-since", "person-0"), ("of-another", "person-9"))
        ]
        await record.writer.commit(hit_rows.assignments_seen(STUDY, rows, []))
        erase(record, database_url, 0, now=600.0)
        found = {row["id"]: (row["worker"], row["code"]) for row in rows_of(record, assignments)}
        assert found["taken-since"] == (name, None)
        assert found["of-another"] == ("person-9", "CODE")


# --- In the way ----------------------------------------------------------------------------


async def refused(record: Record, url: str, *people: int) -> None:
    before = everything(record)
    with pytest.raises(Conflict, match="look again"):
        erase(record, url, *people)
    assert everything(record) == before


@pytest.mark.parametrize("state", [each for each in LedgerState if each not in OVER])
async def test_nobody_is_erased_who_is_still_to_be_paid(
    database_url: str, state: LedgerState
) -> None:
    async with opened(database_url) as record:
        await a_life(record)
        change(record, update(ledger).where(ledger.c.arrival_id == "arrival-0")
                                     .values(state=state.value))  # fmt: skip
        [zero] = await look(record, 0)
        assert [p.state for p in zero.unpaid] == [state]
        # The other one goes on with neither.
        await refused(record, database_url, 1, 0)


@pytest.mark.parametrize("status", [each for each in ArrivalStatus
                                    if each is not ArrivalStatus.RELEASED])  # fmt: skip
async def test_nobody_is_erased_who_is_inside(database_url: str, status: ArrivalStatus) -> None:
    async with opened(database_url) as record:
        await a_life(record)
        another = {"id": "arrival-9", "study_id": STUDY, "worker_id": "worker-0",
                   "assignment_id": "assignment-9", "status": status.value, "language": "en",
                   "created_at": 1_800_000_000.0}  # fmt: skip
        change(record, arrivals.insert().values(another))
        [zero] = await look(record, 0)
        assert (zero.arrivals, zero.inside) == (("arrival-0", "arrival-9"), ("arrival-9",))
        await refused(record, database_url, 0)


async def test_nobody_is_erased_whose_partner_is_still_in_the_dialog(database_url: str) -> None:
    async with opened(database_url) as record:
        await a_life(record)
        change(record, update(dialogs).values(phase=Phase.SOLO.value))
        [zero] = await look(record, 0)
        assert zero.running == ("arrival-0",)
        await refused(record, database_url, 0)


async def test_all_are_erased_or_none(database_url: str) -> None:
    async with opened(database_url) as record:
        await a_life(record)
        before = everything(record)

        def broken(recruiter: str, external_id: str) -> str:
            if external_id == "person-1":
                raise RuntimeError("a bug")
            return pseudonym(recruiter, external_id)

        with pytest.raises(RuntimeError):
            erasing.erase(database_url, ["worker-0", "worker-1"], broken, 500.0)
        assert everything(record) == before
        assert erase(record, database_url, 0, 1)
        assert len(rows_of(record, erasures)) == 2


# --- Coming again, and being told of again ---------------------------------------------------


async def test_an_arrival_that_crosses_with_an_erasure_conflicts(database_url: str) -> None:
    again = {"id": "arrival-9", "study_id": STUDY, "worker_id": "worker-0",
             "assignment_id": "assignment-9", "status": "arrived", "language": "en",
             "created_at": 1_800_000_000.0}  # fmt: skip
    async with opened(database_url) as record:
        await a_life(record)
        erase(record, database_url, 0)
        with pytest.raises(Conflict):
            await record.writer.commit(decisions.new_arrival(None, again, "person-0"))
        other = again | {"worker_id": "worker-1"}
        await record.writer.commit(decisions.new_arrival(None, other, "person-1"))


async def test_what_the_recruiter_tells_later_does_not_bring_them_back(database_url: str) -> None:
    async with opened(database_url) as record:
        await a_life(record)
        erase(record, database_url, 0)
        name = rows_of(record, workers)[0]["external_id"]
        told = [
            AssignmentRow(each, "h", who, AssignmentStatus.REJECTED, "CODE", 9.0)
            for each, who in (("assignment-0", "person-0"), ("opened-by-nobody", "person-0"),
                              ("assignment-1", "person-1"))
        ]  # fmt: skip
        await record.writer.commit(hit_rows.assignments_seen(STUDY, [], told))
        found = {row["id"]: (row["worker"], row["code"], row["status"], row["submitted_at"])
                 for row in rows_of(record, assignments)}  # fmt: skip
        assert found == {
            "assignment-0": (name, None, "rejected", 9.0),
            "opened-by-nobody": (name, None, "rejected", 9.0),
            "assignment-1": ("person-1", "CODE", "rejected", 9.0),
        }
        ids = ["assignment-0", "assignment-1", "unknown"]
        assert await record.read(erasing.erased_in, STUDY, ids) == {"assignment-0": name}
        assert await record.read(erasing.erased_among, ["worker-0", "worker-1"]) == {"worker-0"}


async def test_people_are_found_by_arrival_and_by_code(database_url: str) -> None:
    async with opened(database_url) as record:
        await a_life(record)
        names = ["arrival-2", "CODEOFZERO", "worker-0", "person-0", "assignment-0"]
        assert await record.read(erasing.named, STUDY, names) == {
            "arrival-2": "worker-2", "CODEOFZERO": "worker-0"
        }  # fmt: skip
        assert await record.read(erasing.named, "another", names) == {}
