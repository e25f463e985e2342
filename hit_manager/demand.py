"""How many people to invite, and which invitations to take back. Pure: no I/O, no clock."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
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
    """How many people can still take this HIT, with the seats that it is about to get."""
    match hit.state:
        case HitState.WANTED | HitState.OPEN:
            return hit.free + hit.to_grow
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


# --- Which HITs --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Share:
    """A HIT of `total` seats in all: a new one, or `hit` with more than it had.

    `relaunches` are those that some of the added seats are for: the dialog, how many seats, and
    the number of the last of them in their HIT.
    """

    total: int
    hit: HitRow | None = None
    relaunches: tuple[tuple[str, int, int], ...] = ()


def apart(seats: int, each: int, relaunches: Sequence[str]) -> Iterator[Share]:
    """`seats` as new HITs, `each` at most.

    The oldest relaunches come first, two seats each, in HITs of their own: so every relaunch is
    posted once, however large HITs are.
    """
    for relaunch in relaunches:
        for part in split(min(seats, SEATS_PER_DIALOG), each):
            yield Share(part, None, ((relaunch, part, part),))
            seats -= part
    for part in split(seats, each):
        yield Share(part)


def together(
    seats: int, most: int, relaunches: Sequence[str], hits: Iterable[HitRow]
) -> list[Share]:
    """`seats` in as few HITs as can be, where HITs grow: first those of `hits` that have room
    below `most` seats, open ones before closed ones that are opened again, and new ones for what
    is left.

    The oldest relaunches come first, two seats each. A closed HIT whose free seats, which all
    open with it, are more than are wanted stays closed.
    """
    given: list[tuple[HitRow | None, int, list[int]]] = []
    for hit in sorted((h for h in hits if _can_grow(h)), key=_open_first):
        had = max(hit.seats, hit.seats_there)
        open_again = hit.free if hit.state is HitState.CLOSED else 0
        added = min(seats - open_again, max(most - had, 0))
        if added < 0 or not open_again + added:
            continue
        numbers = [had] * open_again + [had + n + 1 for n in range(added)]
        given.append((hit, had + added, numbers))
        seats -= len(numbers)
    given += [(None, part, list(range(1, part + 1))) for part in split(seats, most)]
    # Seat by seat: which share it is of, and its number there.
    every = [(n, number) for n, (_, _, numbers) in enumerate(given) for number in numbers]
    named: list[list[tuple[str, int, int]]] = [[] for _ in given]
    for k, relaunch in enumerate(relaunches):
        mine = every[k * SEATS_PER_DIALOG : (k + 1) * SEATS_PER_DIALOG]
        for n in dict.fromkeys(n for n, _ in mine):
            numbers = [number for m, number in mine if m == n]
            named[n].append((relaunch, len(numbers), max(numbers)))
    return [
        Share(total, hit, tuple(own)) for (hit, total, _), own in zip(given, named, strict=True)
    ]


def _can_grow(hit: HitRow) -> bool:
    match hit.state:
        case HitState.WANTED | HitState.OPEN:
            return True
        case HitState.CLOSED:
            # One that was refused seats, or closed before it got them, is not asked again.
            return hit.remote_id is not None and hit.problem is None and not hit.to_grow
        case _:
            return False


def _open_first(hit: HitRow) -> tuple[bool, float, str]:
    return hit.state is HitState.CLOSED, hit.created_at, hit.id
