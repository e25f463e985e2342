"""`duologue reports`: what workers told is shown, and does nothing to a terminal."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import Connection

from dialogs.record.engine import SoleProcess
from dialogs.record.tables import arrivals, reports
from duologue.reports import harmless
from tests.desks import Desk


def tell(connection: Connection, text: str, kind: str = "problem", at: float = 60.0) -> None:
    row = {"id": f"r-{at}", "arrival_id": "arrival-1", "kind": kind, "text": text, "at": at}
    connection.execute(reports.insert(), row)


def give_feedback(connection: Connection, text: str) -> None:
    row = arrivals.update().where(arrivals.c.id == "arrival-0")
    connection.execute(row.values(feedback=text, feedback_at=120.0))


def test_reports_are_shown_newest_last_and_without_who_they_are_of(link: Desk) -> None:
    assert link.duologue("reports")[1] == "no worker has reported anything\n"
    link.write(give_feedback, "fun")
    link.write(tell, "the image is\nupside down")
    code, out, err = link.duologue("reports")
    assert (code, err) == (0, "")
    assert out == (
        "1970-01-01 00:01:00 UTC  problem  arrival-1\n    the image is\n    upside down\n"
        "1970-01-01 00:02:00 UTC  feedback  arrival-0\n    fun\n"
    )
    code, out, _ = link.duologue("reports", "--json")
    assert json.loads(out)["reports"] == [
        {
            "at": 60.0,
            "arrival_id": "arrival-1",
            "dialog_id": None,
            "kind": "problem",
            "text": "the image is\nupside down",
        },
        {
            "at": 120.0,
            "arrival_id": "arrival-0",
            "dialog_id": None,
            "kind": "feedback",
            "text": "fun",
        },
    ]
    assert "PERSON" not in out


def test_a_report_cannot_speak_to_the_terminal(link: Desk) -> None:
    link.write(tell, "\x1b]0;owned\x07 red: \x1b[31m, back\r1970-01-01 \u202egnp.exe \x9b2J")
    _, out, _ = link.duologue("reports")
    assert out.splitlines()[1:] == [
        r"    \x1b]0;owned\x07 red: \x1b[31m, back\r1970-01-01 \u202egnp.exe \x9b2J"
    ]


@pytest.mark.parametrize("text", ["Ein Bär 🐻\tja", "می‌خواهم", "👩‍🔬", "سلام\nعالم", "中文"])
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text


def test_reports_can_be_read_while_a_server_runs(link: Desk) -> None:
    link.write(tell, "hello")
    server = SoleProcess(link.database)
    server.acquire()
    try:
        assert "hello" in link.duologue("reports")[1]
    finally:
        server.release()


def test_status_counts_the_problems(link: Desk) -> None:
    assert link.json("status")["problem_reports"] == 0
    assert "reported" not in link("status")[1]
    link.write(tell, "one")
    link.write(tell, "lunch", "leaving", 61.0)
    link.write(give_feedback, "fun")
    assert link.json("status")["problem_reports"] == 1
    assert "reported         1 problem by workers: `duologue reports` shows it" in link("status")[1]
    link.write(tell, "two", at=62.0)
    assert "2 problems by workers: `duologue reports` shows them" in link("status")[1]
