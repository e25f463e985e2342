"""The flag for an answerer who asks back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dialogs.quality.model import Finding, Flag, Limits, Talk
from dialogs.quality.wording import called, plain, quoted, words
from dialogs.rules import Role

_MARKS: Final = "?？؟;;՞⁇⁈"
"""Question marks; the Greek one is drawn as a semicolon, and counts only in Greek."""

_BEGINNING: Final = re.compile(
    r"(?:is|are|was|were) (?:it|he|she|they|this|that|these|those|there|you|the)\b"
    r"|(?:do|does|did|can|could|have|has|will|would|should|may) "
    r"(?:you|it|he|she|they|there|i|we|the)\b"
    r"|what(?:s| is| are| do| does| did| about| color| colour| kind| time)\b"
    r"|why (?:do|does|did|are|is|would|not)\b"
    r"|(?:where|when) (?:is|are|do|does|did|was)\b"
    r"|who (?:are|is) (?:you|he|she|it|this|that|they|the)\b"
    r"|how (?:many|much|old|are|do|does|did|is|about|long|big)\b"
    r"|which (?:one|1|of)\b"
)
"""How an English question begins, mark or no mark."""

_NO_APOSTROPHES: Final = dict.fromkeys(map(ord, "'’"))
_ASKING: Final = frozenset(
    plain(
        # English, German, Spanish, Portuguese, French, Italian, Russian, Arabic, Persian, Hindi.
        "what who whom whose where when why how which is are do does did can could will would "
        "should was wer wo wann warum wieso wie welche welcher welches welchen ist sind hast "
        "kannst siehst qué que quién quien dónde donde cuándo cuando cómo como cuál cual cuántos "
        "cuantos cuántas quem onde quando qual quantos quantas por porque "
        "quoi qui où quand pourquoi comment quel quelle quels quelles combien est "
        "che chi dove perché come quale quali quanti quante "
        "что кто где когда почему как какой какая какие сколько "
        "هل ما ماذا من أين اين متى لماذا كيف كم أي چه کجا چرا چند آیا "
        "क्या कौन कहाँ कहां कब क्यों कैसे कैसा कितने कितनी किस"
    ).split()
)
_YOU: Final = frozenset(
    plain(
        "you your u ur du dein deine ihr dir tú tu usted te você vous votre ton tes ты вы тебя "
        "أنت انت आप आपको आपने तुम तुम्हें आपका تو شما"
    ).split()
)
_HEDGES: Final = frozenset(
    plain(
        "maybe perhaps probably possibly guess think vielleicht vermutlich quizás quizas tal peut "
        "forse talvez может ربما शायद شاید"
    ).split()
)


def counter_question(talk: Talk, limits: Limits) -> Iterator[Finding]:
    """An answer that is a question. An unsure one, as in “maybe a dog?”, is none."""
    for line in talk.together(Role.ANSWERER):
        said = words(line.text)
        # With its commas: “is, the sky is visible” is no question.
        if _BEGINNING.match(line.text.casefold().translate(_NO_APOSTROPHES)) or _asks(
            said, line.text, talk.language
        ):
            reason = f"{called(line)} is a question: {quoted(line.text)}"
            yield Finding(Flag.COUNTER_QUESTION, line.role, line.round, line.seq, reason)


def _asks(said: list[str], text: str, language: str) -> bool:
    end = text.rstrip(" \"'”’»)!.\u200e\u200f")[-1:]
    if len(said) < 2 or not end or end not in _MARKS:
        return False
    if end in ";;" and not language.lower().startswith("el"):
        return False
    if _HEDGES.intersection(said):
        return False
    return said[0] in _ASKING or not _YOU.isdisjoint(said)
