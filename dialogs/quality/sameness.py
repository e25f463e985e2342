"""Flags about saying the same: repeats, and monotonous."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from dialogs.quality.model import Finding, Flag, Limits, Line, Talk
from dialogs.quality.wording import YES, YES_OR_NO, bare, called, plain, quoted, words
from dialogs.rules import Role

_FILLERS: Final = frozenset(
    (
        "and",
        "so",
        "ok",
        "okay",
        "please",
        "well",
        "um",
        "uh",
        "hi",
        "hello",
        "hey",
        "alright",
        "great",
    )
)
"""English words before a question that do not make it another one."""


def repeats(talk: Talk, limits: Limits) -> Iterator[Finding]:
    """A question that was asked before, and any message that repeats the caption."""
    caption = words(talk.caption)
    asked: dict[str, Line] = {}
    for line in talk.lines:
        said = words(line.text)
        if not said:
            continue
        if _is_caption(said, caption, limits):
            reason = f"{called(line)} repeats the caption: {quoted(line.text)}"
            yield Finding(Flag.REPEATS, line.role, line.round, line.seq, reason)
            continue
        if line.role is not Role.QUESTIONER:
            continue
        first = asked.setdefault(_asked(said), line)
        if first is not line:
            reason = f"{called(line)} repeats question {first.round}: {quoted(line.text)}"
            yield Finding(Flag.REPEATS, line.role, line.round, line.seq, reason)


def _asked(said: list[str]) -> str:
    """The question without the fillers before it."""
    start = 0
    while start < len(said) - 2 and said[start] in _FILLERS:
        start += 1
    return " ".join(said[start:])


def _is_caption(said: list[str], caption: list[str], limits: Limits) -> bool:
    """Whether a message holds the caption, or is a long piece of it."""
    if said == caption:
        return len(said) >= limits.caption_least_words
    if len(caption) < limits.caption_words or len(said) < limits.caption_words:
        return False
    mine, theirs = f" {' '.join(said)} ", f" {' '.join(caption)} "
    if theirs in mine:
        return True
    return mine in theirs and len(said) >= limits.caption_share * len(caption)


def monotonous(talk: Talk, limits: Limits) -> Iterator[Finding]:
    """Answers that are all a bare yes or no, or nearly all the same."""
    answers = [plain(line.text) for line in talk.of(Role.ANSWERER)]
    if len(answers) < limits.monotonous_messages:
        return
    reason = None
    answer, times = Counter(answers).most_common(1)[0]
    if times >= limits.monotonous_share * len(answers):
        shown = next(line.text for line in talk.of(Role.ANSWERER) if plain(line.text) == answer)
        reason = f"{times} of {len(answers)} answers are the same: {quoted(shown)}"
    elif all(bare(answer) in YES_OR_NO for answer in answers):
        reason = f"All {len(answers)} answers are a bare yes or no"
    elif all(answer and bare(answer.split()[0]) in YES for answer in answers):
        reason = f"All {len(answers)} answers begin with yes"
    if reason is not None:
        yield Finding(Flag.MONOTONOUS, Role.ANSWERER, None, None, reason)
