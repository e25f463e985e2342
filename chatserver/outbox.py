"""What leaves by a socket: frames that are encoded once and written without a task of their own."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from engineio import packet

MAX_UNREAD: Final = 1_000_000
"""Bytes that may wait for a page that does not read them; then its socket is closed."""

_FINAL_TEXT: Final = 0x81


def text_frame(payload: bytes) -> bytes:
    """A server's text frame (RFC 6455, section 5.2): final, unmasked, uncompressed.

    Servers do not mask, so the same bytes serve any number of sockets.
    """
    size = len(payload)
    if size < 126:
        return bytes((_FINAL_TEXT, size)) + payload
    if size < 65536:
        return bytes((_FINAL_TEXT, 126)) + size.to_bytes(2) + payload
    return bytes((_FINAL_TEXT, 127)) + size.to_bytes(8) + payload


class Outbox:
    """What engine.io knows as the queue of a socket. What is written in one turn of the event
    loop leaves together; after that nothing waits here: the transport's buffer shows who does
    not read."""

    def __init__(self) -> None:
        self._frames: list[bytes] = []
        self._transport: asyncio.Transport | None = None

    def open(self, transport: asyncio.Transport) -> None:
        """The WebSocket is there: send what came before it, and everything from now on."""
        self._transport = transport
        self._flush()

    def write(self, frame: bytes) -> None:
        """Send a whole frame. A socket that is closed takes nothing; catch-up is by the record."""
        if not self._frames and self._transport is not None:
            asyncio.get_running_loop().call_soon(self._flush)
        self._frames.append(frame)

    def _flush(self) -> None:
        frames, self._frames = self._frames, []
        transport = self._transport
        if transport is None or not frames:
            return
        if transport.get_write_buffer_size() > MAX_UNREAD:
            transport.abort()
        else:
            transport.write(b"".join(frames))

    async def put(self, item: Any) -> None:
        """Send an engine.io packet; the one that says goodbye also closes the connection."""
        self.write(text_frame(item.encode().encode()))
        if item.packet_type == packet.CLOSE and self._transport is not None:
            self._flush()
            self._transport.close()

    async def join(self) -> None:
        """Hand everything that was put to the transport."""
        self._flush()
