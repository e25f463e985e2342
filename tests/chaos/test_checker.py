"""The checker finds each kind of violation in a fabricated run, and nothing where all is well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from tests.chaos.checker import check, report
from tests.chaos.evidence import Row
from tests.chaos.story import Story, all_is_well
from tests.chaos.violations import Rule

Spoil = Callable[[Story], object]


def _event(story: Story, dialog: str, seq: int) -> Row:
    return story.row("events", dialog_id=dialog, seq=seq)


def _said(story: Story, key: str) -> Row:
    (found,) = (row for row in story.tables["events"] if row["data"].get("key") == key)
    return found


def _remove(story: Story, table: str, row: Row) -> None:
    story.tables[table].remove(row)


def _before_the_end(story: Story, number: int, lines: int) -> None:
    """Move the last lines of a log to where the worker has not been released yet."""
    log = story.logs[number]
    end = log.index(story.lines(number, "released")[0])
    story.logs[number] = [*log[:end], *log[-lines:], *log[end:-lines]]


# --- Messages ------------------------------------------------------------------------------


def acknowledged_only(story: Story) -> None:
    story.note(1, "sent", key="key-nowhere", text="is it day", attempt=1)
    story.note(1, "acked", key="key-nowhere", seq=22)
    _before_the_end(story, 1, 2)


def acknowledged_under_another_number(story: Story) -> None:
    story.lines(1, "acked")[4]["seq"] += 2


def stored_with_another_text(story: Story) -> None:
    _said(story, "key-d1-questioner-3")["data"]["parts"] = [{"text": "something else"}]


def stored_in_anothers_name(story: Story) -> None:
    line = story.lines(2, "sent")[3]
    story.logs[2].remove(line)
    story.logs[1].insert(5, {**line})


def stored_twice(story: Story) -> None:
    copy = {**_said(story, "key-d1-questioner-3")["data"]}
    _said(story, "key-d1-questioner-4")["data"] = copy


def done_twice_by_the_team(story: Story) -> None:
    story.row("events", dialog_id="d3", kind="extended")["data"]["key"] = "team-1"


def stored_out_of_order(story: Story) -> None:
    first, second = story.lines(3, "sent")[6:8]
    first["key"], second["key"] = second["key"], first["key"]
    first["text"], second["text"] = second["text"], first["text"]


def stored_and_never_sent(story: Story) -> None:
    for line in story.lines(1, "sent", key="key-d1-questioner-7"):
        story.logs[1].remove(line)
    for line in story.lines(1, "acked", key="key-d1-questioner-7"):
        story.logs[1].remove(line)


def stored_and_refused(story: Story) -> None:
    line = story.lines(2, "acked")[0]
    line.update(event="refused", code="not_your_turn", error="")


def stored_abuse(story: Story) -> None:
    key = "key-d1-questioner-7"
    story.note(1, "abused", name="message", what="forged role", key=key)
    _before_the_end(story, 1, 1)


# --- What pages were shown -----------------------------------------------------------------


def shown_another_text(story: Story) -> None:
    story.lines(2, "frame", name="message")[6]["parts"] = [{"text": "something else"}]


def shown_another_order(story: Story) -> None:
    first, second = story.lines(2, "frame", name="message")[6:8]
    first["seq"], second["seq"] = second["seq"], first["seq"]


def shown_what_is_not_stored(story: Story) -> None:
    story.lines(2, "frame", name="message")[-1]["seq"] = 99


def shown_the_partners_key(story: Story) -> None:
    frame = story.lines(2, "frame", name="message")[6]
    frame["key"] = _event(story, "d1", frame["seq"])["data"]["key"]


def shown_another_phase(story: Story) -> None:
    story.lines(3, "frame", name="phase")[0]["phase"] = "ended"


def shown_a_partner_who_is_there(story: Story) -> None:
    story.lines(3, "frame", name="partner")[0]["present"] = True


def shown_what_the_team_wrote_to_the_other(story: Story) -> None:
    (line,) = story.lines(7, "frame", name="phase")
    line.update(name="told", text="please go on")
    del line["phase"]


def not_shown_what_the_team_wrote(story: Story) -> None:
    (line,) = story.lines(8, "frame", name="told")
    line.update(name="phase", phase="paired")
    del line["text"]


def shown_other_words_of_the_team(story: Story) -> None:
    story.lines(8, "frame", name="told")[0]["text"] = "please stop"


def not_shown_more_time(story: Story) -> None:
    (line,) = story.lines(7, "frame", name="extended")
    line.update(name="phase", phase="paired")
    del line["turn_ends_at"]


def told_too_late(story: Story) -> None:
    (line,) = story.lines(8, "frame", name="told")
    line["at"] += 6.0
    for later in story.logs[8][story.logs[8].index(line) + 1 :]:
        later["at"] += 6.0


def shown_never(story: Story) -> None:
    story.logs[2].remove(story.lines(2, "frame", name="message")[3])


def shown_late(story: Story) -> None:
    story.lines(2, "frame", name="message")[3]["at"] += 6.0


# --- The end -------------------------------------------------------------------------------


def told_another_code(story: Story) -> None:
    story.lines(1, "released")[0]["code"] = "code-of-nobody"


def told_another_amount(story: Story) -> None:
    story.lines(3, "released")[0]["cents"] = 0


def never_told(story: Story) -> None:
    del story.logs[1][-2:]


def found_by_the_page(story: Story) -> None:
    story.note(1, "violation", what="message 3 is now another one")
    _before_the_end(story, 1, 1)


def not_numbered_without_a_gap(story: Story) -> None:
    _event(story, "d2", 5)["seq"] = 50


def not_opened(story: Story) -> None:
    _event(story, "d2", 1)["kind"] = "returned"


def two_questions_at_once(story: Story) -> None:
    _event(story, "d1", 3)["data"]["role"] = "questioner"


def said_without_a_seat(story: Story) -> None:
    _event(story, "d2", 12)["data"]["role"] = "answerer"


def said_too_much(story: Story) -> None:
    ended = story.tables["events"].pop()
    story.say("d2", "questioner", 11)
    _before_the_end(story, 3, 3)
    story.tables["events"].append({**ended, "seq": ended["seq"] + 1})


def not_ended(story: Story) -> None:
    _remove(story, "events", story.tables["events"][-1])


def ended_otherwise(story: Story) -> None:
    story.row("dialogs", id="d1")["outcome"] = "abandoned"


def ended_and_went_on(story: Story) -> None:
    story.event("d1", "away", role="answerer")


def complete_after_too_little(story: Story) -> None:
    story.tables["events"] = [
        row for row in story.tables["events"] if (row["dialog_id"], row["seq"]) != ("d1", 21)
    ]
    _event(story, "d1", 22)["seq"] = 21


def not_released(story: Story) -> None:
    _remove(story, "releases", story.row("releases", arrival_id="a4"))


def released_twice(story: Story) -> None:
    story.tables["releases"].append({**story.row("releases", arrival_id="a1"), "code": "other"})


def released_and_still_seated(story: Story) -> None:
    story.row("arrivals", id="a1")["status"] = "seated"


def released_by_two_events(story: Story) -> None:
    settlement = {"arrival_id": "a4", "release": "finished_alone", "cents": 150}
    story.tables["events"][-1]["data"]["settlements"].append(settlement)


def one_code_for_two(story: Story) -> None:
    story.row("releases", arrival_id="a4")["code"] = "code-5"


def no_code(story: Story) -> None:
    story.row("releases", arrival_id="a4")["code"] = ""


def survivor_not_paid(story: Story) -> None:
    _remove(story, "ledger", story.row("ledger", arrival_id="a3"))


def leaver_paid(story: Story) -> None:
    story.tables["ledger"].append({"arrival_id": "a4", "reason": "dialog", "cents": 150})


def paid_otherwise_than_the_team_decided(story: Story) -> None:
    story.row("ledger", arrival_id="a7")["cents"] = 150


def paid_more_than_the_team_may_decide(story: Story) -> None:
    ended = story.row("events", dialog_id="d3", kind="ended")
    ended["data"]["settlements"][0]["cents"] = 9000
    story.row("ledger", arrival_id="a7")["cents"] = 9000


def paid_twice(story: Story) -> None:
    story.tables["ledger"].append({"arrival_id": "a1", "reason": "waiting", "cents": 10})


def wait_underpaid(story: Story) -> None:
    story.row("ledger", arrival_id="a5")["cents"] = 10


def paid_for_nothing(story: Story) -> None:
    story.tables["ledger"].append({"arrival_id": "a9", "reason": "dialog", "cents": 150})


def relaunch_missing(story: Story) -> None:
    story.tables["relaunches"].clear()


def relaunch_doubled(story: Story) -> None:
    story.tables["relaunches"] *= 2


def relaunch_of_a_complete_dialog(story: Story) -> None:
    story.tables["relaunches"].append({"dialog_id": "d1", "item_id": "i1"})


def place_used_twice(story: Story) -> None:
    story.row("dialogs", id="d2")["item_id"] = "i1"


def place_that_is_none(story: Story) -> None:
    story.row("dialogs", id="d2")["place"] = 2


def with_oneself(story: Story) -> None:
    story.row("seats", dialog_id="d1", role="answerer")["worker_id"] = "w1"


def in_two_dialogs_at_once(story: Story) -> None:
    story.row("seats", dialog_id="d2", role="answerer")["worker_id"] = "w1"


def about_a_known_item(story: Story) -> None:
    story.item("i3")
    story.row("dialogs", id="d2")["item_id"] = "i1"
    story.row("dialogs", id="d2")["place"] = 1
    story.row("seats", dialog_id="d2", role="answerer")["worker_id"] = "w2"


def seat_still_held(story: Story) -> None:
    story.row("seats", dialog_id="d1", role="answerer")["status"] = "live"


def seat_taken_from_who_stayed(story: Story) -> None:
    (line,) = story.lines(4, "vanished")
    line.update(event="disconnected")
    story.leave(4)


def sent_away_too_early(story: Story) -> None:
    story.person(6)
    story.release(6, "study_full", 0)
    story.leave(6)


SPOILED: Final[tuple[tuple[Spoil, Rule], ...]] = (
    (acknowledged_only, Rule.LOST),
    (acknowledged_under_another_number, Rule.MISPLACED),
    (stored_with_another_text, Rule.MISPLACED),
    (stored_in_anothers_name, Rule.PHANTOM),
    (stored_twice, Rule.DOUBLED),
    (done_twice_by_the_team, Rule.DOUBLED),
    (stored_out_of_order, Rule.REORDERED),
    (stored_and_never_sent, Rule.PHANTOM),
    (stored_and_refused, Rule.PHANTOM),
    (stored_abuse, Rule.PHANTOM),
    (shown_another_text, Rule.DISAGREES),
    (shown_another_order, Rule.DISAGREES),
    (shown_what_is_not_stored, Rule.DISAGREES),
    (shown_the_partners_key, Rule.DISAGREES),
    (shown_another_phase, Rule.DISAGREES),
    (shown_a_partner_who_is_there, Rule.DISAGREES),
    (shown_what_the_team_wrote_to_the_other, Rule.DISAGREES),
    (not_shown_what_the_team_wrote, Rule.DISAGREES),
    (shown_other_words_of_the_team, Rule.DISAGREES),
    (not_shown_more_time, Rule.DISAGREES),
    (told_too_late, Rule.UNDELIVERED),
    (shown_never, Rule.UNDELIVERED),
    (shown_late, Rule.UNDELIVERED),
    (told_another_code, Rule.MISINFORMED),
    (told_another_amount, Rule.MISINFORMED),
    (never_told, Rule.UNFINISHED),
    (found_by_the_page, Rule.PAGE),
    (not_numbered_without_a_gap, Rule.NUMBERING),
    (not_opened, Rule.NUMBERING),
    (two_questions_at_once, Rule.TURNS),
    (said_without_a_seat, Rule.TURNS),
    (said_too_much, Rule.TURNS),
    (not_ended, Rule.ENDING),
    (ended_otherwise, Rule.ENDING),
    (ended_and_went_on, Rule.ENDING),
    (complete_after_too_little, Rule.ENDING),
    (not_released, Rule.RELEASE),
    (released_twice, Rule.RELEASE),
    (released_and_still_seated, Rule.RELEASE),
    (released_by_two_events, Rule.RELEASE),
    (one_code_for_two, Rule.CODE),
    (no_code, Rule.CODE),
    (survivor_not_paid, Rule.LEDGER),
    (leaver_paid, Rule.LEDGER),
    (paid_otherwise_than_the_team_decided, Rule.LEDGER),
    (paid_more_than_the_team_may_decide, Rule.LEDGER),
    (paid_twice, Rule.LEDGER),
    (wait_underpaid, Rule.LEDGER),
    (paid_for_nothing, Rule.LEDGER),
    (relaunch_missing, Rule.RELAUNCH),
    (relaunch_doubled, Rule.RELAUNCH),
    (relaunch_of_a_complete_dialog, Rule.RELAUNCH),
    (place_used_twice, Rule.PLACE),
    (place_that_is_none, Rule.PLACE),
    (with_oneself, Rule.SEAT),
    (in_two_dialogs_at_once, Rule.SEAT),
    (about_a_known_item, Rule.SEAT),
    (seat_still_held, Rule.SEAT),
    (seat_taken_from_who_stayed, Rule.UNFAIR),
    (sent_away_too_early, Rule.TURNED_OUT),
)


def test_nothing_is_found_where_all_is_well() -> None:
    evidence = all_is_well().evidence()
    violations = check(evidence)
    assert not violations, report(evidence, violations)


@pytest.mark.parametrize(("spoil", "rule"), SPOILED, ids=[spoil.__name__ for spoil, _ in SPOILED])
def test_a_violation_is_found(spoil: Spoil, rule: Rule) -> None:
    story = all_is_well()
    spoil(story)
    evidence = story.evidence()
    violations = check(evidence)
    assert rule in {violation.rule for violation in violations}
    assert rule.name in report(evidence, violations)


def test_every_rule_has_a_violation_that_it_finds() -> None:
    assert {rule for _, rule in SPOILED} == set(Rule)


@pytest.mark.parametrize("excuse", ["outage", "disconnected"])
def test_a_late_message_is_excused(excuse: str) -> None:
    """By a database that could not answer, and by a page that was not connected."""
    story = all_is_well()
    frame = story.lines(2, "frame", name="message")[3]
    said_at = frame["at"]
    if excuse == "outage":
        story.outages.append((said_at, said_at + 5.0))
    else:
        gone = {**frame, "event": "disconnected", "at": said_at + 0.1}
        back = {**frame, "event": "connected", "at": said_at + 5.5}
        place = story.logs[2].index(frame)
        story.logs[2][place:place] = [gone, back]
    frame["at"] += 6.0
    assert not check(story.evidence())


def test_the_history_shows_both_sides_by_time() -> None:
    story = all_is_well()
    shown_another_text(story)
    evidence = story.evidence()
    lines = report(evidence, check(evidence)).splitlines()
    times = [float(line.split()[0]) for line in lines if line.startswith("  ") and "…" not in line]
    assert times == sorted(times)
    text = "\n".join(lines)
    for part in ("record      #8", "questioner  sent", "answerer    frame", "> "):
        assert part in text
