"""How long does the team wait for a study with thousands of dialogs: the review, and each list?

Each question is asked of the record itself, without the web server, of a study that is half
judged, on both databases and at two sizes. Times are medians on the clock; beside each stands the
processor time of this process and of the database server, which says more on a busy machine. What
is slower than its target is told, and is no failure.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

from sqlalchemy import Connection, select

from benchmarks import collected, judged
from benchmarks.collected import STUDY, Size
from benchmarks.messages import machine
from benchmarks.processes import tree_cpu_seconds
from benchmarks.sizes import Row, Tell, on_each
from dialogs.record import accounts, listing, marks, overview, people
from dialogs.record.agreement import review_stats
from dialogs.record.engine import durability, open_engine
from dialogs.record.errors import RecordError
from dialogs.record.review_desk import ReviewDesk
from dialogs.record.review_queue import ANY, Filters
from dialogs.record.store import Record
from dialogs.record.tables import TO_JUDGE, dialogs
from dialogs.rules import Acceptance, LedgerState, Outcome, Phase

SIZES: Final = (Size(8_000), Size(40_000))
QUICK_SIZES: Final = (Size(4_000),)
AT_ONCE: Final = 3_000
"""Dialogs that are judged with one request."""
QUICK_AT_ONCE: Final = 600
ASKED: Final = 15
LONGEST_MS: Final = 10_000.0
"""What takes long is asked less often."""
NEXT_MS: Final = 20.0
WAITING_MS: Final = 20.0
STATS_MS: Final = 50.0
PLAN_MS: Final = 200.0
BULK_MS: Final = 5_000.0
LIST_MS: Final = 100.0
ME: Final = judged.ADMINS[0]
NOBODY: Final = ""
"""For whom the monitor's *Now* asks what waits."""

Work = Callable[[], Awaitable[object]]


