"""Runs a crowd of simulated workers against a server."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Final

import aiohttp

from chatserver.ending import end
from chatserver.wire import Stage
from duologue.simulate.behaviours import Patient
from duologue.simulate.mix import Kind
from duologue.simulate.plan import Plan
from duologue.simulate.summary import Summary, summarize
from duologue.simulate.worker import Worker
from duologue.words import count

PROGRESS_S: Final = 1.0
TURNED_AWAY_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How many of a crowd's workers are where. With `people`, a worker is one HIT that one of so
    many people has taken: there are more of them as the work goes on."""

    workers: int
    waiting: int
    talking: int
    done: int
    seconds: float
    people: int | None = None

    def text(self) -> str:
        done = (
            f"{self.done} of {self.workers} done"
            if self.people is None
            else f"{count(self.done, 'HIT')} done by {count(self.people, 'person', 'people')}"
        )
        return f"{self.seconds:5.0f} s: {self.waiting} waiting, {self.talking} talking, {done}"


def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar()
    )


def _addresses(urls: str | Sequence[str]) -> list[str]:
    return [url.rstrip("/") for url in ([urls] if isinstance(urls, str) else urls)]


async def simulate(
    urls: str | Sequence[str],
    plan: Plan,
    progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Let the plan's workers come to the server at `urls`, and wait until all are done.

    With several addresses of one study each connection goes to any of them. `progress` is
    called about once a second. A server that is down is waited for: only `plan.limit_s` ends
    a simulation against it.
    """
    addresses, began = _addresses(urls), monotonic()
    async with _session() as http:
        workers = [
            Worker(http, addresses, plan, number, kind)
            for number, kind in enumerate(plan.kinds(), start=1)
        ]
        delays = plan.rng("arrive")
        tasks = [
            asyncio.create_task(_later(worker, delays.uniform(0, plan.arrive_s)))
            for worker in workers
        ]
        teller = asyncio.create_task(_tell(workers, began, progress))
        try:
            if tasks:
                _, open_ones = await asyncio.wait(tasks, timeout=plan.limit_s)
                await end(open_ones)
        finally:
            await end((*tasks, teller))
        for task in tasks:
            if not task.cancelled():
                task.result()
    unfinished = sum(not worker.finished for worker in workers)
    return summarize([worker.log for worker in workers], unfinished, monotonic() - began)


async def _later(worker: Worker, delay_s: float) -> None:
    await asyncio.sleep(delay_s)
    await worker.run()


async def _tell(
    workers: Sequence[Worker], began: float, progress: Callable[[Progress], None] | None
) -> None:
    while progress is not None:
        await asyncio.sleep(PROGRESS_S)
        stages = Counter(worker.stage for worker in workers)
        progress(
            Progress(
                workers=len(workers),
                waiting=stages[Stage.WAITING] + stages[Stage.MATCHED],
                talking=stages[Stage.TALKING],
                done=sum(worker.finished for worker in workers),
                seconds=monotonic() - began,
            )
        )


async def keep_partner(
    urls: str | Sequence[str],
    plan: Plan,
    stop: asyncio.Event,
    *,
    somebody_waits: Callable[[], Awaitable[bool]] | None = None,
    look_s: float = 1.0,
) -> Summary:
    """Until `stop`, have a simulated partner for whoever waits: a new worker for each dialog.

    With `somebody_waits` a partner comes only when that is true, asked every `look_s` seconds;
    without it, one partner is always in the lobby. At most one partner is outside a dialog at
    a time, so partners never talk with each other. `plan.workers` and its mix do not count.
    At `stop` partners go, also from their dialogs.
    """
    addresses, began = _addresses(urls), monotonic()
    workers: list[Worker] = []
    tasks: set[asyncio.Task[None]] = set()
    async with _session() as http:
        while not stop.is_set():
            if somebody_waits is not None and not await somebody_waits():
                await _within(stop.wait(), look_s)
                continue
            worker = Worker(http, addresses, plan, len(workers) + 1, Kind.NORMAL, Patient)
            workers.append(worker)
            task = asyncio.create_task(worker.run())
            tasks.add(task)
            await _first(stop, worker.engaged)
            if worker.page is not None and worker.finished and not worker.page.view.dialogs:
                # The study takes nobody: ask again, but not at once.
                await _within(stop.wait(), TURNED_AWAY_S)
        await end(tasks)
    unfinished = sum(not worker.finished for worker in workers)
    return summarize([worker.log for worker in workers], unfinished, monotonic() - began)


async def _within(work: Awaitable[object], seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await work


async def _first(*events: asyncio.Event) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
