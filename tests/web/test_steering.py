"""What the team does in a dialog that runs, as the people's pages see it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from chatserver.live.dialogs import Busy
from chatserver.live.steering import HANDING_IN_S, Steering
from chatserver.server import Server
from dialogs.dialog import DeadlineKind, Expire, Known, Refusal, RefusalCode
from dialogs.record.errors import Overloaded
from dialogs.rules import Role
from tests.live import FRAMES, Live, Person, until

Q, A = Role.QUESTIONER, Role.ANSWERER
QUICK: dict[str, Any] = {"closed_s": 0.2, "heartbeat_s": 0.2}


def steering(server: Server) -> Steering:
    return server.service.steering


async def dialog_id(live: Live) -> str:
    (row,) = await live.rows_of("dialogs")
    return str(row.id)


async def steered(live: Live, **begin: Any) -> tuple[Steering, str, Person, Person]:
    """Two people in a dialog, and the team's hand in it."""
    asker, teller = await live.two(**begin)
    return steering(live.servers[0]), await dialog_id(live), asker, teller


def words(person: Person) -> list[str]:
    """What the team wrote, as the page has it."""
    return [person.told[n]["text"] for n in sorted(person.told)]


def everything(person: Person) -> str:
    """All that ever came to a page."""
    return repr(person.log) + repr(person.state)


def frames_of(person: Person) -> list[dict[str, Any]]:
    """The frames that came as they happened."""
    return [payload for name, payload in person.log if name in FRAMES]


async def kinds(live: Live) -> list[str]:
    (held,) = await live.dialogs()
    return [event.kind for event in held.events]


def refusal(answer: Known | Refusal) -> tuple[RefusalCode, str]:
    assert isinstance(answer, Refusal), answer
    return answer.code, answer.text


# --- Telling ---------------------------------------------------------------------------------


async def test_a_message_of_the_team_reaches_its_addressee_and_nobody_else(
    live_each: Live,
) -> None:
    team, dialog, asker, teller = await steered(live_each)
    await asker.say("is it a cat?")
    assert await team.tell(dialog, A, "  For the answerer only.  ", "t1") == Known(3)
    assert await team.tell(dialog, None, "For both of you.", "t2") == Known(4)
    await asker.until(lambda: words(asker) == ["For both of you."])
    await teller.until(lambda: words(teller) == ["For the answerer only.", "For both of you."])
    # Turns, rounds and positions go on as if nothing had been.
    await live_each.converse(asker, teller, 4)
    assert [frame["seq"] for frame in frames_of(asker)] == [2, 3, 4, 5, 6, 7]
    assert [frame["seq"] for frame in frames_of(teller)] == [2, 3, 4, 5, 6, 7]
    await live_each.converse(asker, teller)
    for person in (asker, teller):
        await person.shows("released")
        assert person.released["release"] == "completed"
    assert "For the answerer only." not in everything(asker)
    assert await live_each.owed() == [150, 150]


async def test_it_is_there_after_a_reload_and_after_a_gap(live: Live) -> None:
    team, dialog, asker, teller = await steered(live)
    await team.tell(dialog, A, "before the reload", "t1")
    await teller.drop(comes_back=False)
    await team.tell(dialog, A, "meanwhile", "t2")
    await teller.come_back()
    assert words(teller) == ["before the reload", "meanwhile"]
    teller.takes_frames = False
    await team.tell(dialog, A, "missed", "t3")
    await until(lambda: asker.seq == 4)
    teller.takes_frames = True
    await asker.say("is it a cat?")
    # The message's frame shows the gap.
    await teller.until(lambda: words(teller) == ["before the reload", "meanwhile", "missed"])
    await teller.reads("is it a cat?")
    for after in range(1, 5):
        frames = (await asker.ask("sync", {"after_seq": after}))["frames"]
        assert "missed" not in repr(frames)
        assert [frame["seq"] for frame in frames] == list(range(after + 1, 6))
    await asker.drop()
    await asker.until(lambda: asker.connections == 2 and asker.connected)
    assert asker.dialog["told"] == []
    assert "meanwhile" not in everything(asker)


