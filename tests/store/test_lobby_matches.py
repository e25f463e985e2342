"""Matches: both start, or not, or one of many callers ends it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from pairing.lobby import FRESH_S, START_S, Lobby
from pairing.rules import Match
from tests.lobbies import all_matches, data_left, open_lobby, person


@pytest.fixture
async def lobby(redis_url: str) -> AsyncIterator[Lobby]:
    async with open_lobby(redis_url) as opened:
        await opened.offer([("dog", 1), ("cat", 1)])
        await opened.join(person("a", 1.0), person("b", 2.0))
        yield opened


@pytest.fixture
async def match(lobby: Lobby) -> Match:
    made = await lobby.match()
    assert made is not None
    return made


async def test_a_match_is_found_by_its_id_and_by_its_arrivals(lobby: Lobby, match: Match) -> None:
    assert await lobby.get(match.match_id) == match
    assert await lobby.match_of("a") == match
    assert await lobby.match_of("b") == match
    assert await lobby.match_of("c") is None
    assert await lobby.get("other") is None


async def test_start_by_is_20_seconds_away_by_the_servers_clock(lobby: Lobby, match: Match) -> None:
    seconds, micros = await lobby._client.time()
    assert 0 <= seconds + micros / 1e6 - (match.start_by - START_S) < 10


async def test_both_have_started_when_both_pressed(lobby: Lobby, match: Match) -> None:
    first = await lobby.start(match.match_id, "b")
    assert first is not None
    assert first.started == {"b"}
    assert not first.both_started
    assert await lobby.start(match.match_id, "b") == first
    second = await lobby.start(match.match_id, "a")
    assert second is not None
    assert second.both_started
    assert await lobby.get(match.match_id) == second


async def test_exactly_one_of_two_concurrent_presses_sees_the_first_of_both(
    lobby: Lobby, match: Match
) -> None:
    seen = await asyncio.gather(*(lobby.start(match.match_id, a) for a in match.arrivals))
    assert sorted(len(m.started) for m in seen if m) == [1, 2]


async def test_nobody_else_can_start_a_match(lobby: Lobby, match: Match) -> None:
    await lobby.join(person("c"))
    assert await lobby.start(match.match_id, "c") is None
    assert await lobby.start("other", "a") is None
    assert await lobby.get(match.match_id) == match


async def test_a_press_after_the_deadline_does_not_count(lobby: Lobby, match: Match) -> None:
    lobby.offset_s = START_S + 0.5
    pressed = await lobby.start(match.match_id, "a")
    assert pressed is not None
    assert pressed.started == {"a"}, "a press on the way at the deadline counts"
    assert await lobby.overdue() == []
    lobby.offset_s = START_S + 2
    assert await lobby.start(match.match_id, "b") == pressed
    assert await lobby.overdue() == [pressed]


async def test_dissolve_has_one_winner(lobby: Lobby, match: Match) -> None:
    ended = await asyncio.gather(*(lobby.dissolve(match.match_id, ["a"]) for _ in range(10)))
    assert [m for m in ended if m] == [match]
    assert await lobby.places() == 2
    assert await lobby.view("a") == (1, 1)
    assert await lobby.view("b") is None
    assert await lobby.beat(["a", "b"]) == ["b"]


async def test_dissolve_against_seal_against_leave_has_one_end(lobby: Lobby, match: Match) -> None:
    await asyncio.gather(
        *(lobby.dissolve(match.match_id, match.arrivals) for _ in range(5)),
        lobby.seal(match),
        *(lobby.leave("a") for _ in range(5)),
    )
    assert await data_left(lobby) == {}
    assert await lobby.places() == 1
    assert await lobby.get(match.match_id) is None


async def test_who_is_kept_has_the_old_position(lobby: Lobby, match: Match) -> None:
    await lobby.join(person("c", 1.5))
    await lobby.dissolve(match.match_id, ["a", "b"])
    assert [await lobby.view(name) for name in "acb"] == [(1, 3), (2, 3), (3, 3)]


async def test_who_is_kept_but_silent_is_asleep(lobby: Lobby, match: Match) -> None:
    lobby.offset_s = FRESH_S + 1
    await lobby.beat(["a"])
    await lobby.dissolve(match.match_id, ["a", "b"])
    assert await lobby.view("a") == (1, 1)
    assert await lobby.match() is None
    await lobby.beat(["b"])
    assert await lobby.match() is not None


async def test_a_dissolved_matchs_place_is_the_next_again(lobby: Lobby, match: Match) -> None:
    assert match.item_id == "dog"
    await lobby.dissolve(match.match_id, ["a", "b"])
    again = await lobby.match()
    assert again is not None
    assert (again.item_id, again.place) == ("dog", 1)


async def test_a_sealed_match_leaves_nothing_but_its_wait(lobby: Lobby, match: Match) -> None:
    await lobby.seal(match)
    assert await lobby.get(match.match_id) is None
    assert await lobby.match_of("a") is None
    assert await data_left(lobby) == {}
    assert await lobby.places() == 1
    assert await lobby.beat(["a", "b"]) == ["a", "b"]
    waits = await lobby.waits()
    assert len(waits) == 2
    assert await lobby.dissolve(match.match_id, ["a", "b"]) is None
    await lobby.seal(match)
    assert await lobby.waits() == waits


async def test_only_the_last_100_waits_are_kept(lobby: Lobby) -> None:
    now = (await lobby._client.time())[0]
    for i in range(60):
        await lobby.offer([(f"item-{i}", 1)])
        await lobby.join(person("c", now - 10.0), person("d", now - 20.0))
        for match in await all_matches(lobby):
            await lobby.seal(match)
    waits = await lobby.waits()
    assert len(waits) == 100
    assert all(9 < wait < 60 for wait in waits)


async def test_sealing_what_was_dissolved_meanwhile_still_takes_everything(
    lobby: Lobby, match: Match
) -> None:
    await lobby.dissolve(match.match_id, ["a", "b"])
    assert await lobby.places() == 2
    await lobby.seal(match)
    assert await lobby.places() == 1
    assert await data_left(lobby) == {}


async def test_sealing_does_not_take_an_arrival_out_of_another_match(
    lobby: Lobby, match: Match
) -> None:
    await lobby.dissolve(match.match_id, ["a", "b"])
    again = await lobby.match()
    assert again is not None
    await lobby.seal(match)
    assert await lobby.get(again.match_id) == again
    assert await lobby.dissolve(again.match_id, ["b"]) == again
    assert await lobby.view("b") == (1, 1)


async def test_many_matches_at_the_deadline_come_in_order(lobby: Lobby, match: Match) -> None:
    await lobby.join(person("c"), person("d"))
    lobby.offset_s = 1.0
    await lobby.beat(["c", "d"])
    second = await lobby.match()
    assert second is not None
    lobby.offset_s = START_S + 10
    assert await lobby.overdue() == [match, second]
    await lobby.dissolve(match.match_id, [])
    await lobby.seal(second)
    assert await lobby.overdue() == []
    assert await data_left(lobby) == {}
