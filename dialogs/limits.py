"""The limits of a message's text, in the one place that knows them. Pure."""

from __future__ import annotations

import unicodedata
from typing import Final

MAX_CHARACTERS: Final = 500
"""Code points, after trimming. The page counts the same way."""

_FORBIDDEN: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Cn", "Zs", "Zl", "Zp", "Mn", "Me"})
_BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and a symbol by their category, but drawn as nothing: the fillers of Hangul, and the
Braille pattern without dots."""


class BadText(ValueError):
    """A text that is refused; its message may be shown to the worker."""


def clean_text(text: str) -> str:
    """Return `text` trimmed, or raise `BadText` with a sentence the worker can act on."""
    text = text.strip()
    # Nearly every message: none of its characters needs a closer look.
    plain = text.isascii() and text.isprintable()
    if not text or (not plain and is_blank(text)):
        raise BadText("The message is empty. Please write something.")
    if len(text) > MAX_CHARACTERS:
        raise BadText(
            f"The message has {len(text)} characters; {MAX_CHARACTERS} is the most. "
            "Please shorten it."
        )
    if not plain and any(unicodedata.category(c) in _FORBIDDEN for c in text):
        raise BadText(
            "The message holds a line break or a character that cannot be sent. "
            "Please write it as one line of plain text."
        )
    return text


MOST_OF_TEAM: Final = 1000
"""Characters of a line that somebody of the team writes."""


def not_a_line(text: str) -> str:
    """Why this is no line that somebody of the team may write; empty, if it is one."""
    if any(char < " " or char == "\x7f" for char in text):
        return "must be one line without control characters"
    if len(text) > MOST_OF_TEAM:
        return f"must have {MOST_OF_TEAM} characters or fewer, not {len(text)}"
    return ""


def is_blank(text: str) -> bool:
    """Whether nothing of this text could be seen."""
    return all(map(_is_invisible, text))


def _is_invisible(char: str) -> bool:
    return char in _BLANK or unicodedata.category(char) in _INVISIBLE
