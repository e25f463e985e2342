"""Leases: one holder at a time, however many ask."""

from __future__ import annotations

import asyncio

import pytest

from dialogs.record import leases
from dialogs.record.errors import Conflict
from dialogs.record.writer import Decision
from tests.records import STUDY, begin_study, opened


async def test_one_of_many_gets_it(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        asked = [leases.take(record, STUDY, "w", f"holder-{n}", 100.0, 60.0) for n in range(10)]
        got = await asyncio.gather(*asked)
        assert sum(got) == 1
        first = f"holder-{got.index(True)}"
        other = "somebody-else"
        assert await leases.take(record, STUDY, "w", first, 110.0, 60.0)
        # It was prolonged, so the old end does not count.
        assert not await leases.take(record, STUDY, "w", other, 165.0, 60.0)
        assert await leases.take(record, STUDY, "another work", other, 165.0, 60.0)
        assert await leases.take(record, STUDY, "w", other, 171.0, 60.0)
        assert not await leases.take(record, STUDY, "w", first, 172.0, 60.0)


async def test_given_back_by_its_holder_only(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        await leases.give_back(record, STUDY, "w", "nobody-ever-had-it")
        assert await leases.take(record, STUDY, "w", "a", 100.0, 60.0)
        await leases.give_back(record, STUDY, "w", "b")
        assert not await leases.take(record, STUDY, "w", "b", 101.0, 60.0)
        await leases.give_back(record, STUDY, "w", "a")
        assert await leases.take(record, STUDY, "w", "b", 101.0, 60.0)


async def test_a_decision_of_the_holder_alone(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        await leases.take(record, STUDY, "w", "a", 100.0, 60.0)

        async def decide(holder: str, now: float) -> None:
            guard = leases.held(STUDY, "w", holder, now)
            await record.writer.commit(Decision(STUDY, (), (guard,)))

        await decide("a", 160.0)
        for holder, now in (("b", 110.0), ("a", 160.5)):
            with pytest.raises(Conflict):
                await decide(holder, now)


async def test_a_clock_that_ran_ahead_keeps_nobody_waiting(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        assert await leases.take(record, STUDY, "w", "an hour ahead", 3700.0, 60.0)
        assert await leases.take(record, STUDY, "w", "b", 100.0, 60.0)
        # Clocks of two machines are never quite the same.
        assert not await leases.take(record, STUDY, "w", "c", 50.0, 60.0)
