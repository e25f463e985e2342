"""The countries that workers can live in: ISO 3166-1 codes with English names, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Final


def _read() -> tuple[tuple[str, str], ...]:
    lines = Path(__file__).with_name("countries.txt").read_text(encoding="utf-8").splitlines()
    return tuple((line[:2], line[3:]) for line in lines)


COUNTRIES: Final = _read()
"""Pairs of code and name."""

NAMES: Final = dict(COUNTRIES)
"""By code."""
