"""Faults to be had in tests: what networks, services and bad luck do.

A server has none of them unless it is given a `Faults`, and no setting gives it one.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum


class Fault(StrEnum):
    """What can go wrong with a call of the API."""

    THROTTLED = "throttled"
    """Refused for coming too often; nothing was done."""
    FAILED = "failed"
    """A service fault; nothing was done."""
    FAILED_AFTER = "failed_after"
    """A service fault after the change was committed."""
    LOST = "lost"
    """The connection breaks after the change was committed."""


class Faults:
    """Faults of calls by operation, each as often as it was asked for, and how many calls came.

    `late_s`: how long after they were made new HITs and submissions are not there yet for their
    requester. `duplicated`: every notification comes twice. `reordered`: those that wait
    together come in reverse.
    """

    def __init__(self) -> None:
        self._left: Counter[tuple[str, Fault]] = Counter()
        self.calls: Counter[str] = Counter()
        self.late_s = 0.0
        self.duplicated = False
        self.reordered = False

    def add(self, operation: str, fault: Fault, times: int = 1) -> None:
        """Let the next calls of an operation meet this fault."""
        self._left[operation, fault] += times

    def take(self, operation: str, fault: Fault) -> bool:
        """Whether this call meets the fault; counts it."""
        if not self._left[operation, fault]:
            return False
        self._left[operation, fault] -= 1
        return True
