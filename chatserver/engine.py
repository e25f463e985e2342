"""The socket.io server, set up for this project, and the few places that reach below its API.

What is mended here: sockets that never join, or join again and again, are closed; binary
frames are refused (they would be gathered without a bound); WebSocket compression is off
(92 KiB a connection); one event is encoded once, queued and written without a task of its own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any, Final

import orjson
import socketio
from aiohttp import web
from engineio import packet as engine_packet
from engineio.async_drivers import aiohttp as aiohttp_driver

from chatserver.outqueue import OutQueue

log = logging.getLogger("duologue.sockets")

MAX_FRAME: Final = 100_000
"""Bytes. Far above the longest message, so that the server can refuse one with a reason."""

JOIN_WITHIN_S: Final = 5.0
MAX_JOINS: Final = 3
MAX_UNREAD: Final = 2_000
"""Frames waiting for a page that does not read them; then its socket is closed."""

_SOCKET: Final = "duologue.websocket"


class _Json:
    """orjson in the shape that socket.io asks for."""

    @staticmethod
    def dumps(value: Any, **_: Any) -> str:
        return orjson.dumps(value).decode()

    loads = staticmethod(orjson.loads)


class _TextPacket(socketio.packet.Packet):  # type: ignore[misc]
    """A packet of the text protocol only."""

    uses_binary_events = False

    def decode(self, encoded_packet: str) -> Any:
        if encoded_packet[:1] in ("5", "6"):
            raise ValueError("binary frames are not part of this protocol")
        return super().decode(encoded_packet)


class _WebSocket(aiohttp_driver.WebSocket):  # type: ignore[misc]
    """The driver's WebSocket without compression, and with a handle to close it by."""

    async def __call__(self, environ: dict[str, Any]) -> web.WebSocketResponse:
        self._sock = web.WebSocketResponse(max_msg_size=MAX_FRAME, compress=False)
        environ[_SOCKET] = self._sock
        await self._sock.prepare(environ["aiohttp.request"])
        self.environ = environ
        await self.handler(self)
        return self._sock


class _QuietGarbage(logging.Filter):
    """Malformed frames are the sender's fault: one line without a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = None
        record.exc_text = None
        return True


def create_server(allowed_origins: list[str] | None) -> socketio.AsyncServer:
    """A socket.io server: WebSocket only, text only, events of one client in their order.

    `allowed_origins` None means the page's own origin only.
    """
    logger = logging.getLogger("duologue.engine")
    logger.addFilter(_QuietGarbage())
    server = socketio.AsyncServer(
        async_mode="aiohttp",
        async_handlers=False,
        json=_Json,
        serializer=_TextPacket,
        transports=["websocket"],
        # Some hosts close connections that are idle for 55 s.
        ping_interval=25,
        ping_timeout=20,
        max_http_buffer_size=MAX_FRAME,
        http_compression=False,
        cors_allowed_origins=allowed_origins,
        logger=logger,
        engineio_logger=logger,
    )
    logger.setLevel(logging.ERROR)
    server.eio._async = {**server.eio._async, "websocket": _WebSocket}
    server.eio.create_queue = OutQueue
    _guard(server)
    return server


def _guard(server: socketio.AsyncServer) -> None:
    """Close sockets that do not join in time, and those that try to join too often."""
    connect, message = server.eio.handlers["connect"], server.eio.handlers["message"]
    joins: dict[str, int] = {}

    async def on_connect(engine_id: str, environ: dict[str, Any]) -> Any:
        answer = await connect(engine_id, environ)

        def check() -> None:
            joins.pop(engine_id, None)
            if engine_id in server.environ and not _joined(server, engine_id):
                _abort(environ)

        asyncio.get_running_loop().call_later(JOIN_WITHIN_S, check)
        joins[engine_id] = 0
        return answer

    async def on_message(engine_id: str, data: Any) -> Any:
        environ = server.environ.get(engine_id)
        if environ is None:
            # A closed engine can still have frames in its buffer.
            return None
        if isinstance(data, str) and data[:1] == "0":
            joins[engine_id] = joins.get(engine_id, 0) + 1
            if joins[engine_id] > MAX_JOINS:
                _abort(environ)
                return None
        return await message(engine_id, data)

    server.eio.on("connect", on_connect)
    server.eio.on("message", on_message)


def _joined(server: socketio.AsyncServer, engine_id: str) -> bool:
    sid = server.manager.sid_from_eio_sid(engine_id, "/")
    return sid is not None and server.manager.is_connected(sid, "/")


def _abort(environ: dict[str, Any]) -> None:
    transport = environ["aiohttp.request"].transport
    if transport is not None:
        transport.abort()


class Frames:
    """One event, encoded once, queued to any number of sockets in the order of the calls."""

    def __init__(self, server: socketio.AsyncServer) -> None:
        self._server = server

    def send(self, sids: Iterable[str], event: str, payload: Any) -> None:
        """Queue an event. A socket that has gone is passed over; catch-up is by the record."""
        frame = engine_packet.Packet(
            engine_packet.MESSAGE, "2" + orjson.dumps([event, payload]).decode()
        )
        for sid in sids:
            engine_id = self._server.manager.eio_sid_from_sid(sid, "/")
            socket = self._server.eio.sockets.get(engine_id) if engine_id else None
            if socket is None or socket.closed:
                continue
            if socket.queue.qsize() > MAX_UNREAD:
                self.abort(sid)
                continue
            socket.queue.put_nowait(frame)

    async def ask(self, sid: str, answered: Callable[..., None]) -> None:
        """Send a heartbeat; `answered` is called when the page acknowledges it."""
        await self._server.emit("heartbeat", {}, to=sid, callback=answered)

    def abort(self, sid: str) -> None:
        """Close the socket's connection at once; the page, if there is one, reconnects."""
        engine_id = self._server.manager.eio_sid_from_sid(sid, "/")
        environ = self._server.environ.get(engine_id) if engine_id else None
        if environ is not None:
            _abort(environ)

    async def close_all(self, reason: str) -> None:
        """Close every socket with code 1001; pages take it as a reason to reconnect."""
        environs = list(self._server.environ.values())
        closing = [
            asyncio.ensure_future(environ[_SOCKET].close(code=1001, message=reason.encode()))
            for environ in environs
            if _SOCKET in environ
        ]
        if closing:
            await asyncio.wait(closing, timeout=1.0)
        for environ in environs:
            _abort(environ)
