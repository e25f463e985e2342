"""Whole dialogs, written to a database: its rows say what their events say."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import Phase, given, settings

from dialogs.dialog import EndByTeam, Extend, Leave, PairAgain, Tell, decide
from dialogs.record import decisions, queries, studies, tables
from dialogs.record.errors import Conflict
from dialogs.record.store import Record
from dialogs.record.totals import study_totals
from dialogs.record.writer import Decision
from dialogs.rules import ArrivalStatus, LedgerReason, Outcome, Role, Rules
from tests.plays import Action, Play, all_rules, happenings, played
from tests.records import (
    OPENED_AT,
    STUDY,
    arrival_row,
    begin_study,
    commit_all,
    open_a_dialog,
    opened,
    prepared,
    rows_of,
    shared_database,
    state_of,
    worker_row,
)

numbers = itertools.count()


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def shared(
    request: pytest.FixtureRequest,
    runner: asyncio.Runner,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Record]:
    """A record with an open study, for many dialogs that have nothing to do with each other."""

    async def begin() -> Record:
        record = Record(url)
        record.open()
        await begin_study(record, people=0, items=[])
        return record

    with shared_database(request, tmp_path_factory.mktemp("shared")) as url:
        record = runner.run(begin())
        yield record
        runner.run(record.close())


async def admit(record: Record, play: Play) -> None:
    """The people and the item of a play, and its opening."""
    item = prepared(play.item_id, position=len(rows_of(record, tables.items)))
    await commit_all(record, studies.new_items(STUDY, [item], 1.0))
    for seat in play.taken:
        name = seat.arrival_id.removeprefix("arrival-")
        await commit_all(
            record,
            decisions.new_arrival(worker_row(name), arrival_row(name)),
            decisions.ready(seat.arrival_id, OPENED_AT),
        )
    first = play.events[0]
    made = decisions.opening(STUDY, play.dialog_id, first, "en", same_address=False)  # type: ignore[arg-type]
    await record.writer.commit(made)


@settings(max_examples=30, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(rules=all_rules, happening=happenings)
def test_the_rows_of_a_dialog_say_what_its_events_say(
    runner: asyncio.Runner, shared: Record, rules: Rules, happening: list[Action]
) -> None:
    play = played(rules, happening, f"-{next(numbers)}")
    runner.run(write_and_compare(shared, play))


async def write_and_compare(record: Record, play: Play) -> None:
    before = await record.read(study_totals, STUDY)
    await admit(record, play)
    await commit_all(record, *play.decided)
    assert await state_of(record, play.dialog_id) == play.state
    after = await record.read(study_totals, STUDY)
    for seat in play.state.seats.values():
        released = await record.one(queries.releases_of, seat.arrival_id)
        row = await record.one(queries.arrivals_by_id, seat.arrival_id)
        assert row is not None
        assert (released is not None) == (row.status is ArrivalStatus.RELEASED)
        assert (released is None) == (seat.settlement is None)
        if released is not None and seat.settlement is not None:
            settled = (seat.settlement.release, seat.settlement.cents, play.state.outcome)
            assert (released.release, released.cents, released.outcome) == settled
    ended, settlements = play.end(), play.settlements()
    complete = ended is not None and ended.outcome is Outcome.COMPLETE
    incomplete = bool(play.losses()) or (ended is not None and not complete)
    assert after.relaunches - before.relaunches == incomplete
    assert after.complete - before.complete == complete
    assert after.messages - before.messages == (len(play.messages()) if complete else 0)
    assert after.owed_cents - before.owed_cents == sum(s.cents for s in settlements)
    gained = Counter(after.releases)
    gained.subtract(before.releases)
    assert +gained == Counter(s.release.value for s in settlements)
    # Its place is free exactly if it is neither going on in both seats nor complete.
    free = (play.item_id, 1) in await record.read(queries.free_places, STUDY)
    assert free == incomplete
    assert (play.dialog_id in await record.read(queries.live_dialogs, STUDY)) == (not ended)
    # Nothing of it can be written a second time.
    for decision in play.decided:
        with pytest.raises(Conflict):
            await record.writer.commit(decision)


async def test_half_a_dialog_gives_its_place_back_and_only_a_complete_one_counts(
    database_url: str,
) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0, items=[])
        left, whole = Play(Rules(), "-left"), Play(Rules(), "-whole")
        left.talk(19)
        left.stay_away(Role.ANSWERER)
        whole.talk(20)
        for play in (left, whole):
            await admit(record, play)
            await commit_all(record, *play.decided)
        totals = await record.read(study_totals, STUDY)
        assert (totals.places, totals.complete, totals.solo, totals.relaunches) == (2, 1, 1, 1)
        assert totals.messages == 20
        assert await record.read(queries.free_places, STUDY) == [("item-left", 1)]
        assert totals.owed == 3, "who left is owed nothing"


async def test_two_processes_decide_about_one_dialog_and_one_of_them_is_stored(
    database_url: str,
) -> None:
    """Both hold the same state; the loser's release, payment and relaunch are not stored."""
    async with opened(database_url) as record:
        await begin_study(record)
        state = await open_a_dialog(record, "d", 0, 1)
        made: list[Decision] = []
        for role in Role:
            events = decide(state, Leave(role), 5.0)
            assert isinstance(events, tuple)
            made.append(decisions.happenings(state, events, "code-{}".format)[0])
        results = await asyncio.gather(*map(record.writer.submit, made), return_exceptions=True)
        assert sorted(type(result).__name__ for result in results) == ["Conflict", "NoneType"]
        assert len(rows_of(record, tables.releases)) == len(rows_of(record, tables.relaunches)) == 1
        state = await state_of(record, "d")
        assert [row["arrival_id"] for row in rows_of(record, tables.releases)] == [
            seat.arrival_id for seat in state.seats.values() if seat.gone
        ]


