"""Dialogs with a spammer in them, to measure the quality flags by. Seeded; no wire, no clock.

Each dialog is an ordinary script in which one person, sometimes both, misbehaves in one way. Which
messages are theirs is told, so that what a flag finds can be counted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeVar

from dialogs.quality import Flag, Lengths, Line, Talk
from dialogs.rules import Role
from duologue.simulate import spam_texts
from duologue.simulate.corpus import Script

_T = TypeVar("_T")


class Spam(StrEnum):
    """In which way somebody misbehaves."""

    RANDOM_KEYS = "random keys"
    YES_MAN = "answers yes to all"
    SAME_QUESTION = "asks the same again"
    CAPTION = "copies the caption"
    PASTES = "pastes"
    TOO_FAST = "sends at once"
    LANGUAGE = "other language"
    ASKS_BACK = "asks back"
    WORDY = "writes essays"
    ONE_PERSON = "one person on both seats"
    CONTACT = "posts contact data"
    LOCATION = "says where they live"
    NAME = "gives a name"
    RECRUITER = "recruits or tricks"
    OFFENSIVE = "insults"
    INDECENT = "is indecent"


EXPECTED: Final = {
    Spam.RANDOM_KEYS: Flag.GIBBERISH,
    Spam.YES_MAN: Flag.MONOTONOUS,
    Spam.SAME_QUESTION: Flag.REPEATS,
    Spam.CAPTION: Flag.REPEATS,
    Spam.PASTES: Flag.PASTED,
    Spam.TOO_FAST: Flag.TOO_FAST,
    Spam.LANGUAGE: Flag.LANGUAGE,
    Spam.ASKS_BACK: Flag.COUNTER_QUESTION,
    Spam.WORDY: Flag.LENGTH_OUTLIER,
    Spam.ONE_PERSON: Flag.SAME_ADDRESS,
    Spam.CONTACT: Flag.CONTACT,
    Spam.LOCATION: Flag.LOCATION,
    Spam.NAME: Flag.NAME,
    Spam.RECRUITER: Flag.SUSPICIOUS,
    Spam.OFFENSIVE: Flag.OFFENSIVE,
    Spam.INDECENT: Flag.INDECENT,
}
"""The flag that should find each kind."""


class Half(StrEnum):
    """Which of the texts: those that the flags were tuned by, or the others."""

    SEEN = "seen"
    HELD_OUT = "held out"


@dataclass(frozen=True, slots=True)
class Spammed:
    """A dialog and the spammer's messages in it, as `seq` numbers."""

    talk: Talk
    kind: Spam
    spam: frozenset[int]


def spammed(kind: Spam, script: Script, rng: random.Random, half: Half) -> Spammed:
    """An English dialog of ten rounds by `script` with a spammer of `kind`."""
    role = _ROLES.get(kind) or rng.choice(list(Role))
    lines = _ordinary(script, rng)
    own = [line for line in lines if line.role is role]
    said = _texts(kind, script, rng, half, len(own))
    changed = {
        line.seq: _written(line, text, rng)
        for line, text in zip(own, said, strict=True)
        if text is not None
    }
    talk = Talk(script.caption, "en", tuple(changed.get(line.seq, line) for line in lines))
    match kind:
        case Spam.PASTES:
            talk = _with(talk, lambda line: replace(line, pasted=True), changed)
        case Spam.TOO_FAST:
            # From a script that waits for nothing to a person who just hits keys.
            delays = rng.choice(((0.05, 0.4), (0.3, 1.0), (0.8, 2.0)))
            talk, changed = _hurried(talk, role, delays, rng)
        case Spam.WORDY:
            talk = replace(talk, lengths=dict.fromkeys(Role, Lengths(50, 4.5, 1.0)))
        case Spam.ONE_PERSON:
            talk = replace(talk, same_address=True)
        case _:
            pass
    return Spammed(talk, kind, frozenset(seq for seq in changed if seq is not None))


_ROLES: Final = {
    Spam.YES_MAN: Role.ANSWERER,
    Spam.SAME_QUESTION: Role.QUESTIONER,
    Spam.ASKS_BACK: Role.ANSWERER,
}


def _ordinary(script: Script, rng: random.Random) -> list[Line]:
    lines: list[Line] = []
    at_ms = 0.0
    for number in range(1, 11):
        for role, text in (
            (Role.QUESTIONER, script.question(number)),
            (Role.ANSWERER, script.answer(number)),
        ):
            composed = _typing_ms(text, rng)
            at_ms += rng.uniform(1500, 9000) + composed
            seq = len(lines) + 2
            lines.append(Line(role, number, text, seq, at_ms, False, composed, rng.randrange(3)))
    return lines


def _typing_ms(text: str, rng: random.Random) -> float:
    return len(text) * rng.uniform(90, 300)


def _written(line: Line, text: str, rng: random.Random) -> Line:
    # Its time stays: how long the others take hardly matters to who reads.
    return replace(line, text=text, composed_ms=min(_typing_ms(text, rng), 20_000))


