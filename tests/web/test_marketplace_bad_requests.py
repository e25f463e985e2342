"""Requests that no browser makes: each is refused at once, and none of them is a fault of ours."""

from __future__ import annotations

import asyncio
import gzip
import logging
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.markets import Market

FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data; boundary=x"
TARGET = "MTurkRequesterServiceV20170117.GetAccountBalance"


@pytest.fixture(autouse=True)
def nothing_failed(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing is logged as a failure either."""
    yield
    assert not [each for each in caplog.get_records("call") if each.levelno >= logging.ERROR]


async def status(
    market: Market, method: str, path: str, body: bytes = b"", **headers: str | bytes
) -> int:
    """The answer to a request as it stands here, which no client would send."""
    at = urlsplit(market.local)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    lines = [f"{method} {path} HTTP/1.1", f"Host: {at.netloc}", "Connection: close"]
    lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join(lines).encode()
    for name, value in headers.items():
        said = value if isinstance(value, bytes) else value.encode()
        head += b"\r\n" + name.replace("_", "-").encode() + b": " + said
    writer.write(head + b"\r\n\r\n" + body)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(answer.split()[1])


def part(head: bytes, body: bytes = b"v") -> bytes:
    return b"--x\r\n" + head + b"\r\n\r\n" + body + b"\r\n--x--\r\n"


NAMED = b'Content-Disposition: form-data; name="name"'
UNREADABLE = (
    (f"{FORM}; charset=bogus", b"assignmentId=3X&name=a&country=US"),
    (f"{FORM}; charset=base64", b"assignmentId=3X&name=a&country=US"),
    (f"{FORM}; charset=utf-16", b"assignmentId=3X&name=a&country=US"),
    # It gives surrogates, which are no text.
    (f"{FORM}; charset=unicode_escape", b"assignmentId=\\ud800&name=\\ud800&country=US"),
    (FORM, b"assignmentId=3X&name=\xff&country=US"),
    (PARTS, b"garbage"),
    ("multipart/form-data", b"garbage"),
    (PARTS, part(b"X")),
    (PARTS, part(b"X: y")),
    (PARTS, part(NAMED, b"\xff")),
    (PARTS, part(NAMED + b"; filename*=bogus''%ff")),
    (PARTS, part(NAMED + b"\r\nContent-Transfer-Encoding: bogus")),
    (PARTS, part(NAMED + b"\r\nContent-Type: multipart/mixed; boundary=z")),
    (PARTS, b"--x\r\n" + NAMED + b"\r\n\r\nbroken off"),
)


# In a server it is a line on standard error, once.
@pytest.mark.filterwarnings("ignore::aiohttp.multipart.BadContentDispositionParam")
@pytest.mark.parametrize(("kind", "body"), UNREADABLE)
async def test_a_form_that_cannot_be_read(shop: Market, kind: str, body: bytes) -> None:
    person = await shop.person()
    [cookie] = person.client.cookie_jar
    for path in (
        "/mturk/externalSubmit",
        f"/worker/join/{await shop.invite()}",
        f"/worker/hits/{await shop.hit()}/accept",
    ):
        said = await status(
            shop, "POST", path, body, Content_Type=kind, Cookie=f"{cookie.key}={cookie.value}"
        )
        # Parts that say nothing are a form without fields.
        assert said in (400, 403, 409, 422), path


async def test_an_encoding_that_takes_minutes_is_not_tried(shop: Market) -> None:
    body = b"a=" + b"b" * 1_000_000
    began = time.monotonic()
    said = await status(
        shop, "POST", "/mturk/externalSubmit", body, Content_Type=f"{FORM}; charset=punycode"
    )
    assert said == 400
    assert time.monotonic() - began < 5


async def test_more_fields_than_any_task_has(shop: Market) -> None:
    name = NAMED.replace(b'"name"', b"a")
    many = (b"--x\r\n" + name + b"\r\n\r\n\r\n") * 1001 + b"--x--\r\n"
    for kind, body in ((FORM, b"a=b&" * 1001), (PARTS, many)):
        said = await status(shop, "POST", "/mturk/externalSubmit", body, Content_Type=kind)
        assert said == 413


async def test_a_part_that_is_too_long(shop: Market) -> None:
    long = part(NAMED + b'; filename="a.txt"', b"x" * 3_000_000)
    said = await status(shop, "POST", "/mturk/externalSubmit", long, Content_Type=PARTS)
    assert said == 413


ODD = ("%00", "3X%00", "%ED%A0%80", "%FF", "%0A", "%F0%9F%98%80", "%D9%A3")


async def test_ids_that_no_database_can_hold(market: Market) -> None:
    person = await market.person()
    [cookie] = person.client.cookie_jar
    signed_in = {"Cookie": f"{cookie.key}={cookie.value}"}
    for odd in ODD:
        for path in (
            f"/worker/join/{odd}",
            f"/worker/hits/{odd}",
            f"/worker/hits/{odd}/question",
            f"/worker/assignments/{odd}",
            f"/worker/assignments/{odd}/done",
            f"/worker/static/{odd}",
            f"/worker/{odd}",
        ):
            assert await status(market, "GET", path, **signed_in) == 404, path
        for path in (
            f"/worker/groups/{odd}",
            f"/worker/?q={odd}&sort={odd}&from={odd}&said={odd}&qualified={odd}",
            f"/worker/work?before={odd}",
        ):
            assert await status(market, "GET", path, **signed_in) in (200, 303, 404), path
        body = f"assignmentId={odd}&a={odd}".encode()
        said = await status(market, "POST", "/mturk/externalSubmit", body, Content_Type=FORM)
        assert said == 404
        path = f"/mturk/externalSubmit?assignmentId={odd}&a={odd}"
        assert await status(market, "POST", path) == 404
        form = f"name={odd}&country={odd}".encode()
        path = f"/worker/join/{await market.invite()}"
        assert await status(market, "POST", path, form, Content_Type=FORM) == 422


@pytest.mark.parametrize("odd", [b"\xff\xfe", b'"\\377\\000"', "\u0663".encode(), b"\xed\xa0\x80"])
async def test_headers_that_are_no_text(shop: Market, odd: bytes) -> None:
    for path in ("/worker/", "/worker/join/x", "/worker/hits/x"):
        said = await status(shop, "GET", path, Cookie=b"market_worker=" + odd, Origin=odd)
        assert said in (401, 404)
    code = await shop.invite()
    said = await status(
        shop, "POST", f"/worker/join/{code}", b"name=a&country=US", Content_Type=FORM, Origin=odd
    )
    assert said == 403
    for scope in (b"%sAK/20261130/us-east-1", b"AK/20261130%s/us-east-1", b"AK/20261130/%s"):
        said = await status(
            shop,
            "POST",
            "/",
            b"{}",
            X_Amz_Date=b"20261130T084000Z",
            X_Amz_Target=TARGET,
            Authorization=b"AWS4-HMAC-SHA256 Credential="
            + scope % odd
            + b"/mturk-requester/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, "
            + b"Signature="
            + b"a" * 64,
        )
        assert said == 400


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "GZIP", "identity, gzip"])
async def test_nothing_compressed_is_taken(shop: Market, encoding: str) -> None:
    """A body of 2 MB can be one of 2 GB, and would hold up everybody."""
    bomb = gzip.compress(b"a=b&" * 10_000)
    for path in ("/", "/mturk", "/mturk/externalSubmit", f"/worker/join/{await shop.invite()}"):
        said = await status(shop, "POST", path, bomb, Content_Type=FORM, Content_Encoding=encoding)
        assert said == 415, path
    body = b"assignmentId=3X&a=b"
    said = await status(
        shop,
        "POST",
        "/mturk/externalSubmit",
        body,
        Content_Type=FORM,
        Content_Encoding="identity",
    )
    assert said == 404


async def test_a_bomb_is_not_unpacked(shop: Market) -> None:
    bomb = gzip.compress(b"\0" * 300_000_000, 1)
    assert len(bomb) < 2_000_000
    began = time.thread_time()
    said = await status(shop, "POST", "/", bomb, Content_Encoding="gzip")
    assert said == 415
    # The server runs in this thread.
    assert time.thread_time() - began < 0.1


async def test_who_hangs_up_in_the_middle_is_no_failure(shop: Market) -> None:
    at = urlsplit(shop.local)
    for path, kind in (
        ("/", FORM),
        ("/mturk/externalSubmit", FORM),
        ("/mturk/externalSubmit", PARTS),
    ):
        _, writer = await asyncio.open_connection(at.hostname, at.port)
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: 99\r\n"
        writer.write(head.encode() + b"\r\n--x\r\n")
        await writer.drain()
        # The server has it when it answers somebody who came later.
        assert await status(shop, "GET", "/healthz") == 200
        writer.close()
        await writer.wait_closed()
    assert await status(shop, "GET", "/healthz") == 200
