"""Only `opened` in the record makes a match true: it and `never_paired` cannot both happen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from sqlalchemy import update

from dialogs.dialog import Leave, PairAgain, decide
from dialogs.record import decisions, queries, studies, tables
from dialogs.record.errors import Conflict, RecordError
from dialogs.record.store import Record
from dialogs.record.writer import Decision
from dialogs.rules import ArrivalStatus, Release, Role, StudyStatus
from tests.records import (
    STUDY,
    arrival_row,
    begin_study,
    never_paired,
    open_a_dialog,
    opened,
    opening,
    rows_of,
    worker_row,
)


@pytest_asyncio.fixture
async def record(database_url: str) -> AsyncIterator[Record]:
    async with opened(database_url) as record:
        yield record


async def conflicts(record: Record, *batch: Decision) -> list[bool]:
    """For each of the decisions, submitted at once, whether it conflicts."""
    futures = [record.writer.submit(decision) for decision in batch]
    results = await asyncio.gather(*futures, return_exceptions=True)
    assert all(result is None or type(result) is Conflict for result in results), results
    return [result is not None for result in results]


def statuses(record: Record) -> dict[str, str]:
    return {row["id"]: row["status"] for row in rows_of(record, tables.arrivals)}


async def test_an_opening_seats_both_and_takes_the_place(record: Record) -> None:
    await begin_study(record)
    assert await conflicts(record, opening("d", 0, 1)) == [False]
    assert statuses(record) == {"arrival-0": "seated", "arrival-1": "seated"}
    assert [
        (row["role"], row["arrival_id"], row["status"]) for row in rows_of(record, tables.seats)
    ] == [
        ("answerer", "arrival-1", "live"),
        ("questioner", "arrival-0", "live"),
    ]
    state = await record.one(queries.dialogs_by_id, "d")
    assert state is not None
    assert {role: seat.arrival_id for role, seat in state.seats.items()} == {
        Role.QUESTIONER: "arrival-0",
        Role.ANSWERER: "arrival-1",
    }
    assert await record.read(queries.free_places, STUDY) == []


@pytest.mark.parametrize("who", [0, 1])
async def test_opened_and_never_paired_cannot_both_happen(record: Record, who: int) -> None:
    """Many times, submitted at once in either order, in one group."""
    pairs = 30
    items = [f"item-{n:02}" for n in range(pairs)]
    await begin_study(record, people=2 * pairs, items=items)
    batch: list[Decision] = []
    for n in range(pairs):
        # Groups are sorted by key: of half of them the opening comes first.
        first = f"{'a' if n % 2 else 'z'}-dialog-{n:02}"
        both = [opening(first, 2 * n, 2 * n + 1, items[n]), never_paired(2 * n + who)]
        batch += both if n % 3 else both[::-1]
    refused = await conflicts(record, *batch)
    assert all(a != b for a, b in zip(refused[::2], refused[1::2], strict=True))
    seated = {row["arrival_id"] for row in rows_of(record, tables.seats)}
    released = {row["arrival_id"] for row in rows_of(record, tables.releases)}
    assert not seated & released
    assert len(seated) == 2 * (pairs - len(released))
    assert 0 < len(released) < pairs, "one of them always wins: it is no race"
    for arrival, status in statuses(record).items():
        expected = "seated" if arrival in seated else "released"
        assert status == (expected if arrival in seated | released else "waiting")


async def test_opened_and_never_paired_race_between_two_processes(
    migrated_postgres_url: str,
) -> None:
    pairs = 40
    items = [f"item-{n:02}" for n in range(pairs)]
    async with (
        opened(migrated_postgres_url) as one,
        opened(migrated_postgres_url, serving=False) as two,
    ):
        await begin_study(one, people=2 * pairs, items=items)
        winners = {"opened": 0, "never_paired": 0}
        for n in range(pairs):
            results = await asyncio.gather(
                one.writer.commit(opening(f"dialog-{n:02}", 2 * n, 2 * n + 1, items[n])),
                two.writer.commit(never_paired(2 * n + n % 2)),
                return_exceptions=True,
            )
            kinds = sorted((type(result) for result in results), key=lambda kind: kind.__name__)
            assert kinds == [Conflict, type(None)], results
            winners["opened" if results[0] is None else "never_paired"] += 1
        seated = {row["arrival_id"] for row in rows_of(one, tables.seats)}
        released = {row["arrival_id"] for row in rows_of(one, tables.releases)}
        assert not seated & released
        assert (len(seated) // 2, len(released)) == tuple(winners.values())


async def test_of_many_openings_of_a_place_one_is_true(record: Record) -> None:
    await begin_study(record, people=16)
    batch = [opening(f"dialog-{n}", 2 * n, 2 * n + 1) for n in range(8)]
    assert sorted(await conflicts(record, *batch)) == [False] + [True] * 7
    assert len(rows_of(record, tables.dialogs)) == 1
    assert sorted(statuses(record).values()) == ["seated"] * 2 + ["waiting"] * 14


async def test_nobody_is_in_two_dialogs_at_once(record: Record) -> None:
    await begin_study(record, people=4, items=("dog", "cat", "cow"))
    batch = [
        opening("a", 0, 1, "dog"),
        opening("b", 0, 2, "cat"),
        opening("c", 3, 0, "cow"),
        opening("d", 1, 2, "cow"),
    ]
    assert await conflicts(record, *batch) == [False, True, True, True]
    assert len(rows_of(record, tables.seats)) == 2


async def test_nobody_is_paired_with_themselves(record: Record) -> None:
    await begin_study(record, people=1)
    assert await conflicts(record, opening("d", 0, 0)) == [True]
    assert statuses(record) == {"arrival-0": "waiting"}
    assert rows_of(record, tables.dialogs) == []


async def test_one_worker_with_two_arrivals_is_not_paired_with_themselves(record: Record) -> None:
    """Even if a fault let two arrivals of one worker wait, one seat is the most."""
    await begin_study(record, people=2)
    made = opening("d", 0, 1)
    rows = [
        (table, {**row, "worker_id": "worker-0"} if table is tables.seats else row)
        for table, row in made.inserts
    ]
    assert await conflicts(record, Decision("d", tuple(rows), made.changes)) == [True]
    assert rows_of(record, tables.seats) == []


async def test_nobody_gets_an_item_twice(record: Record) -> None:
    """Neither after the dialog ended nor after it was given up for a new partner."""
    await begin_study(record, people=3)
    state = await open_a_dialog(record, "first", 0, 1)
    for command in (Leave(Role.ANSWERER), PairAgain(Role.QUESTIONER)):
        events = decide(state, command, 5.0)
        assert isinstance(events, tuple)
        made, state = decisions.happenings(state, events, "code-{}".format)
        await record.writer.commit(made)
    assert statuses(record) == {
        "arrival-0": "waiting",
        "arrival-1": "released",
        "arrival-2": "waiting",
    }
    assert await record.read(queries.free_places, STUDY) == [("dog", 1)]
    assert await conflicts(record, opening("again", 0, 2)) == [True]
    await record.writer.commit(studies.new_items(STUDY, [], 1.0))
    assert statuses(record)["arrival-0"] == "waiting"


@pytest.mark.parametrize(
    "status", [s for s in ArrivalStatus if s is not ArrivalStatus.WAITING], ids=str
)
async def test_only_who_waits_is_seated(record: Record, status: ArrivalStatus) -> None:
    await begin_study(record)
    with record.engine.begin() as connection:
        change = update(tables.arrivals).where(tables.arrivals.c.id == "arrival-1")
        connection.execute(change.values(status=status.value))
    assert await conflicts(record, opening("d", 0, 1)) == [True]
    assert statuses(record)["arrival-0"] == "waiting"


async def test_nothing_opens_while_the_study_is_paused(record: Record) -> None:
    await begin_study(record)
    await record.writer.commit(studies.changed_status(STUDY, StudyStatus.PAUSED))
    assert await conflicts(record, opening("d", 0, 1)) == [True]
    assert rows_of(record, tables.dialogs) == rows_of(record, tables.events) == []
    assert set(statuses(record).values()) == {"waiting"}
    await record.writer.commit(studies.changed_status(STUDY, StudyStatus.OPEN))
    assert await conflicts(record, opening("d", 0, 1)) == [False]


async def test_a_pause_ends_nothing_that_is_open(record: Record) -> None:
    await begin_study(record)
    state = await open_a_dialog(record, "d", 0, 1)
    await record.writer.commit(studies.changed_status(STUDY, StudyStatus.PAUSED))
    events = decide(state, Leave(Role.QUESTIONER), 5.0)
    assert isinstance(events, tuple)
    made, _ = decisions.happenings(state, events, "code-{}".format)
    await record.writer.commit(made)
    assert await record.read(queries.live_dialogs, STUDY) == ["d"]


async def test_nothing_opens_in_a_study_that_is_not_there(record: Record) -> None:
    await begin_study(record)
    made = opening("d", 0, 1)
    (gate, *others) = made.changes
    other = Decision("d", made.inserts, (type(gate)(gate.statement, {"study": "none"}), *others))
    assert await conflicts(record, other) == [True]


# --- Arrivals ------------------------------------------------------------------------------


async def test_a_second_tab_finds_the_arrival_taken(record: Record) -> None:
    await begin_study(record, people=1)
    again = decisions.new_arrival(None, arrival_row("0b", worker_id="worker-0"))
    same = decisions.new_arrival(worker_row(0), arrival_row(0))
    assert await conflicts(record, again, same) == [True, True]


async def test_two_processes_meet_a_new_person_at_once_and_one_arrival_stays(
    record: Record,
) -> None:
    await begin_study(record, people=0)
    batch = [
        decisions.new_arrival(
            {**worker_row(f"0-{n}"), "external_id": "one-person"},
            arrival_row(f"0-{n}", assignment_id="one-assignment"),
        )
        for n in range(4)
    ]
    assert sorted(await conflicts(record, *batch)) == [False, True, True, True]
    assert len(rows_of(record, tables.workers)) == len(rows_of(record, tables.arrivals)) == 1


async def test_ready_counts_once_and_waiting_is_kept(record: Record) -> None:
    await begin_study(record, people=1)
    assert await conflicts(record, decisions.ready("arrival-0", 9.0)) == [True]
    unready = decisions.unready("arrival-0", 30.5, missed_start=True)
    assert await conflicts(record, unready, unready) == [False, True]
    row = await record.one(queries.arrivals_by_id, "arrival-0")
    assert row is not None
    assert (row.status, row.ready_at, row.waited_s) == (ArrivalStatus.ARRIVED, None, 30.5)
    assert row.missed_start
    assert row.waited(1e9) == 30.5
    await record.writer.commit(decisions.ready("arrival-0", 100.0))
    row = await record.one(queries.arrivals_by_id, "arrival-0")
    assert row is not None
    assert not row.missed_start
    assert row.waited(107.0) == 37.5
    await record.writer.commit(decisions.unready("arrival-0", 7.0, missed_start=False))
    row = await record.one(queries.arrivals_by_id, "arrival-0")
    assert row is not None
    assert row.waited_s == 37.5


async def test_nobody_is_released_twice(record: Record) -> None:
    await begin_study(record, people=1)
    assert await conflicts(record, *[never_paired(0)] * 3) == [False, True, True]
    released = await record.one(queries.releases_of, "arrival-0")
    assert released is not None
    assert (released.release, released.cents) == (Release.NEVER_PAIRED, 10)
    assert released.code == "code-arrival-0"
    assert len(rows_of(record, tables.ledger)) == 1


async def test_a_release_of_nothing_owed_writes_no_payment(record: Record) -> None:
    await begin_study(record, people=1)
    made = decisions.release_unseated(
        "arrival-0", ArrivalStatus.WAITING, Release.RETURNED, 0, "USD", 5.0, "code-{}".format
    )
    await record.writer.commit(made)
    assert rows_of(record, tables.ledger) == []
    assert statuses(record) == {"arrival-0": "released"}


async def test_feedback_is_kept_after_the_release_and_of_nobody_refused(record: Record) -> None:
    await begin_study(record, people=1)
    await record.writer.commit(never_paired(0))
    await record.writer.commit(decisions.feedback("arrival-0", "fun 🐶", 9.0))
    row = await record.one(queries.arrivals_by_id, "arrival-0")
    assert row is not None
    assert row.feedback_sent
    with pytest.raises(RecordError):
        await record.writer.commit(decisions.feedback("nobody", "x", 9.0))
