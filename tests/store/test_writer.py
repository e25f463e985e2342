"""The writer: groups of decisions, each stored whole or not at all, and what failures mean."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import Connection, event, text, update
from sqlalchemy.exc import DBAPIError

from dialogs.dialog import Answer, DeadlineKind, Expire, Leave, decide
from dialogs.record import decisions, tables, writer
from dialogs.record.errors import BadRow, Conflict, Overloaded, RecordError, Unavailable
from dialogs.record.payments import given_by_hand
from dialogs.record.store import Record
from dialogs.record.writer import Decision
from dialogs.rules import Role
from dialogs.state import DialogState
from tests.records import (
    STUDY,
    begin_study,
    end_other_connections,
    never_paired,
    open_a_dialog,
    opened,
    rows_of,
    said_row,
)
from tests.services import PostgresServer


@pytest_asyncio.fixture
async def record(database_url: str) -> AsyncIterator[Record]:
    async with opened(database_url) as record:
        yield record


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[PostgresServer]:
    """A server for the tests here that kill or freeze it, and start it again."""
    with PostgresServer() as server:
        yield server


def event_of(dialog: str, seq: int = 1, **fields: object) -> Decision:
    return Decision(dialog, ((tables.events, said_row(dialog, seq, **fields)),))


def stored(record: Record) -> list[tuple[str, int]]:
    return [(row["dialog_id"], row["seq"]) for row in rows_of(record, tables.events)]


class Gate:
    """Holds the writer before a commit until it is opened."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def __call__(self) -> None:
        self.reached.set()
        assert self.open.wait(30)

    async def wait(self) -> None:
        assert await asyncio.to_thread(self.reached.wait, 30)


async def failures(record: Record, batch: list[Decision]) -> list[type[RecordError] | None]:
    """What becomes of decisions that are submitted at once."""
    futures = [record.writer.submit(decision) for decision in batch]
    results = await asyncio.gather(*futures, return_exceptions=True)
    kinds: list[type[RecordError] | None] = []
    for result in results:
        assert result is None or isinstance(result, RecordError)
        kinds.append(None if result is None else type(result))
    return kinds


# --- Groups --------------------------------------------------------------------------------


async def test_what_arrives_together_is_committed_together(record: Record) -> None:
    batch = [event_of(f"dialog-{n}") for n in range(1200)]
    assert await failures(record, batch) == [None] * 1200
    assert len(stored(record)) == 1200
    assert record.writer.stats.decisions == 1200
    assert record.writer.stats.batches <= 4
    assert record.writer.stats.largest_batch == writer.MAX_BATCH


async def test_what_arrives_during_a_commit_shares_the_next_one(database_url: str) -> None:
    gate = Gate()
    async with opened(database_url, before_commit=gate) as record:
        first = record.writer.submit(event_of("first"))
        await gate.wait()
        others = [record.writer.submit(event_of(f"other-{n}")) for n in range(50)]
        assert not first.done()
        gate.open.set()
        await asyncio.gather(first, *others)
        assert record.writer.stats.batches == 2


async def test_nobody_is_told_before_the_commit(database_url: str) -> None:
    gate = Gate()
    async with opened(database_url, before_commit=gate) as record:
        future = record.writer.submit(event_of("dialog"))
        await gate.wait()
        assert stored(record) == []
        assert not future.done()
        gate.open.set()
        await future
        assert stored(record) == [("dialog", 1)]


async def test_decisions_of_one_dialog_keep_their_order(record: Record) -> None:
    for seq in range(1, 40):
        record.writer.submit(event_of("dialog", seq))
    assert await failures(record, [event_of("dialog", 40)]) == [None]
    assert stored(record) == [("dialog", seq) for seq in range(1, 41)]


