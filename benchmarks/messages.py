"""How many messages a second, each committed before it is acknowledged, and how soon?

Duologue on SQLite and on PostgreSQL beside two relays that store nothing, driven by the same
generator in the same run: as fast as each goes (every pair always has one message under way),
and at human pace. Each server, the database and the generator are processes of their own.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks.servers import ROOT, Server, start_duologue, start_relay
from dialogs.record.engine import durability, open_engine
from tests.services import PostgresServer, ValkeyServer

STRONG: Final = {"fsync": "on", "synchronous_commit": "on", "synchronous": "FULL"}
"""What the live databases must report; anything else fails the benchmark."""

FLASK: Final = "flask_relay"
PYTHON_SOCKETIO: Final = "python_socketio_relay"
POSTGRES: Final = "duologue, PostgreSQL"
SQLITE: Final = "duologue, SQLite"

OF_FLASK: Final = 1.5
OF_PYTHON_SOCKETIO: Final = 0.6
HUMAN_ACK_P99_MS: Final = 50.0
PEOPLE: Final = 300
HUMAN_GAP_S: Final = 8.0
LONGEST_S: Final = 900.0


@dataclass(frozen=True, slots=True)
class Load:
    """One run of the generator: `waves` of `pairs` whole dialogs, or people for `seconds`."""

    name: str
    pairs: int
    waves: int = 1
    seconds: float | None = None

    @property
    def people(self) -> bool:
        return self.seconds is not None

    def arguments(self) -> list[str]:
        given = ["--pairs", str(self.pairs), "--waves", str(self.waves)]
        if self.seconds is not None:
            given += ["--gap", str(HUMAN_GAP_S), "--seconds", str(self.seconds)]
        return given


def loads(quick: bool) -> tuple[Load, ...]:
    """What every server gets; the last one, people, is for Duologue only."""
    return (
        Load("50 pairs", 50, 2 if quick else 20),
        Load(f"{PEOPLE} pairs", PEOPLE, 1 if quick else 5),
        Load(f"{PEOPLE} pairs, human pace", PEOPLE, 1, 10.0 if quick else 60.0),
    )


def drive(server: Server, load: Load) -> dict[str, Any]:
    """Run the generator in a process of its own; returns its result."""
    watch = [f"--watch={name}={pid}" for name, pid in server.processes.items()]
    command = [sys.executable, "-m", "benchmarks.load", "--url", server.url]
    done = subprocess.run(
        [*command, *load.arguments(), *watch],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the generator failed: {done.stderr[-2000:]}")
    result: dict[str, Any] = orjson.loads(done.stdout.splitlines()[-1])
    return {"server": server.name, "load": load.name, **result}


def run(*, quick: bool, tell: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything. `tell` hears a line for each figure as it comes."""
    todo = loads(quick)
    places = 100 + sum(2 * load.pairs * load.waves for load in todo)
    rows: list[dict[str, Any]] = []
    settings: dict[str, dict[str, str]] = {}

    def measure(
        start: AbstractContextManager[Server], which: Sequence[Load], database_url: str = ""
    ) -> None:
        with start as server:
            # The first dialogs of a process are slower than all others.
            drive(server, Load("warm-up", 20, 1))
            for load in which:
                rows.append(drive(server, load))
                tell(line(rows[-1]))
            if database_url:
                settings[server.name] = live_settings(database_url)

    busy_before = os.getloadavg()[0]
    fast = [load for load in todo if not load.people]
    measure(start_relay(PYTHON_SOCKETIO), fast)
    measure(start_relay(FLASK), fast)
    with ValkeyServer() as valkey:
        with tempfile.TemporaryDirectory(prefix="duologue-benchmark-") as folder:
            url = f"sqlite:///{Path(folder) / 'record.sqlite'}"
            beside = {"redis": valkey.pid}
            start = start_duologue(SQLITE, url, valkey.url, places=places, beside=beside)
            measure(start, todo, url)
        valkey.flush()
        with PostgresServer() as postgres:
            url = postgres.create_database()
            beside = {"database": postgres.pid, "redis": valkey.pid}
            start = start_duologue(POSTGRES, url, valkey.url, places=places, beside=beside)
            measure(start, todo, url)
    return judge({"rows": rows, "durability": settings, "machine": machine(busy_before)})


