"""The hit manager is killed at every step of posting and paying, two hundred times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.chaos.hits_run import POINTS, kill_often, killing

pytestmark = pytest.mark.chaos

STUDIES: Final = 4
RUNS: Final = 2 * len(POINTS)
"""Of each study. The longer a study runs, the more there is for every life to look at."""


@pytest.mark.parametrize("study", range(STUDIES))
async def test_every_payment_and_every_relaunch_is_there_once(
    study: int, sqlite_url: str, tmp_path: Path, seed: int, tell: Callable[[str], None]
) -> None:
    chance = STUDIES * seed + study
    async with killing(sqlite_url, tmp_path, chance) as killed:
        wrong = await kill_often(killed, RUNS)
        tell(killed.summary(f"The hit manager is killed (seed {seed}, study {study + 1})"))
        assert not wrong, "\n".join(wrong)
        assert killed.deaths.total() == RUNS
        assert len(killed.deaths) == len(POINTS)
