"""Processes are killed while people talk; afterwards nothing acknowledged is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.chaos.cluster import Cluster
from tests.chaos.crowd import Crowd
from tests.chaos.faults import (
    FAULTS,
    Damage,
    carry_out,
    let_die,
    plan_deaths,
    plan_faults,
    talking,
)
from tests.chaos.process import Death, Point
from tests.chaos.run import MIX, Outcome, run
from tests.chaos.violations import Rule

Tell = Callable[[str], None]

pytestmark = pytest.mark.chaos

PAIRS: Final = 50
DEATHS_EACH: Final = 20


def _crowd(seed: int, **changes: object) -> Crowd:
    given: dict[str, object] = {
        "urls": (),
        "folder": Path(),
        "seed": seed,
        "workers": 2 * PAIRS,
        "mix": MIX,
        "pace": 0.2,
        "arrive_s": 40.0,
        "limit_s": 300.0,
    }
    return Crowd(**{**given, **changes})  # type: ignore[arg-type]


def _judge(outcome: Outcome, tell: Tell, title: str) -> None:
    tell(outcome.summary(title))
    assert outcome.durability == dict.fromkeys(
        ("fsync", "synchronous_commit", "full_page_writes"), "on"
    )
    if outcome.violations:
        pytest.fail(outcome.report(), pytrace=False)
    assert outcome.everybody_done, "somebody's simulation did not come to its end"


async def test_nothing_is_lost_while_everything_is_killed(
    tmp_path: Path, seed: int, tell: Tell
) -> None:
    async def ruin(cluster: Cluster, damage: Damage) -> None:
        for server in cluster.servers:
            server.start()
        await cluster.all_ready()
        await carry_out(cluster, plan_faults(seed), damage)

    outcome = await run(tmp_path, _crowd(seed), ruin, items=40)
    _judge(outcome, tell, f"Everything is killed (seed {seed})")
    assert len(outcome.damage.recoveries) == len(FAULTS)


async def test_nothing_is_lost_when_servers_die_around_a_commit(
    tmp_path: Path, seed: int, tell: Tell
) -> None:
    async def ruin(cluster: Cluster, damage: Damage) -> None:
        for server in cluster.servers:
            server.start()
        await talking(cluster, 100)
        for server in cluster.servers:
            server.kill()
        await let_die(cluster, plan_deaths(seed, DEATHS_EACH), damage)

    crowd = _crowd(seed, arrive_s=20.0)
    outcome = await run(tmp_path, crowd, ruin, items=40)
    _judge(outcome, tell, f"Servers die before and after commits (seed {seed})")
    for point in Point:
        assert outcome.damage.count(f"died {point} a commit") == DEATHS_EACH


async def test_a_message_acknowledged_before_its_commit_is_found(
    tmp_path: Path, seed: int, tell: Tell
) -> None:
    """The checker's own proof on a real run: the fault is planted, and must be seen."""
    deaths = [Death(Point.BEFORE, nth) for nth in (50, 55, 20, 25)]

    async def ruin(cluster: Cluster, damage: Damage) -> None:
        await let_die(cluster, deaths, damage, acknowledge_early=True)

    crowd = _crowd(seed, workers=20, mix="normal", pace=0.1, arrive_s=2.0)
    outcome = await run(tmp_path, crowd, ruin, items=20, stay_s=3.0)
    found = [violation for violation in outcome.violations if violation.rule is Rule.LOST]
    tell(
        outcome.summary(f"Planted: acknowledged before the commit (seed {seed})")
        + f"\n  of them acknowledged and lost: {len(found)}"
    )
    assert found
    # The first that is told is one of them, with both sides of the story.
    told = outcome.report()
    assert "acked" in told
    assert "died" in told
