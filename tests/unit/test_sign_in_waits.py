"""How long who tries to sign in has to wait."""

from __future__ import annotations

import pytest

from chatserver.monitor.attempts import (
    FIRST_WAIT_S,
    FREE,
    FREE_OF_ADDRESS,
    GUESSED_AT,
    HOUR_S,
    IN_VAIN_S,
    LONGEST_WAIT_S,
    REMEMBERED_S,
    wait_s,
)
from dialogs.record.attempts import Attempt, Attempts

NOW = 2_000_000_000.0


def tried(*here: tuple[str, float, bool], at_name: int = 0) -> Attempts:
    """By (name, seconds ago, good), in any order."""
    rows = [Attempt(name, NOW - ago, good) for name, ago, good in here]
    return Attempts(tuple(sorted(rows, key=lambda row: -row.at)), at_name)


def in_vain(count: int, ago: float = 0.0, name: str = "ada") -> list[tuple[str, float, bool]]:
    return [(name, ago, False)] * count


@pytest.mark.parametrize("over", range(12))
def test_the_waits_double_up_to_an_hour(over: int) -> None:
    wait = min(FIRST_WAIT_S * 2**over, LONGEST_WAIT_S)
    assert wait_s(tried(*in_vain(FREE + over)), "ada", NOW) == wait
    assert wait_s(tried(*in_vain(FREE + over, ago=wait - 1)), "ada", NOW) == 1
    assert wait_s(tried(*in_vain(FREE + over, ago=wait)), "ada", NOW) == 0


def test_a_few_are_free_and_old_ones_are_forgotten() -> None:
    assert wait_s(tried(), "ada", NOW) == 0
    assert wait_s(tried(*in_vain(FREE - 1)), "ada", NOW) == 0
    assert wait_s(tried(*in_vain(FREE - 1), *in_vain(9, ago=IN_VAIN_S)), "ada", NOW) == 0
    assert wait_s(tried(*in_vain(9, ago=60), ("ada", 50, True)), "ada", NOW) == 0


def test_another_name_is_another_matter_until_the_address_has_tried_many() -> None:
    others = [(f"n{n}", 0.0, False) for n in range(FREE_OF_ADDRESS)]
    assert wait_s(tried(*others[1:]), "ada", NOW) == 0
    assert wait_s(tried(*others), "ada", NOW) == FIRST_WAIT_S
    assert wait_s(tried(*others, ("ada", 60, True)), "ada", NOW) == 0
    assert wait_s(tried(*others), "ada", NOW, known=True) == 0
    assert wait_s(tried(*others, ("ben", 60, True)), "ada", NOW) == FIRST_WAIT_S
    long_ago = [(name, HOUR_S, False) for name, _, _ in others]
    assert wait_s(tried(*long_ago), "ada", NOW) == 0


def test_a_name_that_is_guessed_at_leaves_strangers_one_try() -> None:
    for at_name in (GUESSED_AT - 1, GUESSED_AT):
        assert wait_s(tried(at_name=at_name), "ada", NOW) == 0
        one = tried(*in_vain(1), at_name=at_name)
        assert wait_s(one, "ada", NOW) == (FIRST_WAIT_S if at_name == GUESSED_AT else 0)
        known = tried(*in_vain(FREE - 1), ("ada", 100, True), at_name=at_name)
        assert wait_s(known, "ada", NOW) == 0
        assert wait_s(one, "ada", NOW, known=True) == 0
    assert REMEMBERED_S > IN_VAIN_S


def test_a_clock_that_ran_ahead_makes_nobody_wait_longer() -> None:
    assert wait_s(tried(*in_vain(FREE, ago=-10_000)), "ada", NOW) == FIRST_WAIT_S
