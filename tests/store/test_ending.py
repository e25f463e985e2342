"""Loops beside the server end when they are told to, whatever their libraries make of it."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from chatserver.ending import end
from chatserver.live.batcher import Batcher


async def test_who_loses_a_cancellation_is_told_again() -> None:
    lost = asyncio.Event()

    async def hard_of_hearing() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            lost.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(hard_of_hearing())
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await end([task])
    assert lost.is_set()
    assert task.cancelled()


async def test_what_has_ended_or_fails_while_it_ends_is_no_trouble() -> None:
    async def fails() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise OSError("while it cleans up")

    done = asyncio.create_task(asyncio.sleep(0))
    failing = asyncio.create_task(fails())
    await done
    await end([done, failing])
    assert isinstance(failing.exception(), OSError)
    await end([])


@pytest.mark.parametrize("turns", range(16))
async def test_a_loop_that_sends_to_redis_ends(redis_url: str, turns: int) -> None:
    """Wherever in a command it is: redis-py with a time-out sends through `asyncio.wait_for`."""
    async with Redis.from_url(redis_url, socket_timeout=2.0) as redis:

        async def send(_: list[int]) -> None:
            batcher.add(0)
            await redis.publish("somewhere", b"a note")

        batcher: Batcher[int] = Batcher(send, "test")
        batcher.add(0)
        sending = asyncio.create_task(batcher.run())
        for _ in range(turns):
            await asyncio.sleep(0)
        async with asyncio.timeout(10):
            await end([sending])
        assert sending.done()
