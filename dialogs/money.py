"""Amounts of money as people write them, and as they are counted: in the smallest unit."""

from __future__ import annotations

import re
from typing import Final

# ISO 4217: currencies whose smallest unit is not a hundredth.
_WHOLE: Final = re.compile("BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|VND|VUV|XAF|XOF|XPF")
_THOUSANDTHS: Final = re.compile("BHD|IQD|JOD|KWD|LYD|OMR|TND")

# ISO 4217, list one (currencies in use), without metals, funds and test codes.
_IN_USE: Final = """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN
    BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD
    FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY
    KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP
    MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR
    RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT
    TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER
    ZAR ZMW ZWG
"""
CURRENCIES: Final = frozenset(_IN_USE.split())
"""The codes of money that people can be paid in."""

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


def with_currency(cents: int, currency: str) -> str:
    """150 cents as `1.50 USD`."""
    return f"{to_text(cents, currency)} {currency}"
