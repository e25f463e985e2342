"""The hit manager beside a server: it survives what nobody thought of, and stops when told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from dialogs.rules import HitState, LedgerState
from hit_manager.counts import kind_of
from hit_manager.recruiters.base import Bonus, NoFunds, NotYet, Refused, Unsure
from hit_manager.recruiters.mturk.errors import NeedsPerson
from tests.live import eventually, until
from tests.recruiting import Recruiting, recruiting


@pytest_asyncio.fixture
async def at(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Recruiting]:
    async with recruiting(sqlite_url, tmp_path) as opened:
        opened.study_of_items("dog", "cat")
        yield opened


async def test_an_answer_nobody_thought_of_does_not_end_recruiting(
    at: Recruiting, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    recruiter, asked = at.stage.recruiter, []

    async def odd() -> Any:
        asked.append(1)
        raise KeyError("HITs")

    right, stop = recruiter.hits, asyncio.Event()
    monkeypatch.setattr(recruiter, "hits", odd)
    work = asyncio.create_task(at.another(interval_s=0.01).run(stop))

    await until(lambda: len(asked) > 1)
    assert "a round of recruiting failed" in caplog.text
    monkeypatch.setattr(recruiter, "hits", right)
    await eventually(at.open_there)
    stop.set()
    await work


async def test_what_it_does_is_counted(at: Recruiting, monkeypatch: pytest.MonkeyPatch) -> None:
    recruiter, stop = at.stage.recruiter, asyncio.Event()
    manager = at.another(interval_s=0.01)
    counts, right = manager.counts, recruiter.hits

    async def away() -> Any:
        raise Unsure("nobody answers")

    async def odd() -> Any:
        raise KeyError("HITs")

    work = asyncio.create_task(manager.run(stop))
    await until(lambda: counts.rounds)
    assert counts.posted == len(await at.hits(HitState.OPEN)) == 4
    assert counts.calls["post"] == 4
    assert counts.last_at == at.stage.clock.now()
    assert not counts.errors
    monkeypatch.setattr(recruiter, "hits", away)
    await until(lambda: counts.errors["hits", "unsure"] > 1)
    assert counts.calls["hits"] > counts.errors["hits", "unsure"]
    assert counts.problems
    assert counts.failed == 0
    monkeypatch.setattr(recruiter, "hits", odd)
    await until(lambda: counts.failed)
    monkeypatch.setattr(recruiter, "hits", right)
    stop.set()
    await work

    # Another process has the lease.
    at.stage.recruiter = await at.stage.again()
    assert (await at.another().round()).ours
    stop, beside = asyncio.Event(), at.another(interval_s=0.01)
    work = asyncio.create_task(beside.run(stop))
    await until(lambda: beside.counts.stood_by)
    stop.set()
    await work
    assert beside.counts.rounds == 0


def test_a_recruiters_own_error_counts_as_what_it_refines() -> None:
    assert kind_of(NeedsPerson("no such endpoint")) == "unavailable"
    assert [kind_of(kind("x")) for kind in (NotYet, NoFunds, Refused)] == [
        "not_yet",
        "no_funds",
        "refused",
    ]


async def test_who_stops_says_which_hits_stay(
    at: Recruiting, caplog: pytest.LogCaptureFixture
) -> None:
    stop = asyncio.Event()
    work = asyncio.create_task(at.another(interval_s=0.01).run(stop))
    await eventually(at.open_there)
    stop.set()
    await work
    assert "HITs that stay open: 4" in caplog.text


async def test_a_stop_begins_no_further_payment(
    at: Recruiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    await at.round()
    people = [await at.worked(150) for _ in range(3)]
    recruiter, stop, begun = at.stage.recruiter, asyncio.Event(), []
    pay = recruiter.pay

    async def slowly(bonus: Bonus, keep: Any) -> None:
        begun.append(bonus.key)
        stop.set()
        await pay(bonus, keep)

    monkeypatch.setattr(recruiter, "pay", slowly)
    at.stage.clock.advance(61.0)
    async with asyncio.timeout(60):
        await at.another().run(stop)
    states = [(await at.payment(arrival)).state for arrival in people]
    assert len(begun) == 1
    assert states.count(LedgerState.PAID) == 1
    # What was not begun is paid by the next, and what was is not paid again.
    at.stage.recruiter = await at.stage.again()
    at.stage.clock.advance(61.0)
    for _ in range(3):
        await at.another().round()
        at.stage.clock.advance(4000.0)
    assert [await at.got(arrival) for arrival in people] == [([50], [100])] * 3


async def test_a_manager_that_is_cancelled_keeps_others_waiting_for_what_it_sent(
    at: Recruiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    await at.round()
    at.stage.clock.advance(61.0)
    asked, stop = asyncio.Event(), asyncio.Event()

    async def never() -> Any:
        asked.set()
        await asyncio.Event().wait()

    recruiter = at.stage.recruiter
    with monkeypatch.context() as patch:
        patch.setattr(recruiter, "hits", never)

        async def close() -> None:
            closed.append(1)

        closed: list[int] = []
        patch.setattr(recruiter, "close", close)
        work = asyncio.create_task(at.another().run(stop))
        await asked.wait()
        stop.set()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
    assert closed == [1]
    other = at.another()
    assert not (await other.round()).ours
    at.stage.clock.advance(61.0)
    assert (await other.round()).ours
