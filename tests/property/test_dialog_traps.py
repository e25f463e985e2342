"""What went wrong for others in the rules of a dialog, and what is right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogs import dialog
from dialogs.dialog import (
    DeadlineKind,
    Expire,
    Known,
    Leave,
    PairAgain,
    Refusal,
    RefusalCode,
    Return,
    Say,
)
from dialogs.events import Ended, Said, SeatLost, Settlement
from dialogs.record import decisions, tables
from dialogs.rules import Outcome, Pay, Release, Role, Rules
from tests.plays import A, Play, Q, other

both_roles = pytest.mark.parametrize("role", [Q, A])
both_protocols = pytest.mark.parametrize("protocol", ["visdial", "visdial-blurred"])


def refusal(answer: dialog.Answer) -> RefusalCode:
    assert isinstance(answer, Refusal), answer
    assert answer.text
    return answer.code


# --- A message that is sent twice is stored once ---------------------------------------------


@given(messages=st.integers(0, 19), after=st.sampled_from(["turns", "loss", "end"]))
def test_a_repeated_message_is_stored_once_and_keeps_its_number_in_every_phase(
    messages: int, after: str
) -> None:
    play = Play(Rules(rounds=10))
    play.talk(messages)
    role = play.turn()
    assert role is not None
    stored = play.state.seq + 1
    play.say(role, "Is it raining?", key="once")
    match after:
        case "loss" if not play.end():
            play.do(Leave(other(role)))
        case "end":
            play.talk(20)
        case _:
            play.talk(2)
    seq = play.state.seq
    assert play.say(role, "Is it raining?", key="once") == Known(stored)
    assert play.say(role, "another text under the same key", key="once") == Known(stored)
    assert play.state.seq == seq


def test_a_key_of_the_partner_is_no_key_of_ones_own() -> None:
    play = Play(Rules())
    play.say(Q, key="same")
    assert isinstance(play.say(A, key="same"), tuple)
    assert play.say(Q, key="same") == Known(2)
    assert play.say(A, key="same") == Known(3)


def test_a_refused_message_may_be_sent_again_with_its_key() -> None:
    play = Play(Rules())
    assert refusal(play.say(A, key="early")) is RefusalCode.NOT_YOUR_TURN
    play.say(Q)
    assert isinstance(play.say(A, key="early"), tuple)


# --- A deadline belongs to one dialog and one phase ------------------------------------------


@both_roles
@pytest.mark.parametrize("kind", list(DeadlineKind))
def test_a_stale_deadline_of_an_earlier_moment_takes_nobodys_seat(
    kind: DeadlineKind, role: Role
) -> None:
    play = Play(Rules())
    play.fire(play.armed(DeadlineKind.PRESENCE, Q))
    play.fire(play.armed(DeadlineKind.PRESENCE, A))
    before = dialog.deadlines(play.state)
    for back in (Q, A):
        play.do(Return(back))
    play.talk(1)
    for old in before:
        if old.kind is not DeadlineKind.LIMIT:
            assert play.do(Expire(old.kind, old.role, old.seq)) == ()
    for seq in range(play.state.seq + 2):
        expired = Expire(kind, role, seq)
        if expired not in [Expire(d.kind, d.role, d.seq) for d in dialog.deadlines(play.state)]:
            assert play.do(expired) == ()
    assert not play.losses()


def test_a_deadline_of_the_phase_before_does_not_end_the_survivors_turn() -> None:
    play = Play(Rules())
    play.talk(2)
    turn = play.armed(DeadlineKind.TURN, Q)
    play.do(Leave(A))
    assert play.do(Expire(turn.kind, turn.role, turn.seq)) == ()
    play.talk(1)
    assert play.sent(Q) == 2


def test_a_deadline_fires_once() -> None:
    play = Play(Rules())
    presence = play.armed(DeadlineKind.PRESENCE, Q)
    assert len(play.fire(presence)) == 1
    assert play.fire(presence) == ()


# --- Any text reaches the record or is refused ------------------------------------------------


@given(st.text(min_size=1, max_size=520))
def test_a_text_in_any_script_is_stored_whole_or_refused_with_a_reason(text: str) -> None:
    play = Play(Rules())
    answer = play.say(Q, text)
    if isinstance(answer, tuple):
        (said,) = answer
        assert isinstance(said, Said)
        row = decisions.event_row("dialog", 2, said)
        assert row["data"].encode().decode() == row["data"]
        assert said.text == text.strip()
    else:
        assert refusal(answer) is RefusalCode.BAD_TEXT
        assert play.turn() is Q


@pytest.mark.parametrize("text", ["x" * 256, "🐶" * 256, "a👩‍👩‍👧‍👦b", "שלום", "<b>bold</b>"])
def test_a_text_over_255_characters_or_with_emoji_is_stored_as_it_is(text: str) -> None:
    play = Play(Rules())
    play.say(Q, text)
    assert play.messages()[0][1].text == text


def test_a_message_without_parts_is_refused_as_empty() -> None:
    play = Play(Rules())
    assert refusal(play.do(Say(Q, "key-0", ()))) is RefusalCode.BAD_TEXT
    assert play.turn() is Q


# --- The server enforces the rules, not the page ----------------------------------------------


@both_protocols
@pytest.mark.parametrize("messages", range(20))
def test_a_message_out_of_turn_is_refused(protocol: str, messages: int) -> None:
    play = Play(Rules(protocol=protocol))
    play.talk(messages)
    turn = play.turn()
    assert turn is not None
    seq = play.state.seq
    for _ in range(2):
        code = refusal(play.say(other(turn)))
        assert code in {RefusalCode.NOT_YOUR_TURN, RefusalCode.ALL_SENT}
    assert play.state.seq == seq


def test_nobody_writes_with_a_lost_seat_or_after_the_end() -> None:
    play = Play(Rules(rounds=2))
    play.do(Leave(Q))
    assert refusal(play.say(Q)) is RefusalCode.SEAT_LOST
    play.talk(2)
    assert play.end()
    assert refusal(play.say(A)) is RefusalCode.DIALOG_ENDED
    assert refusal(play.say(Q)) is RefusalCode.SEAT_LOST


def test_numbers_come_from_the_rules_not_from_the_sender() -> None:
    play = Play(Rules(rounds=3))
    play.talk(6)
    assert [(seq, said.round) for seq, said in play.messages()] == [
        (2, 1),
        (3, 1),
        (4, 2),
        (5, 2),
        (6, 3),
        (7, 3),
    ]


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&amp;", "' OR 1=1 --"]
)
def test_markup_is_text(text: str) -> None:
    play = Play(Rules())
    play.say(Q, text)
    assert play.messages()[0][1].text == text


# --- Complete means a message of each person in each round -------------------------------------


@both_protocols
@given(rounds=st.integers(1, 12))
def test_complete_means_every_question_and_every_answer(protocol: str, rounds: int) -> None:
    play = Play(Rules(protocol=protocol, rounds=rounds))
    play.talk(2 * rounds - 1)
    assert play.end() is None, "the last question is not answered yet"
    assert refusal(play.say(Q)) is RefusalCode.ALL_SENT
    assert refusal(play.do(Leave(Q))) is RefusalCode.ALL_SENT
    play.talk(1)
    ended = play.end()
    assert ended is not None
    assert ended.outcome is Outcome.COMPLETE
    assert {(s.release, s.cents) for s in ended.settlements} == {(Release.COMPLETED, 150)}


@both_roles
@given(messages=st.integers(0, 19))
def test_a_dialog_that_was_left_never_counts_as_complete(role: Role, messages: int) -> None:
    """Its place is given back and one relaunch is written, even at the last message."""
    play = Play(Rules())
    play.talk(messages)
    if play.done(role):
        return
    play.do(Leave(role))
    assert [row["place"] for name, row in play.rows if name == tables.relaunches.name] == [1]
    assert play.phase != "paired"
    play.talk(20)
    ended = play.end()
    assert ended is not None
    assert ended.outcome is Outcome.SOLO
    assert len([name for name, _ in play.rows if name == tables.relaunches.name]) == 1


# --- The survivor is paid for what the study file promises, and when it is done ----------------


@both_roles
def test_the_survivor_of_one_message_is_not_paid_as_complete_until_it_is_done(role: Role) -> None:
    play = Play(Rules(rounds=10, pay=Pay(complete=200, left=10)))
    play.talk(1)
    (lost,) = play.do(Leave(other(role)))
    assert isinstance(lost, SeatLost)
    assert lost.settlement == Settlement(f"arrival-{other(role)[0]}", Release.LEFT, 10)
    play.talk(10 - play.sent(role) - 1)
    assert play.end() is None
    play.talk(1)
    ended = play.end()
    assert ended is not None
    assert ended.outcome is Outcome.SOLO
    assert ended.settlements == (Settlement(f"arrival-{role[0]}", Release.FINISHED_ALONE, 200),)


@both_roles
def test_a_survivor_who_leaves_too_is_not_paid_for_a_dialog(role: Role) -> None:
    play = Play(Rules(rounds=10))
    play.talk(4)
    play.do(Leave(other(role)))
    play.stay_away(role)
    ended = play.end()
    assert ended is not None
    assert ended.outcome is Outcome.ABANDONED
    assert {s.release for s in play.settlements()} == {Release.LEFT}


def test_the_last_answer_missing_the_questioner_is_paid_in_full() -> None:
    play = Play(Rules())
    play.talk(19)
    play.stay_away(A)
    ended = play.end()
    assert ended is not None
    assert ended.outcome is Outcome.SOLO
    assert ended.settlements == (Settlement("arrival-q", Release.FINISHED_ALONE, 150),)


@both_roles
def test_a_survivor_of_few_rounds_may_wait_for_a_new_partner(role: Role) -> None:
    play = Play(Rules(pair_again_below=3))
    play.talk(5)
    play.do(Leave(other(role)))
    (ended,) = play.do(PairAgain(role))
    assert isinstance(ended, Ended)
    assert ended.waiting_again == (f"arrival-{role[0]}",)
    late = Play(Rules(pair_again_below=3))
    late.talk(6)
    late.do(Leave(other(role)))
    assert refusal(late.do(PairAgain(role))) is RefusalCode.NOT_ALONE
