"""How lines for people count things."""

from __future__ import annotations


def count(number: int, one: str, many: str = "") -> str:
    """`1 payment`, `2 payments`; `many` where an s does not make it."""
    return f"{number} {one if number == 1 else many or one + 's'}"
