"""How many people to invite, and which invitations to take back. Pure: no I/O, no clock."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from dialogs.record.hits import HitRow, Supply
from dialogs.rules import HitState
from hit_manager.config import HitConfig


@dataclass(frozen=True, slots=True)
class Demand:
    """`seats` to be posted anew, and the HITs to be expired; `why` says what holds back more."""

    seats: int = 0
    expire: tuple[HitRow, ...] = ()
    why: str = ""


def within_hours(hours: tuple[int, int] | None, now: float) -> bool:
    """Whether people are invited at this time of day (UTC); the hours may go over midnight."""
    if hours is None:
        return True
    first, last = hours
    hour = datetime.fromtimestamp(now, UTC).hour
    return first <= hour < last if first <= last else hour >= first or hour < last


def demand(
    config: HitConfig,
    supply: Supply,
    hits: Sequence[HitRow],
    *,
    running: bool,
    affordable: int | None,
    now: float,
) -> Demand:
    """What to do about `wanted − have`.

    `hits` are those that are wanted or open; `running` says whether the study takes people;
    `affordable` is for how many more people the budget suffices, None for any number.
    """
    if not running:
        return Demand(expire=_all_open(hits), why="the study takes nobody new")
    if supply.missing <= 0:
        return Demand(expire=_all_open(hits), why="the study is complete")
    if not within_hours(config.hours, now):
        return Demand(expire=_all_open(hits), why="outside the hours of the study")
    target = math.ceil(supply.wanted * config.over_recruit)
    gap = target - supply.have
    if gap < 0:
        return Demand(expire=_newest(hits, -gap))
    limits = [
        (config.max_open - supply.open_seats, f"{config.max_open} seats are open, the most"),
        (config.max_in_lobby - supply.in_lobby, f"{config.max_in_lobby} people wait, the most"),
    ]
    if affordable is not None:
        open_or_coming = supply.have
        limits.append((affordable - open_or_coming, "the budget does not suffice for more"))
    room, why = min(limits, key=lambda limit: limit[0])
    if gap > room:
        return Demand(seats=max(room, 0), why=why)
    return Demand(seats=gap)


def _all_open(hits: Sequence[HitRow]) -> tuple[HitRow, ...]:
    return tuple(hit for hit in hits if hit.state is HitState.OPEN)


def _newest(hits: Sequence[HitRow], surplus: int) -> tuple[HitRow, ...]:
    """The newest open HITs with no more than `surplus` free seats in all."""
    taken_back = []
    for hit in sorted(hits, key=lambda h: (h.created_at, h.id), reverse=True):
        if hit.state is HitState.OPEN and 0 < hit.free <= surplus:
            taken_back.append(hit)
            surplus -= hit.free
    return tuple(taken_back)


def split(seats: int, each: int) -> list[int]:
    """`seats` as the seats of single HITs, `each` at most."""
    whole, rest = divmod(seats, each)
    return [each] * whole + ([rest] if rest else [])