def live_settings(database_url: str) -> dict[str, str]:
    """The durability of a database, read on a connection made as the server makes its own."""
    engine = open_engine(database_url)
    try:
        return durability(engine)
    finally:
        engine.dispose()


def judge(result: dict[str, Any]) -> dict[str, Any]:
    """Add `targets`, each with what was reached, and `problems`, which fail the benchmark."""
    rows = result["rows"]

    def rate(server: str) -> float:
        wanted = (server, f"{PEOPLE} pairs")
        return next(
            float(row["messages_per_s"]) for row in rows if (row["server"], row["load"]) == wanted
        )

    people = next(
        row for row in rows if row["server"] == POSTGRES and row["load"].endswith("human pace")
    )
    fast = rate(POSTGRES)
    targets = [
        target("times the Flask-SocketIO relay", fast / rate(FLASK), OF_FLASK),
        target("of the python-socketio relay", fast / rate(PYTHON_SOCKETIO), OF_PYTHON_SOCKETIO),
        target("ms p99 at human pace", float(people["ack_p99_ms"]), HUMAN_ACK_P99_MS, most=True),
    ]
    problems = [
        f"{server}: {name} is {value}, weaker than {STRONG[name]}"
        for server, found in result["durability"].items()
        for name, value in found.items()
        if value != STRONG[name]
    ]
    problems += [
        f"{row['server']}, {row['load']}: {number} times: {what}"
        for row in rows
        for what, number in row["errors"].items()
    ]
    return {"question": "messages a second", **result, "targets": targets, "problems": problems}


def target(what: str, reached: float, wanted: float, *, most: bool = False) -> dict[str, Any]:
    """One aim of Duologue on PostgreSQL, and whether it is met."""
    met = reached <= wanted if most else reached >= wanted
    sign = "≤" if most else "≥"
    return {"what": what, "reached": round(reached, 2), "wanted": f"{sign} {wanted}", "met": met}


def machine(busy_before: float) -> dict[str, Any]:
    """Where this was measured, and how busy it was with other things."""
    return {
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load_average_before": round(busy_before, 2),
    }


COLUMNS: Final = (
    ("messages_per_s", "msg/s"),
    ("ack_p50_ms", "ack p50"),
    ("ack_p99_ms", "ack p99"),
    ("delivery_p99_ms", "deliv p99"),
    ("generator_cores", "gen cores"),
)


def line(row: dict[str, Any]) -> str:
    """One figure as a line of the table; CPU in µs a message, each process apart."""
    cpu = ", ".join(f"{name} {value:.0f}" for name, value in row["cpu_us_per_message"].items())
    figures = " ".join(f"{row[key]!s:>10}" for key, _ in COLUMNS)
    return f"{row['server']:<22} {row['load']:<22} {figures}  {cpu}"


def table(result: dict[str, Any]) -> str:
    """The result as a table for people."""
    head = " ".join(f"{title:>10}" for _, title in COLUMNS)
    lines = [f"{'server':<22} {'load':<22} {head}  µs CPU a message"]
    lines += [line(row) for row in result["rows"]]
    for server, found in result["durability"].items():
        told = ", ".join(f"{name} = {value}" for name, value in found.items())
        lines.append(f"{server}: {told}")
    for each in result["targets"]:
        met = "met" if each["met"] else "missed"
        lines.append(f"{POSTGRES}: {each['reached']} {each['what']} ({each['wanted']}: {met})")
    if result["machine"]["load_average_before"] > 0.5:
        busy = result["machine"]["load_average_before"]
        lines.append(f"the machine was busy with other things before (load {busy}): figures suffer")
    lines += [f"FAILED: {problem}" for problem in result["problems"]]
    return "\n".join(lines)
