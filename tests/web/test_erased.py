"""Somebody who was erased comes again; and Redis keeps nothing of what people write."""

from __future__ import annotations

import asyncio
from typing import Any

from redis.asyncio import Redis

from chatserver.tokens import Tokens
from dialogs.record import erasing
from tests.live import SECRET, Live, Person


async def erase(live: Live, worker_id: str) -> None:
    pseudonym = Tokens(SECRET, live.study_id).erased
    url = live.database_url
    # As `duologue erase` does, beside the server that runs.
    await asyncio.to_thread(erasing.erase, url, [worker_id], pseudonym, 1.0)


async def went_home(live: Live, **how: Any) -> Person:
    ada = live.person()
    await ada.arrive(**how)
    await ada.connect()
    await ada.do("leave", {"reason": "lunch"})
    await ada.shows("released")
    return ada


async def test_who_was_erased_is_known_again_and_does_not_get_in(live_each: Live) -> None:
    live = live_each
    await live.begin()
    ada = await went_home(live)
    (worker,) = await live.rows_of("workers")
    await erase(live, worker.id)
    for another in (False, True):
        answer = await ada.another_tab().arrive(another=another)
        assert (answer["status"], answer["code"]) == (409, "cap_reached")
        assert "erased because you asked" in answer["error"]
    assert len(await live.rows_of("workers")) == len(await live.rows_of("arrivals")) == 1
    assert (await live.person().arrive())["status"] == 200
    # The page that they had left open finds its arrival, and nothing to do.
    tab = ada.another_tab()
    await tab.connect()
    await tab.shows("released")


async def test_an_invitation_of_somebody_who_was_erased_lets_nobody_in(live: Live) -> None:
    await live.begin(study={"invitations": frozenset({"invite-one", "invite-two"})})
    await went_home(live, query={"invite": "invite-one"})
    (worker,) = await live.rows_of("workers")
    await erase(live, worker.id)
    answer = await live.person().arrive(query={"invite": "invite-one"})
    assert answer["status"] == 409
    assert (await live.person().arrive(query={"invite": "invite-two"}))["status"] == 200


async def kept(redis: Redis, key: bytes) -> Any:
    match await redis.type(key):
        case b"hash":
            return await redis.hgetall(key)  # type: ignore[misc]
        case b"zset":
            return await redis.zrange(key, 0, -1)
        case b"list":
            return await redis.lrange(key, 0, -1)  # type: ignore[misc]
        case b"string":
            return await redis.get(key)
        case other:
            raise AssertionError(f"{key!r} is a {other!r}")


async def test_redis_holds_nothing_of_what_was_written(live: Live) -> None:
    await live.begin(items=1)
    asker, teller = await live.pair(*await live.people(2))
    await asker.say("UNMISTAKABLE?")
    await teller.shows_text("UNMISTAKABLE?")
    await asker.do("report", {"text": "UNMISTAKABLE."})
    redis = Redis.from_url(live.redis_url)
    try:
        held = [repr(await kept(redis, key)) async for key in redis.scan_iter()]
        assert held
        assert not any("UNMISTAKABLE" in each for each in held)
    finally:
        await redis.aclose()
