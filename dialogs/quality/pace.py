"""Flags that need to know how a message was written: too fast, and pasted."""

from __future__ import annotations

from collections.abc import Iterator

from dialogs.quality.model import Finding, Flag, Limits, Line, Talk
from dialogs.quality.wording import called, quoted, rounds, words
from dialogs.rules import Role


def too_fast(talk: Talk, limits: Limits) -> Iterator[Finding]:
    """Messages sent sooner than anybody can read the one before and write this one."""
    before: Line | None = None
    for line in talk.lines:
        reason = _not_read(line, before, limits) or _not_typed(line, limits)
        if reason is not None:
            yield Finding(Flag.TOO_FAST, line.role, line.round, line.seq, reason)
        before = line


def _not_read(line: Line, before: Line | None, limits: Limits) -> str | None:
    if before is None or before.role is line.role or before.at_ms is None or line.at_ms is None:
        return None
    if line.alone:
        # Nobody is there to be answered.
        return None
    passed_s = (line.at_ms - before.at_ms) / 1000
    if passed_s < 0:
        # Clocks of two processes; it says nothing about the person.
        return None
    composed_s = (line.composed_ms or 0) / 1000
    if line.role is Role.QUESTIONER and composed_s > passed_s:
        # The next question may be written while the answer is awaited.
        return None
    needed_s = limits.react_s + _length(before.text) / limits.read_words_per_s
    if passed_s < needed_s:
        what = "question" if before.role is Role.QUESTIONER else "answer"
        return f"{called(line)} came {passed_s:.1f} s after the {what}, too fast to have read it"
    if not line.pasted and composed_s <= passed_s:
        needed_s += len(line.text) / limits.type_chars_per_s
        if passed_s < needed_s:
            return (
                f"{called(line)} came {passed_s:.1f} s after the message before, too fast to have "
                f"read that and typed {len(line.text)} characters"
            )
    return None


def _length(text: str) -> float:
    """Words, also of scripts that write none: six characters count as one."""
    return max(len(words(text)), len(text) / 6)


def _not_typed(line: Line, limits: Limits) -> str | None:
    # A page that tells nothing says 0.
    if line.pasted or not line.composed_ms or len(line.text) < limits.typed_chars:
        return None
    composed_s = line.composed_ms / 1000
    if len(line.text) <= limits.type_chars_per_s * composed_s:
        return None
    return (
        f"{called(line)} was written in {composed_s:.1f} s, too fast to have typed "
        f"{len(line.text)} characters"
    )


def pasted(talk: Talk, limits: Limits) -> Iterator[Finding]:
    """Several pasted messages of one person, or one long one."""
    for role in Role:
        found = [line for line in talk.of(role) if line.pasted]
        longest = max(found, key=lambda line: len(line.text), default=None)
        if longest is None:
            continue
        if len(found) < limits.pasted_messages and len(longest.text) < limits.pasted_chars:
            continue
        what = "question" if role is Role.QUESTIONER else "answer"
        one = len(found) == 1
        reason = (
            f"{what.capitalize()}{'' if one else 's'} {rounds(found)} {'was' if one else 'were'} "
            f"pasted, {'' if one else 'the longest '}{quoted(longest.text)}"
        )
        yield Finding(
            Flag.PASTED, role, longest.round if one else None, longest.seq if one else None, reason
        )
