"""The people of a chaos run, in a process of their own. Each writes its own log."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import uvloop

from duologue.simulate.mix import Mix
from duologue.simulate.pace import Pace
from duologue.simulate.plan import Plan
from duologue.simulate.run import simulate
from duologue.simulate.summary import Summary
from tests.chaos.stalls import STALLS_FILE, watch_stalls


@dataclass(frozen=True, slots=True)
class Crowd:
    """`workers` simulated workers who come within `arrive_s` seconds to any of `urls`.

    `pace` 1 is a person's; whoever is not done after `limit_s` seconds is given up.
    """

    urls: Sequence[str]
    folder: Path
    seed: int
    workers: int
    mix: str
    pace: float
    arrive_s: float
    limit_s: float


async def _simulate(crowd: Crowd, plan: Plan) -> Summary:
    watch = asyncio.ensure_future(watch_stalls(crowd.folder / STALLS_FILE))
    try:
        return await simulate(crowd.urls, plan)
    finally:
        watch.cancel()


def run_crowd(crowd: Crowd) -> None:
    """Let them all come, and exit when all have gone: with 1 if somebody was given up."""
    crowd.folder.mkdir(parents=True, exist_ok=True)
    plan = Plan(
        workers=crowd.workers,
        mix=Mix.parse(crowd.mix),
        seed=crowd.seed,
        pace=Pace(crowd.pace),
        arrive_s=crowd.arrive_s,
        limit_s=crowd.limit_s,
        log_folder=crowd.folder,
        ack_s=4.0,
        name=f"chaos-{crowd.seed}",
    )
    summary = uvloop.run(_simulate(crowd, plan))
    print(summary)
    # A vanished worker is done; one that still waits for something is not.
    sys.exit(bool(summary.unfinished))
