"""Keys that are derived from our rows, so that whatever is asked again is asked with the same."""

from __future__ import annotations

import secrets

from dialogs.record.hits import HitRow
from dialogs.record.payments import PaymentRow

_PREFIX = "duologue"


def new_hit_id() -> str:
    return f"h_{secrets.token_hex(12)}"


def new_token() -> str:
    """What the link of a HIT carries: 144 bits that nobody can guess."""
    return secrets.token_urlsafe(18)


def record_key(study_id: str, created_at: float) -> str:
    """Names a study in one record: another record of the same study began at another moment.

    A backup that is restored keeps it. Two folders with one study id, such as a pilot that was
    copied, differ, and so know their own HITs on the same account.
    """
    return f"{study_id}:{round(created_at * 1000):x}"


def posting_key(record: str, hit: HitRow) -> str:
    """Names our HIT at the recruiter; `record` is a `record_key`."""
    return f"{_PREFIX}:{record}:{hit.id}"


def growth_key(record: str, hit: HitRow) -> str:
    """Names the growth of our HIT to its seats at the recruiter."""
    return f"{posting_key(record, hit)}:{hit.seats}"


def hit_of_key(record: str, key: str | None) -> str | None:
    """Our HIT's id of a key that this record made, else None."""
    start = f"{_PREFIX}:{record}:"
    return key.removeprefix(start) if key and key.startswith(start) else None


def of_another_record(record: str, key: str | None) -> bool:
    """Whether a key was made for the same study, but by another record."""
    study_id = record.rpartition(":")[0]
    ours = key is not None and key.startswith(f"{_PREFIX}:{study_id}:")
    return ours and hit_of_key(record, key) is None


def bonus_key(payment: PaymentRow) -> str:
    """Names a payment at the recruiter."""
    return f"{payment.arrival_id}:{payment.reason}"
