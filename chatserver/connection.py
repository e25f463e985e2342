"""One connection: what it may send and how fast, what is asked of it, and when it is over."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final

from aiohttp import web

from chatserver import packets
from chatserver.outbox import Outbox, text_frame

JOIN_WITHIN_S: Final = 5.0

MAX_ASKED: Final = 8
"""Heartbeats that a page may leave open."""

PING_EVERY_S: Final = 25.0
"""Some hosts close connections that are idle for 55 s."""
PONG_WITHIN_S: Final = 20.0

BURST: Final = 200.0
FRAMES_PER_S: Final = 50.0
FRAME: Final = 2_000
"""What a page may send: a burst at once, and so many frames a second on average; a long one
counts as several of so many bytes. A page sends one or two; whoever sends more is read more
slowly, and never holds up anybody else."""

LAST_WORDS_S: Final = 1.0
"""For how long a page that has gone is still read: it may have said that it leaves."""


_PING: Final = text_frame(packets.PING)


class Socket:
    """One connection; times by the event loop's clock."""

    __slots__ = (
        "_asked",
        "_number",
        "admitted",
        "allowance",
        "born",
        "cut_off",
        "garbage",
        "gone_at",
        "heard_at",
        "joined",
        "joins",
        "leaving",
        "namespace",
        "outbox",
        "ping_at",
        "pong_by",
        "response",
        "sid",
        "slowed_s",
    )

    def __init__(self, response: web.WebSocketResponse, outbox: Outbox, now: float) -> None:
        self.sid = secrets.token_urlsafe(15)
        self.response = response
        self.outbox = outbox
        self.born = now
        self.namespace = packets.MAIN
        self.joined = False
        self.admitted = False
        self.leaving = False
        self.joins = 0
        self.garbage = 0
        self.allowance = BURST
        self.slowed_s = 0.0
        self.cut_off = False
        self.gone_at: float | None = None
        self.heard_at = now
        self.ping_at = now + PING_EVERY_S
        self.pong_by: float | None = None
        self._number = 0
        self._asked: dict[int, Callable[[], None]] = {}

    def send(self, packet: bytes) -> None:
        self.outbox.write(text_frame(packet))

    def ask(self, name: str, answered: Callable[[], None]) -> None:
        """Send an event that the page acknowledges; `answered` is called when it has."""
        self._number += 1
        self._asked[self._number] = answered
        while len(self._asked) > MAX_ASKED:
            del self._asked[next(iter(self._asked))]
        self.send(packets.event(name, {}, self._number))

    def answered(self, number: int) -> None:
        called = self._asked.pop(number, None)
        if called is not None:
            called()

    def too_fast_s(self, now: float, size: int) -> float:
        """How long the next frame, of `size` bytes, must wait, in seconds; asked once for each."""
        earned = (now - self.heard_at) * FRAMES_PER_S
        self.allowance = min(BURST, self.allowance + earned) - 1 - size / FRAME
        self.heard_at = now
        wait_s = max(0.0, -self.allowance / FRAMES_PER_S)
        self.slowed_s += wait_s
        return wait_s

    def cut(self) -> None:
        """End the connection, and with it what it has sent and nobody has read yet."""
        self.cut_off = True
        self.outbox.abort()

    def is_over(self, now: float) -> bool:
        """Whether nothing more of this page is to be read."""
        if self.cut_off:
            return True
        if not self.outbox.closed:
            return False
        if self.gone_at is None:
            self.gone_at = now
        return now - self.gone_at > LAST_WORDS_S

    def overdue(self, now: float) -> bool:
        """Whether it has not joined, or not answered a ping, in time. Pings when it is time."""
        if not self.joined and now - self.born > JOIN_WITHIN_S:
            return True
        if self.pong_by is not None:
            return now > self.pong_by
        if now >= self.ping_at:
            self.pong_by = now + PONG_WITHIN_S
            self.outbox.write(_PING)
        return False

    def pong(self, now: float) -> None:
        if self.pong_by is not None:
            self.pong_by = None
            self.ping_at = now + PING_EVERY_S
