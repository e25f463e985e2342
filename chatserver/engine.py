"""The socket.io server, set up for this project, and the few places that reach below its API.

python-socketio speaks the protocol: handshake, joining, acknowledgements, pings. Two things are
done here instead. What a connection reads and writes goes straight between aiohttp's WebSocket
and us: engine.io's own loop starts two tasks a frame, which costs more than all the rest of a
message. And a page's events, the one kind of packet that comes in numbers, are parsed here.

What is mended on the way: sockets that never join, or join again and again, are closed; binary
frames are refused (they would be gathered without a bound); WebSocket compression is off
(92 KiB a connection).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Final

import orjson
import socketio
from aiohttp import WSCloseCode, WSMsgType, web
from engineio import packet as engine_packet
from engineio.async_socket import AsyncSocket

from chatserver.outbox import Outbox, text_frame

log = logging.getLogger("duologue.sockets")

MAX_FRAME: Final = 100_000
"""Bytes. Far above the longest message, so that the server can refuse one with a reason."""

JOIN_WITHIN_S: Final = 5.0
MAX_JOINS: Final = 3
MAX_ACK_DIGITS: Final = 16

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


class _QuietGarbage(logging.Filter):
    """Malformed frames are the sender's fault: one line without a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = None
        record.exc_text = None
        return True


def _socketio_server(allowed_origins: list[str] | None) -> socketio.AsyncServer:
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
    return server


async def _nobody(sid: str, event: str, data: Any) -> Any:
    raise NotImplementedError("nobody answers events yet")


class Engine:
    """A socket.io server: WebSocket only, text only, events of one client in their order.

    `allowed_origins` None means the page's own origin only. `answer(sid, event, data)` is set by
    the edge; what it returns goes into the acknowledgement, where the page asked for one.
    """

    def __init__(self, allowed_origins: list[str] | None) -> None:
        self.server = _socketio_server(allowed_origins)
        self.answer: Callable[[str, str, Any], Awaitable[Any]] = _nobody
        self._joins: dict[str, int] = {}
        eio = self.server.eio
        eio._async = {**eio._async, "websocket": self._web_socket}
        eio.create_queue = Outbox
        self._library_connect = eio.handlers["connect"]
        eio.on("connect", self._connected)

    # --- A connection ----------------------------------------------------------------------

    def _web_socket(self, handler: Any, _eio: Any) -> Callable[[dict[str, Any]], Awaitable[Any]]:
        """What engine.io calls for a WebSocket; `handler` is its own loop, bound to its socket."""
        return partial(self._serve, handler.__self__)

    async def _serve(self, socket: AsyncSocket, environ: dict[str, Any]) -> web.WebSocketResponse:
        """Read a connection to its end."""
        request: web.Request = environ["aiohttp.request"]
        response = environ[_SOCKET] = web.WebSocketResponse(
            max_msg_size=MAX_FRAME, compress=False, decode_text=False
        )
        await response.prepare(request)
        socket.connected = socket.upgraded = True
        try:
            if request.transport is not None:
                socket.queue.open(request.transport)
            async for frame in response:
                if frame.type is not WSMsgType.TEXT:
                    await response.close(code=WSCloseCode.UNSUPPORTED_DATA)
                    break
                try:
                    await self._received(socket, frame.data)
                except Exception:
                    self.server.logger.exception("a frame was not understood")
        finally:
            await socket.close(wait=False, abort=True, reason=self.server.reason.TRANSPORT_CLOSE)
        return response

    async def _received(self, socket: AsyncSocket, data: bytes) -> None:
        if data[:2] == b"42" and await self._event(socket, data):
            return
        if data[:2] == b"40":
            joins = self._joins.get(socket.sid, 0) + 1
            self._joins[socket.sid] = joins
            if joins > MAX_JOINS:
                _abort(self.server.environ.get(socket.sid))
                return
        await socket.receive(engine_packet.Packet(encoded_packet=data.decode()))

    async def _event(self, socket: AsyncSocket, data: bytes) -> bool:
        """Answer an event of a page that has joined; False for whatever is not one."""
        start = data.find(b"[", 2)
        number = data[2:start]
        if start < 0 or (number and not number.isdigit()) or len(number) > MAX_ACK_DIGITS:
            return False
        sid = self._sid(socket.sid)
        if sid is None:
            return False
        event, *arguments = orjson.loads(data[start:])
        if not isinstance(event, str):
            raise ValueError("an event begins with its name")
        given = await self.answer(sid, event, arguments[0] if arguments else {})
        if number:
            answer = b"[]" if given is None else b"[%b]" % orjson.dumps(given)
            socket.queue.write(text_frame(b"43" + number + answer))
        return True

    def _sid(self, engine_id: str) -> str | None:
        """The id of a socket that has joined."""
        manager = self.server.manager
        sid: str | None = manager.sid_from_eio_sid(engine_id, "/")
        return sid if sid is not None and manager.is_connected(sid, "/") else None

    # --- Guarding --------------------------------------------------------------------------

    async def _connected(self, engine_id: str, environ: dict[str, Any]) -> Any:
        answer = await self._library_connect(engine_id, environ)

        def check() -> None:
            self._joins.pop(engine_id, None)
            if self._sid(engine_id) is None:
                _abort(self.server.environ.get(engine_id))

        asyncio.get_running_loop().call_later(JOIN_WITHIN_S, check)
        return answer

    # --- What the live service asks of the sockets -----------------------------------------

    def send(self, sids: Iterable[str], event: str, payload: Any) -> None:
        """Send one event, encoded once. A socket that has gone is passed over; catch-up is by
        the record."""
        frame = text_frame(b"42" + orjson.dumps([event, payload]))
        eio, manager = self.server.eio, self.server.manager
        for sid in sids:
            engine_id = manager.eio_sid_from_sid(sid, "/")
            socket = eio.sockets.get(engine_id) if engine_id else None
            if socket is not None and not socket.closed:
                socket.queue.write(frame)

    async def ask(self, sid: str, answered: Callable[..., None]) -> None:
        """Send a heartbeat; `answered` is called when the page acknowledges it."""
        await self.server.emit("heartbeat", {}, to=sid, callback=answered)

    def abort(self, sid: str) -> None:
        """Close the socket's connection at once; the page, if there is one, reconnects."""
        engine_id = self.server.manager.eio_sid_from_sid(sid, "/")
        if engine_id:
            _abort(self.server.environ.get(engine_id))

    async def close_all(self, reason: str) -> None:
        """Close every socket with code 1001; pages take it as a reason to reconnect."""
        environs = list(self.server.environ.values())
        closing = [
            asyncio.ensure_future(environ[_SOCKET].close(code=1001, message=reason.encode()))
            for environ in environs
            if _SOCKET in environ
        ]
        if closing:
            await asyncio.wait(closing, timeout=1.0)
        for environ in environs:
            _abort(environ)


def _abort(environ: dict[str, Any] | None) -> None:
    transport = environ["aiohttp.request"].transport if environ is not None else None
    if transport is not None:
        transport.abort()
