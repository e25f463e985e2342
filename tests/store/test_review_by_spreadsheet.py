"""Verdicts on data by spreadsheet: what `duologue hits review` writes, filled in and read back."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Table, select, update

from dialogs.record import admins as team
from dialogs.record.errors import BadRow
from dialogs.record.review_desk import ReviewDesk
from dialogs.record.tables import admins, audit, dialogs, judgements, relaunches, review_claims
from dialogs.rules import AdminRole, Outcome, Phase, Release, SeatStatus
from tests.desks import Desk, desk_of
from tests.recruiting import add_arrival, add_dialog, add_items, release

Fill = Callable[[dict[str, str]], None]


@pytest.fixture
def desk(
    tmp_path: Path,
    database_url: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Desk:
    """A study with two complete dialogs and one that was finished alone; `ada` is of the team."""
    made = desk_of(tmp_path, database_url, capsys, monkeypatch, 'kind = "link"\n')

    def people(connection: Connection) -> None:
        team.add_admin(connection, "ad-1", "ada", AdminRole.REVIEWER, "x", 1.0)
        team.add_admin(connection, "ad-2", "vic", AdminRole.VIEWER, "x", 1.0)
        for n in range(3):
            add_items(connection, [f"item-{n}"])
            both = [(add_arrival(connection, f"d{n}{side}"), SeatStatus.DONE) for side in "qa"]
            outcome = Outcome.SOLO if n == 2 else Outcome.COMPLETE
            add_dialog(connection, f"d{n}", f"item-{n}", phase=Phase.ENDED, outcome=outcome,
                       people=both, at=10.0 + n)  # fmt: skip
            for arrival, _ in both:
                release(connection, arrival, 150, how=Release.COMPLETED, dialog=f"d{n}")

    made.write(people)
    return made


def rows(desk: Desk, table: Table) -> list[Any]:
    found: list[Any] = desk.write(lambda connection: connection.execute(select(table)).all())
    return found


def filled(desk: Desk, verdicts: dict[str, tuple[str, str]]) -> None:
    """Write a new file, and fill it in: by arrival, the verdict and the feedback."""
    (desk.folder / "out.csv").unlink(missing_ok=True)
    assert desk("review", "--csv", "out.csv")[0] == 0
    with (desk.folder / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        table = list(csv.DictReader(file))
    for row in table:
        row["verdict"], row["feedback"] = verdicts.get(row["arrival"], ("", ""))
    with (desk.folder / "back.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, table[0])
        writer.writeheader()
        writer.writerows(table)


BOTH = {
    "arrival-d0q": (" Accept ", ""),
    "arrival-d1q": ("reject", ""),
    "arrival-d1a": ("Reject", "Not a word about the picture."),
}
BACK = ("review", "--from", "back.csv", "--as", "Ada")


def test_a_file_names_dialogs_and_what_they_are(desk: Desk) -> None:
    filled(desk, {"arrival-d0q": ("accept", "")})
    desk.json(*BACK, "--yes")
    filled(desk, {})
    with (desk.folder / "back.csv").open(encoding="utf-8", newline="") as file:
        found = {row["arrival"]: row for row in csv.DictReader(file)}
    told = {name: (row["dialog"], row["acceptance"]) for name, row in found.items()}
    assert told["arrival-d0a"] == ("d0", "accepted")
    assert told["arrival-d1a"] == ("d1", "")
    assert told["arrival-0"] == ("", "")
    assert {row["verdict"] for row in found.values()} == {""}


def test_verdicts_are_judgements_and_leave_the_pay_alone(desk: Desk) -> None:
    filled(desk, BOTH)
    before = desk.states()
    tried = desk.json(*BACK, "--dry-run")
    assert (tried["accepted_as_data"], tried["rejected_as_data"]) == (1, 1)
    assert rows(desk, judgements) == []
    code, out, _ = desk(*BACK, answer="y\n")
    assert (code, "as data 1 accepted, 1 rejected" in out) == (0, True)
    assert {row.id: row.acceptance for row in rows(desk, dialogs)} == {
        "d0": "accepted",
        "d1": "rejected",
        "d2": None,
    }
    said = {row.dialog_id: (row.admin_id, row.verdict, row.reason, bool(row.decides))
            for row in rows(desk, judgements)}  # fmt: skip
    assert said == {
        "d0": ("ad-1", "accepted", "", True),
        "d1": ("ad-1", "rejected", "Not a word about the picture.", True),
    }
    assert [row.dialog_id for row in rows(desk, relaunches)] == ["d1"]
    assert desk.states() == before
    done = sorted(row.target for row in rows(desk, audit) if row.action == "review.judge")
    assert done == ["d0", "d1"]


def test_read_once_more_it_changes_nothing(desk: Desk) -> None:
    filled(desk, BOTH)
    desk.json(*BACK, "--yes")
    again = desk.json(*BACK, "--yes")
    assert (again["accepted_as_data"], again["rejected_as_data"]) == (0, 0)
    assert again["judged_before"] == 2
    assert len(rows(desk, relaunches)) == 1
    assert len(rows(desk, judgements)) == 2


def test_pay_and_data_are_decided_with_one_file(desk: Desk) -> None:
    text = "arrival,dialog,verdict,decision,feedback\narrival-d1q,d1,reject,approve,Nonsense.\n"
    (desk.folder / "back.csv").write_text(text, encoding="utf-8")
    done = desk.json(*BACK, "--yes")
    assert (done["approved"], done["rejected"], done["rejected_as_data"]) == (1, 0, 1)
    assert desk.states().count("approved") == 1
    assert [row.dialog_id for row in rows(desk, relaunches)] == ["d1"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("arrival-d0q,d0,yes,", "line 2: verdict must be accept, reject or empty, not 'yes'"),
        ("arrival-d0q,d0,approve,", "line 2: verdict must be accept, reject or empty"),
        ("arrival-d0q,d0,reject,", "line 2: say in feedback why the dialog is no data"),
        ("arrival-d0q,,accept,", "line 2: the verdict is about no dialog"),
        (
            "arrival-d0q,d0,accept,\narrival-d0a,d0,reject,bad",
            "line 3: the verdict on d0 is not that of line 2",
        ),
        ("arrival-d0q,d1,accept,", "line 2: d1 is not the dialog of arrival-d0q"),
        ("arrival-d0q,d9,accept,", "line 2: d9 is no dialog of this study that has ended"),
        ("arrival-d2q,d2,accept,", "line 2: d2 ended as solo, and only a complete dialog"),
    ],
)
def test_a_wrong_verdict_changes_nothing(desk: Desk, given: str, told: str) -> None:
    text = f"arrival,dialog,verdict,feedback,decision\n{given}\n"
    text += "arrival-d1q,d1,accept,,approve\n"
    (desk.folder / "back.csv").write_text(text, encoding="utf-8")
    code, out, err = desk(*BACK, "--yes")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err
    assert rows(desk, judgements) == []
    assert "approved" not in desk.states()


def test_what_is_judged_is_judged_by_somebody_who_may(desk: Desk) -> None:
    filled(desk, BOTH)
    code, _, err = desk(*BACK[:-2], "--yes")
    assert (code, "say --as NAME" in err) == (2, True)
    for name in ("vic", "nobody", ""):
        code, _, err = desk(*BACK[:-1], name, "--yes")
        assert (code, "is no owner or reviewer" in err) == (2, True)
    off = update(admins).where(admins.c.id == "ad-1").values(disabled_at=2.0)
    desk.write(lambda connection: connection.execute(off))
    assert desk(*BACK, "--yes")[0] == 2
    assert rows(desk, judgements) == []


def test_what_was_judged_otherwise_or_is_in_hand_stays(desk: Desk) -> None:
    filled(desk, {"arrival-d0q": ("accept", "")})
    desk.json(*BACK, "--yes")
    filled(desk, {"arrival-d0q": ("reject", "On second thoughts.")})
    code, _, err = desk(*BACK, "--yes")
    assert (code, "d0 is accepted already" in err) == (2, True)
    row = {"dialog_id": "d1", "admin_id": "ad-2", "until": time.time() + 600}
    desk.write(lambda connection: connection.execute(review_claims.insert(), row))
    filled(desk, {"arrival-d1q": ("reject", "Nonsense.")})
    code, _, err = desk(*BACK, "--yes")
    assert (code, "d1 is in the hands of somebody" in err) == (2, True)
    assert rows(desk, relaunches) == []


LONG = "x" * 1001


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("arrival-d0q,d0,reject,a\0b,", "line 2: feedback must be one line without control"),
        ("arrival-d0q,d\0,accept,,", "line 2: dialog must be one line without control"),
        ("arrival-\0,d0,,,approve", "line 2: arrival must be one line without control"),
        (f"arrival-d0q,d0,reject,{LONG},", "line 2: feedback must have 1000 characters or fewer"),
        ("arrival-d0q,d0,reject,\u200b\u2060,", "line 2: say in feedback why the dialog is no"),
        ("arrival-d0q,d0,,\u200b\u2060,reject", "line 2: say in feedback why the work is"),
    ],
)
def test_a_text_that_the_monitor_would_not_take_changes_nothing(
    desk: Desk, given: str, told: str
) -> None:
    text = f"arrival,dialog,verdict,feedback,decision\n{given}\n"
    text += "arrival-d1q,d1,accept,,approve\n"
    (desk.folder / "back.csv").write_text(text, encoding="utf-8")
    code, out, err = desk(*BACK, "--yes")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err
    assert rows(desk, judgements) == []
    assert "approved" not in desk.states()


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("arrival,dialog,verdikt,decision,feedback", "'verdikt' is none of the file's; is it 've"),
        ("arrival,dialog,Verdict,decision,feedback", "is it 'verdict'?"),
        ("arrival,dialog,verdict,decision,feedbak", "is it 'feedback'?"),
        ("arrival,dialogue,verdict,decision,feedback", "is it 'dialog'?"),
        ("arrival,dialog,good,pay,feedback", "neither a column 'verdict' nor a column 'decision'"),
    ],
)
def test_a_misspelt_column_is_named(desk: Desk, head: str, told: str) -> None:
    text = f"{head}\narrival-d0q,d0,accept,approve,Fine.\n"
    (desk.folder / "back.csv").write_text(text, encoding="utf-8")
    code, out, err = desk(*BACK, "--yes")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err
    assert rows(desk, judgements) == []
    assert "approved" not in desk.states()


def test_columns_of_the_team_are_passed_over_and_named(desk: Desk) -> None:
    text = "arrival,dialog,verdict,verdicts,seen by\narrival-d0q,d0,accept,2,Bo\n"
    (desk.folder / "back.csv").write_text(text, encoding="utf-8")
    done = desk.json(*BACK, "--dry-run")
    assert (done["accepted_as_data"], done["passed_over"]) == (1, ["verdicts", "seen by"])
    _, out, _ = desk(*BACK, "--yes")
    assert out.endswith("not a column of ours: 'verdicts', 'seen by'\n")
    filled(desk, BOTH)
    assert desk.json(*BACK, "--dry-run")["passed_over"] == []


def test_where_nothing_is_to_be_done_it_says_so(desk: Desk) -> None:
    filled(desk, {})
    code, out, _ = desk(*BACK, "--yes")
    assert (code, out) == (
        0,
        "back.csv decides nothing: its cells of verdict and decision are empty\n",
    )
    filled(desk, BOTH)
    desk.json(*BACK, "--yes")
    _, out, _ = desk(*BACK, "--yes")
    assert out.startswith("nothing was to be done: 0 approved")
    _, out, _ = desk(*BACK, "--dry-run")
    assert out.startswith("would be: 0 approved")


def test_what_the_record_does_not_take_is_named_and_the_rest_is_done(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = ReviewDesk.judge

    async def not_the_first(
        self: ReviewDesk, admin: str, dialog: str, *args: Any, **how: Any
    ) -> Any:
        if dialog == "d0":
            raise BadRow("the row is refused")
        return await judge(self, admin, dialog, *args, **how)

    monkeypatch.setattr(ReviewDesk, "judge", not_the_first)
    filled(desk, BOTH)
    code, _, err = desk(*BACK, "--yes")
    assert code == 2
    assert "d0 was not judged: the row is refused" in err
    assert {row.dialog_id for row in rows(desk, judgements)} == {"d1"}
