"""The review over HTTP: what reviewers ask for, what they are told, and what the lobby gets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from sqlalchemy import select

from chatserver.monitor.reviewing import Reviewing, add_routes, desk_of
from chatserver.monitor.wire import DialogOut, JudgementOut, Standing
from dialogs.record.cases import judgements_of
from dialogs.record.queries import free_places
from dialogs.record.review_desk import ReviewDesk
from dialogs.record.store import Record
from dialogs.record.supply import supply
from dialogs.record.tables import audit, dialogs, judgements, ledger, relaunches
from dialogs.rules import Acceptance, AdminRole, LedgerState, Outcome, Phase
from tests.live import Live, eventually
from tests.records import STUDY, rows_of
from tests.reviews import Review, add_admins, reviewing
from tests.services import flush
from tests.team import refusals

PATH = "/api/monitor/review"


@dataclass(frozen=True)
class Somebody:
    id: str
    role: AdminRole


def who(request: web.Request) -> Somebody:
    """Stands for the sign-in."""
    role = AdminRole.OWNER if request.headers.get("X-Owner") else AdminRole.REVIEWER
    return Somebody(request.headers.get("X-Who", "ada"), role)


def shown_of(record: Record) -> Any:
    """A dialog with little in it but what was judged."""

    def read(connection: Any, dialog_id: str) -> DialogOut:
        row = connection.execute(select(dialogs).where(dialogs.c.id == dialog_id)).one()
        said = judgements_of(connection, [dialog_id]).get(dialog_id, [])
        query = select(relaunches).where(relaunches.c.dialog_id == dialog_id)
        return DialogOut(
            id=row.id, now=1.0, item_id=row.item_id, image_id="1", caption="A dog.", width=8,
            height=8, place=row.place, language="en", same_address=False, opened_at=1.0, rounds=2,
            acceptance=Acceptance(row.acceptance) if row.acceptance else None,
            standing=Standing(phase=Phase.ENDED, outcome=Outcome(row.outcome), ending=None,
                              round=2, turn=None, turn_at=1.0, turn_ends_at=None,
                              limit_at=None, ended_at=2.0, seats=[]),
            entries=[], findings=[], workers=[], payments=[],
            judgements=[JudgementOut(by=j.admin_id, verdict=j.verdict, reason=j.reason,
                                     decides=j.decides, at=j.at) for j in said],
            relaunched=connection.execute(query).first() is not None,
        )  # fmt: skip

    async def show(dialog_id: str) -> DialogOut:
        return await record.read(read, dialog_id)

    return show


@dataclass
class Page:
    """What a reviewer's page does."""

    client: TestClient[Any, Any]
    changed: list[str]
    asked: list[int]

    async def post(
        self, path: str, body: Any = None, *, name: str = "ada", owner: bool = False
    ) -> tuple[int, Any]:
        headers = {"X-Who": name} | ({"X-Owner": "1"} if owner else {})
        body = {} if body is None else body
        async with self.client.post(f"{PATH}/{path}", json=body, headers=headers) as answer:
            return answer.status, await answer.json()

    async def stats(self, name: str = "ada") -> Any:
        async with self.client.get(f"{PATH}/stats", headers={"X-Who": name}) as answer:
            assert answer.status == 200
            return await answer.json()


@asynccontextmanager
async def page_of(record: Record, study_id: str, desk: ReviewDesk) -> AsyncIterator[Page]:
    app = web.Application(middlewares=[refusals])
    changed: list[str] = []
    asked: list[int] = []
    what = Reviewing(
        record,
        study_id,
        desk,
        shown_of(record),
        changed=changed.append,
        ask=lambda: asked.append(1),
    )
    add_routes(app.router, what, who)
    async with TestClient(TestServer(app)) as client:
        yield Page(client, changed, asked)


@asynccontextmanager
async def on_page(url: str, *, twice: float = 0.0) -> AsyncIterator[tuple[Review, Page]]:
    async with (
        reviewing(url) as review,
        page_of(review.record, STUDY, review.desk(twice=twice)) as page,
    ):
        yield review, page


