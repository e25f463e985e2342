"""Acknowledged means committed, and what is committed reaches both pages, once and in order."""

from __future__ import annotations

import asyncio
import secrets
import threading
from pathlib import Path
from typing import Any

import pytest

from chatserver.config import Failpoints
from tests.live import Live, Person, eventually, letter, until
from tests.services import ValkeyServer


async def stored(live: Live, key: str) -> list[int]:
    """Under which numbers a message is in the record."""
    return [
        message.seq
        for held in await live.dialogs()
        for message in held.state.messages
        if message.said.key == key
    ]


# --- Acknowledged means committed ------------------------------------------------------------


async def test_neither_acknowledgement_nor_frame_before_the_commit(live_each: Live) -> None:
    held, entered, go_on = threading.Event(), threading.Event(), threading.Event()

    def before_commit() -> None:
        if held.is_set():
            entered.set()
            assert go_on.wait(30)

    await live_each.prepare()
    await live_each.serve(Failpoints(before_commit=before_commit))
    asker, teller = await live_each.pair(*await live_each.people(2))
    held.set()
    sending = asyncio.create_task(asker.say("is it a cat?"))
    try:
        await until(entered.is_set)
        # Whatever was sent before this sign would have come before it.
        await teller.tell("typing", {"on": True})
        await asker.until(lambda: asker.seen("typing"))
        assert not sending.done()
        assert asker.texts == teller.texts == []
    finally:
        held.clear()
        go_on.set()
    assert "seq" in await sending
    await teller.reads("is it a cat?")


@pytest.mark.parametrize("where", ["before", "after"])
async def test_a_retry_after_the_server_died_with_the_message_stores_it_once(
    live_each: Live, where: str, tmp_path: Path
) -> None:
    now = tmp_path / "now"
    await live_each.prepare()
    first = await live_each.process(dies=(where, now))
    asker, teller = await live_each.pair(*await live_each.people(2))
    now.touch()
    sending = asyncio.create_task(asker.say_surely("is it a cat?"))
    assert await first.gone() == -9
    assert not asker.acknowledged
    await live_each.serve()
    seq = await sending
    (key,) = asker.acknowledged
    assert await stored(live_each, key) == [seq]
    await teller.reads("is it a cat?")
    await live_each.converse(asker, teller)
    await teller.shows("released")


# --- Order -------------------------------------------------------------------------------


async def test_messages_of_one_page_keep_their_order_although_every_second_is_slow(
    live: Live,
) -> None:
    server = await live.begin()
    asker, teller = await live.pair(*await live.people(2))
    await teller.do("leave")
    await asker.until(lambda: asker.phase == "solo")
    carry_out, count = server.service.dialogs.carry_out, 0

    async def slow(*args: Any) -> Any:
        nonlocal count
        count += 1
        if count % 2 == 1:
            await asyncio.sleep(0.05)
        return await carry_out(*args)

    server.service.dialogs.carry_out = slow  # type: ignore[method-assign]
    texts = [f"question {n}" for n in range(8)]
    await asyncio.gather(*(asker.say(text) for text in texts))
    (held,) = await live.dialogs()
    assert [m.said.text for m in held.state.messages] == texts
    await asker.until(lambda: asker.texts == texts)


async def test_a_slow_commit_reorders_nothing(live_each: Live) -> None:
    count = 0

    def before_commit() -> None:
        nonlocal count
        count += 1
        if count % 2 == 0:
            threading.Event().wait(0.03)

    await live_each.prepare()
    await live_each.serve(Failpoints(before_commit=before_commit))
    asker, teller = await live_each.pair(*await live_each.people(2))
    await teller.do("leave")
    await asker.until(lambda: asker.phase == "solo")
    texts = [f"question {n}" for n in range(10)]
    await asyncio.gather(*(asker.say(text) for text in texts))
    (held,) = await live_each.dialogs()
    assert [m.said.text for m in held.state.messages] == texts
    assert sorted(asker.acknowledged.values()) == list(asker.acknowledged.values())


# --- Once ----------------------------------------------------------------------------------


async def test_a_message_sent_again_after_a_lost_acknowledgement_is_stored_once(
    live_each: Live,
) -> None:
    asker, teller = await live_each.two()
    key = secrets.token_hex(8)
    await asker.tell("message", letter("is it a cat?", key))
    await eventually(lambda: stored(live_each, key))
    await asker.drop()
    await asker.until(lambda: asker.connections == 2 and asker.connected)
    first = await asker.say("is it a cat?", key)
    again = await asker.say("is it a cat, by the way?", key)
    assert first == again == {"seq": (await stored(live_each, key))[0]}
    await teller.reads("is it a cat?")
    await live_each.converse(asker, teller)
    assert teller.texts.count("is it a cat?") == 1


@pytest.mark.parametrize("phase", ["paired", "solo", "ended", "lost"])
async def test_a_known_message_gets_its_number_in_every_phase(live: Live, phase: str) -> None:
    asker, teller = await live.two()
    key = secrets.token_hex(8)
    first = await asker.say("is it a cat?", key)
    match phase:
        case "paired":
            await live.converse(asker, teller, 4)
        case "solo":
            await teller.do("leave")
            await asker.until(lambda: asker.phase == "solo")
        case "ended":
            await live.converse(asker, teller)
            await asker.shows("released")
        case "lost":
            await asker.do("leave")
            await asker.shows("released")
    assert await asker.say("is it a cat?", key) == first
    assert await stored(live, key) == [first["seq"]]
    if phase in ("ended", "lost"):
        assert "error" in await asker.say("one more")


