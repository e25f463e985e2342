"""What holds for the recruiter of Mechanical Turk beyond what holds for all, on a marketplace."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import Connection

from dialogs.rules import AssignmentStatus
from hit_manager.marketplace import workers
from hit_manager.marketplace.faults import Fault
from hit_manager.recruiters.base import (
    Bonus,
    HitStatus,
    NoFunds,
    NotYet,
    Refused,
    RemoteHit,
    Unavailable,
    Unsure,
)
from hit_manager.recruiters.mturk import Mturk, Wanted
from hit_manager.recruiters.mturk.errors import NeedsPerson
from tests.contract.mturk_stage import MturkStage
from tests.contract.recruiters import NoSeat, Visit

DAY_S = 86_400.0


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[MturkStage]:
    async with MturkStage.opened(tmp_path) as opened:
        yield opened


async def changed(stage: MturkStage, **settings: object) -> Mturk:
    """A recruiter on the same account with other settings, opened."""
    stage.config = replace(stage.config, **settings)  # type: ignore[arg-type]
    return await stage.again()


async def post(stage: MturkStage, key: str = "hit-1", seats: int = 1) -> RemoteHit:
    return await stage.mturk.post(stage.posting(key, seats=seats))


async def handed_in(stage: MturkStage) -> Visit:
    visit = await stage.take((await post(stage)).id)
    await stage.submit(visit)
    return visit


def bonus_for(visit: Visit, key: str = "pay-1") -> Bonus:
    return Bonus(key, visit.assignment_id, visit.hit_id, visit.worker_id, 53, "USD", "Thank you!")


# --- Money -----------------------------------------------------------------------------------


async def test_the_commission_is_what_is_charged(stage: MturkStage) -> None:
    visit = await handed_in(stage)
    await stage.mturk.approve(visit.assignment_id)
    cost = 150 + stage.mturk.commission(150, seats=1)
    assert await stage.spent() == cost
    await stage.mturk.pay(bonus_for(visit))
    cost += 53 + stage.mturk.commission(53, bonus=True)
    assert await stage.spent() == cost
    assert await stage.mturk.balance() == 1_000_000 - cost


async def test_without_money_nothing_is_posted_or_paid(stage: MturkStage) -> None:
    def poor(connection: Connection, now: float) -> workers.Key:
        requester = workers.create_requester(connection, now, "Poor lab", 185)
        return workers.create_key(connection, now, requester)

    key = await stage.market.write(poor)
    stage.recruiter = await changed(stage, access_key=key.id, secret_key=key.secret)
    visit = await handed_in(stage)
    with pytest.raises(NoFunds):
        await post(stage, "hit-2")
    with pytest.raises(NoFunds):
        await stage.mturk.pay(bonus_for(visit))
    await stage.mturk.approve(visit.assignment_id)
    assert await stage.mturk.balance() == 5


async def test_a_day_later_only_looking_keeps_a_bonus_from_being_paid_twice(
    stage: MturkStage,
) -> None:
    visit = await handed_in(stage)
    await stage.mturk.pay(bonus_for(visit))
    stage.clock.advance(DAY_S - 60)
    await stage.mturk.pay(bonus_for(visit))
    assert await stage.bonuses(visit) == [53]
    stage.clock.advance(10 * DAY_S)
    assert await stage.mturk.paid(bonus_for(visit))
    assert not await stage.mturk.paid(bonus_for(visit, "pay-2"))


@pytest.mark.parametrize("fault", [Fault.FAILED, Fault.FAILED_AFTER])
async def test_a_service_fault_leaves_a_bonus_unsure_until_looked_up(
    stage: MturkStage, fault: Fault
) -> None:
    visit = await handed_in(stage)
    stage.faults.add("SendBonus", fault)
    with pytest.raises(Unsure):
        await stage.mturk.pay(bonus_for(visit))
    assert await stage.mturk.paid(bonus_for(visit)) is (fault is Fault.FAILED_AFTER)
    await stage.mturk.pay(bonus_for(visit))
    assert await stage.bonuses(visit) == [53]


async def test_a_bonus_goes_only_to_who_did_the_work(stage: MturkStage) -> None:
    hit = await post(stage, seats=2)
    visit, other = await stage.take(hit.id), await stage.take(hit.id)
    await stage.submit(visit)
    with pytest.raises(Refused):
        await stage.mturk.pay(replace(bonus_for(visit), worker_id=other.worker_id))
    assert await stage.bonuses(visit) == []


async def test_the_worker_reads_the_reason_with_a_reference(stage: MturkStage) -> None:
    visit = await handed_in(stage)
    await stage.mturk.pay(bonus_for(visit))
    rows = stage.mturk._client.rows(
        "list_bonus_payments", "BonusPayments", AssignmentId=visit.assignment_id
    )
    (reason,) = [row["Reason"] async for row in rows]
    assert reason.startswith("Thank you! (payment ")
    # Of our key only what helps us to find it again.
    assert "pay-1" not in reason


# --- HITs ------------------------------------------------------------------------------------


async def test_hits_of_others_on_the_same_account_are_not_ours(stage: MturkStage) -> None:
    ours = await post(stage)
    stranger = await changed(stage, mark="others")
    theirs = await stranger.post(stage.posting("hit-9"))
    assert [hit.id for hit in await stage.mturk.hits()] == [ours.id]
    assert [(hit.id, hit.key) for hit in await stranger.hits()] == [(theirs.id, "hit-9")]


async def test_more_hits_than_fit_on_a_page_are_listed(stage: MturkStage) -> None:
    posted = [(await post(stage, f"hit-{n}")).id for n in range(103)]
    listed = [hit.id for hit in await stage.mturk.hits()]
    assert sorted(listed) == sorted(posted)


async def test_a_hit_that_is_not_shown_yet_is_not_posted_again(stage: MturkStage) -> None:
    stage.faults.late_s = 30.0
    stage.lose_answers()
    with pytest.raises(Unavailable):
        await post(stage)
    with pytest.raises(Unavailable):
        await post(stage)
    stage.clock.advance(31)
    assert (await post(stage)).status is HitStatus.OPEN
    assert await stage.posted("hit-1") == 1


async def test_a_hit_never_gets_seats_that_cost_double(stage: MturkStage) -> None:
    with pytest.raises(Refused, match="seats"):
        await post(stage, seats=10)
    hit = await post(stage, seats=9)
    with pytest.raises(Refused, match="seats"):
        await stage.mturk.grow(hit.id, 10, "grow-1")
    assert (await stage.mturk.hit(hit.id)).seats == 9


async def test_a_hit_that_is_disposed_of_is_gone(stage: MturkStage) -> None:
    visit = await handed_in(stage)
    with pytest.raises(NotYet):
        await stage.mturk.dispose(visit.hit_id)
    await stage.mturk.approve(visit.assignment_id)
    await stage.mturk.dispose(visit.hit_id)
    assert (await stage.mturk.hit(visit.hit_id)).status is HitStatus.GONE
    assert await stage.mturk.hits() == []


async def test_only_who_qualifies_sees_a_hit(stage: MturkStage) -> None:
    stage.recruiter = await changed(stage, wanted=Wanted(countries=("DE", "US-NY")))
    hit = await post(stage, seats=3)

    async def take(country: str, subdivision: str | None) -> None:
        worker = await stage.market.write(
            workers.create_worker, country=country, subdivision=subdivision
        )
        await stage.take_again(worker, hit.id)

    await take("DE", None)
    await take("US", "NY")
    for country, subdivision in (("FR", None), ("US", "CA"), ("US", None)):
        with pytest.raises(NoSeat):
            await take(country, subdivision)


async def test_every_qualification_is_understood(stage: MturkStage) -> None:
    wanted = Wanted(("US",), percent_approved=95, number_approved=10, masters=True, adult=True)
    stage.recruiter = await changed(stage, wanted=wanted)
    hit = await post(stage)
    with pytest.raises(NoSeat):
        await stage.take(hit.id)


async def test_the_block_is_found_again_and_made_once(stage: MturkStage) -> None:
    for _ in range(3):
        await stage.again()
    # Who merely opens leaves nothing over there.
    assert not stage.faults.calls["CreateQualificationType"]
    for n in range(3):
        await (await stage.again()).post(stage.posting(f"hit-{n}"))
    assert stage.faults.calls["CreateQualificationType"] == 1
    # A recruiter that has none asks for none.
    without = await changed(stage, block_name="")
    assert not without.capabilities.blocks
    await without.post(stage.posting("hit-9"))
    assert stage.faults.calls["CreateQualificationType"] == 1


# --- What is true over there -------------------------------------------------------------------


async def test_what_time_approved_is_approved(stage: MturkStage) -> None:
    visit = await handed_in(stage)
    stage.clock.advance(7 * DAY_S + 1)
    remote = await stage.mturk.assignment(visit.assignment_id)
    assert remote.status is AssignmentStatus.APPROVED
    await stage.mturk.approve(visit.assignment_id)
    assert await stage.rewards(visit) == [150]
    with pytest.raises(Refused):
        await stage.mturk.reject(visit.assignment_id, "Too late.")


async def test_work_whose_time_was_up_is_not_paid(stage: MturkStage) -> None:
    visit = await stage.take((await post(stage)).id)
    stage.clock.advance(1801)
    assert await stage.mturk.assignments(visit.hit_id) == []
    with pytest.raises(NotYet):
        await stage.mturk.approve(visit.assignment_id)
    with pytest.raises(NotYet):
        await stage.mturk.pay(bonus_for(visit))
    assert (await stage.mturk.hit(visit.hit_id)).free == 1
    assert await stage.spent() == 0


async def test_work_that_is_not_shown_yet_is_approved_later(stage: MturkStage) -> None:
    visit = await stage.take((await post(stage)).id)
    stage.clock.advance(60)
    stage.faults.late_s = 30.0
    await stage.submit(visit)
    with pytest.raises(NotYet):
        await stage.mturk.approve(visit.assignment_id)
    with pytest.raises(NotYet):
        await stage.mturk.assignment(visit.assignment_id)
    stage.clock.advance(31)
    await stage.mturk.approve(visit.assignment_id)
    assert await stage.rewards(visit) == [150]


# --- Who may -----------------------------------------------------------------------------------


async def test_a_wrong_key_is_told_when_opening(stage: MturkStage) -> None:
    right = stage.config
    for wrong in (replace(right, access_key="AKIANO"), replace(right, secret_key="another")):
        stage.config = wrong
        recruiter = stage.another()
        with pytest.raises(NeedsPerson):
            await recruiter.open()


async def test_no_log_line_names_a_worker(
    stage: MturkStage, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="duologue"):
        visit = await handed_in(stage)
        stage.throttle(3)
        await stage.mturk.message([visit.worker_id], "Subject", "Text")
        await stage.mturk.block(visit.worker_id, "because")
        await stage.mturk.pay(bonus_for(visit))
        stage.mturk.arriving({**visit.query, "turkSubmitTo": "https://evil.example"})
    assert caplog.records
    assert visit.worker_id not in caplog.text
