"""What happened in one dialog: its events, both people's logs and the run's own doings, by time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.chaos.evidence import Evidence, Line, Person, Row
from tests.chaos.violations import Violation

AROUND: Final = 14
"""Lines before and after the one that the violation is about."""

BEFORE_S: Final = 10.0
"""What was done to the processes this long before the first line may be the cause."""

_SHOWN: Final = {
    "connected": ("url",),
    "disconnected": (),
    "cut": (),
    "down": ("error",),
    "answered": ("name", "answer"),
    "sent": ("key", "attempt", "text"),
    "acked": ("key", "seq"),
    "refused": ("key", "code"),
    "unanswered": ("key", "name", "why"),
    "abused": ("what",),
    "stopped": ("code",),
    "vanished": (),
    "state": ("stage", "seq"),
    "frame": ("name", "seq", "via", "applied"),
    "released": ("release", "cents"),
    "violation": ("what",),
    "fault": ("what",),
}

Entry = tuple[float, str, bool]
"""Time, text, and whether it is what the violation is about."""


def history(evidence: Evidence, violation: Violation) -> list[str]:
    """The lines around what the violation is about; without such a place, the last ones."""
    entries = sorted(_entries(evidence, violation), key=lambda entry: entry[0])
    if not entries:
        return []
    marks = [n for n, entry in enumerate(entries) if entry[2]]
    first, last = (marks[0], marks[-1]) if marks else (len(entries) - AROUND, len(entries) - 1)
    low, high = max(first - AROUND, 0), min(last + AROUND, len(entries) - 1)
    start = entries[0][0]
    shown = [
        f"  {at - start:8.3f} {'>' if marked else ' '} {text}"
        for at, text, marked in entries[low : high + 1]
    ]
    if low:
        shown.insert(0, f"  … {low} lines before")
    if high < len(entries) - 1:
        shown.append(f"  … {len(entries) - 1 - high} lines after")
    return shown


def _entries(evidence: Evidence, violation: Violation) -> Iterator[Entry]:
    dialog = evidence.dialogs.get(violation.dialog_id or "")
    about: list[tuple[Person, str, str]] = []
    arrivals = [violation.arrival_id] if violation.arrival_id else []
    if dialog is not None:
        for event in dialog.events:
            marked = violation.seq == event["seq"] or _has_key(event, violation.key)
            yield event["at"], f"record      #{event['seq']} {_event(event)}", marked
        arrivals = [seat["arrival_id"] for seat in dialog.seats.values()]
    for arrival_id in arrivals:
        person = evidence.person_of.get(arrival_id)
        if person is not None:
            role = dialog.role_of(arrival_id) if dialog else None
            about.append((person, arrival_id, (role or "worker")[:10]))
    spans: list[float] = []
    for person, arrival_id, name in about:
        for line in person.lines:
            row = person.arrival_of(line)
            if row is None or row["id"] != arrival_id or line["event"] not in _SHOWN:
                continue
            if line["event"] == "frame" and _says_nothing_new(line, violation):
                continue
            spans.append(line["at"])
            marked = violation.key is not None and line.get("key") == violation.key
            yield line["at"], f"{name:<11} {_line(line)}", marked
    for happening in evidence.journal:
        if spans and min(spans) - BEFORE_S <= happening.at <= max(spans):
            yield happening.at, f"run         {happening.what}", False


def _says_nothing_new(frame: Line, violation: Violation) -> bool:
    return bool(frame["applied"] == "old" or frame["via"] == "state") and (
        violation.seq != frame["seq"]
    )


def _has_key(event: Row, key: str | None) -> bool:
    return key is not None and event["data"].get("key") == key


def _event(event: Row) -> str:
    data = event["data"]
    match event["kind"]:
        case "said":
            text = " ".join(part["text"] for part in data["parts"])
            return f"{data['role']} said {text!r} ({data['key']}, round {data['round']})"
        case "seat_lost":
            return f"{data['role']} lost the seat by {data['why']}; now {data['phase']}"
        case "ended":
            ends = ", ".join(f"{s['release']} {s['cents']}" for s in data["settlements"])
            return f"ended: {data['outcome']} ({ends})"
        case "told":
            return f"the team told {data['to'] or 'both'} {data['text']!r} ({data['key']})"
        case "extended":
            return f"the team gave {data['by_s']:g} s more ({data['key']})"
        case "opened":
            return "opened"
        case kind:
            return f"{data.get('role')} {kind}"


def _line(line: Line) -> str:
    shown = _SHOWN[line["event"]]
    fields = (f"{name}={str(line[name])[:60]!r}" for name in shown if name in line)
    return " ".join((line["event"], *fields))
