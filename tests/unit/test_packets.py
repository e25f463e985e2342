"""Packets are told by their bytes, and nothing passes for what it is not."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatserver import packets
from chatserver.connection import BURST, FRAMES_PER_S, MAX_ASKED, Socket
from chatserver.packets import (
    Ack,
    Event,
    Garbage,
    Goodbye,
    Join,
    Packet,
    Pong,
    Unreadable,
    parse,
)


@pytest.mark.parametrize(
    ("data", "packet"),
    [
        (b"3", Pong()),
        (b"1", Goodbye()),
        (b"41", Goodbye()),
        (b"40", Join(None)),
        (b'40{"token":"t"}', Join({"token": "t"})),
        (b'40/,{"token":"t"}', Join({"token": "t"})),
        (b'40/admin,{"token":"t"}', Join({"token": "t"}, "/admin")),
        (b"40/admin?x=1,", Join(None, "/admin")),
        (b'42/admin,7["watch",{}]', Event("watch", {}, b"7", "/admin")),
        (b'42/admin,["watch"]', Event("watch", {}, b"", "/admin")),
        (b"40{", Garbage()),
        (b"40/admin", Garbage()),
        (b'42["ready"]', Event("ready", {}, b"")),
        (b'4212["ready",{},1]', Unreadable(b"12")),
        (b'42007["ready"]', Event("ready", {}, b"007")),
        (b'4212["x",{"a":"\\ud800"}]', Unreadable(b"12")),
        (b"421[]", Unreadable(b"1")),
        (b"421[1]", Unreadable(b"1")),
        (b"42[1]", Garbage()),
        (b'42/admin["x"]', Garbage()),
        (b'42/\xff,1["x"]', Unreadable(b"1")),
        (b"43/admin,5[]", Ack(5)),
        (b"41/admin,", Goodbye()),
        (b'4212345678901234567["x"]', Garbage()),
        ('42١["x"]'.encode(), Garbage()),
        (b"431[]", Ack(1)),
        (b"430[true]", Ack(0)),
        (b"43[]", Garbage()),
        ("43١[]".encode(), Garbage()),
        ("4٥1-[]".encode(), Garbage()),
        ("4٠{}".encode(), Garbage()),
        (b"451-[]", Garbage()),
        (b"2probe", Garbage()),
        (b"5", Garbage()),
        (b"", Garbage()),
        (b"4", Garbage()),
        (b"\xff\xfe", Garbage()),
    ],
)
def test_every_kind_is_told_from_every_other(data: bytes, packet: Packet) -> None:
    assert parse(data) == packet


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda t: b"4" + t.encode()))
def test_no_bytes_make_the_parser_fail(data: bytes) -> None:
    parse(data)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(
    st.text(max_size=20), values, st.none() | st.integers(1, 10**9), st.sampled_from(["/", "/team"])
)
def test_what_the_server_writes_is_what_was_meant(
    name: str, data: Any, number: int | None, namespace: str
) -> None:
    packet = packets.event(name, data, number, namespace)
    asked = b"" if number is None else str(number).encode()
    assert parse(packet) == Event(name, data, asked, namespace)
    ack = packets.acknowledgement(b"7", data, namespace)
    assert parse(ack) == Ack(7)
    assert orjson.loads(ack[ack.index(b"[") :]) == ([] if data is None else [data])


# --- One socket ----------------------------------------------------------------------------


class Sent:
    """Stands where a socket writes to."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def write(self, frame: bytes) -> None:
        self.frames.append(frame)


def socket_at(now: float) -> Socket:
    return Socket(None, Sent(), now)  # type: ignore[arg-type]


def test_a_page_is_never_slowed_down_and_a_flood_always() -> None:
    socket = socket_at(0.0)
    assert all(socket.too_fast_s(n / 10, 100) == 0 for n in range(10_000))
    now, waited = 1000.0, 0.0
    for _ in range(1000):
        wait = socket.too_fast_s(now, 0)
        waited += wait
        now += wait
    assert waited == pytest.approx((1000 - BURST) / FRAMES_PER_S, rel=0.05)


def test_a_long_frame_counts_as_many() -> None:
    socket = socket_at(0.0)
    waited = sum(socket.too_fast_s(0.0, 100_000) for _ in range(10))
    # 51 frames each, of which the first 200 are free.
    assert waited == pytest.approx(sum(max(0, 51 * n - 200) for n in range(1, 11)) / FRAMES_PER_S)


def test_a_ping_is_sent_in_time_and_must_be_answered() -> None:
    socket = socket_at(0.0)
    socket.joined = True
    assert not socket.overdue(24.9)
    assert not socket.outbox.frames  # type: ignore[attr-defined]
    assert not socket.overdue(25.0)
    assert len(socket.outbox.frames) == 1  # type: ignore[attr-defined]
    assert not socket.overdue(45.0)
    assert socket.overdue(45.1)
    socket.pong(46.0)
    assert not socket.overdue(70.9)


def test_who_does_not_join_is_overdue() -> None:
    socket = socket_at(0.0)
    assert not socket.overdue(5.0)
    assert socket.overdue(5.1)


async def test_only_the_newest_heartbeats_are_remembered() -> None:
    socket, heard = socket_at(0.0), []
    for n in range(MAX_ASKED + 2):
        socket.ask("heartbeat", lambda n=n: heard.append(n))  # type: ignore[misc]
    for number in (0, 1, 2, MAX_ASKED + 2, MAX_ASKED + 2, 99):
        socket.answered(number)
    await asyncio.sleep(0)
    assert heard == [MAX_ASKED + 1]