async def test_a_reviewer_goes_from_one_to_the_next(database_url: str) -> None:
    async with on_page(database_url) as (review, page):
        first, second = review.ended(), review.ended(flags=("copied",))
        status, told = await page.post("next")
        assert (status, told["dialog"]["id"], told["waiting"]) == (200, first, 2)
        assert told["second"] is False
        assert told["until"] > review.clock.at
        status, told = await page.post("next?flag=copied&unflagged=false", name="bob")
        assert (status, told["dialog"]["id"], told["waiting"]) == (200, second, 1)
        status, told = await page.post("next", name="cleo")
        assert (told["dialog"], told["until"], told["waiting"]) == (None, None, 0)
        status, told = await page.post(first, {"verdict": "accepted"})
        assert status == 200
        assert told["decides"]
        assert [(p["cents"], p["state"], p["moved"]) for p in told["pay"]] == [
            (150, "approved", True)
        ] * 2
        assert page.changed == ["review", "dialogs", "ledger"]
        assert page.asked == [1]
        status, told = await page.post(f"{second}/skip", name="bob")
        assert status == 200
        assert (await page.post("next"))[1]["dialog"]["id"] == second


async def test_pay_is_refused_with_a_reason_and_nothing_else_is_changed(database_url: str) -> None:
    async with on_page(database_url) as (review, page):
        dialog = review.ended()
        pay = [{"arrival_id": "arrival-0a", "approve": False, "reason": " Made by a machine. "}]
        body = {"verdict": "rejected", "reason": "Nonsense.", "pay": pay}
        status, told = await page.post(dialog, body)
        assert status == 200
        assert {p["arrival_id"]: p["state"] for p in told["pay"]} == {
            "arrival-0q": "approved",
            "arrival-0a": "cancelled",
        }
        assert review.acceptance(dialog) == "rejected"
        # Sent again, as after a lost answer.
        _, again = await page.post(dialog, body)
        assert sorted(map(str, again.pop("pay"))) == sorted(map(str, told.pop("pay")))
        assert again == told
        assert len(rows_of(review.record, judgements)) == 1
        # A second tab that has another opinion of the pay.
        status, told = await page.post(dialog, body | {"pay": []})
        assert (status, told["code"]) == (409, "conflict")
        assert "decided otherwise on its pay" in told["error"]


BAD: dict[str, tuple[str, Any, str]] = {
    "no verdict": ("d0", {"verdict": None}, "verdict: a complete dialog"),
    "a word that is no verdict": ("d0", {"verdict": "good"}, "verdict: "),
    "nothing": ("d0", {}, "verdict: "),
    "a field that is none": ("d0", {"verdict": "accepted", "x": 1}, "x: "),
    "no reason": (
        "d0",
        {"verdict": "accepted", "pay": [{"arrival_id": "arrival-0a", "approve": False}]},
        "pay: say in the reason",
    ),
    "somebody else's pay": (
        "d0",
        {"verdict": "accepted", "pay": [{"arrival_id": "arrival-1a"}]},
        "pay: that arrival",
    ),
    "an arrival twice": (
        "d0",
        {"verdict": "accepted", "pay": [{"arrival_id": "arrival-0a"}] * 2},
        "pay: an arrival stands in it twice",
    ),
    "a time that is none": ("next?since=soon", {}, "since: "),
    "endless": ("next?until=inf", {}, "until: "),
    "an outcome that is none": ("next?outcome=good", {}, "outcome: "),
    "perhaps": ("next?unflagged=perhaps", {}, "unflagged: "),
    "a long word": (f"next?flag={'x' * 201}", {}, "flag: "),
    "all of a solo as data": (
        "bulk",
        {"verdict": "accepted", "outcome": "solo"},
        "verdict: only a complete",
    ),
    "all without a verdict": (
        "bulk",
        {"verdict": None, "outcome": "complete"},
        "verdict: a complete",
    ),
    "all, whatever it is": (
        "bulk",
        {"verdict": "accepted", "dry_run": False},
        "expected: ",
    ),
    "something else to be undone": ("undo", {"dialog_id": 1}, "dialog_id: "),
}


@pytest.mark.parametrize(("path", "body", "told"), BAD.values(), ids=BAD)
async def test_what_makes_no_sense_is_told_in_a_sentence(
    sqlite_url: str, path: str, body: Any, told: str
) -> None:
    async with on_page(sqlite_url) as (review, page):
        review.ended()
        review.ended()
        status, answer = await page.post(path, body)
        assert (status, answer["code"]) == (400, "bad_request")
        assert answer["error"].startswith(told)
        assert rows_of(review.record, judgements) == []
        assert page.changed == []


