"""What the workers saw and were told, against the record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

from dialogs.limits import BadText, clean_text
from tests.chaos.evidence import Dialog, Evidence, Line, Person, Row
from tests.chaos.violations import Rule, Violation

DELIVERED_WITHIN_S: Final = 5.0
PASSING: Final = frozenset({"try_again", "too_fast", "not_now"})
"""Refusals that say nothing about the message: it may be sent again, and may be stored."""

AT_THE_END: Final = frozenset({"answered", "state", "frame", "released", "stopped", "fault"})
"""What the log of somebody who was released can end with."""

GOES: Final = frozenset({"silent"})
"""Kinds of worker who earn the loss of their seat without leaving."""


def check_clients(evidence: Evidence) -> Iterator[Violation]:
    """Every rule that needs the workers' own logs."""
    stored = _stored(evidence)
    for person in evidence.people:
        view = _View(evidence, person, stored)
        yield from view.messages()
        yield from view.order()
        yield from view.frames()
        yield from view.deliveries()
        yield from view.end()
    yield from _phantoms(evidence)
    yield from _unfair(evidence)


Stored = Mapping[str, tuple[Dialog, Row]]


def _stored(evidence: Evidence) -> Stored:
    """The event of each message key."""
    return {
        event["data"]["key"]: (dialog, event)
        for dialog in evidence.dialogs.values()
        for event in dialog.said
    }


def _text(event: Row) -> str:
    return " ".join(part["text"] for part in event["data"]["parts"])


def _cleaned(text: str) -> str:
    try:
        return clean_text(text)
    except BadText:
        return text


