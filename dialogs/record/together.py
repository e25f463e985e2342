"""Reads of one kind, made together: what the writer's group commit is for writing."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Generic, TypeVar

V = TypeVar("V")


class Together(Generic[V]):
    """Asks for many ids in one query: those that were asked for while the last one ran.

    A question never joins a query that has begun, so an answer is not older than its question.
    `read(ids)` gives what there is for each id, leaving out those of which there is nothing.
    """

    def __init__(self, read: Callable[[Collection[str]], Awaitable[Mapping[str, V]]]) -> None:
        self._read = read
        self._asked: dict[str, list[asyncio.Future[V | None]]] = defaultdict(list)
        self._reading: asyncio.Task[None] | None = None

    async def get(self, id_: str) -> V | None:
        """What there is for this id now, or None. An error is the error of the whole query."""
        future: asyncio.Future[V | None] = asyncio.get_running_loop().create_future()
        self._asked[id_].append(future)
        if self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._run())
        return await future

    async def _run(self) -> None:
        try:
            while self._asked:
                asked, self._asked = self._asked, defaultdict(list)
                futures = [future for several in asked.values() for future in several]
                try:
                    found = await self._read(asked.keys())
                except Exception as error:
                    for future in futures:
                        if not future.done():
                            future.set_exception(error)
                    continue
                for id_, several in asked.items():
                    for future in several:
                        if not future.done():
                            future.set_result(found.get(id_))
        finally:
            self._reading = None
