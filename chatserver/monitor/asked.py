"""What an address asks for, checked: whatever is wrong is told in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeVar

from chatserver.monitor.answers import NotDone, bad_request
from chatserver.monitor.cursors import from_text
from dialogs.record.listing import Cursor

Kind = TypeVar("Kind", bound=StrEnum)

LONGEST: Final = 200
"""Characters of a value in an address, at most."""
MOST_DIGITS: Final = 9


def bad(where: str, why: str) -> NotDone:
    """What was asked for makes no sense."""
    return bad_request(f"{where}: {why}")


def text(query: Mapping[str, str], name: str) -> str | None:
    """A text in an address; None if it is empty or left out."""
    value = query.get(name, "")
    if len(value) > LONGEST:
        raise bad(name, f"must have {LONGEST} characters or fewer")
    if any(char < " " or char == "\x7f" for char in value):
        raise bad(name, "must hold no control characters")
    return value or None


def one_of(query: Mapping[str, str], name: str, kind: type[Kind]) -> Kind | None:
    """One of an enum's texts."""
    value = text(query, name)
    if value is None:
        return None
    try:
        return kind(value)
    except ValueError:
        raise bad(name, f"must be one of {', '.join(kind)}") from None


def number(query: Mapping[str, str], name: str) -> float | None:
    """A number, such as a time."""
    value = text(query, name)
    if value is None:
        return None
    try:
        found = float(value)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise bad(name, "must be a number")
    return found


def integer(query: Mapping[str, str], name: str) -> int | None:
    """A whole number, no larger than a column of the record holds."""
    value = text(query, name)
    if value is None:
        return None
    # Whatever is longer is no number of ours, and int() takes spaces and other scripts' digits.
    if not (value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS):
        raise bad(name, "must be a whole number")
    return int(value)


def flag(query: Mapping[str, str], name: str) -> bool:
    """Whether something is wished for."""
    value = text(query, name)
    if value not in (None, "true", "false"):
        raise bad(name, "must be true or false")
    return value == "true"


def after(query: Mapping[str, str]) -> Cursor | None:
    """Where a page begins."""
    value = text(query, "after")
    try:
        return None if value is None else from_text(value)
    except ValueError as error:
        raise bad("after", str(error)) from None
