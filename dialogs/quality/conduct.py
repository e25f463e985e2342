"""Flags for what a person wants of the other: suspicious, indecent and offensive messages.

The word lists lie in `lists/`, with where they come from and their licences.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from dialogs.quality.model import Finding, Flag, Limits, Line, Talk
from dialogs.quality.wording import Phrases, called, plain, quoted

_APPS: Final = (
    "whats ?app|telegram|signal|wechat|we chat|viber|skype|discord|snap ?chat|snap|insta(?:gram)?|"
    "facebook|fb|messenger|twitter|tik ?tok|linkedin|line|kik|imo|tinder|onlyfans"
)
_SUSPICIOUS: Final = (
    ("asks to go on elsewhere", Phrases.of(
        "my your ur me us dm pm talk chat continue move switch go meet whats "
        "whatsapp telegram wechat",
        rf"\b(?:my|your|ur) (?:{_APPS}|insta|number|phone|phone number|cell|email|e ?mail|mail)\b"
        rf"(?! (?:screen|page|case|is (?:on|off|in)))"
        rf"|\b(?:add|text|message|msg|dm|pm|call|contact|write|follow|email|reach|ping|hit) "
        r"(?:me|us)\b(?: up)?(?: \w+)? "
        r"(?:on|at|in|via|by|over|with|through|to|for|privately|later)\b"
        rf"|\b(?:dm|pm) me\b|\b(?:talk|chat|continue|move|switch|go|meet)(?: \w+){{0,3}} "
        rf"(?:on|to|over|via) (?:{_APPS})\b"
        r"|\bwhats ?app\b|\btelegram (?:me|group|channel)\b|\bwechat\b"
        r"|\b(?:meet|hang out)(?: up)?(?: with)? me\b|\bi want to meet\b"
    )),
    ("offers or asks for money", Phrases.of(
        "paypal venmo cash cashapp zelle western moneygram bitcoin btc ethereum usdt gift giftcard "
        "giftcards crypto cryptocurrency i we send lend give transfer wire donate earn earning "
        "make making win work passive job investment trading looking want hiring free",
        r"\b(?:paypal|venmo|cash ?app|zelle|western union|moneygram|bitcoin|btc|ethereum|usdt|"
        r"gift ?cards?|crypto(?:currency)?)\b"
        r"|\b(?:i|we) ?(?:ll|will|can|could)? ?(?:pay|give|send) (?:you|u)\b"
        r"(?: \w+){0,3} (?:\d+|money|cash|dollars?|bucks|euros?|extra|rupees)"
        r"|\b(?:send|lend|give|transfer|wire|donate)(?: me| us)?(?: some| the| a little)? "
        r"(?:money|cash|\d+ (?:dollars|bucks|euros))\b"
        r"|\b(?:earn|make|making|earning|win)(?: \w+){0,2} (?:money|cash|income|\d+ (?:a|per) "
        r"(?:day|week|hour|month))\b(?: (?:online|from|at|working|fast|easily|easy|every|daily))"
        r"|\bmake money\b|\bwork from home\b|\bpassive income\b|\bjob (?:offer|opportunity)\b"
        r"|\b(?:investment|trading) (?:opportunity|platform|plan)\b|\b(?:looking|want) (?:for|to) "
        r"(?:hire|invest)\b|\bwe are hiring\b|\bfree (?:money|iphone|gift|trial|crypto)\b"
        r"|\bearn (?:up to |over )?\d+\b|\bearn extra\b"
    )),
    ("is about another survey or a code", Phrases.of(
        "survey questionnaire study code codes link click sign subscribe id ids mturk turk",
        r"\b(?:complete|take|fill|fill out|fill in|finish|do|answer|join) "
        r"(?:this|my|our|a|the|another) "
        r"(?:\w+ )?(?:survey|questionnaire|study)\b"
        r"|\b(?:survey|completion|confirmation|secret|referral|promo|discount|invite|verification) "
        r"codes?\b|\bthe code (?:is|for)\b"
        r"|\b(?:my|your|ur) code\b|\buse (?:my |this )?(?:link|code)\b"
        r"|\bclick (?:on )?(?:the|this|my|here|that)\b"
        r"|\bsign up (?:for|at|on|here|with|now|today)\b|\bsubscribe to\b"
        r"|\b(?:worker|prolific|mturk|turker|participant) ids?\b|\bm ?turk\b|\bmechanical turk\b"
    )),
    ("asks for personal details", Phrases.of(
        "your ur you u card account security passport send",
        r"\b(?:what(?:s| is) |tell me |give me |send me |share )(?:your|ur) "
        r"(?:real |full |first |last |phone |home )?(?:name|address|number|age|email|e ?mail|"
        r"location|password|phone|bank|birthday|city|country)\b"
        r"|\bwhere (?:do|are) (?:you|u) (?:live|from|located|based)\b"
        r"|\bwhere (?:you|u) (?:live|from)\b"
        r"|\bhow old are (?:you|u)\b|\bare (?:you|u) (?:single|married|male or female|a "
        r"(?:boy|girl|man|woman|guy))\b"
        r"|\b(?:credit card|bank account|social security|passport) (?:number|details)\b"
        r"|\bsend (?:me )?(?:a |your |ur )?(?:pic|pics|photo|photos|picture|selfie|nudes?)\b"
    )),
)  # fmt: skip


def suspicious(talk: Talk, limits: Limits) -> Iterator[Finding]:
    """Messages that draw the other person away, to another place, to money or to their details."""
    for line in talk.lines:
        text = plain(line.text)
        for what, pattern in _SUSPICIOUS:
            if pattern.search(text):
                reason = f"{called(line)} {what}: {quoted(line.text)}"
                yield Finding(Flag.SUSPICIOUS, line.role, line.round, line.seq, reason)
                break


# --- Words -----------------------------------------------------------------------------------

_MEANT_AT: Final = Phrases.of(
    "you u your youre ur stupid idiot dumb useless worthless pathetic moron loser stupids idiots "
    "morons dumbs losers shut hell kill die dead",
    r"\b(?:you|u|your|youre|ur)(?: \w+){0,3}? (?:stupid|idiots?|morons?|dumb|dumbass|losers?|ugly|"
    r"imbeciles?|pathetic|worthless|disgusting|useless|liar|brainless)\b"
    r"|\b(?:stupid|idiot|dumb|useless|worthless|pathetic) "
    r"(?:person|worker|partner|idiot|bot|fool|you)\b"
    r"|^(?:stupid|idiot|moron|dumb|loser)s?$|\bshut up\b|\bgo to hell\b|\bscrew you\b"
    r"|\bi hate you\b|\bkill your ?self\b|\bgo die\b|\bhope you die\b|\byou (?:all )?suck\b"
    r"|\bi will kill you\b|\bdrop dead\b",
)
"""Insults that are none when they are said of a thing."""

_LEET: Final = str.maketrans("013457@$!|", "oieastasii")
_INSIDE: Final = re.compile(r"(?<=\w)[^\w\s](?=\w)")
_ORDINARY: Final = re.compile(r"(?:[a-z']{2,}|[ai])(?:,? (?:[a-z']{2,}|[ai]))*[ .?!]*")
"""Words of English with blanks between them: they mean what they say."""
_SPACED: Final = re.compile(r"\b(?:\w[\s.*_-]+){3,}\w\b")
_MASKED: Final = re.compile(r"\b[^\W\d_]+[*#]+[^\W\d_]+\b")


def conduct(talk: Talk, limits: Limits) -> Iterator[Finding]:
    """Indecent and offensive words of English and of the study's language."""
    languages = dict.fromkeys(("en", talk.language.lower().partition("-")[0]))
    patterns = [(flag, found) for each in languages for flag, found in _patterns(each)]
    for line in talk.lines:
        yield from _conduct(line, patterns)


