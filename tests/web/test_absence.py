"""Who leaves, is away or is silent; who is left alone; and what each is paid."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from chatserver.live.deadlines import Due
from dialogs.dialog import DeadlineKind
from dialogs.rules import Role
from pairing.keys import Keys
from tests.live import Live, Person, eventually, until

QUICK: dict[str, Any] = {"closed_s": 0.2, "heartbeat_s": 0.2}
"""A closed connection is soon noticed, silence is not."""

SILENCE: dict[str, Any] = {"presence_s": 1.0, "heartbeat_s": 0.2}


def ready_for_long(live: Live) -> None:
    """Let the servers fire deadlines at once, as those do that were healthy for a grace period."""
    for server in live.servers:
        server.service.health._ready_since = -1e9


async def ended(person: Person, release: str, cents: int, why: str | None = None) -> None:
    await person.shows("released")
    assert person.released["release"] == release
    assert person.released["cents"] == cents
    assert person.released["why"] == why
    assert len(person.released["code"]) == 14


# --- Leaving and being left ------------------------------------------------------------------


@pytest.mark.parametrize("leaver", [Role.QUESTIONER, Role.ANSWERER])
async def test_who_is_left_finishes_alone_and_is_paid_in_full(
    live_each: Live, leaver: Role
) -> None:
    asker, teller = await live_each.two(rules={"pair_again_below": 0})
    await live_each.converse(asker, teller, 4)
    leaving, staying = (asker, teller) if leaver is Role.QUESTIONER else (teller, asker)
    await leaving.do("leave", {"reason": "the door bell"})
    await ended(leaving, "left", 0, "leave")
    await staying.until(lambda: staying.phase == "solo")
    assert staying.partner["left"]
    assert not staying.dialog["may_pair_again"]
    assert staying.dialog["your_turn"]
    await live_each.alone(staying, 7)
    assert staying.stage == "talking"
    await live_each.alone(staying, 1)
    await ended(staying, "finished_alone", 150)
    assert staying.released["outcome"] == "solo"
    assert "error" in await staying.say("one more")
    assert await live_each.owed() == [150]
    # The leaver's own return changes nothing.
    await leaving.drop()
    await leaving.until(lambda: leaving.connected and leaving.connections == 2)
    await ended(leaving, "left", 0, "leave")


async def test_who_leaves_before_the_page_shows_the_dialog_has_left(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await live.begin()
    ada, ben = await live.people(2)
    await live.match(ada, ben)
    with monkeypatch.context() as patch:
        patch.setattr(server.service.screens, "refresh", lambda arrival_id: None)
        await ada.do("start")
        await ben.do("start")
        await ben.do("leave")
    await ended(ben, "left", 0, "leave")
    await ada.until(lambda: ada.phase == "solo")


async def test_outcome_and_release_are_separate_things(live_each: Live) -> None:
    """The survivor of a dialog of one message is not paid as if it were complete: the work is
    done alone first, and the dialog never counts as data."""
    asker, teller = await live_each.two(rules={"pair_again_below": 0}, items=1)
    await asker.say("is it a cat?")
    await asker.do("leave")
    await teller.until(lambda: teller.phase == "solo")
    assert await live_each.owed() == []
    assert len(await live_each.rows_of("relaunches")) == 1
    await live_each.alone(teller, 10)
    await ended(teller, "finished_alone", 150)
    (row,) = await live_each.rows_of("dialogs")
    assert row.outcome == "solo"
    assert await live_each.owed() == [150]


async def test_the_questioner_has_not_finished_before_the_last_answer(live_each: Live) -> None:
    asker, teller = await live_each.two()
    await live_each.converse(asker, teller, 19)
    assert asker.stage == teller.stage == "talking"
    assert (await asker.ask("finish", {"feedback": "done"}))["code"] == "not_now"
    (held,) = await live_each.dialogs()
    assert held.state.outcome is None
    await teller.say("message 20")
    for person in (asker, teller):
        await ended(person, "completed", 150)


async def test_only_complete_dialogs_count(live_each: Live) -> None:
    """Half a dialog, even one that lacks a single answer, leaves the place to be collected."""
    asker, teller = await live_each.two(items=1)
    await live_each.converse(asker, teller, 19)
    await teller.do("leave")
    # The questioner has sent ten: the dialog ends at once, paid in full.
    await ended(asker, "finished_alone", 150)
    await ended(teller, "left", 0, "leave")
    (row,) = await live_each.rows_of("dialogs")
    assert row.outcome == "solo"
    assert len(await live_each.rows_of("relaunches")) == 1
    # The place is free again for two other people, also after a look at the record.
    await live_each.servers[0].service.clockwork.sweep_once()
    await live_each.converse(*await live_each.pair(*await live_each.people(2)))
    outcomes = sorted(row.outcome for row in await live_each.rows_of("dialogs"))
    assert outcomes == ["complete", "solo"]


async def test_leaving_without_a_seat_returns_the_assignment(live: Live) -> None:
    await live.begin(items=0)
    ada, ben = await live.people(2)
    await ada.do("leave")
    await ended(ada, "returned", 0)
    await ben.do("ready")
    await ben.do("leave", {"reason": "no time"})
    await ended(ben, "returned", 0)
    assert await live.owed() == []


async def test_leaving_a_match_puts_the_partner_back_to_the_old_place(live: Live) -> None:
    await live.begin(items=1)
    ada, ben = await live.people(2)
    await live.match(ada, ben)
    await ada.do("leave")
    await ended(ada, "returned", 0)
    await ben.shows("waiting")
    await ben.until(lambda: ben.lobby["position"] == 1)
    (eve,) = await live.people(1)
    await live.pair(ben, eve)


async def test_leaving_alone_ends_the_dialog(live_each: Live) -> None:
    asker, teller = await live_each.two()
    await asker.do("leave")
    await teller.until(lambda: teller.phase == "solo")
    await live_each.alone(teller, 3)
    await teller.do("leave")
    await ended(teller, "left", 0, "leave")
    (row,) = await live_each.rows_of("dialogs")
    assert row.outcome == "abandoned"
    assert len(await live_each.rows_of("relaunches")) == 1


async def test_leaving_after_ten_messages_is_refused_since_nothing_can_be_lost(live: Live) -> None:
    asker, teller = await live.two()
    await live.converse(asker, teller, 19)
    assert (await asker.ask("leave", {"reason": ""}))["code"] == "all_sent"
    await teller.say("message 20")
    await ended(asker, "completed", 150)


async def test_leaving_twice_and_after_the_end_answers_like_the_first_time(live: Live) -> None:
    asker, teller = await live.two()
    await asker.do("leave")
    await asker.shows("released")
    await asker.do("leave")
    await teller.until(lambda: teller.phase == "solo")
    assert len(await live.happened("seat_lost")) == 1
    assert len(await live.releases()) == 1


# --- Away --------------------------------------------------------------------------------


async def test_a_lost_connection_starts_grace_and_a_return_in_time_ends_it(
    live_each: Live,
) -> None:
    asker, teller = await live_each.two(**QUICK)
    ready_for_long(live_each)
    await live_each.converse(asker, teller, 2)
    await teller.drop(comes_back=False)
    await asker.until(lambda: asker.partner["present"] is False)
    ends = asker.partner["grace_ends_at"]
    assert ends is not None
    await teller.come_back()
    await asker.until(lambda: asker.partner["present"] is True)
    assert asker.partner["grace_ends_at"] is None
    await live_each.converse(asker, teller)
    for person in (asker, teller):
        await ended(person, "completed", 150)
    assert [e.kind for e in (await live_each.dialogs())[0].events if e.kind != "said"] == [
        "opened",
        "away",
        "returned",
        "ended",
    ]


async def test_after_grace_the_seat_is_lost_and_a_late_return_changes_nothing(
    live_each: Live,
) -> None:
    asker, teller = await live_each.two(rules={"grace_s": 0.5}, **QUICK)
    await teller.drop(comes_back=False)
    await asker.until(lambda: asker.phase == "solo")
    assert asker.dialog["may_pair_again"]
    await teller.come_back()
    await ended(teller, "left", 0, "grace")
    (held,) = await live_each.dialogs()
    assert [e.kind for e in held.events] == ["opened", "away", "seat_lost"]


async def test_a_page_that_stops_answering_is_away_though_its_socket_is_open(live: Live) -> None:
    """A minimised tab whose timers sleep: grace first, and it catches up by itself."""
    asker, teller = await live.two(**SILENCE)
    ready_for_long(live)
    teller.answers_heartbeats = False
    await asker.until(lambda: asker.partner["present"] is False)
    assert teller.connected
    teller.takes_frames = False
    await asker.say("is it a cat?")
    await until(lambda: asker.texts == ["is it a cat?"])
    teller.takes_frames = True
    teller.wake()
    await asker.until(lambda: asker.partner["present"] is True)
    # The frame of the return shows the gap.
    await teller.reads("is it a cat?")
    assert teller.connections == 1


async def test_a_message_is_a_sign_of_life(live: Live) -> None:
    asker, teller = await live.two(**SILENCE)
    ready_for_long(live)
    asker.answers_heartbeats = False
    await teller.until(lambda: teller.partner["present"] is False)
    await asker.say("is it a cat?")
    await teller.until(lambda: teller.partner["present"] is True)


async def test_who_has_sent_ten_never_loses_the_seat(live_each: Live) -> None:
    asker, teller = await live_each.two(rules={"grace_s": 0.5}, **QUICK)
    other_asker, other_teller = await live_each.pair(*await live_each.people(2))
    await live_each.converse(asker, teller, 19)
    for person in (asker, other_teller):
        await person.drop(comes_back=False)
    # The other pair, cut at the same moment, shows when the time has come.
    await other_asker.until(lambda: other_asker.phase == "solo")
    await teller.say("message 20")
    await ended(teller, "completed", 150)
    await asker.come_back()
    await ended(asker, "completed", 150)
    assert len(await live_each.happened("seat_lost")) == 1


async def test_a_page_that_answers_is_not_away(live: Live) -> None:
    asker, teller = await live.two(**SILENCE)
    other_asker, other_teller = await live.pair(*await live.people(2))
    ready_for_long(live)
    other_teller.answers_heartbeats = False
    # The other pair, which is younger, shows when the time has come.
    await other_asker.until(lambda: other_asker.partner["present"] is False)
    assert len(await live.happened("away")) == 1
    assert not asker.seen("partner")
    assert not teller.seen("partner")


async def test_both_gone_ends_the_dialog(live_each: Live) -> None:
    asker, teller = await live_each.two(rules={"grace_s": 0.5}, items=1, **QUICK)
    for person in (asker, teller):
        await person.drop(comes_back=False)

    async def over() -> bool:
        (held,) = await live_each.dialogs()
        return held.state.outcome == "abandoned"

    await eventually(over)
    for person in (asker, teller):
        await person.come_back()
        await ended(person, "left", 0, "grace")
    # The place is free for others.
    await live_each.pair(*await live_each.people(2))


async def test_the_survivor_who_goes_too_loses_the_seat_by_silence(live: Live) -> None:
    asker, teller = await live.two(rules={"grace_s": 0.5, "turn_limit_s": 1.0}, **QUICK)
    await asker.do("leave")
    await teller.until(lambda: teller.phase == "solo")
    await ended(teller, "left", 0, "turn")
    (lost, last) = await live.happened("seat_lost")
    assert (lost.why, last.why) == ("leave", "turn")


# --- Time --------------------------------------------------------------------------------


async def test_who_does_not_write_in_the_turns_time_loses_the_seat(live_each: Live) -> None:
    asker, teller = await live_each.two(rules={"turn_limit_s": 1.0, "grace_s": 0.5})
    await ended(asker, "left", 0, "turn")
    await teller.until(lambda: teller.phase == "solo")
    (lost,) = await live_each.happened("seat_lost")
    assert (lost.role, lost.why) == ("questioner", "turn")


async def test_signs_of_typing_stretch_the_turn_and_not_for_ever(live: Live) -> None:
    limit = 1.0
    rules = {"turn_limit_s": limit, "turn_stretch": 3, "grace_s": 0.5}
    asker, teller = await live.two(rules=rules)
    (held,) = await live.dialogs()
    typing = asyncio.create_task(types(asker))
    await ended(asker, "left", 0, "turn")
    typing.cancel()
    (lost,) = await live.happened("seat_lost")
    assert lost.why == "turn"
    assert lost.at - held.state.opened_at >= 2 * limit
    assert lost.at - held.state.opened_at < 5 * limit
    await teller.until(lambda: teller.phase == "solo")


async def types(person: Person) -> None:
    """Type for ever, as the page tells it."""
    while person.stage == "talking":
        await person.tell("typing", {"on": True})
        await asyncio.sleep(0.1)


async def test_typing_of_the_other_person_stretches_nothing(live: Live) -> None:
    rules = {"turn_limit_s": 1.0, "turn_stretch": 3, "grace_s": 0.5}
    asker, teller = await live.two(rules=rules)
    (held,) = await live.dialogs()
    typing = asyncio.create_task(types(teller))
    await ended(asker, "left", 0, "turn")
    typing.cancel()
    (lost,) = await live.happened("seat_lost")
    assert lost.at - held.state.opened_at < 2.0


async def test_no_dialog_lasts_for_ever(live_each: Live) -> None:
    rules = {"dialog_limit_s": 1.5, "grace_s": 0.5}
    asker, teller = await live_each.two(rules=rules)
    typing = asyncio.create_task(types(asker))
    for person in (asker, teller):
        await ended(person, "ended_by_team", 150)
    typing.cancel()
    (row,) = await live_each.rows_of("dialogs")
    assert row.outcome == "abandoned"


async def test_a_stale_deadline_of_an_earlier_dialog_does_not_touch_the_next(
    live_each: Live,
) -> None:
    await live_each.begin(items=2, study={"repeat_partners": True})
    ada, ben = await live_each.people(2)
    await live_each.converse(*await live_each.pair(ada, ben))
    for person in (ada, ben):
        await person.shows("released")
        answer = await person.arrive(another=True)
        assert answer["status"] == 200
        await person.close()
        person.comes_back = True
        await person.connect()
    asker, teller = await live_each.pair(ada, ben)
    first, second = await live_each.dialogs()
    ready_for_long(live_each)
    old, new = first.state.dialog_id, second.state.dialog_id
    # And some of this dialog, but of an earlier turn or an absence that never was.
    await live_each.converse(asker, teller, 2)
    stale = [
        due.member()
        for due in (
            *(Due(DeadlineKind.PRESENCE, old, role, 1) for role in Role),
            *(Due(DeadlineKind.GRACE, old, role, 20) for role in Role),
            Due(DeadlineKind.TURN, old, Role.ANSWERER, 20),
            Due(DeadlineKind.LIMIT, old, None, 1),
            *(Due(DeadlineKind.TURN, new, role, 1) for role in Role),
            *(Due(DeadlineKind.GRACE, new, role, 1) for role in Role),
            Due(DeadlineKind.PRESENCE, new, Role.ANSWERER, 3),
            Due(DeadlineKind.LIMIT, new, None, 2),
            Due(DeadlineKind.LIMIT, "d_none", None, 1),
        )
    ]
    async with Redis.from_url(live_each.redis_url) as redis:
        key = Keys(live_each.study_id).deadlines
        await redis.zadd(key, dict.fromkeys(stale, 1.0))

        async def served() -> bool:
            left = {m.decode() for m in await redis.zrange(key, 0, -1)}
            return not left & set(stale)

        await eventually(served)
    await live_each.converse(asker, teller)
    for person in (asker, teller):
        await ended(person, "completed", 150)
    assert not await live_each.happened("away")
    assert not await live_each.happened("seat_lost")


async def test_a_deadline_that_fires_twice_acts_once(live: Live) -> None:
    server = await live.begin(rules={"turn_limit_s": 0.8, "grace_s": 0.5})
    asker, _ = await live.pair(*await live.people(2))
    done = server.service.deadlines.done

    async def forgets(claim: Any) -> None:
        # As if the process had died after its commit: the deadline comes again.
        await server.service.deadlines.flushed()
        async with Redis.from_url(live.redis_url) as redis:
            if not served:
                await redis.zadd(Keys(live.study_id).deadlines, {claim.due.member(): 1})
            else:
                await done(claim)
        served.append(claim.due)

    served: list[Due] = []
    server.service.deadlines.done = forgets  # type: ignore[method-assign]
    await ended(asker, "left", 0, "turn")
    await until(lambda: served and served.count(served[0]) == 2)
    lost = [e.role for e in await live.happened("seat_lost")]
    assert lost.count(Role.QUESTIONER) == 1
    assert len(await live.rows_of("relaunches")) == 1


# --- A new partner -----------------------------------------------------------------------------


async def test_a_survivor_may_be_paired_anew_and_comes_first(live_each: Live) -> None:
    await live_each.begin(items=3)
    ada, ben = await live_each.people(2)
    asker, teller = await live_each.pair(ada, ben)
    ready_at = {row.id: row.ready_at for row in await live_each.rows_of("arrivals")}
    await live_each.converse(asker, teller, 2)
    await asker.do("leave")
    await teller.until(lambda: teller.phase == "solo")
    assert teller.dialog["may_pair_again"]
    await teller.do("pair_again")
    await teller.shows("waiting")
    rows = {row.id: row for row in await live_each.rows_of("arrivals")}
    (again,) = [row for row in rows.values() if row.status == "waiting"]
    assert again.ready_at == ready_at[again.id]
    await teller.until(lambda: teller.lobby["position"] == 1)
    eve, max_ = await live_each.people(2)
    await eve.do("ready")
    await teller.shows("matched")
    await max_.do("ready")
    await max_.until(lambda: max_.stage == "waiting")
    for person in (teller, eve):
        await person.do("start")
    for person in (teller, eve):
        await person.shows("talking")
    pair = (teller, eve) if teller.role == "questioner" else (eve, teller)
    await live_each.converse(*pair)
    await ended(teller, "completed", 150)
    assert await live_each.owed() == [150, 150]
    dialogs = sorted(await live_each.rows_of("dialogs"), key=lambda row: row.opened_at)
    assert [row.outcome for row in dialogs] == ["abandoned", "complete"]
    assert dialogs[0].item_id != dialogs[1].item_id


async def test_pairing_anew_is_not_offered_after_three_rounds_or_to_a_pair(live: Live) -> None:
    asker, teller = await live.two()
    assert (await asker.ask("pair_again"))["code"] == "not_alone"
    await live.converse(asker, teller, 6)
    await asker.do("leave")
    await teller.until(lambda: teller.phase == "solo")
    assert not teller.dialog["may_pair_again"]
    assert (await teller.ask("pair_again"))["code"] == "not_alone"


# --- The end -------------------------------------------------------------------------------


async def test_the_end_is_the_same_whenever_the_link_is_opened_again(live_each: Live) -> None:
    asker, teller = await live_each.two()
    await live_each.converse(asker, teller)
    await asker.shows("released")
    code = asker.released["code"]
    await asker.do("finish", {"feedback": "it was fun\u0000"})
    await asker.do("finish", {"feedback": "twice"})
    token = asker.token
    again = asker.another_tab()
    await again.arrive()
    await again.connect()
    assert again.released["code"] == code
    assert again.released["feedback_sent"]
    assert token
    assert len(await live_each.releases()) == 2


async def test_a_report_reaches_the_team_at_any_time(
    live: Live, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "duologue.live")
    await live.begin()
    (ada,) = await live.people(1)
    await ada.do("report", {"text": "the image is upside down"})
    (ben,) = await live.people(1)
    await live.pair(ada, ben)
    await ada.do("report", {"text": "my partner is rude\u0000"})
    texts = {row.text for row in await live.rows_of("reports")}
    assert texts == {"the image is upside down", "my partner is rude"}
    assert "error" in await ada.ask("report", {"text": ""})
    assert "error" in await ada.ask("report", {"text": " \u0000 "})
    assert len(await live.rows_of("reports")) == 2
    assert "error" in await ada.ask("report", {"text": "x" * 5001})
    # The log tells of them, and neither who nor what.
    logged = [r.getMessage() for r in caplog.records if "reported" in r.getMessage()]
    assert logged == ["a worker reported a problem: `duologue reports` shows it"] * 2
