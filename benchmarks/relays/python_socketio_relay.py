"""A bare relay on python-socketio, aiohttp and uvloop.

Run as `python -m benchmarks.relays.python_socketio_relay PORT`; prints `ready` when it listens.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import socketio
import uvloop
from aiohttp import web

from benchmarks.relays.rooms import ARRIVED, MATCHED, Rooms

OK = {"ok": True}


def build() -> web.Application:
    """The relay as an aiohttp application."""
    sio = socketio.AsyncServer(async_mode="aiohttp", async_handlers=False, transports=["websocket"])
    app = web.Application()
    sio.attach(app)
    rooms = Rooms()

    async def arrive(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response(rooms.arrive())

    async def connect(sid: str, environ: Any, auth: Any) -> None:
        await sio.emit("state", ARRIVED, to=sid)

    async def ready(sid: str, data: Any) -> Any:
        room = rooms.ready(sid)
        if room is not None:
            for member in room.sids:
                await sio.enter_room(member, room.name)
            await sio.emit("state", MATCHED, room=room.name)
        return OK

    async def start(sid: str, data: Any) -> Any:
        room = rooms.start(sid)
        if room is not None:
            for member in room.sids:
                await sio.emit("state", room.talking(member), to=member)
        return OK

    async def message(sid: str, data: Any) -> Any:
        room = rooms.of[sid]
        frame = room.message(sid, data)
        await sio.emit("message", frame, room=room.name, skip_sid=sid)
        if room.complete:
            await sio.emit("state", room.released(), room=room.name)
        return {"seq": frame["seq"]}

    async def finish(sid: str, data: Any) -> Any:
        return OK

    async def disconnect(sid: str, reason: Any) -> None:
        rooms.gone(sid)

    for handler in (connect, ready, start, message, finish, disconnect):
        sio.on(handler.__name__, handler)
    app.router.add_post("/api/arrivals", arrive)
    return app


async def serve(port: int) -> None:
    """Serve until the process is ended."""
    runner = web.AppRunner(build(), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=1024).start()
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