class _Study:
    """One study of one size on one database, and what was measured of it."""

    def __init__(
        self, database: str, pid: int | None, size: Size, record: Record, at_once: int, tell: Tell
    ) -> None:
        self.rows: list[Row] = []
        self.problems: list[str] = []
        self._database = database
        self._pid = pid
        self._size = size
        self._record = record
        self._at_once = at_once
        self._tell = tell
        self._now = size.dialogs * collected.EVERY_S
        self._desk = ReviewDesk(record, STUDY, now=self._clock)

    def _clock(self) -> float:
        # One moment for each judgement, as it is in life.
        self._now += 0.001
        return self._now

    async def ask_all(self) -> None:
        for name, work, most in self._views():
            await self._measure(name, work, most)
        await self._review()

    async def _review(self) -> None:
        desk = self._desk
        some = {
            "": ANY,
            ", flag": Filters(flag=judged.FLAGS[0]),
            ", unflagged": Filters(unflagged=True),
            ", worker": Filters(worker=collected.worker_id(1)),
            ", outcome": Filters(outcome=Outcome.SOLO),
            ", time": Filters(since=self._now / 2, until=self._now),
        }
        for name, filters in some.items():
            await self._measure(
                f"review next{name}", partial(desk.next, ME, filters), NEXT_MS, self._let_go
            )
            waiting = partial(desk.waiting, ME, filters)
            await self._measure(f"review waiting{name}", waiting, WAITING_MS)
        await self._measure(
            "review waiting, nobody", partial(desk.waiting, NOBODY, ANY), WAITING_MS
        )
        await self._measure("review stats", self._asks(review_stats), STATS_MS)
        accepted = (ME, Acceptance.ACCEPTED)
        everything = partial(desk.plan, *accepted, ANY, approve_pay=True)
        await self._measure("review bulk, dry run of all", everything, PLAN_MS)
        until = Filters(until=await self._record.read(_ends_after, self._at_once))
        some_of_all = partial(desk.plan, *accepted, until, approve_pay=True)
        await self._measure(f"review bulk, dry run of {self._at_once:,}", some_of_all, PLAN_MS)
        await self._bulk(until)

    async def _let_go(self) -> None:
        """The next dialog is looked for anew each time."""
        given = await self._desk.next(ME, ANY)
        if given is not None:
            await self._desk.skip(ME, given.dialog_id)

    async def _bulk(self, filters: Filters) -> None:
        async def work() -> None:
            done = await self._desk.bulk(
                ME, Acceptance.ACCEPTED, filters, approve_pay=True, expected=self._at_once
            )
            right = (done.dialogs, done.payments) == (self._at_once, 2 * self._at_once)
            if not right:
                where = f"{self._database}, {self._size.dialogs:,} dialogs"
                self.problems.append(f"{where}: {done} of {self._at_once}")

        await self._measure(f"review bulk of {self._at_once:,}", work, BULK_MS, times=1)

    def _asks(self, query: Callable[..., object], *args: Any, **kw: Any) -> Work:
        return partial(self._record.read, query, STUDY, *args, **kw)

    def _views(self) -> list[tuple[str, Work, float]]:
        since, until = self._now / 2, self._now
        flag, someone = judged.FLAGS[0], collected.worker_id(1)
        asked = {
            "now": self._asks(overview.overview, self._now),
            "lobby": self._asks(overview.lobby, judged.IN_LOBBY),
            "chart, 3 hours": self._asks(overview.chart, until - 3 * 3600.0, until, 60),
            "chart, 48 hours": self._asks(overview.chart, until - 48 * 3600.0, until, 60),
            "marks": self._asks(marks.marks),
            "hits": self._asks(accounts.listed_hits, None, None),
            "hits by state": self._asks(accounts.hits_by_state),
            "chains": self._asks(accounts.relaunched_items, None),
            "ledger": self._asks(accounts.listed_payments),
            "ledger, owed": self._asks(accounts.listed_payments, states=(LedgerState.OWED,)),
            "ledger, failed": self._asks(accounts.listed_payments, states=(LedgerState.FAILED,)),
            "ledger, problem": self._asks(accounts.listed_payments, problem=True),
        }
        lists = {
            "": listing.Filters(),
            ", phase": listing.Filters(phase=Phase.ENDED),
            ", outcome": listing.Filters(outcome=Outcome.SOLO),
            ", rejected": listing.Filters(acceptance=Acceptance.REJECTED),
            ", flag": listing.Filters(flag=flag),
            ", worker": listing.Filters(worker=someone),
            ", time": listing.Filters(since=since, until=until),
        }
        asked |= {f"dialogs{name}": self._asks(listing.listed, f) for name, f in lists.items()}
        everybody = {
            "": people.Wanted(),
            ", search": people.Wanted(search=someone),
            ", excluded": people.Wanted(excluded=True),
            ", flagged": people.Wanted(flagged=True),
        }
        asked |= {f"workers{name}": self._asks(people.people, w) for name, w in everybody.items()}
        return [(name, work, LIST_MS) for name, work in asked.items()]

    async def _measure(
        self, name: str, work: Work, most: float, after: Work | None = None, times: int = ASKED
    ) -> None:
        try:
            await self._timed(name, work, most, after, times)
        except RecordError as error:
            # Others may do well.
            where = f"{self._database}, {self._size.dialogs:,} dialogs"
            self.problems.append(f"{where}: {name}: {error}")

    async def _timed(
        self, name: str, work: Work, most: float, after: Work | None, times: int
    ) -> None:
        took: list[float] = []
        cpu_s = 0.0
        if times > 1:
            await work()
        while len(took) < times and sum(took) < LONGEST_MS:
            if after is not None:
                await after()
            # Reading what the server has used takes processor time of ours.
            theirs, mine, began = self._server_s(), time.process_time(), time.perf_counter()
            await work()
            took.append((time.perf_counter() - began) * 1000)
            cpu_s += time.process_time() - mine + self._server_s() - theirs
        row = {
            "database": self._database,
            "dialogs": self._size.dialogs,
            "question": name,
            "median_ms": round(median(took), 1),
            "max_ms": round(max(took), 1),
            "cpu_ms": round(cpu_s * 1000 / len(took), 1),
            "wanted_ms": most,
            "met": median(took) <= most,
        }
        self.rows.append(row)
        self._tell(line(row))

    def _server_s(self) -> float:
        """Processor seconds of the database server so far."""
        return tree_cpu_seconds(self._pid) if self._pid else 0.0


