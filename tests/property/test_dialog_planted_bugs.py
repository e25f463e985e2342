"""The properties find faults: each of these, planted alone, breaks the one that it should.

A fault is a piece of the rules' own source, replaced. One that no longer applies fails loudly:
write it anew for the new source.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from dialogs import dialog, events, limits, rules, state
from dialogs.record import decisions
from tests.plays import (
    Must,
    Violated,
    all_rules,
    check_ends_by_team,
    check_ends_with_people,
    check_ends_without_people,
    check_every_scene,
    check_play,
    check_text,
    ends_by_team,
    happenings,
    people_actions,
    texts,
)


@dataclass(frozen=True)
class Fault:
    """In the function `where` of `module`, `old` becomes `new`; then one of `breaks` is broken.

    `also` is a second replacement, for what two checks prevent.
    """

    name: str
    module: ModuleType
    where: str
    old: str
    new: str
    breaks: set[Must]
    also: tuple[str, str] = ("", "")


FAULTS = [
    Fault(
        "the turn is not checked",
        dialog,
        "_say",
        "if state.turn is not say.role:",
        "if False:",
        {Must.TURNS},
    ),
    Fault(
        "a repeated key is looked up after the turn",
        dialog,
        "_say",
        "if (seq := state.keys.get((say.role, say.key))) is not None:",
        "if state.turn is say.role and (seq := state.keys.get((say.role, say.key))) is not None:",
        {Must.KEYS},
    ),
    Fault(
        "a repeated key is not looked up",
        dialog,
        "_say",
        "return Known(seq)",
        "pass",
        {Must.KEYS},
    ),
    Fault(
        "one person's key hides another's message",
        dialog,
        "_say",
        "state.keys.get((say.role, say.key))",
        "next((n for (_, key), n in state.keys.items() if key == say.key), None)",
        {Must.KEYS},
    ),
    Fault(
        "a repeated key gets the newest number",
        dialog,
        "_say",
        "return Known(seq)",
        "return Known(state.seq)",
        {Must.KEYS},
    ),
    Fault(
        "complete one message early",
        rules,
        "Rules.messages",
        "return self.rounds * len(self.kind.turns)",
        "return self.rounds * len(self.kind.turns) - 1",
        {Must.COMPLETE},
    ),
    Fault(
        "complete after the last question",
        dialog,
        "_say",
        "len(state.messages) + 1 == state.rules.messages",
        "len(state.messages) + 2 >= state.rules.messages",
        {Must.COMPLETE},
    ),
    Fault(
        "a dialog that a person left counts as complete",
        dialog,
        "_say",
        "_end(state, Outcome.SOLO,",
        "_end(state, Outcome.COMPLETE,",
        {Must.COMPLETE, Must.PAID},
    ),
    Fault(
        "the survivor is paid as complete at once",
        dialog,
        "_lose",
        "if any(not state.done(s) for s in others):",
        "if False:",
        {Must.ENDS, Must.PAID},
    ),
    Fault(
        "the survivor who has sent all is kept waiting",
        dialog,
        "_lose",
        "if any(not state.done(s) for s in others):",
        "if others:",
        {Must.ENDS},
    ),
    Fault(
        "the survivor is not paid",
        rules,
        "Pay.for_release",
        "case Release.COMPLETED | Release.FINISHED_ALONE | Release.ENDED_BY_TEAM:",
        "case Release.COMPLETED | Release.ENDED_BY_TEAM:",
        {Must.PAID},
    ),
    Fault(
        "a lost seat may go on writing",
        dialog,
        "_say",
        "if seat.gone:",
        "if False:",
        {Must.ALONE},
        also=("if state.turn is not say.role:", "if not seat.gone and state.turn is not say.role:"),
    ),
    Fault(
        "the seat is lost after all was sent",
        dialog,
        "_leave",
        "if state.done(seat):",
        "if False:",
        {Must.DONE},
    ),
    Fault(
        "absence takes the seat of who has sent all",
        dialog,
        "deadlines",
        "if seat.gone or state.done(seat):",
        "if seat.gone:",
        {Must.ARMED, Must.DONE},
    ),
    Fault(
        "the limit takes the pay of who has sent all",
        dialog,
        "_end_by_limit",
        "if seat.away_seq is not None and not state.done(seat)",
        "if seat.away_seq is not None",
        {Must.DONE},
    ),
    Fault(
        "a stale deadline fires",
        dialog,
        "_expire",
        "(d.kind, d.role, d.seq) == (expired.kind, expired.role, expired.seq)",
        "(d.kind, d.role) == (expired.kind, expired.role)",
        {Must.STALE},
    ),
    Fault(
        "a deadline of the other person fires",
        dialog,
        "_expire",
        "(d.kind, d.role, d.seq) == (expired.kind, expired.role, expired.seq)",
        "(d.kind, d.seq) == (expired.kind, expired.seq)",
        {Must.STALE, Must.ARMED},
    ),
    Fault(
        "grace runs on after the return",
        state,
        "evolve",
        "replace(state.seats[role], away_seq=None, away_at=None, here_seq=seq)",
        "replace(state.seats[role], here_seq=seq)",
        {Must.ARMED, Must.KEPT, Must.STALE},
    ),
    Fault(
        "the presence deadline is not armed anew after the return",
        state,
        "evolve",
        "away_at=None, here_seq=seq)",
        "away_at=None)",
        {Must.STALE},
    ),
    Fault(
        "the turn's limit runs on after a message",
        state,
        "evolve",
        "turn_seq=seq,\n                turn_at=at,\n                rounds_paired",
        "turn_seq=state.turn_seq,\n                turn_at=at,\n                rounds_paired",
        {Must.STALE},
    ),
    Fault(
        "the deadline of a turn is forgotten",
        dialog,
        "deadlines",
        "armed.append(Deadline(DeadlineKind.TURN,",
        "str(Deadline(DeadlineKind.TURN,",
        {Must.ARMED},
    ),
    Fault(
        "no deadline in solo",
        dialog,
        "deadlines",
        "if state.phase is Phase.ENDED:",
        "if state.phase is not Phase.PAIRED:",
        {Must.ARMED},
    ),
    Fault(
        "the deadline of a dialog moves with each message",
        dialog,
        "deadlines",
        "Deadline(DeadlineKind.LIMIT, None, state.limit_seq,",
        "Deadline(DeadlineKind.LIMIT, None, state.turn_seq,",
        {Must.ENDS, Must.STALE, Must.LONGER},
    ),
    Fault(
        "the limit ends nothing",
        dialog,
        "_expire",
        "return (_end_by_limit(state, now),)",
        "return ()",
        {Must.ARMED},
    ),
    Fault(
        "a leaver is settled once more at the end",
        dialog,
        "_lose",
        "{s.role: Release.FINISHED_ALONE for s in others}",
        "{s.role: Release.FINISHED_ALONE for s in state.seats.values()}",
        {Must.SETTLED, Must.ROWS},
    ),
    Fault(
        "a lost seat is settled once more by the limit",
        dialog,
        "_end_by_limit",
        "if not seat.gone",
        "if True",
        {Must.SETTLED, Must.ROWS},
    ),
    Fault(
        "who is paired anew is settled as well",
        dialog,
        "_pair_again",
        "Ended(now, Outcome.ABANDONED, (), waiting)",
        "_end(state, Outcome.ABANDONED, {role: Release.ENDED_BY_TEAM}, now)"
        " if not waiting else Ended(now, Outcome.ABANDONED,"
        " (_settle(state, role, Release.LEFT),), waiting)",
        {Must.SETTLED, Must.ROWS},
    ),
    Fault(
        "a late survivor may be paired anew",
        state,
        "DialogState.may_pair_again",
        "self.rounds_paired < self.rules.pair_again_below",
        "True",
        {Must.AGAIN},
    ),
    Fault(
        "rounds alone count as rounds together",
        state,
        "evolve",
        "rounds_paired=rounds if paired else state.rounds_paired",
        "rounds_paired=rounds",
        {Must.AGAIN},
    ),
    Fault(
        "a complete dialog is relaunched",
        decisions,
        "_leaves_incomplete",
        "and not (isinstance(event, Ended) and event.outcome is Outcome.COMPLETE)",
        "",
        {Must.RELAUNCH},
    ),
    Fault(
        "relaunched at the loss and again at the end",
        decisions,
        "_leaves_incomplete",
        "before.phase is Phase.PAIRED",
        "before.phase is not Phase.ENDED",
        {Must.RELAUNCH},
    ),
    Fault(
        "what both of them left is not relaunched",
        decisions,
        "_leaves_incomplete",
        "before.phase is Phase.PAIRED",
        "before.phase is Phase.PAIRED and not isinstance(event, Ended)",
        {Must.RELAUNCH},
    ),
    Fault(
        "no ledger row for who finishes alone",
        decisions,
        "_release_rows",
        "if cents > 0:",
        "if cents > 0 and release is not Release.FINISHED_ALONE:",
        {Must.ROWS},
    ),
    Fault(
        "the place is not given back with the loss",
        decisions,
        "happenings",
        "if phase is Phase.SOLO:",
        "if False:",
        {Must.ROWS},
    ),
    Fault(
        "what the team wrote twice is there twice",
        dialog,
        "_steer",
        "return Known(seq)",
        "pass",
        {Must.TEAM},
    ),
    Fault(
        "the keys of what the team wrote are forgotten",
        state,
        "evolve",
        "told=told, team_keys={**state.team_keys, key: seq}",
        "told=told",
        {Must.TEAM},
    ),
    Fault(
        "the keys of the team are forgotten with the next message",
        state,
        "evolve",
        "team_keys=state.team_keys,\n                ended",
        "ended",
        {Must.TEAM},
    ),
    Fault(
        "the key of an end is forgotten",
        state,
        "evolve",
        "{**state.team_keys, key: seq} if key else state.team_keys",
        "state.team_keys",
        {Must.TEAM},
    ),
    Fault(
        "a key of the team is known for whatever it is used",
        dialog,
        "_steer",
        "not isinstance(command, _kind_of(state, seq))",
        "False",
        {Must.TEAM},
    ),
    Fault(
        "the team writes after the end",
        dialog,
        "_steer",
        "if state.phase is Phase.ENDED:",
        "if state.phase is Phase.ENDED and not isinstance(command, Tell):",
        {Must.TEAM},
    ),
    Fault(
        "the team ends what has ended",
        dialog,
        "_steer",
        "if state.phase is Phase.ENDED:",
        "if state.phase is Phase.ENDED and isinstance(command, Tell):",
        {Must.TEAM},
    ),
    Fault(
        "the team writes to somebody who has gone",
        dialog,
        "_tell",
        "if tell.to is not None and state.seats[tell.to].gone:",
        "if False:",
        {Must.TEAM},
    ),
    Fault(
        "the team's words are not looked at",
        dialog,
        "_tell",
        "clean_text(tell.text)",
        '"".join(filter(str.isprintable, tell.text))',
        {Must.TEAM, Must.TEXT},
    ),
    Fault(
        "a message of the team begins the turn anew",
        state,
        "evolve",
        "told=told, team_keys",
        "told=told, turn_seq=seq, team_keys",
        {Must.STALE},
    ),
    Fault(
        "more time than an hour",
        dialog,
        "_extend",
        "if not 0 < extend.by_s <= MOST_EXTENSION_S:",
        "if not 0 < extend.by_s:",
        {Must.LONGER},
    ),
    Fault(
        "less than no more time",
        dialog,
        "_extend",
        "if not 0 < extend.by_s <= MOST_EXTENSION_S:",
        "if extend.by_s > MOST_EXTENSION_S:",
        {Must.LONGER},
    ),
    Fault(
        "more time than the assignments have",
        dialog,
        "_extend",
        "if extend.by_s > left:",
        "if False:",
        {Must.LONGER},
    ),
    Fault(
        "the limit stays where it was",
        state,
        "_extended",
        "limit_s = max(state.limit_at - event.at, 0.0) + event.by_s",
        "limit_s = max(state.limit_at - event.at, 0.0)",
        {Must.LONGER, Must.ENDS, Must.PAID},
    ),
    Fault(
        "a limit that has passed eats up the time given",
        state,
        "_extended",
        "max(state.limit_at - event.at, 0.0)",
        "(state.limit_at - event.at)",
        {Must.LONGER},
    ),
    Fault(
        "the old limit still ends the dialog",
        state,
        "_extended",
        "limit_seq=seq,",
        "",
        {Must.LONGER, Must.STALE},
    ),
    Fault(
        "the turn goes on in the time given",
        state,
        "_extended",
        "turn_seq=seq,\n        turn_at=event.at,",
        "",
        {Must.LONGER, Must.STALE},
    ),
    Fault(
        "the grace period goes on in the time given",
        state,
        "_extended",
        "seats={**state.seats, **anew},",
        "",
        {Must.LONGER, Must.STALE},
    ),
    Fault(
        "time given makes everybody absent",
        state,
        "_extended",
        "if s.away_seq is not None and not s.gone",
        "if not s.gone",
        {Must.ARMED},
    ),
    Fault(
        "the team decides that somebody who has sent all gets less",
        dialog,
        "_end_by_team",
        "if cents < full and state.done(state.seats[role]):",
        "if False:",
        {Must.DECIDED},
    ),
    Fault(
        "the team decides on more than the full pay",
        dialog,
        "_end_by_team",
        "if not 0 <= cents <= full:",
        "if cents < 0:",
        {Must.DECIDED},
    ),
    Fault(
        "the team decides on the pay of somebody who has left",
        dialog,
        "_end_by_team",
        "if state.seats[role].gone:",
        "if False:",
        {Must.DECIDED},
    ),
    Fault(
        "who has left is settled once more by the team",
        dialog,
        "_end_by_team",
        "if not seat.gone",
        "if True",
        {Must.DECIDED, Must.SETTLED},
    ),
    Fault(
        "what the team decided is not paid",
        dialog,
        "_end_by_team",
        "end.cents.get(seat.role, full)",
        "full",
        {Must.DECIDED},
    ),
    Fault(
        "what the team ended is not relaunched",
        decisions,
        "_leaves_incomplete",
        "before.phase is Phase.PAIRED",
        "before.phase is Phase.PAIRED and not after.ended_by_team",
        {Must.RELAUNCH},
    ),
    Fault(
        "an end is read back without its reason",
        events,
        "_ended",
        'd.get("reason", "")',
        '""',
        {Must.JSON},
    ),
    Fault(
        "what was told to one is read back as told to both",
        events,
        "_told",
        'Role(d["to"]) if d["to"] else None',
        "None",
        {Must.JSON},
    ),
    Fault(
        "a text is cut",
        limits,
        "clean_text",
        "return text",
        "return text[:255]",
        {Must.TEXT},
    ),
    Fault(
        "a text may be longer than the limit",
        limits,
        "clean_text",
        "if len(text) > MAX_CHARACTERS:",
        "if len(text) > MAX_CHARACTERS + 1:",
        {Must.TEXT},
    ),
    Fault(
        "half a surrogate is let through",
        limits,
        "clean_text",
        "unicodedata.category(c) in _FORBIDDEN",
        'unicodedata.category(c) == "Cc"',
        {Must.TEXT},
    ),
    Fault(
        "a message is read back without its meta",
        events,
        "_said",
        'Meta(**d["meta"])',
        "Meta()",
        {Must.JSON},
    ),
    Fault(
        "the rules are read back as today's",
        rules,
        "Rules.from_json",
        'cls(**{**data, "pay": Pay(**data["pay"])})',
        'cls(**{**data, "pay": Pay(), "rounds": 10})',
        {Must.JSON},
    ),
]


def plant(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    """Puts the fault in place wherever the function is known by name."""
    owner: Any = fault.module
    *path, name = fault.where.split(".")
    for step in path:
        owner = getattr(owner, step)
    sound = vars(owner)[name]
    source = textwrap.dedent(inspect.getsource(getattr(sound, "fget", sound)))
    assert source.count(fault.old) == 1, f"{fault.name!r} no longer applies: write it anew"
    made: dict[str, Any] = {}
    planted = source.replace(fault.old, fault.new)
    if fault.also[0]:
        assert planted.count(fault.also[0]) == 1, f"{fault.name!r} no longer applies: write it anew"
        planted = planted.replace(*fault.also)
    exec(planted, vars(fault.module), made)
    faulty = made[name]
    if path:
        monkeypatch.setattr(owner, name, faulty)
        return
    assert isinstance(faulty, FunctionType)
    for module in [m for n, m in sys.modules.items() if n.split(".")[0] == "dialogs"]:
        for known, value in list(vars(module).items()):
            if value is sound:
                monkeypatch.setattr(module, known, faulty)
    for known, reader in events._READERS.items():
        if reader is sound:
            monkeypatch.setitem(events._READERS, known, faulty)  # type: ignore[arg-type]


TRIES = 5
"""Searches for what no scene brings about: each finds nearly every fault, but not all."""


def try_everything() -> None:
    """All properties of dialogs, for whatever inputs they may fail with."""
    searching = settings(
        database=None,
        deadline=None,
        max_examples=600,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    orders = st.lists(st.integers(0, 5), min_size=4, max_size=4)
    properties: list[Callable[[], None]] = [
        settings(searching, max_examples=100)(given(texts)(check_text)),
        searching(given(all_rules, happenings)(check_play)),
        searching(given(all_rules, happenings, orders)(check_ends_without_people)),
        settings(searching, max_examples=300)(
            given(all_rules, happenings, ends_by_team)(check_ends_by_team)
        ),
        settings(searching, max_examples=60)(
            given(all_rules, st.lists(people_actions, max_size=8))(check_ends_with_people)
        ),
    ]
    check_every_scene()
    for chance in range(TRIES):
        for check in properties:
            seed(chance)(check)()


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name.replace(" ", "-") for fault in FAULTS])
def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    with monkeypatch.context() as planted:
        plant(planted, fault)
        with pytest.raises(Violated) as found:
            try_everything()
    assert found.value.must in fault.breaks
