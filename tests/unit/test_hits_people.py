"""`duologue hits` and people: they are written to, kept away, refused, and invited by links."""

from __future__ import annotations

import csv
import stat
from typing import Any

import pytest
from sqlalchemy import Connection, select

from dialogs.record.tables import arrivals
from dialogs.record.tables import hits as our_hits
from dialogs.record.tables import workers as people
from dialogs.rules import ArrivalStatus, Release
from duologue.study import read_invitations
from hit_manager.marketplace import assignments, workers
from hit_manager.marketplace.errors import DoesNotMeetRequirements
from hit_manager.marketplace.tables import assignments as assignments_there
from hit_manager.marketplace.tables import messages
from tests.desks import Desk
from tests.recruiting import add_arrival, release

ANSWER = """<?xml version="1.0" encoding="UTF-8"?>
<QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd">
<Answer><QuestionIdentifier>code</QuestionIdentifier><FreeText>CODE</FreeText></Answer>
</QuestionFormAnswers>"""


def visitor(market: Desk, name: str = "kim", *, cents: int = 0) -> tuple[str, str]:
    """Somebody takes a HIT on the marketplace, leaves our page and hands in; their worker id
    over there, and their arrival here."""

    def open_hit(connection: Connection) -> Any:
        taken = select(arrivals.c.hit_id).where(arrivals.c.hit_id.is_not(None))
        free = our_hits.c.remote_id.is_not(None) & our_hits.c.id.not_in(taken)
        return connection.execute(select(our_hits).where(free)).first()

    hit = market.write(open_hit)
    worker = market.there(workers.create_worker, name=name, country="US")
    held = market.there(assignments.accept, worker, hit.remote_id)
    how = {"external_id": worker, "assignment_id": held.id, "hit_id": hit.id}
    arrival = market.write(add_arrival, name, recruiter="mturk", **how)
    market.write(release, arrival, cents, how=Release.LEFT)
    market.there(assignments.submit, held.id, ANSWER)
    return worker, arrival


def inbox(market: Desk, worker: str) -> list[tuple[str, str]]:
    def read(connection: Connection, now: float) -> list[tuple[str, str]]:
        mine = select(messages).where(messages.c.worker_id == worker)
        return [(row.subject, row.text) for row in connection.execute(mine)]

    found: list[tuple[str, str]] = market.there(read)
    return found


def status_there(market: Desk, worker: str) -> str:
    def read(connection: Connection, now: float) -> str:
        mine = select(assignments_there.c.status).where(assignments_there.c.worker_id == worker)
        return str(connection.execute(mine).scalar_one())

    found: str = market.there(read)
    return found


def test_a_message_reaches_its_worker(market: Desk) -> None:
    market.json("launch", "--yes")
    worker, arrival = visitor(market)
    words = ("message", arrival, "--subject", "Thank you", "--text", "Merci — ≤ 3 €")
    # As on Mechanical Turk, only whose work was judged can be written to.
    assert market.json(*words, ends=2)["sent"] == 0
    market.json("reject", arrival, "--reason", "Nothing was written.", "--yes")
    assert market.json(*words) == {"sent": 1, "failed": []}
    assert inbox(market, worker) == [("Thank you", "Merci — ≤ 3 €")]
    # This person is known here and not over there.
    done = market.json("message", "arrival-0", "--subject", "a", "--text", "b", ends=2)
    assert (done["sent"], len(done["failed"])) == (0, 1)
    assert done["failed"][0].startswith("arrival-0: ")


def test_one_who_is_not_known_over_there_keeps_nobody_from_being_blocked(market: Desk) -> None:
    market.json("launch", "--yes")
    _, arrival = visitor(market)
    # Sorted before everybody: it would have been first.
    market.write(add_arrival, "forged", external_id="A0000FORGED")
    code, out, err = market("block", "arrival-forged", arrival)
    told = err.splitlines()
    assert (code, out, len(told)) == (2, "", 2)
    assert told[0].startswith("duologue: arrival-forged: ")
    assert told[1] == "duologue: done for 1 other person"
    assert market.faults is not None
    assert market.faults.calls["AssociateQualificationWithWorker"] == 2


def test_who_is_blocked_sees_no_hit_until_they_are_unblocked(market: Desk) -> None:
    market.json("launch", "--yes")
    worker, arrival = visitor(market)
    assert market.json("block", arrival, "--reason", "for our records") == {"blocked": 1}
    assert market.json("block", arrival) == {"blocked": 1}
    left = next(h for h in market.json("status", "--items")["items"] if h["image_id"])
    assert left["complete"] == 0

    def take(connection: Connection) -> str:
        free = our_hits.c.id.not_in(select(arrivals.c.hit_id).where(arrivals.c.hit_id.is_not(None)))
        return str(connection.execute(select(our_hits.c.remote_id).where(free)).scalar())

    with pytest.raises(DoesNotMeetRequirements):
        market.there(assignments.accept, worker, market.write(take))
    assert market.json("unblock", arrival) == {"unblocked": 1}
    assert market.there(assignments.accept, worker, market.write(take)).worker_id == worker


