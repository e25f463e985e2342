"""How many people to invite, and which invitations to take back. Pure: no I/O, no clock."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from dialogs.record.hits import HitRow
from dialogs.record.supply import Supply
from dialogs.rules import HitState
from hit_manager.config import HitConfig

SEATS_PER_DIALOG: Final = 2

MAX_STRANGERS: Final = 20
"""So many pieces of work of people who never came here may wait for a decision. One or two are
mistakes; so many mean that somebody hands in one HIT after the other, and each would be posted
anew."""


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
    `affordable` is for how many people in all who are owed nothing yet the budget suffices, None
    for any number.
    """
    if not running:
        return Demand(expire=_all(hits), why="the study takes nobody new")
    if supply.missing <= 0:
        return Demand(expire=_all(hits), why="the study is complete")
    if not within_hours(config.hours, now):
        return Demand(expire=_all(hits), why="outside the hours of the study")
    if supply.strangers >= MAX_STRANGERS:
        return Demand(expire=_all(hits), why=_strangers(supply.strangers))
    target, why, short = _target(config, supply), "", False
    if affordable is not None and affordable - supply.alone < target:
        target, short = max(affordable - supply.alone, 0), True
        why = "the budget does not suffice for more"
    gap = target - supply.have
    if gap < 0:
        return Demand(expire=_newest(hits, -gap, at_least=short), why=why)
    if supply.in_lobby >= config.max_in_lobby and gap:
        return Demand(why=f"{supply.in_lobby} people wait, and {config.max_in_lobby} are the most")
    room = max(config.max_open - supply.open_seats, 0)
    if gap > room:
        return Demand(seats=room, why=f"{config.max_open} seats are open, the most")
    return Demand(seats=gap, why=why)


def _strangers(number: int) -> str:
    return (
        f"{number} pieces of work were handed in by people who never came here: `duologue hits "
        "review` lists them as never_came; refuse them, or approve them over there"
    )


def _target(config: HitConfig, supply: Supply) -> int:
    """How many people should be there or on their way. Of those who are still to come, some
    never do; who is there, is."""
    to_come = supply.wanted - supply.inside
    if to_come <= 0:
        return supply.wanted
    # 10 × 1.1 is a little more than 11 in binary fractions.
    return supply.inside + math.ceil(to_come * config.over_recruit - 1e-9)


def seats_of(hit: HitRow) -> int:
    """How many people can still take this HIT."""
    match hit.state:
        case HitState.WANTED:
            return hit.seats
        case HitState.OPEN:
            return hit.free
        case _:
            return 0


def _all(hits: Sequence[HitRow]) -> tuple[HitRow, ...]:
    return tuple(hit for hit in hits if hit.state in (HitState.WANTED, HitState.OPEN))


def _newest(hits: Sequence[HitRow], surplus: int, *, at_least: bool) -> tuple[HitRow, ...]:
    """The newest HITs with no more than `surplus` free seats in all.

    With `at_least`, no fewer, as far as there are any: work that cannot be paid must not be
    taken. What that is too much is posted anew in smaller HITs.
    """
    taken_back = []
    left = []
    for hit in sorted(hits, key=lambda h: (h.created_at, h.id), reverse=True):
        if 0 < seats_of(hit) <= surplus:
            taken_back.append(hit)
            surplus -= seats_of(hit)
        elif seats_of(hit):
            left.append(hit)
    if at_least and surplus > 0 and left:
        # All that are left have more free seats than that: one is enough.
        taken_back.append(min(left, key=seats_of))
    return tuple(taken_back)


def split(seats: int, each: int) -> list[int]:
    """`seats` as the seats of single HITs, `each` at most."""
    whole, rest = divmod(seats, each)
    return [each] * whole + ([rest] if rest else [])


def shares(seats: int, each: int, relaunches: Sequence[str]) -> Iterator[tuple[int, str | None]]:
    """`seats` as the seats of single HITs, `each` at most, with the relaunch that each is for.

    The oldest relaunches come first, two seats each, in HITs of their own: so every relaunch is
    posted once, however large HITs are.
    """
    for relaunch in relaunches:
        for part in split(min(seats, SEATS_PER_DIALOG), each):
            yield part, relaunch
            seats -= part
    for part in split(seats, each):
        yield part, None
