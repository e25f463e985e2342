"""What the team may decide of the pay when it ends a dialog, and what a platform makes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dialogs.record import queries
from dialogs.record.queries import ArrivalRow, ReleaseRow
from dialogs.rules import Outcome, Release
from duologue.recruiting import CrowdDoor
from hit_manager.config import Approval
from tests.contract.prolific_stage import CODES
from tests.prolific_recruiting import recruiting_there
from tests.records import STUDY
from tests.recruiting import Recruiting, recruiting

ENDED = ReleaseRow(Release.ENDED_BY_TEAM, "CODE", 1.0, 150, Outcome.ABANDONED, 1, False)


async def somebody(at: Recruiting) -> tuple[CrowdDoor, ArrivalRow]:
    """A door, and somebody who came in by a HIT."""
    at.study_of_items("dog")
    await at.round()
    arrival = await at.arrive((await at.hits())[0])
    row = await at.record.one(queries.arrivals_by_id, arrival)
    assert row is not None
    assert row.hit_id is not None
    return CrowdDoor(at.stage.recruiter, at.record, STUDY), row


async def test_less_than_the_reward_cannot_be_paid_where_approving_pays_it(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with recruiting(sqlite_url, tmp_path) as at:
        door, row = await somebody(at)
        reward = at.config.reward
        why = await door.cannot_pay(row, reward - 1)
        assert why is not None
        assert f"reward of {reward}" in why
        for cents in (0, reward, 150):
            assert await door.cannot_pay(row, cents) is None
        # Somebody of whose HIT nothing is known is left to whoever pays.
        assert await door.cannot_pay(replace(row, hit_id=None), 1) is None


async def test_any_amount_can_be_paid_on_prolific_and_the_code_asks_for_what_fits(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with recruiting_there(sqlite_url, tmp_path) as at:
        door, row = await somebody(at)
        for cents, code in ((0, CODES.left), (1, CODES.completed), (150, CODES.completed)):
            assert await door.cannot_pay(row, cents) is None
            submit = await door.submit(row, replace(ENDED, cents=cents))
            assert submit is not None
            assert submit.fields == {"cc": code}


@pytest.mark.parametrize(("cents", "handed_in"), [(0, False), (50, True)])
async def test_who_is_paid_nothing_has_nothing_to_hand_in_on_mturk(
    sqlite_url: str, tmp_path: Path, cents: int, handed_in: bool
) -> None:
    async with recruiting(sqlite_url, tmp_path) as at:
        door, row = await somebody(at)
        there = replace(row, submit_to="https://example.org/submit")
        submit = await door.submit(there, replace(ENDED, cents=cents))
        assert (submit is not None) == handed_in


async def test_who_hands_in_is_told_in_which_parts_and_when_the_pay_comes(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with recruiting(sqlite_url, tmp_path) as at:
        _, row = await somebody(at)
        there = replace(row, submit_to="https://example.org/submit")
        door = CrowdDoor(at.stage.recruiter, at.record, STUDY, Approval.BY_HAND, 604_800.0)
        submit = await door.submit(there, ENDED)
        assert submit is not None
        told = (submit.reward, submit.by_hand, submit.reward_after_s)
        assert told == (at.config.reward, True, 604_800.0)
