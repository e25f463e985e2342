"""Whatever people and clocks do, in whatever order, a dialog keeps its rules.

`tests.plays` says what must be true; each test here lets something else happen.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dialogs.dialog import EndByTeam
from dialogs.rules import Rules
from tests.plays import (
    Action,
    all_rules,
    check_ends_by_team,
    check_ends_with_people,
    check_ends_without_people,
    check_every_scene,
    check_play,
    ends_by_team,
    happenings,
    people_actions,
)


def test_every_scene_keeps_the_rules() -> None:
    check_every_scene()


@settings(max_examples=300)
@given(all_rules, happenings)
def test_every_play_keeps_the_rules(rules: Rules, happening: list[Action]) -> None:
    check_play(rules, happening)


@settings(max_examples=150)
@given(all_rules, happenings, st.lists(st.integers(0, 5), min_size=4, max_size=4))
def test_four_deadlines_end_any_dialog_that_nobody_attends(
    rules: Rules, happening: list[Action], order: list[int]
) -> None:
    check_ends_without_people(rules, happening, order)


@settings(max_examples=150)
@given(all_rules, happenings, ends_by_team)
def test_the_team_can_end_any_dialog_once(
    rules: Rules, happening: list[Action], end: EndByTeam
) -> None:
    check_ends_by_team(rules, happening, end)


@settings(max_examples=60)
@given(all_rules, st.lists(people_actions, max_size=8))
def test_deadlines_end_any_dialog_whatever_people_do(rules: Rules, between: list[Action]) -> None:
    check_ends_with_people(rules, between)
