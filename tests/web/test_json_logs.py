"""What a server logs while people work says who did what by ids of ours, and never who they are
or what they wrote."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from redis.exceptions import RedisError

from duologue.logs import JsonLines
from tests.live import Live, eventually


class Log:
    """All that was logged so far, at every level."""

    def __init__(self) -> None:
        self._stream = io.StringIO()
        self.handler = logging.StreamHandler(self._stream)
        self.handler.setFormatter(JsonLines())

    @property
    def text(self) -> str:
        return self._stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[Log]:
    made, ours = Log(), logging.getLogger()
    caplog.set_level(logging.DEBUG, "duologue")
    ours.addHandler(made.handler)
    yield made
    ours.removeHandler(made.handler)


async def test_the_log_of_a_study_names_nobody(
    live_each: Live, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = live_each
    server = await live.begin(items=3)
    people = await live.people(4)
    asker, teller = await live.pair(*people[:2])
    await live.converse(asker, teller, 4)
    assert "code" in await teller.say("out of turn, it is said")
    await asker.do("report", {"text": "the picture is upside down"})
    await teller.do("leave", {"reason": "my train goes"})
    await asker.until(lambda: asker.phase == "solo")
    await live.alone(asker, 8)
    await asker.shows("released")
    await asker.do("finish", {"feedback": "a wonderful study"})
    await people[2].drop()
    await people[2].until(lambda: people[2].connections == 2)
    # What goes wrong is told with what it was about, and so with the most words.
    service = server.service
    dialogs = service.dialogs

    async def broken(*_: Any) -> None:
        raise RedisError("no Redis")

    async def odd(*_: Any) -> None:
        raise KeyError("odd")

    third, fourth = await live.pair(people[2], people[3])
    for failure in (broken, odd):
        monkeypatch.setattr(dialogs, "carry_out", failure)
        assert (await third.say("words that are lost"))["code"] == "try_again"
    monkeypatch.undo()
    # The record refuses a match: it knows that one of them has gone.
    await fourth.do("leave", {"reason": ""})

    rows = {name: await live.rows_of(name) for name in ("workers", "arrivals", "releases")}
    dialog_ids = {row.id for row in await live.rows_of("dialogs")}
    hidden = {row.id for row in rows["workers"]} | {row.external_id for row in rows["workers"]}
    hidden |= {row.assignment_id for row in rows["arrivals"]}
    hidden |= {row.address for row in rows["arrivals"] if row.address}
    hidden |= {row.code for row in rows["releases"]}
    hidden |= {person.token for person in people} | {person.worker_key for person in people}
    hidden |= {text for person in people for text in person.texts} - {""}
    hidden |= {"out of turn", "upside down", "my train", "wonderful", "words that are lost"}
    assert [each for each in hidden if each in log.text] == []

    async def told() -> bool:
        return {each["dialog"] for each in log.lines if "dialog" in each} == dialog_ids

    await eventually(told)
    matched = next(each for each in log.lines if each["message"].startswith("match "))
    assert set(matched["arrivals"]) <= {row.id for row in rows["arrivals"]}
    failed = [each for each in log.lines if "exception" in each]
    assert len(failed) == 1
    assert failed[0]["arrival"] in failed[0]["message"]
    assert failed[0]["dialog"] in dialog_ids
    assert "KeyError: 'odd'" in failed[0]["exception"]
