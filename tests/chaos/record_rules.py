"""What the record must be by itself, whatever happened to the processes that wrote it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from tests.chaos.evidence import Dialog, Evidence, Row
from tests.chaos.violations import Rule, Violation

TURNS: Final = ("questioner", "answerer")
DECIDED_BEFORE_S: Final = 3.0
"""An event may have been decided this long before its commit: times overlap by that much."""

IN_FULL: Final = frozenset({"completed", "finished_alone", "ended_by_team"})
"""Paid in full, unless the team has ended the dialog and decided otherwise."""

FOR_WAITING: Final = frozenset({"never_paired", "study_full"})


def check_record(evidence: Evidence) -> Iterator[Violation]:
    """Every rule that needs the record alone."""
    for dialog in evidence.dialogs.values():
        yield from _numbering(dialog)
        yield from _turns(dialog)
        yield from _ending(dialog)
    yield from _keys(evidence)
    yield from _releases(evidence)
    yield from _codes(evidence)
    yield from _ledger(evidence)
    yield from _relaunches(evidence)
    yield from _places(evidence)
    yield from _seats(evidence)
    yield from _turned_out(evidence)


# --- Dialogs -------------------------------------------------------------------------------


def _numbering(dialog: Dialog) -> Iterator[Violation]:
    seqs = [event["seq"] for event in dialog.events]
    if seqs != list(range(1, len(seqs) + 1)) or not seqs:
        yield Violation(Rule.NUMBERING, f"the events are numbered {seqs}", dialog.id)
    kinds = [event["kind"] for event in dialog.events]
    if kinds[:1] != ["opened"] or kinds.count("opened") != 1:
        yield Violation(Rule.NUMBERING, f"the events begin with {kinds[:2]}", dialog.id)
    if "ended" in kinds[:-1]:
        after = kinds.index("ended") + 2
        yield Violation(Rule.ENDING, "it goes on after its end", dialog.id, seq=after)


def _turns(dialog: Dialog) -> Iterator[Violation]:
    rounds = dialog.rules.get("rounds", 10)
    paired, sent, gone = 0, Counter[str](), set[str]()
    for event in dialog.events:
        seq, data = event["seq"], event["data"]
        if event["kind"] == "seat_lost":
            gone.add(data["role"])
        if event["kind"] != "said":
            continue
        role, phase = data["role"], dialog.phase_before(seq)
        sent[role] += 1
        if phase == "paired":
            due = TURNS[paired % len(TURNS)]
            number = paired // len(TURNS) + 1
            paired += 1
            if role != due or data["round"] != number:
                what = f"the {role} speaks in round {data['round']}, due: {due}, {number}"
                yield Violation(Rule.TURNS, what, dialog.id, seq=seq)
        if role in gone:
            yield Violation(Rule.TURNS, f"the {role} speaks without a seat", dialog.id, seq=seq)
        if sent[role] > rounds:
            yield Violation(Rule.TURNS, f"message {sent[role]} of the {role}", dialog.id, seq=seq)
    if paired > 2 * rounds:
        yield Violation(Rule.TURNS, f"{paired} messages while paired", dialog.id)


def _ending(dialog: Dialog) -> Iterator[Violation]:
    def wrong(what: str) -> Violation:
        return Violation(Rule.ENDING, what, dialog.id)

    last = dialog.events[-1] if dialog.events else None
    if last is None or last["kind"] != "ended":
        yield wrong(f"it has not ended; its row says {dialog.row['phase']}")
        return
    outcome = last["data"]["outcome"]
    if (dialog.row["phase"], dialog.row["outcome"]) != ("ended", outcome):
        yield wrong(f"its row says {dialog.row['phase']}, {dialog.row['outcome']}, not {outcome}")
    rounds = dialog.rules.get("rounds", 10)
    sent = Counter(event["data"]["role"] for event in dialog.said)
    all_paired = all(dialog.phase_before(e["seq"]) == "paired" for e in dialog.said)
    whole = all_paired and len(dialog.said) == 2 * rounds
    if whole != (outcome == "complete"):
        yield wrong(f"outcome {outcome} after {len(dialog.said)} messages")
    alone = [r for r in TURNS if dialog.lost_at(r) is None]
    if outcome == "solo" and (len(alone) != 1 or sent[alone[0]] != rounds):
        yield wrong(f"outcome solo, and {sent} messages")


def _keys(evidence: Evidence) -> Iterator[Violation]:
    seen: dict[str, str] = {}
    for dialog in evidence.dialogs.values():
        for event in dialog.said:
            key = event["data"]["key"]
            where = f"{dialog.id} #{event['seq']}"
            if key in seen:
                what = f"key {key} is also in {seen[key]}"
                yield Violation(Rule.DOUBLED, what, dialog.id, seq=event["seq"], key=key)
            seen[key] = where
        keys = Counter(event["data"]["key"] for event in dialog.of_team)
        for key in (key for key, times in keys.items() if times > 1):
            yield Violation(Rule.DOUBLED, f"the team's {key} is done twice", dialog.id, key=key)


# --- Arrivals ------------------------------------------------------------------------------


def _by_arrival(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["arrival_id"]].append(row)
    return found


def _settlements(evidence: Evidence) -> dict[str, list[tuple[Dialog, Row]]]:
    """What the events say about each arrival's end."""
    found: dict[str, list[tuple[Dialog, Row]]] = defaultdict(list)
    for dialog in evidence.dialogs.values():
        for event in dialog.events:
            data = event["data"]
            said = [data["settlement"]] if event["kind"] == "seat_lost" else []
            said += data["settlements"] if event["kind"] == "ended" else []
            for settlement in said:
                found[settlement["arrival_id"]].append((dialog, settlement))
    return found


