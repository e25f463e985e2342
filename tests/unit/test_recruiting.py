"""What a study's HITs say of themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.recruiting import hit_config
from duologue.study import read_study

STUDY = """
[study]
id = "kitchens"
title = "Kitchens"
description = "About kitchens."
[items]
file = "items.jsonl"
[pay]
complete = "1.50"
currency = "{currency}"
[recruiter]
kind = "{kind}"
{more}
"""


def described(folder: Path, kind: str, more: str = "", currency: str = "USD") -> str:
    file = folder / "study.toml"
    file.write_text(STUDY.format(kind=kind, more=more, currency=currency), encoding="utf-8")
    return hit_config(read_study(file), "http://127.0.0.1:1").description


def test_a_hit_says_what_the_bonus_adds_to_its_reward(tmp_path: Path) -> None:
    assert described(tmp_path, "mturk", 'reward = "0.10"') == (
        "$1.50 for a whole dialog: $0.10 with approval, the rest as a bonus. About kitchens."
    )


@pytest.mark.parametrize(
    ("kind", "more", "currency"),
    [
        ("prolific", 'prolific.workspace = "60d9aadeb86739de712faee0"', "GBP"),
        ("link", "", "EUR"),
    ],
)
def test_a_reward_that_is_all_needs_no_words(
    tmp_path: Path, kind: str, more: str, currency: str
) -> None:
    assert described(tmp_path, kind, more, currency) == "About kitchens."
