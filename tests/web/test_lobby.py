"""Waiting for a partner, being matched, and everything that can come between."""

from __future__ import annotations

import asyncio
from typing import Any

from redis.asyncio import Redis

from chatserver.live.hub import Page
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


async def test_a_refresh_asked_for_in_the_moment_that_one_ends_is_not_lost(live: Live) -> None:
    server = await live.begin()
    (ada,) = await live.people(1)
    screens, asked = server.service.screens, 0
    show = screens.show

    async def watched(page: Page) -> None:
        nonlocal asked
        await show(page)
        if asked < 3:
            asked += 1
            asyncio.get_running_loop().call_soon(screens.refresh, page.arrival_id)

    screens.show = watched  # type: ignore[method-assign]
    states = len(ada.seen("state"))
    screens.refresh(next(server.service.hub.pages()).arrival_id)
    await ada.until(lambda: len(ada.seen("state")) == states + 4)


async def test_a_match_is_shown_and_its_end_too_when_fan_out_loses_both(
    live_postgres: Live,
) -> None:
    one = await live_postgres.begin(items=1, lobby_s=0.2, study={"start_s": 1.5})
    two = await live_postgres.serve()
    (ada,) = await live_postgres.people(1, one.url)
    (ben,) = await live_postgres.people(1, two.url)
    for server in (one, two):
        server.service.fanout.tell = lambda kind, note: None  # type: ignore[method-assign]
    await live_postgres.match(ada, ben)
    await ada.do("start")
    await ben.until(lambda: ben.stage == "arrived" and ben.state["missed_start"])
    await ada.shows("waiting")


async def test_a_page_that_could_not_be_refreshed_is_refreshed_later(live: Live) -> None:
    server = await live.begin()
    (ada,) = await live.people(1)
    lobby, failures = server.service.lobby, 0
    views = lobby.views

    async def fails_twice(*args: Any) -> Any:
        nonlocal failures
        failures += 1
        if failures <= 2:
            raise ConnectionError("Redis is gone in this moment")
        return await views(*args)

    lobby.views = fails_twice  # type: ignore[method-assign]
    await ada.do("ready")
    await ada.shows("waiting")
