"""One is not many, wherever something is counted for people."""

from __future__ import annotations

import re
from pathlib import Path

import duologue
from duologue.simulate.log import WorkerLog
from duologue.simulate.summary import summarize
from duologue.words import count

NOUNS = "items|dialogs|payments|workers|arrivals|messages|HITs|seats|bonuses|strays|people"


def test_one_is_not_many() -> None:
    assert [count(n, "payment") for n in (0, 1, 2)] == ["0 payments", "1 payment", "2 payments"]
    assert count(1, "bonus", "bonuses") == "1 bonus"
    assert count(3, "bonus", "bonuses") == "3 bonuses"


def test_a_summary_of_one_worker_says_so() -> None:
    log = WorkerLog(1)
    log.arrival = 1
    lines = "\n".join(summarize([log], 1, 1.0).lines())
    assert "1 in 1 arrival," in lines
    assert "1 worker was given up" in lines


def test_no_line_for_people_counts_by_hand() -> None:
    """A number before a plural is written by `count`."""
    counted = re.compile(rf'f"[^"]*\{{[^{{}}]*\}} (?:{NOUNS})\b')
    folder = Path(duologue.__file__).parent
    for file in sorted(folder.rglob("*.py")):
        if file.parent.name != "scenes":
            assert not counted.findall(file.read_text(encoding="utf-8")), file
