"""What the team does from the monitor reaches people and the study, and is written down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from sqlalchemy import insert, update

from chatserver.live.dialogs import Busy
from chatserver.monitor.acting import Able, Acting
from chatserver.monitor.actions import add_actions
from dialogs.dialog import Refusal, RefusalCode
from dialogs.record import changing, requests, tables
from dialogs.record.writer import Decision
from dialogs.rules import AdminRole, LedgerState, StudyStatus
from tests.live import Live, Person
from tests.team import refusals
from tests.web.test_absence import types

KEY = "key-of-a-page"


@dataclass
class Ada:
    """Who is signed in."""

    id: str = "admin-1"
    role: AdminRole = AdminRole.OWNER


@dataclass
class Team:
    """The monitor's actions beside a server, and what they told others."""

    http: TestClient[Any, Any]
    ada: Ada
    asked: list[int] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)

    async def post(self, path: str, /, **body: Any) -> tuple[int, dict[str, Any]]:
        async with self.http.post(f"/api/monitor/{path}", json=body) as answer:
            return answer.status, await answer.json()

    async def does(self, path: str, /, **body: Any) -> dict[str, Any]:
        status, answer = await self.post(path, **body)
        assert status == 200, answer
        return answer

    async def study(self) -> dict[str, Any]:
        async with self.http.get("/api/monitor/study") as answer:
            found: dict[str, Any] = await answer.json()
            return found


@asynccontextmanager
async def team(live: Live, steering: Any = None, **able: bool) -> AsyncIterator[Team]:
    """Beside the first server of this event loop."""
    with live.record.engine.begin() as connection:
        for n in (1, 2):
            row = {"id": f"admin-{n}", "name": f"Ada {n}", "role": "owner", "password": "x",
                   "created_at": 1.0}  # fmt: skip
            connection.execute(insert(tables.admins), row)
    app = web.Application(middlewares=[refusals])
    made = Team(TestClient(TestServer(app)), Ada())
    acting = Acting(
        live.servers[0].service,
        able=Able(**able),
        steering=steering,
        changed=made.changed.append,
    )
    live.servers[0].service.on_wish = lambda: made.asked.append(1)
    add_actions(app, acting, lambda request: made.ada)
    async with made.http:
        yield made


async def audit(live: Live) -> list[tuple[str, str, Any, Any]]:
    rows = sorted(await live.rows(tables.audit), key=lambda row: row.at)
    return [
        (
            row.action,
            row.target,
            orjson.loads(row.before or "null"),
            orjson.loads(row.after or "null"),
        )
        for row in rows
    ]


async def wishes(live: Live) -> list[tuple[str, str, Any]]:
    rows = sorted(await live.rows(tables.team_requests), key=lambda row: row.at)
    return [(row.kind, row.target, orjson.loads(row.data)) for row in rows]


async def worker_of(live: Live, person: Person) -> str:
    """By the order in which people came."""
    rows = await live.rows(tables.workers)
    (found,) = [row.id for row in rows if row.external_id == f"key:{person.worker_key}"]
    return str(found)


async def arrival_of(live: Live, person: Person) -> Any:
    worker = await worker_of(live, person)
    rows = [row for row in await live.rows(tables.arrivals) if row.worker_id == worker]
    return max(rows, key=lambda row: row.created_at)


# --- Exclusion ---------------------------------------------------------------------------------


