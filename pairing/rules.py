"""Who may be paired with whom, and about what. Pure: no clock, no randomness, no I/O.

This is the specification that `match.lua` is tested against: same people, same places, same
answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from dialogs.rules import Role

ItemId = str
WorkerId = str
ArrivalId = str
Place = tuple[ItemId, int]
"""One wanted dialog of an item: (item id, number from 1 to wanted)."""

BOTH_ROLES: Final = frozenset({Role.QUESTIONER, Role.ANSWERER})

MIN_SAMPLES: Final = 5
"""How many waits must be known before an estimate is given."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """An arrival that pressed *ready*, with all that pairing must know of it.

    `ready_at` is in seconds of the Unix clock and is the place in the queue. `address` is a keyed
    hash, `None` or empty when unknown. `seen` are the worker's items, `met` the earlier
    partners: empty where the study lets partners meet again. `dialogs_left` is what remains
    under the cap on dialogs.
    """

    arrival_id: ArrivalId
    worker_id: WorkerId
    language: str
    ready_at: float
    address: str | None = None
    seen: frozenset[ItemId] = frozenset()
    met: frozenset[WorkerId] = frozenset()
    roles: frozenset[Role] = BOTH_ROLES
    dialogs_left: int = 1


@dataclass(frozen=True, slots=True)
class MatchSeat:
    """The arrival that a match proposes for a role, and its worker."""

    arrival_id: ArrivalId
    worker_id: WorkerId


@dataclass(frozen=True, slots=True)
class Match:
    """A proposal of two arrivals and a place, until both start or `start_by` passes.

    `start_by` is in seconds of the Redis server's clock. `started` are the arrivals that have
    pressed *start*.
    """

    match_id: str
    questioner: MatchSeat
    answerer: MatchSeat
    item_id: ItemId
    place: int
    start_by: float
    started: frozenset[ArrivalId] = frozenset()

    @property
    def arrivals(self) -> tuple[ArrivalId, ArrivalId]:
        """The questioner's and the answerer's arrival."""
        return self.questioner.arrival_id, self.answerer.arrival_id

    @property
    def both_started(self) -> bool:
        return self.started >= set(self.arrivals)

    def seat(self, role: Role) -> MatchSeat:
        return self.questioner if role is Role.QUESTIONER else self.answerer

    def role_of(self, arrival_id: ArrivalId) -> Role:
        """The role proposed to this arrival. `ValueError` if it is not in the match."""
        if arrival_id not in self.arrivals:
            raise ValueError(f"{arrival_id} is not in match {self.match_id}")
        asks = arrival_id == self.questioner.arrival_id
        return Role.QUESTIONER if asks else Role.ANSWERER

    def partner_of(self, arrival_id: ArrivalId) -> MatchSeat:
        """The other seat. `ValueError` if the arrival is not in the match."""
        asking = self.role_of(arrival_id) is Role.QUESTIONER
        return self.answerer if asking else self.questioner


def compatible(a: Waiting, b: Waiting, same_address_allowed: bool) -> bool:
    """Whether the two people may talk with each other; `item_for` says about what."""
    return (
        a.arrival_id != b.arrival_id
        and a.worker_id != b.worker_id
        and a.worker_id not in b.met
        and b.worker_id not in a.met
        and a.language == b.language
        and min(a.dialogs_left, b.dialogs_left) > 0
        and (_can(a, b) or _can(b, a))
        and (same_address_allowed or not a.address or a.address != b.address)
    )


def item_for(a: Waiting, b: Waiting, items: Iterable[ItemId]) -> ItemId | None:
    """The first of `items` that neither of the two has seen, or `None`."""
    return next((item for item in items if item not in a.seen and item not in b.seen), None)


def assign_roles(a: Waiting, b: Waiting, coin: bool) -> tuple[Waiting, Waiting]:
    """The questioner and the answerer of a compatible pair.

    `coin` decides, heads: `a` asks; unless only one way round is possible. With a fair coin,
    people who can do both do each half of the time, however long they waited.
    `ValueError` if neither way is possible.
    """
    if _can(a, b) and (coin or not _can(b, a)):
        return a, b
    if _can(b, a):
        return b, a
    raise ValueError(f"{a.arrival_id} and {b.arrival_id} have no questioner and answerer")


def _can(asking: Waiting, answering: Waiting) -> bool:
    return Role.QUESTIONER in asking.roles and Role.ANSWERER in answering.roles


def by_age(waiting: Iterable[Waiting]) -> list[Waiting]:
    """Oldest first; equal times by arrival id, as Redis sorts them."""
    return sorted(waiting, key=lambda w: (w.ready_at, w.arrival_id.encode()))


def choose(
    waiting: Sequence[Waiting], items: Sequence[ItemId], same_address_allowed: bool
) -> tuple[Waiting, Waiting, ItemId] | None:
    """The next pair, older person first, and its item; `None` if no two fit.

    `waiting` is sorted `by_age`, `items` by priority. Of all pairs the one with the oldest younger
    half is taken, and of those the one with the oldest older half. This takes a partner from
    nobody: every person older than the chosen pair fits with neither of them, and the older half
    with nobody who waits longer than the younger half.
    """
    for j, younger in enumerate(waiting):
        for older in waiting[:j]:
            if compatible(older, younger, same_address_allowed):
                item = item_for(older, younger, items)
                if item is not None:
                    return older, younger, item
    return None


def estimate(waits: Iterable[float], waited: float = 0.0) -> float | None:
    """How much longer a person who has waited `waited` seconds is likely to wait, in seconds.

    `waits` are recent waits that ended in a dialog, in seconds. The answer is the median of what
    those who waited longer still had before them; `None` when fewer than `MIN_SAMPLES` waits are
    known or nobody waited longer: then nothing honest can be said.
    """
    samples = list(waits)
    longer = [wait - waited for wait in samples if wait > waited]
    if len(samples) < MIN_SAMPLES or not longer:
        return None
    return median(longer)
