"""The monitor put together: the guard, the sign-in, what is read, and what is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aiohttp import web

from chatserver.engine import Engine
from chatserver.live.service import LiveService
from chatserver.monitor.access import SESSIONS
from chatserver.monitor.pulse import Pulse
from chatserver.monitor.reading import Reading
from chatserver.monitor.socket import MonitorSockets


@dataclass(frozen=True, slots=True)
class Monitor:
    """The parts of the monitor that its routes share."""

    service: LiveService
    pulse: Pulse
    reading: Reading
    sockets: MonitorSockets


MONITOR: Final = web.AppKey("monitor", Monitor)


def add_monitor(app: web.Application, engine: Engine, service: LiveService) -> None:
    """Add the monitor's routes and its namespace to an application that has its guard."""
    pulse = Pulse(service)
    reading = Reading(service, pulse)
    sockets = MonitorSockets(engine, service, pulse, app[SESSIONS], reading.show)
    app[MONITOR] = Monitor(service, pulse, reading, sockets)
    reading.add_to(app)
    app.cleanup_ctx.append(sockets.look_after)