async def test_what_is_not_there_and_what_was_overtaken(sqlite_url: str) -> None:
    async with on_page(sqlite_url) as (review, page):
        dialog = review.ended()
        status, told = await page.post("none", {"verdict": "accepted"})
        assert (status, told["code"]) == (404, "not_found")
        status, told = await page.post("undo")
        assert (status, told["code"]) == (409, "conflict")
        review.pay_becomes("arrival-0a", LedgerState.PAID)
        pay = [{"arrival_id": "arrival-0a", "approve": False, "reason": "Fraud."}]
        status, told = await page.post(dialog, {"verdict": "rejected", "pay": pay})
        assert (status, told["code"]) == (409, "conflict")
        assert told["error"] == (
            "Some of this pay may have gone out already; it cannot be refused."
        )
        assert review.acceptance(dialog) is None
        assert (await page.post(dialog, {"verdict": "accepted"}))[0] == 200
        status, told = await page.post(dialog, {"verdict": "rejected"}, name="bob")
        assert (status, told["code"]) == (409, "conflict")


async def test_taking_back_brings_the_dialog_back(database_url: str) -> None:
    async with on_page(database_url) as (review, page):
        dialog = review.ended()
        await page.post(dialog, {"verdict": "rejected"})
        assert (await page.post("undo", name="bob"))[0] == 409
        assert (await page.post("undo", {"dialog_id": dialog}, name="bob"))[0] == 409
        status, told = await page.post("undo", {"dialog_id": dialog}, name="bob", owner=True)
        assert (status, told["dialog"]["id"]) == (200, dialog)
        assert told["dialog"]["acceptance"] is None
        assert {row["state"] for row in rows_of(review.record, ledger)} == {"owed"}
        assert (await page.post("next"))[1]["dialog"] is None, "it is in Bob's hands"


async def test_the_second_judge_is_not_shown_what_the_first_one_said(database_url: str) -> None:
    async with on_page(database_url, twice=1.0) as (review, page):
        dialog = review.ended()
        await page.post(dialog, {"verdict": "rejected", "reason": "Nonsense."})
        status, told = await page.post("next", name="bob")
        assert (status, told["second"], told["dialog"]["id"]) == (200, True, dialog)
        shown = told["dialog"]
        assert (shown["judgements"], shown["acceptance"], shown["relaunched"]) == ([], None, False)
        _, told = await page.post(dialog, {"verdict": "accepted"}, name="bob")
        assert told == {"request": None, "decides": False, "pay": []}
        assert review.acceptance(dialog) == "rejected"


async def test_the_numbers(database_url: str) -> None:
    async with on_page(database_url, twice=1.0) as (review, page):
        assert (await page.stats())["agree"] is None
        for first, second in (("accepted", "accepted"), ("accepted", "rejected"),
                              ("rejected", "rejected"), ("rejected", "rejected")):  # fmt: skip
            dialog = review.ended()
            await page.post(dialog, {"verdict": first})
            await page.post(dialog, {"verdict": second}, name="bob")
        last = review.ended()
        await page.post(last, {"verdict": "accepted"}, name="bob")
        review.ended()
        found = await page.stats()
        assert found == {
            "waiting": 2, "judged": 5, "accepted": 3, "rejected": 2, "mine": 4, "twice": 4,
            "agree": 0.75, "kappa": 0.5,
            "reviewers": [
                {"name": "Ada", "judged": 4, "rejected": 2, "twice": 4, "alike": 3},
                {"name": "Bob", "judged": 5, "rejected": 3, "twice": 4, "alike": 3},
            ],
        }  # fmt: skip
        # What waits is the study's, whoever asks and whoever has it in hand.
        assert (await page.post("next"))[1]["dialog"] is not None
        assert [(await page.stats(name))["waiting"] for name in ("ada", "bob")] == [2, 2]


async def test_many_at_once_are_counted_before_they_are_judged(database_url: str) -> None:
    async with on_page(database_url) as (review, page):
        for _ in range(3):
            review.ended()
        body = {"verdict": "accepted", "unflagged": True}
        status, plan = await page.post("bulk", body)
        assert (status, plan) == (200, {"dialogs": 3, "payments": 6, "cents": 900})
        assert page.changed == []
        wrong = body | {"dry_run": False, "expected": 2}
        status, told = await page.post("bulk", wrong)
        assert (status, told["code"]) == (409, "conflict")
        assert rows_of(review.record, judgements) == []
        assert await page.post("bulk", wrong | {"expected": 3}) == (200, plan)
        assert (await page.post("bulk", body))[1]["dialogs"] == 0


