"""Requests that no page makes: each is refused at once, and none of them is a fault of ours."""

from __future__ import annotations

import gzip
import json
import logging
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

from duologue.embedded import free_port
from tests.live import Live
from tests.web.test_http import fetch

ASKED: dict[str, Any] = {"worker_key": "k" * 20, "consented": True}


async def status(live: Live, method: str, path: str, body: bytes = b"", *headers: bytes) -> int:
    """The answer to a request as it stands here, which no client would send."""
    host = urlsplit(live.urls[0]).netloc
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n".encode()
    head += b"".join(header + b"\r\n" for header in headers)
    raw = head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
    answered, _, _ = await fetch(live, "", raw)
    return answered


async def test_nothing_compressed_is_taken(live: Live) -> None:
    await live.begin()
    body = gzip.compress(json.dumps(ASKED).encode())
    for encoding in (b"gzip", b"deflate", b"br", b"GZIP", b"identity, gzip"):
        said = await status(live, "POST", "/api/arrivals", body, b"Content-Encoding: " + encoding)
        assert said == 415, encoding
    plain = json.dumps(ASKED).encode()
    said = await status(live, "POST", "/api/arrivals", plain, b"Content-Encoding: identity")
    assert said == 200


async def test_a_bomb_is_not_unpacked(live: Live) -> None:
    await live.begin()
    bomb = gzip.compress(b"\0" * 300_000_000, 1)
    began = time.thread_time()
    assert await status(live, "POST", "/api/arrivals", bomb, b"Content-Encoding: gzip") == 415
    # The server runs in this thread.
    assert time.thread_time() - began < 0.1


async def test_what_the_database_cannot_hold_is_refused(live_each: Live) -> None:
    await live_each.begin()
    for odd in ("\0", "\ud800"):
        for change in (
            {"worker_key": odd + "k" * 20},
            {"query": {"assignmentId": odd}},
            {"query": {odd: "a"}},
            {"language": odd},
        ):
            body = json.dumps(ASKED | change).encode()
            assert await status(live_each, "POST", "/api/arrivals", body) == 400, change
    assert not await live_each.rows_of("arrivals")


async def test_headers_that_are_no_text(live: Live, caplog: pytest.LogCaptureFixture) -> None:
    await live.begin(trusted_proxies=1)
    body = json.dumps(ASKED).encode()
    for odd in (b"\xff", "\u0663".encode(), b"http://[::1"):
        for name in (b"X-Forwarded-For", b"Content-Type", b"Cookie", b"If-None-Match"):
            said = await status(live, "POST", "/api/arrivals", body, name + b": " + odd)
            assert said == 200, name
        path = "/socket.io/?EIO=4&transport=websocket"
        assert await status(live, "GET", path, b"", b"Origin: " + odd) == 400
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]


async def test_a_page_of_the_public_address_is_let_in(live: Live) -> None:
    port = free_port()
    await live.begin(public_url="https://Study.example.org:443/", port=port)
    # Nobody serves that name here.
    live.urls[0] = f"http://127.0.0.1:{port}"
    for origin, refused in (("https://study.example.org", False), ("https://example.org", True)):
        raw = (
            "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{port}\r\nOrigin: {origin}\r\nConnection: close\r\n\r\n"
        )
        _, _, body = await fetch(live, "", raw.encode())
        # Without an upgrade it is refused for that.
        assert (b"origin" in body) is refused
