"""How lines for people count things, and say how long something lasts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dialogs.rules import Ending

ENDINGS: Final[Mapping[Ending, str]] = {
    Ending.COMPLETE: "complete",
    Ending.SOLO: "finished alone",
    Ending.ABANDONED: "abandoned",
    Ending.ENDED_BY_TEAM: "ended by the team",
    Ending.TIME_LIMIT: "out of time",
}
"""How dialogs ended, in the monitor's words."""


def count(number: int, one: str, many: str = "") -> str:
    """`1 payment`, `2 payments`; `many` where an s does not make it."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def lasting(seconds: float) -> str:
    """`45 s`, `3 min 05 s`, `2 h 03 min`, `4 days 2 h`."""
    whole = max(int(seconds), 0)
    minutes, hours, days = whole // 60, whole // 3600, whole // 86_400
    if not minutes:
        return f"{whole} s"
    if not hours:
        return f"{minutes} min {whole % 60:02d} s"
    if not days:
        return f"{hours} h {minutes % 60:02d} min"
    return f"{count(days, 'day')} {hours % 24} h"
