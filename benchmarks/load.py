"""The load generator: how many messages a second does a server take, and how soon answers it?

    python -m benchmarks.load --url http://127.0.0.1:8080 --pairs 300

Runs in its own process and drives whole arrivals: `POST /api/arrivals`, ready, pairing, start,
20 messages with an acknowledgement each, finish. Two ways to run:

- waves (default): all pairs come together, and only the time in which they talk is measured.
  With `--gap 0` a worker answers as soon as the partner's message is there (closed loop); with
  `--gap 8` every pair sends a message each 8 s on average, as people do.
- `--flow`: every pair that is done is replaced by a new one, and everything is measured.

The last line on stdout is the result as JSON (`Result`).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import secrets
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from time import perf_counter, process_time
from typing import Any, Final
from urllib.parse import urlsplit

import orjson
import uvloop

from benchmarks.client import Client, Run, Tally
from benchmarks.processes import tree_cpu_seconds

PATIENCE_S: Final = 60.0
"""How long a step of all workers together may take before the run is given up, beside the time that
they take over their messages."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to run. `watch` names process trees whose processor time is measured along."""

    url: str
    pairs: int
    waves: int = 5
    rounds: int = 10
    gap_s: float = 0.0
    seconds: float | None = None
    flow: bool = False
    seed: int = 1
    query: tuple[tuple[str, str], ...] = ()
    check_answers: tuple[int, ...] = ()
    watch: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured. Times in milliseconds, shares of one core, CPU in µs a message."""

    pairs: int
    messages: int
    seconds: float
    messages_per_s: float
    ack_p50_ms: float
    ack_p99_ms: float
    delivery_p50_ms: float
    delivery_p99_ms: float
    delivered: int
    pairing_p50_s: float
    pairing_p99_s: float
    arrivals_completed: int
    retried: int
    errors: dict[str, int]
    generator_cores: float
    cpu_us_per_message: dict[str, float]


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of `values` lie (nearest rank); NaN when there are none."""
    if not values:
        return float("nan")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Clock:
    """Adds up wall and processor time over the stretches that count."""

    def __init__(self, watch: Sequence[tuple[str, int]]) -> None:
        self._watch = watch
        self.wall = 0.0
        self.own = 0.0
        self.cpu = {name: 0.0 for name, _ in watch}

    def __enter__(self) -> Clock:
        self._cpu_then = {name: tree_cpu_seconds(pid) for name, pid in self._watch}
        self._own_then = process_time()
        self._then = perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall += perf_counter() - self._then
        self.own += process_time() - self._own_then
        for name, pid in self._watch:
            self.cpu[name] += tree_cpu_seconds(pid) - self._cpu_then[name]


def pace(gap_s: float, rng: random.Random) -> Callable[[Callable[[], None]], None]:
    """When a worker writes: at once, or after a time that is exponential beyond a half `gap_s`."""
    if gap_s == 0:
        return lambda send: send()
    loop = asyncio.get_running_loop()

    def later(send: Callable[[], None]) -> None:
        loop.call_later(gap_s / 2 + rng.expovariate(2 / gap_s), send)

    return later


async def join(run: Run, numbers: Sequence[int], hold: bool) -> list[Client]:
    """Let the workers `numbers` arrive."""
    loop = asyncio.get_running_loop()
    clients = []
    for number in numbers:
        client = Client(run, number, hold)
        await loop.create_connection(partial(_same, client), run.host, run.port)
        clients.append(client)
    return clients


def _same(client: Client) -> Client:
    return client


async def wave(run: Run, options: Options, number: int, clock: Clock) -> None:
    """One wave: all pairs come, talk to the end (or for `options.seconds`) and go."""
    size = 2 * options.pairs
    clients = await join(run, range(number * size, (number + 1) * size), hold=True)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*(client.talking for client in clients))
        for client in clients:
            if options.gap_s:
                # People have not all begun in the same second.
                delay = random.Random(client.name).uniform(0, options.gap_s)
                asyncio.get_running_loop().call_later(delay, client.begin)
        with clock:
            if not options.gap_s:
                for client in clients:
                    client.begin()
            talk = asyncio.gather(*(client.all_sent for client in clients))
            limit = options.seconds if options.seconds is not None else PATIENCE_S
            try:
                async with asyncio.timeout(limit):
                    await talk
            except TimeoutError:
                if options.seconds is None:
                    raise
        if options.seconds is None:
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(*(client.done for client in clients))
    except TimeoutError:
        stages = Counter(client.stage for client in clients if not client.done.done())
        run.tally.error(f"not done after {PATIENCE_S:.0f} s: {dict(stages)}")
    finally:
        for client in clients:
            client.close()


