"""What the team wants of the recruiter is written down once, and settled once."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from sqlalchemy import update

from dialogs.record import requests
from dialogs.record.errors import Conflict
from dialogs.record.listing import PAGE
from dialogs.record.requests import TeamRequest
from dialogs.record.rounds import last_round, round_ended
from dialogs.record.store import Record
from dialogs.record.tables import team_requests
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
    newest, total, _ = await record.read(requests.listed_requests, STUDY)
    assert [(each.request.id, each.worker_id) for each in newest[:2]] == [
        ("of another", "worker-1"),
        ("of an arrival", "worker-0"),
    ]
    assert total == 4


async def test_a_round_says_when_the_last_good_one_was(record: Record) -> None:
    assert await record.read(last_round, STUDY) is None
    for at, problems in ((1.0, []), (2.0, [f"problem {n}" for n in range(30)]), (3.0, ["one"])):
        await round_ended(record, STUDY, at, problems)
        found = await record.read(last_round, STUDY)
        assert found is not None
        assert (found.at, found.good_at) == (at, 1.0)
        assert list(found.problems) == problems[:20]


async def test_what_failed_is_asked_for_again_or_dismissed_as_it_was_seen(record: Record) -> None:
    async def read() -> TeamRequest:
        return (await record.read(requests.requests_by_id, ["one"]))["one"]

    request = await ask(record, "one")
    for decision in (requests.again(request), requests.dismissed(request)):
        with pytest.raises(Conflict):
            await record.writer.commit(decision)
    await record.writer.commit(requests.started(request, 1.5))
    await record.writer.commit(requests.failed(request, "may have been sent", 2.1))
    first = await read()
    await record.writer.commit(requests.again(first))
    again = await read()
    assert (again.state, again.tries, again.started_at, again.done_at, again.problem) == (
        RequestState.WANTED,
        0,
        None,
        None,
        None,
    )
    assert await record.read(requests.requests_due, STUDY, 3.0, 9) == [again]
    await record.writer.commit(requests.failed(again, "no", 3.3))
    # What is known of the first failure is not what was decided on now.
    for decision in (requests.again(first), requests.dismissed(first)):
        with pytest.raises(Conflict):
            await record.writer.commit(decision)
    await record.writer.commit(requests.dismissed(await read()))
    settled = await read()
    assert (settled.state, settled.problem) == (RequestState.DISMISSED, "no")
    with pytest.raises(Conflict):
        await record.writer.commit(requests.again(settled))


async def test_what_failed_for_an_erasure_can_be_dismissed(record: Record) -> None:
    await ask(record, "one")
    with record.engine.begin() as connection:
        connection.execute(update(team_requests).values(state="failed", problem="was erased"))
    request = (await record.read(requests.requests_by_id, ["one"]))["one"]
    assert request.done_at is None
    await record.writer.commit(requests.dismissed(request))


async def test_requests_are_listed_by_state_in_pages(record: Record) -> None:
    for n in range(PAGE + 2):
        await ask(record, f"r-{n:03}", "arrival-1" if n % 2 else "worker-0", at=float(n // 2))
    failed = (await record.read(requests.requests_by_id, ["r-001"]))["r-001"]
    await record.writer.commit(requests.failed(failed, "no", 9.0))
    rows, total, after = await record.read(requests.listed_requests, STUDY)
    rest, _, end = await record.read(requests.listed_requests, STUDY, None, after)
    assert (total, end) == (PAGE + 2, None)
    names = [each.request.id for each in [*rows, *rest]]
    assert names == [f"r-{n:03}" for n in reversed(range(PAGE + 2))]
    whose = {each.request.target: each.worker_id for each in rows}
    assert whose == {"arrival-1": "worker-1", "worker-0": "worker-0"}
    rows, total, _ = await record.read(requests.listed_requests, STUDY, RequestState.FAILED)
    assert (total, [each.request.id for each in rows]) == (1, ["r-001"])
    states = await record.read(requests.requests_by_state, STUDY)
    assert states == {RequestState.WANTED: PAGE + 1, RequestState.FAILED: 1}
    assert (await record.read(requests.listed_requests, "another"))[:2] == ([], 0)
    assert await record.read(requests.request_of, "another", "r-001") is None
    found = await record.read(requests.request_of, STUDY, "r-001")
    assert found is not None
    assert (found.request.id, found.worker_id) == ("r-001", "worker-1")
