"""What the team changes of the pay is promised by the next HITs, and paid by those that stand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from dialogs.record import studies
from dialogs.rules import HitState
from dialogs.terms import Changes
from duologue.recruiting import hit_config
from duologue.study import StudyFile, read_study
from hit_manager.config import HitConfig
from hit_manager.manager import HitManager
from tests.prolific_recruiting import ProlificRecruiting, recruiting_there
from tests.records import STUDY
from tests.recruiting import Recruiting, add_items, recruiting, release

FILE = """
[study]
id = "study"
title = "Talk about a picture"
description = "Two people talk."
[items]
file = "items.jsonl"
[pay]
complete = "1.50"
waiting_per_minute = "0.50"
[recruiter]
kind = "{kind}"
"""


def study_file(folder: Path, kind: str, more: str = "") -> StudyFile:
    (folder / "study.toml").write_text(FILE.format(kind=kind) + more)
    return read_study(folder / "study.toml")


def follow(at: Recruiting, study: StudyFile) -> None:
    """Let the manager take over what is changed, as beside a server."""
    settings = at.config

    def config_for(changes: Changes) -> HitConfig:
        made = hit_config(study.changed(changes), settings.url)
        return replace(made, seats=settings.seats, interval_s=settings.interval_s)

    at.config = config_for({})
    now = at.stage.clock.now
    at.manager = HitManager(
        at.record, at.stage.recruiter, at.config, config_for=config_for, now=now
    )


async def change(at: Recruiting, *, least: int = 50, **changes: int) -> None:
    decision = studies.changed_terms(STUDY, {}, changes, least=least, lowered=False)
    await at.record.writer.commit(decision)


@pytest_asyncio.fixture
async def at(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Recruiting]:
    async with recruiting(sqlite_url, tmp_path) as made:
        made.study_of_items("dog")
        follow(made, study_file(tmp_path, "mturk"))
        yield made


@pytest_asyncio.fixture
async def there(sqlite_url: str, tmp_path: Path) -> AsyncIterator[ProlificRecruiting]:
    async with recruiting_there(sqlite_url, tmp_path) as made:
        made.study_of_items("dog")
        more = '[recruiter.prolific]\nworkspace = "65a0f2c81d3e4b5a6c7d8e9f"\n'
        follow(made, study_file(tmp_path, "prolific", more))
        yield made


async def descriptions(at: Recruiting) -> list[str]:
    """What the HITs say, as a worker sees them."""
    return [row["Description"] async for row in at.stage.mturk._client.rows("list_hits", "HITs")]


async def test_the_next_hits_say_what_is_paid_now(at: Recruiting) -> None:
    await at.round()
    assert {d[:25] for d in await descriptions(at)} == {"$1.50 for a whole dialog:"}
    await change(at, pay_complete=200)
    at.write(add_items, ["cat"])
    await at.round()
    said = [d[:25] for d in await descriptions(at)]
    assert sorted(said) == ["$1.50 for a whole dialog:"] * 2 + ["$2.00 for a whole dialog:"] * 2
    # Those that stand promise less than is paid, and stay.
    assert len(await at.open_there()) == 4
    assert await at.worked(200)
    at.stage.clock.advance(61.0)
    await at.round()
    assert await at.got("arrival-0") == ([50], [150])


async def test_the_budget_counts_what_a_person_costs_now(at: Recruiting) -> None:
    await at.round()
    at.manager._config = replace(at.manager._config, budget=10_000)
    before = await at.manager.people_affordable()
    await change(at, pay_complete=200)
    await at.round()
    at.manager._config = replace(at.manager._config, budget=10_000)
    after = await at.manager.people_affordable()
    assert before is not None
    assert after is not None
    assert after < before


async def test_on_prolific_other_pay_is_another_study(there: ProlificRecruiting) -> None:
    await there.round()
    (arrival, other) = await there.come_in(2)
    await change(there, least=200, pay_complete=200)
    there.write(add_items, ["cat"])
    await there.round()
    rewards = [study["reward"] for study in there.world.studies.values()]
    assert rewards == [150, 200]
    # Who came by the first is owed what their dialog says: its reward, and the rest beside it.
    there.write(release, arrival, 200)
    there.write(release, other, 150)
    for each in (arrival, other):
        await there.hand_in(each)
    for _ in range(3):
        there.stage.clock.advance(61.0)
        await there.round()
    assert await there.got(arrival) == ([150], [50])
    assert await there.got(other) == ([150], [])


@pytest.mark.parametrize("wanted", [{"pay_complete": 200}, {"pay_left": 60}])
async def test_a_change_in_the_middle_of_a_round_posts_nothing_by_the_old_terms(
    at: Recruiting, wanted: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    recruiter, right = at.stage.recruiter, at.stage.recruiter.hits

    async def meanwhile() -> object:
        found = await right()
        monkeypatch.undo()
        await change(at, **wanted)
        return found

    monkeypatch.setattr(recruiter, "hits", meanwhile)
    with pytest.raises(Exception, match="rows where"):
        await at.round()
    assert await at.hits() == []
    await at.round()
    assert len(await at.hits(HitState.OPEN)) == 2
