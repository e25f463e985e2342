"""The monitor put together: what is read, judged and done, and what is sent."""

from __future__ import annotations

from aiohttp import web

from chatserver.engine import Engine
from chatserver.live.service import LiveService
from chatserver.monitor.acting import Able, Acting
from chatserver.monitor.actions import add_actions
from chatserver.monitor.pulse import Pulse
from chatserver.monitor.reading import Reading
from chatserver.monitor.reviewing import Reviewing, add_routes, desk_of
from chatserver.monitor.sessions import ADMIN, Admin
from chatserver.monitor.signing import SESSIONS
from chatserver.monitor.socket import MonitorSockets


def add_monitor(app: web.Application, engine: Engine, service: LiveService) -> None:
    """Add the monitor's routes and its namespace to an application that has its guard."""
    can = service.config.abilities
    desk = desk_of(service)
    pulse = Pulse(service, desk)
    reading = Reading(service, pulse)
    sockets = MonitorSockets(engine, service, pulse, app[SESSIONS], reading.show)
    acting = Acting(
        service,
        able=Able(messages=can.messages, blocks=can.blocks),
        steering=service.steering,
        changed=sockets.changed,
    )
    reviewing = Reviewing(
        service.record,
        service.config.study.id,
        desk,
        reading.show,
        changed=sockets.changed,
        ask=lambda: service.on_wish(),
    )
    reading.add_to(app)
    add_actions(app, acting, _who)
    add_routes(app.router, reviewing, _who)
    app.cleanup_ctx.append(sockets.look_after)


def _who(request: web.Request) -> Admin:
    return request[ADMIN]
