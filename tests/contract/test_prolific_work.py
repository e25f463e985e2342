"""What becomes of work on Prolific: codes, returns, screen-outs, decisions, groups and messages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from dialogs.rules import AssignmentStatus, Release
from hit_manager.recruiters.base import NotYet, Refused, Step, Unsupported, Unsure
from hit_manager.recruiters.prolific import Codes
from tests.contract.prolific_server import Trouble
from tests.contract.prolific_stage import CODES, ProlificStage
from tests.contract.prolific_world import World
from tests.contract.recruiters import NoSeat, Visit


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[ProlificStage]:
    async with ProlificStage.opened(tmp_path) as opened:
        yield opened


async def come(stage: ProlificStage, key: str = "hit-1", **changes: Any) -> Visit:
    """Somebody takes a place of a new study."""
    return await stage.take((await stage.prolific.post(stage.posting(key, **changes))).id)


# --- Codes and what they set off ----------------------------------------------------------------


def test_codes_are_the_same_after_a_restart_and_no_others() -> None:
    codes = Codes.derived("a secret of the team", "photos")
    assert codes == CODES
    others = [*Codes.derived("another secret", "photos").all()]
    others += Codes.derived("a secret of the team", "films").all()
    assert len({*codes.all(), *others}) == 12
    assert all(len(code) == 10 and code.isalnum() for code in codes.all())


def test_every_release_has_a_code_and_none_shows_ours() -> None:
    shown = {release: CODES.for_release(release, 150) for release in Release}
    assert shown[Release.COMPLETED] == shown[Release.FINISHED_ALONE] == CODES.completed
    assert shown[Release.NEVER_PAIRED] == CODES.waited
    assert shown[Release.LEFT] == CODES.left
    assert shown[Release.ENDED_BY_TEAM] == CODES.completed
    assert CODES.for_release(Release.ENDED_BY_TEAM, 0) == CODES.left
    assert CODES.screened_out not in shown.values()


async def test_a_code_is_handed_in_at_an_address(stage: ProlificStage) -> None:
    assert stage.prolific.completion_url("A+B 1") == (
        "https://app.prolific.com/submissions/complete?cc=A%2BB+1"
    )


async def test_no_code_pays_by_itself(stage: ProlificStage) -> None:
    hit = await stage.prolific.post(stage.posting("hit-1", seats=4))
    for code in CODES.all():
        visit = await stage.take(hit.id)
        await stage.submit(visit, code)
        assert (await stage.prolific.assignment(visit.assignment_id)).code == code
        assert list(await stage.rewards(visit)) == []
        asked = stage.world.submissions[visit.assignment_id].return_requested is not None
        assert asked == (code in (CODES.waited, CODES.left))


async def test_who_waited_in_vain_is_paid_after_returning(stage: ProlificStage) -> None:
    assert stage.prolific.steps(40, 150) == (Step.RETURN, Step.BONUS)
    assert stage.prolific.steps(150, 150) == (Step.APPROVE,)
    assert stage.prolific.steps(200, 150) == (Step.APPROVE, Step.BONUS)
    assert stage.prolific.steps(0, 150) == (Step.RETURN,)


async def test_a_return_is_asked_for_once(stage: ProlificStage) -> None:
    visit = await come(stage)
    submission = stage.world.submissions[visit.assignment_id]
    await stage.submit(visit, CODES.completed)
    stage.server.trouble(Trouble.LOST, path="request-return")
    with pytest.raises(Unsure):
        await stage.prolific.request_return(visit.assignment_id, "Please return it.")
    await stage.prolific.request_return(visit.assignment_id, "Please return it.")
    assert submission.return_reasons == ["Please return it."]
    await stage.give_back(visit)
    submission.return_requested = None
    await stage.prolific.request_return(visit.assignment_id, "Please return it.")
    assert submission.return_reasons == ["Please return it."]


async def test_a_screen_out_pays_its_amount_once(tmp_path: Path) -> None:
    world = World(has_screen_outs=True)
    async with ProlificStage.opened(tmp_path, world, screen_out_cents=30) as stage:
        visit = await come(stage, seats=2)
        with pytest.raises(NotYet):
            await stage.prolific.screen_out(visit.assignment_id)
        await stage.submit(visit, CODES.waited)
        assert world.submissions[visit.assignment_id].return_requested is None
        stage.server.trouble(Trouble.LOST, path="transition")
        assert await stage.prolific.screen_out(visit.assignment_id) == 30
        assert await stage.prolific.screen_out(visit.assignment_id) == 30
        assert list(await stage.rewards(visit)) == [30]
        told = await stage.prolific.assignment(visit.assignment_id)
        assert told.status is AssignmentStatus.RETURNED


async def test_a_workspace_without_screen_outs_is_not_asked_for_one(stage: ProlificStage) -> None:
    visit = await come(stage)
    with pytest.raises(Unsupported):
        await stage.prolific.screen_out(visit.assignment_id)


# --- Decisions -------------------------------------------------------------------------------


async def test_approved_here_and_run_out_there_is_refused(stage: ProlificStage) -> None:
    visit = await come(stage)
    stage.world.time_out(stage.world.submissions[visit.assignment_id])
    with pytest.raises(Refused, match="TIMED-OUT"):
        await stage.prolific.approve(visit.assignment_id)
    told = await stage.prolific.assignment(visit.assignment_id)
    assert told.status is AssignmentStatus.RETURNED


async def test_what_nobody_reviews_is_approved_by_prolific_and_not_again(
    stage: ProlificStage,
) -> None:
    visit = await come(stage)
    await stage.submit(visit, CODES.completed)
    stage.world.move(22 * 24 * 3600.0)
    await stage.prolific.approve(visit.assignment_id)
    assert list(await stage.rewards(visit)) == [150]


async def test_a_rejection_is_as_long_as_prolific_wants(stage: ProlificStage) -> None:
    visit = await come(stage)
    await stage.submit(visit, CODES.completed)
    await stage.prolific.reject(visit.assignment_id, "")
    told = await stage.prolific.assignment(visit.assignment_id)
    assert told.status is AssignmentStatus.REJECTED


async def test_money_moves_one_at_a_time(stage: ProlificStage) -> None:
    hit = await stage.prolific.post(stage.posting("hit-1", seats=8))
    visits = [await stage.take(hit.id) for _ in range(8)]
    for visit in visits:
        await stage.submit(visit, CODES.completed)
    await asyncio.gather(*(stage.prolific.approve(v.assignment_id) for v in visits))
    assert stage.waits == []
    assert [list(await stage.rewards(v)) for v in visits] == [[150]] * 8


# --- People ----------------------------------------------------------------------------------


async def test_a_block_acts_at_once_on_a_study_that_runs(stage: ProlificStage) -> None:
    hit = await stage.prolific.post(stage.posting("hit-1", seats=3))
    worker = stage.world.new_id()
    await stage.prolific.block(worker, "")
    with pytest.raises(NoSeat, match="not shown"):
        await stage.take_again(worker, hit.id)
    await stage.prolific.unblock(worker)
    await stage.take_again(worker, hit.id)


async def test_there_is_one_group(stage: ProlificStage) -> None:
    stage.lose_answers()
    await stage.prolific.block(stage.world.new_id(), "")
    await (await stage.again()).block(stage.world.new_id(), "")
    (members,) = stage.world.members.values()
    assert len(members) == 2


async def test_a_message_whose_answer_is_lost_is_not_sent_twice(stage: ProlificStage) -> None:
    visit = await come(stage)
    stage.lose_answers()
    failed = await stage.prolific.message([visit.worker_id], "News", "More photos.")
    assert "lost" in failed[visit.worker_id]
    assert await stage.inbox(visit.worker_id) == ["News\n\nMore photos."]


# --- Money that is asked about ------------------------------------------------------------------


async def test_fees_are_rounded_up_and_the_calculator_has_the_last_word(
    stage: ProlificStage,
) -> None:
    recruiter = stage.changed(service_fee_percent=Decimal("33.3"), vat_percent=Decimal(20))
    assert recruiter.commission(150) == 60
    assert recruiter.commission(1, bonus=True) == 1
    assert recruiter.commission(0) == 0
    assert await stage.prolific.projected_cost(150, 10) == 2100
    assert await stage.prolific.balance() == stage.world.balance
