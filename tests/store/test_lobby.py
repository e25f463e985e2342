"""Arrivals in the lobby: they come, answer heartbeats, fall asleep, leave, and leave nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from dialogs.rules import Role
from pairing.lobby import FORGET_S, FRESH_S, Lobby
from tests.lobbies import all_matches, data_left, open_lobby, people, person, places
from tests.services import flush


@pytest.fixture
async def lobby(redis_url: str) -> AsyncIterator[Lobby]:
    async with open_lobby(redis_url) as opened:
        yield opened


async def test_two_who_wait_are_matched_with_the_first_place(lobby: Lobby) -> None:
    await lobby.offer([("dog", 1), ("cat", 1)])
    await lobby.join(person("a", 1.0), person("b", 2.0))
    match = await lobby.match()
    assert match is not None
    assert set(match.arrivals) == {"a", "b"}
    assert {s.worker_id for s in (match.questioner, match.answerer)} == {"worker-a", "worker-b"}
    assert (match.item_id, match.place, match.started) == ("dog", 1, frozenset())
    assert await lobby.match() is None


async def test_200_who_join_at_once_make_100_matches_and_nobody_twice(lobby: Lobby) -> None:
    await lobby.offer(places(100))
    found = []

    async def come(i: int) -> None:
        await lobby.join(person(f"a{i}", float(i % 7)))
        found.extend(await all_matches(lobby))

    await asyncio.gather(*(come(i) for i in range(200)))
    assert len(found) == 100
    assert len({arrival for match in found for arrival in match.arrivals}) == 200
    assert len({(match.item_id, match.place) for match in found}) == 100
    assert await lobby.places() == 0


@pytest.mark.parametrize(
    "other",
    [
        {"worker_id": "worker-a"},
        {"met": frozenset({"worker-a"})},
        {"language": "de"},
        {"dialogs_left": 0},
        {"roles": frozenset()},
        {"address": "home"},
        {"seen": frozenset({"item-0000"})},
    ],
    ids=lambda other: next(iter(other)),
)
async def test_two_who_do_not_fit_are_not_matched(redis_url: str, other: dict[str, Any]) -> None:
    async with open_lobby(redis_url, same_address_allowed=False) as lobby:
        await lobby.offer(places(1))
        fits = person("a", 5.0, address="home")
        for ready_at in (1.0, 9.0):
            await lobby.join(fits, person("b", ready_at, **other))
            assert await lobby.match() is None
            await lobby.leave("b")
        await lobby.join(person("c", address="work"))
        assert await lobby.match() is not None


@pytest.mark.parametrize("role", list(Role))
async def test_two_people_for_one_role_are_not_matched(lobby: Lobby, role: Role) -> None:
    await lobby.offer(places(1))
    await lobby.join(person("a", roles=frozenset({role})), person("b", roles=frozenset({role})))
    assert await lobby.match() is None
    await lobby.join(person("c", 1.0))
    match = await lobby.match()
    assert match is not None
    assert match.seat(role).arrival_id == "a"


async def test_the_oldest_are_matched_first(lobby: Lobby) -> None:
    await lobby.offer(places(50))
    await lobby.join(*reversed(people(100)))
    for i, match in enumerate(await all_matches(lobby)):
        assert set(match.arrivals) == {f"a{2 * i:04d}", f"a{2 * i + 1:04d}"}


async def test_two_arrivals_of_one_worker_are_never_matched_with_each_other(lobby: Lobby) -> None:
    await lobby.offer(places(3))
    await lobby.join(person("tab1", 1.0, worker_id="w"), person("tab2", 2.0, worker_id="w"))
    assert await lobby.match() is None
    await lobby.join(person("b", 3.0), person("c", 4.0))
    match = await lobby.match()
    assert match is not None
    assert set(match.arrivals) == {"tab1", "b"}
    # Nor is the other tab matched with somebody else while the first has a match.
    assert await lobby.match() is None
    await lobby.dissolve(match.match_id, ["b"])
    assert {a for m in await all_matches(lobby) for a in m.arrivals} == {"tab2", "b"}


async def test_a_ghost_is_not_matched(lobby: Lobby) -> None:
    await lobby.offer(places(2))
    await lobby.join(person("ghost", 1.0))
    lobby.offset_s = FRESH_S + 1
    await lobby.join(person("b", 2.0))
    assert await lobby.match() is None
    await lobby.join(person("c", 3.0))
    match = await lobby.match()
    assert match is not None
    assert set(match.arrivals) == {"b", "c"}


async def test_a_ghost_that_answers_again_has_kept_its_position(lobby: Lobby) -> None:
    await lobby.join(person("ghost", 1.0))
    lobby.offset_s = FRESH_S + 1
    await lobby.join(person("b", 2.0))
    await lobby.offer(places(1))
    assert await lobby.match() is None
    assert await lobby.view("b") == (1, 1)
    assert await lobby.view("ghost") == (1, 1)
    assert await lobby.beat(["ghost"]) == []
    assert await lobby.view("ghost") == (1, 2)
    assert await lobby.match() is not None


async def test_hundreds_of_ghosts_around_them_stop_nobody(lobby: Lobby) -> None:
    await lobby.offer(places(1))
    await lobby.join(*people(500))
    lobby.offset_s = FRESH_S + 1
    await lobby.join(person("b", 250.0), person("c", 350.0))
    match = await lobby.match()
    assert match is not None
    assert set(match.arrivals) == {"b", "c"}


async def test_who_closed_the_page_is_not_matched_before_the_next_heartbeat(lobby: Lobby) -> None:
    await lobby.offer(places(1))
    await lobby.join(person("a", 1.0), person("b", 2.0))
    await lobby.sleep("a")
    assert await lobby.view("b") == (1, 1)
    assert await lobby.match() is None
    await lobby.beat(["a"])
    assert await lobby.view("b") == (2, 2)
    assert await lobby.match() is not None


async def test_sleep_in_a_match_lasts_when_it_is_dissolved(lobby: Lobby) -> None:
    await lobby.offer(places(1))
    await lobby.join(person("a", 1.0), person("b", 2.0))
    match = await lobby.match()
    assert match is not None
    await lobby.sleep("a")
    await lobby.dissolve(match.match_id, ["a", "b"])
    assert await lobby.match() is None
    assert await lobby.view("b") == (1, 1)
    await lobby.beat(["a"])
    assert await lobby.match() is not None


async def test_sleep_makes_nobody_known(lobby: Lobby) -> None:
    await lobby.sleep("a")
    assert await lobby.beat(["a"]) == ["a"]
    assert await data_left(lobby) == {}


async def test_joining_twice_is_joining_once_with_the_earliest_time(lobby: Lobby) -> None:
    await lobby.join(person("a", 5.0), person("b", 3.0))
    await lobby.join(person("a", 9.0))
    assert await lobby.view("a") == (2, 2)
    await lobby.join(person("a", 1.0))
    assert await lobby.view("a") == (1, 2)
    await lobby.join(person("a", 9.0))
    assert await lobby.view("a") == (1, 2)


async def test_joining_again_brings_what_is_new_about_a_person(lobby: Lobby) -> None:
    await lobby.offer([("dog", 1), ("cat", 1)])
    await lobby.join(person("a", 1.0))
    await lobby.join(person("a", 1.0, seen=frozenset({"dog"})), person("b", 2.0))
    match = await lobby.match()
    assert match is not None
    assert match.item_id == "cat"


async def test_joining_in_a_match_changes_nothing(lobby: Lobby) -> None:
    await lobby.offer(places(2))
    await lobby.join(person("a"), person("b"))
    assert await lobby.match() is not None
    await lobby.join(person("a"))
    assert await lobby.beat(["a", "b"]) == []
    await lobby.join(person("c"))
    assert await lobby.match() is None
    assert await lobby.view("a") is None


async def test_who_has_left_is_gone(lobby: Lobby) -> None:
    await lobby.offer(places(1))
    await lobby.join(person("a"), person("b"))
    assert await lobby.leave("a") is None
    assert await lobby.match() is None
    assert await lobby.view("a") is None
    assert await lobby.beat(["a", "b"]) == ["a"]
    assert await lobby.leave("b") is None
    assert await data_left(lobby) == {}


async def test_leaving_a_match_sends_the_partner_back_once(lobby: Lobby) -> None:
    await lobby.offer(places(1))
    await lobby.join(person("a", 1.0), person("b", 2.0), person("c", 3.0))
    match = await lobby.match()
    assert match is not None
    left = await asyncio.gather(*(lobby.leave("a") for _ in range(10)))
    assert [m for m in left if m] == [match]
    assert await lobby.view("b") == (1, 2)
    again = await lobby.match()
    assert again is not None
    assert set(again.arrivals) == {"b", "c"}


async def test_view_counts_those_in_front(lobby: Lobby) -> None:
    await lobby.join(*people(1200))
    assert await lobby.view("a0000") == (1, 1200)
    assert await lobby.view("a1199") == (1200, 1200)
    assert await lobby.view("nobody") is None
    views = await lobby.views([f"a{i:04d}" for i in range(1200)])
    assert list(views.values()) == [(i + 1, 1200) for i in range(1200)]


async def test_who_is_silent_for_an_hour_is_forgotten(lobby: Lobby) -> None:
    await lobby.offer(places(1))
    await lobby.join(person("a"), person("b"))
    assert await lobby.match() is not None
    await lobby.join(person("c"))
    lobby.offset_s = FORGET_S + 1
    await lobby.match()
    assert await data_left(lobby) == {}
    assert await lobby.beat(["a", "b", "c"]) == ["a", "b", "c"]
    assert await lobby.places() == 1


async def test_nothing_left_to_talk_about_makes_no_match(lobby: Lobby) -> None:
    await lobby.join(person("a"), person("b"))
    assert await lobby.places() == 0
    assert await lobby.match() is None
    await lobby.offer([("dog", 1)])
    await lobby.join(person("a", seen=frozenset({"dog"})))
    assert await lobby.places() == 1
    assert await lobby.match() is None


async def test_a_flush_leaves_an_empty_lobby_that_fills_again(lobby: Lobby, redis_url: str) -> None:
    await lobby.offer(places(5))
    await lobby.join(*people(4))
    match = await lobby.match()
    assert match is not None
    flush(redis_url)
    first, second = match.arrivals
    assert await lobby.start(match.match_id, first) is None
    assert await lobby.get(match.match_id) is None
    assert await lobby.match_of(first) is None
    assert await lobby.dissolve(match.match_id, [first]) is None
    assert await lobby.leave(second) is None
    await lobby.sleep(first)
    await lobby.withdraw([("item-0000", 1)])
    assert await lobby.overdue() == []
    assert await lobby.match() is None
    assert await lobby.places() == 0
    assert await lobby.waits() == []
    assert await lobby.view(first) is None
    everybody = [w.arrival_id for w in people(4)]
    unknown = await lobby.beat(everybody)
    assert unknown == everybody
    await lobby.join(*people(4))
    await lobby.sync_places(places(5))
    assert await lobby.view("a0003") == (4, 4)
    assert len(await all_matches(lobby)) == 2
    flush(redis_url)
    await lobby.seal(match)
    assert await data_left(lobby) == {}


async def test_scripts_survive_their_loss(lobby: Lobby) -> None:
    await lobby.offer(places(1))
    await lobby._client.script_flush()
    await lobby.join(person("a"), person("b"))
    await lobby._client.script_flush()
    assert await lobby.match() is not None


async def test_studies_do_not_mix(redis_url: str) -> None:
    async with open_lobby(redis_url, "one") as one, open_lobby(redis_url, "two") as two:
        await one.offer(places(1))
        await two.offer(places(1))
        await one.join(person("a"))
        await two.join(person("b"))
        assert await one.match() is None
        assert await two.match() is None


async def test_a_client_that_decodes_works_the_same(redis_url: str) -> None:
    async with open_lobby(redis_url) as lobby:
        pool = lobby._client.connection_pool
        pool.connection_kwargs["decode_responses"] = True
        await lobby.offer([("Öl", 1), ("dog", 1)])
        await lobby.join(person("ä", 1.0, worker_id='"\\\n🙂'), person("b", 2.0))
        assert await lobby.beat(["ä", "x"]) == ["x"]
        match = await lobby.match()
        assert match is not None
        assert '"\\\n🙂' in {match.questioner.worker_id, match.answerer.worker_id}
        assert "ä" in match.arrivals
        assert match.item_id == "Öl"
        await lobby.sync_places([("Öl", 1), ("cat", 2)])
        assert await lobby.places() == 1
        assert await lobby.dissolve(match.match_id, []) == match
        assert await lobby.places() == 2
        pool.connection_kwargs["decode_responses"] = False
        await pool.disconnect()
