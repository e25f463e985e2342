"""One server process: starts, serves, and stops without losing anything."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web
from prometheus_client.registry import Collector
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from chatserver.app import create_app
from chatserver.config import Failpoints, ServerConfig
from chatserver.doors import Door
from chatserver.engine import Engine
from chatserver.hooks import Hook
from chatserver.live.service import LiveService
from chatserver.metrics import Metrics
from chatserver.monitor.app import add_monitor
from chatserver.sockets import Sockets
from dialogs.record.store import Record

log = logging.getLogger("duologue.server")

REDIS_CONNECTIONS: Final = 32
REDIS_ANSWERS_WITHIN_S: Final = 2.0
IDLE_S: Final = 130.0
"""A connection is closed when no whole request has come for so long since it was opened or last
answered. Longer than a proxy keeps one to use again, so that none is closed under a request."""
LINGER_S: Final = 5.0
"""How long the rest of a body is read and dropped after an answer that did not wait for it."""


def _redis(url: str, *, read_timeout_s: float | None) -> Redis:
    """A client that fails within 2 s instead of hanging, and waits for a free connection."""
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=REDIS_CONNECTIONS,
        timeout=REDIS_ANSWERS_WITHIN_S,
        socket_timeout=read_timeout_s,
        socket_connect_timeout=REDIS_ANSWERS_WITHIN_S,
        retry=Retry(NoBackoff(), 0),
    )
    return Redis.from_pool(pool)


class Server:
    """A running server process."""

    def __init__(self, service: LiveService, url: str, app: web.Application) -> None:
        self.service = service
        self.url = url
        self.app = app


@asynccontextmanager
async def serve(
    config: ServerConfig,
    database_url: str,
    redis_url: str,
    failpoints: Failpoints | None = None,
    door_for: Callable[[Record], Door | None] | None = None,
    hooks: Mapping[str, Hook] | None = None,
    collectors: Iterable[Collector] = (),
) -> AsyncIterator[Server]:
    """Run one server process while the context is open.

    `door_for(record)` makes the door of the study's recruiter; without it, a plain link's.
    `hooks`, by name, take what is posted to `/hooks/`; `collectors` add to `/metrics`.
    On leaving: no new connections, pending decisions are committed, pages are told to
    reconnect elsewhere, everything is closed within seconds.

    Raises:
        CannotOpen: the database cannot be used; nothing was started.
        OSError: the port is taken.
    """
    points = failpoints or Failpoints()
    record = Record(
        database_url, before_commit=points.before_commit, after_commit=points.after_commit
    )
    record.open()
    redis = _redis(redis_url, read_timeout_s=REDIS_ANSWERS_WITHIN_S)
    listener = _redis(redis_url, read_timeout_s=None)
    door = door_for(record) if door_for else None
    engine = Engine(config.public_url or None)
    service = LiveService(config, record, redis, listener, wire=engine, door=door)
    metrics = Metrics(service, engine, collectors)
    Sockets(engine, service)
    app = create_app(service, metrics, hooks or {})
    engine.attach(app)
    add_monitor(app, engine, service)
    runner = web.AppRunner(
        app,
        shutdown_timeout=2.0,
        handle_signals=False,
        access_log=None,
        keepalive_timeout=IDLE_S,
        lingering_time=LINGER_S,
        # 2 MB that become 2 GB would hold up everybody; `create_app` refuses what is compressed.
        auto_decompress=False,
    )
    try:
        await runner.setup()
        site = web.TCPSite(
            runner, config.host, config.port, backlog=1024, reuse_port=config.reuse_port
        )
        await site.start()
        await service.start()
        port = runner.addresses[0][1]
        yield Server(service, config.public_url or f"http://{config.host}:{port}", app)
        log.info("stopping")
        await site.stop()
    finally:
        await service.stop()
        await record.writer.stop()
        await engine.close_all("the server is restarting")
        await runner.cleanup()
        await record.close()
        await redis.aclose()
        await listener.aclose()
