"""What came of a simulation, as its workers saw it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from duologue.simulate.log import Entry, Line, WorkerLog
from duologue.words import count


@dataclass(frozen=True, slots=True)
class Spread:
    """Median, 90th percentile and greatest of some seconds; all 0 when there are none."""

    median: float = 0.0
    p90: float = 0.0
    max: float = 0.0

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        if not values:
            return cls()
        ordered = sorted(values)
        picks = (ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.9, 1.0))
        return cls(*(round(value, 3) for value in picks))


@dataclass(frozen=True, slots=True)
class Summary:
    """`dialogs` counts by outcome what workers were told at their release; of an abandoned
    dialog nobody may be left to be told. `messages` are those whose acknowledgement came.
    `violations` is what the server must never do, `faults` what it seldom has a reason to do.
    `unfinished` are the workers that were given up at the time limit.
    """

    workers: int
    arrivals: int
    unfinished: int
    vanished: int
    dialogs: dict[str, int]
    messages: int
    refused: int
    unanswered: int
    resent: int
    reconnects: int
    waits_s: Spread
    durations_s: Spread
    releases: dict[str, int]
    cents: int
    turned_away: dict[str, int]
    faults: dict[str, int]
    violations: list[str]
    seconds: float
    logs: tuple[WorkerLog, ...] = field(default=(), repr=False)

    @property
    def complete(self) -> int:
        return self.dialogs.get("complete", 0)

    def to_json(self) -> dict[str, Any]:
        """Everything but the logs."""
        values = {name: getattr(self, name) for name in Summary.__dataclass_fields__}
        del values["logs"]
        return {key: asdict(v) if isinstance(v, Spread) else v for key, v in values.items()}

    def lines(self) -> list[str]:
        """The summary for a person."""
        dialogs = ", ".join(f"{n} {name}" for name, n in self.dialogs.items()) or "none"
        releases = ", ".join(f"{n} {name}" for name, n in self.releases.items()) or "none"
        lines = [
            f"workers     {self.workers} in {count(self.arrivals, 'arrival')}, "
            f"{self.vanished} vanished",
            f"dialogs     {dialogs}",
            f"messages    {self.messages} acknowledged, {self.refused} refused, "
            f"{self.resent} sent again",
            f"waiting     {_seconds(self.waits_s)}",
            f"duration    {_seconds(self.durations_s)}",
            f"releases    {releases}",
            f"reconnects  {self.reconnects}",
            f"time        {self.seconds:.1f} s",
        ]
        for title, what in (("turned away", self.turned_away), ("faults", self.faults)):
            if what:
                shown = ", ".join(f"{n} {name}" for name, n in what.items())
                lines.append(f"{title:11} {shown}")
        if self.unfinished:
            lines.append(
                f"unfinished  {count(self.unfinished, 'worker was', 'workers were')} given up"
            )
        lines += [f"VIOLATION   {what}" for what in self.violations]
        return lines


def _seconds(spread: Spread) -> str:
    return f"{spread.median:.1f} s median, {spread.p90:.1f} s p90, {spread.max:.1f} s longest"


def summarize(logs: Sequence[WorkerLog], unfinished: int, seconds: float) -> Summary:
    """Count what is in the logs."""
    lines = [line for log in logs for line in log.lines]
    by_event: dict[str, list[Line]] = {entry.value: [] for entry in Entry}
    for line in lines:
        by_event[line["event"]].append(line)
    waits: list[float] = []
    durations: list[float] = []
    for log in logs:
        for arrival in range(1, log.arrival + 1):
            _times([line for line in log.lines if line["arrival"] == arrival], waits, durations)
    connects = Counter(
        (n, line["arrival"]) for n, log in enumerate(logs) for line in log.of(Entry.CONNECTED)
    )
    sent = by_event[Entry.SENT]
    releases = by_event[Entry.RELEASED]
    return Summary(
        workers=len(logs),
        arrivals=sum(log.arrival for log in logs),
        unfinished=unfinished,
        vanished=len(by_event[Entry.VANISHED]),
        dialogs=_dialogs(logs),
        messages=len({line["key"] for line in by_event[Entry.ACKED]}),
        refused=len({line["key"] for line in by_event[Entry.REFUSED]}),
        unanswered=len(by_event[Entry.UNANSWERED]),
        resent=sum(line["attempt"] > 1 for line in sent),
        reconnects=sum(number - 1 for number in connects.values()),
        waits_s=Spread.of(waits),
        durations_s=Spread.of(durations),
        releases=_counted(line["release"] for line in releases),
        cents=sum(line["cents"] for line in releases),
        turned_away=_counted(line["code"] for line in by_event[Entry.TURNED_AWAY]),
        faults=_counted(line["what"] for line in by_event[Entry.FAULT]),
        violations=[line["what"] for line in by_event[Entry.VIOLATION]],
        seconds=round(seconds, 3),
        logs=tuple(logs),
    )


def _counted(values: Any) -> dict[str, int]:
    return dict(Counter(values).most_common())


def _dialogs(logs: Sequence[WorkerLog]) -> dict[str, int]:
    """Dialogs by outcome. Both people of a dialog saw its first message at the same moment."""
    seen: set[tuple[str, object]] = set()
    for log in logs:
        for release in log.of(Entry.RELEASED):
            if release["outcome"] is None:
                continue
            first: object = next(
                (
                    frame["said_at"]
                    for frame in log.of(Entry.FRAME)
                    if frame["name"] == "message"
                    and (frame["arrival"], frame["dialog"])
                    == (release["arrival"], release["dialog"])
                ),
                None,
            )
            seen.add((release["outcome"], first or (log.number, release["arrival"])))
    return _counted(outcome for outcome, _ in seen)


def _times(lines: Sequence[Line], waits: list[float], durations: list[float]) -> None:
    """Times of one arrival: from ready to each first view of a dialog, and from there on."""
    ready: float | None = None
    talking: float | None = None
    for line in lines:
        match line["event"], line.get("name") or line.get("stage"):
            case (Entry.ASKED, "ready" | "pair_again"):
                ready = line["at"] if ready is None else ready
            case (Entry.STATE, "talking") if ready is not None:
                waits.append(line["at"] - ready)
                ready, talking = None, line["at"]
            case (Entry.RELEASED, _) if talking is not None:
                durations.append(line["at"] - talking)
                talking = None
            case _:
                pass
