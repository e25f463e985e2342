"""The socket.io protocol as bad pages speak it: garbage, floods, odd handshakes, sudden ends."""

from __future__ import annotations

import json
import struct
from importlib.metadata import version
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

import aiohttp
import orjson
import pytest

from chatserver import engine
from tests.live import Live, RawSocket, eventually, until
from tests.rawsockets import SOCKET, goes_on, raw


async def test_pings_come_before_hosts_close_idle_sockets(live: Live) -> None:
    await live.begin()
    async with live.http.ws_connect(live.urls[0] + SOCKET) as ws:
        opened = json.loads((await ws.receive_str())[1:])
    assert opened["pingInterval"] == 25_000
    assert opened["pingTimeout"] <= 30_000
    assert opened["upgrades"] == []
    assert opened["maxPayload"] <= 200_000


async def test_polling_is_not_offered(live: Live) -> None:
    await live.begin()
    async with live.http.get(live.urls[0] + "/socket.io/?EIO=4&transport=polling") as response:
        assert response.status == 400


async def test_frames_are_json_and_nothing_is_unpickled(live: Live) -> None:
    server = await live.begin()
    major, minor, *_ = (int(part) for part in version("python-socketio").split(".")[:2])
    assert (major, minor) >= (5, 18)
    published: list[bytes] = []
    redis = server.service.fanout._redis
    publish = redis.publish

    async def watched(channel: str, message: bytes) -> Any:
        published.append(message)
        return await publish(channel, message)

    redis.publish = watched  # type: ignore[method-assign]
    # Events are told only while somebody else listens.
    server.service.fanout.alone = lambda: False  # type: ignore[method-assign]
    asker, teller = await live.pair(*await live.people(2))
    await goes_on(live, asker, teller)
    await until(lambda: any(b"message 1" in message for message in published))
    for message in published:
        orjson.loads(message)


GARBAGE: tuple[str | bytes, ...] = (
    b"\x00binary",
    '451-["message",{"_placeholder":true,"num":0}]',
    '461-0[{"_placeholder":true,"num":0}]',
    "b" + "AAAA",
    "9",
    "",
    "42",
    "42{",
    "42[]",
    '42["message"',
    '42["message","\\ud800"]',
    '42[["message"],{}]',
    "42[1,2]",
    "42/admin,[1]",
    '420123456789012345678901234567890["message",{}]',
    "43999[]",
    "40{",
    "4",
    "5",
    "6",
    "1",
)


async def test_garbage_harms_nobody_else(live: Live) -> None:
    asker, teller = await live.two(rules={"rounds": len(GARBAGE) + 1})
    eve = live.person()
    await eve.arrive()
    for frame in GARBAGE:
        async with raw(live, eve.token) as socket:
            if isinstance(frame, bytes):
                await socket.ws.send_bytes(frame)
            else:
                await socket.send(frame)
            await goes_on(live, asker, teller)
    assert asker.connections == teller.connections == 1
    await eve.connect()
    await eve.shows("arrived")


async def test_binary_frames_are_refused_and_nothing_is_gathered_for_them(live: Live) -> None:
    server = await live.begin()
    ada = live.person()
    await ada.arrive()
    async with raw(live, ada.token) as socket:
        # Two attachments are announced; without a bound they would be waited for.
        await socket.send('452-["report",{"text":{"_placeholder":true,"num":0}}]')
        assert await socket.call("report", {"text": "the socket is still of use"}) == {"ok": True}
        await socket.ws.send_bytes(b"x" * 1000)
        await socket.closed(10)
    await until(lambda: len(server.service.wire) == 0)
    assert "xxx" not in str(await live.rows_of("reports"))


async def test_a_socket_that_is_never_understood_is_closed(live: Live) -> None:
    await live.begin()
    ada = live.person()
    await ada.arrive()
    async with raw(live, ada.token) as socket:
        for _ in range(10):
            await socket.send("4x")
        await socket.closed(10)


async def test_an_event_that_cannot_be_read_is_answered(live: Live) -> None:
    await live.begin()
    ada = live.person()
    await ada.arrive()
    async with raw(live, ada.token) as socket:
        for content in ('["message",{"text":"\\ud800"}]', "[]", "[1]", '["message",NaN]'):
            await socket.send(f"427{content}")
            while not (packet := await socket.receive() or "closed").startswith(("437[", "closed")):
                pass
            assert "bad_request" in packet


