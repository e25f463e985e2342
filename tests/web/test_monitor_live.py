"""What reaches an open monitor without being asked for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest
import socketio
from redis.asyncio import Redis

from chatserver.monitor.pulse import PUT_OFF_S, Often
from chatserver.monitor.wire import Board
from dialogs.rules import AdminRole, StudyStatus
from pairing.keys import Keys
from tests.live import Live, letter, until
from tests.monitors import OpenMonitor
from tests.services import PostgresServer, ValkeyServer
from tests.team import Member, cookie_for, join


@asynccontextmanager
async def a_monitor(
    live: Live, url: str | None = None, who: Member | None = None
) -> AsyncIterator[OpenMonitor]:
    who = who or await join(live, AdminRole.VIEWER)
    monitor = OpenMonitor()
    await monitor.open(url or live.urls[0], {"csrf": who.csrf}, cookie_of(who))
    try:
        yield monitor
    finally:
        await monitor.close()


def cookie_of(who: Member) -> dict[str, str]:
    return {"Cookie": cookie_for(who.live, who.token)}


def in_the_form_of_its_model(monitor: OpenMonitor) -> bool:
    boards = monitor.seen("board")
    # The model takes enums from JSON only.
    return [
        Board.model_validate_json(orjson.dumps(b)).model_dump(mode="json") for b in boards
    ] == boards


async def test_the_board_shows_each_dialog_as_it_goes(live_each: Live) -> None:
    live = live_each
    asker, teller = await live.two()
    async with a_monitor(live) as monitor:
        await monitor.until(lambda: len(monitor.board) == 1)
        (row,) = monitor.board.values()
        assert (row["round"], row["rounds"], row["turn"]) == (1, 10, "questioner")
        assert row["caption"] == "picture 0"
        await live.converse(asker, teller, 3)
        await monitor.until(lambda: next(iter(monitor.board.values()))["turn"] == "answerer")
        (row,) = monitor.board.values()
        assert row["round"] == 2
        assert {seat["role"]: seat["sent"] for seat in row["seats"]} == {
            "questioner": 2,
            "answerer": 1,
        }
        await live.converse(asker, teller)
        await monitor.until(lambda: not monitor.board, "the dialog is over")
        assert in_the_form_of_its_model(monitor)


async def test_a_tile_says_when_time_runs_out(live: Live) -> None:
    # Nobody counts as away until a server has run for a whole grace period.
    asker, _ = await live.two(rules={"turn_limit_s": 90.0, "grace_s": 10.0}, closed_s=0.2)

    def seats() -> dict[str, Any]:
        (row,) = monitor.board.values()
        return {seat["role"]: seat for seat in row["seats"]}

    async with a_monitor(live) as monitor:
        await monitor.until(lambda: len(monitor.board) == 1)
        (row,) = monitor.board.values()
        assert row["turn_ends_at"] == row["turn_at"] + 90.0
        assert (row["flags"], seats()["questioner"]["grace_ends_at"]) == (0, None)
        await asker.drop(comes_back=False)
        await monitor.until(lambda: seats()["questioner"]["away"])
        gone = seats()["questioner"]
        assert gone["grace_ends_at"] == gone["away_at"] + 10.0
        assert seats()["answerer"]["away_at"] is None
        assert in_the_form_of_its_model(monitor)


async def test_a_flag_comes_up_on_the_board(live_each: Live) -> None:
    live = live_each
    await live.two()
    who = await join(live, AdminRole.REVIEWER)
    async with a_monitor(live) as monitor:
        await monitor.until(lambda: len(monitor.board) == 1)
        (dialog_id,) = monitor.board
        body = {"reason": "Rude.", "key": "key-of-a-page"}
        for _ in range(2):
            path = f"/api/monitor/dialogs/{dialog_id}/flag"
            assert (await who.post(path, body))[0] == 200
        await monitor.until(lambda: monitor.board[dialog_id]["flags"] == 1)


async def test_a_dialog_that_opens_later_comes_up_by_itself(live: Live) -> None:
    await live.begin(items=2)
    async with a_monitor(live) as monitor:
        await monitor.until(lambda: monitor.now)
        assert monitor.now["live"] == 0
        await live.pair(*await live.people(2))
        await monitor.until(lambda: len(monitor.board) == 1)
        await monitor.until(lambda: monitor.now["live"] == 1)


async def test_who_waits_is_shown_and_counted(live: Live) -> None:
    await live.begin()
    (person,) = await live.people(1)
    async with a_monitor(live) as monitor:
        await person.do("ready")
        await monitor.until(lambda: monitor.now.get("lobby_size") == 1)
        (waiting,) = monitor.now["lobby"]
        assert waiting["language"] == "en"
        assert abs(waiting["since"] - monitor.now["at"]) < 30
        assert monitor.now["inside"] == 1
        health = monitor.now["health"]
        assert (health["database"], health["redis"]) == (True, True)
        await monitor.until(lambda: monitor.now["health"]["processes"])
        (process,) = monitor.now["health"]["processes"]
        assert process["pages"] == 1


async def test_a_watched_dialog_is_read_whole_and_then_followed(live_each: Live) -> None:
    live = live_each
    asker, teller = await live.two()
    await live.converse(asker, teller, 2)
    (held,) = await live.dialogs()
    dialog_id = held.state.dialog_id
    async with a_monitor(live) as monitor:
        shown = await monitor.ask("watch", {"dialog_id": dialog_id})
        assert [e["text"] for e in shown["entries"]] == ["", "message 1", "message 2"]
        assert shown["standing"]["turn"] == "questioner"
        assert [w["id"] for w in shown["workers"]] == [
            s["worker_id"] for s in shown["standing"]["seats"]
        ]
        await live.converse(asker, teller, 4)
        await monitor.until(lambda: monitor.texts == ["message 3", "message 4"])
        assert monitor.seen("entries")[-1]["standing"]["round"] == 3
        await asker.tell("typing", {"on": True})
        await monitor.until(lambda: monitor.seen("typing"))
        typing = {"dialog_id": dialog_id, "role": "questioner", "on": True}
        assert monitor.seen("typing") == [typing]
        await asker.do("leave", {"reason": ""})
        await monitor.until(
            lambda: monitor.seen("entries")[-1]["entries"][0]["kind"] == "seat_lost"
        )
        assert monitor.seen("entries")[-1]["standing"]["phase"] == "solo"
        await monitor.ask("unwatch", {})
        await live.alone(teller, 1)
        # What follows the next answer would have come before it.
        await monitor.ask("watch", {"dialog_id": "d_none"})
        assert "alone 1" not in monitor.texts


async def test_nothing_is_lost_between_the_reading_and_what_follows(live: Live) -> None:
    """Somebody talks on while the dialog is being opened again and again."""
    asker, teller = await live.two()
    (held,) = await live.dialogs()
    async with a_monitor(live) as monitor:
        talking = asyncio.ensure_future(live.converse(asker, teller))
        while not talking.done():
            monitor.log.clear()
            shown = await monitor.ask("watch", {"dialog_id": held.state.dialog_id})
            last = shown["entries"][-1]["seq"]
            await monitor.until(lambda: monitor.seen("entries") or talking.done())
            told = [e["seq"] for h in monitor.seen("entries") for e in h["entries"]]
            # What was on its way from the time before is known by its number.
            seqs = [seq for seq in told if seq > last]
            assert seqs == list(range(last + 1, last + 1 + len(seqs)))
        await talking


async def test_two_processes_are_one_study(live_postgres: Live) -> None:
    live = live_postgres
    first = await live.begin(items=2)
    second = await live.serve()
    one, two = await live.people(2, second.url)
    async with a_monitor(live, first.url) as monitor:
        await live.pair(one, two)
        await monitor.until(lambda: len(monitor.board) == 1)
        (dialog_id,) = monitor.board
        await monitor.ask("watch", {"dialog_id": dialog_id})
        asker, teller = (one, two) if one.role == "questioner" else (two, one)
        await live.converse(asker, teller, 5)
        wanted = [f"message {n}" for n in range(1, 6)]
        await monitor.until(lambda: monitor.texts == wanted)
        await asker.tell("typing", {"on": True})
        await monitor.until(lambda: monitor.seen("typing"))
        await monitor.until(lambda: len(monitor.now["health"]["processes"]) == 2)


async def test_lists_are_told_when_they_are_old(live: Live) -> None:
    asker, teller = await live.two()
    async with a_monitor(live) as monitor:
        await monitor.until(lambda: monitor.seen("chart"))
        await live.converse(asker, teller)
        told: set[str] = set()

        def all_told() -> bool:
            told.update(monitor.changed())
            return {"dialogs", "ledger", "workers"} <= told

        await monitor.until(all_told)
        assert "hits" not in told
        await live.set_status(StudyStatus.PAUSED)
        await monitor.until(lambda: "study" in monitor.changed())
        await monitor.until(lambda: monitor.now["status"] == "paused")


async def test_nobody_gets_in_who_is_not_signed_in(live: Live) -> None:
    server = await live.begin()
    who, other = await join(live, AdminRole.OWNER), await join(live, AdminRole.OWNER)
    worker = live.person()
    await worker.arrive()
    for headers, auth in (
        ({}, {"csrf": who.csrf}),
        (cookie_of(who), None),
        (cookie_of(who), {}),
        (cookie_of(who), {"csrf": other.csrf}),
        (cookie_of(who), {"csrf": 7}),
        (cookie_of(who), [who.csrf]),
        (cookie_of(who), {"token": worker.token}),
        ({"Cookie": cookie_for(live, "made-up")}, {"csrf": who.csrf}),
    ):
        monitor = OpenMonitor()
        with pytest.raises(socketio.exceptions.ConnectionError):
            await monitor.open(live.urls[0], auth, headers)
        assert monitor.refused["data"]["code"] == "signed_out"
        await monitor.close()
    # By no origin but ours, whatever the cookie.
    foreign = OpenMonitor()
    headers = cookie_of(who) | {"Origin": "https://evil.example.org"}
    with pytest.raises(socketio.exceptions.ConnectionError):
        await foreign.open(live.urls[0], {"csrf": who.csrf}, headers)
    await foreign.close()
    assert server.service.dialogs.on_event is None


async def test_a_worker_is_no_monitor_and_a_monitor_no_worker(live: Live) -> None:
    asker, _ = await live.two()
    async with a_monitor(live) as monitor:
        # A worker's socket with a frame of the other namespace, and the other way round.
        client: Any = asker._client
        await client.eio.send('42/monitor,1["watch",{"dialog_id":"x"}]')
        assert "seq" in await asker.say("still here")
        await monitor.client.eio.send('42["message",{}]')
        answer = await monitor.ask("message", letter("hello", "key-12345678"))
        assert answer["code"] == "bad_request"
    (held,) = await live.dialogs()
    assert [m.said.text for m in held.state.messages] == ["still here"]


async def test_a_session_that_ends_closes_its_monitors(live_postgres: Live) -> None:
    """Also in another process than the one by which somebody signs out."""
    live = live_postgres
    first = await live.begin()
    second = await live.serve()
    who = await join(live, AdminRole.REVIEWER)
    async with a_monitor(live, second.url, who) as monitor:
        await monitor.until(lambda: monitor.now)
        who.url = first.url
        assert (await who.post("/api/monitor/sign-out-everywhere"))[0] == 200
        await monitor.until(lambda: monitor.seen("stopped"))
        assert monitor.seen("stopped")[0]["code"] == "signed_out"
        assert (await monitor.ask("watch", {"dialog_id": "d"}))["code"] == "signed_out"
        await until(lambda: second.service.dialogs.on_event is None)


@pytest.mark.parametrize(
    ("event", "payload", "code"),
    [
        ("watch", {"dialog_id": "d_none"}, "not_found"),
        ("watch", {"dialog_id": "\0"}, "bad_request"),
        ("watch", {"dialog_id": 7}, "bad_request"),
        ("watch", {"dialog_id": "x" * 101}, "bad_request"),
        ("watch", {"dialog_id": "d", "more": 1}, "bad_request"),
        ("watch", "d", "bad_request"),
        ("watch", {str(n): n for n in range(30)}, "bad_request"),
        ("unwatch", {"more": 1}, "bad_request"),
        ("end_everything", {}, "bad_request"),
    ],
)
async def test_what_nobody_understands_is_refused(
    live: Live, event: str, payload: Any, code: str
) -> None:
    await live.begin()
    async with a_monitor(live) as monitor:
        assert (await monitor.ask(event, payload))["code"] == code


async def test_a_board_that_nobody_watches_costs_nothing(live: Live) -> None:
    asker, teller = await live.two()
    service = live.servers[0].service
    async with a_monitor(live) as monitor:
        await monitor.until(lambda: len(monitor.board) == 1)
        assert service.dialogs.on_event is not None
    await until(lambda: service.dialogs.on_event is None)
    assert service.requests.on_typing is None
    await live.converse(asker, teller, 2)


async def test_a_monitor_is_told_that_the_database_does_not_answer(
    live_frozen: Live, postgres_server: PostgresServer
) -> None:
    await live_frozen.begin(closed_s=0.2)
    async with a_monitor(live_frozen) as monitor:
        await monitor.until(lambda: monitor.now)
        postgres_server.pause()
        try:
            await monitor.until(lambda: monitor.seen("waits"), "that nothing new is known")
        finally:
            postgres_server.resume()
        assert monitor.seen("waits")[0]["code"] == "try_again"
        before = len(monitor.seen("now"))
        await monitor.until(lambda: len(monitor.seen("now")) > before, "how things stand")


async def test_after_a_slow_answer_of_redis_its_health_is_soon_right(
    live_redis: Live, valkey_server: ValkeyServer
) -> None:
    await live_redis.begin(items=2)
    async with a_monitor(live_redis) as monitor:
        await monitor.until(lambda: monitor.now and monitor.now["health"]["redis"])
        valkey_server.pause()
        try:
            await monitor.until(lambda: not monitor.now["health"]["redis"], "that it is silent")
            before = len(monitor.seen("now"))
            # Figures do not need Redis.
            await monitor.until(lambda: len(monitor.seen("now")) > before + 1, "how things stand")
        finally:
            valkey_server.resume()
        async with asyncio.timeout(12.0):
            await monitor.until(lambda: monitor.now["health"]["redis"], "that it answers again")
            await monitor.until(lambda: monitor.now["health"]["processes"], "who lives")


async def test_one_slow_reading_puts_off_the_next_by_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at = 0.0
    monkeypatch.setattr("chatserver.monitor.pulse.time.monotonic", lambda: at)
    often = Often(1.0)
    assert often.is_due()
    at += 10.0
    often.done()
    at += PUT_OFF_S
    assert often.is_due()
    at += 0.2
    often.done()
    at += 3.9
    assert not often.is_due(), "a twentieth of the time at most"
    at += 0.2
    assert often.is_due()


async def test_who_spoke_in_the_future_is_not_there(live: Live) -> None:
    await live.begin()
    told = orjson.dumps([1.0, time.time() + 3600.0, 3])
    async with Redis.from_url(live.redis_url) as redis:
        await redis.hset(Keys(live.study_id).processes, "of-a-wrong-clock", told)
    async with a_monitor(live) as monitor:
        await monitor.until(lambda: monitor.now and monitor.now["health"]["processes"])
        (process,) = monitor.now["health"]["processes"]
        assert process["id"] != "of-a-wrong-clock"


async def test_what_is_in_somebody_s_hands_waits_all_the_same(live: Live) -> None:
    await live.begin(items=2)
    await live.converse(*await live.pair(*await live.people(2)))
    reviewer = await join(live, AdminRole.REVIEWER)
    async with a_monitor(live) as monitor:
        await monitor.until(lambda: monitor.now.get("to_review") == 1)
        assert (await reviewer.post("/api/monitor/review/next"))[1]["dialog"] is not None
        monitor.log.clear()
        await monitor.until(lambda: monitor.now)
        assert monitor.now["to_review"] == 1
        assert (await reviewer.get("/api/monitor/review/stats"))[1]["waiting"] == 1
