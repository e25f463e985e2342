"""The lobby's script gives the verdicts of the pure rules, for any people and any items."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialogs.rules import Role
from pairing.lobby import Lobby
from pairing.rules import (
    Waiting,
    assign_roles,
    by_age,
    choose,
    compatible,
    item_for,
)
from tests.lobbies import data_left, open_lobby

Run = Callable[[Coroutine[Any, Any, None]], None]

# One Redis for all examples: each begins with a flush of its own database.
IN_REDIS = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

WORKERS = ["w1", "w2", "w3", 'w"4\\', "wörker/5", "w\n6", "w1w2"]
ITEMS = ["dog", "cat", "ant 1", "ö:2", '"', "dogcat"]


def waiting(arrival_id: str = "a") -> st.SearchStrategy[Waiting]:
    return st.builds(
        Waiting,
        arrival_id=st.just(arrival_id),
        worker_id=st.sampled_from(WORKERS),
        language=st.sampled_from(["en"] * 6 + ["de", ""]),
        ready_at=st.floats(0, 4e9),
        address=st.sampled_from([None, "", "home", "home", "work"]),
        seen=st.frozensets(st.sampled_from([*ITEMS, "other"]), max_size=4),
        met=st.frozensets(st.sampled_from(WORKERS), max_size=2),
        roles=st.sampled_from(
            [frozenset(Role)] * 5 + [*(frozenset({r}) for r in Role), frozenset()]
        ),
        dialogs_left=st.sampled_from([1, 1, 1, 2, 20, 0, -1]),
    )


@pytest.fixture
def run() -> Iterator[Run]:
    with asyncio.Runner() as runner:
        yield runner.run


@asynccontextmanager
async def lobby_of(
    url: str, people: list[Waiting], items: list[str], *, same_address: bool, seed: int = 1
) -> AsyncIterator[Lobby]:
    async with open_lobby(url, seed=seed, same_address_allowed=same_address) as lobby:
        await lobby._client.flushdb()
        await lobby.join(*people)
        await lobby.offer((item, 1) for item in items)
        yield lobby


@IN_REDIS
@given(
    a=waiting(),
    b=waiting("b"),
    items=st.lists(st.sampled_from(ITEMS), unique=True),
    same_address=st.booleans(),
    seed=st.integers(0, 3),
)
def test_the_script_agrees_with_the_rules_about_any_two(
    redis_url: str,
    run: Run,
    a: Waiting,
    b: Waiting,
    items: list[str],
    same_address: bool,
    seed: int,
) -> None:
    async def check() -> None:
        async with lobby_of(
            redis_url, [a, b], items, same_address=same_address, seed=seed
        ) as lobby:
            match = await lobby.match()
        item = item_for(a, b, items)
        fits = item is not None and compatible(a, b, same_address)
        assert (match is not None) == fits
        if match:
            assert match.item_id == item
            roles = [assign_roles(a, b, coin) for coin in (True, False)]
            seats = match.questioner, match.answerer
            assert [(s.arrival_id, s.worker_id) for s in seats] in [
                [(w.arrival_id, w.worker_id) for w in pair] for pair in roles
            ]

    run(check())


@IN_REDIS
@given(
    people=st.integers(0, 14).flatmap(lambda n: st.tuples(*(waiting(f"a{i}") for i in range(n)))),
    items=st.lists(st.sampled_from(ITEMS), unique=True),
    same_address=st.booleans(),
)
def test_a_small_lobby_is_paired_exactly_as_the_rules_choose(
    redis_url: str, run: Run, people: tuple[Waiting, ...], items: list[str], same_address: bool
) -> None:
    async def check() -> None:
        async with lobby_of(redis_url, list(people), items, same_address=same_address) as lobby:
            queue, free, busy = by_age(people), list(items), set[str]()
            while True:
                able = [w for w in queue if w.worker_id not in busy]
                chosen = choose(able, free, same_address)
                match = await lobby.match()
                if chosen is None:
                    assert match is None
                    break
                older, younger, item = chosen
                assert match is not None
                assert set(match.arrivals) == {older.arrival_id, younger.arrival_id}
                assert match.item_id == item
                queue = [w for w in queue if w not in (older, younger)]
                free.remove(item)
                busy |= {older.worker_id, younger.worker_id}
            for w in people:
                await lobby.leave(w.arrival_id)
            assert await data_left(lobby) == {}
            assert await lobby.places() == len(items)

    run(check())


@given(
    people=st.integers(0, 8).flatmap(lambda n: st.tuples(*(waiting(f"a{i}") for i in range(n)))),
    items=st.lists(st.sampled_from(ITEMS), unique=True),
    same_address=st.booleans(),
)
def test_no_pair_is_chosen_over_older_people(
    people: tuple[Waiting, ...], items: list[str], same_address: bool
) -> None:
    def fits(a: Waiting, b: Waiting) -> bool:
        return compatible(a, b, same_address) and item_for(a, b, items) is not None

    queue = by_age(people)
    chosen = choose(queue, items, same_address)
    if chosen is None:
        assert not any(fits(a, b) for a, b in combinations(queue, 2))
        return
    older, younger, item = chosen
    assert fits(older, younger)
    assert item == item_for(older, younger, items)
    for w in queue[: queue.index(older)]:
        assert not fits(w, older)
        assert not fits(w, younger)
    for w in queue[: queue.index(younger)]:
        assert w is older or not fits(w, older)


@given(a=waiting(), b=waiting("b"), same_address=st.booleans())
def test_fitting_is_mutual(a: Waiting, b: Waiting, same_address: bool) -> None:
    assert compatible(a, b, same_address) == compatible(b, a, same_address)


@given(a=waiting(), b=waiting("b"), coin=st.booleans())
def test_roles_are_ones_that_people_can_hold(a: Waiting, b: Waiting, coin: bool) -> None:
    if compatible(a, b, same_address_allowed=True):
        asking, answering = assign_roles(a, b, coin)
        assert {asking, answering} == {a, b}
        assert Role.QUESTIONER in asking.roles
        assert Role.ANSWERER in answering.roles


def test_who_can_do_both_does_each_half_of_the_time(redis_url: str, run: Run) -> None:
    async def check() -> None:
        async with open_lobby(redis_url) as lobby:
            asked = 0
            for i in range(400):
                await lobby.offer([(f"item-{i}", 1)])
                await lobby.join(Waiting("old", "w1", "en", 1.0), Waiting("new", "w2", "en", 2.0))
                match = await lobby.match()
                assert match is not None
                asked += match.questioner.arrival_id == "old"
                await lobby.seal(match)
            # 400 fair tosses are outside this range once in ten thousand seeds; the seed is fixed.
            assert 160 < asked < 240

    run(check())
