"""Amounts of money as people write them, and as they are counted: in the smallest unit."""

from __future__ import annotations

import re
from typing import Final

# ISO 4217: currencies whose smallest unit is not a hundredth.
_WHOLE: Final = re.compile("BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|VND|VUV|XAF|XOF|XPF")
_THOUSANDTHS: Final = re.compile("BHD|IQD|JOD|KWD|LYD|OMR|TND")

_AMOUNT: Final = re.compile(r"([0-9]{1,9})(?:\.([0-9]+))?")


def decimals(currency: str) -> int:
    """How many digits the currency (ISO 4217 code) has after the point."""
    if _WHOLE.fullmatch(currency):
        return 0
    return 3 if _THOUSANDTHS.fullmatch(currency) else 2


def to_cents(amount: str, currency: str) -> int:
    """`"1.50"` as 150 of the currency's smallest unit. Exact: no binary fractions.

    Raises:
        ValueError: not an amount, or finer than the currency's smallest unit.
    """
    found = _AMOUNT.fullmatch(amount)
    places = decimals(currency)
    if found is None:
        raise ValueError(f'must be an amount such as "{to_text(150, currency)}"')
    whole, fraction = found[1], found[2] or ""
    if len(fraction) > places:
        raise ValueError(f"has {len(fraction)} digits after the point; {currency} has {places}")
    return int(whole + fraction.ljust(places, "0"))


def to_text(cents: int, currency: str) -> str:
    """150 cents as `1.50`, without the currency's name."""
    places = decimals(currency)
    if not places:
        return str(cents)
    return f"{cents // 10**places}.{cents % 10**places:0{places}d}"
