"""Waiting for a partner, being matched, and everything that can come between."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from redis.asyncio import Redis

from chatserver.config import SameAddress
from chatserver.live.deadlines import ArrivalDeadline, Due
from chatserver.live.hub import Page
from dialogs.rules import StudyStatus
from pairing.keys import Keys
from tests.live import Live, Person, eventually, until


async def test_a_redis_that_lost_its_places_does_not_say_that_nothing_is_left(live: Live) -> None:
    await live.begin(items=1, sweep_s=60.0)
    (ada,) = await live.people(1)
    await ada.do("ready")
    await ada.until(lambda: ada.lobby.get("position") == 1)
    async with Redis.from_url(live.redis_url) as redis:
        await redis.flushdb()
    count = len(ada.seen("lobby"))
    await ada.until(lambda: len(ada.seen("lobby")) > count)
    assert not ada.lobby["nothing_left"]
    assert (await ada.ask("stop_waiting"))["code"] == "not_now"


async def test_a_refresh_asked_for_in_the_moment_that_one_ends_is_not_lost(live: Live) -> None:
    server = await live.begin()
    (ada,) = await live.people(1)
    screens, asked = server.service.screens, 0
    show = screens.show

    async def watched(page: Page) -> None:
        nonlocal asked
        await show(page)
        if asked < 3:
            asked += 1
            asyncio.get_running_loop().call_soon(screens.refresh, page.arrival_id)

    screens.show = watched  # type: ignore[method-assign]
    states = len(ada.seen("state"))
    screens.refresh(next(server.service.hub.pages()).arrival_id)
    await ada.until(lambda: len(ada.seen("state")) == states + 4)


async def test_a_match_is_shown_and_its_end_too_when_fan_out_loses_both(
    live_postgres: Live,
) -> None:
    one = await live_postgres.begin(items=1, lobby_s=0.2, study={"start_s": 1.5})
    two = await live_postgres.serve()
    (ada,) = await live_postgres.people(1, one.url)
    (ben,) = await live_postgres.people(1, two.url)
    for server in (one, two):
        server.service.fanout.tell = lambda kind, note: None  # type: ignore[method-assign]
    await live_postgres.match(ada, ben)
    await ada.do("start")
    await ben.until(lambda: ben.stage == "arrived" and ben.state["missed_start"])
    await ada.shows("waiting")


async def test_a_page_that_could_not_be_refreshed_is_refreshed_later(live: Live) -> None:
    server = await live.begin()
    (ada,) = await live.people(1)
    lobby, failures = server.service.lobby, 0
    views = lobby.views

    async def fails_twice(*args: Any) -> Any:
        nonlocal failures
        failures += 1
        if failures <= 2:
            raise ConnectionError("Redis is gone in this moment")
        return await views(*args)

    lobby.views = fails_twice  # type: ignore[method-assign]
    await ada.do("ready")
    await ada.shows("waiting")


# --- Waiting -----------------------------------------------------------------------------------


async def test_who_waits_is_told_position_wait_and_limit(live: Live) -> None:
    await live.begin(items=1, lobby_s=0.1, study={"lobby_limit_s": 600.0})
    (ada,) = await live.people(1)
    await ada.do("ready")
    await ada.until(lambda: len(ada.seen("lobby")) >= 3)
    waits = [told["waited_s"] for told in ada.seen("lobby")]
    assert waits == sorted(waits)
    assert ada.lobby["position"] == 1
    assert ada.lobby["limit_s"] == 600.0
    assert ada.lobby["may_stop"] is False
    assert (await ada.ask("stop_waiting"))["code"] == "not_now"


async def test_after_the_lobby_limit_one_may_stop_and_is_paid_for_the_wait(
    live_each: Live,
) -> None:
    await live_each.begin(items=1, lobby_s=0.1, study={"lobby_limit_s": 0.5})
    (ada,) = await live_each.people(1)
    await ada.do("ready")
    await ada.until(lambda: ada.lobby.get("may_stop"))
    assert ada.lobby["stop_pays"] == 10
    await ada.do("stop_waiting")
    await ada.shows("released")
    assert ada.released["release"] == "never_paired"
    assert ada.released["cents"] == 10
    assert ada.released["code"]
    # Asked again it answers the same, and nothing is paid twice.
    await ada.do("stop_waiting")
    assert await live_each.owed() == [10]
    # Whoever stopped is matched with nobody.
    (ben,) = await live_each.people(1)
    await ben.do("ready")
    await ben.until(lambda: ben.lobby.get("position") == 1)


async def test_a_study_with_no_items_says_so_and_pays_the_wait(live_each: Live) -> None:
    await live_each.begin(items=0, lobby_s=0.1)
    ada, ben = await live_each.people(2)
    for person in (ada, ben):
        await person.do("ready")
    for person in (ada, ben):
        await person.shows("waiting")
        await person.until(lambda person=person: person.lobby.get("nothing_left"))
        assert person.lobby["may_stop"]
    await ada.do("stop_waiting")
    await ada.shows("released")
    assert ada.released["release"] == "study_full"
    assert await live_each.owed() == [10]


async def test_items_added_while_the_study_runs_are_found(live_each: Live) -> None:
    await live_each.begin(items=0, lobby_s=0.1)
    ada, ben = await live_each.people(2)
    for person in (ada, ben):
        await person.do("ready")
    await ada.shows("waiting")
    await ada.until(lambda: ada.lobby.get("nothing_left"))
    await live_each.add_items(1)
    for person in (ada, ben):
        await person.shows("matched")
        await person.do("start")
    for person in (ada, ben):
        await person.shows("talking")


async def test_nothing_is_left_for_who_has_seen_every_free_item(live: Live) -> None:
    await live.begin(items=1, wanted=3, lobby_s=0.1)
    ada, ben = await live.people(2)
    await live.converse(*await live.pair(ada, ben))
    await ada.shows("released")
    assert ada.released["another"]
    assert (await ada.arrive(another=True))["status"] == 200
    await ada.close()
    await ada.come_back()
    await ada.do("ready")
    await ada.until(lambda: ada.lobby.get("nothing_left"))
    # Others still find it.
    eve, max_ = await live.people(2)
    await live.pair(eve, max_)
    assert ada.stage == "waiting"


async def test_a_paused_study_takes_nobody_new_and_lets_people_finish(live_each: Live) -> None:
    server = await live_each.begin(items=4, lobby_s=0.1)
    asker, teller = await live_each.pair(*await live_each.people(2))
    ada, ben, eve = await live_each.people(3)
    await ada.do("ready")
    await ada.shows("waiting")
    await live_each.set_status(StudyStatus.PAUSED)
    await until(lambda: not server.service.is_open())
    assert (await ben.ask("ready"))["code"] == "study_paused"
    assert (await live_each.person().arrive())["code"] == "study_paused"
    # Who waits is told, and may stop with pay.
    await ada.until(lambda: ada.lobby.get("paused") and ada.lobby.get("may_stop"))
    await ada.do("stop_waiting")
    await ada.shows("released")
    assert ada.released["release"] == "never_paired"
    await live_each.converse(asker, teller)
    for person in (asker, teller):
        await person.shows("released")
        assert person.released["release"] == "completed"
        assert person.released["another"] is False
    await live_each.set_status(StudyStatus.OPEN)
    await until(server.service.is_open)
    await live_each.pair(ben, eve)


async def test_a_pause_between_match_and_start_opens_nothing(live_each: Live) -> None:
    await live_each.begin(items=1, lobby_s=0.1)
    ada, ben = await live_each.people(2)
    await live_each.match(ada, ben)
    matches = len(ada.seen("state"))
    await live_each.set_status(StudyStatus.PAUSED)
    for person in (ada, ben):
        await person.ask("start")
    for person in (ada, ben):
        await person.until(lambda person=person: person.lobby.get("paused"))
        assert person.stage == "waiting"
    # The process has not proposed anew what the record will refuse again.
    assert not any(told["stage"] == "matched" for told in ada.seen("state")[matches + 1 :])
    assert not await live_each.dialogs()


async def test_a_pause_blames_nobody_who_had_not_pressed_start_yet(live: Live) -> None:
    server = await live.begin(items=1, lobby_s=0.1, study={"start_s": 0.5})
    ada, ben = await live.people(2)
    await live.match(ada, ben)
    await ada.do("start")
    await live.set_status(StudyStatus.PAUSED)
    await server.service.look_at_study()
    for person in (ada, ben):
        await person.until(lambda person=person: person.lobby.get("paused"))
        assert person.stage == "waiting"
        assert person.lobby["may_stop"]


# --- Matches -----------------------------------------------------------------------------------


async def test_declining_blames_nobody_and_the_partner_keeps_the_place(live_each: Live) -> None:
    await live_each.begin(items=1)
    ada, ben = await live_each.people(2)
    await live_each.match(ada, ben)
    ready_at = {row.id: row.ready_at for row in await live_each.rows_of("arrivals")}
    await ada.do("decline")
    await ada.shows("arrived")
    assert ada.state["missed_start"] is False
    await ben.shows("waiting")
    await ben.until(lambda: ben.lobby["position"] == 1)
    (waiting,) = [r for r in await live_each.rows_of("arrivals") if r.status == "waiting"]
    assert waiting.ready_at == ready_at[waiting.id]
    # The place is free again, and both may be matched once more.
    await live_each.pair(ada, ben)


async def test_who_misses_the_start_presses_ready_again_and_the_other_waits_on(
    live_each: Live,
) -> None:
    await live_each.begin(items=1, study={"start_s": 0.5})
    ada, ben = await live_each.people(2)
    await live_each.match(ada, ben)
    await ada.do("start")
    await ada.until(lambda: ada.state["match"] and ada.state["match"]["started"])
    await ben.shows("arrived")
    assert ben.state["missed_start"] is True
    await ada.shows("waiting")
    assert ada.lobby["waited_s"] > 0.5
    await ben.do("ready")
    for person in (ada, ben):
        await person.shows("matched")
        await person.do("start")
    for person in (ada, ben):
        await person.shows("talking")


async def test_when_neither_starts_both_press_ready_again(live: Live) -> None:
    await live.begin(items=1, study={"start_s": 0.5})
    ada, ben = await live.people(2)
    await live.match(ada, ben)
    for person in (ada, ben):
        await person.shows("arrived")
        assert person.state["missed_start"] is True
        assert (await person.ask("start"))["code"] == "not_now"
    await live.pair(ada, ben)


async def test_a_start_that_is_pressed_too_late_is_not_taken(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await live.begin(items=1, study={"start_s": 0.2})

    async def later() -> None:
        """Whoever presses is faster than the process that clears the match away."""

    monkeypatch.setattr(server.service.matching, "_clear_overdue", later)
    ada, ben = await live.people(2)
    await live.match(ada, ben)
    await ada.do("start")
    await eventually(server.service.lobby.overdue)
    assert (await ben.ask("start"))["code"] == "not_now"


async def test_nobody_is_paired_with_a_page_that_has_closed(live_each: Live) -> None:
    await live_each.begin(items=2)
    ghost, ada = await live_each.people(2)
    await ghost.do("ready")
    await ghost.shows("waiting")
    await ghost.close()
    await ada.do("ready")
    await ada.until(lambda: ada.lobby.get("position") == 1)
    (ben,) = await live_each.people(1)
    await ben.do("ready")
    for person in (ada, ben):
        await person.shows("matched")


async def test_nobody_is_paired_with_a_page_that_does_not_answer(live: Live) -> None:
    await live.begin(items=2, fresh_s=0.6, heartbeat_s=0.2)
    ghost, ada, ben = await live.people(3)
    ghost.answers_heartbeats = False
    await ghost.do("ready")
    async with Redis.from_url(live.redis_url) as redis:
        beats = Keys(live.study_id).beats

        async def stale() -> bool:
            ((_, beat),) = await redis.zrange(beats, 0, 0, withscores=True)
            seconds, micros = await redis.time()
            return seconds + micros / 1e6 - beat > 0.6

        await eventually(stale)
    for person in (ada, ben):
        await person.do("ready")
    for person in (ada, ben):
        await person.shows("matched")
    assert ghost.stage == "waiting"


async def test_two_tabs_of_one_person_and_then_a_second_person(live_each: Live) -> None:
    await live_each.begin(items=2)
    (ada,) = await live_each.people(1)
    tab = ada.another_tab()
    await tab.arrive()
    await ada.do("ready")
    await ada.shows("waiting")
    await tab.connect()
    await ada.until(lambda: ada.stopped)
    assert tab.stage == "waiting"
    await tab.do("ready")
    (ben,) = await live_each.people(1)
    await ben.do("ready")
    for person in (tab, ben):
        await person.shows("matched")
        await person.do("start")
    for person in (tab, ben):
        await person.shows("talking")
    assert ada.stage == "waiting"
    assert len(await live_each.dialogs()) == 1
    assert len(await live_each.rows_of("workers")) == 2
    pair = (tab, ben) if tab.role == "questioner" else (ben, tab)
    await live_each.converse(*pair)
    await tab.shows("released")
    assert await live_each.owed() == [150, 150]


async def test_nobody_is_paired_with_themselves(live: Live) -> None:
    await live.begin(items=2)
    (ada,) = await live.people(1)
    tabs = [ada.another_tab() for _ in range(3)]
    for tab in tabs:
        await tab.arrive()
        await tab.connect()
        await tab.ask("ready")
    last = tabs[-1]
    await last.until(lambda: last.lobby.get("position") == 1)
    assert len(await live.rows_of("arrivals")) == 1
    assert last.stage == "waiting"


async def test_partners_do_not_meet_again_unless_the_study_says_so(live: Live) -> None:
    await live.begin(items=3, lobby_s=0.1)
    ada, ben = await live.people(2)
    await live.converse(*await live.pair(ada, ben))
    for person in (ada, ben):
        await person.shows("released")
        await person.arrive(another=True)
        await person.close()
        await person.come_back()
        await person.do("ready")
    for person in (ada, ben):
        await person.until(lambda person=person: person.lobby.get("position"))
    (eve,) = await live.people(1)
    await eve.do("ready")
    await eve.shows("matched")
    await until(lambda: {ada.stage, ben.stage} == {"matched", "waiting"})


async def test_languages_do_not_mix(live: Live) -> None:
    await live.begin(items=2, study={"languages": ("en", "ar")})
    ada, ben = live.person(), live.person()
    await ada.arrive(language="en")
    await ben.arrive(language="ar")
    for person in (ada, ben):
        await person.connect()
        await person.do("ready")
    for person in (ada, ben):
        await person.until(lambda person=person: person.lobby.get("position"))
    eve = live.person()
    await eve.arrive(language="ar")
    await eve.connect()
    await eve.do("ready")
    for person in (ben, eve):
        await person.shows("matched")
    assert ada.stage == "waiting"


async def test_one_address_holds_one_seat_where_the_study_refuses_two(live: Live) -> None:
    await live.begin(items=2, study={"same_address": SameAddress.REFUSE}, trusted_proxies=1)
    people = [live.person() for _ in range(3)]
    for person, address in zip(people, ("1.1.1.1", "1.1.1.1", "2.2.2.2"), strict=True):
        body = {"worker_key": person.worker_key, "consented": True}
        async with live.http.post(
            f"{live.urls[0]}/api/arrivals", json=body, headers={"X-Forwarded-For": address}
        ) as response:
            person.token = (await response.json())["token"]
        await person.connect()
    ada, ben, eve = people
    for person in (ada, ben):
        await person.do("ready")
    for person in (ada, ben):
        await person.until(lambda person=person: person.lobby.get("position"))
    await eve.do("ready")
    await eve.shows("matched")
    await until(lambda: {ada.stage, ben.stage} == {"matched", "waiting"})


async def test_both_seats_from_one_address_are_marked(live: Live) -> None:
    await live.two()
    (row,) = await live.rows_of("dialogs")
    assert row.same_address is True


# --- Many --------------------------------------------------------------------------------------


async def test_two_hundred_who_join_at_once_become_a_hundred_dialogs(live_postgres: Live) -> None:
    await live_postgres.begin(items=1, wanted=100, heartbeat_s=5.0, study={"start_s": 60.0})
    await live_postgres.serve()
    people = await live_postgres.people(200)

    async def go(person: Person) -> None:
        await person.do("ready")
        await person.shows("matched", 60)
        await person.do("start")
        await person.shows("talking", 60)

    await asyncio.gather(*(go(p) for p in people))
    rows = await live_postgres.rows_of("dialogs")
    assert len(rows) == 100
    assert sorted(row.place for row in rows) == list(range(1, 101))
    seats = await live_postgres.rows_of("seats")
    assert len({seat.worker_id for seat in seats}) == 200


# --- Coming again, and time --------------------------------------------------------------------


async def test_another_dialog_is_offered_up_to_the_cap(live_each: Live) -> None:
    await live_each.begin(items=4, study={"dialogs_per_worker": 2, "repeat_partners": True})
    ada, ben = await live_each.people(2)
    await live_each.converse(*await live_each.pair(ada, ben))
    for person in (ada, ben):
        await person.shows("released")
        assert person.released["another"] is True
        first = person.token
        assert (await person.arrive())["token"] != ""
        assert (await person.arrive(another=True))["status"] == 200
        assert person.token != first
        await person.close()
        await person.come_back()
        await person.shows("arrived")
    await live_each.converse(*await live_each.pair(ada, ben))
    for person in (ada, ben):
        await person.shows("released")
        assert person.released["another"] is False
        assert (await person.arrive(another=True))["code"] == "cap_reached"
    seats = await live_each.rows_of("seats")
    assert len({(seat.worker_id, seat.item_id) for seat in seats}) == 4
    assert await live_each.owed() == [150] * 4


async def test_an_assignment_that_ran_out_is_released_once(live_each: Live) -> None:
    await live_each.begin(items=0, study={"assignment_duration_s": 1.0}, rules={"grace_s": 0.3})
    if "postgres" in live_each.database_url:
        await live_each.serve()
    ada, ben = await live_each.people(2)
    await ada.do("ready")
    for person, release, cents in ((ada, "never_paired", 10), (ben, "returned", 0)):
        await person.shows("released")
        assert person.released["release"] == release
        assert person.released["cents"] == cents
    assert len(await live_each.releases()) == 2
    assert await live_each.owed() == [10]
    keys = Keys(live_each.study_id)
    async with Redis.from_url(live_each.redis_url) as redis:

        async def served() -> bool:
            return await redis.zcard(keys.deadlines) == 0

        await eventually(served)
        # It fires again: nothing is left to do.
        (row, _) = await live_each.rows_of("arrivals")
        await redis.zadd(keys.deadlines, {Due(ArrivalDeadline.EXPIRY, row.id).member(): 1})
        await eventually(served)
    assert len(await live_each.releases()) == 2
    assert await live_each.owed() == [10]


async def test_an_assignment_that_runs_out_in_a_dialog_ends_nothing(live: Live) -> None:
    asker, teller = await live.two(
        study={"assignment_duration_s": 0.5}, rules={"grace_s": 0.1, "dialog_limit_s": 3600.0}
    )
    async with Redis.from_url(live.redis_url) as redis:

        async def served() -> bool:
            members = await redis.zrange(Keys(live.study_id).deadlines, 0, -1)
            return not any(b"expiry" in member for member in members)

        await eventually(served)
    await live.converse(asker, teller)
    await asker.shows("released")
    assert asker.released["release"] == "completed"


# --- The record decides --------------------------------------------------------------------


async def test_a_redis_that_invents_a_match_opens_nothing_that_the_record_forbids(
    live_each: Live,
) -> None:
    """Ada and Ben have had item 0; a Redis that forgot that proposes it to them again."""
    server = await live_each.begin(items=1, wanted=2, lobby_s=0.1, study={"repeat_partners": True})
    ada, ben = await live_each.people(2)
    await live_each.converse(*await live_each.pair(ada, ben))
    for person in (ada, ben):
        await person.shows("released")
        await person.arrive(another=True)
        await person.close()
        await person.come_back()
    join = server.service.lobby.join

    async def forgetful(*waiting: Any) -> None:
        await join(*(replace(w, seen=frozenset()) for w in waiting))

    server.service.lobby.join = forgetful  # type: ignore[method-assign]
    for person in (ada, ben):
        await person.do("ready")
    for person in (ada, ben):
        await person.shows("matched")
    server.service.lobby.join = join  # type: ignore[method-assign]
    for person in (ada, ben):
        await person.do("start")
    for person in (ada, ben):
        await person.shows("waiting")
        await person.until(lambda person=person: person.lobby.get("nothing_left"))
    assert len(await live_each.dialogs()) == 1


async def test_start_and_stop_waiting_at_once_lead_to_one_of_the_two(live_each: Live) -> None:
    await live_each.begin(items=2, study={"lobby_limit_s": 0.0})
    for _ in range(3):
        ada, ben = await live_each.people(2)
        await live_each.match(ada, ben)
        await ada.do("start")
        await asyncio.gather(ben.ask("start"), ada.ask("stop_waiting"))
        await ada.until(lambda ada=ada: ada.stage in ("talking", "released"))
        if ada.stage == "talking":
            await ben.shows("talking")
            await ben.do("leave")
            await ada.do("leave")
        else:
            await ben.shows("waiting")
            await ben.do("leave")
    for row in await live_each.rows_of("arrivals"):
        assert row.status == "released"
    assert len(await live_each.releases()) == 6


async def test_finding_nothing_is_paid_once_and_not_again_and_again(live: Live) -> None:
    await live.begin(items=0)
    (ada,) = await live.people(1)
    await ada.do("ready")
    await ada.do("stop_waiting")
    await ada.shows("released")
    assert ada.released["release"] == "study_full"
    assert not ada.released["another"]
    answer = await ada.arrive(another=True)
    assert answer["code"] == "cap_reached"
