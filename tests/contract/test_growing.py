"""Where places grow, what is wanted more goes into the study that is there, once, whoever dies."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from dialogs.record import supply as supplies
from dialogs.record.supply import supply, unposted_relaunches
from dialogs.rules import HitState, StudyStatus
from hit_manager.recruiters.base import HitStatus, Posting, RemoteHit
from hit_manager.recruiters.prolific import Prolific
from tests.contract.prolific_server import Trouble
from tests.contract.prolific_stage import ProlificStage
from tests.contract.prolific_world import Fault
from tests.prolific_recruiting import ProlificRecruiting, recruiting_there
from tests.records import STUDY

PLACES = r"/studies/[0-9a-f]{24}/$"
"""Where a study's places are changed."""
MOVES = r"/studies/[0-9a-f]{24}/transition/$"


class Died(Exception):
    """The process has ended here."""


class Mortal(Prolific):
    """Prolific's recruiter in a process that ends at a call: before it, or after it."""

    def __init__(self, stage: ProlificStage, what: str, moment: str) -> None:
        super().__init__(stage.config, now=lambda: stage.seconds)
        self._point = (what, moment)
        stage._others.append(self)

    def _pass(self, what: str, moment: str) -> None:
        if self._point == (what, moment):
            raise Died

    async def post(self, posting: Posting) -> RemoteHit:
        self._pass("post", "before")
        made = await super().post(posting)
        self._pass("post", "after")
        return made

    async def grow(self, hit_id: str, seats: int, key: str) -> None:
        self._pass("grow", "before")
        await super().grow(hit_id, seats, key)
        self._pass("grow", "after")

    async def extend(self, hit_id: str, until: float) -> None:
        self._pass("extend", "before")
        await super().extend(hit_id, until)
        self._pass("extend", "after")

    async def expire(self, hit_id: str) -> None:
        self._pass("expire", "before")
        await super().expire(hit_id)
        self._pass("expire", "after")


@pytest_asyncio.fixture
async def at(sqlite_url: str, tmp_path: Path) -> AsyncIterator[ProlificRecruiting]:
    async with recruiting_there(sqlite_url, tmp_path) as opened:
        yield opened


async def once_each(at: ProlificRecruiting) -> None:
    """Every relaunch has two seats that are there, and nobody more could come than is wanted."""
    rows = {hit.id: hit for hit in await at.hits()}
    seats: dict[str, int] = {}
    for dialog, hit_id, number in at.again():
        hit = rows[hit_id]
        assert hit.seats_there == at.world.studies[hit.remote_id or ""]["total_available_places"]
        if hit.seats_there >= hit.seats:
            seats[dialog] = seats.get(dialog, 0) + number
    assert not await at.record.read(unposted_relaunches, STUDY)
    assert all(number == 2 for number in seats.values()), seats


# --- One study -------------------------------------------------------------------------------


async def test_a_large_project_is_one_study(at: ProlificRecruiting) -> None:
    at.set(max_open=4)
    at.study_of_items(*(f"item-{n}" for n in range(12)))
    for n in range(12):
        await at.round()
        assert at.free <= 4
        # Some fail, and are wanted again.
        await at.talk(f"d{n}", f"item-{n}", well=n % 3 > 0)
    for n in range(0, 12, 3):
        await at.round()
        await at.talk(f"again-{n}", f"item-{n}", well=True)
    await at.round()
    await at.round()
    [(status, places)] = at.places
    assert status in ("COMPLETED", "AWAITING REVIEW")
    # The places of those who left were given to others by Prolific itself.
    assert places == 24
    assert (await at.record.read(supply, STUDY)).missing == 0
    [hit] = await at.hits()
    assert hit.state in (HitState.CLOSED, HitState.DONE)


async def test_each_relaunch_has_its_seats_once(at: ProlificRecruiting) -> None:
    at.study_of_items("dog", "cat", "owl")
    await at.round()
    people = {name: await at.come_in(2) for name in ("dog", "cat", "owl")}
    for name, two in people.items():
        at.pair(f"d-{name}", *two, name)
    for name in people:
        at.fail(f"d-{name}", name)
    for _ in range(3):
        await at.round()
        await once_each(at)
    assert [(dialog, seats) for dialog, _, seats in at.again()] == [
        ("d-cat", 2),
        ("d-dog", 2),
        ("d-owl", 2),
    ]
    assert at.places == [("ACTIVE", 12)]
    chains = await at.record.read(supplies.chains, STUDY)
    [hit] = await at.hits()
    assert {chain.dialogs[0][2] for chain in chains} == {(hit.id,)}


async def test_a_second_study_is_posted_when_the_first_can_have_no_more(
    at: ProlificRecruiting,
) -> None:
    at.set(seats=5, max_open=4)
    at.study_of_items(*(f"item-{n}" for n in range(4)))
    await at.round()
    assert at.places == [("ACTIVE", 4)]
    people = await at.come_in(4)
    await at.round()
    assert sorted(at.places) == [("ACTIVE", 3), ("ACTIVE", 5)]
    assert at.free == 4
    assert len(people) == 4


