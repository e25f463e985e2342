"""What a study's HITs say of themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.recruiting import MOST_OF_A_TITLE, hit_config
from duologue.study import read_study
from hit_manager.config import HitConfig

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


def hits_of(
    folder: Path, kind: str, more: str = "", currency: str = "USD", study: str = STUDY
) -> HitConfig:
    file = folder / "study.toml"
    file.write_text(study.format(kind=kind, more=more, currency=currency), encoding="utf-8")
    return hit_config(read_study(file), "http://127.0.0.1:1")


def test_a_hit_says_what_the_bonus_adds_to_its_reward(tmp_path: Path) -> None:
    hits = hits_of(tmp_path, "mturk", 'reward = "0.10"')
    assert hits.title == "Kitchens ($1.50 for a whole dialog)"
    assert hits.description == (
        "$1.50 for a whole dialog: $0.10 with approval, the rest as a bonus. About kitchens."
    )


def test_a_hit_without_a_description_does_not_repeat_its_title(tmp_path: Path) -> None:
    bare = STUDY.replace('description = "About kitchens."\n', "")
    hits = hits_of(tmp_path, "mturk", 'reward = "0.10"', study=bare)
    assert hits.description == (
        "$1.50 for a whole dialog: $0.10 with approval, the rest as a bonus."
    )


def test_a_title_is_no_longer_than_a_platform_takes(tmp_path: Path) -> None:
    title = "K" * (MOST_OF_A_TITLE - 10)
    long = STUDY.replace('"Kitchens"', f'"{title}"')
    assert hits_of(tmp_path, "mturk", 'reward = "0.10"', study=long).title == title


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
    hits = hits_of(tmp_path, kind, more, currency)
    assert (hits.title, hits.description) == ("Kitchens", "About kitchens.")