async def test_a_message_of_the_team_is_done_once(live_each: Live) -> None:
    team, dialog, asker, teller = await steered(live_each)
    same = [team.tell(dialog, None, "once", "t1") for _ in range(5)]
    assert await asyncio.gather(*same) == [Known(2)] * 5
    assert await team.tell(dialog, A, "another text under the same key", "t1") == Known(2)
    await live_each.converse(asker, teller, 2)
    assert words(asker) == words(teller) == ["once"]
    assert (await kinds(live_each)).count("told") == 1


async def test_a_key_is_for_one_thing_only(live: Live) -> None:
    team, dialog, asker, _ = await steered(live)
    refused = (RefusalCode.NOT_POSSIBLE, "This was asked before, and for something else.")
    assert await team.tell(dialog, None, "Hello.", "k1") == Known(2)
    assert await team.extend(dialog, 60.0, "k2") == Known(3)
    assert refusal(await team.end(dialog, "", {}, "k1")) == refused
    assert refusal(await team.end(dialog, "", {}, "k2")) == refused
    assert refusal(await team.extend(dialog, 60.0, "k1")) == refused
    assert refusal(await team.tell(dialog, None, "Hello.", "k2")) == refused
    await asker.say("is it a cat?")
    assert await team.end(dialog, "", {}, "k3") == Known(5)
    assert refusal(await team.tell(dialog, None, "Hello.", "k3")) == refused
    # The same once more is done, also when all is over.
    assert await team.tell(dialog, None, "Hello.", "k1") == Known(2)
    assert await team.extend(dialog, 60.0, "k2") == Known(3)
    assert await team.end(dialog, "", {}, "k3") == Known(5)


async def test_the_team_cannot_write_to_who_is_gone_nor_write_anything(live: Live) -> None:
    team, dialog, asker, teller = await steered(live)
    assert refusal(await team.tell(dialog, A, "two\nlines", "t1"))[0] is RefusalCode.BAD_TEXT
    assert refusal(await team.tell(dialog, A, "x" * 501, "t1"))[0] is RefusalCode.BAD_TEXT
    await teller.do("leave")
    await asker.until(lambda: asker.phase == "solo")
    code, text = refusal(await team.tell(dialog, A, "are you there?", "t1"))
    assert (code, text) == (RefusalCode.SEAT_LOST, "The answerer has left this dialog.")
    assert isinstance(await team.tell(dialog, None, "you are alone now", "t2"), Known)
    await asker.until(lambda: words(asker) == ["you are alone now"])
    await teller.shows("released")
    assert "alone now" not in everything(teller)
    await live.alone(asker, 10)
    await asker.shows("released")
    assert refusal(await team.tell(dialog, Q, "late", "t3"))[0] is RefusalCode.DIALOG_ENDED
    assert await team.tell(dialog, None, "you are alone now", "t2") == Known(3)
    # The conversation on the last page has it where it was.
    assert [each["text"] for each in asker.dialog["told"]] == ["you are alone now"]


async def test_an_unknown_dialog_is_none(live: Live) -> None:
    server = await live.begin()
    team = steering(server)
    for action in (
        team.tell("d-none", None, "hello", "t"),
        team.extend("d-none", 60.0, "t"),
        team.end("d-none", "", {}, "t"),
    ):
        with pytest.raises(LookupError):
            await action


async def test_a_dialog_of_another_study_is_none_of_this_one(live: Live) -> None:
    _, dialog, _, _ = await steered(live)
    service = live.servers[0].service
    study = replace(live.config.study, id="another")
    foreign = Steering(service.record, service.dialogs, study, service.door)
    with pytest.raises(LookupError):
        await foreign.tell(dialog, None, "hello", "t")
    assert await kinds(live) == ["opened"]


