"""Sockets without a page behind them, for tests of what a page never sends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.live import Live, Person, RawSocket

SOCKET = "/socket.io/?EIO=4&transport=websocket"


@asynccontextmanager
async def raw(live: Live, token: str | None = None) -> AsyncIterator[RawSocket]:
    """A socket without a page; joined if there is a token."""
    async with live.http.ws_connect(live.urls[0] + SOCKET, max_msg_size=0) as ws:
        socket = RawSocket(ws)
        assert (await socket.receive() or "").startswith("0")
        if token is not None:
            assert (await socket.join(token) or "").startswith("40")
        yield socket


async def goes_on(live: Live, asker: Person, teller: Person) -> None:
    """The dialog and the server are unharmed."""
    await live.converse(asker, teller, len(asker.texts) + 2)