async def test_who_waits_goes_home_paid_and_comes_no_more(live_each: Live) -> None:
    live = live_each
    await live.begin()
    one, two = await live.people(2)
    await one.do("ready")
    await one.shows("waiting")
    worker = await worker_of(live, one)
    async with team(live, blocks=True) as ours:
        await ours.does(f"workers/{worker}/exclude", reason="Wrote nothing.")
        await one.shows("released")
        assert one.released["release"] == "screened_out"
        # The minute that was begun.
        assert one.released["cents"] == 10
        assert not one.released["another"]
        assert await live.owed() == [10]
        answer = await one.another_tab().arrive(another=True)
        assert (answer["status"], answer["code"]) == (409, "not_needed")
        assert (
            answer["error"]
            == "There is no further task for you in this study. Thank you for coming!"
        )
        # The link shows how it ended, and the partner finds somebody else.
        assert (await one.another_tab().arrive())["status"] == 200
        (three,) = await live.people(1)
        await live.pair(two, three)
        assert await wishes(live) == [("block", worker, {"reason": "Wrote nothing."})]
        assert await audit(live) == [
            (
                "worker.exclude",
                worker,
                {"excluded": False},
                {"excluded": True, "why": "Wrote nothing."},
            )
        ]
        assert (await ours.post(f"workers/{worker}/exclude", reason="Again."))[0] == 409
        await ours.does(f"workers/{worker}/allow")
        assert [kind for kind, _, _ in await wishes(live)] == ["block", "unblock"]
        assert (await ours.post(f"workers/{worker}/allow"))[0] == 409
        assert (await one.another_tab().arrive(another=True))["status"] == 200
        assert ours.asked
        assert set(ours.changed) == {"workers"}


async def test_who_is_excluded_is_told_so_before_reading_and_agreeing(live: Live) -> None:
    await live.begin()
    (one,) = await live.people(1)
    await one.do("leave", {"reason": ""})
    async with team(live) as ours:
        worker = await worker_of(live, one)
        await ours.does(f"workers/{worker}/exclude", reason="Wrote nothing.")
        assert await wishes(live) == []
    answer = await one.another_tab().arrive(another=True, consented=False)
    assert (answer["status"], answer["code"]) == (409, "not_needed")


async def test_who_talks_finishes_and_is_paid(live: Live) -> None:
    asker, teller = await live.two()
    async with team(live) as ours:
        await ours.does(f"workers/{await worker_of(live, asker)}/exclude", reason="Rude.")
    await live.converse(asker, teller)
    for person in (asker, teller):
        await person.shows("released")
    assert asker.released["release"] == "completed"
    assert await live.owed() == [150, 150]
    assert (asker.released["another"], teller.released["another"]) == (False, True)


async def test_who_is_excluded_does_not_go_back_to_the_lobby(live: Live) -> None:
    asker, teller = await live.two()
    async with team(live) as ours:
        await ours.does(f"workers/{await worker_of(live, asker)}/exclude", reason="Rude.")
    await teller.do("leave", {"reason": ""})
    await asker.until(lambda: asker.phase == "solo")
    await asker.do("pair_again")
    await asker.shows("released")
    assert asker.released["release"] == "screened_out"
    assert await live.owed() == [10]


async def test_who_is_matched_is_not_seated(live: Live) -> None:
    await live.begin()
    one, two = await live.people(2)
    await live.match(one, two)
    await one.do("start")
    async with team(live) as ours:
        await ours.does(f"workers/{await worker_of(live, one)}/exclude", reason="Rude.")
    await one.shows("released")
    await two.shows("waiting")
    assert await live.dialogs() == []


# --- What the hit manager is to do -------------------------------------------------------------


async def test_a_bonus_and_a_message_are_asked_for_once(live: Live) -> None:
    await live.begin()
    (one,) = await live.people(1)
    worker, arrival = await worker_of(live, one), (await arrival_of(live, one)).id
    async with team(live, messages=True) as ours:
        bonus = {"key": KEY, "cents": 25, "reason": "You waited long."}
        for _ in range(2):
            assert await ours.does(f"workers/{worker}/bonus", **bonus) == {"request": KEY}
        status, answer = await ours.post(f"workers/{worker}/bonus", **{**bonus, "cents": 50})
        assert (status, answer["code"]) == (409, "conflict")
        said = {"subject": "Hello", "text": "You did\nwell.", "key": f"{KEY}-2"}
        for _ in range(2):
            await ours.does(f"workers/{worker}/message", **said)
        assert await wishes(live) == [
            ("bonus", arrival, {"cents": 25, "reason": "You waited long."}),
            ("message", worker, {"subject": "Hello", "text": "You did\nwell."}),
        ]
        assert await audit(live) == [
            ("worker.bonus", arrival, None, {"request": KEY, "worker": worker, "cents": 25}),
            ("worker.message", worker, None, {"request": f"{KEY}-2"}),
        ]
        other = await live.people(1)
        elsewhere = (await arrival_of(live, other[0])).id
        status, answer = await ours.post(
            f"workers/{worker}/bonus", key=f"{KEY}-3", cents=5, reason="r", arrival_id=elsewhere
        )
        assert (status, answer["code"]) == (404, "not_found")


