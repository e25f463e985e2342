"""One worker of the load generator: arrival, ready, start, its messages, finish; on one socket.

The same TCP connection carries the HTTP request for the arrival and then the WebSocket.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final, cast

import orjson

from benchmarks import frames

TEXTS: Final = (
    "is there anyone else in the picture",
    "no it is just the two of them",
    "what is the weather like, can you tell",
    "sunny with a few clouds behind the house",
)
RETRY_S: Final = 0.5
META: Final = {"pasted": False, "composed_ms": 5200, "edits": 3}


@dataclass(slots=True)
class Tally:
    """What a run has seen. Times are seconds."""

    acks: list[float] = field(default_factory=list)
    deliveries: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    completed: int = 0
    retried: int = 0
    errors: dict[str, int] = field(default_factory=dict)

    def error(self, what: str) -> None:
        self.errors[what] = self.errors.get(what, 0) + 1


@dataclass(slots=True)
class Run:
    """What the workers of one run share.

    `on_air` holds the moment each message was sent, until its partner has it. `pace(send)`
    decides when a worker whose turn it is calls `send`.
    """

    host: str
    port: int
    prefix: str
    rounds: int
    tally: Tally
    pace: Callable[[Callable[[], None]], None]
    query: dict[str, str] = field(default_factory=dict)
    check_answers: list[int] = field(default_factory=list)
    on_air: dict[str, float] = field(default_factory=dict)


class Client(asyncio.Protocol):
    """A worker as a protocol of the event loop.

    `talking` and `done` resolve when the dialog has begun and when the work is handed in; both
    fail when the server refuses or the connection is lost. With `hold`, the first message waits
    for `begin()`.
    """

    def __init__(self, run: Run, number: int, hold: bool) -> None:
        loop = asyncio.get_running_loop()
        self.run = run
        self.name = f"{run.prefix}{number:06d}"
        self.talking: asyncio.Future[None] = loop.create_future()
        self.done: asyncio.Future[None] = loop.create_future()
        self.all_sent: asyncio.Future[None] = loop.create_future()
        self.stage = "coming"
        self._held = hold
        self._begun = False
        self._decoder = frames.Decoder()
        self._http: bytes | None = b""
        self._token = ""
        self._role = ""
        self._my_turn = False
        self._sent = 0
        self._number = 0
        self._asked: dict[int, tuple[str, Any, float]] = {}
        self._pressed: set[str] = set()
        self._finished = False
        self._ready_at = 0.0

    # --- HTTP, until the connection is a WebSocket ---------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one only by shape
        body = orjson.dumps(
            {
                "query": self.run.query,
                "worker_key": f"load-worker-{self.name}",
                "language": "en",
                "consented": True,
                "check_answers": self.run.check_answers,
            }
        )
        head = (
            f"POST /api/arrivals HTTP/1.1\r\nHost: {self.run.host}:{self.run.port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self._transport.write(head.encode() + body)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self._fail(f"connection lost ({type(exc).__name__ if exc else 'closed by the server'})")

    def _fail(self, why: str) -> None:
        self.run.tally.error(why)
        for future in (self.talking, self.all_sent, self.done):
            if not future.done():
                future.set_result(None)
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._http is not None:
            rest = self._http_received(self._http + data)
            if rest is None:
                return
            data = rest
        for opcode, payload in self._decoder.feed(data):
            if opcode == frames.TEXT:
                self._text(payload)
            elif opcode == frames.PING:
                self._transport.write(frames.encode(payload, frames.PONG))
            elif opcode == frames.CLOSE:
                self._transport.close()

    def _http_received(self, data: bytes) -> bytes | None:
        """Return what follows the upgrade, or None while there is more HTTP to come."""
        self._http = data
        head, end, body = data.partition(b"\r\n\r\n")
        if not end:
            return None
        status, _, lines = head.decode("latin-1").partition("\r\n")
        code = status.split()[1]
        if code == "101":
            self._http = None
            return body
        fields = {k.lower(): v for k, _, v in (h.partition(": ") for h in lines.split("\r\n"))}
        if len(body) < int(fields.get("content-length", 0)):
            return None
        if code != "200" or self._token:
            self._fail(f"HTTP {code}: {body[:200].decode(errors='replace')}")
            return None
        self._http = b""
        self._token = orjson.loads(body)["token"]
        self._transport.write(
            (
                "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n"
                f"Host: {self.run.host}:{self.run.port}\r\n"
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: ZHVvbG9ndWUtbWVhc3VyZQ==\r\n\r\n"
            ).encode()
        )
        return None

    # --- socket.io -----------------------------------------------------------------------

    def _text(self, payload: bytes) -> None:
        first = payload[:1]
        if first == b"4":
            packet = frames.parse(payload)
            if packet.kind == frames.EVENT:
                self._event(packet)
            elif packet.kind == frames.ACK and packet.id is not None:
                self._acknowledged(packet.id, packet.data[0] if packet.data else {})
            elif packet.kind != frames.CONNECT:
                self._fail(f"refused: {payload[:200].decode(errors='replace')}")
        elif first == frames.ENGINE_PING:
            self._transport.write(frames.ENGINE_PONG)
        elif first == frames.ENGINE_OPEN:
            self._transport.write(frames.connect(self._token))
        elif first == frames.ENGINE_CLOSE:
            self._transport.close()

    def _event(self, packet: frames.Packet) -> None:
        name, *arguments = packet.data
        if packet.id is not None:
            self._transport.write(frames.acknowledge(packet.id))
        if name == "message":
            self._delivered(arguments[0])
        elif name == "state":
            self._state(arguments[0])
        elif name == "stopped":
            self._fail(f"stopped: {arguments[0].get('code')}")

    def _state(self, state: dict[str, Any]) -> None:
        self.stage = state["stage"]
        match self.stage:
            case "arrived":
                self._ready_at = self._ready_at or perf_counter()
                self._press("ready")
            case "matched" if not state["match"]["started"]:
                self._press("start")
            case "talking" if not self.talking.done():
                self._role = state["dialog"]["role"]
                self._my_turn = bool(state["dialog"]["your_turn"])
                self.run.tally.waits.append(perf_counter() - self._ready_at)
                self.talking.set_result(None)
                if not self._held:
                    self.begin()
            case "released":
                self._finish()
            case _:
                pass

    def _press(self, name: str) -> None:
        """A button, once at a time: a match may come to nothing, and then there is another."""
        if name not in self._pressed:
            self._pressed.add(name)
            self._ask(name, {})

    def _finish(self) -> None:
        if not self._finished:
            self._finished = True
            self._ask("finish", {"feedback": ""})

    def begin(self) -> None:
        """Let the first message go, unless the partner's has come already."""
        if self._my_turn and not self._begun:
            self._begun = True
            self._say()

    def _ask(self, name: str, data: Any, asked_at: float | None = None) -> None:
        if self._transport.is_closing():
            return
        self._number += 1
        self._asked[self._number] = (name, data, asked_at or perf_counter())
        self._transport.write(frames.event(name, data, self._number))

    def _say(self) -> None:
        self._my_turn = False
        self._sent += 1
        key = f"{self.name}-{self._sent:02d}"
        text = f"{key} {TEXTS[self._sent % len(TEXTS)]}"
        self.run.on_air[key] = perf_counter()
        self._ask("message", {"key": key, "parts": [{"text": text}], "meta": META})

    def _acknowledged(self, number: int, answer: dict[str, Any]) -> None:
        name, data, asked_at = self._asked.pop(number)
        if answer.get("code") == "try_again":
            # As the page does: the same again, and the time counts from the first try.
            self.run.tally.retried += 1
            loop = asyncio.get_running_loop()
            loop.call_later(RETRY_S, self._ask, name, data, asked_at)
            return
        self._pressed.discard(name)
        if answer.get("code") == "not_now" and name in ("ready", "start"):
            # The screen has changed meanwhile; its state is on the way.
            return
        if "error" in answer:
            self._fail(f"{name} refused: {answer.get('code')}: {answer['error']}")
        elif name == "message":
            self.run.tally.acks.append(perf_counter() - asked_at)
            if self._sent == self.run.rounds and not self.all_sent.done():
                self.all_sent.set_result(None)
        elif name == "finish" and not self.done.done():
            self.run.tally.completed += 1
            self.done.set_result(None)

    def _delivered(self, message: dict[str, Any]) -> None:
        if message["role"] == self._role:
            return
        key = message["parts"][0]["text"].partition(" ")[0]
        sent_at = self.run.on_air.pop(key, None)
        if sent_at is None:
            return
        self.run.tally.deliveries.append(perf_counter() - sent_at)
        if self._sent < self.run.rounds and not self._my_turn:
            self._my_turn = self._begun = True
            self.run.pace(self._say)

    def close(self) -> None:
        if not self.done.done():
            self.done.set_result(None)
        self._transport.close()
