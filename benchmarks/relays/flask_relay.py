"""A bare relay on Flask-SocketIO, gevent and gevent-websocket: what many chat rooms are made of.

Run as `python -m benchmarks.relays.flask_relay PORT`; prints `ready` when it listens.
"""

from __future__ import annotations

from gevent import monkey  # type: ignore[import-untyped]

monkey.patch_all()

import sys  # noqa: E402
from typing import Any  # noqa: E402

from flask import Flask, request  # noqa: E402
from flask_socketio import (  # type: ignore[import-untyped]  # noqa: E402
    SocketIO,
    emit,
    join_room,
)
from gevent import pywsgi  # noqa: E402
from geventwebsocket.handler import (  # type: ignore[import-untyped]  # noqa: E402
    WebSocketHandler,
)

from benchmarks.relays.rooms import ARRIVED, MATCHED, Rooms  # noqa: E402

OK = {"ok": True}


def build() -> tuple[Flask, SocketIO]:
    """The relay as a Flask application."""
    app = Flask(__name__)
    sio = SocketIO(app, async_mode="gevent", transports=["websocket"])
    rooms = Rooms()

    def sid() -> str:
        return str(request.sid)  # type: ignore[attr-defined]

    def arrive() -> Any:
        return rooms.arrive()

    def connect(auth: Any = None) -> None:
        emit("state", ARRIVED)

    def ready(data: Any) -> Any:
        room = rooms.ready(sid())
        if room is not None:
            for member in room.sids:
                join_room(room.name, sid=member, namespace="/")
            emit("state", MATCHED, to=room.name)
        return OK

    def start(data: Any) -> Any:
        room = rooms.start(sid())
        if room is not None:
            for member in room.sids:
                emit("state", room.talking(member), to=member)
        return OK

    def message(data: Any) -> Any:
        room = rooms.of[sid()]
        frame = room.message(sid(), data)
        emit("message", frame, to=room.name, include_self=False)
        if room.complete:
            emit("state", room.released(), to=room.name)
        return {"seq": frame["seq"]}

    def finish(data: Any) -> Any:
        return OK

    def disconnect(reason: Any = None) -> None:
        rooms.gone(sid())

    for handler in (connect, ready, start, message, finish, disconnect):
        sio.on_event(handler.__name__, handler)
    app.add_url_rule("/api/arrivals", view_func=arrive, methods=["POST"])
    return app, sio


def serve(port: int) -> None:
    """Serve until the process is ended."""
    app, _ = build()
    server = pywsgi.WSGIServer(
        ("127.0.0.1", port), app, handler_class=WebSocketHandler, log=None, backlog=1024
    )
    server.start()
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