def _releases(evidence: Evidence) -> Iterator[Violation]:
    releases = _by_arrival(evidence.tables["releases"])
    settled = _settlements(evidence)
    for arrival_id, arrival in evidence.arrivals.items():
        rows, said = releases.pop(arrival_id, []), settled.get(arrival_id, [])
        dialog_id = said[0][0].id if said else None

        def wrong(what: str, dialog: str | None = dialog_id, of: str = arrival_id) -> Violation:
            return Violation(Rule.RELEASE, what, dialog, of)

        if len(rows) != 1 or arrival["status"] != "released":
            yield wrong(f"{len(rows)} releases, and the arrival is {arrival['status']}")
            continue
        if len(said) > 1:
            yield wrong(f"{len(said)} settlements in events")
        if said and said[0][1]["release"] != rows[0]["release"]:
            yield wrong(f"its event says {said[0][1]['release']}, its row {rows[0]['release']}")
        if not said and rows[0]["release"] in IN_FULL:
            yield wrong(f"{rows[0]['release']} without an event that says so")
    for arrival_id in releases:
        yield Violation(Rule.RELEASE, "released, and never arrived", arrival_id=arrival_id)


def _codes(evidence: Evidence) -> Iterator[Violation]:
    codes = Counter(row["code"] for row in evidence.tables["releases"])
    for row in evidence.tables["releases"]:
        if not row["code"] or codes[row["code"]] > 1:
            yield Violation(Rule.CODE, f"code {row['code']!r}", row["dialog_id"], row["arrival_id"])


def _ledger(evidence: Evidence) -> Iterator[Violation]:
    owed = _by_arrival(evidence.tables["ledger"])
    pay = next((d.rules["pay"] for d in evidence.dialogs.values() if d.rules), None)
    for release in evidence.tables["releases"]:
        arrival_id = release["arrival_id"]
        arrival = evidence.arrivals.get(arrival_id)
        if pay is None or arrival is None:
            continue
        rows = {(row["reason"], row["cents"]) for row in owed.pop(arrival_id, [])}
        right: list[set[tuple[str, int]]]
        if (decided := _decided_by_team(evidence, release)) is not None:
            right = [{("dialog", decided)}]
        elif release["release"] in IN_FULL:
            right = [{("dialog", pay["complete"])}]
        elif release["release"] == "left" and release["dialog_id"] is not None:
            right = [{("dialog", pay["left"])}]
        elif release["release"] in FOR_WAITING:
            right = [{("waiting", cents)} for cents in _for_waiting(pay, arrival, release)]
        else:
            right = [set()]
        nothing_of_zero = [{row for row in rows_ if row[1] > 0} for rows_ in right]
        if rows not in nothing_of_zero:
            what = f"{release['release']} is owed {sorted(rows)}, not {nothing_of_zero}"
            yield Violation(Rule.LEDGER, what, release["dialog_id"], arrival_id)
    for arrival_id in owed:
        yield Violation(Rule.LEDGER, "owed without a release", arrival_id=arrival_id)


def _decided_by_team(evidence: Evidence, release: Row) -> int | None:
    """What the team decided that somebody gets, within what it may decide; None if it did not."""
    dialog = evidence.dialogs.get(release["dialog_id"] or "")
    if dialog is None or not (dialog.of_team and dialog.events[-1]["kind"] == "ended"):
        return None
    last = dialog.events[-1]["data"]
    found = [s for s in last["settlements"] if s["arrival_id"] == release["arrival_id"]]
    if not last.get("key") or not found:
        return None
    full = int(dialog.rules["pay"]["complete"])
    role = dialog.role_of(release["arrival_id"])
    sent = sum(event["data"]["role"] == role for event in dialog.said)
    least = full if sent >= dialog.rules.get("rounds", 10) else 0
    return min(max(int(found[0]["cents"]), least), full)