async def test_forged_acknowledgements_end_nobodys_heartbeat(live: Live) -> None:
    await live.begin(heartbeat_s=0.2, presence_s=1.0, rules={"grace_s": 0.5})
    asker, teller = await live.pair(*await live.people(2))
    eve = live.person()
    await eve.arrive()
    async with raw(live, eve.token) as socket:
        for forged in ("430[]", "431[true]", "43[]", "431{}", "439999[]"):
            await socket.send(forged)
        for _ in range(12):
            while '["heartbeat"' not in (packet := await socket.receive() or "closed"):
                assert packet != "closed"
            await socket.send("43" + packet[2 : packet.index("[")] + "[]")
    await goes_on(live, asker, teller)
    assert not await live.happened("away")


async def test_a_goodbye_ends_the_connection_whatever_follows(live: Live) -> None:
    server = await live.begin()
    ada = live.person()
    await ada.arrive()
    for goodbye in ("1", "41"):
        for joined in (ada.token, None):
            async with raw(live, joined) as socket:
                await socket.send(goodbye)
                await socket.send("40" + json.dumps({"token": ada.token}))
                await socket.closed(10)
    await until(lambda: len(server.service.wire) == 0)
    await until(lambda: len(server.service.hub) == 0)


async def test_who_floods_the_server_holds_up_nobody(live: Live) -> None:
    asker, teller = await live.two()
    eve = live.person()
    await eve.arrive()
    async with raw(live, eve.token) as socket:
        for _ in range(20_000):
            await socket.ws.send_str('42["typing",{"on":true}]')
            if socket.ws.closed:
                break
        await goes_on(live, asker, teller)
        await goes_on(live, asker, teller)