async def test_a_note_and_a_flag_that_are_sent_twice_are_one(live_each: Live) -> None:
    live = live_each
    asker, _ = await live.two()
    dialog = (await live.dialogs())[0].state.dialog_id
    async with team(live) as ours:
        worker = await worker_of(live, asker)
        note, flag = f"workers/{worker}/note", f"dialogs/{dialog}/flag"
        for _ in range(2):
            await ours.does(note, text="Writes little.", key=KEY)
            await ours.does(flag, reason="Rude.", role="questioner", seq=1, key=KEY)
        assert len(await live.rows(tables.worker_notes)) == 1
        (found,) = await live.rows(tables.findings)
        assert (found.flag, found.number, found.reason) == ("team", 1000, "Rude.")
        # Under the same key something else is not silently left out.
        for path, other in ((note, {"text": "Writes a lot."}), (flag, {"reason": "Kind."})):
            status, answer = await ours.post(path, key=KEY, **other)
            assert (status, answer["code"]) == (409, "conflict")
        await ours.does(flag, reason="Rude.", key=f"{KEY}-2")
        assert sorted(row.number for row in await live.rows(tables.findings)) == [1000, 1001]
        actions = [action for action, *_ in await audit(live)]
        assert sorted(actions) == ["dialog.flag", "dialog.flag", "worker.note"]


# --- What failed -------------------------------------------------------------------------------


async def fails(live: Live, name: str, at: float) -> None:
    request = (await live.record.read(requests.requests_by_id, [name]))[name]
    await live.record.writer.commit(requests.failed(request, "may have been sent", at))


async def state_of(live: Live, name: str) -> str:
    return (await live.record.read(requests.requests_by_id, [name]))[name].state


async def test_a_message_that_failed_is_sent_again_once(live_each: Live) -> None:
    live = live_each
    await live.begin()
    (one,) = await live.people(1)
    async with team(live, messages=True) as ours:
        worker = await worker_of(live, one)
        await ours.does(f"workers/{worker}/message", subject="s", text="t", key=KEY)
        status, answer = await ours.post(f"requests/{KEY}/dismiss", failed_at=7.25)
        assert (status, answer["error"]) == (409, "This request is wanted by now.")
        await fails(live, KEY, 7.25)
        ours.ada.role = AdminRole.REVIEWER
        for _ in range(2):
            assert await ours.does(f"requests/{KEY}/again", failed_at=7.25) == {"request": KEY}
            assert await state_of(live, KEY) == "wanted"
        await fails(live, KEY, 8.5)
        # The first one, sent once more, sends nothing.
        status, answer = await ours.post(f"requests/{KEY}/again", failed_at=7.25)
        assert (status, answer["code"], await state_of(live, KEY)) == (409, "conflict", "failed")
        for _ in range(2):
            await ours.does(f"requests/{KEY}/dismiss", failed_at=8.5)
            assert await state_of(live, KEY) == "dismissed"
        assert (await ours.post(f"requests/{KEY}/again", failed_at=8.5))[0] == 409
        assert (await ours.post("requests/none/again", failed_at=8.5))[0] == 404
        assert [row[:2] for row in await audit(live)] == [
            ("worker.message", worker),
            ("request.again", worker),
            ("request.dismiss", worker),
        ]
        assert "requests" in ours.changed


