"""Events are read back from JSON as they were written, also what earlier versions wrote."""

from __future__ import annotations

import math
import typing

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogs import events
from dialogs.events import (
    Away,
    Ended,
    Event,
    Extended,
    Meta,
    Opened,
    Part,
    Returned,
    Said,
    SeatLost,
    SeatTaken,
    Settlement,
    Told,
    UnknownEvent,
    from_json,
    to_json,
)
from dialogs.rules import Outcome, Pay, Phase, Release, Role, Rules, SeatEnd

texts = st.text(max_size=20)
times = st.floats(0, 4e9)
amounts = st.integers(0, 10**6)
all_rules = st.builds(
    Rules,
    protocol=st.sampled_from(["visdial", "visdial-blurred"]),
    rounds=st.integers(1, 50),
    grace_s=times,
    turn_limit_s=times,
    turn_stretch=st.integers(1, 9),
    dialog_limit_s=times,
    pair_again_below=st.integers(0, 9),
    pay=st.builds(Pay, texts, amounts, amounts, amounts),
)
roles = st.sampled_from(Role)
settlements = st.builds(Settlement, texts, st.sampled_from(Release), amounts)
all_events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        Opened,
        times,
        all_rules,
        texts,
        st.integers(1, 99),
        st.lists(st.builds(SeatTaken, roles, texts, texts), max_size=3).map(tuple),
    ),
    st.builds(
        Said,
        times,
        roles,
        texts,
        st.integers(1, 50),
        st.lists(st.builds(Part, texts), max_size=3).map(tuple),
        st.builds(Meta, st.booleans(), amounts, amounts),
    ),
    st.builds(Away, times, roles),
    st.builds(Returned, times, roles),
    st.builds(
        SeatLost, times, roles, st.sampled_from(SeatEnd), st.sampled_from(Phase), settlements
    ),
    st.builds(
        Ended,
        times,
        st.sampled_from(Outcome),
        st.lists(settlements, max_size=3).map(tuple),
        st.lists(texts, max_size=2).map(tuple),
        texts,
        texts,
    ),
    st.builds(Told, times, texts, st.none() | roles, texts),
    st.builds(Extended, times, texts, times),
)


@given(all_events)
def test_an_event_is_read_back_as_it_was_written(event: Event) -> None:
    stored = orjson.dumps(to_json(event)).decode()
    read = from_json(event.kind, event.at, orjson.loads(stored))
    assert read == event
    assert type(read) is type(event)
    assert hash(read) == hash(event), "a list in place of a tuple"


@given(all_events)
def test_the_payload_holds_plain_json_and_not_the_columns(event: Event) -> None:
    data = to_json(event)
    assert "at" not in data
    assert "kind" not in data
    assert orjson.loads(orjson.dumps(data)) == orjson.loads(orjson.dumps(data, default=None))


def test_every_kind_of_event_has_its_own_name_and_reader() -> None:
    kinds = [kind.kind for kind in typing.get_args(Event)]
    assert len(set(kinds)) == len(kinds)
    assert set(kinds) == set(events._READERS)


def test_an_unknown_kind_names_itself_and_says_what_to_do() -> None:
    with pytest.raises(UnknownEvent, match=r"'teleported'.*run the newer version"):
        from_json("teleported", 1.0, {})


def test_an_event_keeps_its_form() -> None:
    """What is in the records of running studies; a change here needs a reader for the old form."""
    rules = (
        '{"protocol": "visdial", "rounds": 10, "grace_s": 60.0, "turn_limit_s": 180.0, '
        '"turn_stretch": 3, "dialog_limit_s": 3600.0, "pair_again_below": 3, "pay": '
        '{"currency": "USD", "complete": 150, "left": 0, "waiting_per_minute": 10}}'
    )
    settlement = '{"arrival_id": "a1", "release": "left", "cents": 0}'
    written: list[tuple[Event, str]] = [
        (
            Opened(1.0, Rules(), "i1", 2, (SeatTaken(Role.QUESTIONER, "a1", "w1"),)),
            f'{{"rules": {rules}, "item_id": "i1", "place": 2, "seats": '
            '[{"role": "questioner", "arrival_id": "a1", "worker_id": "w1"}]}',
        ),
        (
            Said(1.0, Role.ANSWERER, "k1", 3, (Part("No."),), Meta(True, 5, 1)),
            '{"role": "answerer", "key": "k1", "round": 3, "parts": [{"text": "No."}], '
            '"meta": {"pasted": true, "composed_ms": 5, "edits": 1}}',
        ),
        (Away(1.0, Role.QUESTIONER), '{"role": "questioner"}'),
        (Returned(1.0, Role.QUESTIONER), '{"role": "questioner"}'),
        (
            SeatLost(
                1.0,
                Role.QUESTIONER,
                SeatEnd.GRACE,
                Phase.SOLO,
                Settlement("a1", Release.LEFT, 0),
            ),
            '{"role": "questioner", "why": "grace", "phase": "solo", '
            f'"settlement": {settlement}}}',
        ),
        (
            Ended(1.0, Outcome.ABANDONED, (Settlement("a1", Release.LEFT, 0),), ("a2",)),
            f'{{"outcome": "abandoned", "settlements": [{settlement}], "waiting_again": ["a2"], '
            '"reason": "", "key": ""}',
        ),
        (
            Told(1.0, "k1", Role.ANSWERER, "Hello."),
            '{"key": "k1", "to": "answerer", "text": "Hello."}',
        ),
        (Told(1.0, "k1", None, "Hello."), '{"key": "k1", "to": null, "text": "Hello."}'),
        (Extended(1.0, "k2", 300.0), '{"key": "k2", "by_s": 300.0}'),
    ]
    assert {type(event) for event, _ in written} == set(typing.get_args(Event))
    for event, form in written:
        assert orjson.loads(orjson.dumps(to_json(event))) == orjson.loads(form)
        assert from_json(event.kind, 1.0, orjson.loads(form)) == event


def test_an_end_from_before_the_team_could_end_a_dialog_is_read() -> None:
    data = {"outcome": "solo", "settlements": [], "waiting_again": []}
    assert from_json("ended", 1.0, data) == Ended(1.0, Outcome.SOLO, ())


@given(st.integers(0, 10**7).map(lambda ms: ms / 1000), st.integers(0, 100))
def test_every_begun_minute_of_waiting_is_paid(waited_s: float, cents: int) -> None:
    pay = Pay(waiting_per_minute=cents)
    # Never more than a whole dialog pays.
    assert pay.for_waiting(waited_s) == min(math.ceil(waited_s / 60) * cents, pay.complete)
    assert pay.for_waiting(-waited_s) == 0
