"""How a study stands, for whoever watches it."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from dialogs.dialog import Leave, Say, decide
from dialogs.events import Part
from dialogs.record import overview, requests
from dialogs.record.decisions import happenings
from dialogs.record.findings import raised
from dialogs.record.marks import marks
from dialogs.record.overview import Lately, Overview, Stuck
from dialogs.record.store import Record
from dialogs.record.tables import arrivals, dialogs, ledger
from dialogs.rules import LedgerState, RequestKind, Role
from dialogs.state import DialogState
from tests.records import OPENED_AT, STUDY, begin_study, never_paired, open_a_dialog, opened
from tests.reviews import add_admins

HOUR = 3600.0


async def carry_out(record: Record, state: DialogState, command: object, at: float) -> DialogState:
    events = decide(state, command, at)  # type: ignore[arg-type]
    assert isinstance(events, tuple)
    assert events
    decision, after = happenings(state, events, "code-{}".format)
    await record.writer.commit(decision)
    return after


async def talk_to_the_end(record: Record, state: DialogState, at: float, each_s: float) -> None:
    while state.turn is not None:
        said = Say(state.turn, f"key-{state.seq:06d}", (Part("hello there"),))
        at += each_s
        state = await carry_out(record, state, said, at)


async def test_a_study_that_has_not_begun(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0, items=("dog", "cat"))
        found = await record.read(overview.overview, STUDY, OPENED_AT)
    assert found == Overview(
        began_at=None,
        places=2,
        done=0,
        live=0,
        inside=0,
        in_lobby=0,
        lately=0,
        lately_s=HOUR,
        cost=0,
        paid=0,
        hourly=None,
        stuck=Stuck(payments=0, cents=0, requests=0, owed=0, owed_cents=0),
    )
    assert found.ends_at(OPENED_AT) is None
    # Two people for each of two places.
    assert found.forecast(150) == 600


async def test_how_far_each_live_dialog_is(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=6, items=("dog", "cat", "cow"))
        over = await open_a_dialog(record, "d-1", 0, 1, "dog")
        begun = await open_a_dialog(record, "d-2", 2, 3, "cat")
        await open_a_dialog(record, "d-3", 4, 5, "cow")
        await talk_to_the_end(record, over, OPENED_AT, 60.0)
        said = Say(Role.QUESTIONER, "key-000001", (Part("hello there"),))
        await carry_out(record, begun, said, OPENED_AT + 1)
        with record.engine.begin() as connection:
            add_admins(connection, "ada")
        for number in (1000, 1001):
            await record.writer.commit(
                raised(STUDY, "d-2", number, "ada", "Rude.", None, None, OPENED_AT + 2)
            )
        assert await record.read(overview.live, STUDY) == {
            "d-2": Lately(seq=2, flags=2),
            "d-3": Lately(seq=1, flags=0),
        }
        assert await record.read(overview.live, "another") == {}


async def test_what_is_done_live_and_owed(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=6, items=("dog", "cat", "cow"))
        first = await open_a_dialog(record, "d-1", 0, 1, "dog")
        await open_a_dialog(record, "d-2", 2, 3, "cat")
        await talk_to_the_end(record, first, OPENED_AT, 60.0)
        with record.engine.begin() as connection:
            connection.execute(
                update(ledger)
                .where(ledger.c.arrival_id == "arrival-0")
                .values(state=LedgerState.PAID.value)
            )
        now = OPENED_AT + 1800
        found = await record.read(overview.overview, STUDY, now)
    assert (found.places, found.done, found.live) == (3, 1, 1)
    assert (found.inside, found.in_lobby) == (4, 2)
    assert (found.cost, found.paid) == (300, 150)
    # One in the half hour since the study began, so two more take an hour.
    assert found.rate == pytest.approx(2.0)
    assert found.ends_at(now) == pytest.approx(now + HOUR)
    assert found.forecast(150) == 900
    # 150 for four minutes.
    assert found.hourly == 2250


async def test_what_was_rejected_or_taken_back_counts_for_nothing(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=2)
        await talk_to_the_end(record, await open_a_dialog(record, "d", 0, 1), OPENED_AT, 1.0)
        with record.engine.begin() as connection:
            connection.execute(update(dialogs).values(acceptance="rejected"))
            connection.execute(
                update(ledger)
                .where(ledger.c.arrival_id == "arrival-0")
                .values(state=LedgerState.CANCELLED.value)
            )
        found = await record.read(overview.overview, STUDY, OPENED_AT + 60)
    assert (found.done, found.cost) == (0, 150)


async def test_what_needs_a_person_is_counted(database_url: str) -> None:
    """Payments that failed or are held, and requests of the team that failed."""
    async with opened(database_url) as record:
        await begin_study(record, people=5)
        states = (LedgerState.FAILED, LedgerState.HELD, LedgerState.PAID, LedgerState.CANCELLED)
        for n in range(5):
            await record.writer.commit(never_paired(n))
        with record.engine.begin() as connection:
            for n, state in enumerate(states):
                mine = ledger.c.arrival_id == f"arrival-{n}"
                values = {"state": state.value, "cents": 100 * (n + 1)}
                connection.execute(update(ledger).where(mine).values(**values))
        for n in range(4):
            kind = RequestKind.UNBLOCK
            asked = requests.asked(STUDY, f"r-{n}", None, kind, "worker-0", {}, float(n))
            await record.writer.commit(asked)
        rows = await record.read(requests.requests_by_id, [f"r-{n}" for n in range(4)])
        await record.writer.commit(requests.done(rows["r-0"], 5.0))
        for name in ("r-1", "r-2"):
            await record.writer.commit(requests.failed(rows[name], "no", 6.0))
        failed = (await record.read(requests.requests_by_id, ["r-2"]))["r-2"]
        found = await record.read(overview.overview, STUDY, OPENED_AT)
        assert found.stuck == Stuck(2, 300, requests=2, owed=1, owed_cents=10)
        await record.writer.commit(requests.dismissed(failed))
        found = await record.read(overview.overview, STUDY, OPENED_AT)
        assert found.stuck == Stuck(2, 300, requests=1, owed=1, owed_cents=10)
        assert (await record.read(overview.overview, "another", OPENED_AT)).stuck.requests == 0


async def test_who_waits_longest_stands_first(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=3)
        with record.engine.begin() as connection:
            for n, (ready, waited) in enumerate(((30.0, 5.0), (10.0, 0.0), (20.0, 0.0))):
                connection.execute(
                    update(arrivals)
                    .where(arrivals.c.id == f"arrival-{n}")
                    .values(ready_at=ready, waited_s=waited)
                )
        found = await record.read(overview.lobby, STUDY, 2)
    assert [(w.arrival_id, w.ready_at) for w in found] == [("arrival-1", 10.0), ("arrival-2", 20.0)]


async def test_the_chart_counts_by_the_minute(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=4, items=("dog", "cat"))
        start = OPENED_AT // 60 * 60
        with record.engine.begin() as connection:
            connection.execute(update(arrivals).values(created_at=start, ready_at=start + 1))
        whole = await open_a_dialog(record, "d-1", 0, 1, "dog")
        lost = await open_a_dialog(record, "d-2", 2, 3, "cat")
        await talk_to_the_end(record, whole, OPENED_AT, 30.0)
        await carry_out(record, lost, Leave(Role.QUESTIONER), start + 130)
        steps = await record.read(overview.chart, STUDY, start, start + 200, 60)
        later = await record.read(overview.chart, STUDY, start + 120, start + 200, 60)
    assert [step.at for step in steps] == [start, start + 60, start + 120, start + 180]
    assert [step.arrivals for step in steps] == [4, 0, 0, 0]
    assert [step.pairs for step in steps] == [2, 0, 0, 0]
    assert sum(step.complete for step in steps) == 1
    assert [step.lost for step in steps] == [0, 0, 1, 0]
    assert steps[0].wait_s == pytest.approx(OPENED_AT - start - 1)
    assert steps[1].wait_s is None
    assert [step.at for step in later] == [start + 120, start + 180]
    assert [step.lost for step in later] == [1, 0]


async def test_marks_differ_exactly_where_something_changed(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=4, items=("dog", "cat"))
        before = await record.read(marks, STUDY)
        assert await record.read(marks, STUDY) == before
        await record.writer.commit(never_paired(3))
        after = await record.read(marks, STUDY)
        assert {name for name in before if before[name] != after[name]} == {"workers", "ledger"}
        await open_a_dialog(record, "d", 0, 1)
        last = await record.read(marks, STUDY)
        assert {name for name in before if after[name] != last[name]} == {"workers", "dialogs"}
        assert await record.read(marks, "another") != last


async def test_a_request_that_fails_once_more_is_seen(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record)
        asked = requests.asked(STUDY, "r", None, RequestKind.UNBLOCK, "worker-0", {}, 1.0)
        await record.writer.commit(asked)

        async def fails(at: float) -> object:
            request = (await record.read(requests.requests_by_id, ["r"]))["r"]
            await record.writer.commit(requests.failed(request, "no", at))
            return (await record.read(marks, STUDY))["requests"]

        before = await fails(2.0)
        failed = (await record.read(requests.requests_by_id, ["r"]))["r"]
        await record.writer.commit(requests.again(failed))
        assert await fails(3.0) != before
