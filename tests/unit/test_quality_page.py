"""The figures of the page of the quality flags are those of a fresh run."""

from __future__ import annotations

import pytest

from benchmarks import quality
from dialogs.quality import Flag

PAGE = quality.PAGE.read_text(encoding="utf-8")
WRITE = "run: python -m benchmarks.quality --write"


@pytest.mark.skipif(not quality.REAL.exists(), reason="the VisDial part of ../shared is not here")
def test_the_false_alarms_are_as_counted() -> None:
    alarms = quality.false_alarms(quality.real_talks(), quality.real_texts())
    assert alarms["dialogs"] == 97
    assert quality.put_in(PAGE, "false alarms", quality.false_alarms_part(alarms)) == PAGE, WRITE


def test_what_is_found_is_as_counted() -> None:
    part = quality.recall_part(quality.recall(quality.DIALOGS))
    assert quality.put_in(PAGE, "recall", part) == PAGE, WRITE


def test_every_flag_has_its_rule() -> None:
    for flag in Flag:
        assert f"`{flag}`" in PAGE.split("## What they get wrong")[0], flag


def test_a_page_without_the_part_is_told() -> None:
    with pytest.raises(ValueError, match="0 parts 'none'"):
        quality.put_in(PAGE, "none", "")
