"""What is written to a socket arrives whole and in order, and who does not read is cut off."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import cast

import pytest
import pytest_asyncio

from benchmarks.frames import TEXT, Decoder
from chatserver.outbox import MAX_UNREAD, Outbox, text_frame


@dataclass
class Ends:
    """A connection of this machine: our transport, and the socket of whoever reads."""

    transport: asyncio.Transport
    reader: socket.socket

    async def read(self, size: int) -> bytes:
        return await asyncio.get_running_loop().sock_recv(self.reader, size)


@pytest_asyncio.fixture
async def ends() -> AsyncIterator[Ends]:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    transport, _ = await asyncio.get_running_loop().create_connection(asyncio.Protocol, sock=ours)
    yield Ends(cast(asyncio.Transport, transport), theirs)
    transport.abort()
    theirs.close()


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, 100_000])
def test_a_frame_of_any_size_is_read_as_it_was_written(size: int) -> None:
    payload = b"x" * size
    assert Decoder().feed(text_frame(payload) + text_frame(b"next")) == [
        (TEXT, payload),
        (TEXT, b"next"),
    ]


async def test_what_is_written_in_one_turn_leaves_together_by_itself(ends: Ends) -> None:
    outbox = Outbox(ends.transport)
    outbox.write(b"one ")
    outbox.write(b"two ")
    await asyncio.sleep(0)
    outbox.write(b"three")
    assert await ends.read(1000) == b"one two "
    assert await ends.read(1000) == b"three"


async def test_a_closed_socket_takes_nothing_and_says_nothing(ends: Ends) -> None:
    outbox = Outbox(ends.transport)
    outbox.write(b"before")
    outbox.flush()
    outbox.abort()
    outbox.write(b"after")
    await asyncio.sleep(0)
    outbox.flush()
    assert await ends.read(1000) == b"before"
    assert await ends.read(1000) == b""


async def test_nothing_follows_the_end(ends: Ends) -> None:
    """A frame after the one that closes would break the protocol."""
    outbox = Outbox(ends.transport)
    outbox.write(b"before")
    outbox.end()
    outbox.write(b"after")
    await asyncio.sleep(0)
    ends.transport.close()
    assert await ends.read(1000) == b"before"
    assert await ends.read(1000) == b""


async def test_a_peer_that_reads_nothing_is_cut_off_at_a_bound(ends: Ends) -> None:
    outbox = Outbox(ends.transport)
    piece = b"x" * 100_000
    for _ in range(100):
        outbox.write(piece)
        await asyncio.sleep(0)
        assert ends.transport.get_write_buffer_size() <= MAX_UNREAD + len(piece)
    assert ends.transport.is_closing()
