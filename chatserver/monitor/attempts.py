"""How long who tries to sign in has to wait: pure, from what was tried before.

Three limits, none of which strangers can use to lock somebody out:

- of one name from one address: a few tries, then waits that double;
- of all names from one address: more tries, then the same. It does not count for who has signed
  in well from there of late: they share an address with others.
- of one name from everywhere: while it is guessed at from many addresses, an address from which
  that name has not signed in well of late has one try instead of a few.

A browser by which the name has signed in before is an address of its own, and known.
"""

from __future__ import annotations

from typing import Final

from dialogs.record.attempts import Attempts

HOUR_S: Final = 3600.0
REMEMBERED_S: Final = 30 * 24 * HOUR_S
"""How long it counts that a name has signed in well from an address."""
IN_VAIN_S: Final = 24 * HOUR_S
"""How long a try in vain counts for its name and address."""

FREE: Final = 5
FREE_WHILE_GUESSED: Final = 1
FREE_OF_ADDRESS: Final = 20
"""In an hour."""
GUESSED_AT: Final = 30
"""Tries in vain at a name in an hour, from which on it counts as guessed at."""
FIRST_WAIT_S: Final = 15.0
LONGEST_WAIT_S: Final = HOUR_S


def wait_s(tried: Attempts, name: str, now: float, *, known: bool = False) -> float:
    """Seconds until this name may be tried from the address that `tried` is of; 0 for now. With
    `known` it has signed in well from there."""
    mine = [each for each in tried.here if each.name == name]
    welcome = next((each.at for each in mine if each.good), None)
    in_vain = [
        each.at for each in mine if not each.good and each.at > max(welcome or 0.0, now - IN_VAIN_S)
    ]
    known = known or welcome is not None
    guessed = not known and tried.at_name >= GUESSED_AT
    waits = [_wait(in_vain, FREE_WHILE_GUESSED if guessed else FREE, now)]
    if not known:
        of_address = [each.at for each in tried.here if not each.good and each.at > now - HOUR_S]
        waits.append(_wait(of_address, FREE_OF_ADDRESS, now))
    return max(waits)


def _wait(in_vain: list[float], free: int, now: float) -> float:
    """By the times of what was tried in vain, the newest first."""
    over = len(in_vain) - free
    if over < 0 or not in_vain:
        return 0.0
    wait = min(FIRST_WAIT_S * 2.0 ** min(over, 20), LONGEST_WAIT_S)
    # A clock that ran ahead makes nobody wait longer.
    return max(min(in_vain[0], now) + wait - now, 0.0)
