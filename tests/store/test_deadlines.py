"""Deadlines in Redis follow the states of a dialog, however many of them lie between two calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest_asyncio
from redis.asyncio import Redis

from chatserver.live.deadlines import Deadlines, Due
from dialogs.dialog import DeadlineKind, deadlines
from dialogs.events import Away, Ended, Event, Extended, Part, Returned, Said
from dialogs.rules import Outcome, Role
from dialogs.state import DialogState, begin, evolve
from pairing.keys import Keys
from tests.records import OPENED_AT, opening_of

KEYS = Keys("study")
ASK = Said(OPENED_AT, Role.QUESTIONER, "k1", 1, (Part("Is it a dog?"),))
TELL = Said(OPENED_AT, Role.ANSWERER, "k2", 1, (Part("It is."),))


class Armed:
    """The deadlines of a study, with a view of what Redis holds."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis
        self.deadlines = Deadlines(redis, KEYS, stretches=3)

    async def send(self) -> None:
        """Let what was ordered reach Redis."""
        sending = asyncio.ensure_future(self.deadlines.send())
        await self.deadlines.flushed()
        sending.cancel()

    async def delays(self) -> dict[Due, float]:
        """The seconds until each deadline fires, rounded."""
        now = await self.deadlines.redis_time()
        found = await self.redis.zrange(KEYS.deadlines, 0, -1, withscores=True)
        return {Due.parse(m.decode()): round(score - now) for m, score in found}

    def opened(self) -> DialogState:
        state = begin("d", opening_of("d", 0, 1))
        for deadline in deadlines(state):
            self.deadlines.arm(Due.of("d", deadline), self.deadlines.full_length(deadline))
        return state

    def go(self, state: DialogState, happened: Iterable[Event]) -> DialogState:
        for event in happened:
            before, state = state, evolve(state, event)
            self.deadlines.change(before, state)
        return state

    def wanted(self, state: DialogState) -> dict[Due, float]:
        return {Due.of("d", d): round(self.deadlines.full_length(d)) for d in deadlines(state)}


@pytest_asyncio.fixture
async def armed(redis_url: str) -> AsyncIterator[Armed]:
    async with Redis.from_url(redis_url) as redis:
        yield Armed(redis)


async def test_several_changes_before_a_call_are_as_good_as_one_call_each(armed: Armed) -> None:
    state = armed.opened()
    await armed.send()
    away = Away(OPENED_AT, Role.QUESTIONER)
    state = armed.go(state, [ASK, TELL, away, Returned(OPENED_AT, Role.QUESTIONER)])
    await armed.send()
    assert await armed.delays() == armed.wanted(state)
    state = armed.go(state, [Away(OPENED_AT, Role.ANSWERER)])
    await armed.send()
    assert await armed.delays() == armed.wanted(state)


async def test_an_order_after_a_change_wins(armed: Armed) -> None:
    state = armed.go(armed.opened(), [Away(OPENED_AT, Role.QUESTIONER)])
    state = armed.go(state, [Returned(OPENED_AT, Role.QUESTIONER)])
    back = Due(DeadlineKind.PRESENCE, "d", Role.QUESTIONER, state.seq)
    armed.deadlines.arm(back, 5.0)
    await armed.send()
    assert await armed.delays() == armed.wanted(state) | {back: 5.0}


async def test_what_is_missing_by_a_sweep_is_not_what_was_ordered_just_before(armed: Armed) -> None:
    """Whoever is gone has less time from then on, even if a sweep comes in the same moment."""
    state = armed.opened()
    await armed.send()
    gone = Due(DeadlineKind.PRESENCE, "d", Role.QUESTIONER, state.seq)
    armed.deadlines.arm(gone, 5.0)
    armed.deadlines.arm_missing(gone, 30.0)
    await armed.send()
    assert await armed.delays() == armed.wanted(state) | {gone: 5.0}
    armed.deadlines.disarm(gone)
    armed.deadlines.arm_missing(gone, 20.0)
    await armed.send()
    assert await armed.delays() == armed.wanted(state) | {gone: 20.0}


async def test_more_time_moves_the_limit_and_begins_turn_and_grace_anew(armed: Armed) -> None:
    state = armed.go(armed.opened(), [ASK, Away(OPENED_AT, Role.QUESTIONER)])
    turn = Due(DeadlineKind.TURN, "d", Role.ANSWERER, 2)
    armed.deadlines.disarm(turn)
    armed.deadlines.arm(turn._replace(stretch=2), 180.0)
    await armed.send()
    before = await armed.delays()
    assert turn._replace(stretch=2) in before
    state = armed.go(state, [Extended(OPENED_AT + 100.0, "k", 300.0)])
    await armed.send()
    after = await armed.delays()
    assert after == armed.wanted(state)
    assert after[Due(DeadlineKind.LIMIT, "d", None, 4)] == 3600 - 100 + 300
    assert after[Due(DeadlineKind.TURN, "d", Role.ANSWERER, 4)] == 180
    assert after[Due(DeadlineKind.GRACE, "d", Role.QUESTIONER, 4)] == 60
    assert not [due for due in before if due in after and due.kind is not DeadlineKind.PRESENCE]


async def test_an_ended_dialog_leaves_no_deadline_and_no_stretch_of_one(armed: Armed) -> None:
    state = armed.go(armed.opened(), [ASK])
    turn = Due(DeadlineKind.TURN, "d", Role.ANSWERER, state.seq)
    armed.deadlines.disarm(turn)
    armed.deadlines.arm(turn._replace(stretch=1), 180.0)
    await armed.send()
    assert turn._replace(stretch=1) in await armed.delays()
    armed.go(state, [TELL, Ended(OPENED_AT, Outcome.ABANDONED, ())])
    await armed.send()
    assert await armed.delays() == {}
