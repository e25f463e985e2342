"""What only Prolific has, against the fake of its API: proof at join, studies, secrets."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from hit_manager.recruiters.base import (
    HitStatus,
    NoFunds,
    NotYet,
    Refused,
    Unavailable,
    Unsure,
)
from hit_manager.recruiters.prolific import Codes, ProlificConfig
from hit_manager.recruiters.prolific.study import longest_minutes
from tests.contract.prolific_server import ProlificServer, Trouble
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


# --- Who comes -------------------------------------------------------------------------------


async def test_who_has_a_reserved_place_is_let_in(stage: ProlificStage) -> None:
    visit = await come(stage)
    stage.world.submissions[visit.assignment_id].status = "RESERVED"
    arriving = stage.prolific.arriving(visit.query)
    assert arriving is not None
    await stage.prolific.prove(arriving)


@pytest.mark.parametrize("status", ["TIMED-OUT", "AWAITING REVIEW", "REJECTED", "UNKNOWN"])
async def test_who_is_not_inside_is_not_let_in(stage: ProlificStage, status: str) -> None:
    visit = await come(stage)
    arriving = stage.prolific.arriving(visit.query)
    assert arriving is not None
    stage.world.submissions[visit.assignment_id].status = status
    with pytest.raises(Refused):
        await stage.prolific.prove(arriving)


async def test_a_place_of_another_study_opens_nothing(stage: ProlificStage) -> None:
    ours = await come(stage)
    stranger = stage.changed(study_id="another")
    theirs = await stage.take((await stranger.post(stage.posting("hit-1"))).id)
    arriving = stage.prolific.arriving(theirs.query)
    assert arriving is not None
    with pytest.raises(Refused, match="not ours"):
        await stage.prolific.prove(arriving)
    # Nor under the name of a study that is.
    with pytest.raises(Refused, match="another person's or study's"):
        await stage.prolific.prove(replace(arriving, hit_id=ours.hit_id))


async def test_nobody_is_let_in_or_sent_away_while_prolific_is_silent(
    stage: ProlificStage,
) -> None:
    arriving = stage.prolific.arriving((await come(stage)).query)
    assert arriving is not None
    stage.server.trouble(Trouble.BAD_GATEWAY, 2, path="submissions/", writes=False)
    with pytest.raises(Unavailable):
        await stage.prolific.prove(arriving)
    # They wait at the door, so it is asked twice at most.
    assert len(stage.waits) == 1
    await stage.prolific.prove(arriving)


async def test_a_token_that_is_no_longer_good_is_not_the_persons_fault(
    stage: ProlificStage,
) -> None:
    arriving = stage.prolific.arriving((await come(stage)).query)
    assert arriving is not None
    stage.world.token = "another"
    with pytest.raises(Unavailable):
        await stage.prolific.prove(arriving)
    stage.server.mistakes.clear()


# --- The study -------------------------------------------------------------------------------


async def test_a_study_is_what_was_posted(stage: ProlificStage) -> None:
    posting = replace(
        stage.posting("hit-1", seats=4),
        url="https://duologue.example/work?hit=tok#top",
        description="Ask & answer: <5 minutes each.\n\nTalk about a photo.",
    )
    hit = await stage.prolific.post(posting)
    study = stage.world.studies[hit.id]
    assert study["status"] == "ACTIVE"
    assert study["external_study_url"] == (
        "https://duologue.example/work?hit=tok&PROLIFIC_PID={{%PROLIFIC_PID%}}"
        "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}#top"
    )
    assert study["description"] == (
        "<p>Ask &amp; answer: &lt;5 minutes each.</p><p>Talk about a photo.</p>"
    )
    assert (study["reward"], study["total_available_places"]) == (150, 4)
    assert (study["estimated_completion_time"], study["maximum_allowed_time"]) == (10, 30)
    assert study["naivety_distribution_rate"] == 0
    assert study["project"] == stage.world.project_id
    assert stage.prolific.config.mark + "hit-1" == study["internal_name"]


def test_a_place_is_held_as_long_as_prolific_allows() -> None:
    assert longest_minutes(10, 7200.0) == 120
    # 2 + 2t + 2√t is the least, whatever we want.
    assert longest_minutes(9, 60.0) == 26
    assert longest_minutes(10, 60.0) == 29
    assert longest_minutes(10, 3 * 24 * 3600.0) == 24 * 60 - 1


async def test_settings_reach_the_study(stage: ProlificStage) -> None:
    wanted = {"filter_id": "current-country-of-residence", "selected_values": ["1"]}
    recruiter = stage.changed(
        filters=(wanted,), devices=("desktop",), dialogs_per_worker=3, inside_at_once=2
    )
    hit = await recruiter.post(stage.posting("hit-1", seats=9))
    study = stage.world.studies[hit.id]
    assert study["filters"][0] == wanted
    assert study["device_compatibility"] == ["desktop"]
    first = await stage.take(hit.id)
    await stage.take(hit.id)
    with pytest.raises(NoSeat, match="too many inside"):
        await stage.take(hit.id)
    await stage.submit(first)
    await stage.take_again(first.worker_id, hit.id)


@pytest.mark.parametrize("path", ["studies/$", "transition/$"])
@pytest.mark.parametrize("trouble", [Trouble.LOST, Trouble.BAD_GATEWAY_AFTER])
async def test_a_study_whose_answer_is_lost_is_published_once(
    stage: ProlificStage, path: str, trouble: Trouble
) -> None:
    stage.server.trouble(trouble, path=path)
    hit = await stage.prolific.post(stage.posting("hit-1"))
    assert hit.status is HitStatus.OPEN
    assert await stage.posted("hit-1") == 1


async def test_a_draft_that_never_arrived_is_not_taken_for_posted(stage: ProlificStage) -> None:
    stage.server.trouble(Trouble.BAD_GATEWAY, path="studies/$")
    with pytest.raises(Unsure):
        await stage.prolific.post(stage.posting("hit-1"))
    assert await stage.posted("hit-1") == 0
    await stage.prolific.post(stage.posting("hit-1"))
    assert await stage.posted("hit-1") == 1


async def test_a_redirect_is_not_followed(stage: ProlificStage) -> None:
    """It would make the POST that creates a study the GET of a list."""
    stage.server.trouble(Trouble.MOVED, path="studies/$")
    with pytest.raises(Refused, match="301"):
        await stage.prolific.post(stage.posting("hit-1"))


async def test_a_draft_that_came_too_late_leads_to_no_second_study(stage: ProlificStage) -> None:
    hit = await stage.prolific.post(stage.posting("hit-1"))
    late = {**stage.world.studies[hit.id], "id": "65a000000000000000000001"}
    stage.world.studies[late["id"]] = late | {"status": "UNPUBLISHED"}
    assert (await (await stage.again()).post(stage.posting("hit-1"))).id == hit.id
    assert stage.world.studies[late["id"]]["status"] == "UNPUBLISHED"
    await stage.prolific.dispose(late["id"])
    assert late["id"] not in stage.world.studies


async def test_an_empty_wallet_leaves_a_draft_that_is_published_later(
    stage: ProlificStage,
) -> None:
    stage.world.balance = 100
    with pytest.raises(NoFunds):
        await stage.prolific.post(stage.posting("hit-1"))
    (draft,) = await stage.prolific.hits()
    assert (draft.status, draft.free, draft.key) == (HitStatus.CLOSED, 0, "hit-1")
    stage.world.balance = 100_000
    hit = await stage.prolific.post(stage.posting("hit-1"))
    assert (hit.id, hit.status) == (draft.id, HitStatus.OPEN)


async def test_a_study_in_another_currency_is_not_posted(stage: ProlificStage) -> None:
    with pytest.raises(Refused, match="USD, not in GBP"):
        await stage.prolific.post(replace(stage.posting("hit-1"), currency="GBP"))
    assert stage.world.studies == {}


async def test_places_only_grow_and_revive_a_study_that_was_over(stage: ProlificStage) -> None:
    visit = await come(stage)
    await stage.submit(visit, CODES.completed)
    await stage.prolific.approve(visit.assignment_id)
    assert stage.world.studies[visit.hit_id]["status"] == "COMPLETED"
    calls = stage.calls
    await stage.prolific.grow(visit.hit_id, 1, "grow-0")
    assert stage.calls == calls + 1, "nothing is sent when nothing grows"
    await stage.prolific.grow(visit.hit_id, 3, "grow-1")
    hit = await stage.prolific.hit(visit.hit_id)
    assert (hit.status, hit.seats, hit.free) == (HitStatus.OPEN, 3, 2)


async def test_a_place_that_came_back_is_not_counted_twice(stage: ProlificStage) -> None:
    hit = await stage.prolific.post(stage.posting("hit-1", seats=4))
    visits = [await stage.take(hit.id) for _ in range(4)]
    await stage.give_back(visits[0])
    await stage.submit(visits[1], CODES.completed)
    await stage.prolific.reject(visits[1].assignment_id, "It was empty.")
    seen = await stage.prolific.hit(hit.id)
    assert (seen.seats, seen.free, seen.pending) == (4, 2, 2)
    stage.world.time_out(stage.world.submissions[visits[2].assignment_id])
    seen = await stage.prolific.hit(hit.id)
    assert (seen.seats, seen.free, seen.pending) == (4, 4, 0)


async def test_a_paused_study_goes_on_when_it_is_extended(stage: ProlificStage) -> None:
    hit = await stage.prolific.post(stage.posting("hit-1"))
    await stage.prolific.expire(hit.id)
    await stage.prolific.grow(hit.id, 2, "grow-1")
    with pytest.raises(NoSeat):
        await stage.take(hit.id)
    for _ in range(2):
        await stage.prolific.extend(hit.id, 0.0)
    await stage.take(hit.id)


@pytest.mark.parametrize(
    ("status", "then"), [("SCHEDULED", "UNPUBLISHED"), ("UNPUBLISHED", "UNPUBLISHED")]
)
async def test_a_study_that_is_not_out_yet_does_not_come_out(
    stage: ProlificStage, status: str, then: str
) -> None:
    hit = await stage.prolific.post(stage.posting("hit-1"))
    stage.world.studies[hit.id]["status"] = status
    await stage.prolific.expire(hit.id)
    assert stage.world.studies[hit.id]["status"] == then
    await stage.prolific.dispose(hit.id)
    assert stage.world.studies == {}


async def test_a_study_that_is_just_coming_out_is_paused_later(stage: ProlificStage) -> None:
    hit = await stage.prolific.post(stage.posting("hit-1"))
    stage.world.studies[hit.id]["status"] = "PUBLISHING"
    assert (await stage.prolific.post(stage.posting("hit-1"))).status is HitStatus.OPEN
    with pytest.raises(NotYet):
        await stage.prolific.expire(hit.id)
    stage.world.studies[hit.id]["status"] = "A NEW ONE"
    with pytest.raises(Unavailable, match="A NEW ONE"):
        await stage.prolific.hit(hit.id)


async def test_all_pages_are_read(stage: ProlificStage) -> None:
    hit = await stage.prolific.post(stage.posting("hit-1", seats=230))
    visits = {(await stage.take(hit.id)).assignment_id for _ in range(230)}
    assert {each.id for each in await stage.prolific.assignments(hit.id)} == visits


# --- What stays secret -------------------------------------------------------------------------


async def test_neither_token_nor_ids_are_in_logs_and_errors(
    stage: ProlificStage, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    told: list[str] = []
    patience = replace(stage.config.patience, told=lambda pause: told.append(repr(pause)))
    recruiter = stage.changed(patience=patience)
    visit = await come(stage)
    stage.server.trouble(Trouble.THROTTLED, 1, writes=False)
    await recruiter.assignment(visit.assignment_id)
    with pytest.raises(Refused) as refused:
        await recruiter.assignment("65a0000000000000000abcde")
    stage.server.trouble(Trouble.BAD_GATEWAY, 99, writes=False)
    with pytest.raises(Unavailable) as unavailable:
        await recruiter.assignment(visit.assignment_id)
    stage.server.plans.clear()
    everything = "\n".join(
        (caplog.text, *told, str(refused.value), str(unavailable.value), repr(stage.config))
    )
    assert told
    for secret in (stage.world.token, visit.assignment_id, visit.worker_id, "abcde", CODES.left):
        assert secret not in everything


@pytest.mark.parametrize(
    "wrong",
    [
        {"token": ""},
        {"base_url": "http://api.prolific.com"},
        {"estimated_minutes": 0},
        {"devices": ("phone",)},
        {"rejection_category": "BORING"},
        {"screen_out_cents": 0},
        {"service_fee_percent": Decimal(-1)},
        {"codes": Codes("A", "A", "B", "C")},
    ],
)
def test_settings_that_cannot_be_right_are_refused(wrong: dict[str, Any]) -> None:
    good: dict[str, Any] = {
        "token": "t",
        "workspace_id": "w",
        "study_id": "photos",
        "codes": CODES,
    }
    ProlificConfig(**good)
    with pytest.raises(ValueError, match=r"\w"):
        ProlificConfig(**(good | wrong))


# --- The fake ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "studies", None, 404),
        ("GET", "surveys/", None, 404),
        ("PUT", "studies/", {}, 405),
        ("GET", "studies/?status=ACTIVE", None, 400),
        ("POST", "messages/bulk/", {"ids": [], "text": ""}, 400),
        ("POST", "bulk-bonus-payments/1/pay/", {"twice": False}, 400),
    ],
)
async def test_what_is_not_documented_is_a_mistake(
    method: str, path: str, body: dict[str, Any] | None, status: int
) -> None:
    server = ProlificServer(World())
    headers = {"Authorization": f"Token {server.world.token}"}
    async with server.running(), aiohttp.ClientSession(headers=headers) as session:
        url = f"{server.url}/api/v1/{path}"
        async with session.request(method, url, json=body) as response:
            assert response.status == status
            assert "error" in await response.json()
    assert len(server.mistakes) == 1


async def test_a_wrong_token_is_refused(stage: ProlificStage) -> None:
    with pytest.raises(Refused, match="401"):
        await stage.changed(token="wrong").open()
    assert stage.server.mistakes == ["a bad token"]
    stage.server.mistakes.clear()
