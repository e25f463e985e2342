"""A server process for chaos runs: dies at a chosen commit, or has a planted fault.

    python -m tests.chaos.process FOLDER --port 8001 --database URL --redis URL --die before:7

It serves the study in FOLDER, which was prepared before, like `duologue serve` does.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Self

import uvloop

from chatserver.config import Failpoints, ServerConfig
from dialogs.record import store
from dialogs.record.tables import events
from dialogs.record.writer import Decision, Writer
from duologue.serve import Site, running
from duologue.settings import read_settings
from duologue.study import read_study

HEARTBEAT_S = 2.0
SWEEP_S = 5.0


class Point(StrEnum):
    """Where a process dies: with its rows sent, or between the commit and the acknowledgement."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Death:
    """The process ends, as by kill -9, at its `nth` commit from 1."""

    point: Point
    nth: int

    def __str__(self) -> str:
        return f"{self.point}:{self.nth}"

    @classmethod
    def parse(cls, text: str) -> Self:
        point, _, nth = text.partition(":")
        return cls(Point(point), int(nth))

    def failpoints(self, linger_s: float) -> Failpoints:
        """Hooks that bring it about, `linger_s` seconds after the moment is reached."""
        hook = _die_at(self.nth, linger_s)
        match self.point:
            case Point.BEFORE:
                return Failpoints(before_commit=hook)
            case Point.AFTER:
                return Failpoints(after_commit=hook)


def _die_at(nth: int, linger_s: float) -> Callable[[], None]:
    left = nth

    def hook() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            # The rest of the process goes on meanwhile: what it wrongly tells anybody is told.
            time.sleep(linger_s)
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


class EagerWriter(Writer):
    """The planted fault: a message is acknowledged before the database has it."""

    def submit(self, decision: Decision) -> asyncio.Future[None]:
        committed = super().submit(decision)
        only_said = not decision.changes and all(t is events for t, _ in decision.inserts)
        if not only_said:
            return committed
        committed.add_done_callback(lambda future: future.exception())
        early: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        early.set_result(None)
        return early


@dataclass(frozen=True, slots=True)
class Options:
    """A server process. `folder` holds the study, which was prepared before."""

    folder: Path
    port: int
    database_url: str
    redis_url: str
    die: Death | None = None
    linger_s: float = 0.0
    acknowledge_early: bool = False

    def site(self) -> Site:
        environment = {
            "DUOLOGUE_DATABASE_URL": self.database_url,
            "DUOLOGUE_REDIS_URL": self.redis_url,
        }
        study = read_study(self.folder / "study.toml")
        return Site(self.folder, study, read_settings(environment, self.folder))

    def config(self, site: Site) -> ServerConfig:
        # No pages are served, so none need to be built.
        return ServerConfig(
            study=site.study.to_config(),
            secret_key=site.settings.secret_key,
            pictures=site.pictures,
            static=site.folder,
            port=self.port,
            heartbeat_s=HEARTBEAT_S,
            sweep_s=SWEEP_S,
        )


def serve_until_stopped(options: Options) -> None:
    """Serve until SIGTERM, or until the process that wanted it is gone."""
    logging.basicConfig(
        level="INFO",
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    logging.getLogger("alembic").setLevel(logging.WARNING)
    if options.acknowledge_early:
        vars(store)["Writer"] = EagerWriter
    uvloop.run(_serve(options))


async def _serve(options: Options) -> None:
    site = options.site()
    failpoints = options.die.failpoints(options.linger_s) if options.die else Failpoints()
    config = options.config(site)
    async with running(site, options.redis_url, config=config, failpoints=failpoints):
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        if (parent := multiprocessing.parent_process()) is not None:
            loop.add_reader(parent.sentinel, stop.set)
        await stop.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--database", dest="database_url", required=True)
    parser.add_argument("--redis", dest="redis_url", required=True)
    parser.add_argument("--die", type=Death.parse)
    parser.add_argument("--linger", dest="linger_s", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--acknowledge-early", action="store_true")
    serve_until_stopped(Options(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
