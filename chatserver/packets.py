"""The packets of engine.io 4 and socket.io 5 that this server speaks. Pure: bytes in, values out.

Text over a WebSocket, with or without a namespace: that is what standard clients use for us.
Everything else (binary packets, upgrades from polling) is `Garbage`. The formats are those of the
protocol documents, https://socket.io/docs/v4/engine-io-protocol and
https://socket.io/docs/v4/socket-io-protocol.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import orjson

MAIN: Final = "/"
"""The namespace that a packet belongs to when it names none."""


@dataclass(frozen=True, slots=True)
class Pong:
    """The page answers a ping."""


@dataclass(frozen=True, slots=True)
class Goodbye:
    """The page leaves: engine.io's close, or socket.io's disconnect."""


@dataclass(frozen=True, slots=True)
class Join:
    """The page wants to join a namespace; `auth` is what it brings along."""

    auth: Any
    namespace: str = MAIN


@dataclass(frozen=True, slots=True)
class Event:
    """An event; `number` is that of the acknowledgement it asks for, as the page wrote it."""

    name: str
    data: Any
    number: bytes
    namespace: str = MAIN


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


Packet = Pong | Goodbye | Join | Event | Unreadable | Ack | Garbage

_WHERE: Final = rb"(?:(/[^,?\[]{0,100})(?:\?[^,\[]*)?,)?"
_JOIN: Final = re.compile(rb"40" + _WHERE + rb"(.*)", re.DOTALL)
_EVENT: Final = re.compile(rb"42" + _WHERE + rb"([0-9]{0,16})(?=\[)")
_ACK: Final = re.compile(rb"43" + _WHERE + rb"([0-9]{1,16})\[")
_PONG, _GOODBYE, _GARBAGE = Pong(), Goodbye(), Garbage()


def parse(data: bytes) -> Packet:
    """One packet. Types are told by single ASCII bytes, so that no other digit passes for one."""
    match data[:2]:
        case b"42":
            return _event(data)
        case b"43":
            found = _ACK.match(data)
            return Ack(int(found[2])) if found else _GARBAGE
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
    where, number = found[1], found[2]
    try:
        name, *arguments = orjson.loads(data[found.end() :])
        namespace = MAIN if where is None else where.decode()
    except ValueError:
        return Unreadable(number) if number else _GARBAGE
    if not isinstance(name, str) or len(arguments) > 1:
        return Unreadable(number) if number else _GARBAGE
    return Event(name, arguments[0] if arguments else {}, number, namespace)


def _join(data: bytes) -> Packet:
    found = _JOIN.fullmatch(data)
    assert found is not None, "the pattern ends in anything"
    namespace, rest = found[1] or MAIN.encode(), found[2]
    try:
        return Join(orjson.loads(rest) if rest else None, namespace.decode())
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


def _where(namespace: str) -> bytes:
    return b"" if namespace == MAIN else f"{namespace},".encode()


def joined(sid: str, namespace: str = MAIN) -> bytes:
    return b"40" + _where(namespace) + orjson.dumps({"sid": sid})


def refused(message: str, data: Any = None, namespace: str = MAIN) -> bytes:
    """The page may not join; `data` says why, for its program."""
    body = {"message": message} if data is None else {"message": message, "data": data}
    return b"44" + _where(namespace) + orjson.dumps(body)


def event(name: str, payload: Any, number: int | None = None, namespace: str = MAIN) -> bytes:
    """An event; with a number the page acknowledges it."""
    head = b"42" + _where(namespace)
    return head + (b"" if number is None else b"%d" % number) + orjson.dumps([name, payload])


def acknowledgement(number: bytes, answer: Any, namespace: str = MAIN) -> bytes:
    body = b"[]" if answer is None else orjson.dumps([answer])
    return b"43" + _where(namespace) + number + body
