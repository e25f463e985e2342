"""What pages are sent frame by frame is what a whole state shows, to each of the two people."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given, settings

from chatserver.live.frames import frame
from chatserver.live.views import dialog_out
from chatserver.wire import Events
from dialogs.dialog import DeadlineKind, EndByTeam, Extend, Return, Tell
from dialogs.events import Extended, SeatLost, Told
from dialogs.record.queries import ItemRow
from dialogs.rules import Role, Rules
from dialogs.state import begin, evolve
from tests.plays import A, Action, Play, Q, all_rules, happenings, other, played

ITEM = ItemRow("item", "1", "a dog", "dog.jpg", "blurred.jpg", 8, 8, 1)


def frames_of(play: Play, reader: Role) -> list[tuple[str, dict[str, Any]]]:
    """Every frame that the reader's page would get, a state's view in front of it."""
    state, sent = begin(play.dialog_id, play.events[0]), []  # type: ignore[arg-type]
    for event in play.events[1:]:
        state = evolve(state, event)
        sent.append(frame(state, event, reader, play.now))
    return sent


@settings(max_examples=150)
@given(all_rules, happenings)
def test_frames_and_states_tell_the_same(rules: Rules, happening: list[Action]) -> None:
    play = played(rules, happening)
    for reader in (Q, A):
        frames = frames_of(play, reader)
        assert [payload["seq"] for _, payload in frames] == list(range(2, play.state.seq + 1))
        shown = dialog_out(play.state, reader, ITEM, "token")
        told = [payload for name, payload in frames if name == "told"]
        assert [each.model_dump() for each in shown.told] == told
        extended = [payload["seq"] for name, payload in frames if name == "extended"]
        assert shown.extended == extended
        assert len(shown.messages) == sum(name == "message" for name, _ in frames)
        # As the page reads the answer to `sync`: each frame is known by its fields.
        answer = {"seq": play.state.seq, "frames": [payload for _, payload in frames]}
        read = Events.model_validate_json(orjson.dumps(answer))
        assert [each.model_dump(mode="json") for each in read.frames] == answer["frames"]


@settings(max_examples=150)
@given(all_rules, happenings)
def test_what_the_team_writes_to_one_reaches_nobody_else(
    rules: Rules, happening: list[Action]
) -> None:
    play = played(rules, happening)
    gone: set[Role] = set()
    for n, event in play.numbered():
        if isinstance(event, SeatLost):
            gone.add(event.role)
        if not isinstance(event, Told):
            continue
        for reader in {Q, A} - gone:
            name, payload = frames_of(play, reader)[n - 2]
            mine = event.to in (None, reader)
            assert name == ("told" if mine else "phase")
            assert ("text" in payload) == mine
            told = dialog_out(play.state, reader, ITEM, "token").told
            assert (n in [each.seq for each in told]) == mine


def test_more_time_renews_what_both_count_down() -> None:
    play = Play(Rules())
    play.talk(1)
    play.fire(play.armed(DeadlineKind.PRESENCE, A))
    play.now += 20.0
    play.do(Extend("k", 120.0))
    assert isinstance(play.events[-1], Extended)
    for reader in (Q, A):
        name, payload = frames_of(play, reader)[-1]
        assert name == "extended"
        assert payload["turn_ends_at"] == play.now + 180.0
        assert payload["grace_ends_at"] == (play.now + 60.0 if reader is Q else None)
        shown = dialog_out(play.state, reader, ITEM, "token")
        assert (shown.turn_ends_at, shown.partner.grace_ends_at) == (
            payload["turn_ends_at"],
            payload["grace_ends_at"],
        )
    play.do(Return(A))
    assert dialog_out(play.state, other(A), ITEM, "token").partner.grace_ends_at is None


def test_the_team_changes_nothing_of_the_dialog_itself() -> None:
    """Turn, round and messages go on as if it had not been there."""
    quiet, steered = Play(Rules(rounds=3)), Play(Rules(rounds=3))
    for n in range(6):
        for play in (quiet, steered):
            if play is steered:
                play.do(Tell(f"t{n}", (None, Q, A)[n % 3], "Please go on."))
                play.do(Extend(f"e{n}", 60.0))
            play.talk(1)
        assert (quiet.state.turn, quiet.state.round) == (steered.state.turn, steered.state.round)
    said = [[m.said.text for m in play.state.messages] for play in (quiet, steered)]
    assert said[0] == said[1]
    assert quiet.state.outcome is steered.state.outcome
    assert not isinstance(steered.do(EndByTeam("end")), tuple)
