"""What the contract suite needs of a recruiter: a stage, that is the recruiter and its far side.

Everything a `Stage` does happens over there, as a worker, a member of the team at the platform's
own pages, or the network would do it; nothing goes through the recruiter under test. A recruiter
without a capability needs none of the methods that belong to it: the suite skips by capability.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from dialogs.rules import AssignmentStatus
from hit_manager.recruiters.base import Posting, Recruiter


class NoSeat(Exception):
    """A worker tried to take a HIT, and was not let in."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One worker's hold on a HIT: their ids over there, and the query their page is opened with.

    Where nothing is posted, `hit_id` is empty.
    """

    worker_id: str
    assignment_id: str
    hit_id: str
    query: Mapping[str, str] = field(default_factory=dict)


class Stage(ABC):
    """A recruiter, and those on the other side of it. One a test, made by `opened`.

    Attributes:
        recruiter: the one under test; `open` has been called. Its pauses for back-off end at
            once, and their lengths are added to `waits`.
        waits: seconds of each pause so far.
        calls: how many requests have arrived over there so far.
        unknown_id: well formed as an id of a HIT and of an assignment, but of none;
            `unknown_worker_id` likewise of a worker.
    """

    recruiter: Recruiter
    waits: list[float]
    unknown_id: str = "3UNKNOWN0UNKNOWN0UNKNOWN0UNKNO"
    unknown_worker_id: str = "AUNKNOWNWORKER"

    @classmethod
    @abstractmethod
    def opened(cls, folder: Path) -> AbstractAsyncContextManager[Self]:
        """The stage, its server running, and an empty folder for its files."""

    @property
    def calls(self) -> int:
        raise NotImplementedError

    async def again(self) -> Recruiter:
        """A second recruiter on the same account, opened, as after a crash of the first. The
        stage closes it at its own end."""
        raise NotImplementedError

    def posting(self, key: str, *, seats: int = 1, reward: int = 150) -> Posting:
        """A HIT that this recruiter accepts."""
        return Posting(
            key=key,
            url="https://duologue.example/work?hit=hm4Q2vXw7c",
            title="Talk with another person about a photo",
            description="Ask about a photo that you cannot see, or answer about one that you can.",
            keywords="chat, photo, dialog",
            reward=reward,
            currency="USD",
            seats=seats,
            lifetime_s=3600.0,
            assignment_duration_s=1800.0,
            auto_approval_s=7 * 24 * 3600.0,
        )

    # --- Workers ---------------------------------------------------------------------------

    @abstractmethod
    async def take(self, hit_id: str) -> Visit:
        """A worker nobody has seen before takes a seat of this HIT (or follows the link, where
        nothing is posted).

        Raises:
            NoSeat: this HIT cannot be taken now.
        """

    async def take_again(self, worker_id: str, hit_id: str) -> Visit:
        """The worker of an earlier visit takes a seat of this HIT; as `take`. Only where the
        recruiter can block."""
        raise NotImplementedError

    @abstractmethod
    def previews(self, visit: Visit) -> Sequence[Mapping[str, str]]:
        """Queries that must not count as an arrival: previews, and that of `visit` with each of
        what the recruiter always sends left out or forged."""

    async def submit(self, visit: Visit, code: str = "CODE1234") -> None:
        """The worker hands in the work."""
        raise NotImplementedError

    async def give_back(self, visit: Visit) -> None:
        """The worker returns it undone."""
        raise NotImplementedError

    # --- The team at the platform's own pages, and the platform's books ----------------------

    async def decide(self, visit: Visit, status: AssignmentStatus) -> None:
        """Approve or reject work past the recruiter under test."""
        raise NotImplementedError

    async def rewards(self, visit: Visit) -> Sequence[int]:
        """The rewards they got for it, in cents: none or one, if all is well."""
        raise NotImplementedError

    async def bonuses(self, visit: Visit) -> Sequence[int]:
        """The amounts beside the reward they got for it, in cents, oldest first."""
        raise NotImplementedError

    async def inbox(self, worker_id: str) -> Sequence[str]:
        """The texts of the messages this worker was sent."""
        raise NotImplementedError

    async def posted(self, key: str) -> int:
        """How many HITs stand over there for this key, in any state."""
        raise NotImplementedError

    async def expires_at(self, hit_id: str) -> float | None:
        """When this HIT stops being found (seconds since 1970), None where HITs have no end."""
        raise NotImplementedError

    # --- The network -------------------------------------------------------------------------

    def lose_answers(self, number: int = 1) -> None:
        """The next `number` requests that change something are carried out, and their answers
        are lost."""
        raise NotImplementedError

    def throttle(self, number: int) -> None:
        """The next `number` requests are refused as too many, and not carried out."""
        raise NotImplementedError