# --- Catching up -----------------------------------------------------------------------------


async def test_what_was_said_to_a_page_that_was_offline_is_there_when_it_comes_back(
    live_each: Live,
) -> None:
    asker, teller = await live_each.two()
    await teller.drop(comes_back=False)
    await asker.say("is it a cat?")
    assert teller.texts == []
    await teller.come_back()
    await teller.reads("is it a cat?")


async def test_a_page_that_missed_a_frame_catches_up_from_its_position(live: Live) -> None:
    asker, teller = await live.two()
    teller.takes_frames = False
    await asker.say("is it a cat?")
    await until(lambda: asker.texts == ["is it a cat?"])
    teller.takes_frames = True
    # An event of the dialog that the page cannot miss: it shows the gap.
    await teller.say("yes")
    await teller.reads("is it a cat?", "yes")
    assert [m["seq"] for m in teller.messages.values()] == sorted(teller.messages)


async def test_sync_gives_every_event_after_a_position_once(live_each: Live) -> None:
    asker, teller = await live_each.two()
    await live_each.converse(asker, teller, 6)
    whole = await teller.ask("sync", {"after_seq": 1})
    assert [frame["seq"] for frame in whole["frames"]] == [2, 3, 4, 5, 6, 7]
    assert whole["seq"] == 7
    assert [f["key"] is not None for f in whole["frames"]] == [False, True] * 3
    assert (await teller.ask("sync", {"after_seq": 5}))["frames"] == whole["frames"][4:]
    assert (await teller.ask("sync", {"after_seq": 7}))["frames"] == []


async def test_a_page_goes_on_at_another_process(live_postgres: Live) -> None:
    one = await live_postgres.begin()
    two = await live_postgres.serve()
    people = await live_postgres.people(2, one.url)
    asker, teller = await live_postgres.pair(*people)
    await live_postgres.converse(asker, teller, 4)
    await teller.drop(comes_back=False)
    await teller.come_back(two.url)
    assert teller.texts == asker.texts
    assert teller.role == "answerer"
    await live_postgres.converse(asker, teller)
    for person in (asker, teller):
        await person.shows("released")
        assert person.released["release"] == "completed"


async def test_a_dialog_runs_across_two_processes(live_postgres: Live) -> None:
    one = await live_postgres.begin()
    two = await live_postgres.serve()
    (ada,) = await live_postgres.people(1, one.url)
    (ben,) = await live_postgres.people(1, two.url)
    asker, teller = await live_postgres.pair(ada, ben)
    await asker.tell("typing", {"on": True})
    await teller.until(lambda: teller.seen("typing"))
    await live_postgres.converse(asker, teller)
    for person in (asker, teller):
        await person.shows("released")
    assert await live_postgres.owed() == [150, 150]


# --- Redis is for speed only -----------------------------------------------------------------


async def test_messages_reach_both_while_redis_is_down_and_after_it_came_back(
    live_two: Live, valkey_server: ValkeyServer
) -> None:
    one = await live_two.begin()
    two = await live_two.serve()
    (ada,) = await live_two.people(1, one.url)
    (ben,) = await live_two.people(1, two.url)
    asker, teller = await live_two.pair(ada, ben)
    await live_two.converse(asker, teller, 3)
    valkey_server.kill()
    await live_two.converse(asker, teller, 6)
    valkey_server.start(wait=False)
    await asyncio.to_thread(valkey_server.wait_ready)
    await live_two.converse(asker, teller, 19)
    valkey_server.kill()
    # Even the last one, with nothing after it that could show a gap.
    await teller.say("message 20")
    for person in (asker, teller):
        await person.shows("released")
        assert person.released["release"] == "completed"
    assert asker.connections == teller.connections == 1


async def test_the_last_message_reaches_the_partner_without_fan_out(live_postgres: Live) -> None:
    one = await live_postgres.begin()
    two = await live_postgres.serve()
    (ada,) = await live_postgres.people(1, one.url)
    (ben,) = await live_postgres.people(1, two.url)
    asker, teller = await live_postgres.pair(ada, ben)
    for server in (one, two):
        server.service.fanout.tell = lambda kind, note: None  # type: ignore[method-assign]
    await asker.say("is it a cat?")
    await teller.reads("is it a cat?")


# --- Any text ------------------------------------------------------------------------------


ANY_TEXT = (
    "🦮" * 300,
    "e\u0301 کیا یہ بلی ہے؟ 是猫吗？",
    "👩‍👩‍👧‍👦 \u202eabc\u202c",
    "x" * 500,
    "\\'; DROP TABLE events; -- %s {} \\u0000",
    '<script>alert("1")</script><b>&amp;</b>',
    "\U0010ffff\ufffd\ufeff.",
    "a" * 256,
)


async def test_any_text_reaches_partner_and_record_as_it_was_written(live_each: Live) -> None:
    asker, teller = await live_each.two()
    for n, text in enumerate(ANY_TEXT):
        speaker, listener = (asker, teller) if n % 2 == 0 else (teller, asker)
        assert "seq" in await speaker.say(text)
        await listener.reads(text)
    (held,) = await live_each.dialogs()
    assert [m.said.text for m in held.state.messages] == list(ANY_TEXT)


async def test_both_pages_are_shown_the_same_in_the_same_order(live: Live) -> None:
    asker, teller = await live.two()
    await live.converse(asker, teller)

    def frames(person: Person) -> list[int]:
        return [m["seq"] for m in person.seen("message")]

    assert frames(asker) == frames(teller) == list(range(2, 22))