def test_nobody_is_blocked_in_the_name_of_another(market: Desk) -> None:
    market.json("launch", "--yes")
    worker, arrival = visitor(market)
    # The link claimed to be somebody else; the marketplace says who handed in.
    mine = select(arrivals.c.worker_id).where(arrivals.c.id == arrival)
    other = people.c.id == mine.scalar_subquery()
    market.write(lambda c: c.execute(people.update().where(other).values(external_id="AVICTIM")))
    market.json("reconcile", "--yes")
    assert market.faults is not None
    for words in (("block",), ("unblock",), ("message", "--subject", "a", "--text", "b")):
        code, _, err = market(words[0], arrival, *words[1:])
        assert (code, err.count("\n")) == (2, 1)
        assert f"{arrival}: came with the id of somebody else" in err
        assert worker not in err
    assert not market.faults.calls["AssociateQualificationWithWorker"]


def test_work_for_which_nothing_is_owed_is_shown_and_can_be_refused(market: Desk) -> None:
    market.json("launch", "--yes")
    worker, arrival = visitor(market)
    market.json("reconcile", "--yes")
    assert market.json("status")["handed_in_for_nothing"] == [arrival]
    _, said, _ = market("status")
    assert f"nothing is owed ({arrival}): approved over there by itself, unless" in said
    words = ("reject", arrival, "--reason", "Nothing was written.")
    assert market.json(*words, "--dry-run") == {"arrival": arrival, "rejected": False}
    assert status_there(market, worker) == "Submitted"
    assert market(*words, answer="n")[0] == 130
    assert status_there(market, worker) == "Submitted"
    assert market.json(*words, "--yes")["rejected"] is True
    assert status_there(market, worker) == "Rejected"
    code, _, err = market(*words, "--yes")
    assert (code, err) == (2, f"duologue: {arrival}: is rejected over there\n")
    market.json("reconcile", "--yes")
    assert market.json("status")["handed_in_for_nothing"] == []


def stranger(market: Desk, name: str) -> str:
    """Somebody takes a HIT and hands in without opening our page; their assignment over there."""

    def open_hit(connection: Connection) -> str:
        free = (our_hits.c.remote_id.is_not(None)) & (our_hits.c.free > 0)
        return str(connection.execute(select(our_hits.c.remote_id).where(free)).scalar())

    worker = market.there(workers.create_worker, name=name, country="US")
    held = market.there(assignments.accept, worker, market.write(open_hit))
    market.there(assignments.submit, held.id, ANSWER)
    return str(held.id)


def test_who_was_erased_is_neither_written_to_nor_kept_away(market: Desk) -> None:
    assert market("launch", "--yes")[0] == 0
    worker, arrival = visitor(market)
    assert market.duologue("erase", arrival, "--yes")[0] == 0
    for line in ("message --subject a --text b", "block", "unblock"):
        code, _, err = market(*line.split(), arrival)
        told = f"duologue: {arrival}: was erased on request; nobody knows who it was\n"
        assert (code, err) == (2, told)
    assert inbox(market, worker) == []