async def test_who_is_paired_anew_is_released_once_at_the_end(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=3, items=("dog", "cat"))
        state = await open_a_dialog(record, "first", 0, 1)
        for command in (Leave(Role.ANSWERER), PairAgain(Role.QUESTIONER)):
            events = decide(state, command, 5.0)
            assert isinstance(events, tuple)
            made, state = decisions.happenings(state, events, "code-{}".format)
            await record.writer.commit(made)
        row = await record.one(queries.arrivals_by_id, "arrival-0")
        assert row is not None
        assert (row.status, row.dialog_id) == (ArrivalStatus.WAITING, None)
        second = await open_a_dialog(record, "second", 2, 0, "cat")
        row = await record.one(queries.arrivals_by_id, "arrival-0")
        assert row is not None
        assert row.dialog_id == "second"
        events = decide(second, Leave(Role.ANSWERER), 9.0)
        assert isinstance(events, tuple)
        made, _ = decisions.happenings(second, events, "code-{}".format)
        await record.writer.commit(made)
        released = {row["arrival_id"] for row in rows_of(record, tables.releases)}
        assert released == {"arrival-0", "arrival-1"}
        assert len(rows_of(record, tables.relaunches)) == 2


async def test_what_the_team_ends_is_paid_as_it_decided_and_relaunched_once(
    database_url: str,
) -> None:
    async with opened(database_url) as record:
        await begin_study(record)
        state = await open_a_dialog(record, "d", 0, 1)
        commands = (
            Tell("k1", Role.QUESTIONER, "Please go on."),
            Extend("k2", 300.0),
            EndByTeam("k3", "The picture is broken.", {Role.QUESTIONER: 40, Role.ANSWERER: 0}),
        )
        for command in commands:
            events = decide(state, command, OPENED_AT + 5.0)
            assert isinstance(events, tuple)
            made, state = decisions.happenings(state, events, "code-{}".format)
            await record.writer.commit(made)
            with pytest.raises(Conflict):
                await record.writer.commit(made)
        assert await state_of(record, "d") == state
        rows = {
            row["arrival_id"]: (row["release"], row["dialog_id"])
            for row in rows_of(record, tables.releases)
        }
        assert rows == {f"arrival-{n}": ("ended_by_team", "d") for n in (0, 1)}
        owed = [(row["arrival_id"], row["cents"]) for row in rows_of(record, tables.ledger)]
        assert owed == [("arrival-0", 40)], "no row for nothing"
        assert len(rows_of(record, tables.relaunches)) == 1
        assert await record.read(queries.free_places, STUDY) == [("dog", 1)]
        assert [row["status"] for row in rows_of(record, tables.seats)] == ["done", "done"]


async def test_the_team_ends_what_one_has_left_without_a_second_relaunch(
    database_url: str,
) -> None:
    async with opened(database_url) as record:
        await begin_study(record)
        state = await open_a_dialog(record, "d", 0, 1)
        for command in (Leave(Role.QUESTIONER), EndByTeam("k")):
            events = decide(state, command, OPENED_AT + 5.0)
            assert isinstance(events, tuple)
            made, state = decisions.happenings(state, events, "code-{}".format)
            await record.writer.commit(made)
        released = {row["arrival_id"]: row["release"] for row in rows_of(record, tables.releases)}
        assert released == {"arrival-0": "left", "arrival-1": "ended_by_team"}
        assert [row["cents"] for row in rows_of(record, tables.ledger)] == [150]
        assert len(rows_of(record, tables.relaunches)) == 1


async def test_a_payment_names_its_reason_and_currency(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0, items=[])
        play = Play(Rules(rounds=1), "-paid")
        play.talk(2)
        await admit(record, play)
        await commit_all(record, *play.decided)
        rows = [
            (r["reason"], r["cents"], r["currency"], r["state"])
            for r in rows_of(record, tables.ledger)
        ]
        assert rows == [(LedgerReason.DIALOG, 150, "USD", "owed")] * 2
