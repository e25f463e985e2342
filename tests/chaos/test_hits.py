"""The hit manager is killed at every step of posting and paying, two hundred times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.chaos.hits_run import kill_often, killing, points_of

pytestmark = pytest.mark.chaos

SEATS: Final = (1, 9, 1, 9)
"""Of a HIT, in each study; those with several grow. The longer a study runs, the more there is
for every life to look at, so there are several."""


@pytest.mark.parametrize("study", range(len(SEATS)))
async def test_every_payment_and_every_relaunch_is_there_once(
    study: int, sqlite_url: str, tmp_path: Path, seed: int, tell: Callable[[str], None]
) -> None:
    seats, chance = SEATS[study], len(SEATS) * seed + study
    points = points_of(seats)
    async with killing(sqlite_url, tmp_path, chance, seats=seats) as killed:
        wrong = await kill_often(killed, 2 * len(points))
        grow = ", whose HITs grow" if seats > 1 else ""
        tell(killed.summary(f"The hit manager is killed (seed {seed}, study {study + 1}{grow})"))
        assert not wrong, "\n".join(wrong)
        assert killed.deaths.total() == 2 * len(points)
        assert len(killed.deaths) == len(points)
