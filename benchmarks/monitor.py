"""What do open monitors cost the server, how late is a transcript, and how soon answers a view?

On PostgreSQL, in one run: the same load without and with ten open monitors in turns, each watching
one dialog after another; then 200 dialogs at human pace, without and with them; then every view of
a study with more than a thousand ended dialogs.

The load comes as fast as the server takes it, so what the monitors cost shows as messages that it
takes no more. They, the generator and the database are processes of their own: on a machine of two
cores that has nothing else to do, the server has one for itself. Where there is more to do, the
time of the server's processor for each message says more; but what monitors cost by the second then
counts for more, since there are fewer messages in it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.request import Request, urlopen

import orjson

from benchmarks.messages import Load, drive, machine, target
from benchmarks.open_monitors import sign_in
from benchmarks.processes import tree_cpu_seconds
from benchmarks.servers import ROOT, Server, start_duologue
from chatserver.monitor.passwords import hashed
from dialogs.record import admins
from dialogs.record.engine import open_engine
from dialogs.rules import AdminRole
from tests.services import PostgresServer, ValkeyServer

NAME: Final = "bench"
PASSWORD: Final = "only for this benchmark"
MONITORS: Final = 10
PAIRS: Final = 300
LIVE: Final = 200
KEPT: Final = 0.9
"""Of the throughput without monitors, so much is left with them."""
LATE_MS: Final = 1000.0
VIEW_MS: Final = 200.0
ASKED: Final = 30
"""How often each view is asked for."""

VIEWS: Final = (
    "now",
    "chart?hours=3",
    "dialogs",
    "dialogs?phase=ended&outcome=complete",
    "dialogs/{dialog}",
    "workers",
    "workers?flagged=true",
    "workers/{worker}",
    "hits",
    "chains",
    "ledger",
    "ledger?problem=true",
    "review/stats",
    "study",
    "audit",
)


@contextmanager
def open_monitors(server: Server, into: dict[str, Any]) -> Iterator[None]:
    """Ten monitors while the context is open; what they saw is put `into`."""
    command = [sys.executable, "-m", "benchmarks.open_monitors", "--url", server.url]
    with subprocess.Popen(
        [*command, "--name", NAME, "--count", str(MONITORS)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{PASSWORD}\n")
        process.stdin.flush()
        if process.stdout.readline() != "ready\n":
            raise RuntimeError("the monitors did not open")
        yield
        process.stdin.close()
        into.update(orjson.loads(process.stdout.readline()))


def add_owner(database_url: str) -> None:
    engine = open_engine(database_url)
    try:
        admins.written(
            engine, admins.add_admin, "ad-bench", NAME, AdminRole.OWNER, hashed(PASSWORD), 1.0
        )
    finally:
        engine.dispose()


def run(*, quick: bool, tell: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything. `tell` hears a line for each figure as it comes."""
    turns, waves = (2, 1) if quick else (4, 3)
    fast = Load(f"{PAIRS} pairs", PAIRS, waves)
    slow = Load(f"{LIVE} pairs, human pace", LIVE, 1, 10.0 if quick else 60.0)
    places = 200 + 2 * turns * PAIRS * waves + 2 * LIVE
    rows: list[dict[str, Any]] = []
    busy_before = os.getloadavg()[0]
    with ValkeyServer() as valkey, PostgresServer() as postgres:
        url = postgres.create_database()
        beside = {"database": postgres.pid, "redis": valkey.pid}
        with start_duologue("duologue", url, valkey.url, places=places, beside=beside) as server:
            add_owner(url)
            drive(server, Load("warm-up", 20, 1))
            for turn in range(turns):
                # A study grows, and a machine gets busier or less so: each comes first in turn.
                for monitors in ((0, MONITORS), (MONITORS, 0))[turn % 2]:
                    rows.append(_driven(server, fast, monitors) | {"turn": turn})
                    tell(_line(rows[-1]))
            people = [_driven(server, slow, monitors) for monitors in (0, MONITORS)]
            for row in people:
                tell(_line(row))
            tell(_late(people[-1]["seen"]))
            views = []
            for view in _views(server):
                views.append(view)
                tell(_view(view))
    return _judged(rows, people, views) | {"machine": machine(busy_before)}


def _driven(server: Server, load: Load, monitors: int) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    if not monitors:
        return drive(server, load) | {"monitors": 0}
    with open_monitors(server, seen):
        row = drive(server, load)
    return row | {"monitors": monitors, "seen": seen}


