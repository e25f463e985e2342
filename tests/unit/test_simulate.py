"""Simulated workers, as far as they can be told without a server."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatserver.wire import (
    Dialog,
    Events,
    ExtendedOut,
    ItemOut,
    MessageOut,
    Partner,
    PhaseOut,
    Stage,
    State,
    ToldOut,
    WirePart,
)
from dialogs.limits import BadText, clean_text
from dialogs.rules import Phase, Role
from duologue.simulate import (
    BadCorpus,
    BadMix,
    Corpus,
    Entry,
    Kind,
    Mix,
    Pace,
    Plan,
    page,
    read_log,
)
from duologue.simulate.behaviours import BEHAVIOURS, Act, Flaky, Leaver, Spammer, TwoTabs
from duologue.simulate.builtin import DIALOGS
from duologue.simulate.log import WorkerLog
from duologue.simulate.market import progress_of
from duologue.simulate.summary import Spread, summarize
from duologue.simulate.view import Applied, Contradiction, View

# --- The mix -------------------------------------------------------------------------------


def test_a_mix_is_read_as_written() -> None:
    mix = Mix.parse("normal=16, leaver=2,flaky")
    assert mix.shares == {Kind.NORMAL: 16, Kind.LEAVER: 2, Kind.FLAKY: 1}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("norml=2", "there are normal, slow, leaver"),
        ("normal=2,normal=3", "named twice"),
        ("normal=-1", "whole number"),
        ("normal=1.5", "whole number"),
        ("normal=", "whole number"),
        ("", "no kind ''"),
        ("normal=0", "at least one"),
    ],
)
def test_a_bad_mix_is_one_clear_line(text: str, told: str) -> None:
    with pytest.raises(BadMix, match=told) as caught:
        Mix.parse(text)
    assert "\n" not in str(caught.value)


@given(
    st.dictionaries(st.sampled_from(Kind), st.integers(0, 20)).filter(lambda d: sum(d.values())),
    st.integers(1, 200),
    st.integers(),
)
def test_a_crowd_has_its_size_and_its_shares(
    shares: dict[Kind, int], workers: int, seed: int
) -> None:
    mix = Mix(shares)
    kinds = mix.kinds(workers, random.Random(seed))
    assert len(kinds) == workers
    total = sum(shares.values())
    for kind, number in Counter(kinds).items():
        assert abs(number - shares[kind] * workers / total) < 1
    if workers == total:
        assert Counter(kinds) == {kind: n for kind, n in shares.items() if n}


# --- Seeds and pace ------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_decisions() -> None:
    def decisions(seed: int) -> list[Any]:
        plan = Plan(workers=30, mix=Mix(dict.fromkeys(Kind, 1)), seed=seed)
        corpus = Corpus.builtin()
        found: list[Any] = [*plan.kinds()]
        for number in range(plan.workers):
            leaver = Leaver(plan.rng(number, "behaviour"), Pace(), corpus)
            found.append((leaver.after, leaver.how))
        return found

    assert decisions(7) == decisions(7)
    assert decisions(7) != decisions(8)


def test_workers_of_two_plans_are_different_people() -> None:
    one, two = Plan(workers=1), Plan(workers=1)
    assert one.worker_key(1) != two.worker_key(1)
    assert 16 <= len(one.worker_key(1)) <= 64


def test_links_carry_the_workers_number() -> None:
    plan = Plan(workers=1, name="crowd", query={"PROLIFIC_PID": "{worker}", "x": "y"})
    assert plan.query_of(3) == {"PROLIFIC_PID": "crowd-00003", "x": "y"}


def test_a_person_takes_about_eight_seconds_and_pace_zero_none() -> None:
    rng = random.Random(1)
    read, written = "there are two of them i think", "is there anyone else in the picture"
    times = sorted(sum(Pace().compose(read, written, rng)) for _ in range(1000))
    assert 5 < times[500] < 11
    assert times[0] > 1
    assert sum(Pace(0).compose(read, written, rng)) == Pace(0).press(rng) == 0


# --- The corpus ----------------------------------------------------------------------------


def visdial(path: Path, **changes: Any) -> Path:
    data = {
        "questions": ["is it sunny", "how many dogs are there", "", "x" * 501],
        "answers": ["yes", "2"],
        "dialogs": [
            {
                "image_id": 1,
                "caption": "two dogs on a beach",
                "dialog": [
                    {"question": 0, "answer": 0, "answer_options": [0], "gt_index": 0},
                    {"question": 1, "answer": 1},
                    {"question": 2, "answer": 1},
                    {"question": 3, "answer": 1},
                    {"question": 1},
                ],
            }
        ],
        **changes,
    }
    path.write_bytes(orjson.dumps({"version": "1.0", "split": "val2018", "data": data}))
    return path


def test_dialogs_come_from_a_visdial_file(tmp_path: Path) -> None:
    corpus = Corpus.load(visdial(tmp_path / "v.json"))
    (script,) = corpus.scripts
    assert script.rounds == (("is it sunny", "yes"), ("how many dogs are there", "2"))
    assert script.question(3) == "is it sunny"
    assert script.fact(2) == "how many dogs are there: 2"
    assert corpus.script("Two dogs, on a beach.", random.Random(1)) is script
    assert script.answer_to("How many dogs are there?") == "2"


def test_both_people_choose_the_same_script_for_a_caption() -> None:
    corpus = Corpus.builtin()
    for n in range(50):
        one = corpus.script(f"picture {n}", random.Random(1))
        assert one is corpus.script(f"picture {n}", random.Random(2))


def test_an_unforeseen_question_gets_an_answer_of_its_kind() -> None:
    corpus = Corpus.builtin()
    rng = random.Random(3)
    colors = {corpus.answer_to("What color is your bike?", rng) for _ in range(40)}
    asked = {a for _, rounds in DIALOGS for q, a in rounds if q.startswith("what color is")}
    assert colors <= asked
    assert corpus.answer_to("zzz", rng)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "not JSON"),
        (b"[]", "not a VisDial file"),
        (b'{"data": {"dialogs": [{"dialog": [{"question": 0, "answer": 0}]}]}}', "not a VisDial"),
        (b'{"data": {"questions": [], "answers": [], "dialogs": []}}', "no dialog"),
    ],
)
def test_a_file_that_is_no_corpus_is_one_clear_line(
    tmp_path: Path, content: bytes, told: str
) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    with pytest.raises(BadCorpus, match=told):
        Corpus.load(file)
    with pytest.raises(BadCorpus, match="No such file"):
        Corpus.load(tmp_path / "none.json")


def test_every_builtin_line_can_be_sent() -> None:
    for caption, rounds in DIALOGS:
        assert len(rounds) == 10, caption
        for text in (t for pair in rounds for t in pair):
            assert clean_text(text) == text


# --- The view ------------------------------------------------------------------------------


def said(seq: int, role: Role, text: str = "hello", key: str | None = None) -> MessageOut:
    parts = [WirePart(text=text)]
    return MessageOut(seq=seq, round=seq // 2, role=role, parts=parts, at=float(seq), key=key)


def talking(seq: int, messages: list[MessageOut], role: Role = Role.QUESTIONER) -> State:
    turn = Role.QUESTIONER if len(messages) % 2 == 0 else Role.ANSWERER
    dialog = Dialog(
        role=role,
        phase=Phase.PAIRED,
        item=ItemOut(caption="a cat", picture=None, blurred=False, width=None, height=None),
        round=1,
        rounds=10,
        turn=turn,
        your_turn=turn is role,
        sent=sum(m.role is role for m in messages),
        messages=messages,
        partner=Partner(present=True, left=False, grace_ends_at=None),
        turn_ends_at=None,
        told=[],
        extended=[],
        may_pair_again=False,
        pays=150,
        max_characters=500,
    )
    return State(stage=Stage.TALKING, seq=seq, now=0.0, dialog=dialog)


def test_frames_are_applied_in_order_old_ones_ignored_gaps_found() -> None:
    view = View()
    assert view.take_state(talking(1, [])) is Applied.NEW
    assert view.my_turn
    assert view.take_frame(said(3, Role.ANSWERER)) is Applied.GAP
    assert view.seq == 1
    assert view.take_frame(said(2, Role.QUESTIONER, "is it?", "key-0001")) is Applied.NEW
    assert view.turn is Role.ANSWERER
    assert view.take_frame(said(2, Role.QUESTIONER, "is it?", "key-0001")) is Applied.OLD
    answer = said(3, Role.ANSWERER, "yes")
    assert view.take_events(Events(seq=4, frames=[answer])) == [answer]
    assert (view.seq, view.sent, view.my_turn, view.partner_text) == (4, 1, True, "yes")


def test_what_the_team_does_moves_the_position_and_nothing_else() -> None:
    view = View()
    view.take_state(talking(1, []))
    told = ToldOut(seq=2, text="Please go on.", at=1.0)
    assert view.take_frame(told) is Applied.NEW
    more = ExtendedOut(seq=3, turn_ends_at=9.0, grace_ends_at=None, now=1.0)
    assert view.take_frame(more) is Applied.NEW
    assert (view.seq, view.my_turn, view.sent, view.messages) == (3, True, 0, {})
    assert view.told == {2: told}
    assert view.take_frame(said(4, Role.QUESTIONER, "is it?", "key-0001")) is Applied.NEW
    with pytest.raises(Contradiction, match="the team wrote"):
        view.take_state(talking(5, [said(4, Role.QUESTIONER, "is it?", "key-0001")]))


def test_alone_it_is_always_ones_own_turn_until_all_is_sent() -> None:
    view = View()
    view.take_state(talking(1, []))
    view.take_frame(PhaseOut(seq=2, phase=Phase.SOLO))
    for seq in range(3, 13):
        assert view.my_turn
        view.take_frame(said(seq, Role.QUESTIONER))
    assert not view.my_turn


def test_a_message_that_changes_or_goes_missing_is_found() -> None:
    view = View()
    view.take_state(talking(2, [said(2, Role.QUESTIONER, "one")]))
    with pytest.raises(Contradiction, match="another one"):
        view.take_frame(said(2, Role.QUESTIONER, "two"))
    with pytest.raises(Contradiction, match="missing"):
        view.take_state(talking(3, []))


def test_a_state_older_than_the_frames_changes_nothing() -> None:
    view = View()
    view.take_state(talking(1, []))
    view.take_frame(said(2, Role.QUESTIONER))
    assert view.take_state(talking(1, [])) is Applied.OLD
    assert view.seq == 2


def test_a_new_partner_means_a_new_dialog() -> None:
    view = View()
    view.take_state(talking(5, [said(2, Role.QUESTIONER)]))
    view.take_back_to_lobby()
    assert view.take_state(talking(1, [])) is Applied.NEW
    assert (view.dialogs, view.seq, view.messages) == (2, 1, {})


# --- Behaviours ----------------------------------------------------------------------------


def play(kind: Kind, seed: int) -> list[Act]:
    """The acts of a worker in a dialog where everything it says is accepted and answered."""
    behaviour = BEHAVIOURS[kind](random.Random(seed), Pace(0), Corpus.builtin())
    view = View()
    view.take_state(talking(1, []))
    acts: list[Act] = []
    while len(acts) < 200:
        step = behaviour.step(view)
        if step is None:
            break
        acts.append(step.act)
        if step.act in (Act.LEAVE, Act.VANISH):
            break
        if step.act is Act.SAY:
            assert clean_text(step.texts[0])
            view.take_frame(said(view.seq + 1, Role.QUESTIONER, step.texts[0]))
            view.take_frame(said(view.seq + 1, Role.ANSWERER))
    return acts


@pytest.mark.parametrize("seed", range(20))
def test_every_kind_does_what_it_is_for(seed: int) -> None:
    assert play(Kind.NORMAL, seed) == play(Kind.SLOW, seed) == [Act.SAY] * 10
    assert play(Kind.SILENT, seed) == []
    leaver = play(Kind.LEAVER, seed)
    assert leaver[-1] in (Act.LEAVE, Act.VANISH)
    assert leaver.count(Act.SAY) == Leaver(random.Random(seed), Pace(0), Corpus.builtin()).after
    tabs = play(Kind.TWO_TABS, seed)
    assert tabs.count(Act.SAY) == 10
    assert tabs.count(Act.SECOND_TAB) == 1
    for kind, most in ((Kind.FLAKY, Flaky.MOST), (Kind.SPAMMER, Spammer.MOST)):
        acts = play(kind, seed)
        assert acts.count(Act.SAY) == 10
        assert len(acts) - 10 <= most
    assert TwoTabs.kind is Kind.TWO_TABS


def test_leavers_leave_both_ways_and_at_any_message() -> None:
    rngs = (random.Random(seed) for seed in range(200))
    leavers = [Leaver(rng, Pace(0), Corpus.builtin()) for rng in rngs]
    assert {leaver.how for leaver in leavers} == {Act.LEAVE, Act.VANISH}
    assert {leaver.after for leaver in leavers} == set(range(10))


def test_what_must_be_refused_for_its_text_is_bad_text() -> None:
    from duologue.simulate.abuse import ABUSES

    by_text = {"too long", "empty", "only spaces", "control character", "zero byte", "line break"}
    for abuse in ABUSES:
        if abuse.what in by_text:
            with pytest.raises(BadText):
                clean_text(abuse.payload("k" * 8)["parts"][0]["text"])


# --- Logs and summaries --------------------------------------------------------------------


def test_a_log_is_the_same_in_memory_and_on_disk(tmp_path: Path) -> None:
    times = iter(range(100))
    log = WorkerLog(7, tmp_path, now=lambda: float(next(times)))
    log.arrival = 1
    log.write(Entry.SENT, key="k-1", text="is it sunny ☀", attempt=1)
    log.write(Entry.ACKED, key="k-1", seq=2)
    file = tmp_path / "worker-00007.jsonl"
    assert read_log(file) == log.lines
    with file.open("a") as torn:
        torn.write('{"at": 3.0, "ev')
    assert read_log(file) == log.lines
    assert log.acknowledged == {"k-1": 2}
    log.close()


def test_a_summary_counts_what_the_logs_say() -> None:
    logs = []
    for number in (1, 2):
        times = iter(range(10 * number, 100))
        log = WorkerLog(number, now=lambda times=times: float(next(times)))  # type: ignore[misc]
        log.arrival = log.dialog = 1
        log.write(Entry.CONNECTED, url="")
        log.write(Entry.ASKED, name="ready")
        log.write(Entry.STATE, stage="talking", seq=1)
        log.write(Entry.SENT, key=f"k{number}", text="hi", attempt=1)
        log.write(Entry.SENT, key=f"k{number}", text="hi", attempt=2)
        log.write(Entry.ACKED, key=f"k{number}", seq=2)
        log.write(Entry.ACKED, key=f"k{number}", seq=2)
        log.write(Entry.FRAME, name="message", seq=2, said_at=5.5)
        log.write(
            Entry.RELEASED, release="completed", outcome="complete", cents=150, code=str(number)
        )
        logs.append(log)
    summary = summarize(logs, 0, 12.0)
    assert summary.dialogs == {"complete": 1}
    assert (summary.complete, summary.messages, summary.resent, summary.cents) == (1, 2, 2, 300)
    assert summary.releases == {"completed": 2}
    assert summary.waits_s == Spread(1.0, 1.0, 1.0)
    assert summary.durations_s == Spread(6.0, 6.0, 6.0)
    assert "logs" not in summary.to_json()
    assert orjson.dumps(summary.to_json())


def test_a_leaver_may_learn_how_the_dialog_ended_and_nothing_else_may_change() -> None:
    left = {"release": "left", "outcome": None, "cents": 0, "code": "c"}
    assert not page._differs(left, {**left, "outcome": "abandoned"})
    assert page._differs({**left, "outcome": "solo"}, {**left, "outcome": "abandoned"})
    assert page._differs(left, {**left, "cents": 1})
    done = {**left, "release": "completed"}
    assert page._differs(done, {**done, "outcome": "complete"})


# --- Progress ------------------------------------------------------------------------------


def test_on_a_marketplace_what_is_done_never_becomes_less() -> None:
    def taken(*, talking: bool = False, done: bool = False) -> Any:
        return SimpleNamespace(engaged=SimpleNamespace(is_set=lambda: talking), finished=done)

    people: list[Any] = [SimpleNamespace(workers=[taken(done=True)]) for _ in range(2)]
    before = progress_of(people, 1.0)
    assert before.text().endswith("0 waiting, 0 talking, 2 HITs done by 2 people")
    people[0].workers.append(taken(talking=True))
    after = progress_of(people, 2.0)
    assert after.text().endswith("0 waiting, 1 talking, 2 HITs done by 2 people")