# --- Whole or not at all -------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 1, 31, 62, 63])
async def test_a_conflict_inside_a_group_takes_only_its_own_decision(
    record: Record, place: int
) -> None:
    await record.writer.commit(event_of(f"dialog-{place:02}", 2))
    batch = [
        Decision(
            f"dialog-{n:02}",
            tuple((tables.events, said_row(f"dialog-{n:02}", seq)) for seq in (1, 2, 3)),
        )
        for n in range(64)
    ]
    expected: list[type[RecordError] | None] = [None] * 64
    expected[place] = Conflict
    assert await failures(record, batch) == expected
    assert stored(record) == sorted(
        (f"dialog-{n:02}", seq) for n in range(64) for seq in ((2,) if n == place else (1, 2, 3))
    )


async def test_two_decisions_about_the_same_event_are_settled_by_the_key(record: Record) -> None:
    batch = [event_of("dialog", 1, data=f"{n}") for n in range(8)]
    assert sorted(map(str, await failures(record, batch))) == sorted(
        map(str, [None, *[Conflict] * 7])
    )
    assert stored(record) == [("dialog", 1)]


BAD_ROWS = {
    "half a surrogate": {"data": "a\ud800b"},
    "no value": {"data": None},
    "not a number": {"at": float("nan")},
    "a number without bounds": {"seq": 2**80},
    "no text": {"data": object()},
}


@pytest.mark.parametrize("fields", BAD_ROWS.values(), ids=BAD_ROWS)
async def test_a_bad_row_inside_a_group_is_refused_alone(
    record: Record, fields: dict[str, object]
) -> None:
    batch = [event_of(f"dialog-{n}") for n in range(9)]
    batch[4] = Decision(
        "dialog-4",
        (
            (tables.events, said_row("dialog-4", 1)),
            (tables.events, {**said_row("dialog-4", 2), **fields}),
        ),
    )
    expected: list[type[RecordError] | None] = [None] * 9
    expected[4] = BadRow
    assert await failures(record, batch) == expected
    assert [dialog for dialog, _ in stored(record)] == [f"dialog-{n}" for n in range(9) if n != 4]


async def test_a_nul_is_refused_where_the_database_cannot_hold_it(record: Record) -> None:
    batch = [event_of("a"), event_of("b", data="x\x00y"), event_of("c")]
    answers = await failures(record, batch)
    if record.engine.dialect.name == "postgresql":
        assert answers == [None, BadRow, None]
    else:
        assert answers == [None] * 3
        assert rows_of(record, tables.events)[1]["data"] == "x\x00y"


async def test_a_key_too_long_for_an_index_is_refused_alone(record: Record) -> None:
    """One person's odd id must not keep everybody else's decisions from being stored."""
    monster = "".join(chr(0x4E00 + n * 7919 % 20000) for n in range(9000))
    answers = await failures(record, [event_of("a"), event_of(f"b{monster}"), event_of("c")])
    refused = BadRow if record.engine.dialect.name == "postgresql" else None
    assert answers == [None, refused, None]


async def test_a_row_without_its_parent_is_refused(record: Record) -> None:
    row = {"id": "r", "arrival_id": "nobody", "kind": "problem", "text": "help", "at": 1.0}
    batch = [event_of("a"), Decision("b", ((tables.reports, row),)), event_of("c")]
    assert await failures(record, batch) == [None, BadRow, None]


async def test_a_guard_that_finds_no_row_takes_its_whole_decision_back(record: Record) -> None:
    await begin_study(record, people=1)
    change = decisions.ready("arrival-0", 5.0).changes[0]
    guarded = Decision("b", ((tables.events, said_row("b", 1)),), (change,))
    assert await failures(record, [event_of("a"), guarded, event_of("c")]) == [None, Conflict, None]
    assert stored(record) == [("a", 1), ("c", 1)]


async def test_two_changes_of_one_row_at_a_time_are_both_made(record: Record) -> None:
    await begin_study(record, people=2)
    texts = [decisions.feedback("arrival-0", text, 9.0) for text in ("first", "second")]
    batch = [texts[0], decisions.feedback("arrival-1", "third", 9.0), texts[1]]
    assert await failures(record, batch) == [None, None, None]
    assert [row["feedback"] for row in rows_of(record, tables.arrivals)] == ["second", "third"]


