"""What is on Prolific's side: studies, submissions, groups and money, and the people taking part.

The rules are those of the documentation pages that `prolific_server.py` names. Where they are
silent, what was chosen stands at its place, marked "Chosen".
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

RESERVED_S = 600.0
AUTO_APPROVED_S = 21 * 24 * 3600.0
FREES_PLACE = {"RETURNED", "TIMED-OUT", "REJECTED", "SCREENED OUT"}
STATUSES = (
    "RESERVED",
    "ACTIVE",
    "AWAITING REVIEW",
    "APPROVED",
    "PARTIALLY APPROVED",
    "REJECTED",
    "RETURNED",
    "TIMED-OUT",
    "SCREENED OUT",
)


class Fault(Exception):
    """The API refuses."""

    def __init__(self, status: int, title: str, detail: object = "") -> None:
        super().__init__(title)
        self.status, self.title, self.detail = status, title, detail


class NoPlace(Exception):
    """A participant cannot have a place of this study."""


@dataclass
class Submission:
    id: str
    study_id: str
    participant: str
    status: str
    started: float
    completed: float | None = None
    code: str | None = None
    return_requested: float | None = None
    return_reasons: list[str] = field(default_factory=list)
    bonuses: list[tuple[float, int]] = field(default_factory=list)
    """(seen from, minor units)"""
    rewards: list[int] = field(default_factory=list)
    """Minor units: none or one, if all is well."""


@dataclass
class BulkPayment:
    id: str
    study_id: str
    amounts: list[tuple[str, int]]
    """(submission, minor units)"""
    times_paid: int = 0


@dataclass
class World:
    """One workspace. Money in minor units, times in seconds since 1970; `now` moves only when
    the test moves it."""

    token: str = "t0ken-of-the-team"
    workspace_id: str = "5f0000000000000000000001"
    project_id: str = "5f0000000000000000000002"
    currency: str = "USD"
    balance: int = 10_000_000
    fee_percent: int = 40
    has_screen_outs: bool = False
    payments_take_s: float = 0.0
    now: float = 1_790_000_000.0
    studies: dict[str, dict[str, Any]] = field(default_factory=dict)
    stopped: set[str] = field(default_factory=set)
    submissions: dict[str, Submission] = field(default_factory=dict)
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)
    payments: dict[str, BulkPayment] = field(default_factory=dict)
    messages: list[tuple[str, str, str]] = field(default_factory=list)
    """(participant, study, body)"""
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(16))

    def new_id(self) -> str:
        return f"65a{next(self._ids):021x}"

    def time(self, at: float | None) -> str | None:
        return None if at is None else datetime.fromtimestamp(at, UTC).isoformat()

    def move(self, seconds: float) -> None:
        """Let time go by."""
        self.now += seconds
        self.settle()

    # --- What a participant does -------------------------------------------------------------

    def take(self, study_id: str, participant: str | None = None) -> Submission:
        """Reserve a place."""
        self.settle()
        study = self.studies.get(study_id)
        if study is None or study["status"] != "ACTIVE":
            raise NoPlace("not active")
        participant = participant or self.new_id()
        mine = [s for s in self.of(study_id) if s.participant == participant]
        config = study["submissions_config"]
        most = config["max_submissions_per_participant"]
        inside = sum(s.status in ("RESERVED", "ACTIVE") for s in self.of(study_id))
        if most != -1 and len(mine) >= most:
            raise NoPlace("took part already")
        if any(s.status in ("RESERVED", "ACTIVE") for s in mine):
            raise NoPlace("is inside already")
        if config["max_concurrent_submissions"] not in (-1, None) and (
            inside >= config["max_concurrent_submissions"]
        ):
            raise NoPlace("too many inside")
        if self.taken(study_id) >= study["total_available_places"]:
            raise NoPlace("full")
        for wanted in study["filters"]:
            if wanted["filter_id"] == "participant_group_blocklist" and any(
                participant in self.members[group] for group in wanted["selected_values"]
            ):
                raise NoPlace("not shown to this participant")
        submission = Submission(self.new_id(), study_id, participant, "RESERVED", self.now)
        self.submissions[submission.id] = submission
        return submission

    def open(self, submission: Submission) -> str:
        """Open the study's link: the address with the ids filled in."""
        assert submission.status in ("RESERVED", "ACTIVE"), submission.status
        submission.status = "ACTIVE"
        url: str = self.studies[submission.study_id]["external_study_url"]
        for name, value in (
            ("PROLIFIC_PID", submission.participant),
            ("STUDY_ID", submission.study_id),
            ("SESSION_ID", submission.id),
        ):
            url = url.replace(f"{{{{%{name}%}}}}", value)
        return url

    def complete(self, submission: Submission, code: str) -> None:
        """Go to the completion address with a code, whose actions are then run.

        Chosen: a code the study does not have is kept, and the submission awaits review.
        """
        if submission.status not in ("RESERVED", "ACTIVE"):
            return
        submission.code, submission.completed = code, self.now
        submission.status = "AWAITING REVIEW"
        codes = self.studies[submission.study_id]["completion_codes"]
        for known in codes:
            if known["code"] == code and known.get("actor", "participant") == "participant":
                for action in known["actions"]:
                    self._act(submission, action)
        self.settle()

    def give_back(self, submission: Submission) -> None:
        """Return the place. Chosen: also while awaiting review, as after a request to return."""
        assert submission.status in ("RESERVED", "ACTIVE", "AWAITING REVIEW"), submission.status
        submission.status = "RETURNED"
        self.settle()

    def time_out(self, submission: Submission) -> None:
        """Let the longest time for one place go by."""
        study = self.studies[submission.study_id]
        self.move(study["maximum_allowed_time"] * 60 + 1)

    # --- What Prolific does by itself ----------------------------------------------------------

    def settle(self) -> None:
        """What follows from the time and the places."""
        for s in self.submissions.values():
            longest = self.studies[s.study_id]["maximum_allowed_time"] * 60
            if s.status == "RESERVED" and self.now - s.started > RESERVED_S:
                # Chosen: a place nobody came for counts as run out.
                s.status = "TIMED-OUT"
            elif s.status == "ACTIVE" and self.now - s.started > longest:
                s.status = "TIMED-OUT"
            elif s.status == "AWAITING REVIEW" and (
                self.now - (s.completed or self.now) > AUTO_APPROVED_S
            ):
                self.approve(s)
        for study in self.studies.values():
            self._settle_study(study)

    def _settle_study(self, study: dict[str, Any]) -> None:
        here = self.of(study["id"])
        full = self.taken(study["id"]) >= study["total_available_places"]
        busy = any(s.status in ("RESERVED", "ACTIVE") for s in here)
        open_reviews = any(s.status == "AWAITING REVIEW" for s in here)
        over = study["id"] in self.stopped
        if study["status"] not in ("ACTIVE", "AWAITING REVIEW", "COMPLETED"):
            return
        if over or (full and not busy):
            study["status"] = "AWAITING REVIEW" if open_reviews else "COMPLETED"
        else:
            study["status"] = "ACTIVE"

    def approve(self, submission: Submission) -> None:
        submission.status = "APPROVED"
        submission.rewards.append(self.studies[submission.study_id]["reward"])

    def screen_out(self, submission: Submission, action: dict[str, Any]) -> None:
        if action["slots"] < 1:
            raise Fault(400, "Validation error", "no screen out slots are left")
        action["slots"] -= 1
        submission.status = "SCREENED OUT"
        submission.rewards.append(action["fixed_screen_out_reward"])

    def _act(self, submission: Submission, action: dict[str, Any]) -> None:
        match action["action"]:
            case "AUTOMATICALLY_APPROVE":
                self.approve(submission)
            case "MANUALLY_REVIEW":
                pass
            case "REQUEST_RETURN":
                self.request_return(submission, [action["return_reason"]])
            case "FIXED_SCREEN_OUT_PAYMENT":
                self.screen_out(submission, action)
            case other:
                raise AssertionError(other)

    def request_return(self, submission: Submission, reasons: list[str]) -> None:
        submission.return_requested = self.now
        submission.return_reasons += reasons

    # --- Counting --------------------------------------------------------------------------

    def of(self, study_id: str) -> list[Submission]:
        return [s for s in self.submissions.values() if s.study_id == study_id]

    def taken(self, study_id: str) -> int:
        return sum(s.status not in FREES_PLACE for s in self.of(study_id))

    def counts(self, study_id: str) -> dict[str, int]:
        counted = Counter(s.status for s in self.of(study_id))
        return {status: counted[status] for status in STATUSES} | {"TOTAL": counted.total()}

    def cost(self, reward: int, places: int) -> int:
        """Minor units, fees included. Chosen: the fee is rounded up."""
        return reward * places + math.ceil(reward * places * self.fee_percent / 100)

    def spend(self, amount: int) -> None:
        """Chosen: the text and the status of the refusal."""
        if amount > self.balance:
            raise Fault(400, "Validation error", "Not enough balance in the workspace wallet")
        self.balance -= amount

    def bonuses_of(self, submission: Submission) -> list[int]:
        """The bonuses that can be seen by now, minor units."""
        return [amount for seen, amount in submission.bonuses if seen <= self.now]

    def pay(self, payment: BulkPayment) -> None:
        """Pays, and pays again when asked again: it is not idempotent."""
        total = sum(amount for _, amount in payment.amounts)
        self.spend(self.cost(total, 1))
        payment.times_paid += 1
        for submission_id, amount in payment.amounts:
            seen = self.now + self.payments_take_s
            self.submissions[submission_id].bonuses.append((seen, amount))
