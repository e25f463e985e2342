"""Ids that look like Amazon's and cannot be guessed."""

from __future__ import annotations

import secrets
from typing import Final

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def _random(length: int) -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(length))


def entity_id() -> str:
    """Of a HIT, a HIT type, an assignment, a qualification type: 30 characters from 3 on."""
    return "3" + _random(29)


def person_id() -> str:
    """Of a worker or a requester: A and 13 characters, as the service model's pattern asks."""
    return "A" + _random(13)


def key_id() -> str:
    """Of an access key: 20 characters."""
    return "AKIA" + _random(16)


def secret() -> str:
    """40 characters of which nobody guesses one."""
    return secrets.token_urlsafe(30)


def invitation_code() -> str:
    return secrets.token_urlsafe(15)
