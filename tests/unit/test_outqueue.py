"""The queue in front of a socket behaves as engine.io takes a queue to behave."""

from __future__ import annotations

import asyncio

import pytest

from chatserver.outqueue import OutQueue


async def test_items_come_out_in_order_whether_or_not_somebody_waits() -> None:
    queue = OutQueue()
    queue.put_nowait(1)
    await queue.put(2)
    assert [await queue.get(), queue.get_nowait()] == [1, 2]
    waiting = queue.get()
    queue.put_nowait(3)
    queue.put_nowait(4)
    assert [await waiting, queue.qsize(), await queue.get(), queue.empty()] == [3, 1, 4, True]
    with pytest.raises(asyncio.QueueEmpty):
        queue.get_nowait()


async def test_a_reader_that_gave_up_takes_nothing_with_it() -> None:
    queue = OutQueue()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(queue.get(), 0.001)
    queue.put_nowait("kept")
    assert await asyncio.wait_for(queue.get(), 1) == "kept"


async def test_join_waits_until_everything_is_written() -> None:
    queue = OutQueue()
    await queue.join()
    queue.put_nowait(1)
    queue.put_nowait(2)
    joined = asyncio.ensure_future(queue.join())
    for _ in range(2):
        await queue.get()
        assert not joined.done()
        queue.task_done()
    await asyncio.wait_for(joined, 1)