def _views(server: Server) -> Iterator[dict[str, Any]]:
    cookie, _ = sign_in(server.url, NAME, PASSWORD)

    def ask(path: str) -> Any:
        asked = Request(f"{server.url}/api/monitor/{path}", headers={"Cookie": cookie})
        with urlopen(asked, timeout=30) as response:
            return orjson.loads(response.read())

    ended = ask("dialogs?phase=ended")
    dialog = ended["rows"][0]
    for view in VIEWS:
        path = view.format(dialog=dialog["id"], worker=dialog["workers"][0])
        took = []
        used = _used(server)
        for _ in range(ASKED):
            then = time.perf_counter()
            ask(path)
            took.append((time.perf_counter() - then) * 1000)
        yield {
            "view": view,
            "ended": ended["total"],
            "median_ms": round(statistics.median(took), 1),
            "max_ms": round(max(took), 1),
            "cpu_ms": round((_used(server) - used) * 1000 / ASKED, 1),
        }


def _used(server: Server) -> float:
    """Processor seconds of the server and its database so far."""
    return sum(tree_cpu_seconds(server.processes[name]) for name in ("server", "database"))


def _judged(
    rows: list[dict[str, Any]],
    people: list[dict[str, Any]],
    views: list[dict[str, Any]],
) -> dict[str, Any]:
    def share(figure: Callable[[dict[str, Any]], float]) -> float:
        """With monitors, of without: each turn by itself, and then the median."""
        with_, without = (
            [figure(row) for row in rows if row["monitors"] == monitors]
            for monitors in (MONITORS, 0)
        )
        return statistics.median(a / b for a, b in zip(with_, without, strict=True))

    def rate(row: dict[str, Any]) -> float:
        return float(row["messages_per_s"])

    def cpu(row: dict[str, Any]) -> float:
        return float(row["cpu_us_per_message"]["server"])

    late = people[-1]["seen"]
    slowest = max(view["median_ms"] for view in views)
    targets = [
        target("of the messages a second", share(rate), KEPT),
        target("of the server's CPU a message", share(cpu), 1.1, most=True),
        target("ms p99 from an event to a monitor", late["lag_p99_ms"], LATE_MS, most=True),
        target("ms at most from an event to a monitor", late["lag_max_ms"], LATE_MS, most=True),
        target("ms median of the slowest view", slowest, VIEW_MS, most=True),
    ]
    problems = [
        f"{row['load']}: {number} times: {what}"
        for row in (*rows, *people)
        for what, number in row["errors"].items()
    ]
    if not late["entries"]:
        problems.append("no monitor has seen a message")
    return {
        "question": f"the price of {MONITORS} open monitors",
        "rows": rows,
        "people": people,
        "views": views,
        "targets": targets,
        "problems": problems,
    }


def _line(row: dict[str, Any]) -> str:
    cpu = ", ".join(f"{name} {value:.0f}" for name, value in row["cpu_us_per_message"].items())
    seen = row.get("seen", {})
    told = f"; {seen['frames']} frames, {seen['megabytes']} MB to monitors" if seen else ""
    return (
        f"{row['monitors']:>3} monitors  {row['load']:<22} {row['messages_per_s']:>8} msg/s  "
        f"ack p99 {row['ack_p99_ms']:>8} ms  µs CPU a message: {cpu}{told}"
    )


def _late(late: dict[str, Any]) -> str:
    return (
        f"{LIVE} live dialogs: {late['entries']} events seen, "
        f"{late['lag_p50_ms']} / {late['lag_p99_ms']} / {late['lag_max_ms']} ms late "
        "(median, p99, most)"
    )


def _view(view: dict[str, Any]) -> str:
    return (
        f"{view['view']:<40} {view['median_ms']:>8} ms, {view['max_ms']} at most, "
        f"{view['cpu_ms']} ms CPU ({view['ended']} ended dialogs)"
    )


def table(result: dict[str, Any]) -> str:
    """The result as a table for people."""
    lines = [_line(row) for row in (*result["rows"], *result["people"])]
    lines.append(_late(result["people"][-1]["seen"]))
    lines += [_view(view) for view in result["views"]]
    for each in result["targets"]:
        met = "met" if each["met"] else "missed"
        lines.append(f"{each['reached']} {each['what']} ({each['wanted']}: {met})")
    if result["machine"]["load_average_before"] > 0.5:
        busy = result["machine"]["load_average_before"]
        lines.append(f"the machine was busy with other things before (load {busy}): figures suffer")
    lines += [f"FAILED: {problem}" for problem in result["problems"]]
    return "\n".join(lines)