async def test_while_nothing_can_be_stored_nothing_is_told(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    team, dialog, asker, teller = await steered(live)

    async def full(*_: Any) -> None:
        raise Overloaded("too many wait")

    record = live.servers[0].service.record
    for owner, name in ((record.writer, "commit"), (record, "read")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, full)
            with pytest.raises(Busy):
                await team.tell(dialog, None, "hello", "t1")
    assert await team.tell(dialog, None, "hello", "t1") == Known(2)
    for person in (asker, teller):
        await person.until(lambda p=person: words(p) == ["hello"])


async def test_the_team_may_ask_another_process_than_that_of_the_pages(
    live_postgres: Live,
) -> None:
    one = await live_postgres.begin()
    two, aside = await live_postgres.serve(), await live_postgres.serve()
    (ada,) = await live_postgres.people(1, one.url)
    (ben,) = await live_postgres.people(1, two.url)
    asker, teller = await live_postgres.pair(ada, ben)
    team, dialog = steering(aside), await dialog_id(live_postgres)
    assert await team.tell(dialog, A, "for one", "t1") == Known(2)
    assert await team.tell(dialog, None, "for both", "t2") == Known(3)
    assert await steering(one).tell(dialog, None, "for both", "t2") == Known(3)
    await team.extend(dialog, 60.0, "t3")
    await teller.until(lambda: words(teller) == ["for one", "for both"])
    for person in (asker, teller):
        await person.until(lambda p=person: p.dialog["extended"] == [4])
    # Also where fan-out brings nothing.
    for server in (one, two, aside):
        server.service.fanout.tell = lambda kind, note: None  # type: ignore[method-assign]
    await team.tell(dialog, Q, "by the record", "t4")
    await asker.until(lambda: words(asker) == ["for both", "by the record"])
    await team.end(dialog, "enough", {}, "t5")
    for person in (asker, teller):
        await person.shows("released")
        assert person.released["reason"] == "enough"
    assert "for one" not in everything(asker)
    assert "by the record" not in everything(teller)


# --- More time -------------------------------------------------------------------------------


async def test_more_time_begins_the_turn_anew_for_both_pages(live_each: Live) -> None:
    team, dialog, asker, teller = await steered(live_each)
    before = asker.dialog["turn_ends_at"]
    assert await team.extend(dialog, 300.0, "t1") == Known(2)
    assert await team.extend(dialog, 300.0, "t1") == Known(2)
    for person in (asker, teller):
        await person.until(lambda p=person: p.dialog["extended"] == [2])
        assert person.dialog["turn_ends_at"] > before
    await asker.drop()
    await asker.until(lambda: asker.connections == 2 and asker.connected)
    assert asker.dialog["extended"] == [2]
    assert asker.dialog["turn_ends_at"] == teller.dialog["turn_ends_at"]
    (held,) = await live_each.dialogs()
    assert held.state.limit_at == pytest.approx(held.state.opened_at + 3600.0 + 300.0)


async def test_more_time_keeps_the_dialog_from_its_limit(live_each: Live) -> None:
    rules = {"dialog_limit_s": 2.0, "grace_s": 0.5}
    team, dialog, asker, teller = await steered(live_each, rules=rules)
    # Another pair that got nothing shows when the time has come.
    await team.extend(dialog, 600.0, "t1")
    first, second = await live_each.pair(*await live_each.people(2))
    for person in (first, second):
        await person.shows("released")
    assert asker.stage == teller.stage == "talking"
    await live_each.converse(asker, teller)
    for person in (asker, teller):
        await person.shows("released")
        assert person.released["release"] == "completed"


async def test_the_new_limit_ends_it(live_each: Live) -> None:
    rules = {"dialog_limit_s": 1.0, "grace_s": 0.3}
    team, dialog, asker, teller = await steered(live_each, rules=rules)
    await team.extend(dialog, 1.0, "t1")
    for person in (asker, teller):
        await person.shows("released")
        assert person.released["release"] == "ended_by_team"
        assert not person.released["by_team"]
    (held,) = await live_each.dialogs()
    assert held.state.ended_at is not None
    assert held.state.ended_at >= held.state.opened_at + 2.0


async def test_deadlines_from_before_the_extension_change_nothing(live: Live) -> None:
    team, dialog, asker, teller = await steered(live, **QUICK)
    for server in live.servers:
        server.service.health._ready_since = -1e9
    await teller.drop(comes_back=False)
    await asker.until(lambda: asker.partner["present"] is False)
    ends = asker.partner["grace_ends_at"]
    await team.extend(dialog, 60.0, "t1")
    await asker.until(lambda: asker.dialog["extended"] == [3])
    assert asker.partner["present"] is False
    assert asker.partner["grace_ends_at"] > ends
    carry_out = live.servers[0].service.dialogs.carry_out
    for stale in (
        Expire(DeadlineKind.LIMIT, None, 1),
        Expire(DeadlineKind.TURN, Q, 1),
        Expire(DeadlineKind.GRACE, A, 2),
    ):
        assert await carry_out(dialog, stale) == ()
    await teller.come_back()
    await asker.until(lambda: asker.partner["present"] is True)
    assert await kinds(live) == ["opened", "away", "extended", "returned"]


async def test_more_time_than_the_assignments_have_is_refused(live: Live) -> None:
    # Of the hour and ten minutes of an assignment, five minutes are for handing in.
    limits = {"study": {"assignment_duration_s": 3600.0 + HANDING_IN_S + 305.0}}
    team, dialog, asker, _ = await steered(live, **limits)
    why = "more can be given: then the time for somebody's assignment runs out."
    code, text = refusal(await team.extend(dialog, 600.0, "t1"))
    assert (code, text) == (RefusalCode.NOT_POSSIBLE, f"At most 5 minutes {why}")
    assert await team.extend(dialog, 240.0, "t1") == Known(2)
    assert refusal(await team.extend(dialog, 240.0, "t2")) == (
        RefusalCode.NOT_POSSIBLE,
        f"At most 1 minute {why}",
    )
    assert await team.extend(dialog, 60.0, "t2") == Known(3)
    code, text = refusal(await team.extend(dialog, 60.0, "t3"))
    assert text == "No more time can be given: then the time for somebody's assignment runs out."
    # What was done is known, whatever is possible by now.
    assert await team.extend(dialog, 240.0, "t1") == Known(2)
    assert asker.stage == "talking"


async def test_of_many_extensions_at_once_no_more_are_done_than_fit(live_each: Live) -> None:
    limits = {"study": {"assignment_duration_s": 3600.0 + HANDING_IN_S + 150.0}}
    team, dialog, _, _ = await steered(live_each, **limits)
    answers = await asyncio.gather(*(team.extend(dialog, 60.0, f"t{n}") for n in range(6)))
    assert sum(isinstance(answer, Known) for answer in answers) == 2


@pytest.mark.parametrize("seconds", [0.0, -60.0, 3601.0, float("nan")])
async def test_an_extension_has_bounds(live: Live, seconds: float) -> None:
    team, dialog, _, _ = await steered(live)
    assert refusal(await team.extend(dialog, seconds, "t"))[0] is RefusalCode.NOT_POSSIBLE


# --- The end ---------------------------------------------------------------------------------


async def test_the_team_ends_a_dialog_and_decides_the_pay(live_each: Live) -> None:
    team, dialog, asker, teller = await steered(live_each, items=1)
    await live_each.converse(asker, teller, 5)
    answers = await asyncio.gather(
        *(team.end(dialog, " The picture is broken. ", {A: 40}, "t1") for _ in range(4))
    )
    assert answers == [Known(7)] * 4
    for person, cents in ((asker, 150), (teller, 40)):
        await person.shows("released")
        assert person.released["release"] == "ended_by_team"
        assert person.released["by_team"]
        assert person.released["reason"] == "The picture is broken."
        assert person.released["cents"] == cents
        assert len(person.dialog["messages"]) == 5
    assert await live_each.owed() == [40, 150]
    assert len(await live_each.rows_of("relaunches")) == 1
    (row,) = await live_each.rows_of("dialogs")
    assert row.outcome == "abandoned"
    # Later, by another key or another hand: nothing more is settled.
    assert await team.end(dialog, "", {A: 150}, "t1") == Known(7)
    assert refusal(await team.end(dialog, "", {}, "t2"))[0] is RefusalCode.DIALOG_ENDED
    assert refusal(await team.extend(dialog, 60.0, "t3"))[0] is RefusalCode.DIALOG_ENDED
    assert await live_each.owed() == [40, 150]
    # The place is free for others.
    await live_each.pair(*await live_each.people(2))


async def test_the_team_ends_what_one_has_left(live_each: Live) -> None:
    team, dialog, asker, teller = await steered(live_each)
    await teller.do("leave")
    await asker.until(lambda: asker.phase == "solo")
    code, _ = refusal(await team.end(dialog, "", {A: 100}, "t1"))
    assert code is RefusalCode.SEAT_LOST
    assert isinstance(await team.end(dialog, "", {Q: 0}, "t1"), Known)
    await asker.shows("released")
    assert (asker.released["release"], asker.released["cents"]) == ("ended_by_team", 0)
    assert asker.released["reason"] == ""
    await teller.shows("released")
    assert (teller.released["release"], teller.released["by_team"]) == ("left", False)
    assert await live_each.owed() == []
    assert len(await live_each.rows_of("relaunches")) == 1


async def test_who_has_sent_all_is_paid_in_full_whatever_the_team_says(live: Live) -> None:
    team, dialog, asker, teller = await steered(live)
    await live.converse(asker, teller, 19)
    code, text = refusal(await team.end(dialog, "", {Q: 149}, "t1"))
    assert code is RefusalCode.NOT_POSSIBLE
    assert "has sent all messages, and is paid in full: 150 cents" in text
    assert refusal(await team.end(dialog, "", {A: 151}, "t1"))[0] is RefusalCode.NOT_POSSIBLE
    assert refusal(await team.end(dialog, "a\nb", {}, "t1"))[0] is RefusalCode.BAD_TEXT
    assert isinstance(await team.end(dialog, "", {A: 10}, "t1"), Known)
    await asker.shows("released")
    assert await live.owed() == [10, 150]


async def test_the_last_message_and_the_end_by_the_team_settle_once(live_postgres: Live) -> None:
    """Two processes decide at once: one of them finds that it was too late."""
    one = await live_postgres.begin()
    two = await live_postgres.serve()
    (ada,) = await live_postgres.people(1, one.url)
    (ben,) = await live_postgres.people(1, two.url)
    asker, teller = await live_postgres.pair(ada, ben)
    await live_postgres.converse(asker, teller, 19)
    dialog = await dialog_id(live_postgres)
    ended, said = await asyncio.gather(
        steering(one).end(dialog, "", {A: 0}, "t1"), teller.say("message 20")
    )
    for person in (asker, teller):
        await person.shows("released")
    assert isinstance(ended, Known) != ("seq" in said)
    assert await live_postgres.owed() == ([150, 150] if "seq" in said else [150])
    (held,) = await live_postgres.dialogs()
    assert [e.kind for e in held.events].count("ended") == 1


async def test_a_page_that_was_away_learns_of_the_end_when_it_comes_back(live: Live) -> None:
    team, dialog, asker, teller = await steered(live)
    await teller.drop(comes_back=False)
    await team.end(dialog, "Thank you both.", {}, "t1")
    await asker.shows("released")
    await teller.come_back()
    await teller.shows("released")
    assert teller.released["reason"] == "Thank you both."
    assert teller.released["cents"] == 150