async def test_who_may_ask_for_it_may_ask_for_it_again(live: Live) -> None:
    await live.begin()
    (one,) = await live.people(1)
    async with team(live) as ours:
        worker = await worker_of(live, one)
        await ours.does(f"workers/{worker}/bonus", key=KEY, cents=25, reason="Thank you.")
        await fails(live, KEY, 7.0)
        ours.ada.role = AdminRole.REVIEWER
        for what in ("again", "dismiss"):
            status, answer = await ours.post(f"requests/{KEY}/{what}", failed_at=7.0)
            assert (status, answer["code"]) == (403, "not_allowed")
        ours.ada.role = AdminRole.OWNER
        with live.record.engine.begin() as connection:
            gone = {"worker_id": worker, "at": 8.0, "arrivals": 1, "texts": 0}
            connection.execute(insert(tables.erasures).values(gone))
        status, answer = await ours.post(f"requests/{KEY}/again", failed_at=7.0)
        assert (status, answer["code"]) == (409, "conflict")
        await ours.does(f"requests/{KEY}/dismiss", failed_at=7.0)


async def test_who_cannot_be_written_to_is_not_written_to(live: Live) -> None:
    await live.begin()
    (one,) = await live.people(1)
    async with team(live) as ours:
        worker = await worker_of(live, one)
        status, answer = await ours.post(f"workers/{worker}/message", subject="s", text="t")
        assert (status, answer["code"]) == (409, "conflict")
        assert await wishes(live) == []


async def test_a_note_is_kept_and_not_quoted(live: Live) -> None:
    await live.begin()
    (one,) = await live.people(1)
    async with team(live) as ours:
        worker = await worker_of(live, one)
        await ours.does(f"workers/{worker}/note", text="Writes little.")
        (note,) = await live.rows(tables.worker_notes)
        assert (note.worker_id, note.admin_id, note.text) == (worker, "admin-1", "Writes little.")
        assert await audit(live) == [("worker.note", worker, None, {"note": note.id})]
        assert (await ours.post("workers/nobody/note", text="t"))[0] == 404


# --- Payments ----------------------------------------------------------------------------------


async def test_payments_are_approved_and_tried_again_all_or_none(live: Live) -> None:
    asker, teller = await live.two(rules={"rounds": 1, "pair_again_below": 0})
    await live.converse(asker, teller, 2)
    names = []
    for person in (asker, teller):
        await person.shows("released")
        names.append({"arrival_id": (await arrival_of(live, person)).id, "reason": "dialog"})

    def become(state: LedgerState, *which: dict[str, str]) -> None:
        with live.record.engine.begin() as connection:
            for each in which:
                mine = tables.ledger.c.arrival_id == each["arrival_id"]
                connection.execute(update(tables.ledger).where(mine).values(state=state.value))

    async def states() -> list[str]:
        return sorted(row.state for row in await live.rows(tables.ledger))

    async with team(live) as ours:
        become(LedgerState.PAID, names[0])
        status, answer = await ours.post("ledger/approve", payments=names)
        assert (status, answer["code"]) == (409, "conflict")
        assert await states() == ["owed", "paid"]
        await ours.does("ledger/approve", payments=names[1:])
        assert await states() == ["approved", "paid"]
        status, answer = await ours.post("ledger/retry", payments=names[1:])
        assert (status, answer["code"]) == (409, "conflict")
        become(LedgerState.FAILED, *names)
        await ours.does("ledger/retry", payments=names)
        assert sorted(await wishes(live)) == sorted(
            ("retry", each["arrival_id"], {"reason": "dialog"}) for each in names
        )
        unknown = [{"arrival_id": "nobody", "reason": "dialog"}]
        assert (await ours.post("ledger/approve", payments=unknown))[0] == 404
        assert [action for action, *_ in await audit(live)] == ["ledger.approve"] + [
            "ledger.retry"
        ] * 2


# --- The study ---------------------------------------------------------------------------------


