"""The reconciler against the marketplace: what is wanted is posted, once, and nothing else."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from dialogs.record import hits as rows
from dialogs.record import studies
from dialogs.record import supply as supplies
from dialogs.record.errors import Conflict
from dialogs.record.judging import Overtaken
from dialogs.record.review_desk import ReviewDesk
from dialogs.record.supply import supply
from dialogs.rules import (
    Acceptance,
    ArrivalStatus,
    AssignmentStatus,
    HitState,
    LedgerState,
    Outcome,
    Phase,
    Release,
    SeatStatus,
    StudyStatus,
)
from hit_manager.ids import posting_key
from hit_manager.ledger import price_of_a_person
from hit_manager.manager import HitManager
from hit_manager.marketplace.faults import Fault
from hit_manager.recruiters.base import HitStatus
from tests.contract.recruiters import NoSeat
from tests.records import STUDY, opened
from tests.recruiting import (
    KEY,
    Recruiting,
    add_dialog,
    add_items,
    owes,
    recruiting,
    release,
)
from tests.reviews import add_admins


@pytest_asyncio.fixture
async def at(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Recruiting]:
    async with recruiting(sqlite_url, tmp_path) as found:
        yield found


# --- Posting ---------------------------------------------------------------------------------


async def test_exactly_what_is_missing_is_posted(at: Recruiting) -> None:
    at.study_of_items("dog", "cat", wanted=2)
    done = await at.round()
    assert (done.report.wanted, done.report.have, done.report.posted) == (8, 0, 8)
    assert len(await at.open_there()) == 8
    again = await at.round()
    assert (again.report.have, again.report.posted, again.report.expired) == (8, 0, 0)
    # Two come, one of them opens our page; nobody is counted twice or not at all.
    first, second = (await at.hits(HitState.OPEN))[:2]
    await at.arrive(first)
    assert second.remote_id
    await at.stage.take(second.remote_id)
    done = await at.round()
    assert (done.report.have, done.report.posted, done.report.expired) == (8, 0, 0)
    people = await at.record.read(supply, STUDY)
    assert (people.inside, people.open_seats, people.coming) == (1, 6, 1)


async def test_every_link_has_a_token_of_its_own(at: Recruiting) -> None:
    at.study_of_items("dog", "cat")
    await at.round()
    tokens = {hit.token for hit in await at.hits()}
    assert len(tokens) == 4
    assert all(len(token) >= 20 for token in tokens)
    hit = (await at.hits())[0]
    assert hit.remote_id
    visit = await at.stage.take(hit.remote_id)
    assert visit.query["hit"] == hit.token


async def test_hits_of_several_seats(at: Recruiting) -> None:
    at.set(seats=3)
    at.study_of_items("dog", "cat", "owl", "cow")
    await at.round()
    assert sorted(hit.seats for hit in await at.hits()) == [2, 3, 3]


async def test_an_answer_lost_after_the_commit_posts_nothing_twice(at: Recruiting) -> None:
    at.study_of_items("dog", "cat")
    at.stage.faults.add("CreateHIT", Fault.LOST, 3)
    for _ in range(3):
        await at.round()
        at.stage.clock.advance(3700.0)
    assert len(await at.open_there()) == 4
    for hit in await at.hits():
        assert await at.stage.posted(posting_key(KEY, hit)) == 1


async def test_a_hit_posted_before_a_crash_is_known_again(at: Recruiting) -> None:
    """The key alone would not do: Amazon forgets it after a day."""
    at.set(lifetime_s=200_000.0)
    at.study_of_items("dog")
    await at.round()

    at.forget_posting()
    # The HITs still stand, and their keys have been forgotten over there.
    at.stage.clock.advance(90_000.0)
    done = await at.round()
    assert (done.report.posted, done.report.have) == (0, 2)
    assert all(hit.remote_id for hit in await at.hits(HitState.OPEN))
    assert len(await at.stage.recruiter.hits()) == 2


async def test_what_is_wanted_and_not_posted_is_not_posted_after_a_pause(at: Recruiting) -> None:
    at.study_of_items("dog")
    at.stage.faults.add("CreateHIT", Fault.FAILED, 10)
    await at.round()
    assert {hit.state for hit in await at.hits()} == {HitState.WANTED}
    await at.study_becomes(StudyStatus.PAUSED)
    at.stage.clock.advance(7200.0)
    await at.round()
    await at.round()
    assert not await at.hits(HitState.WANTED, HitState.OPEN)
    assert not await at.open_there()
    assert not await at.stage.recruiter.hits()


async def test_a_hit_that_shows_up_late_is_neither_posted_again_nor_left(at: Recruiting) -> None:
    at.study_of_items("dog")
    at.stage.faults.late_s = 300.0
    for _ in range(4):
        await at.round()
        at.stage.clock.advance(20.0)
    assert len(await at.hits()) == 2
    at.stage.clock.advance(400.0)
    done = await at.round()
    assert (done.report.posted, done.report.strays, done.report.have) == (0, 0, 2)
    assert len(await at.open_there()) == 2


async def test_refused_hits_are_shown_and_do_not_pile_up(at: Recruiting) -> None:
    at.set(lifetime_s=1.0)
    at.study_of_items(*(f"item-{n}" for n in range(20)))
    for _ in range(10):
        done = await at.round()
        at.stage.clock.advance(15.0)
    assert 1 <= len(await at.hits(HitState.FAILED)) <= 8
    assert done.report.why
    # With a lifetime that is taken, all goes on.
    at.set(lifetime_s=86_400.0)
    for _ in range(3):
        await at.round()
        at.stage.clock.advance(4000.0)
    assert (await at.record.read(supply, STUDY)).have == 40


async def test_without_money_over_there_nothing_is_given_up(at: Recruiting) -> None:
    at.study_of_items("dog", "cat")
    await at.money_left(130)
    done = await at.round()
    assert len(await at.open_there()) == 2
    assert any("funds" in problem for problem in done.report.problems)
    assert not await at.hits(HitState.FAILED)
    at.stage.clock.advance(30.0)
    calls = at.stage.faults.calls["CreateHIT"]
    await at.round()
    assert at.stage.faults.calls["CreateHIT"] == calls, "it is not asked every few seconds"
    await at.money_left(10_000)
    at.stage.clock.advance(60.0)
    await at.round()
    assert len(await at.open_there()) == 4


async def test_what_was_wanted_for_another_reward_is_dropped(at: Recruiting) -> None:
    at.study_of_items("dog")
    at.set(reward=900_000, full_pay=900_000)
    await at.round()
    assert {hit.state for hit in await at.hits()} == {HitState.WANTED}
    at.set(reward=50, full_pay=150)
    await at.round()
    assert {hit.reward for hit in await at.hits(HitState.OPEN)} == {50}
    assert len(await at.open_there()) == 2


async def test_a_recruiter_that_does_not_answer_is_asked_again(at: Recruiting) -> None:
    at.study_of_items("dog")
    at.stage.faults.add("ListHITs", Fault.FAILED, 5)
    done = await at.round()
    assert done.report.problems
    assert not await at.hits()
    await at.round()
    assert len(await at.open_there()) == 2


# --- Limits ----------------------------------------------------------------------------------


async def test_no_more_than_the_most_stand_open(at: Recruiting) -> None:
    at.set(max_open=3)
    at.study_of_items("dog", "cat", "owl")
    done = await at.round()
    assert len(await at.open_there()) == 3
    assert "3 seats" in done.report.why
    await at.arrive((await at.hits(HitState.OPEN))[0])
    await at.round()
    assert len(await at.open_there()) == 3


async def test_more_are_invited_than_are_needed_as_long_as_they_are_not_there(
    at: Recruiting,
) -> None:
    at.set(over_recruit=1.5)
    at.study_of_items("dog", "cat")
    await at.round()
    assert len(await at.open_there()) == 6
    people = [await at.arrive(hit) for hit in (await at.hits(HitState.OPEN))[:4]]
    at.pair("d1", people[0], people[1], "dog")
    at.pair("d2", people[2], people[3], "cat")
    # All who are needed are there: nobody is asked to wait for nothing.
    await at.round()
    assert not await at.open_there()


async def test_while_enough_wait_nobody_is_invited(at: Recruiting) -> None:
    at.set(max_in_lobby=2)
    at.study_of_items("dog", "cat", "owl")
    await at.round()
    assert len(await at.open_there()) == 6
    for hit in (await at.hits(HitState.OPEN))[:2]:
        await at.arrive(hit)
    at.write(add_items, ["yak"])
    done = await at.round()
    assert done.report.posted == 0
    assert "2 people wait" in done.report.why


async def test_people_are_invited_in_the_hours_of_the_study_only(at: Recruiting) -> None:
    at.study_of_items("dog")
    clock = at.stage.clock
    clock.advance(86_400.0 - clock.now() % 86_400.0 + 3 * 3600.0)
    at.set(hours=(4, 6))
    await at.round()
    assert not await at.open_there()
    clock.advance(3600.0)
    await at.round()
    assert len(await at.open_there()) == 2
    clock.advance(2 * 3600.0)
    done = await at.round()
    assert not await at.open_there()
    assert "hours" in done.report.why


async def test_the_budget_holds_for_all_who_are_invited_or_inside(at: Recruiting) -> None:
    price = price_of_a_person(at.config, at.stage.recruiter)
    assert price == 150 + 10 + 20
    at.set(budget=3 * price + price - 1)
    at.study_of_items("dog", "cat", "owl")
    done = await at.round()
    assert len(await at.open_there()) == 3
    assert "budget" in done.report.why
    # One comes and ends alone: they are paid, and fill no place.
    hits = await at.hits(HitState.OPEN)
    one, other = await at.arrive(hits[0]), await at.arrive(hits[1])
    people = [(one, SeatStatus.LIVE), (other, SeatStatus.LOST)]
    at.write(add_dialog, "d1", "dog", phase=Phase.SOLO, people=people)
    at.write(release, other, 0, how=Release.LEFT)
    at.stage.clock.advance(30.0)
    await at.round()
    # The leaver is owed nothing, so their share is free for somebody else; hers is not.
    assert len(await at.open_there()) == 2
    # What the team gives by hand is the study's money, too.
    at.write(owes, one, price, reason="bonus-1")
    await at.round()
    assert len(await at.open_there()) <= 1


# --- Taking down -----------------------------------------------------------------------------


async def test_a_surplus_is_taken_down_and_no_more(at: Recruiting) -> None:
    at.study_of_items("dog", "cat")
    await at.round()
    hits = await at.hits(HitState.OPEN)
    a, b = await at.arrive(hits[0]), await at.arrive(hits[1])
    at.pair("d1", a, b, "dog")
    at.complete("d1")
    for arrival in (a, b):
        at.write(release, arrival, 150)
    # Somebody comes by another way, so one invitation is too many.
    at.come(replace(at.visits[a], worker_id="ANOTHERWORKER1", assignment_id="3OTHER"), hits[0].id)
    done = await at.round()
    assert (done.report.wanted, done.report.have) == (2, 3)
    assert done.report.expired == 1
    assert len(await at.open_there()) == 1
    assert (await at.round()).report.expired == 0


@pytest.mark.parametrize("end", ["paused", "complete"])
async def test_when_nobody_is_wanted_all_comes_down_at_once(at: Recruiting, end: str) -> None:
    at.study_of_items("dog", "cat")
    await at.round()
    inside = await at.arrive((await at.hits(HitState.OPEN))[0])
    if end == "paused":
        await at.study_becomes(StudyStatus.PAUSED)
    else:
        for item in ("dog", "cat"):
            at.write(add_dialog, f"d-{item}", item, phase=Phase.ENDED, outcome=Outcome.COMPLETE)
    done = await at.round()
    assert done.report.expired == 4
    assert not await at.open_there()
    for hit in await at.hits():
        assert hit.remote_id
        with pytest.raises(NoSeat):
            await at.stage.take(hit.remote_id)
    # Who is inside finishes, hands in, and is paid.
    at.write(release, inside, 150)
    await at.hand_in(inside)
    await at.round()
    assert await at.got(inside) == ([50], [100])


async def test_a_study_that_goes_on_posts_again(at: Recruiting) -> None:
    at.study_of_items("dog")
    await at.round()
    await at.study_becomes(StudyStatus.PAUSED)
    await at.round()
    assert not await at.open_there()
    await at.study_becomes(StudyStatus.OPEN)
    await at.round()
    assert len(await at.open_there()) == 2


async def test_strays_of_an_earlier_life_come_down(at: Recruiting, tmp_path: Path) -> None:
    """Trap 18: the server crashed, and its HITs stay posted."""
    at.study_of_items("dog")
    recruiter, posting = at.stage.recruiter, at.stage.posting
    stray = await recruiter.post(posting(f"duologue:{KEY}:h_gone"))
    other = await recruiter.post(posting("duologue:another-study:h_1"))
    foreign = await recruiter.post(posting("something-else"))
    done = await at.round()
    assert done.report.strays == 1
    assert (await recruiter.hit(stray.id)).status is HitStatus.CLOSED
    assert (await recruiter.hit(other.id)).status is HitStatus.OPEN
    assert (await recruiter.hit(foreign.id)).status is HitStatus.OPEN
    assert (await at.round()).report.strays == 0


async def test_two_records_of_one_study_leave_each_others_hits_alone(
    at: Recruiting, tmp_path: Path
) -> None:
    """A study's folder was copied, and both recruit on the same account."""
    at.study_of_items("dog")
    async with opened(f"sqlite:///{tmp_path / 'copy.sqlite'}") as record:
        await record.writer.commit(studies.new_study(STUDY, {}, 2.0))
        with record.engine.connect() as connection, connection.begin():
            add_items(connection, ["dog"])
        recruiter, now = await at.stage.again(), at.stage.clock.now
        copy = HitManager(record, recruiter, at.config, now=now)
        for n in range(3):
            ours, theirs = (await at.round()).report, (await copy.round()).report
            posted = 2 if n == 0 else 0
            assert (ours.posted, ours.strays, theirs.posted, theirs.strays) == (posted, 0) * 2
            at.stage.clock.advance(16.0)
            if n == 0:
                [problem] = theirs.problems
                assert "another record of the study 'study' stand open over there (2)" in problem
        assert len(await at.open_there()) == 4
        assert await copy.reconciler.take_foreign_down() == 2
        there = await at.open_there()
        names = await record.read(rows.hits_in, STUDY, (HitState.OPEN,))
        assert there == sorted(str(hit.remote_id) for hit in names)


