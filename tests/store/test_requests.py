"""What the team wants of the recruiter is written down once, and settled once."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from dialogs.record import requests
from dialogs.record.errors import Conflict
from dialogs.record.requests import TeamRequest
from dialogs.record.rounds import last_round, round_ended
from dialogs.record.store import Record
from dialogs.rules import RequestKind, RequestState
from tests.records import STUDY, begin_study, opened


@pytest_asyncio.fixture
async def record(database_url: str) -> AsyncIterator[Record]:
    async with opened(database_url) as record:
        await begin_study(record)
        yield record


async def ask(record: Record, name: str, target: str = "worker-0", at: float = 1.0) -> TeamRequest:
    kind, data = RequestKind.MESSAGE, {"subject": "s", "text": "Grüße"}
    await record.writer.commit(requests.asked(STUDY, name, None, kind, target, data, at))
    return (await record.read(requests.requests_by_id, [name]))[name]


async def test_the_same_asked_twice_is_one_row(record: Record) -> None:
    request = await ask(record, "one")
    assert (request.state, request.data["text"], request.tries) == (
        RequestState.WANTED,
        "Grüße",
        0,
    )
    with pytest.raises(Conflict):
        await ask(record, "one")


async def test_what_is_settled_stays_so(record: Record) -> None:
    request = await ask(record, "one")
    await record.writer.commit(requests.done(request, 2.0))
    for decision in (
        requests.done(request, 3.0),
        requests.failed(request, "no", 3.0),
        requests.put_off(request, "no", 3.0),
        requests.started(request, 3.0),
    ):
        with pytest.raises(Conflict):
            await record.writer.commit(decision)
    settled = (await record.read(requests.requests_by_id, ["one"]))["one"]
    assert (settled.state, settled.done_at, settled.problem) == (RequestState.DONE, 2.0, None)


async def test_what_must_not_be_done_twice_is_started_once(record: Record) -> None:
    request = await ask(record, "one")
    await record.writer.commit(requests.started(request, 2.0))
    with pytest.raises(Conflict):
        await record.writer.commit(requests.started(request, 3.0))
    # Nothing was done after all.
    await record.writer.commit(requests.put_off(request, "nobody is there", 9.0))
    again = (await record.read(requests.requests_by_id, ["one"]))["one"]
    assert (again.started_at, again.tries, again.retry_at) == (None, 1, 9.0)
    await record.writer.commit(requests.started(again, 10.0))


async def test_the_oldest_come_first_and_what_is_put_off_later(record: Record) -> None:
    second = await ask(record, "second", at=2.0)
    await ask(record, "first", at=1.0)
    await ask(record, "of an arrival", "arrival-0", at=3.0)
    await ask(record, "of another", "worker-1", at=4.0)

    async def due(now: float, most: int = 9) -> list[str]:
        found = await record.read(requests.requests_due, STUDY, now, most)
        return [request.id for request in found]

    assert await due(5.0, 2) == ["first", "second"]
    await record.writer.commit(requests.put_off(second, "later", 9.0))
    assert await due(5.0) == ["first", "of an arrival", "of another"]
    assert await due(9.0, 2) == ["first", "second"]
    about = await record.read(requests.requests_about, "worker-0")
    assert [request.id for request in about] == ["of an arrival", "second", "first"]
    at_worker = await record.read(requests.requests_at, "worker-0")
    assert [request.id for request in at_worker] == ["first", "second"]
    newest = await record.read(requests.newest_requests, STUDY, 2)
    assert [request.id for request in newest] == ["of another", "of an arrival"]


async def test_a_round_says_when_the_last_good_one_was(record: Record) -> None:
    assert await record.read(last_round, STUDY) is None
    for at, problems in ((1.0, []), (2.0, [f"problem {n}" for n in range(30)]), (3.0, ["one"])):
        await round_ended(record, STUDY, at, problems)
        found = await record.read(last_round, STUDY)
        assert found is not None
        assert (found.at, found.good_at) == (at, 1.0)
        assert list(found.problems) == problems[:20]