async def flow(run: Run, options: Options, clock: Clock) -> None:
    """`options.pairs` pairs at a time, each replaced when done, for `options.seconds`."""
    seconds = options.seconds if options.seconds is not None else 30.0
    # Twice what a pair takes over its messages on average: some are slower.
    patience_s = PATIENCE_S + 2 * options.gap_s * 2 * options.rounds
    numbers = iter(range(sys.maxsize))
    ends_at = perf_counter() + seconds

    async def one_after_another() -> None:
        while perf_counter() < ends_at:
            (client,) = await join(run, [next(numbers)], hold=False)
            try:
                async with asyncio.timeout(patience_s):
                    await client.done
            except TimeoutError:
                run.tally.error("a worker was not done in time")
            finally:
                client.close()

    with clock:
        try:
            async with asyncio.timeout(seconds):
                async with asyncio.TaskGroup() as group:
                    for _ in range(2 * options.pairs):
                        group.create_task(one_after_another())
        except TimeoutError:
            pass


async def measure(options: Options) -> Result:
    """Run the load of `options` and report."""
    where = urlsplit(options.url)
    assert where.hostname is not None
    tally = Tally()
    run = Run(
        host=where.hostname,
        port=where.port or 80,
        prefix=secrets.token_hex(4),
        rounds=options.rounds,
        tally=tally,
        pace=pace(options.gap_s, random.Random(options.seed)),
        query=dict(options.query),
        check_answers=list(options.check_answers),
    )
    clock = Clock(options.watch)
    gc.disable()
    if options.flow:
        await flow(run, options, clock)
    else:
        for number in range(options.waves):
            await wave(run, options, number, clock)
    messages = len(tally.acks)
    # Nobody may have come as far as to talk.
    wall = clock.wall or float("nan")
    return Result(
        pairs=options.pairs,
        messages=messages,
        seconds=round(clock.wall, 3),
        messages_per_s=round(messages / wall, 1),
        ack_p50_ms=round(percentile(tally.acks, 0.5) * 1000, 3),
        ack_p99_ms=round(percentile(tally.acks, 0.99) * 1000, 3),
        delivery_p50_ms=round(percentile(tally.deliveries, 0.5) * 1000, 3),
        delivery_p99_ms=round(percentile(tally.deliveries, 0.99) * 1000, 3),
        delivered=len(tally.deliveries),
        pairing_p50_s=round(percentile(tally.waits, 0.5), 3),
        pairing_p99_s=round(percentile(tally.waits, 0.99), 3),
        arrivals_completed=tally.completed,
        retried=tally.retried,
        errors=tally.errors,
        generator_cores=round(clock.own / wall, 3),
        cpu_us_per_message={
            name: round(cpu / max(messages, 1) * 1e6, 1) for name, cpu in clock.cpu.items()
        },
    )


def parse(arguments: Sequence[str] | None = None) -> Options:
    """The options of a command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    add: Any = parser.add_argument
    add("--url", required=True, help="where the server listens, http only")
    add("--pairs", type=int, default=50, help="pairs talking at a time")
    add("--waves", type=int, default=5, help="how often all pairs come")
    add("--rounds", type=int, default=10, help="messages of each worker")
    add("--gap", type=float, default=0.0, help="seconds between a pair's messages; 0: closed loop")
    add("--seconds", type=float, help="end a wave, or the flow, after this time")
    add("--flow", action="store_true", help="replace every pair that is done")
    add("--seed", type=int, default=1)
    add("--query", action="append", default=[], metavar="NAME=VALUE")
    add("--check-answer", action="append", default=[], type=int, help="the instructions check")
    add("--watch", action="append", default=[], metavar="NAME=PID", help="process tree to measure")
    given = parser.parse_args(arguments)
    return Options(
        url=given.url,
        pairs=given.pairs,
        waves=given.waves,
        rounds=given.rounds,
        gap_s=given.gap,
        seconds=given.seconds,
        flow=given.flow,
        seed=given.seed,
        query=tuple((name, value) for name, _, value in (q.partition("=") for q in given.query)),
        check_answers=tuple(given.check_answer),
        watch=tuple((name, int(pid)) for name, _, pid in (w.partition("=") for w in given.watch)),
    )


def main() -> None:
    result = uvloop.run(measure(parse()))
    print(orjson.dumps(asdict(result)).decode())


if __name__ == "__main__":
    main()