async def test_a_hit_that_stands_there_twice_comes_down(at: Recruiting) -> None:
    at.study_of_items("dog")
    await at.round()
    hit = (await at.hits())[0]
    at.stage.clock.advance(25 * 3600.0)
    at.set(lifetime_s=100 * 3600.0)
    await at.round()
    second = await at.stage.recruiter.post(at.stage.posting(posting_key(KEY, hit)))
    assert second.id != hit.remote_id
    done = await at.round()
    assert done.report.strays == 1
    assert (await at.stage.recruiter.hit(second.id)).status is HitStatus.CLOSED


async def test_one_hit_that_was_deleted_by_hand_stops_nothing(at: Recruiting) -> None:
    at.study_of_items("dog", "cat")
    await at.round()
    gone = (await at.hits())[0]
    assert gone.remote_id
    await at.stage.recruiter.expire(gone.remote_id)
    await at.stage.recruiter.dispose(gone.remote_id)
    at.stage.clock.advance(1000.0)
    await at.round()
    await at.round()
    assert len(await at.open_there()) == 4


async def test_all_comes_down_after_a_crash_between_posting_and_storing(at: Recruiting) -> None:
    at.study_of_items("dog", "cat")
    await at.round()
    at.forget_posting()
    await at.study_becomes(StudyStatus.PAUSED)
    down = await at.manager.take_all_down()
    assert down is not None
    assert (down.expired, down.unseen, down.strays) == (4, 0, 0)
    assert not await at.open_there()
    assert not await at.hits(HitState.WANTED, HitState.OPEN)


