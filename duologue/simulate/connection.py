"""One socket.io connection of a simulated worker, from connect to close."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import aiohttp
import socketio
from socketio.exceptions import SocketIOError

from chatserver.wire import ErrorCode

OPEN_WITHIN_S: Final = 6.0
"""The server answers within 4 s. The library goes on waiting when the server dies meanwhile."""

PASSING: Final = frozenset({ErrorCode.TRY_AGAIN.value})
"""The refusal that asks to come again with the same; no other is worth a second try."""

Answer = Mapping[str, Any]
_EVENTS: Final = (
    *("state", "lobby", "stopped", "typing"),
    *("message", "partner", "phase", "told", "extended"),
)


class Trouble(Exception):
    """Base of what can go wrong between a worker and the server."""


class Down(Trouble):
    """The server cannot be reached, or asks to come back later."""


class TurnedAway(Trouble):
    """The server refuses this worker for good."""

    def __init__(self, error: str, code: str) -> None:
        super().__init__(f"{code}: {error}")
        self.error = error
        self.code = code


class Lost(Trouble):
    """The connection is gone."""


class NoAnswer(Trouble):
    """The acknowledgement did not come in time; the connection still stands."""


def is_final(code: str) -> bool:
    """Whether a refusal with this code is worth no second try."""
    return bool(code) and code not in PASSING


class Connection:
    """A connection. What the server sends is kept in order until `receive` is called."""

    def __init__(self, http: aiohttp.ClientSession, url: str, token: str) -> None:
        self.url = url
        self._token = token
        self._loop = asyncio.get_running_loop()
        self._inbox: deque[tuple[str, Any]] = deque()
        self._arrived: asyncio.Future[None] | None = None
        self._closed: asyncio.Future[None] = self._loop.create_future()
        self._refusal: dict[str, Any] = {}
        self._client = socketio.AsyncClient(
            reconnection=False, http_session=http, handle_sigint=False
        )
        for name in _EVENTS:
            self._client.on(name, self._keep(name))
        self._client.on("heartbeat", lambda *_: None)
        self._client.on("connect_error", self._refused)
        self._client.on("disconnect", lambda *_: self._close())

    def _keep(self, name: str) -> Any:
        # Not a coroutine: only so do handlers run in the order of the frames.
        def handle(data: Any = None) -> None:
            self._inbox.append((name, data))
            if self._arrived is not None and not self._arrived.done():
                self._arrived.set_result(None)

        return handle

    def _refused(self, data: Any = None) -> None:
        if isinstance(data, dict):
            inner = data.get("data", data)
            self._refusal = inner if isinstance(inner, dict) else {}

    def _close(self) -> None:
        if not self._closed.done():
            self._closed.set_result(None)

    @property
    def closed(self) -> bool:
        return self._closed.done()

    async def open(self) -> None:
        """Connect.

        Raises:
            TurnedAway: the server refuses this token for good.
            Down: it cannot be reached, or is not ready.
        """
        try:
            async with asyncio.timeout(OPEN_WITHIN_S):
                await self._client.connect(
                    self.url,
                    transports=["websocket"],
                    namespaces=["/"],
                    auth={"token": self._token},
                    wait_timeout=OPEN_WITHIN_S,
                )
            # The end of this task is the end of the connection, however it comes about: the
            # library tells of no loss before `connect` has returned.
            reading = self._client.eio.read_loop_task
            if reading is None or reading.done():
                raise ConnectionResetError("lost while connecting")
            reading.add_done_callback(lambda _: self._close())
        except (SocketIOError, aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            self.cut()
            code = str(self._refusal.get("code", ""))
            if is_final(code):
                raise TurnedAway(str(self._refusal.get("error", "")), code) from None
            raise Down(code or repr(error)) from None

    async def call(self, event: str, payload: Any, timeout_s: float) -> Answer:
        """Ask and wait for the acknowledgement.

        Raises:
            Lost: the connection went first; the request may or may not have been carried out.
            NoAnswer: nothing came in time.
        """
        return await self.answer(await self.post(event, payload), timeout_s)

    async def post(self, event: str, payload: Any) -> asyncio.Future[Answer]:
        """Send a request; its acknowledgement will be in the future returned."""
        future: asyncio.Future[Answer] = self._loop.create_future()

        def answered(answer: Any = None, *_: Any) -> None:
            if not future.done():
                future.set_result(answer if isinstance(answer, Mapping) else {})

        if self.closed:
            raise Lost
        try:
            await self._client.emit(event, payload, callback=answered)
        except SocketIOError:
            raise Lost from None
        return future

    async def answer(self, future: asyncio.Future[Answer], timeout_s: float) -> Answer:
        """Wait for an acknowledgement. Raises as `call` does."""
        await asyncio.wait(
            (future, self._closed), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
        )
        if future.done():
            return future.result()
        raise Lost if self.closed else NoAnswer

    async def tell(self, event: str, payload: Any) -> None:
        """Send an event that is not acknowledged."""
        with suppress(SocketIOError):
            await self._client.emit(event, payload)

    async def flushed(self) -> None:
        """Wait until what was sent so far is in the hands of the operating system."""
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await self._client.eio.queue.join()

    async def receive(self, timeout_s: float | None) -> tuple[str, Any] | None:
        """The next event and its payload, or None when none came in time.

        Raises:
            Lost: the connection is gone and everything it brought has been received.
        """
        if not self._inbox and not self.closed and timeout_s != 0:
            self._arrived = self._loop.create_future()
            await asyncio.wait(
                (self._arrived, self._closed),
                timeout=timeout_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            self._arrived = None
        if self._inbox:
            return self._inbox.popleft()
        if self.closed:
            raise Lost
        return None

    def cut(self) -> None:
        """End the connection without a word, as a network that fails."""
        self._close()
        websocket = getattr(self._client.eio, "ws", None)
        if isinstance(websocket, aiohttp.ClientWebSocketResponse):
            raw = websocket.get_extra_info("socket")
            if raw is not None and raw.fileno() >= 0:
                # The loop's own socket object may refuse this; a second handle does it as well.
                with suppress(OSError), socket.socket(fileno=os.dup(raw.fileno())) as handle:
                    handle.shutdown(socket.SHUT_RDWR)

    async def close(self) -> None:
        """End the connection as a page that is closed."""
        self._close()
        with suppress(SocketIOError, aiohttp.ClientError, OSError, TimeoutError):
            async with asyncio.timeout(2.0):
                await self._client.disconnect()
