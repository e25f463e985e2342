"""A study as it looks after some hours, for the picture of the monitor.

Everybody in it is simulated, on a real server. What is over happened in seconds, and is then moved
into the hours before.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from sqlalchemy import Connection, select, update

from chatserver.server import Server
from dialogs.record.tables import arrivals, dialogs, ledger, releases, seats
from dialogs.rules import Acceptance, LedgerState
from duologue.simulate.mix import Kind, Mix
from duologue.simulate.pace import Pace
from duologue.simulate.plan import Plan
from duologue.simulate.run import Progress, simulate

HOURS: Final = 2.8
"""The time in which what is over happened."""
UNJUDGED: Final = 7
"""Dialogs that nobody has judged yet."""
LIVE_FOR_S: Final = 50.0
"""How long people have talked when the picture is taken, in seconds."""


@asynccontextmanager
async def busy(server: Server) -> AsyncIterator[None]:
    """Dialogs of the last hours, and people who talk and wait while the context is open."""
    checks = tuple(check.answer for check in server.service.config.study.check)

    async def crowd(plan: Plan) -> None:
        await simulate(server.url, plan, _silently)

    await crowd(Plan(140, pace=Pace(0.01), arrive_s=5.0, check_answers=checks))
    # Whoever finds no partner in the end is given up.
    some_leave = Mix({Kind.NORMAL: 5, Kind.LEAVER: 5})
    await crowd(Plan(10, some_leave, pace=Pace(0.01), limit_s=20.0, check_answers=checks))
    record, now = server.service.record, server.service.now
    with record.engine.begin() as connection:
        _move(connection, now())
    # One more than fit together.
    mix = Mix({Kind.NORMAL: 22, Kind.LEAVER: 1, Kind.SILENT: 1, Kind.SLOW: 1})
    here = Plan(25, mix, seed=4, pace=Pace(1.6), arrive_s=25.0, check_answers=checks)
    talking = asyncio.ensure_future(crowd(here))
    await asyncio.sleep(LIVE_FOR_S)
    with record.engine.begin() as connection:
        _spread_arrivals(connection)
    try:
        yield
    finally:
        talking.cancel()
        await asyncio.wait((talking,))


def _silently(_progress: Progress) -> None:
    return


def _move(connection: Connection, now: float) -> None:
    """Spread what is over out, and let it have taken people's time."""
    rng = random.Random(3)
    ended_dialogs = select(dialogs.c.id).where(dialogs.c.ended_at.is_not(None))
    found = connection.execute(ended_dialogs).scalars().all()
    found = rng.sample(found, len(found))
    for n, dialog_id in enumerate(found):
        ended = now - HOURS * 3600 * (1 - n / len(found)) - rng.uniform(60, 500)
        opened = ended - rng.uniform(320, 560)
        judged = n < len(found) - UNJUDGED
        values = {"opened_at": opened, "ended_at": ended}
        acceptance = {"acceptance": Acceptance.ACCEPTED.value} if judged else {}
        mine = dialogs.c.id == dialog_id
        complete = mine & (dialogs.c.outcome == "complete")
        connection.execute(update(dialogs).where(mine).values(values))
        if acceptance:
            connection.execute(update(dialogs).where(complete).values(acceptance))
        people = select(seats.c.arrival_id).where(seats.c.dialog_id == dialog_id)
        for arrival_id in connection.execute(people).scalars().all():
            ready = opened - rng.uniform(4, 60)
            came = {"ready_at": ready, "created_at": ready - rng.uniform(60, 150)}
            connection.execute(update(arrivals).where(arrivals.c.id == arrival_id).values(came))
            row = releases.c.arrival_id == arrival_id
            connection.execute(update(releases).where(row).values(at=ended))
            owed = ledger.c.arrival_id == arrival_id
            state = {"state": LedgerState.PAID.value} if judged else {}
            connection.execute(update(ledger).where(owed).values({"at": ended} | state))


def _spread_arrivals(connection: Connection) -> None:
    """Who is here came one after the other, not all at once."""
    rng = random.Random(5)
    live = select(dialogs.c.id).where(dialogs.c.ended_at.is_(None))
    for dialog_id in connection.execute(live).scalars().all():
        earlier = rng.uniform(0, 480)
        mine = dialogs.c.id == dialog_id
        moved = {"opened_at": dialogs.c.opened_at - earlier}
        connection.execute(update(dialogs).where(mine).values(moved))
        people = select(seats.c.arrival_id).where(seats.c.dialog_id == dialog_id)
        for arrival_id in connection.execute(people).scalars().all():
            before = earlier + rng.uniform(30, 120)
            came = {
                "created_at": arrivals.c.created_at - before,
                "ready_at": arrivals.c.ready_at - earlier - rng.uniform(0, 30),
            }
            connection.execute(update(arrivals).where(arrivals.c.id == arrival_id).values(came))
