"""The queue between whoever sends to a socket and the task that writes to it."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any


class OutQueue:
    """What engine.io needs of `asyncio.Queue`, for one reader and without a bound.

    `get` gives a future instead of a coroutine: the reader waits for it with a time-out, and
    a coroutine would cost a task of its own for every frame.
    """

    def __init__(self) -> None:
        self._items: deque[Any] = deque()
        self._reader: asyncio.Future[Any] | None = None
        self._unfinished = 0
        self._all_done: asyncio.Future[None] | None = None

    def put_nowait(self, item: Any) -> None:
        self._unfinished += 1
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(item)
            self._reader = None
        else:
            self._items.append(item)

    async def put(self, item: Any) -> None:
        self.put_nowait(item)

    def get(self) -> asyncio.Future[Any]:
        """The next item, at once or when it comes. Cancelling it loses nothing."""
        reader = asyncio.get_running_loop().create_future()
        if self._items:
            reader.set_result(self._items.popleft())
        else:
            self._reader = reader
        return reader

    def get_nowait(self) -> Any:
        """The next item; raises `asyncio.QueueEmpty`."""
        if not self._items:
            raise asyncio.QueueEmpty
        return self._items.popleft()

    def task_done(self) -> None:
        self._unfinished -= 1
        if self._unfinished <= 0 and self._all_done is not None:
            self._all_done.set_result(None)
            self._all_done = None

    async def join(self) -> None:
        """Wait until everything that was put has been written."""
        if self._unfinished > 0:
            if self._all_done is None:
                self._all_done = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._all_done)

    def qsize(self) -> int:
        return len(self._items)

    def empty(self) -> bool:
        return not self._items