async def test_of_two_changes_that_exclude_each_other_one_is_made(record: Record) -> None:
    await begin_study(record, people=1)
    both = [decisions.unready("arrival-0", 9.0, missed_start=missed) for missed in (True, False)]
    assert sorted(await failures(record, both), key=str) == [Conflict, None]
    (row,) = rows_of(record, tables.arrivals)
    assert (row["status"], row["waited_s"]) == ("arrived", 9.0)


async def test_two_processes_that_decide_about_the_same_dialogs_do_not_block_each_other(
    migrated_postgres_url: str,
) -> None:
    """Each adds a decision of another kind, which would put the statements in another order."""

    def far_away(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("UPDATE"):
            time.sleep(0.001)

    pairs, rounds = 4, 5
    async with opened(migrated_postgres_url) as first, opened(migrated_postgres_url) as second:
        items = [f"i{n}" for n in range(pairs * rounds)]
        await begin_study(first, people=2 * len(items) + rounds, items=items)
        states = [
            await open_a_dialog(first, f"dialog-{n:02}", 2 * n, 2 * n + 1, item)
            for n, item in enumerate(items)
        ]
        for record in (first, second):
            event.listen(record.engine, "before_cursor_execute", far_away)
        for n in range(rounds):
            dialogs = states[pairs * n : pairs * (n + 1)]
            left = [decide(state, Leave(Role.QUESTIONER), 5.0) for state in dialogs]
            over = [decide(state, Expire(DeadlineKind.LIMIT, None, 1), 9e9) for state in dialogs]
            ours = [*_happenings(dialogs, left), never_paired(2 * len(items) + n)]
            theirs = _happenings(dialogs, over)
            found = await asyncio.gather(
                *(first.writer.submit(each) for each in ours),
                *(second.writer.submit(each) for each in theirs),
                return_exceptions=True,
            )
            assert not any(isinstance(each, Unavailable) for each in found), found
            assert found[len(ours) - 1] is None
            assert [each is None for each in found].count(True) == pairs + 1


def _happenings(states: list[DialogState], answers: list[Answer]) -> list[Decision]:
    made = []
    for state, answer in zip(states, answers, strict=True):
        assert isinstance(answer, tuple)
        code = partial("{}-{}".format, answer[0].kind)
        made.append(decisions.happenings(state, answer, code)[0])
    return made


async def test_a_change_is_taken_back_with_the_rows_that_conflict(record: Record) -> None:
    await begin_study(record, people=1)
    await record.writer.commit(event_of("taken"))
    unready = decisions.unready("arrival-0", 9.0, missed_start=True)
    both = Decision("a", ((tables.events, said_row("taken", 1)),), unready.changes)
    assert await failures(record, [both]) == [Conflict]
    (row,) = rows_of(record, tables.arrivals)
    assert (row["status"], row["waited_s"]) == ("waiting", 0.0)


# --- Who waits -----------------------------------------------------------------------------


async def test_a_caller_who_is_cancelled_cancels_nothing(database_url: str) -> None:
    gate = Gate()
    async with opened(database_url, before_commit=gate) as record:
        caller = asyncio.create_task(record.writer.commit(event_of("in-flight")))
        await gate.wait()
        waiting = asyncio.create_task(record.writer.commit(event_of("waiting")))
        await asyncio.sleep(0)
        for task in (caller, waiting):
            task.cancel()
        gate.open.set()
        await record.writer.commit(event_of("later"))
        assert caller.cancelled()
        assert waiting.cancelled()
        assert [dialog for dialog, _ in stored(record)] == ["in-flight", "later", "waiting"]


async def test_a_cancelled_future_neither_stops_the_decision_nor_the_writer(
    record: Record,
) -> None:
    record.writer.submit(event_of("a")).cancel()
    record.writer.submit(event_of("a")).cancel()
    await asyncio.wait_for(record.writer.commit(event_of("b")), 30)
    assert stored(record) == [("a", 1), ("b", 1)]


async def test_a_cancelled_caller_of_a_decision_that_fails_disturbs_nobody(record: Record) -> None:
    await record.writer.commit(event_of("dialog"))
    caller = asyncio.create_task(record.writer.commit(event_of("dialog")))
    await asyncio.sleep(0)
    caller.cancel()
    await record.writer.commit(event_of("other"))
    assert caller.cancelled()


async def test_stopping_commits_what_waits_and_takes_nothing_new(database_url: str) -> None:
    gate = Gate()
    async with opened(database_url, before_commit=gate) as record:
        futures = [record.writer.submit(event_of("first"))]
        await gate.wait()
        futures += [record.writer.submit(event_of(f"dialog-{n}")) for n in range(1100)]
        stopping = asyncio.create_task(record.writer.stop())
        await asyncio.sleep(0)
        with pytest.raises(Overloaded):
            await record.writer.commit(event_of("too-late"))
        gate.open.set()
        await stopping
        assert all(future.done() and future.exception() is None for future in futures)
        assert len(stored(record)) == 1101


async def test_a_full_queue_refuses_at_once_and_says_so(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MAX_WAITING", 3)
    gate = Gate()
    async with opened(database_url, before_commit=gate) as record:
        first = record.writer.submit(event_of("first"))
        await gate.wait()
        waiting = [record.writer.submit(event_of(f"dialog-{n}")) for n in range(3)]
        with pytest.raises(Overloaded):
            await record.writer.commit(event_of("one-too-many"))
        gate.open.set()
        await asyncio.gather(first, *waiting)
        assert len(stored(record)) == 4


# --- Outages -------------------------------------------------------------------------------


async def test_a_connection_that_is_ended_before_the_commit_leaves_nothing(
    migrated_postgres_url: str,
) -> None:
    killer: list[Record] = []

    def kill() -> None:
        if killer:
            end_other_connections(killer.pop())

    async with (
        opened(migrated_postgres_url, serving=False) as other,
        opened(migrated_postgres_url, before_commit=kill) as record,
    ):
        killer.append(other)
        with pytest.raises(Unavailable):
            await record.writer.commit(event_of("dialog"))
        assert stored(other) == []
        await record.writer.commit(event_of("dialog"))
        assert stored(record) == [("dialog", 1)]


@pytest.mark.parametrize("committed", [True, False])
async def test_after_an_unknown_outcome_the_record_tells(
    database_url: str, committed: bool
) -> None:
    """The answer to a commit is lost: whoever decides again must find out what became of it."""
    lost = ConnectionResetError("the answer to the commit is lost")

    def fail_once() -> None:
        if faults:
            raise faults.pop()

    faults: list[Exception] = [lost]
    hook = "after_commit" if committed else "before_commit"
    async with opened(database_url, **{hook: fail_once}) as record:
        assert await failures(record, [event_of("a"), event_of("b")]) == [Unavailable] * 2
        assert stored(record) == ([("a", 1), ("b", 1)] if committed else [])
        again = [Conflict if committed else None] * 2
        assert await failures(record, [event_of("a"), event_of("b")]) == again
        assert stored(record) == [("a", 1), ("b", 1)]


async def test_the_server_dying_during_commits_loses_nothing_that_was_acknowledged(
    own_postgres: PostgresServer,
) -> None:
    url = own_postgres.create_database()
    async with opened(url) as record:
        acknowledged, unknown = [], []
        for n in range(60):
            if n == 30:
                killed = asyncio.create_task(asyncio.to_thread(own_postgres.kill))
            try:
                await record.writer.commit(event_of(f"dialog-{n:03}"))
                acknowledged.append(f"dialog-{n:03}")
            except Unavailable:
                unknown.append(f"dialog-{n:03}")
        await killed
        with pytest.raises(Unavailable):
            await record.writer.commit(event_of("nobody-there"))
        own_postgres.start(wait=False)
        await asyncio.to_thread(own_postgres.wait_ready)
        found = {dialog for dialog, _ in stored(record)}
        assert set(acknowledged) <= found <= {*acknowledged, *unknown}
        await record.writer.commit(event_of("afterwards"))


def ask(connection: Connection) -> None:
    connection.execute(text("SELECT 1"))


async def test_a_frozen_server_is_given_up_and_taken_up_again(
    own_postgres: PostgresServer,
) -> None:
    """Its sockets stay open and its kernel goes on answering, so only a clock of ours helps."""
    url = own_postgres.create_database()
    async with opened(url) as record:
        await record.writer.commit(event_of("before"))
        held = record.engine.connect()
        ask(held)
        own_postgres.pause()
        try:
            started = time.monotonic()
            answers = await asyncio.wait_for(
                asyncio.gather(
                    record.writer.commit(event_of("during")),
                    record.read(ask),
                    asyncio.to_thread(ask, held),
                    return_exceptions=True,
                ),
                30,
            )
            assert time.monotonic() - started < 8
            given_up = answers.pop()
            assert [type(answer) for answer in answers] == [Unavailable, Unavailable]
            # A late answer must not be taken for that of a later statement.
            assert isinstance(given_up, DBAPIError)
            assert given_up.connection_invalidated
            # New connections are not answered either.
            with pytest.raises(Unavailable):
                await asyncio.wait_for(record.writer.commit(event_of("still")), 30)
        finally:
            own_postgres.resume()
            held.close()
        await record.writer.commit(event_of("after"))
        assert {("before", 1), ("after", 1)} <= set(stored(record))


async def test_a_row_that_another_holds_is_given_up_after_seconds(
    migrated_postgres_url: str,
) -> None:
    async with opened(migrated_postgres_url) as record:
        await begin_study(record, people=1)
        with record.engine.connect() as holder:
            holder.execute(update(tables.arrivals).values(language="ar"))
            waiting = decisions.unready("arrival-0", 1.0, missed_start=False)
            assert await failures(record, [waiting, event_of("dialog")]) == [Unavailable] * 2
        assert await failures(record, [waiting, event_of("dialog")]) == [None] * 2


async def test_a_locked_file_is_given_up_after_seconds(sqlite_url: str) -> None:
    async with opened(sqlite_url) as record:
        holder = sqlite3.connect(record.engine.url.database or "", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        try:
            assert await failures(record, [event_of("a"), event_of("b")]) == [Unavailable] * 2
            assert await record.read(ask) is None
        finally:
            holder.rollback()
            holder.close()
        assert await failures(record, [event_of("a"), event_of("b")]) == [None] * 2


SECRET = "WHOISIT"


def worker_known_twice() -> Iterator[Decision]:
    """Somebody comes by two doors at the same moment."""
    for name in ("w-1", "w-2"):
        row = {"id": name, "study_id": STUDY, "recruiter": "link", "external_id": SECRET,
               "created_at": 1.0}  # fmt: skip
        yield Decision(name, ((tables.workers, row),))


async def test_no_error_holds_what_stood_in_the_row(record: Record) -> None:
    """Errors are logged, and rows hold ids and texts of people."""
    await begin_study(record, people=1)
    known_twice = list(worker_known_twice())
    await record.writer.commit(known_twice[0])
    refused = [
        (known_twice[1], Conflict),
        # There is no such arrival.
        (decisions.feedback(SECRET, SECRET, 1.0), Conflict),
        # A payment of nothing.
        (given_by_hand("arrival-0", "1", 0, SECRET, SECRET, 1.0), BadRow),
        (given_by_hand(SECRET, "1", 1, "USD", SECRET, 1.0), BadRow),
        (event_of("dialog", at=SECRET), BadRow),
    ]
    for decision, kind in refused:
        with pytest.raises(RecordError) as failed:
            await record.writer.commit(decision)
        assert type(failed.value) is kind
        assert str(failed.value)
        assert SECRET not in repr(failed.value)