async def test_a_study_for_another_reward_does_not_grow(at: ProlificRecruiting) -> None:
    at.set(max_open=2)
    at.study_of_items("dog", "cat")
    await at.round()
    await at.come_in(2)
    at.set(reward=200, full_pay=200)
    await at.round()
    assert at.places == [("ACTIVE", 2), ("ACTIVE", 2)]
    assert [study["reward"] for study in at.world.studies.values()] == [150, 200]


async def test_new_filters_lead_to_a_new_study(at: ProlificRecruiting) -> None:
    at.set(max_open=2)
    at.study_of_items("dog", "cat")
    await at.round()
    await at.come_in(2)
    only = {"filter_id": "sex", "selected_values": ["1"]}
    recruiter = at.there.changed(filters=(only,))
    await recruiter.open()
    await at.restarted(recruiter)
    await at.round()
    assert at.places == [("ACTIVE", 2), ("ACTIVE", 2)]
    assert [only in study["filters"] for study in at.world.studies.values()] == [False, True]
    # And what was paused before does not go on with the old ones.
    await at.study_becomes(StudyStatus.PAUSED)
    await at.round()
    await at.round()
    await at.study_becomes(StudyStatus.OPEN)
    await at.restarted()
    await at.round()
    assert [status for status, _ in at.places].count("ACTIVE") == 1
    assert len(at.places) == 2


# --- One that is closed ------------------------------------------------------------------------


async def test_a_paused_study_goes_on_with_the_places_it_has(at: ProlificRecruiting) -> None:
    at.study_of_items("dog", "cat")
    await at.round()
    await at.come_in(1)
    await at.study_becomes(StudyStatus.PAUSED)
    await at.round()
    assert at.places == [("PAUSED", 4)]
    await at.round()
    [hit] = await at.hits()
    assert (hit.state, hit.free) == (HitState.CLOSED, 3)
    await at.study_becomes(StudyStatus.OPEN)
    await at.round()
    assert at.places == [("ACTIVE", 4)]
    # And with more, where more is wanted meanwhile.
    await at.study_becomes(StudyStatus.PAUSED)
    await at.round()
    await at.study_becomes(StudyStatus.OPEN)
    at.study_of_items("owl")
    await at.round()
    assert at.places == [("ACTIVE", 6)]
    assert at.free == 5


async def test_a_paused_study_with_too_many_free_places_stays_paused(
    at: ProlificRecruiting,
) -> None:
    at.study_of_items("dog", "cat", "owl")
    await at.round()
    await at.study_becomes(StudyStatus.PAUSED)
    await at.round()
    at.set(max_open=2)
    await at.study_becomes(StudyStatus.OPEN)
    await at.round()
    assert sorted(at.places) == [("ACTIVE", 2), ("COMPLETED", 6)]
    assert at.free == 2


async def test_a_study_that_was_over_recruits_again(at: ProlificRecruiting) -> None:
    at.set(approval="by_hand")
    at.study_of_items("dog")
    await at.round()
    people = await at.talk("d1", "dog", well=True)
    await at.round()
    assert at.places == [("AWAITING REVIEW", 2)]
    assert len(people) == 2
    at.study_of_items("cat")
    await at.round()
    assert at.places == [("ACTIVE", 4)]
    assert at.free == 2


async def test_one_that_somebody_stopped_by_hand_is_left_alone(at: ProlificRecruiting) -> None:
    at.study_of_items("dog")
    await at.round()
    [study] = at.world.studies.values()
    at.world.stopped.add(study["id"])
    at.world.settle()
    assert study["status"] == "COMPLETED"
    for _ in range(6):
        await at.round()
        at.stage.clock.advance(70.0)
    # It cannot go on with the places that are free, so they are offered by another one.
    assert sorted(at.places) == [("ACTIVE", 2), ("COMPLETED", 2)]


# --- What goes wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("what", ["grow", "extend"])
async def test_whoever_dies_leaves_what_the_next_one_goes_on_with(
    at: ProlificRecruiting, what: str, moment: str
) -> None:
    at.study_of_items("dog", "cat")
    await at.round()
    people = await at.come_in(2)
    at.pair("d1", *people, "dog")
    at.fail("d1", "dog")
    if what == "extend":
        await at.study_becomes(StudyStatus.PAUSED)
        await at.round()
        await at.round()
        await at.study_becomes(StudyStatus.OPEN)
    dying = await at.restarted(Mortal(at.there, what, moment))
    with pytest.raises(Died):
        await dying.round()
    [hit] = await at.hits()
    assert hit.seats == 6, "the wish is in the row before the call"
    assert (await at.record.read(supply, STUDY)).have == 4, "and counts"
    await at.restarted()
    for _ in range(3):
        await at.round()
        assert at.places == [("ACTIVE", 6)]
        assert at.free == 4
    [hit] = await at.hits()
    assert (hit.state, hit.seats, hit.seats_there, hit.free) == (HitState.OPEN, 6, 6, 4)
    await once_each(at)