async def test_many_at_once_that_are_sent_twice_are_judged_once(database_url: str) -> None:
    async with on_page(database_url) as (review, page):
        review.ended()
        body = {"verdict": "accepted", "dry_run": False, "expected": 1, "key": "key-of-a-page"}
        # The second one comes while the first goes on, the third when it is over.
        both = await asyncio.gather(page.post("bulk", body), page.post("bulk", body))
        done = (200, {"dialogs": 1, "payments": 2, "cents": 300})
        assert both == [done, done]
        review.ended()
        assert await page.post("bulk", body) == done
        assert len(rows_of(review.record, judgements)) == 1
        rows = [row for row in rows_of(review.record, audit) if row["action"] == "review.bulk"]
        assert [orjson.loads(row["after"]) for row in rows] == [done[1]]
        other = body | {"key": "another-key-of-it"}
        assert (await page.post("bulk", other))[0] == 200
        assert len(rows_of(review.record, judgements)) == 2
        # Of somebody else it is another one, whatever its key.
        status, told = await page.post("bulk", body, name="bob")
        assert (status, told["code"]) == (409, "conflict")


async def test_the_lobby_gets_the_place_of_a_rejected_dialog_back(live_each: Live) -> None:
    """Nobody posts HITs for a study by links: who waits must be given the place."""
    live = live_each
    server = await live.begin(items=1, rules={"rounds": 1}, lobby_s=0.1, sweep_s=3600.0)
    with live.record.engine.begin() as connection:
        add_admins(connection, "ada")
    await live.converse(*await live.pair(*await live.people(2)), messages=2)
    [row] = await live.rows(dialogs)
    eve, max_ = await live.people(2)
    for person in (eve, max_):
        await person.do("ready")
    await eve.until(lambda: eve.lobby.get("nothing_left"))
    desk = desk_of(server.service)
    async with page_of(live.record, live.study_id, desk) as page:
        assert (await page.post(row.id, {"verdict": "rejected"}))[0] == 200
        assert (await live.record.read(supply, live.study_id)).missing == 1
        for person in (eve, max_):
            await person.shows("matched")
            await person.do("start")
        for person in (eve, max_):
            await person.shows("talking")
        status, told = await page.post("undo")
        assert (status, told["code"]) == (409, "conflict")
        assert "taken its place" in told["error"]
        await live.converse(*((eve, max_) if eve.role == "questioner" else (max_, eve)), messages=2)
    assert (await live.record.read(supply, live.study_id)).missing == 0
    assert len(await live.rows(relaunches)) == 1


async def test_a_place_that_is_free_no_more_is_taken_out_of_the_lobby(live: Live) -> None:
    server = await live.begin(items=1, rules={"rounds": 1}, sweep_s=3600.0)
    with live.record.engine.begin() as connection:
        add_admins(connection, "ada")
    await live.converse(*await live.pair(*await live.people(2)), messages=2)
    [row] = await live.rows(dialogs)
    lobby = server.service.lobby

    async def places(number: int) -> bool:
        return await lobby.places() == number

    async with page_of(live.record, live.study_id, desk_of(server.service)) as page:
        await page.post(row.id, {"verdict": "rejected"})
        await eventually(lambda: places(1))
        assert (await page.post("undo"))[0] == 200
        await eventually(lambda: places(0))
    assert await live.record.read(free_places, live.study_id) == []


async def test_the_sweep_finds_the_place_that_nobody_was_told_of(live: Live) -> None:
    """Another process has judged, and could not tell."""
    server = await live.begin(items=1, rules={"rounds": 1}, sweep_s=0.2)
    with live.record.engine.begin() as connection:
        add_admins(connection, "ada")
    await live.converse(*await live.pair(*await live.people(2)), messages=2)
    [row] = await live.rows(dialogs)
    await ReviewDesk(live.record, live.study_id).judge("ada", row.id, Acceptance.REJECTED)
    # For a minute after a place was taken the sweep does not believe that it is free.
    flush(live.redis_url)

    async def is_back() -> bool:
        return await server.service.lobby.places() == 1

    await eventually(is_back)