BAD_HANDSHAKES = (
    {"Upgrade": "websocket"},
    {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"},
    {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "6",
        "Sec-WebSocket-Key": "ZHVvbG9ndWUtdGVzdHM9PQ==",
    },
    {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "\xe9\xe9",
    },
    {},
)


async def test_a_bad_handshake_is_refused_and_leaves_nothing(live: Live) -> None:
    server = await live.begin()
    for headers in BAD_HANDSHAKES:
        for url in (SOCKET, SOCKET.replace("EIO=4", "EIO=3"), SOCKET + "&sid=x"):
            async with live.http.get(live.urls[0] + url, headers=headers) as response:
                assert response.status == 400
    assert len(server.service.wire) == 0


async def test_pages_of_other_origins_are_refused(live: Live) -> None:
    await live.begin()
    url = live.urls[0] + SOCKET
    odd = ("http://[", "http://[x]", "http://a\u2100b".encode().decode("latin-1"), "", "//", "x:")
    for origin in ("https://evil.example", "null", f"{live.urls[0]}0", *odd):
        with pytest.raises(aiohttp.WSServerHandshakeError, match="400"):
            await live.http.ws_connect(url, headers={"Origin": origin})
    for origin in (live.urls[0], live.urls[0].upper()):
        await (await live.http.ws_connect(url, headers={"Origin": origin})).close()


async def test_a_page_that_reads_nothing_is_closed(live: Live) -> None:
    server = await live.begin()
    ada = live.person()
    await ada.arrive()
    # Nobody takes anything from this socket, so its side of the connection stops reading.
    async with raw(live, ada.token):
        await until(lambda: len(server.service.hub) == 1)
        page = next(server.service.hub.pages())
        for n in range(20):
            server.service.wire.send([page.sid], "lobby", {"n": n, "pad": "x" * 1_000_000})
        await until(lambda: len(server.service.hub) == 0)


async def test_a_page_that_leaves_the_namespace_is_closed(live: Live) -> None:
    server = await live.begin()
    ada = live.person()
    await ada.arrive()
    async with raw(live, ada.token) as socket:
        await until(lambda: len(server.service.hub) == 1)
        await socket.send("41")
        await socket.closed(3)
    await until(lambda: len(server.service.hub) == 0)


# --- Sudden ends -------------------------------------------------------------------------------


def vanish(socket: RawSocket) -> None:
    """Cut the connection as a network does, without a goodbye."""
    connection = socket.ws.get_extra_info("socket")
    connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
    socket.ws._writer.transport.abort()


async def test_what_a_page_that_is_gone_had_sent_goes_on_for_a_moment_only(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "SLOWED_S", 1.0)
    server = await live.begin()
    eve = live.person()
    await eve.arrive()
    async with raw(live, eve.token) as socket:
        for n in range(3000):
            await socket.ws.send_str(f'42["report",{{"text":"{n}"}}]')
        vanish(socket)
        await until(lambda: len(server.service.wire) == 0, within=20.0)
        stored = len(await live.rows_of("reports"))
        assert len(server.service.hub) == 0
    assert stored < 300


async def test_a_page_that_says_that_it_leaves_and_is_gone_has_left(live: Live) -> None:
    await live.begin()
    ada = live.person()
    await ada.arrive()
    async with raw(live, ada.token) as socket:
        await socket.ws.send_str('42["ready",{}]')
        await socket.ws.send_str('42["leave",{"reason":"bye"}]')
        await socket.ws.close()
    await eventually(live.releases)
    await ada.connect()
    await ada.shows("released")


async def test_a_page_that_never_stops_sending_is_cut(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "SLOWED_S", 0.5)
    asker, teller = await live.two()
    eve = live.person()
    await eve.arrive()
    async with raw(live, eve.token) as socket:
        for _ in range(2000):
            if socket.ws.closed:
                break
            await socket.ws.send_str('42["typing",{"on":true}]')
        await socket.closed(10)
    await goes_on(live, asker, teller)


async def test_after_a_close_frame_comes_nothing(live: Live) -> None:
    await live.begin()
    ada = live.person()
    await ada.arrive()
    async with raw(live, ada.token) as socket:
        await socket.send('421["report",{"text":"kept"}]')
        await socket.ws.send_bytes(b"x")
        await socket.closed(10)
        assert any(packet.startswith("431[") for packet in socket.packets)


# --- What costs more than it should --------------------------------------------------------------


async def test_more_fields_than_any_page_sends_are_refused_unread(live: Live) -> None:
    asker, teller = await live.two()
    wide = {f"key{n}": n for n in range(3000)}
    deep: Any = {}
    for _ in range(50):
        deep = {"on": deep}
    for payload in (wide, {"on": wide}, {"on": [wide] * 2}, {"on": list(range(3000))}, deep):
        answer = await asker.ask("typing", payload)
        assert answer["code"] == "bad_request"
        assert "more fields than any page sends" in answer["error"]
        assert len(answer["error"]) < 300
    answer = await asker.ask("typing", {"k" * 50_000: 1, "on": True})
    assert answer["code"] == "bad_request"
    assert len(answer["error"]) < 300
    await goes_on(live, asker, teller)


async def test_a_second_argument_is_not_understood(live: Live) -> None:
    asker, _ = await live.two()
    async with raw(live, asker.token) as socket:
        await socket.send('427["typing",{"on":true},{"more":1}]')
        while not (packet := await socket.receive() or "closed").startswith(("437[", "closed")):
            pass
    assert "bad_request" in packet


async def test_what_goes_well_in_between_does_not_make_refusals_forgotten(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    import chatserver.sockets

    monkeypatch.setattr(chatserver.sockets, "PATIENCE", 2)
    server = await live.begin()
    asker, teller = await live.pair(*await live.people(2))
    for _ in range(4):
        assert (await teller.say("not my turn"))["code"] == "not_your_turn"
        await teller.ask("sync", {"after_seq": 1})
    assert max(page.refusals for page in server.service.hub.pages()) > 2
    await goes_on(live, asker, teller)


async def test_a_message_that_is_sent_again_and_again_is_not_shown_as_often(live: Live) -> None:
    asker, teller = await live.two()
    for _ in range(30):
        assert await asker.say("is it a cat?", "k" * 8) == {"seq": 2}
    await teller.reads("is it a cat?")
    assert len(teller.seen("message")) <= 4


async def test_reports_of_one_person_are_bounded(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    import chatserver.live.requests

    monkeypatch.setattr(chatserver.live.requests, "MOST_REPORTS", 3)
    await live.begin()
    (ada,) = await live.people(1)
    answers = [await ada.ask("report", {"text": f"problem {n}"}) for n in range(5)]
    assert answers[:3] == [{"ok": True}] * 3
    assert [answer["code"] for answer in answers[3:]] == ["cap_reached"] * 2
    assert "We have all your reports" in answers[4]["error"]
    assert len(await live.rows_of("reports")) == 3