async def test_what_is_only_decided_on_is_not_posted_after_all_came_down(at: Recruiting) -> None:
    at.study_of_items("dog")
    at.stage.faults.late_s = 600.0
    await at.round()
    at.forget_posting()
    down = await at.manager.take_all_down()
    assert down is not None
    # They stand over there, and its list does not show them yet.
    assert (down.expired, down.unseen) == (0, 2)
    assert not await at.hits(HitState.WANTED, HitState.OPEN)
    at.stage.clock.advance(700.0)
    again = await at.manager.take_all_down()
    assert again is not None
    assert (again.expired, again.unseen) == (2, 0)
    assert not await at.open_there()


async def test_only_one_process_takes_all_down(at: Recruiting) -> None:
    at.study_of_items("dog")
    await at.round()
    assert await at.another().take_all_down() is None


async def test_a_hit_that_runs_out_is_replaced(at: Recruiting) -> None:
    at.study_of_items("dog")
    await at.round()
    at.stage.clock.advance(at.config.lifetime_s + 1.0)
    await at.round()
    assert len(await at.open_there()) == 2
    assert Counter(h.state for h in await at.hits())[HitState.OPEN] == 2


async def test_hits_are_cleared_away_when_all_is_reviewed(at: Recruiting) -> None:
    at.study_of_items("dog")
    await at.round()
    arrival = await at.worked(150)
    await at.study_becomes(StudyStatus.PAUSED)
    for _ in range(3):
        await at.round()
    assert {hit.state for hit in await at.hits()} == {HitState.DONE}
    assert await at.got(arrival) == ([50], [100])


