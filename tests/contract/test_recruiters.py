"""What holds for every recruiter. A test is skipped for those that cannot do what it is about."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from dialogs.rules import AssignmentStatus
from hit_manager.recruiters.base import (
    Bonus,
    HitStatus,
    Known,
    NotThere,
    NotYet,
    Proof,
    RecruiterError,
    Refused,
    RemoteHit,
    Unavailable,
    Unsupported,
    Unsure,
)
from tests.contract.link_stage import InvitationStage, LinkStage
from tests.contract.mturk_stage import MturkStage
from tests.contract.prolific_stage import ProlificStage
from tests.contract.recruiters import NoSeat, Stage, Visit

STAGES: dict[str, type[Stage]] = {
    "link": LinkStage,
    "invitations": InvitationStage,
    "mturk": MturkStage,
    "prolific": ProlificStage,
}


@pytest_asyncio.fixture(params=STAGES)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    async with STAGES[request.param].opened(tmp_path) as opened:
        yield opened


def needs(stage: Stage, *capabilities: str) -> None:
    """Skip the test where the recruiter lacks one of these."""
    for name in capabilities:
        if not getattr(stage.recruiter.capabilities, name):
            pytest.skip(f"{stage.recruiter.name} is without {name!r}")


async def post(stage: Stage, key: str = "hit-1", **changes: int) -> RemoteHit:
    return await stage.recruiter.post(stage.posting(key, **changes))


async def handed_in(stage: Stage, key: str = "hit-1") -> Visit:
    """A worker who has handed in the work of a new HIT."""
    visit = await stage.take((await post(stage, key)).id)
    await stage.submit(visit)
    return visit


def bonus_for(stage: Stage, visit: Visit, key: str = "pay-1", cents: int = 75) -> Bonus:
    return Bonus(
        key=key,
        assignment_id=visit.assignment_id,
        hit_id=visit.hit_id,
        worker_id=visit.worker_id,
        cents=cents,
        currency=stage.posting("any").currency,
        reason="For the time you waited. Thank you!",
    )


async def status_of(stage: Stage, visit: Visit) -> AssignmentStatus:
    return (await stage.recruiter.assignment(visit.assignment_id)).status


# --- Who comes -------------------------------------------------------------------------------


async def test_who_comes_is_in_the_link(stage: Stage) -> None:
    posts = stage.recruiter.capabilities.posts
    visit = await stage.take((await post(stage)).id if posts else "")
    arriving = stage.recruiter.arriving(visit.query)
    assert arriving is not None
    assert (arriving.worker_id, arriving.assignment_id, arriving.hit_id) == (
        visit.worker_id,
        visit.assignment_id,
        visit.hit_id,
    )
    # What else the study's own link carries is no matter.
    assert stage.recruiter.arriving({**visit.query, "hit": "token", "lang": "de"}) == arriving


async def test_a_preview_is_nobody(stage: Stage) -> None:
    posts = stage.recruiter.capabilities.posts
    visit = await stage.take((await post(stage)).id if posts else "")
    previews = stage.previews(visit)
    assert previews
    for query in previews:
        assert stage.recruiter.arriving(query) is None


async def test_only_who_holds_the_assignment_is_let_in(stage: Stage) -> None:
    if stage.recruiter.capabilities.proof is not Proof.AT_JOIN:
        pytest.skip(f"{stage.recruiter.name} cannot prove it at join")
    hit = await post(stage, seats=2)
    visit, other = await stage.take(hit.id), await stage.take(hit.id)
    arriving = stage.recruiter.arriving(visit.query)
    assert arriving is not None
    await stage.recruiter.prove(arriving)
    for forged in (
        replace(arriving, worker_id=other.worker_id),
        replace(arriving, assignment_id=stage.unknown_id),
    ):
        with pytest.raises(Refused):
            await stage.recruiter.prove(forged)
    await stage.give_back(visit)
    with pytest.raises(Refused):
        await stage.recruiter.prove(arriving)


# --- HITs ------------------------------------------------------------------------------------


async def test_a_hit_posted_twice_is_one(stage: Stage) -> None:
    needs(stage, "posts")
    hit = await post(stage)
    assert (hit.status, hit.seats, hit.free) == (HitStatus.OPEN, 1, 1)
    assert (await post(stage)).id == hit.id
    # After a crash that forgot all but the row the key is from.
    assert (await (await stage.again()).post(stage.posting("hit-1"))).id == hit.id
    assert (await post(stage, "hit-2")).id != hit.id
    assert (await stage.posted("hit-1"), await stage.posted("hit-2")) == (1, 1)


async def test_a_hit_whose_answer_is_lost_is_one(stage: Stage) -> None:
    needs(stage, "posts")
    stage.lose_answers()
    try:
        hit = await post(stage)
    except Unsure:
        hit = await post(stage)
    assert await stage.posted("hit-1") == 1
    assert (await stage.recruiter.hit(hit.id)).status is HitStatus.OPEN


async def test_strays_of_an_earlier_life_are_listed(stage: Stage) -> None:
    needs(stage, "posts")
    posted = [await post(stage, f"hit-{n}") for n in range(3)]
    await stage.recruiter.expire(posted[0].id)
    found = {hit.id: hit for hit in await (await stage.again()).hits()}
    assert found.keys() >= {hit.id for hit in posted}
    assert [found[hit.id].status for hit in posted] == [
        HitStatus.CLOSED,
        HitStatus.OPEN,
        HitStatus.OPEN,
    ]
    assert [found[hit.id].key for hit in posted] == ["hit-0", "hit-1", "hit-2"]


async def test_nobody_new_comes_after_expiry_and_who_is_inside_can_finish(stage: Stage) -> None:
    needs(stage, "posts")
    hit = await post(stage, seats=3)
    inside, leaving = await stage.take(hit.id), await stage.take(hit.id)
    for _ in range(2):
        await stage.recruiter.expire(hit.id)
    closed = await stage.recruiter.hit(hit.id)
    assert (closed.status, closed.free) == (HitStatus.CLOSED, 0)
    with pytest.raises(NoSeat):
        await stage.take(hit.id)
    await stage.give_back(leaving)
    with pytest.raises(NoSeat):
        await stage.take(hit.id)
    await stage.submit(inside)
    assert await status_of(stage, inside) is AssignmentStatus.SUBMITTED
    await stage.recruiter.expire(hit.id)
    if stage.recruiter.capabilities.pays:
        await stage.recruiter.approve(inside.assignment_id)
        assert list(await stage.rewards(inside)) == [stage.posting("hit-1").reward]


async def test_a_full_hit_is_open_because_a_seat_can_come_back(stage: Stage) -> None:
    needs(stage, "posts")
    hit = await post(stage)
    visit = await stage.take(hit.id)
    with pytest.raises(NoSeat):
        await stage.take(hit.id)
    full = await stage.recruiter.hit(hit.id)
    assert (full.status, full.free, full.pending) == (HitStatus.OPEN, 0, 1)
    await stage.give_back(visit)
    again = await stage.recruiter.hit(hit.id)
    assert (again.free, again.pending) == (1, 0)
    await stage.take(hit.id)


async def test_a_hit_grows_once_and_never_shrinks(stage: Stage) -> None:
    needs(stage, "posts")
    hit = await post(stage)
    stage.lose_answers()
    for seats in (3, 3, 2):
        try:
            await stage.recruiter.grow(hit.id, seats, "grow-1")
        except Unsure:
            await stage.recruiter.grow(hit.id, seats, "grow-1")
    # The same key for another number is no repeat.
    await stage.recruiter.grow(hit.id, 4, "grow-1")
    grown = await stage.recruiter.hit(hit.id)
    assert (grown.seats, grown.free) == (4, 4)


async def test_time_is_added_and_never_taken(stage: Stage) -> None:
    needs(stage, "posts")
    hit = await post(stage)
    ends = await stage.expires_at(hit.id)
    if ends is None:
        pytest.skip(f"HITs of {stage.recruiter.name} have no end")
    for until in (ends - 600, ends):
        await stage.recruiter.extend(hit.id, until)
        assert await stage.expires_at(hit.id) == ends
    for _ in range(2):
        await stage.recruiter.extend(hit.id, ends + 600)
        assert 600 <= (await stage.expires_at(hit.id) or 0.0) - ends <= 601
    # However little it is: some have a shortest extension.
    await stage.recruiter.extend(hit.id, ends + 602)
    assert (await stage.expires_at(hit.id) or 0.0) >= ends + 602


async def test_an_expired_hit_can_be_opened_again_and_expired_again(stage: Stage) -> None:
    needs(stage, "posts")
    hit = await post(stage)
    ends = await stage.expires_at(hit.id)
    if ends is None:
        pytest.skip(f"HITs of {stage.recruiter.name} have no end")
    for _ in range(2):
        await stage.recruiter.expire(hit.id)
        assert (await stage.recruiter.hit(hit.id)).status is HitStatus.CLOSED
        await stage.recruiter.extend(hit.id, ends + 3600)
        assert (await stage.recruiter.hit(hit.id)).status is HitStatus.OPEN


async def test_a_reviewed_hit_is_cleared_away(stage: Stage) -> None:
    needs(stage, "posts", "pays")
    visit = await handed_in(stage)
    await stage.recruiter.expire(visit.hit_id)
    await stage.recruiter.approve(visit.assignment_id)
    for _ in range(2):
        await stage.recruiter.dispose(visit.hit_id)
    assert all(
        hit.status is not HitStatus.OPEN
        for hit in await stage.recruiter.hits()
        if hit.id == visit.hit_id
    )
    assert list(await stage.rewards(visit)) == [stage.posting("hit-1").reward]


# --- Work and its reward -----------------------------------------------------------------------


async def test_what_was_handed_in_is_shown(stage: Stage) -> None:
    needs(stage, "posts")
    hit = await post(stage, seats=2)
    visit, inside = await stage.take(hit.id), await stage.take(hit.id)
    await stage.submit(visit, "CODE-OF-1")
    shown = {each.id: each for each in await stage.recruiter.assignments(hit.id)}
    mine = shown[visit.assignment_id]
    assert mine == await stage.recruiter.assignment(visit.assignment_id)
    assert (mine.hit_id, mine.worker_id, mine.status) == (
        hit.id,
        visit.worker_id,
        AssignmentStatus.SUBMITTED,
    )
    assert mine.code == "CODE-OF-1"
    assert mine.submitted_at is not None
    # Who is inside is either not shown or shown as such.
    if inside.assignment_id in shown:
        assert shown[inside.assignment_id].status is AssignmentStatus.TAKEN


async def test_approved_twice_is_paid_once(stage: Stage) -> None:
    needs(stage, "pays")
    visit = await handed_in(stage)
    for _ in range(2):
        await stage.recruiter.approve(visit.assignment_id, "Thank you!")
    await (await stage.again()).approve(visit.assignment_id)
    assert list(await stage.rewards(visit)) == [stage.posting("hit-1").reward]
    assert await status_of(stage, visit) is AssignmentStatus.APPROVED
    with pytest.raises(RecruiterError) as refused:
        await stage.recruiter.reject(visit.assignment_id, "Not what was asked for.")
    assert isinstance(refused.value, (Refused, Unsupported))
    assert await status_of(stage, visit) is AssignmentStatus.APPROVED


async def test_an_approval_whose_answer_is_lost_is_paid_once(stage: Stage) -> None:
    needs(stage, "pays")
    visit = await handed_in(stage)
    stage.lose_answers()
    try:
        await stage.recruiter.approve(visit.assignment_id)
    except Unsure:
        await stage.recruiter.approve(visit.assignment_id)
    assert list(await stage.rewards(visit)) == [stage.posting("hit-1").reward]


async def test_work_that_is_not_handed_in_is_not_approved_yet(stage: Stage) -> None:
    needs(stage, "posts", "pays")
    visit = await stage.take((await post(stage)).id)
    with pytest.raises(NotYet):
        await stage.recruiter.approve(visit.assignment_id)
    await stage.submit(visit)
    await stage.recruiter.approve(visit.assignment_id)
    assert len(await stage.rewards(visit)) == 1


async def test_rejected_twice_is_rejected_once_and_not_paid(stage: Stage) -> None:
    needs(stage, "pays")
    visit = await handed_in(stage)
    try:
        for _ in range(2):
            await stage.recruiter.reject(visit.assignment_id, REJECTION)
    except Unsupported:
        pytest.skip(f"{stage.recruiter.name} rejects nobody")
    assert await status_of(stage, visit) is AssignmentStatus.REJECTED
    # To change one's mind about money takes a person.
    with pytest.raises(Refused):
        await stage.recruiter.approve(visit.assignment_id)
    assert list(await stage.rewards(visit)) == []


REJECTION = (
    "Every message was the same single letter, so that the other person could not take part. "
    "The instructions ask for questions about the photo."
)


@pytest.mark.parametrize("there", [AssignmentStatus.APPROVED, AssignmentStatus.REJECTED])
async def test_what_was_decided_over_there_is_what_counts(
    stage: Stage, there: AssignmentStatus
) -> None:
    needs(stage, "pays")
    visit = await handed_in(stage)
    await stage.decide(visit, there)
    assert await status_of(stage, visit) is there
    assert [each.status for each in await stage.recruiter.assignments(visit.hit_id)] == [there]
    if there is AssignmentStatus.APPROVED:
        await stage.recruiter.approve(visit.assignment_id)
    else:
        with pytest.raises(Refused):
            await stage.recruiter.approve(visit.assignment_id)
    assert len(await stage.rewards(visit)) == (there is AssignmentStatus.APPROVED)


async def test_work_that_was_given_back_is_never_shown_as_handed_in(stage: Stage) -> None:
    needs(stage, "posts", "pays")
    visit = await stage.take((await post(stage)).id)
    await stage.give_back(visit)
    shown = await stage.recruiter.assignments(visit.hit_id)
    assert all(each.status is AssignmentStatus.RETURNED for each in shown)
    with pytest.raises((Refused, NotYet)):
        await stage.recruiter.approve(visit.assignment_id)
    assert list(await stage.rewards(visit)) == []


# --- Amounts beside the reward -----------------------------------------------------------------


async def test_a_bonus_waits_for_the_work(stage: Stage) -> None:
    needs(stage, "posts", "bonuses")
    visit = await stage.take((await post(stage)).id)
    bonus = bonus_for(stage, visit)
    with pytest.raises(NotYet):
        await stage.recruiter.pay(bonus)
    assert await stage.recruiter.paid(bonus) is not True
    assert list(await stage.bonuses(visit)) == []
    await stage.submit(visit)
    if stage.recruiter.capabilities.pays:
        await stage.recruiter.approve(visit.assignment_id)
    await stage.recruiter.pay(bonus)
    assert list(await stage.bonuses(visit)) == [75]


async def test_bonuses_of_the_same_amount_are_told_apart(stage: Stage) -> None:
    needs(stage, "bonuses")
    visit = await approved(stage)
    first, second = bonus_for(stage, visit, "pay-1"), bonus_for(stage, visit, "pay-2")
    assert await stage.recruiter.paid(first) is not True
    await stage.recruiter.pay(first)
    assert await stage.recruiter.paid(first) is not False
    assert await stage.recruiter.paid(second) is not True
    await stage.recruiter.pay(second)
    assert list(await stage.bonuses(visit)) == [75, 75]


async def test_the_same_bonus_again_is_paid_once(stage: Stage) -> None:
    needs(stage, "bonuses", "repeat_safe")
    visit = await approved(stage)
    bonus = bonus_for(stage, visit, "payment-" + "0123456789" * 10)
    await stage.recruiter.pay(bonus)
    await stage.recruiter.pay(bonus)
    await (await stage.again()).pay(bonus)
    assert list(await stage.bonuses(visit)) == [75]


async def test_a_bonus_whose_answer_is_lost_is_paid_once(stage: Stage) -> None:
    needs(stage, "bonuses")
    visit = await approved(stage)
    bonus = bonus_for(stage, visit)
    kept: list[Known] = []

    async def keep(known: Known) -> None:
        kept.append(known)

    stage.lose_answers()
    with pytest.raises(Unsure):
        await stage.recruiter.pay(bonus, keep)
    # As it is done after a crash: by somebody who knows only that it was about to be sent, and
    # what was kept ahead of it.
    recruiter = await stage.again()
    paid = await recruiter.paid(replace(bonus, known=kept[-1] if kept else {}))
    assert paid is not False
    if recruiter.capabilities.repeat_safe:
        await recruiter.pay(bonus)
    assert list(await stage.bonuses(visit)) == [75]


async def approved(stage: Stage) -> Visit:
    visit = await handed_in(stage)
    if stage.recruiter.capabilities.pays:
        await stage.recruiter.approve(visit.assignment_id)
    return visit


# --- What is not there -------------------------------------------------------------------------


async def test_unknown_ids_are_not_there(stage: Stage) -> None:
    recruiter, unknown = stage.recruiter, stage.unknown_id
    needs(stage, "posts")
    visit = await stage.take((await post(stage)).id)
    for call in (
        lambda: recruiter.hit(unknown),
        lambda: recruiter.expire(unknown),
        lambda: recruiter.grow(unknown, 3, "grow-1"),
        lambda: recruiter.assignments(unknown),
        lambda: recruiter.assignment(unknown),
    ):
        with pytest.raises(NotThere):
            await call()
    await recruiter.dispose(unknown)
    if recruiter.capabilities.pays:
        with pytest.raises(NotThere):
            await recruiter.approve(unknown)
        with pytest.raises((NotThere, Unsupported)):
            await recruiter.reject(unknown, REJECTION)
    if recruiter.capabilities.bonuses:
        bonus = replace(bonus_for(stage, visit), assignment_id=unknown)
        with pytest.raises(NotThere):
            await recruiter.pay(bonus)


async def test_nothing_is_approved_rejected_or_paid_unasked(stage: Stage) -> None:
    needs(stage, "posts", "pays")
    recruiter = stage.recruiter
    visit = await handed_in(stage)
    stranger = await stage.take((await post(stage, "hit-2")).id)
    await stage.submit(stranger, "A CODE NOBODY KNOWS")
    for each in (visit, stranger):
        for query in (each.query, *stage.previews(each)):
            recruiter.arriving(query)
        await recruiter.hits()
        await recruiter.hit(each.hit_id)
        await recruiter.assignments(each.hit_id)
        await recruiter.assignment(each.assignment_id)
        await recruiter.grow(each.hit_id, 2, "grow-1")
        await recruiter.expire(each.hit_id)
        with pytest.raises(NotYet):
            await recruiter.dispose(each.hit_id)
        await recruiter.balance()
        recruiter.commission(100)
    await (await stage.again()).close()
    for each in (visit, stranger):
        assert await status_of(stage, each) is AssignmentStatus.SUBMITTED
        assert list(await stage.rewards(each)) == []
        assert list(await stage.bonuses(each)) == []


# --- Workers -----------------------------------------------------------------------------------


async def test_a_message_reaches_who_it_can(stage: Stage) -> None:
    needs(stage, "messages", "posts")
    visit = await approved(stage)
    nobody = stage.unknown_worker_id
    unreached = await stage.recruiter.message(
        [visit.worker_id, nobody], "More dialogs", "There are new photos to talk about."
    )
    assert list(unreached) == [nobody]
    assert unreached[nobody]
    (text,) = await stage.inbox(visit.worker_id)
    assert "There are new photos to talk about." in text


async def test_a_blocked_worker_takes_no_hit(stage: Stage) -> None:
    needs(stage, "blocks", "posts")
    visit = await approved(stage)
    for _ in range(2):
        await stage.recruiter.block(visit.worker_id, "wrote the same to everybody")
    blocked = await post(stage, "hit-2")
    with pytest.raises(NoSeat):
        await stage.take_again(visit.worker_id, blocked.id)
    await stage.take(blocked.id)
    for _ in range(2):
        await stage.recruiter.unblock(visit.worker_id)
    await stage.take_again(visit.worker_id, (await post(stage, "hit-3")).id)


# --- Patience ----------------------------------------------------------------------------------


async def test_after_too_many_requests_it_is_asked_again_with_pauses(stage: Stage) -> None:
    needs(stage, "posts")
    hit = await post(stage)
    stage.throttle(2)
    assert (await stage.recruiter.hit(hit.id)).id == hit.id
    assert len(stage.waits) == 2
    assert all(seconds > 0 for seconds in stage.waits)


async def test_money_that_was_throttled_is_paid_once(stage: Stage) -> None:
    needs(stage, "bonuses")
    visit = await approved(stage)
    stage.throttle(2)
    await stage.recruiter.pay(bonus_for(stage, visit))
    assert list(await stage.bonuses(visit)) == [75]


async def test_patience_ends(stage: Stage) -> None:
    needs(stage, "bonuses")
    visit = await approved(stage)
    stage.throttle(1000)
    with pytest.raises(Unavailable) as refused:
        await stage.recruiter.pay(bonus_for(stage, visit))
    # It was surely not done, and that is worth knowing.
    assert not isinstance(refused.value, Unsure)
    stage.throttle(0)
    assert list(await stage.bonuses(visit)) == []


async def test_closed_twice_is_closed(stage: Stage) -> None:
    for _ in range(2):
        await stage.recruiter.close()
    if stage.recruiter.capabilities.posts:
        calls = stage.calls
        with pytest.raises(Unavailable) as refused:
            await stage.recruiter.hit(stage.unknown_id)
        assert not isinstance(refused.value, Unsure)
        assert stage.calls == calls
