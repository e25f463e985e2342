"""Putting a server process together: settings, study, embedded services, live server."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import BusyLoadingError, RedisError

from chatserver.config import Abilities, Failpoints, ServerConfig
from chatserver.server import Server, serve
from dialogs.record.store import Record
from dialogs.terms import Changes
from duologue.embedded import EmbeddedRedis
from duologue.preparation import PICTURES, Progress, put_items, put_study
from duologue.problems import BadInput
from duologue.recruiting import door_for, hit_config, hooks_for, recruiter_for, sites_of
from duologue.recruiting_metrics import RecruitingMetrics
from duologue.settings import Settings
from duologue.study import StudyFile
from hit_manager.config import HitConfig
from hit_manager.counts import Counts
from hit_manager.manager import HitManager
from hit_manager.recruiters.base import Recruiter

T = TypeVar("T")

log = logging.getLogger("duologue")

_STOPS: Final = (signal.SIGTERM, signal.SIGINT)
STUDY_FILE = "study.toml"
REDIS_FOLDER = "redis"
LOOK_S = 1.0
ROUND_ENDS_WITHIN_S = 3.0
"""How long a stop waits for what the hit manager is about."""
LOADED_WITHIN_S = 60.0
"""How long the start waits for a Redis of somebody else's that is still loading its data."""


@dataclass(frozen=True, slots=True)
class Site:
    """A study on this machine: its folder, its file, and the settings it runs with."""

    folder: Path
    study: StudyFile
    settings: Settings

    @property
    def pictures(self) -> Path:
        return self.folder / PICTURES


def static_files() -> Path:
    """The built pages.

    Raises:
        BadInput: they were not built.
    """
    folder = Path(str(files("chatserver").joinpath("static")))
    if not all((folder / page).is_file() for page in ("worker.html", "monitor.html")):
        raise BadInput(
            ["the pages are not built; run `make setup`, or install the released package"]
        )
    return folder


def server_config(
    site: Site, *, guests: bool = False, heartbeat_s: float | None = None
) -> ServerConfig:
    """What the live server is told of the settings and the study."""
    settings = site.settings
    return ServerConfig(
        study=site.study.to_config(),
        secret_key=settings.secret_key,
        pictures=site.pictures,
        static=static_files(),
        host=settings.host,
        port=settings.port,
        public_url=settings.public_url or "",
        frame_ancestors=settings.frame_ancestors,
        trusted_proxies=settings.trusted_proxies,
        heartbeat_s=heartbeat_s or site.study.lobby.heartbeat_s,
        guests=guests,
        metrics_token=settings.metrics_token or "",
    )


@contextmanager
def redis_for(site: Site) -> Iterator[EmbeddedRedis | str]:
    """The settings' Redis by its URL, or an embedded one that lives as long as the context."""
    if site.settings.redis_url is not None:
        yield site.settings.redis_url
        return
    with EmbeddedRedis.start(site.folder / REDIS_FOLDER) as redis:
        yield redis


def url_of(redis: EmbeddedRedis | str) -> str:
    return redis if isinstance(redis, str) else redis.url


async def look_after(redis: EmbeddedRedis | str) -> None:
    """Start an embedded Redis again whenever it ends, until cancelled.

    Raises:
        CannotStart: it does not start any more.
    """
    coming_up = False
    while isinstance(redis, EmbeddedRedis):
        await asyncio.sleep(LOOK_S)
        if coming_up:
            # Until it has loaded what it kept, this is an outage like any other.
            coming_up = not await asyncio.to_thread(redis.ready)
        elif redis.revive():
            coming_up = True
            log.error("the embedded Redis had ended and is started again; nothing is lost")


def check_port(host: str, port: int) -> None:
    """Whether a server could listen there, asked before anything is changed.

    Raises:
        BadInput: it could not.
    """
    try:
        probe_port(host, port)
    except socket.gaierror as error:
        raise BadInput([f"DUOLOGUE_HOST: {host} is no address ({error.strerror})"]) from None
    except OSError as error:
        raise BadInput([_no_port(host, port, error)]) from None


