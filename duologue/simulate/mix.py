"""Which behaviours a crowd is made of. Pure."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """How a simulated worker behaves; `behaviours` holds what each does."""

    NORMAL = "normal"
    SLOW = "slow"
    LEAVER = "leaver"
    FLAKY = "flaky"
    TWO_TABS = "two_tabs"
    SPAMMER = "spammer"
    SILENT = "silent"


class BadMix(ValueError):
    """A mix that cannot be used; the text is one line for the person who wrote it."""


@dataclass(frozen=True, slots=True)
class Mix:
    """The shares of the kinds, as in `normal=16,leaver=2,flaky=2`."""

    shares: Mapping[Kind, int]

    @classmethod
    def parse(cls, text: str) -> Mix:
        """Read `KIND=NUMBER,…`; a kind alone counts as one.

        Raises:
            BadMix: a kind is unknown or named twice, a number is none, or there is nobody.
        """
        shares: dict[Kind, int] = {}
        for part in text.split(","):
            name, equals, number = (piece.strip() for piece in part.partition("="))
            try:
                kind = Kind(name)
            except ValueError:
                raise BadMix(f"no kind {name!r}; there are {', '.join(Kind)}") from None
            if kind in shares:
                raise BadMix(f"{kind} is named twice")
            if equals and not number.isdecimal():
                raise BadMix(f"{kind}={number}: write a whole number, as in {kind}=2")
            shares[kind] = int(number) if equals else 1
        if not sum(shares.values()):
            raise BadMix("a mix needs at least one worker")
        return cls(shares)

    def kinds(self, workers: int, rng: random.Random) -> list[Kind]:
        """The kind of each of `workers` workers, in random order.

        With as many workers as the shares sum up to, each kind comes exactly as often as its
        share says; otherwise in proportion, by largest remainder.
        """
        total = sum(self.shares.values())
        exact = {kind: share * workers / total for kind, share in self.shares.items()}
        counts = {kind: int(number) for kind, number in exact.items()}
        by_remainder = sorted(exact, key=lambda kind: exact[kind] - counts[kind], reverse=True)
        for kind in by_remainder[: workers - sum(counts.values())]:
            counts[kind] += 1
        crowd = [kind for kind, number in counts.items() for _ in range(number)]
        rng.shuffle(crowd)
        return crowd


ALL_NORMAL: Final = Mix({Kind.NORMAL: 1})
