"""What a recruiter is: where workers come from, and how what they are owed reaches them.

To add one, subclass `Recruiter`, say in `capabilities` what it can do, and write the methods
that are abstract; those that belong to a capability it has not raise `Unsupported` by
themselves. Then let the contract suite (`tests/contract/test_recruiters.py`) pass: it is the
same for all.

Money is in the currency's smallest unit (cents), times are seconds since 1970-01-01 UTC.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from dialogs.rules import AssignmentStatus as AssignmentStatus


class Proof(StrEnum):
    """When it can be proved that a worker is who the link says."""

    NEVER = "never"
    AT_JOIN = "at_join"
    AT_SUBMISSION = "at_submission"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Where recruiters differ.

    `posts`: it has HITs that are posted and expired; without, people come by a link of ours.
    `pays`: it can approve work and so pay its reward. `bonuses`: it can pay amounts beside that.
    `messages`, `blocks`: it can write to a worker, or keep one away. `needs_code`: the worker
    carries a completion code over to it. `repeat_safe`: a payment that is sent twice with the
    same key is paid once. `grows`: a HIT can be given more seats, or be opened again, for as long
    as it is not disposed of, so that what is wanted more goes into it instead of a new one.
    `most_seats`: how many seats one HIT can have.
    """

    proof: Proof
    posts: bool = False
    pays: bool = False
    bonuses: bool = False
    messages: bool = False
    blocks: bool = False
    needs_code: bool = False
    repeat_safe: bool = False
    grows: bool = False
    most_seats: int = 1


class HitStatus(StrEnum):
    """What has become of a posted HIT, as the recruiter says."""

    OPEN = "open"
    """People can still take it."""
    CLOSED = "closed"
    """Nobody new can take it; who took it may be inside still."""
    GONE = "gone"
    """The recruiter knows it no longer."""


@dataclass(frozen=True, slots=True)
class Posting:
    """A HIT to be posted. `key` is derived from our row and makes repeating harmless where the
    recruiter can tell; `url` is what the worker's page is opened with."""

    key: str
    url: str
    title: str
    description: str
    keywords: str
    reward: int
    currency: str
    seats: int
    lifetime_s: float
    assignment_duration_s: float
    auto_approval_s: float


@dataclass(frozen=True, slots=True)
class RemoteHit:
    """A HIT over there. `free` is how many seats nobody has taken yet, `pending` how many are
    taken and not yet handed in, `key` what it was posted with, where the recruiter keeps it.
    `room` is how many seats would be free if it were open; only where HITs grow."""

    id: str
    status: HitStatus
    seats: int
    free: int
    pending: int = 0
    key: str | None = None
    room: int = 0


@dataclass(frozen=True, slots=True)
class RemoteAssignment:
    """One worker's hold on a HIT over there. `code` is the completion code that was handed in."""

    id: str
    hit_id: str
    worker_id: str
    status: AssignmentStatus
    code: str | None = None
    submitted_at: float | None = None


class Step(StrEnum):
    """One call by which a payment is made; a payment is one or two of them, in this order."""

    RETURN = "return"
    """Ask the worker to give the work back, so that its reward is not due."""
    SCREEN_OUT = "screen out"
    """End the work with a fixed payment instead of its reward: the worker was not needed."""
    APPROVE = "approve"
    """Accept the work, which pays its reward."""
    BONUS = "bonus"
    """Pay an amount beside the reward."""


Known = Mapping[str, str | int]
"""What a recruiter wants to have stored in the course of a payment, in words of its own."""


class Keep(Protocol):
    """Stores what is known of a payment before it returns, in place of what it was given before.
    If it raises, what would have come next must not be done."""

    async def __call__(self, known: Known) -> None: ...


async def keep_nothing(known: Known) -> None:
    """For those who need nothing after a crash."""


@dataclass(frozen=True, slots=True)
class Bonus:
    """An amount beside the reward. `key` is derived from our ledger row; `reason` is shown to
    the worker. `earlier` is how many bonuses of this amount we have paid for the assignment by
    now; `known` is what an earlier try has kept last."""

    key: str
    assignment_id: str
    hit_id: str
    worker_id: str
    cents: int
    currency: str
    reason: str
    earlier: int = 0
    known: Known = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Arriving:
    """What the link says of who comes: the recruiter's ids, and where to submit, if anywhere."""

    worker_id: str
    assignment_id: str
    hit_id: str = ""
    submit_to: str = ""
    extra: Mapping[str, str] = field(default_factory=dict)


# --- Errors --------------------------------------------------------------------------------


class RecruiterError(Exception):
    """The recruiter did not do what was asked; the text is for the team.

    RecruiterError
    ├── Unsupported        this recruiter never can
    ├── Refused            it said no: asking the same again is in vain
    │   ├── NotThere       it does not know this HIT or assignment
    │   └── NoFunds        there is not enough money over there
    ├── NotYet             not in this state, or not visible yet: ask again later
    └── Unavailable        no answer, throttled, or its own fault: ask again with patience
        └── Unsure         it may or may not have been done: look before asking again
    """

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code


class Unsupported(RecruiterError):
    """This recruiter never can do that."""


class Refused(RecruiterError):
    """It said no: asking the same again is in vain."""


class NotThere(Refused):
    """It does not know this HIT, assignment or worker."""


class NoFunds(Refused):
    """There is not enough money over there."""


class NotYet(RecruiterError):
    """Not possible in this state, or not visible yet: ask again later."""


class Unavailable(RecruiterError):
    """No answer, throttled, or a fault over there: ask again with patience."""


