"""A small study on our marketplace: the real recruiter, real requests, one machine."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import aiohttp
from sqlalchemy import Connection

from benchmarks import collected
from dialogs.record.store import Record
from dialogs.record.studies import changed_status
from dialogs.rules import StudyStatus
from hit_manager.config import HitConfig
from hit_manager.marketplace import assignments, workers
from hit_manager.marketplace.faults import Faults
from hit_manager.marketplace.server import MarketplaceServer, serve_marketplace
from hit_manager.marketplace.workers import Key
from hit_manager.reconciler import Reconciler
from hit_manager.recruiters.mturk import Mturk, MturkConfig

SEATS: Final = 200
PEOPLE: Final = 100
MONEY: Final = 1_000_000
"""Cents on the requester's account."""

Row = dict[str, Any]


async def measure(folder: Path, tell: Callable[[str], None]) -> tuple[list[Row], list[str]]:
    """Post, look, and take down 200 HITs of which half were done; rows and problems."""
    size = collected.Size(SEATS // 2)
    rows: list[Row] = []
    problems: list[str] = []
    faults = Faults()
    record = Record(f"sqlite:///{folder / 'study.sqlite'}")
    record.open()
    try:
        market_url = f"sqlite:///{folder / 'market.sqlite'}"
        async with serve_marketplace(market_url, faults=faults) as server:
            key = await server.market.write(_key)
            recruiter = Mturk(MturkConfig(server.url, key.id, key.secret))
            config = HitConfig(
                study_id=collected.STUDY,
                title="Talk about a photo",
                description="Talk with another person about a photo.",
                keywords="chat",
                reward=collected.REWARD,
                full_pay=collected.FULL_PAY,
                currency=collected.CURRENCY,
                url="http://127.0.0.1:8000",
                max_open=SEATS,
                max_in_lobby=SEATS,
            )
            reconciler = Reconciler(record, recruiter, config)
            await recruiter.open()

            async def step(name: str, work: Callable[[], Awaitable[object]]) -> None:
                before, began = faults.calls.copy(), time.perf_counter()
                done = await work()
                problems.extend(f"marketplace, {name}: {p}" for p in getattr(done, "problems", ()))
                calls = faults.calls - before
                rows.append(
                    {
                        "step": name,
                        "seconds": round(time.perf_counter() - began, 3),
                        "calls": sum(calls.values()),
                        "calls_by_kind": dict(calls),
                    }
                )
                tell(line(rows[-1]))

            collected.begin(record.engine, size)
            await step(f"posting {SEATS} HITs", reconciler.once)
            await step("a quiet round", reconciler.once)
            taken = collected.posted_seats(record.engine, PEOPLE)
            await _work(server, taken)
            await step(f"a round after {PEOPLE} people", reconciler.once)
            await record.writer.commit(changed_status(collected.STUDY, StudyStatus.PAUSED))
            await step("expiring all", reconciler.once)
            await recruiter.close()
    finally:
        await record.close()
    return rows, problems


def _key(connection: Connection, now: float) -> Key:
    requester = workers.create_requester(connection, now, "benchmark", MONEY)
    return workers.create_key(connection, now, requester)


async def _work(server: MarketplaceServer, taken: list[collected.Seat]) -> None:
    """Somebody takes each of these HITs and hands work in, as a frame would."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as browser:
        for seat in taken:
            worker = await server.market.write(workers.create_worker, name="Kim", country="US")
            held = await server.market.write(assignments.accept, worker, seat.remote_id)
            form = urlencode({"assignmentId": held.id, "code": "CODE1234"})
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            to = f"{server.url}/mturk/externalSubmit"
            async with browser.post(to, data=form, headers=headers) as page:
                page.raise_for_status()


def line(row: Row) -> str:
    """One step of the small study."""
    calls = ", ".join(f"{n:,} {kind}" for kind, n in row["calls_by_kind"].items())
    return f"marketplace, boto3: {row['step']:<24} {row['seconds']:>7.2f} s  {calls}"
