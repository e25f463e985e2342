"""The figures of a study are those of its rows, and of no other study's."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from sqlalchemy import Connection, update

from dialogs.record import decisions, leases, studies
from dialogs.record.audit import audited
from dialogs.record.endings import DIALOG_END
from dialogs.record.figures import (
    Happened,
    Hits,
    Payments,
    Waits,
    figures,
    going_on,
    latest,
    waiting,
)
from dialogs.record.store import Record
from dialogs.record.tables import arrivals, hits, items, ledger
from dialogs.rules import (
    Acceptance,
    ArrivalStatus,
    Ending,
    HitState,
    LedgerState,
    Outcome,
    Phase,
    Release,
    ReportKind,
    SeatStatus,
    StudyStatus,
)
from tests.records import OPENED_AT, STUDY, arrival_row, begin_study, open_a_dialog, opened
from tests.recruiting import add_dialog, add_relaunch, owes, release

NOW = OPENED_AT + 100.0


@pytest_asyncio.fixture
async def record(database_url: str) -> AsyncIterator[Record]:
    async with opened(database_url) as record:
        await begin_study(record, people=4, items=("dog", "cat", "fox"))
        yield record


def write(record: Record, change: object, *args: object, **how: object) -> None:
    with record.engine.connect() as connection, connection.begin():
        change(connection, *args, **how)  # type: ignore[operator]


async def test_what_has_not_begun_is_nothing(record: Record) -> None:
    now = await record.read(figures, STUDY, NOW)
    assert (now.status, now.items, now.places, now.done) == (StudyStatus.OPEN, 3, 3, 0)
    assert now.in_lobby == now.inside == 4
    assert now.oldest_wait_s == 100.0
    assert now.live == {Phase.PAIRED: 0, Phase.SOLO: 0}
    assert now.ended == dict.fromkeys(Ending, 0)
    assert now.ledger == dict.fromkeys(LedgerState, Payments())
    assert now.hits == dict.fromkeys(HitState, Hits())
    assert (now.seen_at, now.recruits_until) == (None, None)
    with pytest.raises(LookupError):
        await record.read(figures, "another", NOW)


async def test_a_place_is_done_once_and_only_by_a_dialog_that_counts(record: Record) -> None:
    def dialogs_of(connection: Connection) -> None:
        connection.execute(update(items).where(items.c.id == "dog").values(wanted=2))
        ended = {"phase": Phase.ENDED, "outcome": Outcome.COMPLETE}
        add_dialog(connection, "d1", "dog", 1, **ended)
        add_dialog(connection, "d2", "dog", 2, **ended, acceptance=Acceptance.REJECTED)
        # More than is wanted of it, any more.
        add_dialog(connection, "d3", "cat", 2, **ended)
        add_dialog(connection, "d4", "cat", phase=Phase.ENDED, outcome=Outcome.ABANDONED)
        add_relaunch(connection, "d4", "cat")
        add_dialog(connection, "d5", "fox", phase=Phase.SOLO)

    write(record, dialogs_of)
    now = await record.read(figures, STUDY, NOW)
    assert (now.places, now.done, now.relaunches) == (4, 1, 1)
    assert now.live == {Phase.PAIRED: 0, Phase.SOLO: 1}
    ended = {ending: n for ending, n in now.ended.items() if n}
    assert ended == {Ending.COMPLETE: 3, Ending.ABANDONED: 1}


async def test_money_hits_and_who_is_at_work(record: Record) -> None:
    def money(connection: Connection) -> None:
        for n, state in enumerate((LedgerState.OWED, LedgerState.PAID, LedgerState.PAID)):
            release(connection, f"arrival-{n}", 150, state=state)
        owes(connection, "arrival-0", 7, reason="bonus-1", state=LedgerState.HELD)
        connection.execute(update(ledger).values(problem="no money"))
        for n, state in enumerate((HitState.OPEN, HitState.OPEN, HitState.CLOSED)):
            row = {"id": f"h{n}", "study_id": STUDY, "recruiter": "mturk", "token": f"t{n}",
                   "state": state.value, "seats": 3, "reward": 50, "currency": "USD",
                   "created_at": 1.0, "free": n, "pending": 1}  # fmt: skip
            connection.execute(hits.insert(), row)

    write(record, money)
    assert await leases.take(record, STUDY, leases.HITS, "p1", NOW, 60.0)
    for at, process in ((NOW - 2, "p1"), (NOW - 1, "p2")):
        await leases.say_alive(record, STUDY, process, at)
    now = await record.read(figures, STUDY, NOW)
    assert now.ledger[LedgerState.PAID] == Payments(2, 300)
    assert now.ledger[LedgerState.HELD] == Payments(1, 7)
    # What is paid or held is not tried again, whatever was in its way.
    assert now.put_off == 1
    assert now.hits[HitState.OPEN] == Hits(2, 1, 2)
    assert now.hits[HitState.CLOSED] == Hits(1, 2, 1)
    assert now.people[ArrivalStatus.RELEASED] == 3
    assert now.inside == 1
    assert (now.seen_at, now.recruits_until) == (NOW - 1, NOW + 60)


async def test_who_waits_and_what_goes_on(record: Record) -> None:
    await open_a_dialog(record, "d1", 0, 1)

    def waited_before(connection: Connection) -> None:
        mine = update(arrivals).where(arrivals.c.id == "arrival-3")
        connection.execute(mine.values(waited_s=30.0, missed_start=True, language="ar"))

    write(record, waited_before)
    found = await record.read(waiting, STUDY, NOW, 10)
    assert found == [Waits("arrival-3", "ar", 130.0, True), Waits("arrival-2", "en", 100.0, False)]
    assert await record.read(waiting, STUDY, NOW, 1) == found[:1]
    assert (await record.read(figures, STUDY, NOW)).oldest_wait_s == 130.0
    (going,) = await record.read(going_on, STUDY, 10)
    assert (going.image_id, going.state.dialog_id) == ("image-dog", "d1")


async def test_what_happened_last(record: Record) -> None:
    def happens(connection: Connection) -> None:
        add_dialog(connection, "d1", "dog", at=OPENED_AT + 1)
        add_dialog(connection, "d2", "cat", phase=Phase.ENDED, outcome=Outcome.SOLO, at=OPENED_AT)
        add_relaunch(connection, "d2", "cat", at=OPENED_AT + 3)
        release(connection, "arrival-0", 150, how=Release.LEFT, dialog="d2", at=OPENED_AT + 2)
        release(connection, "arrival-1", 150, state=LedgerState.PAID, at=OPENED_AT + 9)
        connection.execute(update(ledger).values(paid_at=OPENED_AT + 4))

    write(record, happens)
    told = decisions.report("r1", "arrival-2", ReportKind.PROBLEM, "upside down", OPENED_AT + 5)
    await record.writer.commit(told)
    found = [
        Happened(OPENED_AT + 5, "problem", None, "arrival-2"),
        Happened(OPENED_AT + 4, "paid", None, "arrival-1"),
        Happened(OPENED_AT + 3, "relaunched", "d2"),
        Happened(OPENED_AT + 2, "left", "d2", "arrival-0"),
        Happened(OPENED_AT + 1, "opened", "d1"),
    ]
    assert await record.read(latest, STUDY, 5) == found
    assert await record.read(latest, STUDY, 2) == found[:2]


async def test_what_was_ended_from_outside_is_not_called_abandoned(record: Record) -> None:
    def ends(connection: Connection) -> None:
        for number, (item, how) in enumerate(
            (("dog", Release.ENDED_BY_TEAM), ("cat", Release.ENDED_BY_TEAM), ("fox", Release.LEFT))
        ):
            arrival, dialog = f"arrival-{number}", f"d{number}"
            add_dialog(
                connection,
                dialog,
                item,
                phase=Phase.ENDED,
                outcome=Outcome.ABANDONED,
                people=[(arrival, SeatStatus.DONE)],
            )
            release(connection, arrival, 0, how=how, dialog=dialog)
        table, row = audited(STUDY, None, DIALOG_END, "d0", None, {"cents": {}}, OPENED_AT)
        connection.execute(table.insert(), row)

    write(record, ends)
    now = await record.read(figures, STUDY, NOW)
    assert {ending: n for ending, n in now.ended.items() if n} == {
        Ending.ENDED_BY_TEAM: 1,
        Ending.TIME_LIMIT: 1,
        Ending.ABANDONED: 1,
    }
    happened = {(each.dialog_id, each.what) for each in await record.read(latest, STUDY, 20)}
    assert {what for dialog, what in happened if dialog == "d0"} == {"opened", "ended_by_team"}
    assert ("d1", "time_limit") in happened


async def test_another_study_in_the_same_record_counts_for_nothing(record: Record) -> None:
    before = await record.read(figures, STUDY, NOW)
    happened = await record.read(latest, STUDY, 100)
    await record.writer.commit(studies.new_study("other", {}, 1.0))
    worker = {"id": "w", "study_id": "other", "recruiter": "link", "external_id": "e",
              "created_at": 1.0}  # fmt: skip
    await record.writer.commit(
        decisions.new_arrival(worker, arrival_row("x", study_id="other", worker_id="w"))
    )
    await record.writer.commit(decisions.ready("arrival-x", 1.0))
    told = decisions.report("r1", "arrival-x", ReportKind.PROBLEM, "odd", 2.0)
    await record.writer.commit(told)
    await leases.say_alive(record, "other", "p", NOW)
    write(record, owes, "arrival-x", 150, state=LedgerState.PAID)
    assert await record.read(figures, STUDY, NOW) == before
    assert await record.read(latest, STUDY, 100) == happened
    assert (await record.read(figures, "other", NOW)).in_lobby == 1