def _conduct(line: Line, patterns: list[tuple[Flag, _List]]) -> Iterator[Finding]:
    readings = _readings(line.text)
    flags = dict.fromkeys(flag for flag, phrases in patterns if any(map(phrases.find, readings)))
    if _MEANT_AT.search(readings[0]):
        flags[Flag.OFFENSIVE] = None
    for flag in flags:
        reason = f"{called(line)} may be {flag.label}: {quoted(line.text)}"
        yield Finding(flag, line.role, line.round, line.seq, reason)


def _readings(text: str) -> list[str]:
    """What a message says as it stands, and as it may be meant: `sh1t`, `f.u.c.k`."""
    readings = [plain(text)]
    lower = unicodedata.normalize("NFKC", text).casefold()
    if _ORDINARY.fullmatch(lower):
        return readings
    if not lower.isalpha() and any(not (c.isalpha() or c in " ,.?'") for c in lower):
        readings.append(plain(lower.translate(_LEET)))
        readings.append(plain(_INSIDE.sub("", lower)))
        # One sign for a letter that is left out; the patterns know the usual ones.
        readings += [_unmasked(word) for word in _MASKED.findall(lower)]
    elif "." in lower:
        readings.append(plain(_INSIDE.sub("", lower)))
    if (spaced := _SPACED.search(lower)) is not None:
        readings.append(plain(re.sub(r"[\s.*_-]", "", spaced[0])))
    return readings


