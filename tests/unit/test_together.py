"""Questions that come together are asked together, and no answer is older than its question."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Mapping

import pytest

from dialogs.record.together import Together


class Library:
    """Answers when it is let: each query is held until `open`."""

    def __init__(self) -> None:
        self.books = {"a": 1, "b": 2}
        self.queries: list[list[str]] = []
        self.fails = False
        self.gate = asyncio.Event()

    async def read(self, ids: Collection[str]) -> Mapping[str, int]:
        self.queries.append(sorted(ids))
        found = {id_: self.books[id_] for id_ in ids if id_ in self.books}
        await self.gate.wait()
        if self.fails:
            raise OSError("the library is closed")
        return found


async def answers(*asked: Awaitable[int | None]) -> list[int | None]:
    """What the questions lead to; an answer that never comes is an error."""
    async with asyncio.timeout(10):
        return await asyncio.gather(*asked)


async def turns(n: int = 5) -> None:
    for _ in range(n):
        await asyncio.sleep(0)


async def test_questions_of_one_moment_are_one_query() -> None:
    library = Library()
    library.gate.set()
    together = Together(library.read)
    found = await answers(*(together.get(id_) for id_ in ("b", "a", "none", "a")))
    assert found == [2, 1, None, 1]
    assert library.queries == [["a", "b", "none"]]


async def test_a_question_never_joins_a_query_that_has_begun() -> None:
    library = Library()
    together = Together(library.read)
    early = asyncio.ensure_future(together.get("a"))
    await turns()
    library.books["a"] = 100
    late = [asyncio.ensure_future(together.get(id_)) for id_ in ("a", "b")]
    await turns()
    library.gate.set()
    assert await answers(early, *late) == [1, 100, 2]
    assert library.queries == [["a"], ["a", "b"]]


async def test_an_error_is_told_to_all_who_asked_and_to_nobody_later() -> None:
    library = Library()
    together = Together(library.read)
    asked = [asyncio.ensure_future(together.get(id_)) for id_ in ("a", "b")]
    await turns()
    library.fails = True
    library.gate.set()
    for future in asked:
        with pytest.raises(OSError, match="closed"):
            await answers(future)
    library.fails = False
    assert await answers(together.get("a")) == [1]


async def test_who_gives_up_takes_nothing_from_the_others() -> None:
    library = Library()
    together = Together(library.read)
    impatient, patient = (asyncio.ensure_future(together.get("a")) for _ in range(2))
    await turns()
    impatient.cancel()
    waiting = asyncio.ensure_future(together.get("b"))
    await turns()
    library.gate.set()
    assert await answers(patient, waiting) == [1, 2]
    assert impatient.cancelled()
