"""The hit manager is killed at every step of posting and paying, two hundred times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.chaos.hits_run import GROWING_POINTS, POINTS, kill_often, killing

pytestmark = pytest.mark.chaos

RUNS: Final = 200


@pytest.mark.parametrize("seats", [1, 9])
async def test_every_payment_and_every_relaunch_is_there_once(
    sqlite_url: str, tmp_path: Path, seed: int, seats: int, tell: Callable[[str], None]
) -> None:
    async with killing(sqlite_url, tmp_path, seed, seats=seats) as killed:
        wrong = await kill_often(killed, RUNS)
        how = "" if seats == 1 else f", HITs grow to {seats} seats"
        tell(killed.summary(f"The hit manager is killed (seed {seed}{how})"))
        assert not wrong
        assert killed.deaths.total() == RUNS
        assert len(killed.deaths) == len(POINTS if seats == 1 else GROWING_POINTS)