def _for_waiting(pay: Row, arrival: Row, release: Row) -> list[int]:
    """By the begun minute. The wait is read a moment before the release is decided."""
    waited = arrival["waited_s"]
    if arrival["ready_at"] is not None:
        waited += max(release["at"] - arrival["ready_at"], 0.0)
    spans = (max(waited - 1.0, 0.0), waited)
    return [int(-(-span // 60)) * int(pay["waiting_per_minute"]) for span in spans]


# --- Across dialogs ------------------------------------------------------------------------


def _relaunches(evidence: Evidence) -> Iterator[Violation]:
    rows = Counter(row["dialog_id"] for row in evidence.tables["relaunches"])
    for dialog in evidence.dialogs.values():
        left = dialog.left_paired
        complete = dialog.row["outcome"] == "complete"
        wanted = int(left is not None and not complete)
        if rows[dialog.id] != wanted:
            what = f"{rows[dialog.id]} relaunches; outcome {dialog.row['outcome']}"
            yield Violation(Rule.RELAUNCH, what, dialog.id)
    for dialog_id in rows.keys() - evidence.dialogs.keys():
        yield Violation(Rule.RELAUNCH, "a relaunch of no dialog", dialog_id)


def _places(evidence: Evidence) -> Iterator[Violation]:
    held: dict[tuple[str, int], list[tuple[float, float, Dialog]]] = defaultdict(list)
    for dialog in evidence.dialogs.values():
        left = dialog.left_paired
        free_again = left is not None and dialog.row["outcome"] != "complete"
        until = left["at"] if left is not None and free_again else float("inf")
        place = (dialog.row["item_id"], dialog.row["place"])
        held[place].append((dialog.row["opened_at"], until, dialog))
    wanted = {row["id"]: row["wanted"] for row in evidence.tables["items"]}
    for (item, number), spans in held.items():
        spans.sort(key=lambda span: span[:2])
        for (_, until, first), (since, _, second) in pairwise(spans):
            if since + DECIDED_BEFORE_S < until:
                what = f"place {number} of {item} was held by {first.id}"
                yield Violation(Rule.PLACE, what, second.id)
        if number > wanted.get(item, 0):
            yield Violation(Rule.PLACE, f"{item} has no place {number}", spans[0][2].id)


def _seats(evidence: Evidence) -> Iterator[Violation]:
    talks: dict[str, list[tuple[float, float, Dialog]]] = defaultdict(list)
    seen: dict[tuple[str, str], str] = {}
    for dialog in evidence.dialogs.values():
        seats = list(dialog.seats.values())
        if sorted(dialog.seats) != sorted(TURNS) or len({s["worker_id"] for s in seats}) != 2:
            yield Violation(Rule.SEAT, "it has not two people", dialog.id)
        for seat in seats:
            end = dialog.lost_at(seat["role"]) or (dialog.events or [{"at": 0.0}])[-1]
            talks[seat["worker_id"]].append((dialog.row["opened_at"], end["at"], dialog))
            pair = (seat["worker_id"], dialog.row["item_id"])
            if seen.setdefault(pair, dialog.id) != dialog.id:
                what = f"worker {pair[0]} had seen {pair[1]} in {seen[pair]}"
                yield Violation(Rule.SEAT, what, dialog.id)
            if seat["status"] == "live" and dialog.row["phase"] == "ended":
                yield Violation(Rule.SEAT, f"the {seat['role']}'s seat is live", dialog.id)
    for spans in talks.values():
        spans.sort(key=lambda span: span[:2])
        for (_, until, first), (since, _, second) in pairwise(spans):
            if since + DECIDED_BEFORE_S < until:
                yield Violation(Rule.SEAT, f"a person was in {first.id} too", second.id)


def _turned_out(evidence: Evidence) -> Iterator[Violation]:
    """Who is told that nothing is left has seen every item that had a free place then."""
    for release in evidence.tables["releases"]:
        if release["release"] != "study_full":
            continue
        arrival = evidence.arrivals[release["arrival_id"]]
        at = release["at"]
        taken = Counter[str]()
        seen = set()
        for dialog in evidence.dialogs.values():
            left = dialog.left_paired
            complete = dialog.row["outcome"] == "complete"
            opened = dialog.row["opened_at"]
            if opened <= at + DECIDED_BEFORE_S and (
                complete or left is None or left["at"] >= at - DECIDED_BEFORE_S
            ):
                taken[dialog.row["item_id"]] += 1
            if any(s["worker_id"] == arrival["worker_id"] for s in dialog.seats.values()):
                seen.add(dialog.row["item_id"])
        for item in evidence.tables["items"]:
            if item["id"] not in seen and taken[item["id"]] < item["wanted"]:
                what = f"item {item['id']} had a free place"
                yield Violation(Rule.TURNED_OUT, what, arrival_id=release["arrival_id"])
                break