class _View:
    """One worker's log beside the record."""

    def __init__(self, evidence: Evidence, person: Person, stored: Stored) -> None:
        self._evidence = evidence
        self._person = person
        self._stored = stored

    def _wrong(self, rule: Rule, what: str, line: Line, dialog: Dialog | None = None) -> Violation:
        arrival = self._person.arrival_of(line)
        return Violation(
            rule,
            f"worker {self._person.number} ({self._person.kind}): {what}",
            dialog.id if dialog else None,
            arrival["id"] if arrival else None,
            line.get("seq"),
            line.get("key"),
        )

    # --- Messages --------------------------------------------------------------------------

    def messages(self) -> Iterator[Violation]:
        """Every acknowledged message is stored as acknowledged, every refused one is not."""
        sent = {line["key"]: line for line in self._person.of("sent")}
        for line in self._person.of("acked"):
            found = self._stored.get(line["key"])
            if found is None:
                what = f"{line['key']} acknowledged as #{line['seq']}"
                yield self._wrong(Rule.LOST, what, line, self._dialog_of(line))
                continue
            dialog, event = found
            yield from self._acknowledged(line, sent.get(line["key"]), dialog, event)
        for line in self._person.of("refused"):
            found = self._stored.get(line["key"])
            if found is not None and line["code"] not in PASSING:
                what = f"{line['key']} was refused ({line['code']})"
                yield self._wrong(Rule.PHANTOM, what, line, found[0])
        for line in self._person.of("abused"):
            found = self._stored.get(line["key"])
            if found is not None:
                yield self._wrong(Rule.PHANTOM, f"stored: {line['what']}", line, found[0])

    def _acknowledged(
        self, line: Line, sent: Line | None, dialog: Dialog, event: Row
    ) -> Iterator[Violation]:
        def misplaced(what: str) -> Violation:
            return self._wrong(Rule.MISPLACED, f"{line['key']}: {what}", line, dialog)

        if event["seq"] != line["seq"]:
            yield misplaced(f"acknowledged as #{line['seq']}, stored as #{event['seq']}")
        arrival = self._person.arrival_of(line)
        role = dialog.role_of(arrival["id"]) if arrival else None
        if role is None or role != event["data"]["role"]:
            yield misplaced(f"stored for the {event['data']['role']}; the sender is {role}")
        if sent is not None and _text(event) != _cleaned(sent["text"]):
            yield misplaced(f"stored as {_text(event)!r}, sent as {sent['text']!r}")

    def order(self) -> Iterator[Violation]:
        """Messages of one page that are stored are stored in the order of their first sending."""
        last: dict[str, tuple[int, str]] = {}
        for line in self._person.of("sent"):
            found = self._stored.get(line["key"])
            if line["attempt"] > 1 or found is None:
                continue
            dialog, event = found
            before = last.get(dialog.id, (0, ""))
            if event["seq"] < before[0]:
                what = f"{line['key']} is stored before {before[1]}, and was sent after it"
                yield self._wrong(Rule.REORDERED, what, line, dialog)
            last[dialog.id] = (event["seq"], line["key"])

    # --- What the page was shown -----------------------------------------------------------

    @cached_property
    def _dialogs(self) -> Mapping[tuple[int, int], Dialog]:
        """The record's dialog for each (arrival, dialog) number in the log.

        The page counts the dialogs that it saw; where it may have missed one, the first that
        agrees with what it saw is meant.
        """
        found: dict[tuple[int, int], Dialog] = {}
        numbers = sorted({(n["arrival"], n["dialog"]) for n in self._person.lines if n["dialog"]})
        for arrival_number, number in numbers:
            line = {"arrival": arrival_number}
            arrival = self._person.arrival_of(line)
            mine = self._evidence.dialogs_of.get(arrival["id"], []) if arrival else []
            used = {d.id for (a, _), d in found.items() if a == arrival_number}
            left = [dialog for dialog in mine if dialog.id not in used]
            shown = self._shown_in(arrival_number, number)
            agreeing = (d for d in left if not any(_differs(d, m, None) for m in shown))
            if (dialog := next(agreeing, left[0] if left else None)) is not None:
                found[arrival_number, number] = dialog
        return found

    def _shown_in(self, arrival: int, dialog: int) -> list[Line]:
        # The page passes over old frames: they may even be of the dialog before this one.
        frames = (f for f in self._person.of("frame") if f["applied"] != "old")
        return [f for f in frames if (f["arrival"], f["dialog"]) == (arrival, dialog)]

    def _dialog_of(self, line: Line) -> Dialog | None:
        return self._dialogs.get((line["arrival"], line["dialog"]))

    def frames(self) -> Iterator[Violation]:
        """Whatever a page was shown is what the record holds under that number."""
        for line in self._person.of("frame"):
            dialog = self._dialog_of(line)
            arrival = self._person.arrival_of(line)
            if line["dialog"] == 0:
                # The dialog has begun, and its state has not come yet: the page ignores these.
                continue
            if dialog is None or arrival is None:
                yield self._wrong(Rule.DISAGREES, "a frame of no dialog in the record", line)
            elif line["applied"] != "old" and (
                why := _differs(dialog, line, dialog.role_of(arrival["id"]))
            ):
                what = f"shown #{line['seq']} by {line['via']}: {why}"
                yield self._wrong(Rule.DISAGREES, what, line, dialog)

    @cached_property
    def _connected(self) -> list[tuple[int, float, float]]:
        """(arrival, since, until) for each connection."""
        spans: list[tuple[int, float, float]] = []
        since: Line | None = None
        for line in self._person.lines:
            if line["event"] not in ("connected", "disconnected", "cut", "vanished", "stopped"):
                continue
            if since is not None:
                spans.append((since["arrival"], since["at"], line["at"]))
            since = line if line["event"] == "connected" else None
        if since is not None:
            spans.append((since["arrival"], since["at"], self._person.lines[-1]["at"]))
        return spans

    def deliveries(self) -> Iterator[Violation]:
        """A page that stays connected is shown every message of its dialog, and what the team
        wrote to it, within 5 s.

        Outages of the database do not count, nor does a machine that stood still.
        """
        for (arrival_number, number), dialog in self._dialogs.items():
            arrival = self._person.arrival_of({"arrival": arrival_number})
            assert arrival is not None, "only an arrival of the record has dialogs"
            role = dialog.role_of(arrival["id"]) or ""
            lost = dialog.lost_at(role)
            shown: dict[int, float] = {}
            for line in self._shown_in(arrival_number, number):
                shown.setdefault(line["seq"], line["at"])
            for event in dialog.events:
                if lost is not None and lost["seq"] < event["seq"]:
                    break
                if not _is_read(event, role):
                    continue
                late = self._late(arrival_number, event["at"], shown.get(event["seq"]))
                if late is not None:
                    line = {"arrival": arrival_number, "seq": event["seq"]}
                    what = f"#{event['seq']} not within {late:.1f} s of being connected"
                    yield self._wrong(Rule.UNDELIVERED, what, line, dialog)

    def _late(self, arrival: int, said_at: float, shown_at: float | None) -> float | None:
        """For how long the page was connected, and not shown what was said at `said_at`."""
        for number, since, until in self._connected:
            if number != arrival or since > said_at or until < said_at:
                continue
            end = until if shown_at is None else min(until, shown_at)
            waited = self._evidence.in_service(said_at, end)
            if waited > DELIVERED_WITHIN_S:
                return waited
        return None

    # --- The end ---------------------------------------------------------------------------

    def end(self) -> Iterator[Violation]:
        releases = {row["arrival_id"]: row for row in self._evidence.tables["releases"]}
        owed: dict[str, int] = {}
        for row in self._evidence.tables["ledger"]:
            owed[row["arrival_id"]] = owed.get(row["arrival_id"], 0) + row["cents"]
        for line in self._person.of("released"):
            arrival = self._person.arrival_of(line)
            row = releases.get(arrival["id"], {}) if arrival else {}
            told = (line["release"], line["code"], line["cents"])
            kept = row and (row["release"], row["code"], owed.get(row["arrival_id"], 0))
            if told != kept:
                yield self._wrong(Rule.MISINFORMED, f"told {told}, the record has {kept}", line)
        for line in self._person.of("violation"):
            yield self._wrong(Rule.PAGE, line["what"], line, self._dialog_of(line))
        last = self._person.lines[-1]
        gone = self._person.of("vanished", "turned_away")
        if not gone and not (self._person.of("released") and last["event"] in AT_THE_END):
            yield self._wrong(Rule.UNFINISHED, f"its log ends with {last['event']}", last)