def _with(talk: Talk, change: Callable[[Line], Line], seqs: dict[int | None, Line]) -> Talk:
    lines = tuple(change(line) if line.seq in seqs else line for line in talk.lines)
    return replace(talk, lines=lines)


def _hurried(
    talk: Talk, role: Role, delays: tuple[float, float], rng: random.Random
) -> tuple[Talk, dict[int | None, Line]]:
    lines: list[Line] = []
    changed: dict[int | None, Line] = {}
    for line in talk.lines:
        if line.role is role and lines and (before := lines[-1].at_ms) is not None:
            delay_ms = 1000 * rng.uniform(*delays)
            line = replace(line, at_ms=before + delay_ms, composed_ms=0.8 * delay_ms)
            changed[line.seq] = line
        lines.append(line)
    return replace(talk, lines=tuple(lines)), changed


# --- What they write -------------------------------------------------------------------------


def _texts(
    kind: Spam, script: Script, rng: random.Random, half: Half, count: int
) -> Sequence[str | None]:
    """The spammer's messages; None where they behave."""
    match kind:
        case Spam.RANDOM_KEYS:
            keys = rng.choice(_KEYS)
            return [_mash(keys, rng) for _ in range(count)]
        case Spam.YES_MAN:
            ways = rng.choice(_of_half(_YES_MEN, half))
            return [rng.choice(ways) for _ in range(count)]
        case Spam.SAME_QUESTION:
            return _same_questions(script, rng, count)
        case Spam.CAPTION:
            return _captions(script.caption, rng, count)
        case Spam.LANGUAGE:
            # Whole languages are held out, not sentences.
            tongue = rng.choice(_of_half(list(spam_texts.LANGUAGES), half))
            return rng.sample(spam_texts.LANGUAGES[tongue], count)
        case Spam.WORDY:
            pool = _of_half([t for t in spam_texts.PASTED if len(t) > 60], half)
            return [f"{rng.choice(pool)} {rng.choice(pool)}" for _ in range(count)]
        case Spam.PASTES:
            return _now_and_then(_of_half(spam_texts.PASTED, half), rng, count, most=count)
        case Spam.ASKS_BACK:
            return _now_and_then(_of_half(spam_texts.COUNTER, half), rng, count)
        case Spam.TOO_FAST | Spam.ONE_PERSON:
            return [None] * count
        case _:
            return _now_and_then(_of_half(_POSTS[kind], half), rng, count)


_POSTS: Final = {
    Spam.CONTACT: spam_texts.CONTACT,
    Spam.LOCATION: spam_texts.LOCATION,
    Spam.NAME: spam_texts.NAME,
    Spam.RECRUITER: spam_texts.RECRUITER,
    Spam.OFFENSIVE: spam_texts.OFFENSIVE,
    Spam.INDECENT: spam_texts.INDECENT,
}
_KEYS: Final = (
    "asdfghjkl",
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiopasdfghjkl",
    "sdfghjkl;",
    "fgh",
)
_YES_MEN: Final = (
    ("yes",),
    ("yes", "yeah"),
    ("yes", "no"),
    ("yes", "Yes it is", "yes."),
    ("ok",),
    ("sure", "of course", "yes"),
    ("yes", "i think so", "yes i see"),
    ("good", "nice"),
    ("YES!!", "yess", "yes"),
    ("correct", "right", "true"),
)


def _of_half(texts: Sequence[_T], half: Half) -> Sequence[_T]:
    return texts[0 if half is Half.SEEN else 1 :: 2]


def _now_and_then(
    texts: Sequence[str], rng: random.Random, count: int, most: int = 3
) -> list[str | None]:
    said: list[str | None] = [None] * count
    for place in rng.sample(range(count), rng.randint(1, most)):
        said[place] = rng.choice(texts)
    return said


def _mash(keys: str, rng: random.Random) -> str:
    words = ("".join(rng.choices(keys, k=rng.randint(3, 9))) for _ in range(rng.randint(1, 4)))
    return " ".join(words)


def _same_questions(script: Script, rng: random.Random, count: int) -> list[str | None]:
    """One question in each of some rounds, at times written a little differently."""
    said: list[str | None] = [None] * count
    question = script.question(1)
    ways = (
        question, f"{question}?", question.upper(), f"  {question} ??", f"ok {question}",
        f"so {question}", f"{question} or not", question.replace("is ", "'s ", 1),
    )  # fmt: skip
    for place in rng.sample(range(1, count), rng.randint(1, 5)):
        said[place] = rng.choice(ways)
    return said


def _captions(caption: str, rng: random.Random, count: int) -> list[str | None]:
    words = caption.split()
    ways = (
        caption, caption.capitalize() + ".", f"it shows {caption}", f"is it {caption}?",
        " ".join(words[: max(3, len(words) // 2)]), " ".join(words[len(words) // 4 :]),
    )  # fmt: skip
    said: list[str | None] = [None] * count
    for place in rng.sample(range(count), rng.randint(1, 5)):
        said[place] = rng.choice(ways)
    return said
