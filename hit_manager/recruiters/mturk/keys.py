"""How the keys of our rows travel, so that a request that comes twice is known over there."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from hit_manager.recruiters.base import Bonus

MAX_KEY: Final = 200
"""Characters of a key: with the mark before it, it must fit into a HIT's annotation of 255."""

_TOKEN: Final = re.compile(r"[\x21-\x7e]{1,64}")


def request_token(key: str) -> str:
    """The `UniqueRequestToken` for one of our keys: itself, or a hash of one that is too long."""
    return key if _TOKEN.fullmatch(key) else _digest(key)


def reason_with_reference(bonus: Bonus) -> str:
    """What the worker reads, with a reference by which the payment is found again.

    Tokens are forgotten after a day and are in no list; this stays.
    """
    return f"{bonus.reason.strip() or 'Your work'} (payment {_digest(bonus.key)[:12].upper()})"


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
