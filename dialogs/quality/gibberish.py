"""The flag for messages that are no words of any language.

It knows no dictionary. What is judged are words of Latin letters that no language spells so, and
keys that lie side by side; of other scripts only one sign over and over is caught, so that no
language is taken for gibberish because it is not English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from dialogs.quality.model import Finding, Flag, Limits, Line, Talk
from dialogs.quality.wording import called, quoted, words


def _walks(rows: Iterable[str], keys: int) -> frozenset[str]:
    return frozenset(
        way[start : start + keys]
        for row in rows
        for way in (row, row[::-1])
        for start in range(len(row) - keys + 1)
    )


_LOWER_ROWS: Final = ("asdfghjkl", "zxcvbnm", "yxcvbnm", "qsdfghjklm", "wxcvbn")
_UPPER_ROWS: Final = ("qwertyuiop", "qwertzuiop", "azertyuiop")
# Words hold walks of the upper row, as in `property` and `blazer`; of the lower ones hardly any.
_WALKS_5: Final = _walks(_UPPER_ROWS, 5) - {"treza"}
_WALKS_4: Final = _walks(_LOWER_ROWS, 4) | {"qwer", "uiop"}
_WALKS_3: Final = _walks((*_LOWER_ROWS, *_UPPER_ROWS), 3)

_LATIN: Final = re.compile(r"[a-zß-öø-ÿĀ-ſ]+")
_VOWELS: Final = frozenset("aeiouyàáâãäåæèéêëìíîïòóôõöøœùúûüýÿāăąēĕėęěīĭįıōŏőūŭůűųŷ")
_MORE_VOWELS: Final = {"cy": "wŵ"} | dict.fromkeys(
    ("cs", "sk", "sl", "hr", "sr", "bs", "sh", "mk"), "lŕĺr"
)
"""Consonants that carry a syllable in a language, as in the Czech `vlk`."""
_ONE_SOUND: Final = re.compile(
    "t?sch|ch|sz|cz|rz|dz|th|ph|ng|ck|sh|gh|dj|nj|lj|ts|tz|st|pf"
)  # fmt: skip
_CONSONANTS: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]{5}")
_MORE_CONSONANTS: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]{6}")
_COMPOUNDING: Final = frozenset(("de", "nl", "sv", "da", "no", "nb", "nn", "is", "fi", "hu"))
"""Languages that join words, as in the German `Herbstkleider`: there more stand in a row."""
_HUMMED: Final = frozenset("mzxwio")
"""Letters that are a word when they are repeated: `mmm`, `zzz`, `www`, and Roman numbers."""


def gibberish(talk: Talk, limits: Limits) -> Iterator[Finding]:
    """Messages of which half the letters and more are in words that nobody means."""
    language = talk.language.lower().partition("-")[0]
    for line in talk.lines:
        reason = _why(line, language, limits)
        if reason is not None:
            yield Finding(Flag.GIBBERISH, line.role, line.round, line.seq, reason)


def _why(line: Line, language: str, limits: Limits) -> str | None:
    said = words(line.text)
    if not said:
        return f"{called(line)} holds no letter and no digit: {quoted(line.text)}"
    bad = [word for word in said if mashed(word, language)]
    if not bad or sum(map(len, bad)) < limits.mashed_share * sum(map(len, said)):
        return None
    return f"{called(line)} looks like random keys: {quoted(line.text)}"


@lru_cache(maxsize=8192)
def mashed(word: str, language: str = "en") -> bool:
    """Whether a word, in lower case, looks like keys hit at random."""
    more_vowels = _MORE_VOWELS.get(language, "")
    if len(set(word)) == 1:
        return len(word) >= 3 and word[0] not in _HUMMED and not word[0].isdecimal()
    if not _LATIN.fullmatch(word):
        return False
    if _holds(word, _WALKS_4, 4) or _holds(word, _WALKS_5, 5):
        return True
    if len(word) >= 6 and all(word[i : i + 3] in _WALKS_3 for i in range(0, len(word) - 2, 3)):
        return True
    # Plurals of abbreviations, as in `dvds`, and what people hum, as in `hmmm` and `psst`.
    sounds = word.rstrip("s").replace("m", "")
    if len(sounds) >= 4 and _VOWELS.union(more_vowels).isdisjoint(sounds) and "ss" not in sounds:
        return not sounds.startswith("http")
    if more_vowels:
        word = word.translate(dict.fromkeys(map(ord, more_vowels), "a"))
    cluster = _MORE_CONSONANTS if language in _COMPOUNDING else _CONSONANTS
    return cluster.search(_ONE_SOUND.sub("t", word)) is not None


def _holds(word: str, walks: frozenset[str], keys: int) -> bool:
    return any(word[start : start + keys] in walks for start in range(len(word) - keys + 1))