def _unmasked(word: str) -> str:
    """The strong word that a masked one stands for, as in `f**k`; else nothing."""
    shape = re.compile("".join("." if char in "*#" else re.escape(char) for char in word))
    return next((strong for strong in _STRONG if shape.fullmatch(strong)), "")


_STRONG: Final = ("fuck", "fucking", "fucker", "shit", "bitch", "cunt", "asshole", "dick", "pussy")
_FLAGS: Final = {"indecent": Flag.INDECENT, "offensive": Flag.OFFENSIVE}


@lru_cache(maxsize=64)
def _patterns(language: str) -> tuple[tuple[Flag, _List], ...]:
    """The words of each flag in a language; none for one without a list.

    A line of a list is a flag and the words it is for, with bars between; `*` says that the
    letter before it may be repeated.
    """
    file = files(__package__) / "lists" / f"{language}.txt"
    if not re.fullmatch("[a-z]{2,3}", language) or not file.is_file():
        return ()
    found: dict[Flag, list[str]] = {}
    for row in file.read_text(encoding="utf-8").splitlines():
        if row and not row.startswith("#"):
            flag, _, alternatives = row.partition("\t")
            found.setdefault(_FLAGS[flag], []).extend(alternatives.split("|"))
    return tuple((flag, _List.of(each)) for flag, each in found.items())


@dataclass(frozen=True, slots=True)
class _List:
    """Words and phrases as one pattern, and their first words, without which it need not run."""

    firsts: frozenset[str]
    pattern: re.Pattern[str]

    @classmethod
    def of(cls, entries: list[str]) -> _List:
        firsts = frozenset(_single(plain(entry.replace("*", "")).split()[0]) for entry in entries)
        spelled = "|".join(map(_spelled, entries))
        # Marks are no word characters to `\b`, so the ends are blanks or nothing.
        return cls(firsts, re.compile(rf"(?:^|(?<=\s))(?:{spelled})(?=\s|$)"))

    def find(self, text: str) -> bool:
        """Whether a plain text holds one of them."""
        if self.firsts.isdisjoint(map(_single, text.split())):
            return False
        return self.pattern.search(text) is not None


@lru_cache(maxsize=8192)
def _single(word: str) -> str:
    """A word with each letter once where it is repeated."""
    return _REPEATED.sub(r"\1", word)


_REPEATED: Final = re.compile(r"(.)\1+")


def _spelled(words: str) -> str:
    """A list's words as a pattern for plain text."""
    # A letter by its category, so `plain` leaves it.
    starred = plain(words.replace("*", _STAR))
    return r"\s".join(re.escape(word).replace(_STAR, "+") for word in starred.split())


_STAR: Final = "\u02d1"
