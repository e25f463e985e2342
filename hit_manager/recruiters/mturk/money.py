"""Cents and the API's dollars, and what the service charges.

Source of the fees: mturk.com/pricing; that fractions of a cent from a half on are rounded up is
from Amazon's announcement of 2015. Only whole cents are paid.
"""

from __future__ import annotations

import re
from typing import Final

from hit_manager.recruiters.base import Refused

CROWD: Final = 10
"""From so many assignments in a HIT on, the fee on the reward is doubled."""

_DOLLARS: Final = re.compile(r"([0-9]+)\.?([0-9]{0,2})")


def dollars(cents: int) -> str:
    """150 as "1.50".

    Raises:
        Refused: less than a cent; the service pays no such amounts.
    """
    if cents < 1:
        raise Refused(f"at least one cent can be paid, not {cents}")
    return f"{cents // 100}.{cents % 100:02d}"


def cents(amount: str) -> int:
    """ "1.5" as 150.

    Raises:
        ValueError: it is no such amount.
    """
    found = _DOLLARS.fullmatch(amount)
    if found is None:
        raise ValueError(f"{amount!r} is no amount in dollars")
    return int(found[1]) * 100 + int(found[2].ljust(2, "0"))


def fee(amount: int, *, seats: int = 1, bonus: bool = False, masters: bool = False) -> int:
    """The fee on one payment in cents, for a HIT of `seats` assignments: 20 %, for rewards of
    large HITs 40 %, for those of Masters 5 % more; rounded half up, and at least one cent."""
    if amount <= 0:
        return 0
    percent = 20
    if not bonus:
        percent += 20 * (seats >= CROWD) + 5 * masters
    return max(1, (amount * percent + 50) // 100)
