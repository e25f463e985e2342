"""Everything that a chaos run starts: PostgreSQL, Valkey, a study and two server processes."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import aiohttp
from PIL import Image, ImageDraw

from duologue import embedded
from duologue.serve import Site, prepare_record
from duologue.settings import read_settings
from duologue.study import read_study
from tests.chaos.evidence import Happening
from tests.chaos.process import Death, Options, serve_until_stopped
from tests.services import PostgresServer, ValkeyServer

# Each process is forked from one that has imported everything: a start takes no second of CPU.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.chaos.process", "tests.chaos.crowd"])

START_WITHIN_S = 60.0
STOP_WITHIN_S = 15.0
POLL_S = 0.05

STUDY = """\
[study]
id = "chaos"
title = "Talk while servers die"
dialogs_per_item = 2

[protocol]
grace_s = 12
turn_limit_s = 40
turn_stretch = 2
dialog_limit_s = 600

[lobby]
start_s = 10
limit_s = 45

[items]
file = "items.jsonl"
"""


def write_study(folder: Path, items: int) -> None:
    """A study about `items` plain pictures, with times short enough for a run of minutes."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for n in range(items):
        image = Image.new("RGB", (64, 48), (n * 37 % 256, n * 91 % 256, n * 53 % 256))
        ImageDraw.Draw(image).rectangle((8, 8, 8 + n % 40, 40), fill="white")
        image.save(folder / f"{n}.png")
        lines.append(json.dumps({"image": f"{n}.png", "image_id": n, "caption": f"card {n}"}))
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")


@dataclass
class Journal:
    """What the run did to its processes, and when."""

    lines: list[Happening] = field(default_factory=list)

    def note(self, what: str) -> None:
        self.lines.append(Happening(time.time(), what))


def _in_child(work: Callable[[Any], None], given: Any, log: Path) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    work(given)


def start_process(work: Callable[[Any], None], given: Any, log: Path) -> ForkServerProcess:
    """Run `work(given)` in a process of its own, whose output goes to `log`."""
    process = PROCESSES.Process(target=_in_child, args=(work, given, log), daemon=True)
    process.start()
    return process


async def ended(process: ForkServerProcess) -> None:
    """Wait until a process has ended."""
    loop, end = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(process.sentinel, end.set)
    try:
        await end.wait()
    finally:
        loop.remove_reader(process.sentinel)


class ServerProcess:
    """One server process on a port of its own; it can be started again and again."""

    def __init__(
        self, name: str, folder: Path, database_url: str, redis_url: str, journal: Journal
    ) -> None:
        self.name = name
        port = embedded.free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.log = folder / f"server-{name}.log"
        self._options = Options(folder, port, database_url, redis_url)
        self._journal = journal
        self._process: ForkServerProcess | None = None

    def start(
        self, *, die: Death | None = None, linger_s: float = 0.0, acknowledge_early: bool = False
    ) -> None:
        """Start it; `wait_ready` says when it serves."""
        options = replace(
            self._options, die=die, linger_s=linger_s, acknowledge_early=acknowledge_early
        )
        self._process = start_process(serve_until_stopped, options, self.log)
        self._journal.note(f"server {self.name} started" + (f", to die {die}" if die else ""))

    @property
    def exit_code(self) -> int | None:
        """None while it runs; -9 after kill -9."""
        assert self._process is not None, "it was never started"
        return self._process.exitcode

    def kill(self) -> None:
        """kill -9."""
        assert self._process is not None, "it was never started"
        self._process.kill()
        self._process.join()
        self._journal.note(f"server {self.name} killed")

    async def stop(self) -> None:
        """End it in its own good order, or else by kill."""
        if self._process is None or self.exit_code is not None:
            return
        self._process.terminate()
        try:
            async with asyncio.timeout(STOP_WITHIN_S):
                await ended(self._process)
        except TimeoutError:
            self._process.kill()
            self._process.join()

    async def wait_dead(self) -> None:
        """Wait until it has ended by itself."""
        assert self._process is not None, "it was never started"
        await ended(self._process)
        self._journal.note(f"server {self.name} died")

    async def wait_ready(self, http: aiohttp.ClientSession) -> None:
        """Wait until it says that it may be sent people, or has ended."""
        async with asyncio.timeout(START_WITHIN_S):
            while self.exit_code is None:
                if await self._is_ready(http):
                    return
                await asyncio.sleep(POLL_S)

    async def _is_ready(self, http: aiohttp.ClientSession) -> bool:
        try:
            async with http.get(f"{self.url}/readyz") as answer:
                return answer.status == 200
        except (aiohttp.ClientError, OSError, TimeoutError):
            return False


@dataclass
class Cluster:
    """A running system. `folder` holds the study and every process's log."""

    folder: Path
    postgres: PostgresServer
    valkey: ValkeyServer
    database_url: str
    servers: tuple[ServerProcess, ...]
    http: aiohttp.ClientSession
    journal: Journal

    @property
    def urls(self) -> list[str]:
        return [server.url for server in self.servers]

    async def all_ready(self) -> None:
        """Wait until every server process that runs is ready."""
        await asyncio.gather(*(server.wait_ready(self.http) for server in self.servers))


@asynccontextmanager
async def running_cluster(folder: Path, *, items: int, servers: int = 2) -> AsyncIterator[Cluster]:
    """PostgreSQL (durable) and Valkey (append only) with a prepared study; no server started yet.

    Everything is ended on leaving, whatever happened inside.
    """
    site_folder = folder / "study"
    write_study(site_folder, items)
    journal = Journal()
    async with AsyncExitStack() as stack:
        postgres = PostgresServer()
        stack.callback(postgres.close)
        valkey = ValkeyServer()
        stack.callback(valkey.close)
        postgres.start(wait=False)
        valkey.start(wait=False)
        await asyncio.to_thread(postgres.wait_ready)
        await asyncio.to_thread(valkey.wait_ready)
        database_url = postgres.create_database("chaos")
        environment = {"DUOLOGUE_DATABASE_URL": database_url, "DUOLOGUE_REDIS_URL": valkey.url}
        study = read_study(site_folder / "study.toml")
        await prepare_record(Site(site_folder, study, read_settings(environment, site_folder)))
        processes = tuple(
            ServerProcess(name, site_folder, database_url, valkey.url, journal)
            for name in "ABCDEFGH"[:servers]
        )
        timeout = aiohttp.ClientTimeout(total=3.0)
        http = await stack.enter_async_context(aiohttp.ClientSession(timeout=timeout))
        for process in processes:
            stack.push_async_callback(process.stop)
        yield Cluster(site_folder, postgres, valkey, database_url, processes, http, journal)
