"""What a team sets for Prolific, and the completion codes of a study."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, assert_never
from urllib.parse import urlsplit

from dialogs.rules import Release
from hit_manager.recruiters.backoff import Patience
from hit_manager.recruiters.prolific.client import shown

_PATIENCE: Final = Patience(told=shown)
_PATIENCE_AT_JOIN: Final = Patience(tries=2, first_s=0.5, told=shown)
_CODE_CHARACTERS: Final = 10
"""50 bits: nobody guesses one, and a person can still copy it by hand."""


MOST_PLACES: Final = 10_000
"""Of one study. Prolific names no limit; nobody has so much to ask."""

_DEVICES: Final = frozenset({"desktop", "tablet", "mobile"})
REJECTION_CATEGORIES: Final = frozenset(
    {
        "TOO_QUICKLY",
        "TOO_SLOWLY",
        "FAILED_INSTRUCTIONS",
        "INCOMP_LONGITUDINAL",
        "FAILED_CHECK",
        "LOW_EFFORT",
        "MALINGERING",
        "NO_CODE",
        "BAD_CODE",
        "NO_DATA",
        "UNSUPP_DEVICE",
        "OTHER",
    }
)
"""https://docs.prolific.com/api-reference/submissions/transition-submission"""


@dataclass(frozen=True, slots=True)
class Codes:
    """The completion codes, one for each kind of ending. Each sets off an action over there.

    `completed`: the work waits for our approval. `waited`: nobody came to talk to; the person is
    asked to return their place, and what is owed is paid beside (or, where the workspace has
    screen-outs, the place waits for ours). `left`: the person is asked to return their place.
    `screened_out` is never shown to anybody: only we send it.

    The first three are seen by those who end so, and one of them may tell others. They prove
    nothing, therefore: what is paid follows the record, never the code.
    """

    completed: str
    waited: str
    left: str
    screened_out: str

    @classmethod
    def derived(cls, secret: str, study_id: str) -> Codes:
        """Codes that look random, and are the same after every start without being stored.

        Without `secret` none can be guessed, not even by who knows another.
        """

        def code(kind: str) -> str:
            text = f"prolific-code:{study_id}:{kind}"
            digest = hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()
            return base64.b32encode(digest).decode()[:_CODE_CHARACTERS]

        return cls(code("completed"), code("waited"), code("left"), code("screened out"))

    def all(self) -> tuple[str, ...]:
        return (self.completed, self.waited, self.left, self.screened_out)

    def for_release(self, release: Release, cents: int) -> str:
        """The code that a person who was released so, and is owed so many cents, hands in."""
        match release:
            case Release.ENDED_BY_TEAM if not cents:
                # Work that waits for a review would be approved after a while, and paid.
                return self.left
            case Release.COMPLETED | Release.FINISHED_ALONE | Release.ENDED_BY_TEAM:
                return self.completed
            case Release.NEVER_PAIRED | Release.STUDY_FULL:
                return self.waited
            case Release.LEFT | Release.RETURNED | Release.SCREENED_OUT:
                return self.left
            case _:
                assert_never(release)


@dataclass(frozen=True, slots=True)
class ProlificConfig:
    """What the recruiter needs to know of the team's workspace and study.

    Attributes:
        token: the API token. It can do whatever the account can.
        workspace_id, project_id: where studies, groups and money are. Without a project Prolific
            takes the account's first.
        study_id: our name of the study. It marks what is ours over there.
        codes: the completion codes.
        estimated_minutes: how long the work takes, as told to participants. Prolific wants at
            least £6 or $8 an hour of it, by the median of the real times, too
            (https://researcher-help.prolific.com/en/article/4dd6a0).
        filters: who may take part, as Prolific's filters
            (https://docs.prolific.com/api-reference/filters).
        devices: of desktop, tablet and mobile; none means all.
        dialogs_per_worker: how many submissions one participant may make.
        inside_at_once: how many may be inside at once; None for no limit.
        block_group: the name of the participant group of those who see no study of ours.
        screen_out_cents: what a screen-out pays, in cents, in workspaces that have them; None
            where they do not.
        screen_out_slots: how many screen-outs a study has.
        rejection_category: why work is refused, one of Prolific's categories.
        service_fee_percent: what Prolific adds to every reward and bonus, in per cent of it. The
            figure is not in the API documentation: it stands in the help centre ("What is your
            pricing?", article 445239), differs between kinds of customers, and changes. The
            default is meant to be too high rather than too low, so that a cap holds; set what
            your workspace pays, and compare with `Prolific.projected_cost`, which asks.
        vat_percent: tax on the fee, in per cent of the fee, where the workspace is charged any.
        base_url: the API, without path; complete_url: where participants hand in a code.
        hook_secret: the workspace's secret for hooks; None where there are none.
        paid_within_s: after how many seconds a payment that was made can be seen for certain.
            Prolific says "within minutes".
        patience: how often, and with which pauses, a request is made again.
        join_patience: the same while a participant waits at the door.

    Raises:
        ValueError: a value that cannot be right, named in the text.
    """

    token: str = field(repr=False)
    workspace_id: str
    study_id: str
    codes: Codes = field(repr=False)
    project_id: str | None = None
    estimated_minutes: int = 15
    filters: tuple[Mapping[str, Any], ...] = ()
    devices: tuple[str, ...] = ("desktop", "tablet", "mobile")
    dialogs_per_worker: int = 1
    inside_at_once: int | None = None
    block_group: str = "Duologue: not invited"
    screen_out_cents: int | None = None
    screen_out_slots: int = 100
    rejection_category: str = "OTHER"
    service_fee_percent: Decimal = Decimal("42.8")
    vat_percent: Decimal = Decimal(0)
    base_url: str = "https://api.prolific.com"
    complete_url: str = "https://app.prolific.com/submissions/complete"
    hook_secret: str | None = field(default=None, repr=False)
    paid_within_s: float = 900.0
    patience: Patience = _PATIENCE
    join_patience: Patience = _PATIENCE_AT_JOIN

    def __post_init__(self) -> None:
        for good, what in (
            (bool(self.token), "the token is missing"),
            (bool(self.workspace_id), "the workspace's id is missing"),
            (_is_private(self.base_url), f"{self.base_url} would carry the token in the clear"),
            (1 <= self.estimated_minutes < 12 * 60, "estimated_minutes is not 1 to 719"),
            (set(self.devices) <= _DEVICES, f"devices are of {', '.join(sorted(_DEVICES))}"),
            (self.dialogs_per_worker >= 1, "dialogs_per_worker is less than 1"),
            (self.inside_at_once is None or self.inside_at_once >= 1, "inside_at_once is 0"),
            (self.screen_out_cents is None or self.screen_out_cents > 0, "screen_out_cents is 0"),
            (
                self.rejection_category in REJECTION_CATEGORIES,
                f"rejection_category is none of {', '.join(sorted(REJECTION_CATEGORIES))}",
            ),
            (min(self.service_fee_percent, self.vat_percent) >= 0, "a percentage is negative"),
            (len(set(self.codes.all())) == 4, "two completion codes are the same"),
        ):
            if not good:
                raise ValueError(what)

    @property
    def mark(self) -> str:
        """How the internal name of every study of ours begins."""
        return f"duologue {self.study_id} "


def _is_private(url: str) -> bool:
    """Whether nobody on the way can read what is sent there."""
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in ("127.0.0.1", "::1", "localhost")