# --- People who go ---------------------------------------------------------------------------


async def test_who_gives_the_hit_back_without_a_word_is_replaced(at: Recruiting) -> None:
    at.study_of_items("dog")
    await at.round()
    hits = await at.hits(HitState.OPEN)
    ghost = await at.arrive(hits[0], status=ArrivalStatus.ARRIVED)
    await at.stage.give_back(at.visits[ghost])
    at.stage.clock.advance(200.0)
    done = await at.round()
    # The HIT can be taken again, and must stay so.
    assert (done.report.expired, done.report.posted) == (0, 0)
    assert len(await at.open_there()) == 2
    second = await at.arrive((await at.hits(HitState.OPEN))[0])
    third = await at.arrive((await at.hits(HitState.OPEN))[1])
    at.pair("d1", second, third, "dog")
    at.stage.clock.advance(200.0)
    done = await at.round()
    assert (done.report.have, done.report.posted, done.report.expired) == (2, 0, 0)


async def test_who_has_just_come_counts(at: Recruiting) -> None:
    """Between the look over there and the count here."""
    at.study_of_items("dog")
    await at.round()
    hit = (await at.hits(HitState.OPEN))[0]
    visit_hit = hit.remote_id
    assert visit_hit
    visit = await at.stage.take(visit_hit)
    at.come(visit, hit.id)
    # The row of the HIT still says that its seat is free and nobody holds it.
    people = await at.record.read(supply, STUDY, at.stage.clock.now())
    assert people.inside == 1


