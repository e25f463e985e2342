"""The commands of `duologue hits`: what they print, that they ask, and that they refuse clearly."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from dialogs.record.tables import (
    arrivals,
    assignments,
    hits,
    leases,
    ledger,
    payment_steps,
    studies,
)
from dialogs.rules import LedgerState
from duologue.hits.command import command
from duologue.scenes import write_scenes
from tests.desks import Desk
from tests.records import STUDY
from tests.recruiting import owes

COMMANDS = sorted(command.commands)


def become(connection: Connection, arrival: str, state: LedgerState, **more: object) -> None:
    row = ledger.update().where(ledger.c.arrival_id == arrival)
    connection.execute(row.values(state=state.value, **more))


# --- All of them -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_of_itself(name: str) -> None:
    words = command.commands[name].help or ""
    assert f"hits {name}" in words.split("Example:", 1)[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_speak_json(name: str) -> None:
    options = {option for each in command.commands[name].params for option in each.opts}
    assert "--json" in options


@pytest.mark.parametrize("name", ["approve", "pay", "bonus", "cancel", "reject", "launch",
                                  "reconcile", "review"])  # fmt: skip
def test_what_costs_asks_and_can_be_tried(name: str) -> None:
    options = {option for each in command.commands[name].params for option in each.opts}
    assert {"--yes", "--dry-run"} <= options


# --- A plain link ------------------------------------------------------------------------------


def test_status_and_cost(link: Desk) -> None:
    status = link.json("status", "--items")
    assert (status["missing"], status["wanted"], status["have"]) == (1, 2, 0)
    assert status["ledger"] == {"owed": {"payments": 2, "cents": 160}}
    assert status["items"] == [{"image_id": "image-dog", "wanted": 1, "complete": 0, "dialogs": []}]
    cost = link.json("cost")
    assert (cost["spent_cents"], cost["owed_cents"], cost["rest_cents"]) == (0, 160, 300)
    code, out, _ = link("status")
    assert code == 0
    assert "owed" in out


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("plan", "the recruiter 'link' posts no HITs; send people its link"),
        ("launch --yes", "posts no HITs"),
        ("reconcile --yes", "posts no HITs"),
        ("approve", "name arrivals, or say --all"),
        ("approve --all arrival-0", "name arrivals, or say --all"),
        ("approve nobody --yes", "nobody: has no payment that is owed or held or failed"),
        ("pay --all --yes", "the recruiter 'link' pays nobody; pay by your own means"),
        ("bonus arrival-0 0 --reason x --yes", "AMOUNT must be more than nothing"),
        ("bonus arrival-0 1,5 --reason x --yes", "AMOUNT must be an amount"),
        ("bonus nobody 1 --reason x --yes", "nobody: is no arrival of this study"),
        ("bonus arrival-0 30000000 --reason x --yes", "AMOUNT must not be more than 21474836.47"),
        ("bonus arrival-0 1 --reason x --id a/b --yes", "--id must have 1 to 64 letters"),
        ("cancel --reason x --yes", "name at least one arrival"),
        ("cancel arrival-2 --reason x --yes", "has no payment that is owed or approved or held"),
        (
            "cancel arrival-0 --reason short --yes",
            "is owed 1.50 USD by the rules of the study; say",
        ),
        ("cancel arrival-0 --payment x --reason x --yes", "has no payment called x to take back"),
        ("reject arrival-2 --reason x --yes", "takes no work in that could be refused"),
        ("message arrival-0 --subject a --text b", "carries no messages"),
        ("block arrival-0", "can keep nobody away"),
        ("invite 5 --csv out.csv", "study.one_time_invitations is not set"),
        ("review", "say --csv FILE to write a file, or --from FILE"),
        ("extend 0", "0.0 is not in the range"),
        ("extend nan", "nan is no number"),
        ("status nowhere", "there is no study file"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(link: Desk, line: str, told: str) -> None:
    code, out, err = link(*line.split())
    assert (code, out) == (2, "")
    assert told in err
    assert err.startswith("duologue: ")
    assert err.count("\n") == 1
    assert link.states() == ["owed", "owed"]


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (" ", "--reason must say something: the worker reads it"),
        ("x" * 1001, "--reason must have 1000 characters or fewer"),
        ("a\x01b", "--reason must be text, without control characters"),
        ("a\udcff", "--reason must be text, without control characters"),
    ],
    ids=["blank", "long", "control", "no text"],
)
def test_a_bonus_is_not_given_with_a_reason_that_cannot_be_sent(
    link: Desk, reason: str, told: str
) -> None:
    code, out, err = link("bonus", "arrival-0", "1", "--reason", reason, "--yes")
    assert (code, out, err) == (2, "", f"duologue: {told}\n")
    assert link.states() == ["owed", "owed"]


def test_a_study_named_in_the_wrong_place_is_pointed_at(link: Desk) -> None:
    folder = link.folder / "my study"
    folder.mkdir()
    (link.folder / "study.toml").rename(folder / "study.toml")
    told = "study.toml: there is no study file; did you mean --study 'my study'?"
    for words in (("approve", "my study"), ("bonus", "my study", "1", "--reason", "x"),
                  ("cancel", "a", "my study", "--reason", "x")):  # fmt: skip
        code, _, err = link(*words, "--yes")
        assert (code, err) == (2, f"duologue: {told}\n")
    text = "x" * 5000
    for words in (("approve", "--all"), ("status", "nowhere"), ("approve", text)):
        code, _, err = link(*words)
        assert (code, "writes one" in err) == (2, True)


def test_approve_asks_first(link: Desk) -> None:
    code, out, _ = link("approve", "--all", "--dry-run")
    assert code == 0
    assert "1.60 USD" in out
    assert link.states() == ["owed", "owed"]
    code, out, _ = link("approve", "--all", answer="n")
    assert code == 130
    assert link.states() == ["owed", "owed"]
    code, _, err = link("approve", "--all", "--json")
    assert code == 2
    assert "--yes" in err
    code, out, _ = link("approve", "--all", answer="y")
    assert code == 0
    assert link.states() == ["approved", "approved"]
    # Nothing is left to be asked about.
    assert link.json("approve", "--all")["payments"] == 0


def test_paid_by_other_means(link: Desk) -> None:
    assert link.json("approve", "arrival-0", "--yes")["arrivals"] == ["arrival-0"]
    assert link.json("pay", "--all", "--mark-paid", "--dry-run")["payments"] == 1
    assert link.states() == ["approved", "owed"]
    assert link.json("pay", "--all", "--mark-paid", "--yes")["cents"] == 150
    assert link.states() == ["paid", "owed"]
    assert link.json("cost")["spent_cents"] == 150


@pytest.mark.parametrize("state", [LedgerState.OWED, LedgerState.HELD, LedgerState.FAILED])
def test_who_is_named_can_be_noted_as_paid_in_every_state(link: Desk, state: LedgerState) -> None:
    link.write(become, "arrival-0", state)
    assert link.json("pay", "arrival-0", "--mark-paid", "--yes")["cents"] == 150
    assert link.states() == ["paid", "owed"]


def test_nothing_is_noted_as_paid_that_is_being_sent(link: Desk) -> None:
    link.write(become, "arrival-0", LedgerState.SENDING)
    code, _, err = link("pay", "arrival-0", "--mark-paid", "--yes")
    assert code == 2
    assert "has no payment that is approved or held or owed or failed" in err
    assert link.states() == ["sending", "owed"]


def test_a_bonus_is_given_once_for_each_command(link: Desk) -> None:
    words = ("bonus", "arrival-2", "0.50", "--reason", "You waited.")
    assert link.json(*words, "--dry-run")["cents"] == 50
    assert link.states() == ["owed", "owed"]
    link.json(*words, "--yes")
    assert link.states() == ["owed", "owed", "approved"]


def test_a_bonus_with_a_name_is_given_once(link: Desk) -> None:
    words = ("bonus", "arrival-2", "0.50", "--reason", "You waited.", "--id", "may", "--yes")
    assert link.json(*words)["given"] is True
    again = link.json(*words)
    assert (again["given"], again["payment"]) == (False, "bonus-may")
    assert link.states() == ["owed", "owed", "approved"]
    code, _, err = link("bonus", "arrival-2", "0.60", *words[3:])
    assert code == 2
    assert "bonus-may was given already, 0.50 USD, and is approved" in err


def test_a_bonus_over_the_budget_is_refused(link: Desk) -> None:
    file = link.folder / "study.toml"
    file.write_text(file.read_text("utf-8") + 'budget = "2.00"\n', encoding="utf-8")
    words = ("bonus", "arrival-2", "0.41", "--reason", "You waited.", "--yes")
    code, _, err = link(*words)
    assert (code, err.count("\n")) == (2, 1)
    assert "it would take 0.41 USD, and 0.40 USD are left of the budget of 2.00 USD" in err
    assert link.states() == ["owed", "owed"]
    assert link.json("bonus", "arrival-2", "0.40", *words[3:])["given"] is True


def test_the_budget_is_looked_at_again_when_a_bonus_is_given(link: Desk) -> None:
    file = link.folder / "study.toml"
    file.write_text(file.read_text("utf-8") + 'budget = "2.00"\n', encoding="utf-8")

    def another() -> None:
        link.write(owes, "arrival-1", 30, reason="bonus-other", state=LedgerState.APPROVED)

    words = ("bonus", "arrival-2", "0.40", "--reason", "You waited.")
    code, _, err = link(*words, answer="y", meanwhile=another)
    assert code == 2
    assert "0.10 USD are left of the budget of 2.00 USD" in err
    assert sorted(link.states()) == ["approved", "owed", "owed"]


def test_a_bonus_that_another_script_gives_in_this_moment_is_given_once(link: Desk) -> None:
    def another() -> None:
        link.write(owes, "arrival-2", 40, reason="bonus-mine", state=LedgerState.APPROVED)

    words = ("bonus", "arrival-2", "0.40", "--id", "mine", "--reason", "You waited.")
    code, out, err = link(*words, answer="y", meanwhile=another)
    assert (code, err) == (0, "")
    assert "bonus-mine" in out
    assert sorted(link.states()) == ["approved", "owed", "owed"]


@pytest.mark.parametrize(
    "words",
    [
        ("approve", "", "--yes"),
        ("pay", "arrival-0", " ", "--yes"),
        ("cancel", "", "--reason", "x", "--yes"),
        ("bonus", "", "1", "--reason", "x", "--yes"),
        ("reject", "", "--reason", "x", "--yes"),
        ("message", "", "--subject", "a", "--text", "b"),
        ("block", ""),
    ],
    ids=lambda words: words[0],
)
def test_an_empty_name_is_none(link: Desk, words: tuple[str, ...]) -> None:
    code, out, err = link(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "an arrival's name must not be empty" in err


def test_a_bonus_says_its_commission(market: Desk) -> None:
    _, out, _ = market("bonus", "arrival-2", "1.00", "--reason", "x", "--dry-run")
    assert "1.00 USD, and 0.20 USD commission, to arrival-2" in out


def test_what_was_to_be_paid_is_taken_back(link: Desk) -> None:
    link.json("bonus", "arrival-0", "50.00", "--reason", "x", "--id", "typo", "--yes")
    code, _, err = link("cancel", "arrival-0", "--reason", "too much", "--yes")
    assert code == 2
    assert "has dialog (1.50 USD), bonus-typo (50.00 USD); say which with --payment" in err
    words: tuple[str, ...] = ("cancel", "arrival-0", "--payment", "bonus-typo")
    words = (*words, "--reason", "too much")
    assert link.json(*words, "--dry-run")["cents"] == 5000
    assert link(*words, answer="n")[0] == 130
    assert link.json("cost")["owed_cents"] == 5160
    assert link.json(*words, "--yes")["payments"] == 1
    assert link.json("cost")["owed_cents"] == 160
    assert link.json("status")["ledger"]["cancelled"] == {"payments": 1, "cents": 5000}
    why = "paid in cash at the lab, receipt 12"
    assert link.json("cancel", "arrival-0", "--reason", why, "--yes")["cents"] == 150
    # What was taken back is owed no more, and cannot be approved or paid.
    for words in (("approve", "arrival-0"), ("pay", "arrival-0", "--mark-paid")):
        code, _, err = link(*words, "--yes")
        assert (code, "has no payment that is" in err) == (2, True)
    which = (ledger.c.arrival_id == "arrival-0") & (ledger.c.reason == "dialog")
    note = link.write(lambda c: c.execute(select(ledger.c.note).where(which)).scalar_one())
    assert note == f"taken back: {why}"


@pytest.mark.parametrize("ends", ["\r\n", "\n"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_review_goes_out_and_comes_back(link: Desk, separator: str, ends: str) -> None:
    assert link.json("review", "--csv", "out.csv")["arrivals"] == 3
    text = (link.folder / "out.csv").read_bytes().decode("utf-8-sig")
    lines = text.split("\r\n")
    head = lines[0].split(",")
    assert head[0] == "arrival"
    filled = [separator.join(head)]
    for line in lines[1:4]:
        cells = line.split(",")
        cells[head.index("decision")] = " Approve "
        cells[head.index("feedback")] = '"=1+1"'
        filled.append(separator.join(cells))
    (link.folder / "back.csv").write_bytes(("\ufeff" + ends.join(filled) + ends + ends).encode())
    tried = link.json("review", "--from", "back.csv", "--dry-run")
    assert (tried["approved"], tried["cents"], tried["idle"]) == (2, 160, 1)
    assert link.states() == ["owed", "owed"]
    link.json("review", "--from", "back.csv", "--yes")
    assert link.states() == ["approved", "approved"]
    # Read once more, it changes nothing.
    assert link.json("review", "--from", "back.csv", "--yes")["approved"] == 0


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("arrival-0,aprove,", "line 2: decision must be approve, reject or empty"),
        ("nobody,approve,", "line 2: nobody is no arrival of this study"),
        ("arrival-2,reject,", "line 2: say in feedback why"),
        ("arrival-0,reject,bad", "arrival-0 is owed 1.50 USD by the rules of the study"),
        (
            "arrival-0,approve,\narrival-0,approve,",
            "line 3: the arrival arrival-0 stands in line 2",
        ),
        ("arrival-0,approve,,more", "line 2: more cells"),
        ("arrival-2,reject,bad", "takes no work in that could be refused"),
    ],
)
def test_a_wrong_review_changes_nothing(link: Desk, rows: str, told: str) -> None:
    text = f"arrival,decision,feedback\n{rows}\n"
    (link.folder / "back.csv").write_text(text, encoding="utf-8")
    code, _, err = link("review", "--from", "back.csv", "--yes")
    assert code == 2
    assert told in err
    assert err.startswith(("duologue: back.csv, line ", "duologue: the recruiter 'link' takes "))
    assert link.states() == ["owed", "owed"]


def test_a_review_says_what_was_given_by_hand(link: Desk) -> None:
    link.json("bonus", "arrival-2", "0.50", "--reason", "You waited.", "--yes")
    text = "arrival,decision,feedback\narrival-2,reject,bad\n"
    (link.folder / "back.csv").write_text(text, encoding="utf-8")
    code, _, err = link("review", "--from", "back.csv", "--yes")
    assert code == 2
    assert "arrival-2 was given 0.50 USD by hand, so the work cannot be rejected" in err


def test_a_file_that_is_no_table(link: Desk) -> None:
    (link.folder / "back.csv").write_bytes(b"\xff\xfe\x00broken")
    code, _, err = link("review", "--from", "back.csv", "--yes")
    assert code == 2
    assert err == "duologue: back.csv: is not UTF-8; save the file as UTF-8\n"


# --- A marketplace -----------------------------------------------------------------------------


def test_plan_launch_extend_expire(market: Desk) -> None:
    plan = market.json("plan")
    assert (plan["wanted"], plan["seats"], plan["balance_cents"]) == (2, 2, 100_000)
    assert plan["cost_cents"] == 2 * plan["each_cents"]
    tried = market.json("launch", "--dry-run")
    assert tried["seats"] == 2
    assert market.faults is not None
    assert not market.faults.calls["CreateHIT"]
    assert not market.faults.calls["CreateQualificationType"]
    code, _, _ = market("launch", answer="n")
    assert code == 130
    assert not market.faults.calls["CreateHIT"]
    assert not market.faults.calls["CreateQualificationType"]
    code, _, err = market("launch", "--json")
    assert (code, err.count("\n")) == (2, 1)
    assert not market.faults.calls["CreateHIT"]
    code, out, _ = market("launch", answer="y")
    assert code == 0
    assert "2 HITs posted" in out
    # At once again: the lease was given back, and nothing is missing.
    assert market.json("launch")["posted"] == 0
    assert market.json("extend", "48")["extended"] == 2
    assert market.json("status")["hits"] == {"open": 2}
    assert market.json("expire")["expired"] == 2
    assert market.json("status")["hits"] == {"closed": 2}


def a_new_study(market: Desk) -> Path:
    """A study on the same marketplace that has never run, with two items that are not there yet."""
    folder = market.folder / "new"
    folder.mkdir()
    text = (market.folder / "study.toml").read_text("utf-8")
    (folder / "study.toml").write_text(text.replace('id = "study"', 'id = "new"'), "utf-8")
    return folder


def test_a_study_that_never_ran_is_planned_and_launched(market: Desk) -> None:
    folder = a_new_study(market)
    code, _, err = market("status", "new")
    assert (code, "`duologue serve --no-hits new` begins it" in err) == (2, True)
    # What is wrong with its items is told each time, and does not count as begun.
    for _ in range(2):
        code, _, err = market("plan", "new")
        assert (code, "items.jsonl" in err) == (2, True)
    write_scenes(folder, 2)
    code, out, err = market("plan", "new", "--json")
    assert (code, err) == (0, "the study new begins: 2 items added\n")
    assert json.loads(out)["seats"] == 4
    assert market.faults is not None
    assert not market.faults.calls["CreateHIT"]
    assert market.json("launch", "new", "--yes")["posted"] == 4


def test_items_taken_out_of_the_file_are_said_to_be_wanted_still(market: Desk) -> None:
    folder = a_new_study(market)
    items = write_scenes(folder, 4)
    assert "note" not in market("plan", "new")[2]
    first, *_ = items.read_text("utf-8").splitlines()
    items.write_text(first + "\n", "utf-8")
    for words in (("plan",), ("launch", "--dry-run"), ("reconcile", "--dry-run")):
        code, out, err = market(*words, "new")
        assert (code, "8 seats" in out) == (0, True)
        assert err == (
            "note: 3 items of the record are not in items.jsonl (taken out of it, or added by "
            "`duologue items add`); they are still wanted\n"
        )


def test_a_study_that_never_ran_can_be_launched_at_once(market: Desk) -> None:
    write_scenes(a_new_study(market), 2)
    code, out, _ = market("launch", "new", answer="y")
    assert (code, "4 HITs posted" in out) == (0, True)


def test_hits_that_lead_to_this_machine_are_told_of_before_they_are_posted_far_away(
    market: Desk,
) -> None:
    assert market("plan")[2] == ""
    file = market.folder / "study.toml"
    text = re.sub('^endpoint = .*$', 'endpoint = "http://market.invalid"', file.read_text("utf-8"),
                  flags=re.M)  # fmt: skip
    file.write_text(text, "utf-8")
    assert market("plan")[2].startswith("note: links that begin with http://127.0.0.1:8000 work ")


@pytest.mark.parametrize("words", [("launch", "--yes"), ("reconcile", "--yes")])
def test_nothing_is_posted_with_a_consent_that_is_not_filled_in(
    market: Desk, words: tuple[str, ...]
) -> None:
    file = market.folder / "study.toml"
    consent = 'consent = "We are [NAME OF\\nTHE TEAM] at [INSTITUTION], [INSTITUTION]."'
    text = re.sub("^consent = .*$", lambda _: consent, file.read_text("utf-8"), flags=re.M)
    file.write_text(text, "utf-8")
    told = "study.toml: texts.consent still holds [NAME OF THE TEAM], [INSTITUTION]; fill in"
    plan = market.json("plan")
    assert plan["unfit"].startswith(told)
    assert told in market("plan")[1]
    assert market.json(words[0], "--dry-run")["seats"] == 2
    code, out, err = market(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"duologue: {told}")
    assert market.faults is not None
    assert not market.faults.calls["CreateHIT"]


def test_a_hit_that_is_gone_lets_no_other_run_out(market: Desk) -> None:
    market.json("launch", "--yes")

    def gone(connection: Connection) -> None:
        first = select(hits.c.id).order_by(hits.c.created_at, hits.c.id).limit(1)
        row = hits.update().where(hits.c.id == first.scalar_subquery())
        connection.execute(row.values(remote_id="3GONE"))

    market.write(gone)
    done = market.json("extend", "48", ends=2)
    assert (done["extended"], len(done["problems"])) == (1, 1)
    assert "could not be extended" in done["problems"][0]


def test_while_a_server_runs_what_is_open_comes_down(market: Desk) -> None:
    market.json("launch", "--yes")
    row = {"holder": "a server", "until": time.time() + 60}
    market.write(lambda c: c.execute(leases.update().values(**row)))
    done = market.json("expire")
    assert (done["expired"], done["by_server"]) == (2, True)
    _, said, _ = market("expire")
    assert "HITs whose posting was cut off, if there are any, are taken down by the server" in said


def test_hits_of_another_record_come_down_when_asked_for(market: Desk) -> None:
    market.json("launch", "--yes")
    # As if the record were another one, that of a copied folder.
    market.write(lambda c: c.execute(studies.update().values(created_at=2.0)))
    assert "stand open over there (2)" in market("reconcile", "--yes")[1]
    code, _, err = market("expire", "--foreign", "--json")
    assert (code, "--yes" in err) == (2, True)
    assert market("expire", "--foreign", answer="n")[0] == 130
    assert market.json("expire", "--foreign", "--yes") == {"expired": 2}
    assert market.json("expire", "--foreign") == {"expired": 0}


def handed_in(connection: Connection) -> None:
    """The work of `arrival-0`, which nobody knows over there."""
    row = {"id": "h1", "study_id": STUDY, "recruiter": "mturk", "token": "t", "state": "open",
           "remote_id": "R1", "seats": 1, "reward": 10, "currency": "USD",
           "created_at": 1.0, "posted_at": 1e12}  # fmt: skip
    connection.execute(hits.insert(), row)
    connection.execute(arrivals.update().where(arrivals.c.id == "arrival-0")
                       .values(hit_id="h1"))  # fmt: skip
    told = {"study_id": STUDY, "id": "assignment-0", "hit_id": "h1", "worker": "PERSON0",
            "status": "submitted"}  # fmt: skip
    connection.execute(assignments.insert(), told)


def test_a_payment_that_fails_is_told_by_the_exit_code(market: Desk) -> None:
    market.write(handed_in)
    market.json("approve", "arrival-0", "--yes")
    paid = market.json("pay", "arrival-0", "--yes", ends=2)
    assert (paid["payments"], paid["failed"]) == (0, 1)
    assert paid["problems"]
    market.json("approve", "arrival-0", "--yes")
    code, out, err = market("pay", "arrival-0", "--yes")
    assert (code, err) == (2, "")
    assert out.startswith("0 payments sent, 0.00 USD; 0 waiting, 0 held, 1 failed\n")


def test_who_pays_already_may_have_been_killed(market: Desk) -> None:
    market.write(handed_in)
    market.json("approve", "arrival-0", "--yes")
    market.json("launch", "--yes")
    row = {"holder": "a server", "until": time.time() + 60}
    market.write(lambda c: c.execute(leases.update().values(**row)))
    for words in (("pay", "--all"), ("reconcile",)):
        code, _, err = market(*words, "--yes")
        assert (code, err.count("\n")) == (2, 1)
        assert err.startswith("duologue: a server that runs ")
        assert "by itself, so nothing is to be done" in err
        assert "try again in a minute" in err


def test_what_failed_half_way_is_no_money_spent(market: Desk) -> None:
    before = market.json("cost")
    assert (before["spent_cents"], before["unsure_cents"], before["owed_cents"]) == (0, 0, 192)
    assert "unsure" not in market("cost")[1]

    def refused(connection: Connection) -> None:
        become(connection, "arrival-0", LedgerState.FAILED)
        step = {"arrival_id": "arrival-0", "reason": "dialog", "step": "bonus", "key": "k",
                "started_at": 1.0}  # fmt: skip
        connection.execute(payment_steps.insert(), step)

    market.write(refused)
    cost = market.json("cost")
    assert (cost["spent_cents"], cost["unsure_cents"], cost["owed_cents"]) == (0, 180, 12)
    assert "unsure  1.80 USD may have gone out" in market("cost")[1]
    # Until it is decided, the budget is charged with it.
    file = market.folder / "study.toml"
    file.write_text(file.read_text("utf-8") + 'budget = "2.00"\n', encoding="utf-8")
    code, _, err = market("bonus", "arrival-1", "0.10", "--reason", "x", "--yes")
    assert (code, "0.08 USD are left of the budget" in err) == (2, True)


def test_reconcile_says_what_it_pays_and_launch_pays_nobody(market: Desk) -> None:
    market.write(handed_in)
    assert market.faults is not None
    market.json("launch", "--yes")
    assert not market.faults.calls["GetAssignment"]
    tried = market.json("reconcile", "--dry-run")
    assert tried["payments"] == 1
    code, out, _ = market("reconcile", answer="n")
    assert code == 130
    assert "1 payment" in out
    assert not market.faults.calls["GetAssignment"]
    # Nobody over there knows this work, so asking is all that happens.
    done = market.json("reconcile", "--yes", ends=2)
    assert done["paid"]["failed"] == 1
    assert market.states() == [LedgerState.FAILED, LedgerState.OWED]
    [problem] = market.json("status")["problems"]
    assert problem["arrival"] == "arrival-0"


def test_what_was_put_off_and_why_nobody_is_invited_is_shown(market: Desk) -> None:
    for arrival in ("arrival-0", "arrival-1"):
        market.write(become, arrival, LedgerState.APPROVED, problem="no money over there")
    file = market.folder / "study.toml"
    file.write_text(file.read_text("utf-8") + 'budget = "1.70"\n', encoding="utf-8")
    shown = market.json("status")
    assert shown["why"] == "the budget does not suffice for more"
    assert [(p["arrival"], p["state"], p["problem"]) for p in shown["problems"]] == [
        ("arrival-0", "approved", "no money over there"),
        ("arrival-1", "approved", "no money over there"),
    ]
    _, said, _ = market("status")
    assert "put off          2 payments (arrival-0, arrival-1): no money over there" in said
    assert "nobody new       the budget does not suffice for more" in said
    # What was paid in the end is in nobody's way.
    market.write(become, "arrival-0", LedgerState.PAID)
    assert len(market.json("status")["problems"]) == 1


def test_wrong_keys_are_one_line(market: Desk) -> None:
    market.patch.setenv("DUOLOGUE_MTURK_SECRET_KEY", "wrong")
    code, out, err = market("plan")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    market.patch.delenv("DUOLOGUE_MTURK_SECRET_KEY")
    code, _, err = market("plan")
    assert code == 2
    assert "DUOLOGUE_MTURK_SECRET_KEY" in err