def _is_read(event: Row, role: str) -> bool:
    """Whether an event is something written that this role is to see."""
    told = event["kind"] == "told" and event["data"]["to"] in (None, role)
    return told or event["kind"] == "said"


def _differs(dialog: Dialog, line: Line, reader: str | None) -> str | None:
    """In what a frame differs from the event of its number; `reader` is the page's role."""
    seq = line["seq"]
    event = dialog.events[seq - 1] if 0 < seq <= len(dialog.events) else None
    if event is None or event["seq"] != seq:
        return "there is no such event"
    data = event["data"]
    if "parts" in line:
        if event["kind"] != "said":
            return f"a message; the record has {event['kind']}"
        shown = (line["role"], line["round"], [part["text"] for part in line["parts"]])
        kept = (data["role"], data["round"], [part["text"] for part in data["parts"]])
        if shown != kept:
            return f"{shown}; the record has {kept}"
        key = data["key"] if data["role"] == reader else None
        if reader is not None and line["key"] != key:
            return f"key {line['key']}; the record has {data['key']}"
        return None
    if "text" in line:
        if event["kind"] != "told" or line["text"] != data["text"]:
            return f"the team's {line['text']!r}; the record has {event['kind']} {data}"
        if reader is not None and not _is_read(event, reader):
            return "what the team wrote to the other"
        return None
    if "turn_ends_at" in line:
        return None if event["kind"] == "extended" else f"more time; the record has {event['kind']}"
    if event["kind"] == "said":
        return "no message; the record has one"
    if event["kind"] == "extended" or (reader is not None and _is_read(event, reader)):
        return f"nothing; the record has {event['kind']}"
    if "present" in line:
        kept_kind = "returned" if line["present"] else "away"
        if event["kind"] != kept_kind or data["role"] == reader:
            return f"the partner is {kept_kind}; the record has {event['kind']}"
    elif "phase" in line and line["phase"] != dialog.phases[seq]:
        return f"phase {line['phase']}; the record has {dialog.phases[seq]}"
    return None


def _phantoms(evidence: Evidence) -> Iterator[Violation]:
    """Every stored message was sent, by the person in whose name it stands."""
    sent = {line["key"]: (p, line) for p in evidence.people for line in p.of("sent")}
    for dialog in evidence.dialogs.values():
        for event in dialog.said:
            key, role = event["data"]["key"], event["data"]["role"]
            person, line = sent.get(key, (None, None))
            seat = dialog.seats.get(role)
            author = evidence.person_of.get(seat["arrival_id"]) if seat else None
            if person is None or line is None or person is not author:
                what = f"{key} of the {role} was sent by {person.number if person else 'nobody'}"
            elif _text(event) != _cleaned(line["text"]):
                what = f"{key} was sent as {line['text']!r}"
            else:
                continue
            yield Violation(Rule.PHANTOM, what, dialog.id, seq=event["seq"], key=key)


def _unfair(evidence: Evidence) -> Iterator[Violation]:
    """No outage of ours costs anybody a seat."""
    for dialog in evidence.dialogs.values():
        for event in dialog.events:
            data = event["data"]
            if event["kind"] != "seat_lost" or data["why"] == "leave":
                continue
            seat = dialog.seats[data["role"]]
            person = evidence.person_of.get(seat["arrival_id"])
            if person is None or person.kind in GOES:
                continue
            gone = [line for line in person.of("vanished") if line["at"] <= event["at"]]
            if not gone:
                what = f"worker {person.number} ({person.kind}) lost it by {data['why']}"
                yield Violation(Rule.UNFAIR, what, dialog.id, seat["arrival_id"], seq=event["seq"])
