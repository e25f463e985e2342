"""Texts as they are compared: what a message says, less how it is written."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from dialogs.quality.model import Line
from dialogs.rules import Role

_ASCII_WORDS: Final = re.compile(r"[a-z0-9]+")
_APOSTROPHES: Final = "'’‘ʼ`´"
_QUOTED: Final = 80
"""Characters of a message that a reason quotes."""

_YES: Final = """
yes yeah yea yep yup ya yah sure y ja jep jo doch oui ouais si sí sì sim da да ага evet tak hai
はい うん 是 是的 对 예 네 हाँ हां जी नعم نعم ايوه أجل بله آره
"""
_NO: Final = """
no nope nah n nein nee non não nao nej nie нет hayır iie いいえ 不 不是 没有 아니요 아니오
नहीं नही लا لا كلا نه
"""


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """The words of `text` in lower case with single blanks between; invisible signs are gone.

    Words are letters, marks and digits of any script, so that Hindi keeps its vowel signs.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    if text.isascii():
        return " ".join(_ASCII_WORDS.findall(text.replace("'", "").replace("`", "")))
    return " ".join("".join(map(_kept, text)).split())


def words(text: str) -> list[str]:
    return plain(text).split()


def _kept(char: str) -> str:
    category = unicodedata.category(char)
    if category[0] in "LNM":
        # Variation selectors are marks that say how an emoji is drawn.
        return "" if "\ufe00" <= char <= "\ufe0f" else char
    return "" if category == "Cf" or char in _APOSTROPHES else " "


@dataclass(frozen=True, slots=True)
class Phrases:
    """A pattern over plain text, and words of which an English or other ASCII text needs one.

    They are looked for first: most messages hold none, and a long pattern takes its time.
    """

    needs: frozenset[str]
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, needs: str, pattern: str) -> Phrases:
        return cls(frozenset(needs.split()), re.compile(pattern))

    def search(self, text: str) -> bool:
        if text.isascii() and self.needs.isdisjoint(text.split()):
            return False
        return self.pattern.search(text) is not None


_STRETCHED: Final = re.compile(r"([^\W\d])\1+$")


def bare(word: str) -> str:
    """A word without a stretched end, as in `yesss`."""
    return _STRETCHED.sub(r"\1", word)


YES: Final = frozenset(map(plain, _YES.split()))
YES_OR_NO: Final = YES | frozenset(map(plain, _NO.split()))


def called(line: Line) -> str:
    """What a reason calls a message: `Question 3`."""
    return f"{'Question' if line.role is Role.QUESTIONER else 'Answer'} {line.round}"


def quoted(text: str) -> str:
    """A message or its beginning, in quotation marks."""
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cc", "Cs"))
    return f"“{text}”" if len(text) <= _QUOTED else f"“{text[: _QUOTED - 1].rstrip()}…”"


def rounds(lines: list[Line]) -> str:
    """`2`, `2 and 3` or `2, 3 and 7`."""
    numbers = [str(line.round) for line in lines]
    return " and ".join([", ".join(numbers[:-1]), numbers[-1]] if numbers[1:] else numbers)
