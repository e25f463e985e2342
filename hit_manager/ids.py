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


def posting_key(study_id: str, hit: HitRow) -> str:
    """Names our HIT at the recruiter."""
    return f"{_PREFIX}:{study_id}:{hit.id}"


def growth_key(study_id: str, hit: HitRow) -> str:
    """Names the growth of our HIT to its seats at the recruiter."""
    return f"{posting_key(study_id, hit)}:{hit.seats}"


def hit_of_key(study_id: str, key: str | None) -> str | None:
    """Our HIT's id of a key that this study made, else None."""
    start = f"{_PREFIX}:{study_id}:"
    return key.removeprefix(start) if key and key.startswith(start) else None


def bonus_key(payment: PaymentRow) -> str:
    """Names a payment at the recruiter."""
    return f"{payment.arrival_id}:{payment.reason}"
