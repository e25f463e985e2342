"""The marketplace as a running server: its pages, its API, its clock and its post."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

from aiohttp import hdrs, web

from hit_manager.marketplace.about import About
from hit_manager.marketplace.api import add_routes
from hit_manager.marketplace.assignments import due
from hit_manager.marketplace.clock import Clock
from hit_manager.marketplace.core import Marketplace
from hit_manager.marketplace.delivery import Deliverer
from hit_manager.marketplace.errors import MarketplaceError
from hit_manager.marketplace.faults import Faults
from hit_manager.marketplace.pages import add_pages
from hit_manager.marketplace.store import Store

log = logging.getLogger("duologue.market")

MAX_BODY: Final = 2 * 1024 * 1024
"""Bytes of an answer or a request. A question has at most 65,535 of them."""

SETTLE_EVERY_S: Final = 2.0
DELIVER_EVERY_S: Final = 0.5
MARKETPLACE: Final = web.AppKey("marketplace", Marketplace)
_BACKLOG: Final = 1024


class MarketplaceServer:
    """A running marketplace. `url` is where people and programs reach it, `local_url` where it
    listens."""

    def __init__(self, market: Marketplace, local_url: str) -> None:
        self.market = market
        self.url = market.public_url
        self.local_url = local_url


@asynccontextmanager
async def serve_marketplace(
    store_url: str,
    host: str = "127.0.0.1",
    port: int = 0,
    public_url: str | None = None,
    *,
    clock: Clock | None = None,
    allow_http: bool | None = None,
    faults: Faults | None = None,
    about: About | None = None,
    settle_every_s: float = SETTLE_EVERY_S,
    deliver_every_s: float = DELIVER_EVERY_S,
) -> AsyncIterator[MarketplaceServer]:
    """Run a marketplace while the context is open.

    `store_url` is its own database (`sqlite:///FILE` or `postgresql://…`), made if it is empty.
    `public_url` is the address as people see it; without one, that of host and port (0: any
    free one). `allow_http` lets tasks and webhooks have addresses without TLS; by default it is
    so if the marketplace's own address is on this machine. `about` is what the pages say of the
    team that runs it.

    On leaving: no new connections, what runs is finished, everything is closed within seconds.

    Raises:
        CannotOpen: the database cannot be used; nothing was started.
        OSError: the port is taken.
    """
    chosen = clock or Clock()
    store = Store(store_url, chosen)
    store.open()
    runner: web.AppRunner | None = None
    post: Deliverer | None = None
    tasks: list[asyncio.Task[None]] = []
    try:
        # Frames are told the address, so the port is taken before there is an application.
        listener = await _listen(host, port)
        address = _address(host, listener.getsockname()[1])
        url = (public_url or address).rstrip("/")
        local = is_local(url) if allow_http is None else allow_http
        market = Marketplace(
            store, chosen, url, allow_http=local, faults=faults, about=about or About()
        )
        runner = web.AppRunner(
            create_app(market),
            shutdown_timeout=2.0,
            handle_signals=False,
            access_log=None,
            # 2 MB that become 2 GB would hold up everybody; see `_as_it_is`.
            auto_decompress=False,
        )
        await runner.setup()
        await web.SockSite(runner, listener, backlog=_BACKLOG).start()
        post = Deliverer(market)
        tasks.append(asyncio.create_task(_again(market.tick, settle_every_s)))
        tasks.append(asyncio.create_task(_again(post.deliver, deliver_every_s)))
        yield MarketplaceServer(market, address)
        log.info("stopping")
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if post is not None:
            await post.close()
        if runner is not None:
            await runner.cleanup()
        await store.close()


def create_app(market: Marketplace) -> web.Application:
    """Pages for workers, the API for requesters' programs, health for whoever watches."""
    app = web.Application(client_max_size=MAX_BODY)
    app[MARKETPLACE] = market
    add_routes(app, market)
    add_pages(app, market)
    app.middlewares.append(_as_it_is)
    app.router.add_get("/", _to_pages)
    app.router.add_get("/healthz", _healthz)
    app.router.add_get("/readyz", _readyz)
    app.router.add_get("/favicon.ico", _no_icon)
    return app


@web.middleware
async def _as_it_is(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Refuse bodies that are compressed: no page and no client of this API sends any."""
    for encoding in request.headers.getall(hdrs.CONTENT_ENCODING, ()):
        if encoding.strip().lower() not in ("", "identity"):
            raise web.HTTPUnsupportedMediaType
    return await handler(request)


async def _to_pages(_request: web.Request) -> web.StreamResponse:
    raise web.HTTPFound("/worker/")


async def _healthz(_request: web.Request) -> web.StreamResponse:
    """The process runs."""
    return web.json_response({"ok": True})


async def _readyz(request: web.Request) -> web.StreamResponse:
    """The database answers."""
    try:
        await request.app[MARKETPLACE].store.read(due)
    except MarketplaceError:
        return web.json_response({"ready": False}, status=503)
    return web.json_response({"ready": True})


async def _no_icon(_request: web.Request) -> web.StreamResponse:
    return web.Response(status=204)


async def _again(work: Callable[[], Awaitable[object]], every_s: float) -> None:
    """Do this now and then, whatever comes of it."""
    while True:
        try:
            await work()
        except MarketplaceError as error:
            log.warning("%r; trying again", error)
        except Exception:
            log.exception("the marketplace's own work failed; trying again")
        await asyncio.sleep(every_s)


async def _listen(host: str, port: int) -> socket.socket:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    family, _, _, _, address = found[0]
    return socket.create_server(address, family=family, backlog=_BACKLOG)


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_local(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
