"""The flag about messages that are much longer or shorter than other workers'."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import fmean, median
from typing import Final

from dialogs.quality.model import Finding, Flag, Lengths, Limits, Line, Talk
from dialogs.quality.wording import words
from dialogs.rules import Role

_NORMAL: Final = 1.4826
"""The standard deviation of a normal distribution is this many times its median distance."""


def mean_words(lines: Iterable[Line]) -> float | None:
    """Words a message, on average; None without messages."""
    counts = [len(words(line.text)) for line in lines]
    return fmean(counts) if counts else None


def summary(means: Iterable[float]) -> Lengths | None:
    """One role's lengths in a study, from one mean a worker; None without workers."""
    values = sorted(means)
    if not values:
        return None
    middle = median(values)
    return Lengths(len(values), middle, median(abs(value - middle) for value in values))


def length_outlier(talk: Talk, limits: Limits) -> Iterator[Finding]:
    """A person whose messages are, on average, far from the median of the study's workers."""
    for role in Role:
        others, mean = talk.lengths.get(role), mean_words(talk.together(role))
        if others is None or mean is None or others.workers < limits.length_workers:
            continue
        spread = _NORMAL * max(others.mad, limits.length_least_mad)
        if abs(mean - others.median) <= limits.length_deviations * spread:
            continue
        reason = (
            f"The {role}'s messages have {mean:.1f} words on average; the median of "
            f"{others.workers} workers is {others.median:.1f}"
        )
        yield Finding(Flag.LENGTH_OUTLIER, role, None, None, reason)
