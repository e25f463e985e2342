"""What leaves by a socket: frames that are encoded once and written without a task of their own."""

from __future__ import annotations

import asyncio
from typing import Final

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
    """Writes to one WebSocket's transport. What is written in one turn of the event loop leaves
    together; after that nothing waits here: the transport's buffer shows who does not read."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._frames: list[bytes] = []
        self._ended = False

    @property
    def closed(self) -> bool:
        """Whether the connection is gone, or going."""
        return self._transport.is_closing()

    def write(self, frame: bytes) -> None:
        """Send a whole frame. A socket that is closed takes nothing; catch-up is by the record."""
        if self._ended:
            return
        if not self._frames:
            asyncio.get_running_loop().call_soon(self.flush)
        self._frames.append(frame)

    def flush(self) -> None:
        """Hand over what was written, now."""
        frames, self._frames = self._frames, []
        if not frames or self._transport.is_closing():
            return
        if self._transport.get_write_buffer_size() > MAX_UNREAD:
            self._transport.abort()
        else:
            self._transport.write(b"".join(frames))

    def end(self) -> None:
        """Hand over what was written, and take no more: the frame that closes comes next, and
        nothing may follow it (RFC 6455, section 5.5.1)."""
        self.flush()
        self._ended = True

    def abort(self) -> None:
        """Cut the connection; what was not sent is lost."""
        self._transport.abort()
