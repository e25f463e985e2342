"""Quality flags: what in a dialog a reviewer should look at, each with its reason in words.

    findings(Talk("a dog on a beach", "en", lines))

Pure: the same talk gives the same findings; there is no clock, no randomness, and nothing is read
but the lists and the model that come with the package and its libraries. A flag asks a person to
look, and never rejects anything. What is not known (times, pastes, lengths) leaves its flag silent.

`model` holds what goes in and comes out and every threshold; `pace`, `sameness`, `questions`,
`lengths`, `language`, `gibberish`, `personal` and `conduct` are the flags; `wording` is how texts
are compared and quoted; `collected` makes a talk from the fold of a dialog's events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from dialogs.quality.collected import talk_of
from dialogs.quality.conduct import conduct, suspicious
from dialogs.quality.gibberish import gibberish
from dialogs.quality.language import language, load
from dialogs.quality.lengths import length_outlier, mean_words, summary
from dialogs.quality.model import (
    USUAL,
    Finding,
    Flag,
    Lengths,
    Limits,
    Line,
    Severity,
    Talk,
)
from dialogs.quality.pace import pasted, too_fast
from dialogs.quality.personal import contact, location, name
from dialogs.quality.questions import counter_question
from dialogs.quality.sameness import monotonous, repeats


def _same_address(talk: Talk, limits: Limits) -> Iterator[Finding]:
    if talk.same_address:
        reason = "Both people came from one network address; it may be one person"
        yield Finding(Flag.SAME_ADDRESS, None, None, None, reason)


_CHECKS: Final[tuple[Callable[[Talk, Limits], Iterator[Finding]], ...]] = (
    too_fast,
    pasted,
    repeats,
    monotonous,
    language,
    gibberish,
    counter_question,
    length_outlier,
    _same_address,
    contact,
    location,
    name,
    suspicious,
    conduct,
)


def findings(talk: Talk, limits: Limits = USUAL) -> tuple[Finding, ...]:
    """Everything that is to be said of a talk, in the order of the flags and then of the messages.

    Never raises, whatever the texts are.
    """
    return tuple(found for check in _CHECKS for found in check(talk, limits))


__all__ = (
    "USUAL",
    "Finding",
    "Flag",
    "Lengths",
    "Limits",
    "Line",
    "Severity",
    "Talk",
    "findings",
    "load",
    "mean_words",
    "summary",
    "talk_of",
)
