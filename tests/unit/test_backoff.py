"""Patience: how often, how long, and that every pause is told."""

from __future__ import annotations

import pytest

from hit_manager.recruiters.backoff import Patience, Pause
from hit_manager.recruiters.base import Refused, Unavailable


class Calls:
    """A call that fails so many times, and the pauses before it was made again."""

    def __init__(self, failures: int, error: Exception) -> None:
        self.failures = failures
        self.error = error
        self.made = 0
        self.slept: list[float] = []
        self.told: list[Pause] = []

    async def __call__(self) -> str:
        self.made += 1
        if self.made <= self.failures:
            raise self.error
        return "done"

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def patience(self, chance: float = 1.0) -> Patience:
        return Patience(
            tries=6,
            first_s=1.0,
            longest_s=5.0,
            sleep=self.sleep,
            chance=lambda: chance,
            told=self.told.append,
        )


def may_repeat(error: Exception) -> bool:
    return isinstance(error, Unavailable)


async def test_pauses_double_up_to_the_longest_and_are_told() -> None:
    calls = Calls(5, Unavailable("busy"))
    assert await calls.patience().call("get_hit", calls, may_repeat) == "done"
    assert calls.slept == [1.0, 2.0, 4.0, 5.0, 5.0]
    assert calls.told[1] == Pause("get_hit", 2, 2.0, "busy")


async def test_chance_shortens_them() -> None:
    calls = Calls(2, Unavailable("busy"))
    await calls.patience(chance=0.25).call("get_hit", calls, may_repeat)
    assert calls.slept == [0.25, 0.5]


async def test_it_ends() -> None:
    calls = Calls(99, Unavailable("busy"))
    with pytest.raises(Unavailable, match="busy"):
        await calls.patience().call("get_hit", calls, may_repeat)
    assert calls.made == 6


async def test_what_must_not_be_repeated_is_not() -> None:
    calls = Calls(1, Refused("no"))
    with pytest.raises(Refused):
        await calls.patience().call("get_hit", calls, may_repeat)
    assert (calls.made, calls.slept) == (1, [])