# --- Relaunches ------------------------------------------------------------------------------


async def test_a_relaunch_is_posted_once(at: Recruiting) -> None:
    at.study_of_items("dog")
    await at.round()
    hits = await at.hits(HitState.OPEN)
    at.pair("d1", *[await at.arrive(hit) for hit in hits], "dog")
    assert (await at.round()).report.posted == 0
    at.fail("d1", "dog")
    for _ in range(3):
        await at.round()
    again = [hit for _, hit, _ in at.again("d1")]
    assert len(again) == 2
    assert len(await at.open_there()) == 2
    [chain] = await at.record.read(supplies.chains, STUDY)
    assert chain.dialogs == (("d1", "abandoned", tuple(sorted(again))),)


async def test_a_rejected_dialog_is_posted_once_more(at: Recruiting) -> None:
    at.study_of_items("dog")
    at.write(add_admins, "ada")
    await at.round()
    hits = await at.hits(HitState.OPEN)
    both = [await at.arrive(hit) for hit in hits]
    at.pair("d1", *both, "dog")
    at.complete("d1")
    for arrival in both:
        at.write(release, arrival, 150)
        await at.hand_in(arrival)
    assert (await at.round()).report.wanted == 0
    desk = ReviewDesk(at.record, STUDY, now=at.stage.clock.now)
    await desk.judge("ada", "d1", Acceptance.REJECTED)
    assert (await at.round()).report.posted == 2
    with pytest.raises(Overtaken, match="been invited"):
        await desk.undo("ada")
    for _ in range(3):
        assert (await at.round()).report.posted == 0
    assert {dialog for dialog, _, _ in at.again()} == {"d1"}
    assert len(await at.open_there()) == 2
    assert [(await at.payment(arrival)).state for arrival in both] == [LedgerState.PAID] * 2


async def test_a_relaunch_that_people_in_the_lobby_take_is_not_posted(at: Recruiting) -> None:
    at.study_of_items("dog")
    await at.round()
    hits = await at.hits(HitState.OPEN)
    at.pair("d1", *[await at.arrive(hit) for hit in hits], "dog")
    at.fail("d1", "dog")
    people = [
        at.come(
            replace(at.visits["arrival-0"], worker_id=f"AW{n}", assignment_id=f"3{n}"), hits[0].id
        )
        for n in range(2)
    ]
    at.pair("d2", *people, "dog")
    await at.round()
    assert not at.again()
    at.fail("d2", "dog")
    await at.round()
    assert [(dialog, seats) for dialog, _, seats in at.again()] == [("d2", 1), ("d2", 1)]


