"""Simulated workers of every kind against the real server, and their logs against the record."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

import pytest

from dialogs.record import tables
from dialogs.rules import Role
from duologue.simulate import Entry, Kind, Mix, Pace, Plan, Summary, keep_partner, simulate
from tests.live import Live, Person, eventually

SHORT = {"grace_s": 1.5, "turn_limit_s": 3.0, "turn_stretch": 1}
QUICK: dict[str, Any] = {"presence_s": 3.0, "closed_s": 0.2}


async def compare(live: Live, summary: Summary) -> None:
    """Everything that the workers' logs say must be what the record says."""
    held = await live.dialogs()
    stored: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for each in held:
        for message in each.state.messages:
            stored[message.said.key].append((each.state.dialog_id, message.seq))
    assert all(len(places) == 1 for places in stored.values()), "a message is stored twice"
    conversations = {
        each.state.dialog_id: [(m.seq, m.said.text) for m in each.state.messages] for each in held
    }
    released = {(row.code, row.release) for row in await live.rows(tables.releases)}
    for log in summary.logs:
        for key, seq in log.acknowledged.items():
            assert [n for _, n in stored[key]] == [seq], f"{key} acknowledged as {seq}"
        for line in log.of(Entry.REFUSED) + log.of(Entry.ABUSED):
            assert line["key"] not in stored, f"refused, and stored: {line}"
        for line in log.of(Entry.RELEASED):
            assert (line["code"], line["release"]) in released
        shown: dict[tuple[int, int], dict[int, str]] = defaultdict(dict)
        for frame in log.of(Entry.FRAME):
            if frame["name"] == "message" and frame["applied"] == "new":
                texts = shown[frame["arrival"], frame["dialog"]]
                texts[frame["seq"]] = frame["parts"][0]["text"]
        for texts in shown.values():
            pages = sorted(texts.items())
            assert any(pages == all_[: len(pages)] for all_ in conversations.values())
    assert summary.violations == []
    assert summary.unfinished == 0
    await live.audit()


async def test_a_normal_crowd_holds_complete_dialogs(live_each: Live) -> None:
    await live_each.begin(items=4, wanted=2)
    plan = Plan(workers=8, pace=Pace(0), arrive_s=0.0, limit_s=60)
    summary = await simulate(live_each.urls, plan)
    assert summary.dialogs == {"complete": 4}
    assert (summary.messages, summary.releases) == (80, {"completed": 8})
    assert (summary.faults, summary.turned_away, summary.refused) == ({}, {}, 0)
    assert summary.cents == sum(await live_each.owed()) == 8 * 150
    await compare(live_each, summary)


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.NORMAL])
async def test_each_kind_of_worker_meets_normal_ones(live: Live, kind: Kind) -> None:
    await live.begin(
        items=6, wanted=4, rules=SHORT, study={"lobby_limit_s": 4.0, "start_s": 5.0}, **QUICK
    )
    mix = Mix({Kind.NORMAL: 4, kind: 4})
    plan = Plan(workers=8, mix=mix, pace=Pace(0.01), arrive_s=0.0, limit_s=90, seed=3)
    summary = await simulate(live.urls, plan)
    await compare(live, summary)
    assert summary.messages > 0
    told = [entry for log in summary.logs for entry in log.lines]
    match kind:
        case Kind.FLAKY:
            assert summary.reconnects > 0
        case Kind.TWO_TABS:
            assert len([line for line in told if line["event"] == Entry.STOPPED]) == 4
        case Kind.SPAMMER:
            assert any(line["event"] == Entry.ABUSED for line in told)
        case Kind.SILENT:
            assert summary.releases["left"] > 0
        case _:
            pass


async def test_all_kinds_on_two_servers_lose_nothing(live_postgres: Live) -> None:
    live = live_postgres
    await live.begin(
        items=10, wanted=6, rules=SHORT, study={"lobby_limit_s": 4.0, "start_s": 5.0}, **QUICK
    )
    await live.serve()
    mix = Mix.parse("normal=6,slow=2,leaver=3,flaky=4,two_tabs=2,spammer=2,silent=1")
    plan = Plan(workers=20, mix=mix, pace=Pace(0.01), arrive_s=0.5, limit_s=90, seed=5)
    assert len(live.urls) == 2
    summary = await simulate(live.urls, plan)
    await compare(live, summary)
    assert summary.complete > 0


async def test_workers_wait_for_a_server_that_is_down(live: Live) -> None:
    await live.prepare(items=2)
    process = await live.process()
    plan = Plan(workers=2, pace=Pace(0.02), arrive_s=0.0, limit_s=60)
    crowd = asyncio.create_task(simulate(process.url, plan))
    await eventually(live.dialogs)
    process.signal(9)
    await process.gone()
    await live.process(port=int(process.url.rpartition(":")[2]))
    summary = await crowd
    assert summary.reconnects >= 2
    assert summary.complete == 1
    await compare(live, summary)


async def test_a_worker_takes_as_many_dialogs_as_told(live: Live) -> None:
    await live.begin(items=3, wanted=1, study={"repeat_partners": True})
    plan = Plan(workers=2, pace=Pace(0), arrive_s=0.0, limit_s=60, dialogs_per_worker=3)
    summary = await simulate(live.urls, plan)
    assert (summary.arrivals, summary.complete) == (6, 3)
    await compare(live, summary)


async def test_workers_who_cannot_come_in_say_why(live: Live) -> None:
    await live.begin(study={"invitations": frozenset({"only-this-one"})})
    summary = await simulate(live.urls, Plan(workers=2, arrive_s=0.0, limit_s=30))
    assert summary.turned_away == {"no_invitation": 2}
    assert summary.unfinished == 0


async def eventually_said(person: Person, count: int) -> None:
    """Wait until the page shows so many messages."""
    await person.until(lambda: len(person.texts) == count)


async def test_a_partner_comes_for_whoever_waits(live: Live) -> None:
    await live.begin(items=4)
    stop = asyncio.Event()
    partner = asyncio.create_task(keep_partner(live.urls, Plan(workers=0, pace=Pace(0)), stop))
    people = await live.people(2)
    for person in people:
        await person.do("ready")
        await person.shows("matched")
        await person.do("start")
        await person.shows("talking")
        for n in range(10):
            before = 2 * n if person.role == Role.QUESTIONER else 2 * n + 1
            await eventually_said(person, before)
            await person.say(f"message {n}")
        await person.shows("released")
        assert person.released["outcome"] == "complete"
    stop.set()
    summary = await partner
    # The second partner may be stopped before it is told of its release; a third may wait.
    assert summary.complete >= 1
    assert summary.workers in (2, 3)