async def test_a_change_holds_for_dialogs_to_come_and_no_other(live: Live) -> None:
    asker, teller = await live.two(rules={"rounds": 1, "pair_again_below": 0}, items=3)
    async with team(live) as ours:
        changes = {"turn_limit_s": 100.0, "grace_s": 40.0, "pay_complete": 220}
        await ours.does("study/change", changes=changes, reason="People are quick.")
        shown = await ours.study()
        assert {k: v for k, v in shown["changes"].items() if v is not None} == changes
        assert (shown["from_file"]["pay_complete"], shown["status"]) == (150, "open")
        async with live.http.get(f"{live.urls[0]}/api/study") as answer:
            study = await answer.json()
        assert (study["pays"], study["turn_limit_s"], study["grace_s"]) == (220, 100.0, 40.0)
        three, four = await live.people(2)
        third, fourth = await live.pair(three, four)
        assert third.dialog["pays"] == 220
        assert asker.dialog["pays"] == 150
        await live.converse(asker, teller, 2)
        await live.converse(third, fourth, 2)
        for person in (asker, fourth):
            await person.shows("released")
        assert (asker.released["cents"], fourth.released["cents"]) == (150, 220)
        old, new = await live.dialogs()
        assert (old.state.rules.turn_limit_s, new.state.rules.turn_limit_s) == (180.0, 100.0)
        assert (old.state.rules.grace_s, new.state.rules.grace_s) == (60.0, 40.0)
        (row,) = await audit(live)
        assert row[0] == "study.change"
        held = {"turn_limit_s": 180.0, "grace_s": 60.0, "pay_complete": 150}
        assert row[2] == {"changes": held}
        assert row[3] == {"changes": changes, "reason": "People are quick."}


async def test_a_running_turn_is_stretched_by_the_rules_of_its_dialog(live: Live) -> None:
    asker, _ = await live.two(rules={"turn_limit_s": 1.0, "turn_stretch": 3, "grace_s": 0.5})
    typing = asyncio.create_task(types(asker))
    async with team(live) as ours:
        await ours.does("study/change", changes={"turn_limit_s": 600.0}, reason="Slower.")
    await asker.shows("released")
    typing.cancel()
    assert asker.released["release"] == "left"


async def test_every_process_takes_a_change_over(live_postgres: Live) -> None:
    live = live_postgres
    first = await live.begin()
    second = await live.serve()
    async with team(live) as ours:
        await ours.does("study/change", changes={"lobby_limit_s": 300.0}, reason="Shorter.")
    assert first.service.study().lobby_limit_s == 300.0
    (one,) = await live.people(1, second.url)
    await one.do("ready")
    await one.until(lambda: one.lobby.get("limit_s") == 300.0)


async def test_a_change_that_contradicts_itself_is_refused_in_words(live: Live) -> None:
    await live.begin()
    async with team(live) as ours:
        status, answer = await ours.post("study/change", changes={"grace_s": 500.0}, reason="r")
        assert (status, answer["code"]) == (400, "bad_request")
        assert answer["error"] == "protocol.grace_s must be less than protocol.turn_limit_s."
        status, answer = await ours.post("study/change", changes={"grace_s": -1}, reason="r")
        assert (status, answer["code"]) == (400, "bad_request")
        assert answer["error"].startswith("changes.grace_s: ")
        assert await audit(live) == []


async def test_a_change_of_what_somebody_else_changed_is_refused(live: Live) -> None:
    await live.begin()
    async with team(live) as ours:
        first = {"changes": {"turn_limit_s": 100.0}, "reason": "r", "known": {"grace_s": None}}
        for _ in range(2):
            await ours.does("study/change", **first)
        late = {"changes": {"grace_s": 30.0}, "reason": "r", "known": {}}
        status, answer = await ours.post("study/change", **late)
        assert (status, answer["code"]) == (409, "conflict")
        assert (await ours.study())["changes"]["grace_s"] is None
        await ours.does("study/change", **{**late, "known": {"turn_limit_s": 100}})
        assert len(await audit(live)) == 2