def _ends_after(connection: Connection, number: int) -> float:
    """When the oldest complete dialogs that wait, so many, have ended."""
    query = (
        select(dialogs.c.ended_at)
        .where(dialogs.c.study_id == STUDY, TO_JUDGE)
        .order_by(dialogs.c.ended_at)
        .offset(number)
        .limit(1)
    )
    return float(connection.execute(query).scalar_one())


async def _measured(
    database: str, pid: int | None, url: str, size: Size, at_once: int, tell: Tell
) -> tuple[list[Row], list[str], dict[str, str]]:
    record = Record(url)
    record.open()
    try:
        filling = open_engine(url, patient=True)
        judged.fill(filling, size)
        filling.dispose()
        study = _Study(database, pid, size, record, at_once, tell)
        await study.ask_all()
        return study.rows, study.problems, durability(record.engine)
    finally:
        await record.close()


def run(*, quick: bool, tell: Tell) -> dict[str, Any]:
    """Measure everything. `tell` hears a line for each question as it is answered.

    The files lie where temporary files do (TMPDIR).
    """
    sizes, at_once = (QUICK_SIZES, QUICK_AT_ONCE) if quick else (SIZES, AT_ONCE)
    busy_before = os.getloadavg()[0]
    measure = partial(_measured, at_once=at_once, tell=tell)
    with tempfile.TemporaryDirectory(prefix="duologue-benchmark-") as folder:
        found = on_each(Path(folder), sizes, measure)
    return {
        "question": "how long the team waits for a study with thousands of dialogs",
        "rows": found.rows,
        "durability": found.settings,
        "machine": machine(busy_before),
        "problems": found.problems,
    }


def line(row: Row) -> str:
    """One question as it is told while it runs."""
    met = "met" if row["met"] else "MISSED"
    return (
        f"{row['database']:<10} {row['dialogs']:>6,} dialogs  {row['question']:<32} "
        f"{row['median_ms']:>9,.1f} ms  {row['max_ms']:>9,.1f} at most  "
        f"CPU {row['cpu_ms']:>9,.1f} ms  (≤ {row['wanted_ms']:,.0f}: {met})"
    )


def table(result: dict[str, Any]) -> str:
    """The result as a table for people."""
    columns = list(dict.fromkeys((row["database"], row["dialogs"]) for row in result["rows"]))
    heads = (f"{database} {number:,}" for database, number in columns)
    lines = ["median ms / CPU ms", f"{'':<32}" + "".join(f"{head:>24}" for head in heads)]
    for name in dict.fromkeys(row["question"] for row in result["rows"]):
        mine = {
            (row["database"], row["dialogs"]): row
            for row in result["rows"]
            if row["question"] == name
        }
        cells = "".join(f"{_cell(mine.get(column)):>24}" for column in columns)
        wanted = next(iter(mine.values()))["wanted_ms"]
        lines.append(f"{name:<32}{cells}   ≤ {wanted:,.0f}")
    missed = [row for row in result["rows"] if not row["met"]]
    lines.append(f"{len(missed)} of {len(result['rows'])} missed their target (marked with *)")
    for database, found in result["durability"].items():
        lines.append(f"{database}: " + ", ".join(f"{k} = {v}" for k, v in found.items()))
    if result["machine"]["load_average_before"] > 0.5:
        busy = result["machine"]["load_average_before"]
        lines.append(f"the machine was busy with other things before (load {busy}): figures suffer")
    lines += [f"FAILED: {problem}" for problem in result["problems"]]
    return "\n".join(lines)


def _cell(row: Row | None) -> str:
    if row is None:
        return "failed "
    mark = " " if row["met"] else "*"
    return f"{row['median_ms']:,.1f} / {row['cpu_ms']:,.1f}{mark}"