class Unsure(Unavailable):
    """It may or may not have been done: look before asking again."""


# --- The recruiter -------------------------------------------------------------------------


class Recruiter(ABC):
    """Where workers come from. All methods may raise `RecruiterError`; none blocks the loop."""

    name: str
    capabilities: Capabilities

    @abstractmethod
    def arriving(self, query: Mapping[str, str]) -> Arriving | None:
        """Who comes by a link with this query; None for a mere preview, or when anything that
        the recruiter always sends is missing. Does no I/O."""

    async def prove(self, arriving: Arriving) -> None:  # noqa: B027
        """Make sure that this person holds that assignment; only where `proof` is at join.

        Raises:
            Refused: they do not.
            Unavailable: nobody can say now.
        """

    async def open(self) -> None:  # noqa: B027
        """Get ready: check the credentials. Costs nothing, and leaves nothing over there."""

    async def close(self) -> None:  # noqa: B027
        """Let go of connections."""

    async def balance(self) -> int | None:
        """The money at hand over there in cents, or None where it cannot be known."""
        return None

    def terms(self, posting: Posting) -> str:
        """A digest of what of this posting, but for its key and its seats, is fixed for good when
        it is posted; only where HITs grow."""
        return ""

    async def post(self, posting: Posting) -> RemoteHit:
        """Post a HIT; asked again with the same key, the same HIT."""
        raise self._unsupported("posts no HITs")

    async def grow(self, hit_id: str, seats: int, key: str) -> None:
        """Let a HIT have `seats` seats in all; for fewer than it has, nothing is done. So the same
        again is harmless, and `key`, derived from our row and the seats, makes it so where the
        recruiter counts what is added."""
        raise self._unsupported("posts no HITs")

    async def extend(self, hit_id: str, until: float) -> None:
        """Let a HIT be found until that moment."""
        raise self._unsupported("posts no HITs")

    async def expire(self, hit_id: str) -> None:
        """Let nobody new take this HIT; who is inside may finish. Done twice is done once."""
        raise self._unsupported("posts no HITs")

    async def dispose(self, hit_id: str) -> None:  # noqa: B027
        """Clear away a HIT whose work is all reviewed. Done twice is done once."""

    async def hits(self) -> Sequence[RemoteHit]:
        """All HITs over there that could be ours: strays of an earlier life included."""
        return ()

    async def hit(self, hit_id: str) -> RemoteHit:
        raise self._unsupported("posts no HITs")

    async def assignments(self, hit_id: str) -> Sequence[RemoteAssignment]:
        """What became of a HIT, as far as the recruiter shows it."""
        return ()

    async def assignment(self, assignment_id: str) -> RemoteAssignment:
        """One assignment.

        Raises:
            NotYet: it is not submitted, where the recruiter shows only those.
        """
        raise self._unsupported("knows no assignments")

    def steps(self, cents: int, reward: int, *, waited: bool = False) -> tuple[Step, ...]:
        """How `cents` are paid for work whose reward is `reward`, to somebody who has `waited` in
        vain, or not.

        Raises:
            Refused: they cannot be paid here, and why.
        """
        if not self.capabilities.pays:
            raise self._unsupported("pays nobody")
        if cents < reward:
            raise Refused(f"{cents} are owed, but approving the work pays its reward of {reward}")
        return (Step.APPROVE,) if cents == reward else (Step.APPROVE, Step.BONUS)

    def pays(self, step: Step, reward: int) -> int:
        """What a call pays by itself, in cents; a bonus pays what is left."""
        return reward if step is Step.APPROVE else 0

    async def screen_out(self, assignment_id: str) -> int:
        """End the work with the fixed payment of a screen-out; returns that, in cents. Done twice
        is done once."""
        raise self._unsupported("screens nobody out")

    async def request_return(self, assignment_id: str, reason: str) -> None:
        """Ask the worker to give the work back. Done twice is done once."""
        raise self._unsupported("takes nothing back")

    async def approve(self, assignment_id: str, feedback: str = "") -> None:
        """Accept the work, which pays its reward. Done twice is done once."""
        raise self._unsupported("pays nobody")

    async def reject(self, assignment_id: str, feedback: str) -> None:
        """Refuse the work and its reward. Done twice is done once."""
        raise self._unsupported("pays nobody")

    async def pay(self, bonus: Bonus, keep: Keep = keep_nothing) -> None:
        """Pay an amount beside the reward, once for each key. Where that takes to know afterwards
        how things stood before, `keep` is given it first, and `paid` finds it in the bonus.

        Raises:
            Unsure: it may have been paid; `paid` tells.
        """
        raise self._unsupported("pays no bonuses")

    async def paid(self, bonus: Bonus) -> bool | None:
        """Whether this bonus has been paid; None where nobody can tell."""
        return None

    async def message(self, worker_ids: Collection[str], subject: str, text: str) -> dict[str, str]:
        """Write to workers; returns who could not be reached, and why."""
        raise self._unsupported("carries no messages")

    async def block(self, worker_id: str, reason: str) -> None:
        """Show this worker none of our HITs any more. The worker is not accused of anything."""
        raise self._unsupported("blocks nobody")

    async def unblock(self, worker_id: str) -> None:
        raise self._unsupported("blocks nobody")

    def commission(self, cents: int, *, seats: int = 1, bonus: bool = False) -> int:
        """What the recruiter charges on a payment, in cents."""
        return 0

    def _unsupported(self, what: str) -> Unsupported:
        return Unsupported(f"{self.name} {what}")
