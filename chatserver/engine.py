"""The socket.io server: connections of standard clients, joined by what an edge asks of them,
bounded in all.

It speaks the part of the protocol that a page needs (`packets`) over aiohttp's WebSocket. Each
connection is one coroutine that reads a frame, deals with it to the end, and reads the next: so
events of one page keep their order, and one that waits for a commit holds back the next ones.

A connection that does not join in time, sends what nobody understands, or joins again and again
is cut; one that sends faster than any page does is read more slowly, and cut when it goes on; one
that does not read, or does not answer pings, is cut as well.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol, assert_never

from aiohttp import HttpVersion11, WSCloseCode, WSMsgType, hdrs, web

from chatserver import packets
from chatserver.connection import PING_EVERY_S, PONG_WITHIN_S, Socket
from chatserver.incoming import is_own_origin
from chatserver.origins import origin_of
from chatserver.outbox import Outbox, text_frame
from chatserver.packets import (
    Ack,
    Event,
    Garbage,
    Goodbye,
    Join,
    Packet,
    Pong,
    Unreadable,
)

log = logging.getLogger("duologue.sockets")

PATH: Final = "/socket.io/"
MAX_FRAME: Final = 100_000
"""Bytes. Far above the longest message, so that the server can refuse one with a reason."""

MAX_JOINS: Final = 3
MAX_GARBAGE: Final = 5
LOOK_S: Final = 1.0
CLOSE_WITHIN_S: Final = 2.0
"""How long a peer may take over its part of closing."""

SLOWED_S: Final = 10.0
"""A page that was made to wait for so long in all is cut: while it waits, nobody would notice
that it has gone."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a page may not join: a text, and what its program is told."""

    message: str
    data: Any


class Edge(Protocol):
    """What the server asks of the edge behind a namespace."""

    unreadable: Any
    """The answer to an event that cannot be read."""

    async def connect(self, sid: str, auth: Any, request: web.Request) -> Refusal | None:
        """Whether the socket `sid`, which came with that handshake, may join."""

    async def disconnect(self, sid: str) -> None:
        """A socket that had joined, or was about to, is gone."""

    async def answer(self, sid: str, event: str, data: Any) -> Any:
        """Deal with an event; what is returned goes into the acknowledgement."""


