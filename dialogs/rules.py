"""The vocabulary of a dialog and the rules it was opened with. Pure: standard library only.

The roles, the ten rounds and the survivor's duty follow Das et al., "Visual Dialog"
(arXiv 1611.08669), section 3 and appendix D.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final


class Role(StrEnum):
    """What a seat is for."""

    QUESTIONER = "questioner"
    ANSWERER = "answerer"


class Phase(StrEnum):
    """Where a dialog is in its life."""

    PAIRED = "paired"
    SOLO = "solo"
    ENDED = "ended"


class Outcome(StrEnum):
    """How a dialog ended."""

    COMPLETE = "complete"
    SOLO = "solo"
    ABANDONED = "abandoned"


class Ending(StrEnum):
    """How a dialog ended, as the team is told: its outcome, unless it was ended from outside."""

    COMPLETE = "complete"
    SOLO = "solo"
    ABANDONED = "abandoned"
    """Both left, or whoever was left asked for a new partner."""
    ENDED_BY_TEAM = "ended_by_team"
    TIME_LIMIT = "time_limit"


class Release(StrEnum):
    """How one arrival ended."""

    COMPLETED = "completed"
    FINISHED_ALONE = "finished_alone"
    LEFT = "left"
    NEVER_PAIRED = "never_paired"
    RETURNED = "returned"
    SCREENED_OUT = "screened_out"
    STUDY_FULL = "study_full"
    ENDED_BY_TEAM = "ended_by_team"


class Acceptance(StrEnum):
    """Whether a complete dialog is good enough to be data. Never decides pay."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"


class ArrivalStatus(StrEnum):
    """Where an arrival is in its life."""

    ARRIVED = "arrived"
    WAITING = "waiting"
    SEATED = "seated"
    RELEASED = "released"


class SeatStatus(StrEnum):
    """What became of a seat. `given_up`: its arrival went back to the lobby."""

    LIVE = "live"
    LOST = "lost"
    DONE = "done"
    GIVEN_UP = "given_up"


class StudyStatus(StrEnum):
    """Whether a study takes new people. Those inside always may finish."""

    OPEN = "open"
    PAUSED = "paused"


class LedgerState(StrEnum):
    """How far a payment has come."""

    OWED = "owed"
    APPROVED = "approved"
    """The team, or the study's rule, lets it be paid."""
    SENDING = "sending"
    """The recruiter is being asked to pay; stored before it is asked."""
    PAID = "paid"
    FAILED = "failed"
    """The recruiter refused; a person must look."""
    HELD = "held"
    """What the recruiter says does not fit what we know; a person must look."""
    CANCELLED = "cancelled"
    """The team took it back before anything went out; it stays so."""

    @property
    def shown(self) -> str:
        """What people are told, everywhere the same."""
        return {"sending": "being sent", "cancelled": "refused"}.get(self.value, self.value)


class LedgerReason(StrEnum):
    """What a payment is for; an arrival has at most one of each. Those that the team adds by
    hand are `bonus-` and an id."""

    DIALOG = "dialog"
    WAITING = "waiting"


class HitState(StrEnum):
    """Where one of our HITs is in its life."""

    WANTED = "wanted"
    """Decided and perhaps posted already; asking again with the same key is harmless."""
    OPEN = "open"
    CLOSED = "closed"
    """Nobody new can take it; who is inside may finish and is paid."""
    DONE = "done"
    """All that was handed in is reviewed, and it is cleared away over there."""
    FAILED = "failed"
    """The recruiter refused to post it."""


class AssignmentStatus(StrEnum):
    """What has become of one worker's hold on a HIT, as the recruiter says."""

    TAKEN = "taken"
    SUBMITTED = "submitted"
    APPROVED = "approved"
    REJECTED = "rejected"
    RETURNED = "returned"
    """Given back, run out, or screened out: no pay for the work is due over there."""


class AdminRole(StrEnum):
    """What somebody of the team may do in the monitor."""

    OWNER = "owner"
    """Everything: also exclusions, bonuses, refused payments, and the study itself."""
    REVIEWER = "reviewer"
    """See everything, judge dialogs and decide on their pay, write to people, end dialogs."""
    VIEWER = "viewer"
    """See everything but who people are."""


class RequestState(StrEnum):
    """How far something has come that the team wants of the recruiter."""

    WANTED = "wanted"
    DONE = "done"
    FAILED = "failed"
    """It was refused; a person must look."""
    DISMISSED = "dismissed"
    """It failed, and somebody has looked and leaves it at that."""