async def test_relaunches_with_large_hits(at: Recruiting) -> None:
    at.set(seats=5)
    names = ("dog", "cat", "owl")
    at.study_of_items(*names, "cow")
    await at.round()
    free = [hit for hit in await at.hits(HitState.OPEN) for _ in range(hit.free)]
    for n, name in enumerate(names):
        pair = [await at.arrive(hit) for hit in free[2 * n : 2 * n + 2]]
        at.pair(f"d-{name}", *pair, name)
    for name in names:
        at.fail(f"d-{name}", name)
    for _ in range(3):
        await at.round()
    assert {dialog: seats for dialog, _, seats in at.again()} == {f"d-{name}": 2 for name in names}
    assert len({hit for _, hit, _ in at.again()}) == len(names), "each has a HIT of its own"


async def test_a_relaunch_whose_hit_was_refused_gets_another(at: Recruiting) -> None:
    at.study_of_items("dog")
    await at.round()
    hits = await at.hits(HitState.OPEN)
    at.pair("d1", *[await at.arrive(hit) for hit in hits], "dog")
    at.fail("d1", "dog")
    at.set(lifetime_s=1.0)
    await at.round()
    names = {hit for _, hit, _ in at.again()}
    assert {h.state for h in await at.hits() if h.id in names} == {HitState.FAILED}
    at.set(lifetime_s=86_400.0)
    await at.round()
    names = {hit for _, hit, _ in at.again("d1")}
    assert len([h for h in await at.hits(HitState.OPEN) if h.id in names]) == 2


# --- What the recruiter says -------------------------------------------------------------------


async def test_a_forged_link_does_not_stop_the_manager(at: Recruiting) -> None:
    """Somebody opens our page with the assignment of one HIT and the token of another."""
    at.study_of_items("dog", "cat")
    await at.round()
    one, other = (await at.hits(HitState.OPEN))[:2]
    assert one.remote_id
    visit = await at.stage.take(one.remote_id)
    arrival = at.come(visit, other.id)
    at.write(release, arrival, 150)
    await at.hand_in(arrival)
    for _ in range(3):
        done = await at.round()
        at.stage.clock.advance(30.0)
        assert not done.report.problems
    assert (await at.payment(arrival)).state == "held"
    assert await at.got(arrival) == ([], [])
    seen = await at.record.read(rows.assignments_by_id, STUDY, [visit.assignment_id])
    assert seen[visit.assignment_id].hit_id == one.id


async def test_decisions_of_others_over_there_are_seen(at: Recruiting) -> None:
    at.study_of_items("dog")
    at.set(approval="by_hand")
    await at.round()
    arrival = await at.worked(150)
    await at.round()
    await at.stage.decide(at.visits[arrival], AssignmentStatus.REJECTED)
    for _ in range(21):
        await at.round()
    name = at.visits[arrival].assignment_id
    seen = await at.record.read(rows.assignments_by_id, STUDY, [name])
    assert seen[name].status is AssignmentStatus.REJECTED


# --- One at a time -----------------------------------------------------------------------------


async def test_two_managers_post_what_one_would(at: Recruiting) -> None:
    at.study_of_items("dog", "cat", "owl")
    others = [at.manager, at.another(), at.another()]
    done = await asyncio.gather(*(manager.round() for manager in others))
    await asyncio.gather(*(manager.round() for manager in others))
    assert sorted(each.ours for each in done) == [False, False, True]
    assert len(await at.open_there()) == 6
    # Whoever goes away lets the next one in at once.
    ours = next(m for m, each in zip(others, done, strict=True) if each.ours)
    await ours.leave()
    waiting = next(m for m in others if m is not ours)
    assert (await waiting.round()).ours


async def test_who_lost_the_lease_in_their_sleep_posts_nothing(at: Recruiting) -> None:
    at.study_of_items("dog")
    sleeper, other = at.manager, at.another()
    async with sleeper._lease() as ours:
        assert ours
        # The machine sleeps; another one takes over.
        at.stage.clock.advance(120.0)
        assert (await other.round()).ours
        at.write(add_items, ["yak"])
        with pytest.raises(Conflict):
            await sleeper.reconciler.once()
    assert len(await at.hits()) == 2
