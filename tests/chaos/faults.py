"""What is done to a cluster while people talk: plans from a seed, and carrying them out."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import psycopg

from tests.chaos.cluster import Cluster, ServerProcess
from tests.chaos.process import Death, Point


class Fault(StrEnum):
    """One thing that goes wrong."""

    SERVER = "server killed"
    VALKEY = "Valkey killed and started"
    FLUSH = "Valkey flushed"
    POSTGRES = "PostgreSQL killed and started"


@dataclass(frozen=True, slots=True)
class Planned:
    """After `calm_s` seconds something goes wrong; what was killed is started `down_s` later."""

    fault: Fault
    calm_s: float
    down_s: float


FAULTS: Final = (
    *[Fault.SERVER] * 5,
    *[Fault.VALKEY] * 3,
    Fault.FLUSH,
    *[Fault.POSTGRES] * 2,
)
LOOK_S: Final = 0.2
LINGER_S: Final = 0.05
CALM_S: Final = (1.0, 9.0)
DOWN_S: Final = (0.2, 3.0)
SHORTEST, LONGEST = 2, 8
"""At which of its commits a server dies, at the earliest and at the latest."""


def plan_faults(seed: int) -> list[Planned]:
    """Every fault of `FAULTS`, in an order and at times that the seed decides."""
    rng = random.Random(f"faults/{seed}")
    order = list(FAULTS)
    rng.shuffle(order)
    return [Planned(fault, rng.uniform(*CALM_S), rng.uniform(*DOWN_S)) for fault in order]


def plan_deaths(seed: int, each: int) -> list[Death]:
    """`each` deaths before a commit and as many after one, in an order that the seed decides."""
    rng = random.Random(f"deaths/{seed}")
    points = [Point.BEFORE, Point.AFTER] * each
    rng.shuffle(points)
    return [Death(point, rng.randint(SHORTEST, LONGEST)) for point in points]


@dataclass(frozen=True, slots=True)
class Recovery:
    """How long after what went wrong everything was ready again."""

    fault: str
    began: float
    seconds: float


@dataclass
class Damage:
    """What was done so far. `outages` are spans in which the database could not answer."""

    recoveries: list[Recovery] = field(default_factory=list)
    outages: list[tuple[float, float]] = field(default_factory=list)

    def count(self, *faults: str) -> int:
        return sum(recovery.fault in faults for recovery in self.recoveries)


async def carry_out(cluster: Cluster, plan: Sequence[Planned], damage: Damage) -> None:
    """Do one after the other; each has been recovered from before the next begins."""
    victim = 0
    for planned in plan:
        await asyncio.sleep(planned.calm_s)
        began = time.time()
        match planned.fault:
            case Fault.SERVER:
                server = cluster.servers[victim % len(cluster.servers)]
                victim += 1
                server.kill()
                await asyncio.sleep(planned.down_s)
                server.start()
            case Fault.FLUSH:
                cluster.valkey.flush()
                cluster.journal.note("Valkey flushed")
            case Fault.VALKEY:
                cluster.valkey.kill()
                cluster.journal.note("Valkey killed")
                await asyncio.sleep(planned.down_s)
                cluster.valkey.start(wait=False)
                await asyncio.to_thread(cluster.valkey.wait_ready)
                cluster.journal.note("Valkey started")
            case Fault.POSTGRES:
                cluster.postgres.kill()
                cluster.journal.note("PostgreSQL killed")
                await asyncio.sleep(planned.down_s)
                cluster.postgres.start(wait=False)
                await asyncio.to_thread(cluster.postgres.wait_ready)
                cluster.journal.note("PostgreSQL started")
        await cluster.all_ready()
        ended = time.time()
        damage.recoveries.append(Recovery(planned.fault, began, ended - began))
        if planned.fault is Fault.POSTGRES:
            damage.outages.append((began, ended))


async def talking(cluster: Cluster, messages: int) -> None:
    """Wait until that many messages have been stored."""
    said = 0
    while said < messages:
        await asyncio.sleep(LOOK_S)
        said = await asyncio.to_thread(_said, cluster.database_url)


def _said(database_url: str) -> int:
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SELECT count(*) FROM events WHERE kind = 'said'").fetchone()
    assert row is not None, "a count has a row"
    return int(row[0])


async def let_die(
    cluster: Cluster,
    deaths: Sequence[Death],
    damage: Damage,
    *,
    linger_s: float = LINGER_S,
    acknowledge_early: bool = False,
) -> None:
    """Each server dies and is started again, until every death has happened."""
    left = list(reversed(deaths))

    async def keep(server: ServerProcess) -> None:
        died: tuple[str, float] | None = None
        while True:
            death = left.pop() if left else None
            server.start(die=death, linger_s=linger_s, acknowledge_early=acknowledge_early)
            await server.wait_ready(cluster.http)
            if died is not None:
                fault, began = died
                damage.recoveries.append(Recovery(fault, began, time.time() - began))
            if death is None:
                return
            await server.wait_dead()
            died = (f"died {death.point} a commit", time.time())

    async with asyncio.TaskGroup() as group:
        for server in cluster.servers:
            group.create_task(keep(server))