class RequestKind(StrEnum):
    """What the team can want of the recruiter."""

    REJECT = "reject"
    """Refuse the work of an arrival over there; nothing is owed for it."""
    MESSAGE = "message"
    BONUS = "bonus"
    BLOCK = "block"
    UNBLOCK = "unblock"
    RETRY = "retry"
    """Try a payment again that failed or was held."""


ERASED: Final = "erased:"
"""What stands in place of a recruiter's id of somebody who was erased begins with it."""


class ReportKind(StrEnum):
    """What a worker told the team."""

    PROBLEM = "problem"
    LEAVING = "leaving"


class ToldKind(StrEnum):
    """The same, with what they wrote on the page after the end."""

    PROBLEM = ReportKind.PROBLEM.value
    LEAVING = ReportKind.LEAVING.value
    FEEDBACK = "feedback"


class SeatEnd(StrEnum):
    """Why a seat was lost."""

    GRACE = "grace"
    TURN = "turn"
    LEAVE = "leave"


class Sight(StrEnum):
    """One thing that a role can be shown of the item."""

    CAPTION = "caption"
    IMAGE = "image"
    BLURRED = "blurred"


@dataclass(frozen=True, slots=True)
class Protocol:
    """The rules of a kind of dialog, as data.

    `turns` is the order in which the roles write in a round; a dialog is complete when every
    role has written once in every round. `sees` says what of the item each role is shown: the
    server derives from it both the view and who may fetch which picture.
    """

    name: str
    turns: tuple[Role, ...]
    sees: Mapping[Role, frozenset[Sight]]

    def role_at(self, messages: int) -> Role:
        """The role whose turn it is after `messages` messages of a paired dialog."""
        return self.turns[messages % len(self.turns)]


_ASK_ANSWER: Final = (Role.QUESTIONER, Role.ANSWERER)
_ANSWERER_SEES: Final = frozenset({Sight.CAPTION, Sight.IMAGE})

PROTOCOLS: Final[Mapping[str, Protocol]] = MappingProxyType(
    {
        protocol.name: protocol
        for protocol in (
            Protocol(
                "visdial",
                _ASK_ANSWER,
                {Role.QUESTIONER: frozenset({Sight.CAPTION}), Role.ANSWERER: _ANSWERER_SEES},
            ),
            # The paper's pilot (section 3): a strongly blurred image instead of the caption.
            Protocol(
                "visdial-blurred",
                _ASK_ANSWER,
                {Role.QUESTIONER: frozenset({Sight.BLURRED}), Role.ANSWERER: _ANSWERER_SEES},
            ),
        )
    }
)


@dataclass(frozen=True, slots=True)
class Pay:
    """What is owed for each way to end, in the currency's smallest unit (cents).

    A survivor who finishes is always paid `complete`; that is a promise, not a setting.
    """

    currency: str = "USD"
    complete: int = 150
    left: int = 0
    waiting_per_minute: int = 10

    def for_release(self, release: Release) -> int:
        """The amount for an arrival that held a seat, in cents."""
        match release:
            case Release.COMPLETED | Release.FINISHED_ALONE | Release.ENDED_BY_TEAM:
                return self.complete
            case Release.LEFT:
                return self.left
            case _:
                return 0

    def for_waiting(self, waited_s: float) -> int:
        """The amount for `waited_s` seconds in the lobby without a partner, in cents.

        Every begun minute counts: nobody who waited at all goes home with nothing. Waiting never
        pays more than a dialog.
        """
        minutes = int(-(-max(waited_s, 0.0) // 60))
        return min(minutes * self.waiting_per_minute, self.complete)


@dataclass(frozen=True, slots=True)
class Rules:
    """The study's rules at the moment a dialog was opened. All durations in seconds.

    They are stored inside the dialog's first event, so a dialog keeps its rules when the
    study's are changed.
    """

    protocol: str = "visdial"
    rounds: int = 10
    grace_s: float = 60.0
    turn_limit_s: float = 180.0
    turn_stretch: int = 3
    dialog_limit_s: float = 3600.0
    pair_again_below: int = 3
    pay: Pay = field(default_factory=Pay)

    @property
    def kind(self) -> Protocol:
        return PROTOCOLS[self.protocol]

    @property
    def messages(self) -> int:
        """How many messages a complete dialog has."""
        return self.rounds * len(self.kind.turns)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rules:
        return cls(**{**data, "pay": Pay(**data["pay"])})