async def test_a_paused_study_is_paused_at_once(live: Live) -> None:
    await live.begin()
    async with team(live) as ours:
        await ours.does("study/pause")
        assert (await live.person().arrive())["code"] == "study_paused"
        await ours.does("study/pause")
        await ours.does("study/resume")
        assert (await live.person().arrive())["status"] == 200
        assert [row[:2] for row in await audit(live)] == [
            ("study.pause", live.study_id),
            ("study.resume", live.study_id),
        ]


async def test_who_pauses_at_the_same_moment_pauses_once(live_each: Live) -> None:
    await live_each.begin()
    async with team(live_each) as ours:
        for path, status in (("study/pause", "paused"), ("study/resume", "open")):
            await asyncio.gather(*(ours.does(path) for _ in range(4)))
            assert (await ours.study())["status"] == status
    assert [(what, before["status"]) for what, _, before, _ in await audit(live_each)] == [
        ("study.pause", "open"),
        ("study.resume", "paused"),
    ]


async def test_a_pause_on_the_command_line_is_written_down_as_nobody_s(live: Live) -> None:
    await live.begin()
    turned = [
        await changing.turn(live.record, live.study_id, status, admin_id=None, now=5.0)
        for status in (StudyStatus.PAUSED, StudyStatus.PAUSED, StudyStatus.OPEN)
    ]
    assert turned == [True, False, True]
    rows = await live.rows(tables.audit)
    assert {(row.action, row.admin_id) for row in rows} == {
        ("study.pause", None),
        ("study.resume", None),
    }
    assert len(rows) == 2


# --- Live dialogs ------------------------------------------------------------------------------


class Steering:
    """Answers as no live dialog would let itself be brought to."""

    answer: Any = None

    async def tell(self, *given: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def test_what_is_done_to_a_dialog_is_written_down_once_and_with_it(live: Live) -> None:
    await live.two()
    service = live.servers[0].service
    commit, together = service.record.writer.commit, []

    async def noting(decision: Decision) -> None:
        tables_of = [table.name for table, _ in decision.inserts]
        if "audit" in tables_of:
            together.append("events" in tables_of)
        await commit(decision)

    service.record.writer.commit = noting  # type: ignore[method-assign]
    (dialog,) = await live.rows_of("dialogs")
    at = f"dialogs/{dialog.id}"
    async with team(live, service.steering) as ours:
        for _ in range(2):
            await ours.does(f"{at}/message", key=f"{KEY}-1", to="answerer", text="Please go on.")
            await ours.does(f"{at}/extend", key=f"{KEY}-2", minutes=3)
        for _ in range(2):
            await ours.does(f"{at}/end", key=f"{KEY}-3", reason="Enough.", cents={"questioner": 70})
    assert await audit(live) == [
        ("dialog.message", dialog.id, None, {"to": "answerer", "seq": 2}),
        ("dialog.extend", dialog.id, None, {"minutes": 3, "seq": 3}),
        ("dialog.end", dialog.id, None, {"cents": {"questioner": 70}, "seq": 4}),
    ]
    # Whenever the server dies, what was done is known with who did it.
    assert together == [True, True, True]
    assert [row.kind for row in await live.rows_of("events")][-3:] == ["told", "extended", "ended"]


async def test_what_cannot_be_done_to_a_dialog_is_not_written_down(live: Live) -> None:
    await live.begin()
    steering = Steering()
    async with team(live, steering) as ours:
        for answer, status in (
            (LookupError("d"), 404),
            (Busy(), 503),
            (Refusal(RefusalCode.DIALOG_ENDED, "This dialog has ended."), 409),
        ):
            steering.answer = answer
            assert (await ours.post("dialogs/d/message", key=KEY, text="Hello?"))[0] == status
    assert await audit(live) == []


# --- Who may -----------------------------------------------------------------------------------
