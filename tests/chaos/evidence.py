"""What a run left behind: the record's rows, every worker's own log, what was done to it when.

Nothing here is read with the product's own queries or folded with its own rules.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

Row = dict[str, Any]
Line = dict[str, Any]

TABLES: Final = (
    *("items", "workers", "arrivals", "dialogs", "seats"),
    *("events", "releases", "ledger", "relaunches"),
)


@dataclass(frozen=True, slots=True)
class Happening:
    """A line of the run's own journal; `at` in seconds since 1970."""

    at: float
    what: str


@dataclass(frozen=True)
class Dialog:
    """One dialog of the record. `events` are in order of `seq`, their `data` parsed."""

    row: Row
    seats: Mapping[str, Row]
    events: Sequence[Row]

    @property
    def id(self) -> str:
        return str(self.row["id"])

    @cached_property
    def rules(self) -> Mapping[str, Any]:
        """The study's rules as the dialog's first event keeps them."""
        first = self.events[0]["data"] if self.events else {}
        rules: Mapping[str, Any] = first.get("rules", {})
        return rules

    @cached_property
    def said(self) -> list[Row]:
        return [event for event in self.events if event["kind"] == "said"]

    @cached_property
    def of_team(self) -> list[Row]:
        """What the team did; each event has the key of its command."""
        kinds = ("told", "extended")
        ended = [e for e in self.events if e["kind"] == "ended" and e["data"].get("key")]
        return [event for event in self.events if event["kind"] in kinds] + ended

    @cached_property
    def phases(self) -> Mapping[int, str]:
        """The phase after each event, by its number."""
        phase, after = "paired", {}
        for event in self.events:
            if event["kind"] == "seat_lost":
                phase = event["data"]["phase"]
            elif event["kind"] == "ended":
                phase = "ended"
            after[event["seq"]] = phase
        return after

    def phase_before(self, seq: int) -> str:
        return self.phases.get(seq - 1, "paired")

    @cached_property
    def left_paired(self) -> Row | None:
        """The event by which it was no longer `paired`."""
        return next((e for e in self.events if self.phases[e["seq"]] != "paired"), None)

    def role_of(self, arrival_id: str) -> str | None:
        return next((r for r, s in self.seats.items() if s["arrival_id"] == arrival_id), None)

    def lost_at(self, role: str) -> Row | None:
        """The event by which `role` lost its seat."""
        lost = (e for e in self.events if e["kind"] == "seat_lost" and e["data"]["role"] == role)
        return next(lost, None)


@dataclass(frozen=True)
class Person:
    """A simulated worker: its log, and its arrivals in the record from the first."""

    number: int
    kind: str
    lines: Sequence[Line]
    arrivals: Sequence[Row]

    def of(self, *events: str) -> list[Line]:
        return [line for line in self.lines if line["event"] in events]

    def arrival_of(self, line: Line) -> Row | None:
        """The record's arrival that a line of the log is about."""
        number = line["arrival"]
        return self.arrivals[number - 1] if 0 < number <= len(self.arrivals) else None


@dataclass(frozen=True)
class Evidence:
    """`outages` are spans (seconds since 1970) that do not overlap, in which the database could not
    answer or the machine was too busy to run a process."""

    tables: Mapping[str, Sequence[Row]]
    logs: Sequence[Sequence[Line]]
    journal: Sequence[Happening] = ()
    outages: Sequence[tuple[float, float]] = field(default=())

    @cached_property
    def dialogs(self) -> Mapping[str, Dialog]:
        events: dict[str, list[Row]] = defaultdict(list)
        seats: dict[str, dict[str, Row]] = defaultdict(dict)
        for event in self.tables["events"]:
            data = event["data"]
            parsed = json.loads(data) if isinstance(data, str) else data
            events[event["dialog_id"]].append({**event, "data": parsed})
        for seat in self.tables["seats"]:
            seats[seat["dialog_id"]][seat["role"]] = seat
        return {
            row["id"]: Dialog(
                row, seats[row["id"]], sorted(events[row["id"]], key=lambda e: e["seq"])
            )
            for row in self.tables["dialogs"]
        }

    @cached_property
    def arrivals(self) -> Mapping[str, Row]:
        return {row["id"]: row for row in self.tables["arrivals"]}

    @cached_property
    def dialogs_of(self) -> Mapping[str, Sequence[Dialog]]:
        """The dialogs of each arrival, in the order of their opening."""
        found: dict[str, list[Dialog]] = defaultdict(list)
        for dialog in sorted(self.dialogs.values(), key=lambda d: float(d.row["opened_at"])):
            for seat in dialog.seats.values():
                found[seat["arrival_id"]].append(dialog)
        return found

    @cached_property
    def people(self) -> Sequence[Person]:
        arrivals = defaultdict(list)
        for row in sorted(self.tables["arrivals"], key=lambda r: float(r["created_at"])):
            arrivals[row["worker_id"]].append(row)
        workers = {row["external_id"]: row["id"] for row in self.tables["workers"]}
        people = []
        for lines in self.logs:
            first = lines[0]
            worker = workers.get(f"key:{first['worker_key']}")
            mine = arrivals[worker] if worker else []
            people.append(Person(first["number"], first["kind"], lines, mine))
        return people

    @cached_property
    def person_of(self) -> Mapping[str, Person]:
        """The simulated worker behind each arrival."""
        return {row["id"]: person for person in self.people for row in person.arrivals}

    def in_service(self, start: float, end: float) -> float:
        """How many seconds of a span people could be served in."""
        lost = sum(max(0.0, min(end, b) - max(start, a)) for a, b in self.outages)
        return max(0.0, end - start - lost)


def read_tables(database_url: str) -> dict[str, list[Row]]:
    """All rows of the record."""
    with psycopg.connect(database_url, row_factory=dict_row) as connection:
        return {
            name: connection.execute(
                sql.SQL("SELECT * FROM {}").format(sql.Identifier(name))
            ).fetchall()
            for name in TABLES
        }


def read_logs(folders: Iterable[Path]) -> list[list[Line]]:
    """The log of every simulated worker in these folders."""
    logs = []
    for folder in folders:
        for file in sorted(folder.glob("worker-*.jsonl")):
            # What follows the last line break was being written when the process ended.
            lines = [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]]
            if lines:
                logs.append(lines)
    return logs