def probe_port(host: str, port: int) -> None:
    """Bind to the port and let it go again.

    Raises:
        OSError: it cannot be had, or the host is none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, kind, protocol, _, address in found:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            probe.bind(address)


def _no_port(host: str, port: int, error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return port_in_use(port)
        case errno.EACCES | errno.EPERM:
            return f"DUOLOGUE_PORT: you may not open port {port}; choose one from 1024 on"
        case errno.EADDRNOTAVAIL:
            return f"DUOLOGUE_HOST: {host} is no address of this machine"
        case _:
            return f"port {port} at {host} cannot be opened: {error.strerror}"


def port_in_use(port: int | str) -> str:
    """What to say of a port that somebody else listens on."""
    return (
        f"port {port} is in use; stop what uses it, or set DUOLOGUE_PORT to another one "
        "(0 for any that is free)"
    )


async def check_redis(url: str, *, loaded_within_s: float = LOADED_WITHIN_S) -> None:
    """Ask Redis for an answer before anything else begins; one that is loading is waited for.

    Raises:
        BadInput: there is none within 2 s, or it is still loading after `loaded_within_s`.
    """
    parts = urlsplit(url)
    where = f"{parts.hostname}:{parts.port}" if parts.hostname else parts.path
    once = Retry(NoBackoff(), 0)
    redis = Redis.from_url(url, socket_timeout=2.0, socket_connect_timeout=2.0, retry=once)
    try:
        async with asyncio.timeout(loaded_within_s):
            await _until_loaded(redis, where)
    except TimeoutError:
        raise BadInput(
            [
                f"Redis at {where} is still loading its data after {loaded_within_s:.0f} s; "
                "start duologue again when it has"
            ]
        ) from None
    except (RedisError, OSError) as error:
        raise BadInput(
            [f"Redis at {where} does not answer ({error}); start it, or mend DUOLOGUE_REDIS_URL"]
        ) from None
    finally:
        await redis.aclose()


async def _until_loaded(redis: Redis, where: str) -> None:
    told = False
    while True:
        try:
            await redis.ping()
        except BusyLoadingError:
            if not told:
                log.info("Redis at %s is loading its data; waiting for it", where)
                told = True
            await asyncio.sleep(LOOK_S / 10)
        else:
            return


async def prepare_record(site: Site, progress: Progress = lambda done, all_: None) -> int:
    """Create or migrate the database, and bring in the study and its items.

    Returns how many items were added.
    """
    record = Record(site.settings.database_url)
    record.open()
    try:
        return await bring_in(record, site, progress)
    finally:
        await record.close()


async def bring_in(record: Record, site: Site, progress: Progress = lambda done, all_: None) -> int:
    """Bring the study and its items into an open record; returns how many items were added."""
    await put_study(record, site.study)
    return await put_items(record, site.study, site.study.items_path, site.pictures, progress)


@asynccontextmanager
async def running(
    site: Site,
    redis_url: str,
    *,
    config: ServerConfig | None = None,
    failpoints: Failpoints | None = None,
    hits: bool = True,
    hits_every_s: float | None = None,
) -> AsyncIterator[Server]:
    """A server process for the site, serving while the context is open.

    With `hits` it also recruits and pays, where the study's recruiter can, and carries out what
    the team wants of people and payments: a round every `hits_every_s` seconds, or as usual.
    """
    # The default thresholds halve the rate at a thousand sockets.
    gc.set_threshold(50_000, 20, 50)
    sys.setswitchinterval(0.0005)
    chosen = config or server_config(site)
    recruiter = recruiter_for(site.study, site.settings)
    frames = (*chosen.frame_ancestors, *sites_of(recruiter))
    can = recruiter.capabilities
    chosen = replace(
        chosen,
        frame_ancestors=tuple(dict.fromkeys(frames)),
        abilities=Abilities(can.posts, can.pays, can.messages, can.blocks),
    )
    door = partial(door_for, recruiter, site.study)
    recruits = can.posts or can.pays
    soon, counts = asyncio.Event(), Counts()
    hooks = hooks_for(recruiter, soon.set) if hits else {}
    collectors = [RecruitingMetrics(counts, site.study.pay.currency)] if hits and recruits else []
    async with serve(
        chosen, site.settings.database_url, redis_url, failpoints, door, hooks, collectors
    ) as server:
        if not hits:
            yield server
            return
        async with _recruiting(site, recruiter, server, soon, counts, every_s=hits_every_s):
            yield server


@asynccontextmanager
async def _recruiting(
    site: Site,
    recruiter: Recruiter,
    server: Server,
    soon: asyncio.Event,
    counts: Counts,
    *,
    every_s: float | None,
) -> AsyncIterator[None]:
    """The hit manager beside a server."""

    def config_for(changes: Changes) -> HitConfig:
        config = hit_config(site.study.changed(changes), server.url)
        return replace(config, interval_s=every_s or config.interval_s)

    manager = HitManager(
        server.service.record, recruiter, config_for({}), counts=counts, config_for=config_for
    )
    stop = asyncio.Event()
    server.service.on_wish = soon.set
    work = asyncio.ensure_future(manager.run(stop, soon))
    try:
        yield
    finally:
        stop.set()
        # Whoever asked to stop does not wait for a recruiter that does not answer.
        await asyncio.wait([work], timeout=ROUND_ENDS_WITHIN_S)
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work


async def unless_told_to_stop(redis: EmbeddedRedis | str, work: Coroutine[Any, Any, T]) -> T | None:
    """Do this; None, and it is broken off, if SIGTERM or SIGINT comes before.

    Raises:
        CannotStart: the embedded Redis has ended and does not start any more.
    """
    working = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(until_told_to_stop(redis))
    try:
        await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            stopping.result()
            return None
        # From here on they do again what they did before.
        for number in _STOPS:
            asyncio.get_running_loop().remove_signal_handler(number)
        return working.result()
    finally:
        for each in (working, stopping):
            each.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)


async def until_told_to_stop(redis: EmbeddedRedis | str) -> None:
    """Look after an embedded Redis, and return at SIGTERM or SIGINT.

    Raises:
        CannotStart: the embedded Redis has ended and does not start any more.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _STOPS:
        loop.add_signal_handler(number, stop.set)
    care = asyncio.ensure_future(look_after(redis))
    stopping = asyncio.ensure_future(stop.wait())
    try:
        if isinstance(redis, str):
            await stopping
            return
        await asyncio.wait((care, stopping), return_when=asyncio.FIRST_COMPLETED)
        if care.done():
            care.result()
    finally:
        stopping.cancel()
        care.cancel()
