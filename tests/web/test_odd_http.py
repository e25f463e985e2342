"""Odd, slow and hostile HTTP: refused, in bounds, and without a word of a client in the log."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

import chatserver.incoming
import chatserver.server
from chatserver.app import MAX_BODY
from chatserver.wire import MOST_ENTRIES, ArrivalRequest
from duologue.logs import NoStrangers, SayOnce
from tests.live import Live, until

KEY = "0123456789abcdef"
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connect(live: Live, sent: bytes) -> Connection:
    at = urlsplit(live.urls[0])
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    writer.write(sent)
    return reader, writer


async def status_of(live: Live, sent: bytes) -> int:
    """The status that these bytes are answered with."""
    reader, writer = await connect(live, sent)
    async with asyncio.timeout(30):
        line = await reader.readline()
    writer.transport.abort()
    return int(line.split()[1])


def request(
    path: bytes = b"/work", method: bytes = b"GET", head: bytes = b"", body: bytes = b""
) -> bytes:
    return method + b" " + path + b" HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n" + body


def arrival(body: bytes, head: bytes = b"") -> bytes:
    size = f"Content-Length: {len(body)}\r\n".encode()
    return request(b"/api/arrivals", b"POST", head + size, body)


@contextmanager
def logged() -> Iterator[io.StringIO]:
    """What a server writes to its log meanwhile."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.addFilter(NoStrangers())
    handler.addFilter(SayOnce())
    logging.getLogger().addHandler(handler)
    try:
        yield out
    finally:
        logging.getLogger().removeHandler(handler)


# --- Odd -----------------------------------------------------------------------------------

LONG = b"x" * 7000
PATHS = (
    b"/work?x=%ff%00%c3%28",
    b"/api/study?preview=%00&preview=1&" + LONG,
    b"/api/study?" + b"a=1&" * 1500,
    b"/api/study?turkSubmitTo=http://[&assignmentId=a&hitId=b&workerId=c",
    b"/items/%00",
    b"/items/%ff%fe.x",
    b"/items/%ed%a0%80.a",
    b"/items/" + LONG,
    b"/items/a.b%2fc%0a%0d",
    b"/static/%00",
    b"/static/%ff",
    b"/static/" + LONG,
    b"/static/assets/%00.js",
    b"/static/%ed%a0%80",
    b"/%0aforged%20line",
    b"/\xff\xfe",
    b"http://[/work",
    b"http://[::1/",
    b"//[/",
    b"http://x:99999/work",
    b"*",
)
HEADS = (
    b"Range: bytes=abc\r\n",
    b"Range: bytes=9-1\r\n",
    b"Range: bytes=99999999999999999999-\r\n",
    b"Range: bytes=-0\r\n",
    b"If-Modified-Since: \xff\r\n",
    b"If-Modified-Since: Mon, 99 Foo 99999 99:99:99 GMT\r\n",
    b'If-None-Match: "\xff", W/\r\n',
    b'If-Match: "\xff\r\n',
    b"If-Range: \xff\r\nRange: bytes=0-1\r\n",
    b"Accept-Encoding: \xff;q=x\r\n",
    b"Cookie: \xff=\x80; =; a\r\n",
    b"Expect: nothing\r\n",
    b"Content-Type: text/html; charset=\xff\r\n",
    b"X-Forwarded-For: \xff, \xfe\r\n",
)
BODIES = (
    b'{"worker_key":"' + b"\\u0000" * 16 + b'","consented":true}',
    b'{"worker_key":"0123456789\\ud800abcdef","consented":true}',
    b'{"worker_key":"0123456789\xed\xa0\x80abcdef","consented":true}',
    b'{"worker_key":"' + KEY.encode() + b'","consented":true,"query":{"invite":"\\u0000"}}',
    b'{"worker_key":"' + KEY.encode() + b'","consented":true,"query":{"guest":"a\\u0000b"}}',
    b'{"check_answers":[1e400]}',
    b'{"check_answers":[1' + b"0" * 5000 + b"]}",
    b"[" * 5000 + b"]" * 5000,
    b'{"query":' * 1500 + b"1" + b"}" * 1500,
    b"\xef\xbb\xbf{}",
    b"\x00",
    b"null",
    b"{}\xff",
)


async def test_no_odd_request_is_an_error_of_ours(live_each: Live) -> None:
    await live_each.begin(guests=True, trusted_proxies=2)
    with logged() as out:
        for path in PATHS:
            assert await status_of(live_each, request(path)) < 500, path
        for head in HEADS:
            for path in (b"/work", b"/static/worker.html", b"/api/study", b"/items/x"):
                assert await status_of(live_each, request(path, head=head)) < 500, head
        for body in BODIES:
            assert await status_of(live_each, arrival(body)) == 400, body
            for kind in (b"application/json; charset=rot13", b"text/plain; charset=\xff", b"\xff"):
                head = b"Content-Type: " + kind + b"\r\n"
                assert await status_of(live_each, arrival(body, head)) == 400, kind
        good = json.dumps({"worker_key": KEY, "consented": True}).encode()
        for head in HEADS[-2:]:
            assert await status_of(live_each, arrival(good, head)) == 200, head
    assert "Traceback" not in out.getvalue()
    assert "503" not in out.getvalue()
    assert "does not answer" not in out.getvalue()


