"""A recruiter in memory that counts what it is asked: the far side of the hits benchmark.

It answers at once, so that what is measured is our side alone. Its calls are counted as requests
to Mechanical Turk would be: lists come in pages of 100.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from dialogs.rules import AssignmentStatus
from hit_manager.recruiters.base import (
    Arriving,
    Bonus,
    Capabilities,
    HitStatus,
    Keep,
    NotThere,
    Posting,
    Proof,
    Recruiter,
    RemoteAssignment,
    RemoteHit,
    keep_nothing,
)
from hit_manager.recruiters.mturk.money import fee

PAGE: Final = 100
"""HITs or assignments in one answer, at most."""


class FarSide(Recruiter):
    """HITs, assignments and payments, kept in dictionaries. `calls` counts requests by kind."""

    name = "counting"
    capabilities = Capabilities(Proof.AT_SUBMISSION, posts=True, pays=True, bonuses=True)

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.paid_cents: dict[str, int] = {}
        self._hits: dict[str, RemoteHit] = {}
        self._by_key: dict[str, str] = {}
        self._work: dict[str, RemoteAssignment] = {}
        self._of_hit: dict[str, list[str]] = {}

    # --- What the benchmark does to it -----------------------------------------------------

    def add_hit(self, hit: RemoteHit) -> None:
        self._hits[hit.id] = hit

    def hand_in(self, hit_id: str, assignment_id: str, worker_id: str, code: str) -> None:
        """Somebody took the one seat of this HIT and has handed the work in."""
        self._hits[hit_id] = replace(self._hits[hit_id], status=HitStatus.CLOSED, free=0, pending=0)
        self._of_hit.setdefault(hit_id, []).append(assignment_id)
        self._work[assignment_id] = RemoteAssignment(
            assignment_id, hit_id, worker_id, AssignmentStatus.SUBMITTED, code, 0.0
        )

    @property
    def up(self) -> int:
        """HITs that people can still take."""
        return sum(hit.status is HitStatus.OPEN for hit in self._hits.values())

    # --- What the hit manager asks of it ---------------------------------------------------

    def arriving(self, query: Mapping[str, str]) -> Arriving | None:
        return None

    async def post(self, posting: Posting) -> RemoteHit:
        self.calls["post"] += 1
        known = self._by_key.get(posting.key)
        if known is None:
            known = self._by_key[posting.key] = f"3{len(self._by_key):029d}"
            seats = posting.seats
            self._hits[known] = RemoteHit(known, HitStatus.OPEN, seats, seats, 0, posting.key)
        return self._hits[known]

    async def expire(self, hit_id: str) -> None:
        self.calls["expire"] += 1
        hit = self._found(hit_id)
        self._hits[hit_id] = replace(hit, status=HitStatus.CLOSED, free=0)

    async def dispose(self, hit_id: str) -> None:
        self.calls["dispose"] += 1
        self._found(hit_id)
        del self._hits[hit_id]

    async def hits(self) -> Sequence[RemoteHit]:
        self.calls["list HITs"] += _pages(len(self._hits))
        return list(self._hits.values())

    async def hit(self, hit_id: str) -> RemoteHit:
        self.calls["get HIT"] += 1
        return self._found(hit_id)

    async def assignments(self, hit_id: str) -> Sequence[RemoteAssignment]:
        found = self._of_hit.get(hit_id, ())
        self.calls["list assignments"] += _pages(len(found))
        return [self._work[each] for each in found]

    async def assignment(self, assignment_id: str) -> RemoteAssignment:
        self.calls["get assignment"] += 1
        return self._work[assignment_id]

    async def approve(self, assignment_id: str, feedback: str = "") -> None:
        self.calls["approve"] += 1
        work = self._work[assignment_id]
        self._work[assignment_id] = replace(work, status=AssignmentStatus.APPROVED)

    async def pay(self, bonus: Bonus, keep: Keep = keep_nothing) -> None:
        self.calls["pay a bonus"] += 1
        assert bonus.key not in self.paid_cents, f"{bonus.key} was paid twice"
        self.paid_cents[bonus.key] = bonus.cents

    async def paid(self, bonus: Bonus) -> bool:
        self.calls["look for a bonus"] += 1
        return bonus.key in self.paid_cents

    def commission(self, cents: int, *, seats: int = 1, bonus: bool = False) -> int:
        return fee(cents, seats=seats, bonus=bonus)

    def _found(self, hit_id: str) -> RemoteHit:
        hit = self._hits.get(hit_id)
        if hit is None:
            raise NotThere(f"no HIT {hit_id}")
        return hit


def _pages(number: int) -> int:
    return max(-(-number // PAGE), 1)
