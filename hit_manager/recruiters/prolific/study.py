"""How a posting of ours becomes a study over there, and how what it says reads back.

Sources: https://docs.prolific.com/api-reference/studies/create-study (fields, completion codes),
https://docs.prolific.com/api-reference/studies/publish-study (transitions),
https://docs.prolific.com/api-reference/submissions/submission-object (statuses).
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, assert_never
from urllib.parse import urlsplit, urlunsplit

from dialogs.rules import AssignmentStatus
from hit_manager.recruiters.base import (
    HitStatus,
    Posting,
    RemoteAssignment,
    RemoteHit,
    Unavailable,
)
from hit_manager.recruiters.prolific.config import ProlificConfig

PARTICIPANT: Final = "PROLIFIC_PID"
STUDY: Final = "STUDY_ID"
SUBMISSION: Final = "SESSION_ID"
"""What Prolific calls a session in addresses is the submission."""

_LONGEST_MINUTES: Final = 24 * 60 - 1


class StudyStatus(StrEnum):
    """What a study over there is."""

    UNPUBLISHED = "UNPUBLISHED"
    SCHEDULED = "SCHEDULED"
    PUBLISHING = "PUBLISHING"
    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    AWAITING_REVIEW = "AWAITING REVIEW"
    COMPLETED = "COMPLETED"


class SubmissionStatus(StrEnum):
    """What a submission over there is."""

    RESERVED = "RESERVED"
    ACTIVE = "ACTIVE"
    AWAITING_REVIEW = "AWAITING REVIEW"
    APPROVED = "APPROVED"
    PARTIALLY_APPROVED = "PARTIALLY APPROVED"
    REJECTED = "REJECTED"
    RETURNED = "RETURNED"
    TIMED_OUT = "TIMED-OUT"
    SCREENED_OUT = "SCREENED OUT"
    UNKNOWN = "UNKNOWN"


# --- Ours to theirs ------------------------------------------------------------------------


def entry_url(url: str) -> str:
    """Our address with the places where Prolific puts its ids."""
    parts = urlsplit(url)
    # Written as they are: encoded, Prolific would not find them.
    ids = "&".join(f"{name}={{{{%{name}%}}}}" for name in (PARTICIPANT, STUDY, SUBMISSION))
    return urlunsplit(parts._replace(query=f"{parts.query}&{ids}" if parts.query else ids))


def longest_minutes(estimated: int, wanted_s: float) -> int:
    """For how long a place is held, in minutes: what we want, within Prolific's bounds of
    2 + 2t + 2√t for an estimate of t minutes, and a day."""
    least = math.ceil(2 + 2 * estimated + 2 * math.sqrt(estimated))
    return min(max(least, math.ceil(wanted_s / 60)), _LONGEST_MINUTES)


def new_study(posting: Posting, config: ProlificConfig, block_group_id: str) -> dict[str, Any]:
    """The body that creates the draft of a study. The posting's keywords, its lifetime and the
    time of automatic approval (21 days) are nothing that Prolific lets anybody set."""
    study: dict[str, Any] = {
        "name": posting.title,
        "internal_name": config.mark + posting.key,
        "metadata": posting.key,
        "description": "".join(
            f"<p>{html.escape(line, quote=False)}</p>"
            for line in posting.description.splitlines()
            if line.strip()
        ),
        "external_study_url": entry_url(posting.url),
        "prolific_id_option": "url_parameters",
        "total_available_places": posting.seats,
        "estimated_completion_time": config.estimated_minutes,
        "maximum_allowed_time": longest_minutes(
            config.estimated_minutes, posting.assignment_duration_s
        ),
        "reward": posting.reward,
        "device_compatibility": list(config.devices),
        "filters": [
            *(dict(wanted) for wanted in config.filters),
            {"filter_id": "participant_group_blocklist", "selected_values": [block_group_id]},
        ],
        # Live pairing wants people at the same time, not slowly and fairly spread.
        "naivety_distribution_rate": 0,
        "submissions_config": {
            "max_submissions_per_participant": config.dialogs_per_worker,
            "max_concurrent_submissions": config.inside_at_once or -1,
        },
        "completion_codes": completion_codes(config),
    }
    if config.project_id is not None:
        study["project"] = config.project_id
    return study


def completion_codes(config: ProlificConfig) -> list[dict[str, Any]]:
    """The codes with what each of them sets off. No code pays by itself: anybody may have been
    told it."""
    review = {"action": "MANUALLY_REVIEW"}
    returning = {
        "action": "REQUEST_RETURN",
        "return_reason": "Thank you for waiting. Nobody was there to talk with, so please return "
        "this submission. Your waiting time is paid as a bonus, and returning it is no rejection.",
    }
    leaving = {
        "action": "REQUEST_RETURN",
        "return_reason": "You left before the end, so please return this submission. Returning it "
        "is no rejection.",
    }
    waited = returning if config.screen_out_cents is None else review
    codes: list[dict[str, Any]] = [
        _code(config.codes.completed, "COMPLETED", review),
        _code(config.codes.waited, "OTHER", waited),
        _code(config.codes.left, "OTHER", leaving),
    ]
    if config.screen_out_cents is not None:
        paying = {
            "action": "FIXED_SCREEN_OUT_PAYMENT",
            "fixed_screen_out_reward": config.screen_out_cents,
            "slots": config.screen_out_slots,
        }
        codes.append(_code(config.codes.screened_out, "FIXED_SCREENOUT", paying, "researcher"))
    return codes


def _code(
    code: str, kind: str, action: Mapping[str, Any], actor: str = "participant"
) -> dict[str, Any]:
    return {"code": code, "code_type": kind, "actor": actor, "actions": [dict(action)]}


# --- Theirs to ours ------------------------------------------------------------------------


def study_status(study: Mapping[str, Any]) -> StudyStatus:
    try:
        return StudyStatus(study["status"])
    except ValueError:
        raise Unavailable(f"a study is {study['status']!r}, whatever that is") from None


def hit_status(status: StudyStatus) -> HitStatus:
    match status:
        case StudyStatus.ACTIVE | StudyStatus.PUBLISHING | StudyStatus.SCHEDULED:
            return HitStatus.OPEN
        case (
            StudyStatus.UNPUBLISHED
            | StudyStatus.PAUSED
            | StudyStatus.AWAITING_REVIEW
            | StudyStatus.COMPLETED
        ):
            return HitStatus.CLOSED
        case _:
            assert_never(status)


_FREES_PLACE: Final = frozenset(
    {
        SubmissionStatus.RETURNED,
        SubmissionStatus.TIMED_OUT,
        SubmissionStatus.REJECTED,
        SubmissionStatus.SCREENED_OUT,
    }
)
"""Prolific gives these places to somebody else by itself."""
_INSIDE: Final = (SubmissionStatus.RESERVED, SubmissionStatus.ACTIVE)
UNDECIDED: Final = (*_INSIDE, SubmissionStatus.AWAITING_REVIEW)


def places_taken(counts: Mapping[str, Any]) -> int:
    """How many places are taken, from a study's counts by status."""
    return sum(
        int(counts.get(status, 0)) for status in SubmissionStatus if status not in _FREES_PLACE
    )