@pytest.mark.parametrize(
    ("trouble", "times"),
    [(Trouble.LOST, 9), (Trouble.BAD_GATEWAY, 9), (Trouble.BAD_GATEWAY_AFTER, 9)],
)
async def test_growing_without_an_answer_grows_once(
    at: ProlificRecruiting, trouble: Trouble, times: int
) -> None:
    at.study_of_items("dog")
    await at.round()
    await at.come_in(1)
    at.study_of_items("cat")
    at.there.server.trouble(trouble, times, path=PLACES)
    done = await at.round()
    assert done.report.grown == 0
    assert done.report.problems
    at.there.server.plans.clear()
    assert (await at.record.read(supply, STUDY)).have == 4
    at.stage.clock.advance(70.0)
    await at.round()
    assert at.places == [("ACTIVE", 4)]
    [hit] = await at.hits()
    assert (hit.seats_there, hit.free) == (4, 3)


async def test_without_money_it_grows_later(at: ProlificRecruiting) -> None:
    at.study_of_items("dog")
    await at.round()
    await at.come_in(1)
    at.study_of_items("cat")
    at.world.balance = 100
    await at.round()
    at.stage.clock.advance(70.0)
    await at.round()
    assert at.places == [("ACTIVE", 2)]
    at.world.balance = 10_000
    at.stage.clock.advance(150.0)
    await at.round()
    assert at.places == [("ACTIVE", 4)]


async def test_a_study_that_is_refused_more_places_is_let_be(
    at: ProlificRecruiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    at.study_of_items("dog")
    await at.round()
    people = await at.come_in(2)
    at.pair("d1", *people, "dog")
    at.fail("d1", "dog")
    [first] = at.world.studies.values()
    real = at.world.cost

    def cost(reward: int, places: int) -> int:
        if places and first["total_available_places"] == 2 and len(at.world.studies) == 1:
            raise Fault(400, "Validation error", "this study can have no more places")
        return real(reward, places)

    monkeypatch.setattr(at.world, "cost", cost)
    done = await at.round()
    assert any("no more places" in problem for problem in done.report.problems)
    monkeypatch.setattr(at.world, "cost", real)
    for _ in range(3):
        at.stage.clock.advance(70.0)
        await at.round()
    # Nobody comes there any more; what it did not get is in another, and the relaunch with it.
    assert at.places == [("PAUSED", 2), ("ACTIVE", 2)]
    [old] = await at.hits(HitState.CLOSED)
    assert old.problem
    [new] = await at.hits(HitState.OPEN)
    assert [hit for _, hit, _ in at.again("d1")].count(new.id) == 1
    assert not await at.record.read(unposted_relaunches, STUDY)
    assert at.free == 2


# --- Everything at once --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_happens_nobody_is_invited_twice(
    sqlite_url: str, tmp_path: Path, seed: int
) -> None:
    """Dialogs fail and succeed, the study is paused and goes on, and managers die at any call."""
    chance = random.Random(seed)
    options: dict[str, Any] = {"max_open": 6, "seats": chance.choice([7, 100])}
    async with recruiting_there(sqlite_url, tmp_path, **options) as at:
        left = [f"item-{n}" for n in range(8)]
        at.study_of_items(*left)
        dialogs = 0
        for _ in range(40):
            if chance.random() < 0.4:
                what = chance.choice(["post", "grow", "extend", "expire"])
                moment = chance.choice(["before", "after"])
                manager = await at.restarted(Mortal(at.there, what, moment))
            else:
                manager = await at.restarted()
            try:
                await manager.round()
            except Died:
                continue
            at.stage.clock.advance(120.0)
            people = await at.record.read(supply, STUDY)
            assert at.free <= max(people.wanted - people.inside, 0), "more could come than wanted"
            if chance.random() < 0.2:
                paused = chance.choice([StudyStatus.PAUSED, StudyStatus.OPEN])
                await at.study_becomes(paused)
            if at.free >= 2 and left:
                name = chance.choice(left)
                well = chance.random() < 0.5
                await at.talk(f"d{dialogs}", name, well=well)
                dialogs += 1
                left = [item for item in left if item != name or not well]
        await at.study_becomes(StudyStatus.OPEN)
        await at.restarted()
        for _ in range(3):
            at.stage.clock.advance(300.0)
            await at.round()
        people = await at.record.read(supply, STUDY)
        assert people.have == people.wanted
        assert at.free == people.open_seats
        assert not await at.record.read(unposted_relaunches, STUDY)
        assert len(at.world.studies) <= 8
        rows = {hit.remote_id: hit for hit in await at.hits()}
        for remote in await at.stage.recruiter.hits():
            assert (remote.status is HitStatus.OPEN) == (rows[remote.id].state is HitState.OPEN)
