"""What a study pays and allows is changed with its audit row, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import orjson
import pytest
import pytest_asyncio

from dialogs.record import queries, studies, tables
from dialogs.record.changing import CannotChange, ChangedMeanwhile, change_terms
from dialogs.record.errors import Conflict
from dialogs.record.store import Record
from dialogs.record.wanted import NewHit, wanted_hits
from dialogs.record.writer import Decision
from dialogs.rules import HitState, Pay, Rules
from dialogs.terms import Terms
from tests.records import STUDY, opened, rows_of

FILE = Terms(Rules(pay=Pay(left=20, waiting_per_minute=10)), 20.0, 600.0, 7200.0, "mturk")


@pytest_asyncio.fixture
async def record(database_url: str) -> AsyncIterator[Record]:
    async with opened(database_url) as record:
        await record.writer.commit(studies.new_study(STUDY, {}, 1.0))
        yield record


def hit(state: HitState, *, reward: int = 10, pending: int = 0) -> dict[str, Any]:
    return {
        "id": "hit",
        "study_id": STUDY,
        "recruiter": "mturk",
        "token": "token",
        "state": state.value,
        "seats": 1,
        "reward": reward,
        "currency": "USD",
        "created_at": 1.0,
        "pending": pending,
    }


def add(record: Record, row: dict[str, Any]) -> None:
    with record.engine.begin() as connection:
        connection.execute(tables.hits.insert(), row)


async def change(record: Record, file: Terms = FILE, known: Any = None, **wanted: Any) -> None:
    how: dict[str, Any] = {"reason": "we learned", "admin_id": None, "now": 5.0, "known": known}
    await change_terms(record, STUDY, file, wanted, **how)


async def changes(record: Record) -> Any:
    study = await record.read(queries.study, STUDY)
    assert study is not None
    return study.changes


async def test_a_change_is_kept_with_who_and_why(record: Record) -> None:
    await change(record, grace_s=45.0, pay_complete=200)
    assert await changes(record) == {"grace_s": 45.0, "pay_complete": 200}
    await change(record, pay_complete=180, grace_s=60.0)
    # What is as in the file is no change.
    assert await changes(record) == {"pay_complete": 180}
    first, second = sorted(
        rows_of(record, tables.audit),
        key=lambda row: orjson.loads(row["before"])["changes"]["grace_s"],
        reverse=True,
    )
    assert (first["action"], first["at"]) == ("study.change", 5.0)
    assert orjson.loads(first["after"]) == {
        "changes": {"grace_s": 45.0, "pay_complete": 200},
        "reason": "we learned",
    }
    assert orjson.loads(second["before"])["changes"]["grace_s"] == 45.0
    await change(record)
    assert rows_of(record, tables.studies)[0]["changes"] is None


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"grace_s": 180.0}, "protocol.grace_s must be less than protocol.turn_limit_s."),
        ({"turn_limit_s": 1300.0}, "protocol.dialog_limit_s must be at least"),
        ({"dialog_limit_s": 500.0}, "must leave 60 s for each of 10 rounds (600)"),
        ({"dialog_limit_s": 7000.0}, "recruiter.assignment_duration_s must be at least 8220"),
        ({"lobby_limit_s": 20.0}, "lobby.start_s must be less than lobby.limit_s"),
        ({"pay_left": 200}, "pay.left must not be more than pay.complete"),
        (
            {"pay_complete": 100_000},
            "pay.complete must not be more than 15.00, 10 times the full pay of the study file; "
            "whoever means it changes the file.",
        ),
        ({"pay_waiting_per_minute": 1_501}, "pay.waiting_per_minute must not be more than 15.00"),
        ({"pay_complete": 2_147_483_647}, "pay.complete must not be more than 10000000.00"),
    ],
)
async def test_what_does_not_fit_together_is_refused(
    record: Record, wanted: dict[str, Any], said: str
) -> None:
    with pytest.raises(CannotChange) as caught:
        await change(record, **wanted)
    assert said in str(caught.value)
    assert await changes(record) == {}
    assert rows_of(record, tables.audit) == []


async def test_an_amount_that_holds_already_keeps_no_other_change_back(record: Record) -> None:
    await change(record, pay_complete=1_500)
    lower = replace(FILE, rules=Rules(pay=Pay(complete=100)))
    await change(record, lower, pay_complete=1_500, grace_s=45.0)
    assert await changes(record) == {"pay_complete": 1_500, "grace_s": 45.0}
    with pytest.raises(CannotChange, match=r"pay\.complete must not be more than 10\.00"):
        await change(record, lower, pay_complete=1_501, grace_s=45.0)


@pytest.mark.parametrize("state", [HitState.WANTED, HitState.OPEN, HitState.CLOSED])
async def test_pay_does_not_fall_below_what_approving_pays(record: Record, state: HitState) -> None:
    add(record, hit(state))
    with pytest.raises(CannotChange) as caught:
        # Not even as a new amount beside a higher one.
        await change(record, replace(FILE, rules=Rules(pay=Pay(left=0))), pay_left=5)
    assert str(caught.value) == (
        "pay.left must be at least 0.10: approving a HIT that is posted pays this by itself."
    )
    assert await changes(record) == {}


@pytest.mark.parametrize(
    ("state", "pending", "refused"),
    [
        (HitState.WANTED, 0, True),
        (HitState.OPEN, 0, True),
        (HitState.CLOSED, 1, True),
        (HitState.CLOSED, 0, False),
        (HitState.DONE, 0, False),
        (HitState.FAILED, 0, False),
    ],
)
async def test_pay_is_not_lowered_while_hits_promise_more(
    record: Record, state: HitState, pending: int, refused: bool
) -> None:
    add(record, hit(state, pending=pending))
    if not refused:
        await change(record, pay_complete=120)
        assert await changes(record) == {"pay_complete": 120}
        return
    with pytest.raises(CannotChange) as caught:
        await change(record, pay_complete=120)
    assert str(caught.value).startswith("pay.complete cannot be lowered from 1.50 while")
    await change(record, pay_complete=200)
    with pytest.raises(CannotChange) as caught:
        await change(record, pay_complete=180)
    assert "lowered from 2.00" in str(caught.value)


async def test_on_prolific_the_reward_is_the_whole_pay(record: Record) -> None:
    there = replace(FILE, recruiter="prolific")
    add(record, hit(HitState.CLOSED, reward=150))
    with pytest.raises(CannotChange) as caught:
        await change(record, there, pay_complete=120)
    assert "pay.complete must be at least 1.50" in str(caught.value)
    # Partial pay has ways of its own there.
    await change(record, there, pay_left=5)


async def test_two_who_change_it_at_once_are_told(record: Record) -> None:
    results = await asyncio.gather(
        change(record, known={}, pay_complete=200),
        change(record, known={}, pay_complete=300),
        return_exceptions=True,
    )
    assert [type(r) for r in results if r is not None] == [ChangedMeanwhile]
    assert len(rows_of(record, tables.audit)) == 1


async def test_nothing_is_posted_by_terms_that_hold_no_more(record: Record) -> None:
    def posting(name: str, known: dict[str, Any]) -> Decision:
        new = NewHit(name, f"token-{name}", 1, 10, "USD", "")
        guard = (studies.terms_stay(STUDY, known),)
        return wanted_hits(STUDY, "mturk", [new], 5.0, guard, [], [])

    await record.writer.commit(posting("one", {}))
    await change(record, pay_complete=200)
    with pytest.raises(Conflict):
        await record.writer.commit(posting("two", {}))
    await record.writer.commit(posting("three", {"pay_complete": 200}))
    assert [row["id"] for row in rows_of(record, tables.hits)] == ["one", "three"]


async def test_a_change_is_made_to_what_its_maker_saw(record: Record) -> None:
    await change(record, known={}, pay_complete=200)
    with pytest.raises(ChangedMeanwhile):
        await change(record, known={}, grace_s=45.0)
    assert await changes(record) == {"pay_complete": 200}
    # The same once more, as after an answer that was lost, is done already.
    await change(record, known={}, pay_complete=200)
    assert len(rows_of(record, tables.audit)) == 1
    await change(record, known={"pay_complete": 200}, grace_s=45.0)
    assert await changes(record) == {"grace_s": 45.0}
