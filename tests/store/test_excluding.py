"""Whoever is excluded gets no new arrival and no new seat, whatever happens at that moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from sqlalchemy import update

from dialogs.record import decisions, tables
from dialogs.record.audit import audited
from dialogs.record.errors import Conflict
from dialogs.record.excluding import allowed_again, excluded, excluded_outside, workers_by_id
from dialogs.record.notes import noted, notes_of
from dialogs.record.store import Record
from dialogs.record.writer import Decision, together
from dialogs.rules import ArrivalStatus, Release
from tests.records import (
    OPENED_AT,
    STUDY,
    arrival_row,
    begin_study,
    commit_all,
    opened,
    opening,
    rows_of,
)


@pytest_asyncio.fixture
async def record(database_url: str) -> AsyncIterator[Record]:
    async with opened(database_url) as record:
        await begin_study(record, people=3)
        yield record


def screened_out(n: int) -> Decision:
    """Somebody who waits goes home."""
    return decisions.release_unseated(
        f"arrival-{n}",
        ArrivalStatus.WAITING,
        Release.SCREENED_OUT,
        10,
        "USD",
        OPENED_AT,
        "code-{}".format,
    )


async def conflicts(record: Record, decision: Decision) -> bool:
    try:
        await record.writer.commit(decision)
    except Conflict:
        return True
    return False


async def test_somebody_is_excluded_once_and_allowed_once(record: Record) -> None:
    audit = Decision("worker-0", (audited(STUDY, None, "worker.exclude", "worker-0", None, {}, 5),))
    await commit_all(record, together(excluded("worker-0", "wrote nothing", 5.0), audit))
    known = (await record.read(workers_by_id, ["worker-0"]))["worker-0"]
    assert (known.excluded_at, known.excluded_why) == (5.0, "wrote nothing")
    again = Decision("worker-0", (audited(STUDY, None, "worker.exclude", "worker-0", None, {}, 6),))
    assert await conflicts(record, together(excluded("worker-0", "again", 6.0), again))
    assert len(rows_of(record, tables.audit)) == 1
    await commit_all(record, allowed_again("worker-0"))
    known = (await record.read(workers_by_id, ["worker-0"]))["worker-0"]
    assert (known.excluded_at, known.excluded_why) == (None, None)
    assert await conflicts(record, allowed_again("worker-0"))


async def test_no_arrival_is_made_for_somebody_who_is_excluded(record: Record) -> None:
    await commit_all(record, screened_out(0), excluded("worker-0", "wrote nothing", 5.0))
    row = arrival_row("new", worker_id="worker-0")
    assert await conflicts(record, decisions.new_arrival(None, row, "person-0"))
    await commit_all(record, allowed_again("worker-0"))
    assert not await conflicts(record, decisions.new_arrival(None, row, "person-0"))


@pytest.mark.parametrize("who", [0, 1])
async def test_no_seat_is_taken_by_somebody_who_is_excluded(record: Record, who: int) -> None:
    """Who went back to the lobby after a dialog waits, and was not released by being excluded."""
    await commit_all(record, excluded(f"worker-{who}", "wrote nothing", 5.0))
    assert await record.read(excluded_outside, STUDY) == [f"arrival-{who}"]
    assert await conflicts(record, opening("d", 0, 1))
    assert rows_of(record, tables.seats) == []
    await commit_all(record, allowed_again(f"worker-{who}"))
    assert not await conflicts(record, opening("d", 0, 1))
    with record.engine.begin() as connection:
        connection.execute(update(tables.workers).values(excluded_at=5.0))
    assert await record.read(excluded_outside, STUDY) == ["arrival-2"]


@pytest.mark.parametrize("first", ["exclusion", "opening"])
async def test_who_is_matched_at_this_moment_is_seated_or_left_outside(
    record: Record, first: str
) -> None:
    both = [excluded("worker-0", "wrote nothing", 5.0), opening("d", 0, 1)]
    if first == "opening":
        both.reverse()
    futures = [record.writer.submit(decision) for decision in both]
    results = await asyncio.gather(*futures, return_exceptions=True)
    assert all(result is None or type(result) is Conflict for result in results), results
    known = (await record.read(workers_by_id, ["worker-0"]))["worker-0"]
    assert known.excluded_at == 5.0
    seated = [row["arrival_id"] for row in rows_of(record, tables.seats)]
    outside = await record.read(excluded_outside, STUDY)
    # Either they hold a seat and finish, or they are found and released, and nothing is torn.
    assert ("arrival-0" in seated, outside) in ((True, []), (False, ["arrival-0"]))
    assert len(seated) in (0, 2)
    if not seated:
        await commit_all(record, screened_out(0))
        assert await record.read(excluded_outside, STUDY) == []


async def test_notes_are_kept_the_newest_first(record: Record) -> None:
    await commit_all(
        record,
        noted("n1", "worker-0", None, "Wrote little.", 1.0),
        noted("n2", "worker-0", None, "Writes more now.", 2.0),
        noted("n3", "worker-1", None, "Fine.", 3.0),
    )
    found = await record.read(notes_of, "worker-0")
    assert [note.text for note in found] == ["Writes more now.", "Wrote little."]
    assert await conflicts(record, noted("n1", "worker-0", None, "Again.", 4.0))