def remote_hit(study: Mapping[str, Any], counts: Mapping[str, Any] | None, mark: str) -> RemoteHit:
    """A study of ours with its counts by status; without them, where nobody can be inside, what
    the study itself says of its places is enough."""
    seats = int(study["total_available_places"])
    name = str(study.get("internal_name") or "")
    if counts is None:
        taken, pending = int(study.get("places_taken") or 0), 0
    else:
        taken = places_taken(counts)
        pending = sum(int(counts.get(status, 0)) for status in _INSIDE)
    status = hit_status(study_status(study))
    room = max(seats - taken, 0)
    return RemoteHit(
        id=str(study["id"]),
        status=status,
        seats=seats,
        free=room if status is HitStatus.OPEN else 0,
        pending=pending,
        key=name.removeprefix(mark) if name.startswith(mark) else None,
        room=room,
    )


def submission_status(submission: Mapping[str, Any]) -> SubmissionStatus:
    try:
        return SubmissionStatus(submission["status"])
    except ValueError:
        return SubmissionStatus.UNKNOWN


def assignment_status(status: SubmissionStatus) -> AssignmentStatus:
    match status:
        case SubmissionStatus.RESERVED | SubmissionStatus.ACTIVE | SubmissionStatus.UNKNOWN:
            return AssignmentStatus.TAKEN
        case SubmissionStatus.AWAITING_REVIEW:
            return AssignmentStatus.SUBMITTED
        case SubmissionStatus.APPROVED | SubmissionStatus.PARTIALLY_APPROVED:
            return AssignmentStatus.APPROVED
        case SubmissionStatus.REJECTED:
            return AssignmentStatus.REJECTED
        case SubmissionStatus.RETURNED | SubmissionStatus.TIMED_OUT | SubmissionStatus.SCREENED_OUT:
            return AssignmentStatus.RETURNED
        case _:
            assert_never(status)


def remote_assignment(submission: Mapping[str, Any], hit_id: str) -> RemoteAssignment:
    """A submission; lists and single ones name the participant and the code differently."""
    completed = submission.get("completed_at")
    return RemoteAssignment(
        id=str(submission["id"]),
        hit_id=hit_id,
        worker_id=str(submission.get("participant_id") or submission.get("participant") or ""),
        status=assignment_status(submission_status(submission)),
        code=submission.get("study_code") or submission.get("entered_code"),
        submitted_at=None if completed is None else datetime.fromisoformat(completed).timestamp(),
    )