@pytest.mark.parametrize("by", ["command", "file"])
def test_work_of_who_never_came_is_shown_and_can_be_refused(market: Desk, by: str) -> None:
    market.json("launch", "--yes")
    work = stranger(market, "free")
    market.json("reconcile", "--yes")
    assert market.json("status")["handed_in_for_nothing"] == [work]
    assert f"nothing is owed ({work})" in market("status")[1]
    assert market.json("cost")["owed_cents"] - market.json("cost")["spent_cents"] > 160
    market.json("review", "--csv", "out.csv")
    with (market.folder / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        [row] = [row for row in csv.DictReader(file) if row["release"] == "never_came"]
    assert (row["arrival"], row["handed_in"], row["owed_cents"]) == (work, "submitted", "0")
    if by == "command":
        done = market.json("reject", work, "--reason", "Nobody came to us.", "--yes")
        assert done["rejected"] is True
    else:
        table = f"arrival,decision,feedback\n{work},reject,Nobody came to us.\n"
        (market.folder / "back.csv").write_text(table, encoding="utf-8")
        assert market.json("review", "--from", "back.csv", "--yes")["rejected"] == 1
    # At once, without another look.
    assert market.json("status")["handed_in_for_nothing"] == []
    code, _, err = market("reject", work, "--reason", "x", "--yes")
    assert (code, err) == (2, f"duologue: {work}: is rejected over there\n")


def test_who_is_owed_something_is_not_refused(market: Desk) -> None:
    market.json("launch", "--yes")
    worker, arrival = visitor(market, cents=20)
    code, _, err = market("reject", arrival, "--reason", "x", "--yes")
    assert code == 2
    assert "is owed 0.20 USD by the rules of the study" in err
    assert status_there(market, worker) == "Submitted"


def test_who_is_not_done_here_is_not_refused(market: Desk) -> None:
    market.json("launch", "--yes")
    worker, arrival = visitor(market)
    # Handed in over there early, in the middle of a dialog here.
    mine = arrivals.c.id == arrival
    talking = arrivals.update().where(mine).values(status=ArrivalStatus.SEATED.value)
    market.write(lambda c: c.execute(talking))
    code, _, err = market("reject", arrival, "--reason", "Nothing was written.", "--yes")
    assert (code, err.count("\n")) == (2, 1)
    assert f"{arrival}: is not done here yet" in err
    assert status_there(market, worker) == "Submitted"


def test_work_of_somebody_else_is_not_refused(market: Desk) -> None:
    """A link can name anybody's work."""
    market.json("launch", "--yes")
    worker, arrival = visitor(market)
    forged = people.update().where(people.c.external_id == worker).values(external_id="A0OTHER")
    market.write(lambda c: c.execute(forged))
    code, _, err = market("reject", arrival, "--reason", "Nothing was written.", "--yes")
    assert (code, err) == (2, f"duologue: {arrival}: over there, somebody else did this work\n")
    assert status_there(market, worker) == "Submitted"


def invites(link: Desk) -> None:
    """The study takes only who has a code of `codes.txt`."""
    study = link.folder / "study.toml"
    text = study.read_text(encoding="utf-8").replace(
        "[items]", 'one_time_invitations = true\ninvitations = "codes.txt"\n[items]'
    )
    study.write_text(text, encoding="utf-8")
    link.patch.setenv("DUOLOGUE_PUBLIC_URL", "https://study.example.org")


def test_links_that_work_on_this_machine_only_are_said_to(link: Desk) -> None:
    invites(link)
    assert link("invite", "1", "--csv", "a.csv")[2] == ""
    link.patch.delenv("DUOLOGUE_PUBLIC_URL")
    for host in ("127.0.0.1", "0.0.0.0"):
        link.patch.setenv("DUOLOGUE_HOST", host)
        code, _, err = link("invite", "1", "--csv", f"{host}.csv")
        assert (code, err) == (
            0,
            f"note: links that begin with http://{host}:8000 work on this machine only; set "
            "DUOLOGUE_PUBLIC_URL to the address under which people reach the server\n",
        )


def test_invitations_are_links_that_the_study_knows(link: Desk) -> None:
    invites(link)
    assert link.json("invite", "3", "--csv", "links.csv")["invitations"] == 3
    with (link.folder / "links.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    codes = read_invitations(link.folder / "codes.txt")
    assert {row["code"] for row in rows} == codes
    assert all(row["link"].endswith(f"/work?invite={row['code']}") for row in rows)
    # Links that may have been sent are never written over, and no code is added then.
    before = (link.folder / "links.csv").read_bytes()
    code, _, err = link("invite", "2", "--csv", "links.csv")
    assert code == 2
    assert "links.csv: is there already" in err
    assert (link.folder / "links.csv").read_bytes() == before
    assert read_invitations(link.folder / "codes.txt") == codes
    link.json("invite", "2", "--csv", "more.csv")
    assert len(read_invitations(link.folder / "codes.txt")) == 5


def test_codes_and_links_are_for_their_owner_alone(link: Desk) -> None:
    invites(link)
    link.json("invite", "3", "--csv", "links.csv")
    for name in ("codes.txt", "links.csv"):
        assert stat.S_IMODE((link.folder / name).stat().st_mode) == 0o600, name
    # What the team has opened to others stays open.
    (link.folder / "codes.txt").chmod(0o640)
    link.json("invite", "1", "--csv", "more.csv")
    assert stat.S_IMODE((link.folder / "codes.txt").stat().st_mode) == 0o640


def test_a_review_says_who_was_invited_by_which_code(link: Desk) -> None:
    def invited(connection: Connection) -> None:
        for n, known in enumerate(("invite:7KQM-2VXD-H9TA", "invite:=1+1-FORMULA", "key:abc")):
            row = people.update().where(people.c.id == f"worker-{n}")
            connection.execute(row.values(external_id=known))

    link.write(invited)
    link.json("review", "--csv", "out.csv")
    with (link.folder / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        found = {row["arrival"]: row["invitation"] for row in csv.DictReader(file)}
    assert found == {
        "arrival-0": "7KQM-2VXD-H9TA",
        "arrival-1": "'=1+1-FORMULA",
        "arrival-2": "",
    }


def test_a_review_of_a_marketplace_names_no_worker(market: Desk) -> None:
    market.json("review", "--csv", "out.csv")
    text = (market.folder / "out.csv").read_text("utf-8-sig")
    assert "invitation" not in text
    assert "PERSON" not in text


def test_links_are_not_written_into_the_file_of_codes(link: Desk) -> None:
    invites(link)
    code, _, err = link("invite", "3", "--csv", "codes.txt")
    assert (code, err.count("\n")) == (2, 1)
    assert "codes.txt: is the study's file of codes" in err
    assert not (link.folder / "codes.txt").exists()


def test_invitations_that_were_not_made_leave_no_file_of_links(link: Desk) -> None:
    invites(link)
    (link.folder / "codes.txt").symlink_to("nowhere/codes.txt")
    code, _, err = link("invite", "3", "--csv", "links.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert "codes.txt: cannot be written" in err
    assert not (link.folder / "links.csv").exists()
