"""Waiting for a partner, being matched, and everything that can come between."""

from __future__ import annotations

from redis.asyncio import Redis

from tests.live import Live


async def test_a_redis_that_lost_its_places_does_not_say_that_nothing_is_left(live: Live) -> None:
    await live.begin(items=1, sweep_s=60.0)
    (ada,) = await live.people(1)
    await ada.do("ready")
    await ada.until(lambda: ada.lobby.get("position") == 1)
    async with Redis.from_url(live.redis_url) as redis:
        await redis.flushdb()
    count = len(ada.seen("lobby"))
    await ada.until(lambda: len(ada.seen("lobby")) > count)
    assert not ada.lobby["nothing_left"]
    assert (await ada.ask("stop_waiting"))["code"] == "not_now"
