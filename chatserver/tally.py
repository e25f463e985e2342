"""What one server process has counted since it started: plain numbers, cheap to count.

How they are shown to Prometheus is `metrics`' business.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from chatserver.wire import Refused
from dialogs.events import Ended, Event, SeatLost
from dialogs.rules import Outcome, Phase, SeatEnd

LATENCIES: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Bounds between which acknowledgements are counted, in seconds."""


@dataclass(slots=True)
class Tally:
    """Of dialogs, each process counts what it committed itself: all processes together have
    counted everything once."""

    arrivals: Counter[str] = field(default_factory=Counter)
    """By recruiter."""
    acknowledged: list[int] = field(default_factory=lambda: [0] * (len(LATENCIES) + 1))
    """Messages, by how long that took: up to each of `LATENCIES`, and longer. One that is sent
    again is acknowledged again."""
    acknowledged_s: float = 0.0
    """How long all of them took."""
    refused: Counter[str] = field(default_factory=Counter)
    """Messages, by the code of the refusal."""
    lost: Counter[SeatEnd] = field(default_factory=Counter)
    opened: int = 0
    solo: int = 0
    ended: Counter[Outcome] = field(default_factory=Counter)

    def arrived(self, recruiter: str) -> None:
        self.arrivals[recruiter] += 1

    def dialog_opened(self) -> None:
        self.opened += 1

    def turned(self, events: Sequence[Event]) -> None:
        """A dialog's phase has changed by these events."""
        for event in events:
            if isinstance(event, SeatLost):
                self.lost[event.why] += 1
                self.solo += event.phase is Phase.SOLO
            elif isinstance(event, Ended):
                self.ended[event.outcome] += 1

    def answered(self, given: object, seconds: float) -> None:
        """A message was answered so many seconds after it came."""
        if isinstance(given, Refused):
            self.refused[given.code] += 1
            return
        # No more than this: it is done for every message. Prometheus' own takes ten times as long.
        self.acknowledged[bisect_left(LATENCIES, seconds)] += 1
        self.acknowledged_s += seconds