class Engine:
    """The sockets of this process. Each joins one namespace, behind which stands an edge.

    `allowed_origin` is one that pages may come from beside the server's own address.
    """

    def __init__(self, allowed_origin: str | None = None) -> None:
        self._allowed = origin_of(allowed_origin) if allowed_origin else None
        self._edges: dict[str, Edge] = {}
        self._sockets: dict[str, Socket] = {}

    def serve(self, namespace: str, edge: Edge) -> None:
        """Let `edge` answer for a namespace, from before the first connection on."""
        self._edges[namespace] = edge

    def attach(self, app: web.Application) -> None:
        """Serve the protocol's path from `app`."""
        app.router.add_route("*", PATH, self._open)
        app.cleanup_ctx.append(self._look_after)

    def __len__(self) -> int:
        return len(self._sockets)

    # --- A connection ----------------------------------------------------------------------

    async def _open(self, request: web.Request) -> web.StreamResponse:
        """The handshake, then the whole life of a connection."""
        if problem := self._problem(request):
            return web.json_response({"message": problem}, status=400)
        response = web.WebSocketResponse(
            timeout=CLOSE_WITHIN_S,
            max_msg_size=MAX_FRAME + 1,
            # 92 KiB a connection.
            compress=False,
            decode_text=False,
            autoping=False,
        )
        await response.prepare(request)
        transport = request.transport
        if transport is None:
            return response
        loop = asyncio.get_running_loop()
        socket = Socket(response, Outbox(transport), loop.time())
        self._sockets[socket.sid] = socket
        engine_id = secrets.token_urlsafe(15)
        socket.send(packets.opening(engine_id, PING_EVERY_S, PONG_WITHIN_S, MAX_FRAME))
        try:
            # A page that vanishes while it is answered is no error.
            with suppress(ConnectionResetError):
                await self._read(socket, request)
        finally:
            del self._sockets[socket.sid]
            if not socket.leaving:
                socket.cut()
            if socket.admitted:
                await self._edges[socket.namespace].disconnect(socket.sid)
        return response

    def _problem(self, request: web.Request) -> str | None:
        """What is wrong with a handshake, if anything."""
        query = request.query
        if query.get("EIO") != "4":
            return "Unsupported protocol version"
        if query.get("transport") != "websocket":
            return "Transport unknown: only websocket is served"
        if "sid" in query:
            return "Session ID unknown"
        if not self._is_allowed(request):
            return "Not an accepted origin"
        if request.method != hdrs.METH_GET or request.version < HttpVersion11:
            return "Not a WebSocket handshake"
        try:
            able = bool(web.WebSocketResponse().can_prepare(request))
        except ValueError:  # Of a key that is not ASCII.
            able = False
        return None if able else "Not a WebSocket handshake"

    def _is_allowed(self, request: web.Request) -> bool:
        return is_own_origin(request, self._allowed)

    async def _read(self, socket: Socket, request: web.Request) -> None:
        clock = asyncio.get_running_loop().time
        async for frame in socket.response:
            if socket.is_over(clock()):
                return
            wait_s = socket.too_fast_s(clock(), _size(frame.data))
            if wait_s:
                if socket.outbox.closed or socket.slowed_s > SLOWED_S:
                    return
                await asyncio.sleep(wait_s)
                if socket.is_over(clock()):
                    return
            match frame.type:
                case WSMsgType.TEXT:
                    if not await self._deal_with(socket, packets.parse(frame.data), request):
                        return
                case WSMsgType.PING:
                    await socket.response.pong(frame.data)
                case WSMsgType.PONG:
                    continue
                case _:
                    # Binary frames would have to be gathered; nothing here needs them.
                    message = b"binary frames are not part of this protocol"
                    socket.outbox.end()
                    await socket.response.close(code=WSCloseCode.UNSUPPORTED_DATA, message=message)
                    return

    async def _deal_with(self, socket: Socket, packet: Packet, request: web.Request) -> bool:
        """Returns False when the connection is over."""
        match packet:
            case Event(name, data, number, namespace):
                if not socket.joined or namespace != socket.namespace:
                    return self._is_patient(socket)
                given = await self._edges[namespace].answer(socket.sid, name, data)
                if number:
                    socket.send(packets.acknowledgement(number, given, namespace))
            case Unreadable(number):
                if socket.joined:
                    told = self._edges[socket.namespace].unreadable
                    socket.send(packets.acknowledgement(number, told, socket.namespace))
                return self._is_patient(socket)
            case Ack(number):
                socket.answered(number)
            case Pong():
                socket.pong(asyncio.get_running_loop().time())
            case Join(auth, namespace):
                return await self._join(socket, namespace, auth, request)
            case Goodbye():
                return False
            case Garbage():
                return self._is_patient(socket)
            case _:
                assert_never(packet)
        return True

    def _is_patient(self, socket: Socket) -> bool:
        """Count what was not understood; the first is worth a line."""
        socket.garbage += 1
        if socket.garbage == 1:
            log.info("a frame of socket %s was not understood", socket.sid)
        return socket.garbage <= MAX_GARBAGE

    async def _join(self, socket: Socket, namespace: str, auth: Any, request: web.Request) -> bool:
        socket.joins += 1
        if socket.joined or socket.joins > MAX_JOINS:
            return False
        edge = self._edges.get(namespace)
        if edge is None:
            socket.send(packets.refused("There is no such namespace", None, namespace))
            return True
        socket.admitted, socket.namespace = True, namespace
        refusal = await edge.connect(socket.sid, auth, request)
        if refusal is None:
            socket.joined = True
            socket.send(packets.joined(socket.sid, namespace))
        else:
            socket.admitted = False
            socket.send(packets.refused(refusal.message, refusal.data, namespace))
        return True

    async def _look_after(self, _app: web.Application) -> AsyncIterator[None]:
        """Ping, and cut who is overdue, while the application runs."""

        async def look() -> None:
            clock = asyncio.get_running_loop().time
            while True:
                await asyncio.sleep(LOOK_S)
                now = clock()
                for socket in list(self._sockets.values()):
                    try:
                        if socket.overdue(now):
                            socket.cut()
                    except Exception:
                        # One odd socket must not end the pings of all.
                        log.exception("socket %s could not be looked after", socket.sid)

        looking = asyncio.ensure_future(look())
        yield
        looking.cancel()

    # --- What the live service asks of the sockets -----------------------------------------

    def send(
        self, sids: Iterable[str], event: str, payload: Any, namespace: str = packets.MAIN
    ) -> None:
        """Send one event, encoded once. A socket that has gone is passed over; catch-up is by
        the record."""
        frame = text_frame(packets.event(event, payload, namespace=namespace))
        for sid in sids:
            socket = self._sockets.get(sid)
            if socket is not None:
                socket.outbox.write(frame)

    def ask(self, sid: str, answered: Callable[[], None]) -> None:
        """Send a heartbeat; `answered` is called when the page acknowledges it."""
        socket = self._sockets.get(sid)
        if socket is not None:
            socket.ask("heartbeat", answered)

    def abort(self, sid: str) -> None:
        """Close the socket's connection at once; the page, if there is one, reconnects."""
        socket = self._sockets.get(sid)
        if socket is not None:
            socket.cut()

    async def close_all(self, reason: str) -> None:
        """Close every socket with code 1001; pages take it as a reason to reconnect."""
        sockets = list(self._sockets.values())
        for socket in sockets:
            # Its reader must not cut the connection before the reason has left.
            socket.leaving = True
            socket.outbox.end()
        message = reason.encode()
        closing = [
            asyncio.ensure_future(socket.response.close(code=1001, message=message))
            for socket in sockets
        ]
        if closing:
            await asyncio.wait(closing, timeout=1.0)
        for socket in sockets:
            socket.cut()


def _size(data: object) -> int:
    """The bytes of a frame's content; 0 of a close frame, whose content is a number."""
    return len(data) if isinstance(data, bytes) else 0
