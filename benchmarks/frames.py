"""WebSocket (RFC 6455) and socket.io v5 text frames by hand, as little as a generator needs.

A library's client costs more than the server under test; this codec costs a few microseconds
a frame. Only what a well-behaved server sends is understood; anything else raises `BadFrame`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson

TEXT: Final = 0x1
CLOSE: Final = 0x8
PING: Final = 0x9
PONG: Final = 0xA

_FINAL: Final = 0x80
_MASKED: Final = 0x80
_NO_MASK: Final = b"\x00\x00\x00\x00"


class BadFrame(ValueError):
    """Bytes that this codec does not understand."""


def encode(payload: bytes, opcode: int = TEXT) -> bytes:
    """One client frame. The mask is all zeros: it is required, and leaves the payload as it is."""
    size = len(payload)
    if size < 126:
        head = bytes((_FINAL | opcode, _MASKED | size))
    elif size < 65536:
        head = bytes((_FINAL | opcode, _MASKED | 126)) + size.to_bytes(2)
    else:
        head = bytes((_FINAL | opcode, _MASKED | 127)) + size.to_bytes(8)
    return head + _NO_MASK + payload


class Decoder:
    """Cuts a server's byte stream into frames."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Return the (opcode, payload) of every frame that `data` completes."""
        if self._rest:
            data = self._rest + data
        frames: list[tuple[int, bytes]] = []
        at, end = 0, len(data)
        while end - at >= 2:
            first, size = data[at], data[at + 1]
            if first & 0xF0 != _FINAL or size & _MASKED:
                raise BadFrame(f"a fragment, an extension or a mask: {data[at : at + 2].hex()}")
            start = at + 2
            if size >= 126:
                width = 2 if size == 126 else 8
                if end - start < width:
                    break
                size = int.from_bytes(data[start : start + width])
                start += width
            if end - start < size:
                break
            at = start + size
            frames.append((first & 0x0F, data[start:at]))
        self._rest = data[at:]
        return frames


@dataclass(frozen=True, slots=True)
class Packet:
    """A socket.io packet of namespace `/`: its kind, acknowledgement id and JSON payload."""

    kind: int
    id: int | None
    data: Any


CONNECT: Final = 0
DISCONNECT: Final = 1
EVENT: Final = 2
ACK: Final = 3
CONNECT_ERROR: Final = 4


def parse(text: bytes) -> Packet:
    """Parse an engine.io message (`4…`) that holds a socket.io packet."""
    if text[:1] != b"4" or len(text) < 2:
        raise BadFrame(f"not a socket.io packet: {text[:40]!r}")
    kind, at, end = text[1] - 48, 2, len(text)
    if not CONNECT <= kind <= CONNECT_ERROR:
        raise BadFrame(f"not a text packet: {text[:40]!r}")
    while at < end and 48 <= text[at] <= 57:
        at += 1
    number = int(text[2:at]) if at > 2 else None
    return Packet(kind, number, orjson.loads(text[at:]) if at < end else None)


def event(name: str, data: Any, number: int | None = None) -> bytes:
    """The client frame of an event; with `number` it asks for an acknowledgement."""
    head = b"42" if number is None else b"42%d" % number
    return encode(head + orjson.dumps([name, data]))


def acknowledge(number: int) -> bytes:
    """The client frame that acknowledges the server's event `number` with no data."""
    return encode(b"43%d[]" % number)


def connect(token: str) -> bytes:
    """The client frame that joins namespace `/`."""
    return encode(b"40" + orjson.dumps({"token": token}))


ENGINE_OPEN: Final = b"0"
ENGINE_CLOSE: Final = b"1"
ENGINE_PING: Final = b"2"
ENGINE_PONG: Final = encode(b"3")
