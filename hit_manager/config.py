"""What the hit manager needs to know of a study, given by the composition root."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MAX_SEATS = 9
"""Seats of one HIT, at most: ten or more cost twice the commission on Mechanical Turk."""


class Approval(StrEnum):
    """Who lets a payment go out."""

    AUTOMATIC = "automatic"
    """The study's rules are enough: what is owed is paid when the work is handed in."""
    BY_HAND = "by_hand"
    """A person approves each payment first."""


@dataclass(frozen=True, slots=True)
class HitConfig:
    """How a study recruits and pays. Money in cents, durations in seconds.

    `reward` is what approving the work pays by itself, `full_pay` what a complete dialog pays in
    all. `url` is where workers reach the live server. `over_recruit` times the people needed are
    invited, since some never come. `hours` are the hours of the day (UTC) in which people are
    invited: from the first, before the second. `budget` is what may be spent in all, commission
    included; None is no limit.
    """

    study_id: str
    title: str
    description: str
    keywords: str
    reward: int
    full_pay: int
    currency: str
    url: str
    lifetime_s: float = 86_400.0
    assignment_duration_s: float = 7_200.0
    auto_approval_s: float = 7 * 86_400.0
    seats: int = 1
    over_recruit: float = 1.0
    max_open: int = 200
    max_in_lobby: int = 50
    hours: tuple[int, int] | None = None
    budget: int | None = None
    approval: Approval = Approval.AUTOMATIC
    interval_s: float = 15.0
