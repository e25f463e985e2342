"""Places are offered, withdrawn, held by matches, and brought back to what the record says."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pairing.lobby import Lobby
from pairing.rules import Match
from tests.lobbies import all_matches, data_left, open_lobby, people, person, places


@pytest.fixture
async def lobby(redis_url: str) -> AsyncIterator[Lobby]:
    async with open_lobby(redis_url) as opened:
        yield opened


async def drain(lobby: Lobby) -> list[tuple[str, int]]:
    """Match new people until nothing is free: the places in the order in which they went."""
    count = await lobby.places()
    await lobby.join(*people(2 * count))
    return [(m.item_id, m.place) for m in await all_matches(lobby)]


async def hold(lobby: Lobby) -> Match:
    """A match that holds the first place."""
    await lobby.join(person("x"), person("y"))
    match = await lobby.match()
    assert match is not None
    return match


async def test_places_go_in_the_order_offered(lobby: Lobby) -> None:
    offered = [("dog", 2), ("dog", 1), ("cat", 7), ("ant", 1)]
    await lobby.offer(offered)
    await lobby.offer([("ape", 1)])
    assert await lobby.places() == 5
    assert await drain(lobby) == [*offered, ("ape", 1)]
    assert await lobby.places() == 0


async def test_offering_twice_is_offering_once(lobby: Lobby) -> None:
    await lobby.offer(places(3))
    await lobby.offer(places(3))
    assert await lobby.places() == 3
    match = await hold(lobby)
    await lobby.offer(places(3))
    assert await lobby.places() == 2
    await lobby.dissolve(match.match_id, [])
    assert await lobby.places() == 3


async def test_more_than_a_chunk_of_places(lobby: Lobby) -> None:
    await lobby.offer(places(1234))
    assert await lobby.places() == 1234
    await lobby.withdraw(places(1000))
    assert await lobby.places() == 234


async def test_a_withdrawn_place_is_not_matched(lobby: Lobby) -> None:
    await lobby.offer([("dog", 11), ("dog", 1), ("dog", 10)])
    assert await lobby.places() == 3
    await lobby.withdraw([("dog", 1), ("cat", 1)])
    assert await drain(lobby) == [("dog", 11), ("dog", 10)]


async def test_a_place_withdrawn_while_held_does_not_come_back(lobby: Lobby) -> None:
    await lobby.offer([("dog", 1)])
    match = await hold(lobby)
    await lobby.withdraw([("dog", 1)])
    await lobby.withdraw([("dog", 1)])
    await lobby.dissolve(match.match_id, [])
    assert await lobby.places() == 0
    assert await data_left(lobby) == {}


async def test_a_place_withdrawn_and_offered_while_held_comes_back_once(lobby: Lobby) -> None:
    await lobby.offer([("dog", 1)])
    match = await hold(lobby)
    await lobby.withdraw([("dog", 1)])
    await lobby.offer([("dog", 1)])
    assert await lobby.places() == 0
    await lobby.dissolve(match.match_id, ["x", "y"])
    assert await lobby.places() == 1


async def test_sync_fills_an_empty_lobby_in_order(lobby: Lobby) -> None:
    wanted = [(f"item-{i * 7919 % 1000:04d}", 1 + i % 3) for i in range(700)]
    await lobby.sync_places(iter(wanted))
    assert await lobby.places() == 700
    assert (await drain(lobby))[:3] == wanted[:3]


async def test_sync_adds_what_is_missing_and_takes_what_is_not_wanted(lobby: Lobby) -> None:
    await lobby.offer([("dog", 1), ("dog", 2), ("cat", 1)])
    await lobby.sync_places({("dog", 2), ("ant", 1)})
    assert sorted(await drain(lobby)) == [("ant", 1), ("dog", 2)]


async def test_sync_leaves_what_matches_hold(lobby: Lobby) -> None:
    await lobby.offer(places(3))
    match = await hold(lobby)
    await lobby.sync_places(places(3))
    assert await lobby.places() == 2
    await lobby.dissolve(match.match_id, [])
    assert await lobby.places() == 3


async def test_sync_takes_what_a_match_holds_and_nobody_wants_when_it_ends(lobby: Lobby) -> None:
    await lobby.offer(places(3))
    match = await hold(lobby)
    await lobby.sync_places(places(3)[1:])
    assert await lobby.get(match.match_id) == match
    await lobby.dissolve(match.match_id, [])
    assert await lobby.places() == 2


async def test_sync_wants_a_withdrawn_held_place_again(lobby: Lobby) -> None:
    await lobby.offer(places(1))
    match = await hold(lobby)
    await lobby.withdraw(places(1))
    await lobby.sync_places(places(1))
    await lobby.dissolve(match.match_id, [])
    assert await lobby.places() == 1


async def test_sync_with_an_old_reading_does_not_free_a_place_just_sealed(lobby: Lobby) -> None:
    await lobby.offer(places(1))
    await lobby.seal(await hold(lobby))
    await lobby.sync_places(places(1))
    assert await lobby.places() == 0
    lobby.offset_s = 61.0
    await lobby.sync_places(places(1))
    assert await lobby.places() == 1


async def test_a_place_whose_dialog_failed_at_once_can_be_offered_at_once(lobby: Lobby) -> None:
    await lobby.offer(places(1))
    await lobby.seal(await hold(lobby))
    await lobby.offer(places(1))
    assert await lobby.places() == 1


async def test_sync_that_finds_nothing_to_do_writes_nothing(lobby: Lobby) -> None:
    await lobby.offer(places(1000))
    await hold(lobby)
    await lobby._client.config_resetstat()
    await lobby.sync_places(places(1000))
    stats = await lobby._client.info("commandstats")
    assert {name.removeprefix("cmdstat_") for name in stats} <= {
        "hscan",
        "hgetall",
        "config|resetstat",
        "info",
        "client|setinfo",
    }


async def test_a_pair_that_has_seen_the_first_40_items_gets_the_next(lobby: Lobby) -> None:
    ids = [item for item, _ in places(300)]
    await lobby.offer(places(300))
    await lobby.join(
        person("a", seen=frozenset(ids[:40:2])), person("b", seen=frozenset(ids[1:40:2]))
    )
    match = await lobby.match()
    assert match is not None
    assert match.item_id == ids[40]


async def test_a_pair_that_has_seen_all_in_front_gets_one_at_random(lobby: Lobby) -> None:
    ids = [item for item, _ in places(300)]
    await lobby.offer(places(300))
    await lobby.join(person("a", seen=frozenset(ids[:200])), person("b"))
    for _ in range(1000):
        if match := await lobby.match():
            break
    assert match is not None
    assert match.item_id in ids[200:]