async def test_a_proxy_may_add_a_header_of_its_own_for_the_address(live: Live) -> None:
    await live.begin(trusted_proxies=1)
    for n, forged in enumerate((b"192.0.2.1", b"192.0.2.2")):
        body = json.dumps({"worker_key": f"{n}{KEY}", "consented": True}).encode()
        head = b"X-Forwarded-For: " + forged + b"\r\nX-Forwarded-For: 198.51.100.7\r\n"
        assert await status_of(live, arrival(body, head)) == 200
    first, second = await live.rows_of("arrivals")
    assert first.address == second.address


async def test_a_body_that_is_no_http_is_refused(live: Live) -> None:
    await live.begin()
    head = b"Transfer-Encoding: chunked\r\n"
    with logged() as out:
        for body in (b"zz\r\n{}\r\n", b"-1\r\n\r\n", b"2\r\n{}zz\r\n0\r\n\r\n"):
            sent = request(b"/api/arrivals", b"POST", head, body)
            assert await status_of(live, sent) == 400, body
    assert "Traceback" not in out.getvalue()


async def test_a_client_can_neither_fill_the_log_nor_stand_in_it(live: Live) -> None:
    await live.begin()
    socket = (
        b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: forged\r\n"
    )
    with logged() as out:
        for n in range(200):
            for bad in (
                b"forged\r\n\r\n",
                b"GET / HTTP/9.9\r\n\r\n",
                b"GET / HTTP/1.1\r\nforged\r\n\r\n",
                b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: forged\r\n\r\n",
                b"GET /" + b"forged" * 2000 + b" HTTP/1.1\r\n\r\n",
                request(b"/%d%%0aforged" % n),
            ):
                assert 400 <= await status_of(live, bad) < 500
        path = b"/socket.io/?EIO=4&transport=websocket"
        assert await status_of(live, request(path, head=socket)) == 101
    written = out.getvalue()
    assert "127.0.0.1" not in written
    assert "forged" not in written
    assert len(written.splitlines()) < 10


# --- Costly --------------------------------------------------------------------------------


async def test_a_body_with_much_wrong_in_it_costs_no_more_than_one_with_little(live: Live) -> None:
    await live.begin()

    def crowded(kind: str, count: int) -> bytes:
        match kind:
            case "keys":
                return json.dumps({f"{n:x}": 1 for n in range(count)}).encode()
            case "query":
                return json.dumps({"query": {f"{n:x}": 1 for n in range(count)}}).encode()
            case _:
                return json.dumps({"check_answers": ["a"] * count}).encode()

    for kind in ("keys", "query", "answers"):
        assert len(crowded(kind, 1500)) < MAX_BODY
        asked = []
        validate = ArrivalRequest.model_validate
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ArrivalRequest, "model_validate", asked.append)
            patch.setattr(ArrivalRequest, "model_validate_json", asked.append)
            assert await status_of(live, arrival(crowded(kind, 1500))) == 400
        assert not asked
        with pytest.raises(ValueError, match="validation error"):
            validate(json.loads(crowded(kind, MOST_ENTRIES)))
        assert await status_of(live, arrival(crowded(kind, MOST_ENTRIES))) == 400
    assert await status_of(live, arrival(b" " * 20_000)) == 413


# --- Slow ----------------------------------------------------------------------------------


async def test_a_connection_that_never_completes_a_request_is_closed(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chatserver.server, "IDLE_S", 1.0)
    monkeypatch.setattr(chatserver.incoming, "BODY_WITHIN_S", 1.0)
    await live.begin()
    asker, teller = await live.pair(*await live.people(2))
    opened_at = time.monotonic()
    whole = request(b"/healthz")
    idle = [
        await connect(live, sent)
        for sent in (b"", b"GET /work HTTP/1.1\r\nHost: x\r\n", whole, whole + b"GET /work HT")
    ]
    # Whoever drips is no better than whoever stops.
    _, dripping = idle[1]
    while not dripping.is_closing() and time.monotonic() < opened_at + 20:
        if idle[1][0].at_eof():
            break
        dripping.write(b"x")
        await asyncio.sleep(0.05)
    async with asyncio.timeout(20):
        for reader, writer in idle:
            await reader.read()
            writer.close()
    half = arrival(b"{" + b" " * 1000)[:-500]
    assert await status_of(live, half) == 408
    # A socket is a request that goes on, however quiet it is.
    await until(lambda: time.monotonic() > opened_at + 3)
    assert asker.connections == teller.connections == 1
    await live.converse(asker, teller)


async def test_a_connection_with_half_a_body_is_closed_after_the_answer(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chatserver.incoming, "BODY_WITHIN_S", 0.2)
    monkeypatch.setattr(chatserver.server, "LINGER_S", 0.2)
    await live.begin()
    reader, writer = await connect(live, arrival(b"{" + b" " * 1000)[:-500])
    async with asyncio.timeout(30):
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 408 ")
    writer.close()
    # Nor does a body that nobody asked for keep it open.
    reader, writer = await connect(live, request(head=b"Content-Length: 9\r\n", body=b"x"))
    async with asyncio.timeout(30):
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 200 ")
    writer.close()
