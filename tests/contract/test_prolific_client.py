"""What a request to Prolific means when its answer is odd, cut short, late or missing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from hit_manager.recruiters.backoff import Patience
from hit_manager.recruiters.base import (
    NoFunds,
    NotThere,
    NotYet,
    RecruiterError,
    Refused,
    Unavailable,
    Unsure,
)
from hit_manager.recruiters.prolific.client import Client, Repeat, masked


def answer(status: str, body: str = "", length: int | None = None) -> bytes:
    size = len(body.encode()) if length is None else length
    return f"HTTP/1.1 {status}\r\nContent-Length: {size}\r\n\r\n{body}".encode()


def bad(body: str) -> bytes:
    return answer("400 Bad Request", body)


@asynccontextmanager
async def answering(raw: bytes) -> AsyncIterator[tuple[Client, list[bytes]]]:
    """A client, a service that gives this answer to everything and hangs up, and what it got."""
    got: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(raw)
        writer.close()
        await writer.wait_closed()

    async def at_once(seconds: float) -> None:
        pass

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    client = Client(f"http://{host}:{port}", "t0ken", Patience(tries=2, sleep=at_once))
    async with server:
        yield client, got
        await client.close()


@pytest.mark.parametrize(
    ("raw", "kind", "text"),
    [
        (bad('{"error": {"title": "Bad", "detail": {"a": ["x", "y"]}}}'), Refused, "a: x, y"),
        (bad('{"status": 400, "title": "Bare", "detail": "said"}'), Refused, "Bare: said"),
        (bad('{"message": "Other", "detail": ["one"]}'), Refused, "Other: one"),
        (bad('"a string"'), Refused, "a string"),
        (bad("<html>"), Refused, "400"),
        (bad('{"error": {"title": "x", "detail": "Insufficient funds"}}'), NoFunds, ""),
        (answer("404 Not Found", "{}"), NotThere, "404"),
        (answer("409 Conflict", "{}"), NotYet, "409"),
        (answer("301 Moved", ""), Refused, "301"),
        (answer("429 Slow down", "{}"), Unavailable, "429"),
        (answer("500 Oh", "{}"), Unsure, "500"),
        (answer("200 OK", '{"id": "65', 400), Unsure, "lost"),
        (answer("200 OK", "<html>"), Unsure, "cannot be read"),
        (b"HTTP/1.1 ", Unsure, "lost"),
        (b"", Unsure, "lost"),
    ],
)
async def test_each_answer_has_its_error(raw: bytes, kind: type[RecruiterError], text: str) -> None:
    async with answering(raw) as (client, got):
        with pytest.raises(RecruiterError) as raised:
            await client.post("bulk-bonus-payments/1/pay/", None, Repeat.ONCE)
    assert isinstance(raised.value, kind)
    assert isinstance(raised.value, Unsure) is (kind is Unsure)
    assert text in str(raised.value)
    # What may have been done is not done again; what surely was not, is.
    assert len(got) == (2 if kind is Unavailable else 1)
    assert got[0].startswith(b"POST /api/v1/bulk-bonus-payments/1/pay/ HTTP/1.1")
    assert b"Authorization: Token t0ken" in got[0]


@pytest.mark.parametrize("raw", [b"", answer("502 Bad Gateway"), answer("200 OK", "<html>")])
async def test_what_is_harmless_is_asked_again(raw: bytes) -> None:
    async with answering(raw) as (client, got):
        with pytest.raises(Unavailable) as raised:
            await client.post("studies/1/transition/", {"action": "PAUSE"}, Repeat.HARMLESS)
    assert not isinstance(raised.value, Unsure)
    assert len(got) == 2


async def test_without_a_connection_nothing_was_done() -> None:
    async with answering(b"") as (client, _):
        pass
    client = Client(client._base_url.removesuffix("/api/v1/"), "t0ken", Patience(tries=1))
    with pytest.raises(Unavailable, match="no connection") as raised:
        await client.post("bulk-bonus-payments/1/pay/", None, Repeat.ONCE)
    assert not isinstance(raised.value, Unsure)
    await client.close()


async def test_a_list_without_links_ends_with_a_page_that_is_not_full() -> None:
    page = '{"results": [{"id": "1"}, {"id": "2"}]}'
    async with answering(answer("200 OK", page)) as (client, got):
        assert [each["id"] async for each in client.pages("studies/")] == ["1", "2"]
    assert len(got) == 1
    assert b"GET /api/v1/studies/?page=1&page_size=100 " in got[0]


async def test_an_empty_answer_is_one() -> None:
    async with answering(answer("204 No Content")) as (client, _):
        await client.delete("studies/1/")


def test_ids_are_told_apart_and_not_recognised() -> None:
    one, other = "65a000000000000000000013", "65a000000000000000000014"
    text = masked(f"{one} and {other} and {one}")
    first, second, third = text.split(" and ")
    assert first == third != second
    assert "65a" not in text
