"""Open monitors as a process of its own: each signed in, watching one live dialog after another.

    python -m benchmarks.open_monitors --url http://127.0.0.1:8080 --name ada --count 10

Reads a password from stdin. Says `ready` on stdout when all are open; at the end of stdin it ends
and prints as JSON how late entries of watched dialogs came (seconds after the time that the server
gave the event, which is before its commit and so before its acknowledgement) and how much came.

A monitor here counts frames, and looks only into those of the dialog it watches; one of them looks
into the boards as well, and tells all which dialogs there are. A browser has a machine of its own,
and what it does with a frame is not the server's.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, cast
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import orjson

from benchmarks import frames

SWITCH_S: Final = 15.0
"""How long a monitor watches one dialog: less than people do."""


@dataclass(slots=True)
class Seen:
    """What all monitors together have seen. Lags in seconds."""

    lags: list[float] = field(default_factory=list)
    frames: int = 0
    bytes: int = 0
    watched: int = 0
    live: set[str] = field(default_factory=set)


class OpenMonitor(asyncio.Protocol):
    """One monitor's connection; `ready` resolves with the first board."""

    def __init__(
        self, where: tuple[str, int], cookie: str, csrf: str, seen: Seen, *, looks: bool
    ) -> None:
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._where = where
        self._cookie = cookie
        self._csrf = csrf
        self._seen = seen
        self._looks = looks
        self._decoder = frames.Decoder()
        self._upgraded = False
        self._head = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        host, port = self._where
        self._transport.write(
            (
                "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n"
                f"Host: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
                f"Cookie: {self._cookie}\r\n\r\n"
            ).encode()
        )

    def data_received(self, data: bytes) -> None:
        if not self._upgraded:
            self._head += data
            head, end, data = self._head.partition(b"\r\n\r\n")
            if not end:
                return
            if not head.startswith(b"HTTP/1.1 101"):
                raise RuntimeError(f"no socket: {head[:200]!r}")
            self._upgraded = True
        for opcode, payload in self._decoder.feed(data):
            if opcode == frames.TEXT:
                self._text(payload)
            elif opcode == frames.PING:
                self._transport.write(frames.encode(payload, frames.PONG))

    def _text(self, payload: bytes) -> None:
        self._seen.frames += 1
        self._seen.bytes += len(payload)
        if payload.startswith(b'42/monitor,["entries"'):
            now = time.time()
            _, happened = orjson.loads(payload[payload.index(b"[") :])
            self._seen.lags += [now - entry["at"] for entry in happened["entries"]]
        elif payload.startswith(b'42/monitor,["board"'):
            if self._looks:
                _, board = orjson.loads(payload[payload.index(b"[") :])
                self._seen.live.update(row["id"] for row in board["rows"])
                self._seen.live.difference_update(board["over"])
            if not self.ready.done():
                self.ready.set_result(None)
        elif payload.startswith(b"0"):
            auth = orjson.dumps({"csrf": self._csrf})
            self._send(b"40/monitor," + auth)
        elif payload == b"2":
            self._send(b"3")
        elif payload.startswith(b"44"):
            raise RuntimeError(f"not let in: {payload!r}")

    def watch(self, dialog_id: str) -> None:
        self._seen.watched += 1
        self._send(b'42/monitor,1["watch",' + orjson.dumps({"dialog_id": dialog_id}) + b"]")

    def _send(self, packet: bytes) -> None:
        self._transport.write(frames.encode(packet))


def sign_in(url: str, name: str, password: str) -> tuple[str, str]:
    """The cookie and the CSRF token of a new session."""
    body = orjson.dumps({"name": name, "password": password})
    asked = Request(f"{url}/api/sign-in", body, {"Content-Type": "application/json"})
    with urlopen(asked, timeout=30) as response:
        cookie = response.headers["Set-Cookie"].partition(";")[0]
        return cookie, orjson.loads(response.read())["csrf"]


async def watch(url: str, name: str, password: str, count: int) -> dict[str, Any]:
    """Open the monitors, and let each watch one dialog after another until stdin ends."""
    cookie, csrf = await asyncio.to_thread(sign_in, url, name, password)
    parts = urlsplit(url)
    where = (parts.hostname or "127.0.0.1", parts.port or 80)
    loop, seen, rng = asyncio.get_running_loop(), Seen(), random.Random(1)
    monitors = []
    for number in range(count):
        make = partial(OpenMonitor, where, cookie, csrf, seen, looks=number == 0)
        _, monitor = await loop.create_connection(make, *where)
        monitors.append(monitor)
    await asyncio.gather(*(monitor.ready for monitor in monitors))
    print("ready", flush=True)
    ending = asyncio.ensure_future(asyncio.to_thread(sys.stdin.read))
    while not ending.done():
        for monitor in monitors:
            if seen.live:
                monitor.watch(rng.choice(sorted(seen.live)))
        await asyncio.wait([ending], timeout=SWITCH_S if seen.live else 0.5)
    lags = sorted(seen.lags)
    return {
        "monitors": count,
        "entries": len(lags),
        "lag_p50_ms": _ms(lags, 0.5),
        "lag_p99_ms": _ms(lags, 0.99),
        "lag_max_ms": _ms(lags, 1.0),
        "watched": seen.watched,
        "frames": seen.frames,
        "megabytes": round(seen.bytes / 1e6, 1),
    }


def _ms(ordered: list[float], share: float) -> float | None:
    if not ordered:
        return None
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000, 1)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.open_monitors", description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--count", type=int, default=10)
    given = parser.parse_args()
    password = sys.stdin.readline().rstrip("\n")
    print(
        orjson.dumps(asyncio.run(watch(given.url, given.name, password, given.count))).decode(),
        flush=True,
    )


if __name__ == "__main__":
    main()
