"""The packets of engine.io 4 and socket.io 5 that this server speaks. Pure: bytes in, values out.

Text over a WebSocket, and the namespace `/`: that is what every standard client uses for us.
Everything else (binary packets, other namespaces, upgrades from polling) is `Garbage`. The
formats are those of the protocol documents, https://socket.io/docs/v4/engine-io-protocol and
https://socket.io/docs/v4/socket-io-protocol.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import orjson


@dataclass(frozen=True, slots=True)
class Pong:
    """The page answers a ping."""


@dataclass(frozen=True, slots=True)
class Goodbye:
    """The page leaves: engine.io's close, or socket.io's disconnect."""


@dataclass(frozen=True, slots=True)
class Join:
    """The page wants to join; `auth` is what it brings along."""

    auth: Any


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The page wants to join a namespace that we do not have."""

    namespace: str


@dataclass(frozen=True, slots=True)
class Event:
    """An event; `number` is that of the acknowledgement it asks for, as the page wrote it."""

    name: str
    data: Any
    number: bytes


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An event whose content cannot be read, but that asks for an acknowledgement."""

    number: bytes


@dataclass(frozen=True, slots=True)
class Ack:
    """The page acknowledges our event `number`."""

    number: int


@dataclass(frozen=True, slots=True)
class Garbage:
    """Nothing that a standard client sends to us."""


Packet = Pong | Goodbye | Join | Elsewhere | Event | Unreadable | Ack | Garbage

_JOIN: Final = re.compile(rb"40(?:(/[^,?]{0,100})(?:\?[^,]*)?,)?(.*)", re.DOTALL)
_EVENT: Final = re.compile(rb"42([0-9]{0,16})(?=\[)")
_ACK: Final = re.compile(rb"43([0-9]{1,16})\[")
_PONG, _GOODBYE, _GARBAGE = Pong(), Goodbye(), Garbage()


def parse(data: bytes) -> Packet:
    """One packet. Types are told by single ASCII bytes, so that no other digit passes for one."""
    match data[:2]:
        case b"42":
            return _event(data)
        case b"43":
            found = _ACK.match(data)
            return Ack(int(found[1])) if found else _GARBAGE
        case b"40":
            return _join(data)
        case b"41" | b"1":
            return _GOODBYE
        case b"3":
            return _PONG
        case _:
            return _GARBAGE


def _event(data: bytes) -> Packet:
    found = _EVENT.match(data)
    if found is None:
        return _GARBAGE
    number = found[1]
    try:
        name, *arguments = orjson.loads(data[found.end() :])
    except ValueError:
        return Unreadable(number) if number else _GARBAGE
    if not isinstance(name, str) or len(arguments) > 1:
        return Unreadable(number) if number else _GARBAGE
    return Event(name, arguments[0] if arguments else {}, number)


def _join(data: bytes) -> Packet:
    found = _JOIN.fullmatch(data)
    assert found is not None, "the pattern ends in anything"
    namespace, rest = found[1], found[2]
    try:
        if namespace not in (None, b"/"):
            return Elsewhere(namespace.decode())
        return Join(orjson.loads(rest) if rest else None)
    except ValueError:
        return _GARBAGE


# --- What the server sends -----------------------------------------------------------------

PING: Final = b"2"


def opening(engine_id: str, ping_interval_s: float, ping_timeout_s: float, most: int) -> bytes:
    """The first packet of a connection."""
    return b"0" + orjson.dumps(
        {
            "sid": engine_id,
            "upgrades": [],
            "pingInterval": round(ping_interval_s * 1000),
            "pingTimeout": round(ping_timeout_s * 1000),
            "maxPayload": most,
        }
    )


def joined(sid: str) -> bytes:
    return b"40" + orjson.dumps({"sid": sid})


def refused(message: str, data: Any = None, namespace: str = "") -> bytes:
    """The page may not join; `data` says why, for its program."""
    where = f"{namespace},".encode() if namespace else b""
    body = {"message": message} if data is None else {"message": message, "data": data}
    return b"44" + where + orjson.dumps(body)


def event(name: str, payload: Any, number: int | None = None) -> bytes:
    """An event; with a number the page acknowledges it."""
    head = b"42" if number is None else b"42%d" % number
    return head + orjson.dumps([name, payload])


def acknowledgement(number: bytes, answer: Any) -> bytes:
    return b"43" + number + (b"[]" if answer is None else orjson.dumps([answer]))
