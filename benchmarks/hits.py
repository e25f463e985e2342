"""What do the reconciler and the ledger cost as a study grows, in seconds and in API calls?

Each step of a study's life is measured at a quarter, a half and the whole of the size, on a
database of its own, with a recruiter that answers at once; so a step that grows faster than the
study shows. A step that takes more than three times the processor time, or the calls, in a study
twice the size fails the benchmark. At the end, a small study on our marketplace, through boto3.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from benchmarks import collected, on_marketplace
from benchmarks.collected import Size
from benchmarks.far_side import FarSide
from benchmarks.messages import machine
from benchmarks.processes import tree_cpu_seconds
from benchmarks.sizes import Row, Tell, on_each
from dialogs.record import hits as hit_rows
from dialogs.record import payments
from dialogs.record import supply as supplies
from dialogs.record.engine import durability
from dialogs.record.errors import RecordError
from dialogs.record.store import Record
from dialogs.record.studies import changed_status
from dialogs.rules import HitState, LedgerState, StudyStatus
from hit_manager.config import HitConfig
from hit_manager.manager import HitManager
from hit_manager.outbox import Outbox
from hit_manager.reconciler import Reconciler

ITEMS: Final = 20_000
QUICK_ITEMS: Final = 2_000
ARRIVALS: Final = 1_000
QUICK_ARRIVALS: Final = 200
MOST: Final = 3.0
"""Times the processor seconds or calls of half the size; twice is linear, four times quadratic.
Time on the clock is told and not judged: what else the machine does would be judged with it."""
NOTICED_S: Final = 0.3
"""Steps that take less processor time than this are not judged by it: it is mostly noise."""
BUDGET: Final = 10**9


def config() -> HitConfig:
    """A study that posts all it wants at once; study files allow 10,000 seats."""
    return HitConfig(
        study_id=collected.STUDY,
        title="Talk about a photo",
        description="Talk with another person about a photo.",
        keywords="chat",
        reward=collected.REWARD,
        full_pay=collected.FULL_PAY,
        currency=collected.CURRENCY,
        url="http://127.0.0.1:8000",
        max_open=10**6,
        max_in_lobby=10**6,
        budget=BUDGET,
    )


class _Study:
    """One study of one size on one database, and what was measured of it."""

    def __init__(
        self,
        database: str,
        pid: int | None,
        size: Size,
        record: Record,
        arrivals: int,
        tell: Tell,
    ) -> None:
        self.rows: list[Row] = []
        self.problems: list[str] = []
        self._database = database
        self._pid = pid
        self._size = size
        self._record = record
        self._arrivals = arrivals
        self._tell = tell
        self._far_side = FarSide()
        self._manager = HitManager(record, self._far_side, config())

    async def life(self) -> None:
        """From the first posting to the last payment."""
        engine, far_side, size = self._record.engine, self._far_side, self._size
        reconciler = Reconciler(self._record, far_side, config())
        collected.begin(engine, size)
        collected.settle(engine)
        seats = 2 * size.items
        await self._step("first posting", reconciler.once)
        self._must(far_side.up == seats, f"{far_side.up} HITs are up, not {seats}")
        collected.settle(engine)
        # The first one looks at everything that others may have changed meanwhile.
        await self._step("the first round after a start", self._manager.round)
        await self._step("a quiet round", self._manager.round)

        first = range(self._arrivals // 2)
        taken = collected.posted_seats(engine, self._arrivals)
        collected.hold(engine, far_side, size, first, taken, known=False)
        await self._step(f"a round after {self._arrivals:,} people", reconciler.once)
        again = 2 * sum(number % 5 == 4 for number in first)
        up = seats - self._arrivals + again
        self._must(far_side.up == up, f"{far_side.up} HITs are up, not {up}")

        await self._record.writer.commit(changed_status(collected.STUDY, StudyStatus.PAUSED))
        await self._step("expiring all", reconciler.once)
        self._must(far_side.up == 0, f"{far_side.up} HITs are still up")

        rest = range(self._arrivals // 2, size.dialogs)
        closed = collected.closed_seats(engine, far_side, 2 * len(rest))
        collected.hold(engine, far_side, size, rest, closed, known=True)
        collected.settle(engine)
        await self._step("paying all", self._pay_all)
        await self._all_paid()
        await self._step("clearing away", reconciler.once)
        await self._step("a quiet round, all paid", self._manager.round)
        await self._step("hits status", self._status)

    async def _pay_all(self) -> None:
        """Round after round of payments, until nothing more goes out."""
        outbox = Outbox(self._record, self._far_side, config())
        while (done := await outbox.once()).payments:
            for problem in done.problems:
                self._must(False, f"paying all: {problem}")

    async def _status(self) -> None:
        """What `duologue hits status` reads."""
        study, read = collected.STUDY, self._record.read
        await read(supplies.supply, study)
        await read(hit_rows.hits_in, study, tuple(HitState))
        await read(payments.ledger_totals, study)
        await read(payments.payments_in, study, (LedgerState.HELD, LedgerState.FAILED))
        await read(supplies.chains, study)

    async def _all_paid(self) -> None:
        totals = await self._record.read(payments.ledger_totals, collected.STUDY)
        number = sum(each.payments for each in totals if each.state is LedgerState.PAID)
        self._must(number == self._size.assignments, f"{number} payments went out")
        cents = sum(each.cents for each in totals)
        sent = sum(self._far_side.paid_cents.values())
        sent += self._far_side.calls["approve"] * collected.REWARD
        self._must(sent == cents, f"{sent} cents were sent, {cents} are owed")

    def _must(self, true: bool, problem: str) -> None:
        if not true:
            self.problems.append(f"{self._database}, {self._size.items:,} items: {problem}")

    def _cpu_s(self) -> float:
        """Processor seconds so far, of this process and of a database server."""
        return time.process_time() + (tree_cpu_seconds(self._pid) if self._pid else 0.0)

    async def _step(self, name: str, work: Callable[[], Awaitable[object]]) -> None:
        before, decisions = self._far_side.calls.copy(), self._record.writer.stats.decisions
        cpu, began = self._cpu_s(), time.perf_counter()
        done = await work()
        seconds, cpu = time.perf_counter() - began, self._cpu_s() - cpu
        calls = self._far_side.calls - before
        for problem in _problems_of(done):
            self._must(False, f"{name}: {problem}")
        self.rows.append(
            {
                "database": self._database,
                "step": name,
                "items": self._size.items,
                "assignments": self._size.assignments,
                "seconds": round(seconds, 4),
                "cpu_s": round(cpu, 4),
                "decisions": self._record.writer.stats.decisions - decisions,
                "calls": sum(calls.values()),
                "calls_by_kind": dict(calls),
            }
        )
        self._tell(line(self.rows[-1]))


def _problems_of(done: object) -> tuple[str, ...]:
    """What a round, or a half of one, could not do."""
    halves = (getattr(done, "report", done), getattr(done, "paid", None))
    return tuple(p for half in halves for p in getattr(half, "problems", ()))


async def _measure(
    database: str, pid: int | None, url: str, size: Size, arrivals: int, tell: Tell
) -> tuple[list[Row], list[str], dict[str, str]]:
    record = Record(url)
    record.open()
    try:
        study = _Study(database, pid, size, record, arrivals, tell)
        try:
            await study.life()
        except RecordError as error:
            # What follows needs what failed; other sizes may do well.
            study.problems.append(f"{database}, {size.items:,} items: {error}")
        return study.rows, study.problems, durability(record.engine)
    finally:
        await record.close()


def run(*, quick: bool, tell: Tell) -> dict[str, Any]:
    """Measure everything. `tell` hears a line for each step as it is done.

    The files lie where temporary files do (TMPDIR); how fast that disk is decides most of it.
    """
    items, arrivals = (QUICK_ITEMS, QUICK_ARRIVALS) if quick else (ITEMS, ARRIVALS)
    sizes = [Size(items // 4), Size(items // 2), Size(items)]
    busy_before = os.getloadavg()[0]
    measure = partial(_measure, arrivals=arrivals, tell=tell)
    with tempfile.TemporaryDirectory(prefix="duologue-benchmark-") as folder:
        found = on_each(Path(folder), sizes, measure)
        small, wrong = asyncio.run(on_marketplace.measure(Path(folder), tell))
    growth = grown(found.rows)
    return {
        "question": "what recruiting and paying cost as a study grows",
        "rows": found.rows,
        "growth": growth,
        "marketplace": small,
        "durability": found.settings,
        "machine": machine(busy_before),
        "problems": [*found.problems, *wrong, *judged(growth)],
    }


def grown(rows: list[Row]) -> list[Row]:
    """For each step, how its processor time and calls grow when the study doubles."""
    found: list[Row] = []
    for database in dict.fromkeys(row["database"] for row in rows):
        mine = [row for row in rows if row["database"] == database]
        for step in dict.fromkeys(row["step"] for row in mine):
            sizes = sorted((r for r in mine if r["step"] == step), key=lambda r: r["items"])
            pairs = list(pairwise(sizes))
            found.append(
                {
                    "database": database,
                    "step": step,
                    "seconds": [row["seconds"] for row in sizes],
                    "cpu_s": [row["cpu_s"] for row in sizes],
                    "calls": [row["calls"] for row in sizes],
                    "cpu_ratios": [_ratio(a["cpu_s"], b["cpu_s"]) for a, b in pairs],
                    "call_ratios": [_ratio(a["calls"], b["calls"]) for a, b in pairs],
                }
            )
    return found


def _ratio(half: float, whole: float) -> float | None:
    return round(whole / half, 2) if half else None


def judged(growth: list[Row]) -> list[str]:
    """Which steps grow much faster than the study."""
    problems = []
    for step in growth:
        where = f"{step['database']}, {step['step']}"
        # Over all sizes: what else a machine does makes single ratios jump.
        for name, least in (("cpu_s", NOTICED_S), ("calls", 1)):
            first, *_, last = step[name]
            doublings = len(step[name]) - 1
            if first and last >= least and last / first > MOST**doublings:
                each = (last / first) ** (1 / doublings)
                problems.append(f"{where}: {name} grow {each:.1f} times for each doubling")
    return problems


def line(row: Row) -> str:
    """One step as it is told while it runs."""
    calls = ", ".join(f"{n:,} {kind}" for kind, n in row["calls_by_kind"].items()) or "no calls"
    return (
        f"{row['database']:<10} {row['items']:>6,} items  {row['step']:<30} "
        f"{row['seconds']:>9.2f} s  CPU {row['cpu_s']:>7.2f} s  {row['decisions']:>7,} decisions  "
        f"{calls}"
    )


def table(result: dict[str, Any]) -> str:
    """The result as a table for people."""
    sizes = sorted({(row["items"], row["assignments"]) for row in result["rows"]})
    told = ", ".join(f"{items:,} items / {work:,} assignments" for items, work in sizes)
    lines = [f"sizes: {told}; × is the ratio of each to the one before", ""]
    head = f"{'seconds':>26} {'CPU seconds':>26} {'×':>11} {'API calls':>26} {'×':>11}"
    lines.append(f"{'':<10} {'':<30} {head}")
    for step in result["growth"]:
        seconds, cpu_s = (
            " ".join(f"{value:>8.2f}" for value in step[name]) for name in ("seconds", "cpu_s")
        )
        calls = " ".join(f"{value:>8,}" for value in step["calls"])
        times, more = (
            " ".join(f"{_shown(ratio):>5}" for ratio in step[name])
            for name in ("cpu_ratios", "call_ratios")
        )
        lines.append(
            f"{step['database']:<10} {step['step']:<30} {seconds} {cpu_s} {times} {calls} {more}"
        )
    lines.append("")
    lines += [on_marketplace.line(row) for row in result["marketplace"]]
    for database, found in result["durability"].items():
        lines.append(f"{database}: " + ", ".join(f"{k} = {v}" for k, v in found.items()))
    if result["machine"]["load_average_before"] > 0.5:
        busy = result["machine"]["load_average_before"]
        lines.append(f"the machine was busy with other things before (load {busy}): figures suffer")
    lines += [f"FAILED: {problem}" for problem in result["problems"]]
    return "\n".join(lines)


def _shown(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.1f}"
