"""How long people take, in seconds, as distributions that a factor stretches. Pure."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Final

READ_CHARACTERS_S: Final = 25.0
TYPE_CHARACTERS_S: Final = 7.0
THINK_S: Final = 1.8
PRESS_S: Final = 1.0
SPREAD: Final = 0.5
"""Standard deviation of the logarithm of a time: most lie within a factor of two."""


@dataclass(frozen=True, slots=True)
class Pace:
    """A person's speed. Factor 1 is a person who sends a message in about 8 s; 0 takes no time."""

    factor: float = 1.0

    def press(self, rng: random.Random) -> float:
        """Seconds until a button is pressed."""
        return self.factor * _around(PRESS_S, rng)

    def compose(self, read: str, written: str, rng: random.Random) -> tuple[float, float]:
        """Seconds to read a message and think of an answer, and seconds to type that."""
        thinking = len(read) / READ_CHARACTERS_S + _around(THINK_S, rng)
        typing = len(written) / TYPE_CHARACTERS_S * _around(1.0, rng)
        return self.factor * thinking, self.factor * typing

    def away(self, rng: random.Random) -> float:
        """Seconds that a lost connection stays lost."""
        return self.factor * _around(2.0, rng)


def _around(median: float, rng: random.Random) -> float:
    return rng.lognormvariate(math.log(median), SPREAD)
