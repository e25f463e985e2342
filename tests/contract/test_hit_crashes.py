"""A hit manager that is killed leaves nothing undone and nothing done twice: the short version.

`make chaos` kills it two hundred times, at every step of posting and paying.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.chaos.hits_child import Point
from tests.chaos.hits_run import killing

POINTS = (
    Point("post", "after"),
    Point("approve", "after"),
    Point("bonus", "after"),
    Point("expire", "before"),
    Point("commit", "before", 3),
    Point("commit", "after", 5),
)


GROWING = (
    Point("grow", "before"),
    Point("grow", "after"),
    Point("commit", "before", 3),
    Point("commit", "after", 3),
)


@pytest.mark.parametrize(("points", "seats"), [(POINTS, 1), (GROWING, 9)])
async def test_after_every_death_all_is_posted_and_paid_once(
    sqlite_url: str, tmp_path: Path, points: Sequence[Point], seats: int
) -> None:
    async with killing(sqlite_url, tmp_path, 1, seats=seats) as killed:
        await killed.life()
        for point in points:
            await killed.kill_at(point)
        await killed.settle()
        assert not await killed.check()
        assert killed.deaths.total() == len(points)
