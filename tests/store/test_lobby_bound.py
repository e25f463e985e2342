"""The work of a match is bounded whoever waits, and still everybody is found."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pairing.lobby import Lobby
from pairing.rules import Waiting
from tests.lobbies import all_matches, open_lobby, people, person, places


@pytest.fixture
async def lobby(redis_url: str) -> AsyncIterator[Lobby]:
    async with open_lobby(redis_url) as opened:
        await opened.offer(places(100))
        yield opened


def odd(count: int) -> list[Waiting]:
    """People who fit with nobody, older than `people`."""
    return [person(f"odd{i:05d}", i - 1e6, language=f"odd-{i}") for i in range(count)]


async def work(lobby: Lobby) -> dict[str, int]:
    """How often one call of `match` used each Redis command."""
    await lobby._client.config_resetstat()
    await lobby.match()
    stats = await lobby._client.info("commandstats")
    return {name.removeprefix("cmdstat_"): s["calls"] for name, s in stats.items()}


@pytest.mark.parametrize("waiting", [65, 1000, 5000])
async def test_a_call_in_vain_does_the_same_work_whoever_waits(lobby: Lobby, waiting: int) -> None:
    await lobby.join(*odd(waiting))
    await work(lobby)
    done = await work(lobby)
    assert done["evalsha"] == 1
    assert done["zrange"] == 1 + 2 + 8 + 1  # The oldest, two blocks, ranks at random, the newest.
    assert done["hmget"] == done["zmscore"] == 5
    assert sum(done.values()) < 40


async def test_a_call_in_vain_among_people_who_have_all_met_is_bounded(lobby: Lobby) -> None:
    met = frozenset(w.worker_id for w in people(500))
    await lobby.join(*people(500, met=met))
    await work(lobby)
    done = await work(lobby)
    assert done["hmget"] == 5
    assert done["hexists"] <= 64
    assert sum(done.values()) < 110


async def test_behind_a_thousand_who_fit_nobody_the_next_oldest_are_served(lobby: Lobby) -> None:
    await lobby.join(*odd(1000), *people(400))
    found = await all_matches(lobby)
    assert len(found) == 100
    # Until the cursor is past those in front, people are found at random; then oldest first.
    last = {int(a.removeprefix("a")) for match in found[-20:] for a in match.arrivals}
    assert last <= set(range(200))


async def test_the_newest_is_tried_at_once(lobby: Lobby) -> None:
    await lobby.join(*odd(1000))
    assert await lobby.match() is None
    await lobby.join(*people(2))
    match = await lobby.match()
    assert match is not None
    assert set(match.arrivals) == {"a0000", "a0001"}


@pytest.mark.parametrize(("first", "second"), [(40, 41), (70, 150), (17, 190), (100, 199)])
async def test_every_two_are_compared_within_the_stated_bound(
    lobby: Lobby, first: int, second: int
) -> None:
    waiting = odd(200)
    for i in (first, second):
        waiting[i] = person(f"fits{i}", waiting[i].ready_at)
    await lobby.join(*waiting)
    for _ in range((200 // 16 + 1) ** 2 // 2):
        if match := await lobby.match():
            break
    assert match is not None
    assert set(match.arrivals) == {f"fits{first}", f"fits{second}"}


async def test_without_chance_the_cursor_alone_compares_every_two(lobby: Lobby) -> None:
    waiting = odd(200)
    await lobby.join(*waiting)
    compared: set[tuple[int, int]] = set()
    blocks = -(-200 // 16)
    for _ in range(blocks * (blocks // 2)):
        await lobby.match()
        cursor = await lobby._client.get(lobby.keys.cursor)
        assert cursor is not None
        p, d = map(int, cursor.split())
        p -= 1
        compared.add((min(p, (p + d) % blocks), max(p, (p + d) % blocks)))
    assert compared == {(p, q) for p in range(blocks) for q in range(p + 1, blocks)}


async def test_a_new_place_makes_the_cursor_begin_again(lobby: Lobby) -> None:
    await lobby.join(*odd(200))
    await lobby.match()
    assert await lobby._client.get(lobby.keys.cursor) == b"1 1"
    await lobby.offer([("new", 1)])
    await lobby.match()
    assert await lobby._client.get(lobby.keys.cursor) == b"1 1"
