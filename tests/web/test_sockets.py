"""The socket's edge: who may connect, whose socket counts, and what garbage does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import socketio

from tests.live import Live, RawSocket, letter, until
from tests.rawsockets import SOCKET, goes_on, raw

# --- Who may connect -------------------------------------------------------------------------


async def refusal(live: Live, token: Any) -> dict[str, Any]:
    """What a page with this token is told when it connects."""
    person = live.person()
    person.token = token
    with pytest.raises(socketio.exceptions.ConnectionError):
        await person.connect()
    assert person.refused is not None
    return person.refused


async def test_a_bad_token_is_refused_for_good(live: Live) -> None:
    await live.begin()
    for token in ("", "forged", None, 7, ["x"], "a_0.signature"):
        refused = await refusal(live, token)
        assert refused["code"] == "bad_token"
        assert refused["error"]


async def test_a_token_of_another_study_key_or_purpose_is_refused(live: Live) -> None:
    server = await live.begin()
    (ada,) = await live.people(1)
    tokens = type(server.service.tokens)
    for forged in (
        tokens("another key, as long as the first one", live.study_id).arrival("a_1"),
        tokens(live.config.secret_key, "another-study").arrival("a_1"),
        server.service.tokens.picture("a_1"),
        server.service.tokens.arrival("a_nobody"),
        # Not the last character: some of its bits say nothing.
        ada.token[:-2] + ("A" if ada.token[-2] != "A" else "B") + ada.token[-1],
    ):
        assert (await refusal(live, forged))["code"] == "bad_token"


async def test_sockets_that_never_join_or_are_refused_are_closed(live: Live) -> None:
    server = await live.begin()
    sockets = [await live.http.ws_connect(live.urls[0] + SOCKET) for _ in range(100)]
    for ws in sockets[::2]:
        await ws.send_str('40{"token":"forged"}')
    await asyncio.gather(*(RawSocket(ws).closed(10) for ws in sockets))
    for ws in sockets:
        await ws.close()
    await until(lambda: len(server.service.wire) == 0)


async def test_attempts_to_join_are_bounded(live: Live) -> None:
    await live.begin()
    async with raw(live) as socket:
        for _ in range(20):
            await socket.send('40{"token":"forged"}')
        await socket.closed(3)
    assert len([p for p in socket.packets if p.startswith("44")]) <= 3


async def test_who_joined_stays(live: Live) -> None:
    await live.begin()
    (ada,) = await live.people(1)
    socket = live.http.ws_connect(live.urls[0] + SOCKET)
    async with socket as ws:
        # The idle socket is closed after the time that a joined one must outlive.
        await RawSocket(ws).closed(10)
    assert ada.connected
    assert ada.connections == 1


# --- One arrival, one live page ----------------------------------------------------------------


async def test_the_newest_socket_wins_and_the_older_is_told_and_stops(live: Live) -> None:
    server = await live.begin(closed_s=0.2)
    asker, teller = await live.pair(*await live.people(2))
    server.service.health._ready_since = -1e9
    tab = teller.another_tab()
    await tab.connect()
    await teller.until(lambda: teller.stopped)
    assert teller.stopped is not None
    assert teller.stopped["code"] == "replaced"
    # The server closes the older one; its late disconnect changes nothing.
    await teller.until(lambda: not teller.connected)
    await asker.say("is it a cat?")
    await tab.reads("is it a cat?")
    assert teller.texts == []
    await live.converse(asker, tab)
    await tab.shows("released")
    assert not await live.happened("away")
    assert not asker.seen("partner")


async def test_a_late_disconnect_of_the_older_socket_changes_nothing(live: Live) -> None:
    server = await live.begin()
    asker, teller = await live.pair(*await live.people(2))
    gone = []
    detach = server.service.detach

    def watched(sid: str) -> None:
        detach(sid)
        gone.append(sid)

    server.service.detach = watched  # type: ignore[method-assign]
    closed: list[str] = []
    server.service.presence.closed = (  # type: ignore[method-assign]
        lambda page: closed.append(page.arrival_id)
    )
    tab = teller.another_tab()
    await tab.connect()
    await teller.drop(comes_back=False)
    await until(lambda: gone)
    assert closed == []
    await asker.say("is it a cat?")
    await tab.reads("is it a cat?")


async def test_the_newest_socket_wins_across_two_processes(live_postgres: Live) -> None:
    one = await live_postgres.begin(heartbeat_s=10.0)
    two = await live_postgres.serve()
    asker, teller = await live_postgres.pair(*await live_postgres.people(2, one.url))
    closed: list[str] = []
    for server in (one, two):
        server.service.presence.closed = (  # type: ignore[method-assign]
            lambda page: closed.append(page.arrival_id)
        )
    tab = teller.another_tab()
    await tab.connect(two.url)
    await teller.until(lambda: teller.stopped)
    assert teller.stopped is not None
    assert teller.stopped["code"] == "replaced"
    await teller.until(lambda: not teller.connected)
    await until(lambda: len(one.service.hub) == 1)
    # The seat is held by the newer page: the end of the older one is no sign of absence.
    assert closed == []
    await live_postgres.converse(asker, tab)
    await tab.shows("released")


async def test_a_replaced_page_is_answered_that_it_is_replaced(live: Live) -> None:
    server = await live.begin()
    asker, teller = await live.pair(*await live.people(2))
    # The moment between the newer page's coming and the older one's being closed.
    server.service.wire.abort = lambda sid: None  # type: ignore[method-assign]
    tab = asker.another_tab()
    await tab.connect()
    assert (await asker.ask("message", letter("is it a cat?", "k" * 8)))["code"] == "replaced"
    assert (await asker.ask("leave", {"reason": ""}))["code"] == "replaced"
    await tab.say("is it a dog?")
    await teller.reads("is it a dog?")


# --- What a page sends -------------------------------------------------------------------------


async def test_a_message_of_501_characters_is_refused_with_the_reason(live: Live) -> None:
    asker, teller = await live.two()
    answer = await asker.say("x" * 501)
    assert answer["code"] == "bad_text"
    assert "501" in answer["error"]
    assert "500" in answer["error"]
    assert "seq" in await asker.say("  " + "x" * 500 + "\t")
    await teller.reads("x" * 500)


async def test_a_long_message_below_the_frame_limit_is_refused_and_not_a_disconnect(
    live: Live,
) -> None:
    asker, teller = await live.two()
    for length in (9_000, 50_000, 90_000):
        answer = await asker.say("x" * length)
        assert answer["code"] in ("bad_text", "bad_request")
    assert asker.connections == 1
    await goes_on(live, asker, teller)


async def test_a_frame_over_the_limit_closes_only_its_own_socket(live: Live) -> None:
    asker, teller = await live.two()
    (eve,) = await live.people(1)
    eve.comes_back = False
    async with raw(live, eve.token) as socket:
        await socket.send('42["report",{"text":"' + "x" * 1_100_000 + '"}]')
        await socket.closed()
    await goes_on(live, asker, teller)
    assert asker.connections == teller.connections == 1


async def test_a_text_that_says_nothing_or_holds_control_characters_is_refused(
    live: Live,
) -> None:
    asker, _ = await live.two()
    for text in ("", "   ", "\u200b", "a\nb", "a\u0000b", "\u0007", "\u2028 "):
        assert (await asker.say(text))["code"] == "bad_text", repr(text)
    (held,) = await live.dialogs()
    assert held.state.messages == ()


async def test_out_of_turn_is_refused(live_each: Live) -> None:
    asker, teller = await live_each.two()
    assert (await teller.say("yes"))["code"] == "not_your_turn"
    await asker.say("is it a cat?")
    assert (await asker.say("is it a dog?"))["code"] == "not_your_turn"
    await teller.reads("is it a cat?")
    # Both at once: one is stored.
    answers = await asyncio.gather(*(teller.say(f"answer {n}") for n in range(5)))
    assert [a["seq"] for a in answers if "seq" in a] == [3]
    assert {a.get("code") for a in answers if "seq" not in a} == {"not_your_turn"}


FORGED: tuple[dict[str, Any], ...] = (
    {"role": "answerer"},
    {"seq": 1},
    {"round": 9},
    {"dialog_id": "d_1"},
    {"at": 0},
    {"key": "short"},
    {"key": "spaces are not allowed"},
    {"key": 12345678},
    {"parts": []},
    {"parts": [{"text": "a"}, {"text": "b"}]},
    {"parts": [{"image": "x.jpg"}]},
    {"parts": [{"text": 5}]},
    {"parts": [{"text": "a", "seq": 4}]},
    {"parts": "text"},
    {"meta": {"pasted": "yes"}},
    {"meta": {"composed_ms": -1}},
    {"meta": {"composed_ms": 1e300}},
)


async def test_forged_fields_are_refused(live: Live) -> None:
    asker, _ = await live.two()
    for forged in FORGED:
        answer = await asker.ask("message", {**letter("is it a cat?", "k" * 16), **forged})
        assert answer["code"] == "bad_request", forged
    (held,) = await live.dialogs()
    assert held.state.messages == ()


async def test_a_socket_cannot_speak_for_another_arrival(live: Live) -> None:
    asker, teller = await live.two()
    (eve,) = await live.people(1)
    for event, payload in (
        ("message", letter("is it a cat?", "k" * 8)),
        ("sync", {"after_seq": 0}),
        ("start", {}),
        ("pair_again", {}),
        ("finish", {"feedback": "x"}),
        ("stop_waiting", {}),
        ("decline", {}),
    ):
        assert "code" in await eve.ask(event, payload), event
    assert "code" in await eve.ask("message", {**letter("x", "k" * 8), "arrival_id": "a_1"})
    assert asker.texts == teller.texts == []


async def test_raw_html_stays_text(live: Live) -> None:
    asker, teller = await live.two()
    text = "<img src=x onerror=alert(1)>&lt;b&gt;\"'`</textarea>"
    async with raw(live, asker.token) as socket:
        answer = await socket.call("message", letter(text, "k" * 8))
        assert answer == {"seq": 2}
    await teller.reads(text)
    (held,) = await live.dialogs()
    assert held.state.messages[0].said.text == text


async def test_an_unknown_event_is_refused_with_a_reason(live: Live) -> None:
    asker, teller = await live.two()
    answer = await asker.ask("end_dialog", {"seq": 1})
    assert answer["code"] == "bad_request"
    assert "end_dialog" in answer["error"]
    await goes_on(live, asker, teller)


async def test_many_refusals_are_answered_ever_more_slowly_and_harm_nobody(live: Live) -> None:
    server = await live.begin()
    asker, teller = await live.pair(*await live.people(2))
    waits: list[float] = []
    sleep = asyncio.sleep

    class Watched:
        @staticmethod
        async def sleep(seconds: float) -> None:
            waits.append(seconds)
            await sleep(0)

        def __getattr__(self, name: str) -> Any:
            return getattr(asyncio, name)

    import chatserver.sockets

    real, chatserver.sockets.asyncio = chatserver.sockets.asyncio, Watched()  # type: ignore
    try:
        for _ in range(40):
            assert (await teller.say("not my turn"))["code"] == "not_your_turn"
    finally:
        chatserver.sockets.asyncio = real  # type: ignore
    assert len(waits) == 30
    assert waits == sorted(waits)
    assert waits[-1] == 1.0
    assert server.service.hub.page
    await goes_on(live, asker, teller)


async def test_an_exception_in_a_handler_becomes_an_error_and_the_dialog_goes_on(
    live: Live, caplog: pytest.LogCaptureFixture
) -> None:
    server = await live.begin()
    asker, teller = await live.pair(*await live.people(2))
    carry_out = server.service.dialogs.carry_out

    async def broken(*_: Any) -> Any:
        raise RuntimeError("a bug")

    server.service.dialogs.carry_out = broken  # type: ignore[method-assign]
    answer = await asker.say("is it a cat?", "k" * 8)
    assert answer["code"] == "try_again"
    assert "bug" not in answer["error"]
    (held,) = await live.dialogs()
    (logged,) = [r for r in caplog.records if r.levelname == "ERROR"]
    assert held.state.dialog_id in logged.getMessage()
    server.service.dialogs.carry_out = carry_out  # type: ignore[method-assign]
    assert "seq" in await asker.say("is it a cat?", "k" * 8)
    await teller.reads("is it a cat?")
    assert asker.connections == teller.connections == 1
    await goes_on(live, asker, teller)


async def test_an_exception_while_connecting_is_a_refusal_and_leaves_nothing(
    live: Live,
) -> None:
    server = await live.begin()
    ada = live.person()
    await ada.arrive()
    attach = server.service.attach

    async def broken(*_: Any) -> Any:
        raise RuntimeError("a bug")

    server.service.attach = broken  # type: ignore[method-assign]
    assert (await refusal(live, ada.token))["code"] == "try_again"
    server.service.attach = attach  # type: ignore[method-assign]
    await ada.connect()
    await ada.shows("arrived")
