"""`duologue erase`: it says what it will do, asks, and refuses clearly."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from chatserver.tokens import Tokens
from dialogs.record.tables import arrivals, erasures, ledger, reports, workers
from dialogs.rules import ERASED, ArrivalStatus, LedgerState
from tests.desks import Desk
from tests.recruiting import set_status


def become(connection: Connection, state: LedgerState) -> None:
    connection.execute(update(ledger).values(state=state.value))


def tell(connection: Connection) -> None:
    row = {"id": "r", "arrival_id": "arrival-0", "kind": "problem", "text": "SECRET", "at": 1.0}
    connection.execute(reports.insert(), row)


def names(connection: Connection) -> list[str]:
    query = select(workers.c.external_id).order_by(workers.c.id)
    return list(connection.execute(query).scalars())


def noted(connection: Connection) -> list[Any]:
    return list(connection.execute(select(erasures)))


@pytest.fixture
def paid(link: Desk) -> Desk:
    """All have been paid, and the first has reported something."""
    link.write(become, LedgerState.PAID)
    link.write(tell)
    return link


@pytest.mark.parametrize("name", ["arrival-0", "code-arrival-0"])
def test_it_says_what_it_will_do_and_asks(paid: Desk, name: str) -> None:
    code, out, _ = paid.duologue("erase", name, "--dry-run")
    assert (code, out) == (0, "would be erased: 1 person, 1 arrival, 1 text\n")
    code, out, _ = paid.duologue("erase", name, answer="n")
    assert code == 130
    code, _, err = paid.duologue("erase", name, "--json")
    assert code == 2
    assert "--yes" in err
    assert paid.write(names) == ["PERSON0", "PERSON1", "PERSON2"]
    code, out, _ = paid.duologue("erase", name, answer="y")
    assert code == 0
    assert out.splitlines()[-2:] == [
        "erased: 1 person, 1 arrival, 1 text",
        "not erased by this: exports made before, backups, and what the platform keeps of its "
        "workers",
    ]
    first, *others = paid.write(names)
    assert first.startswith(ERASED)
    assert others == ["PERSON1", "PERSON2"]
    assert len(paid.write(noted)) == 1
    assert "SECRET" not in paid.duologue("reports")[1]


def test_one_person_named_twice_is_one(paid: Desk) -> None:
    words = ("erase", "arrival-0", "code-arrival-0", "arrival-2", "--yes", "--json")
    code, out, _ = paid.duologue(*words)
    assert code == 0
    assert json.loads(out) == {
        "people": 2,
        "arrivals": ["arrival-0", "arrival-2"],
        "texts": 1,
        "erased": True,
        "files_swept": True,
    }
    assert "erased before" in paid.duologue("erase", "arrival-0", "--dry-run")[1]


def test_the_same_person_gets_the_same_pseudonym_and_another_study_another(paid: Desk) -> None:
    """As the server makes it when they come again; by it nobody is found in another study."""
    paid.duologue("erase", "arrival-0", "--yes")
    key = (paid.folder / "secret.key").read_text().strip()
    assert paid.write(names)[0] == Tokens(key, "study").erased("link", "PERSON0")
    assert paid.write(names)[0] != Tokens(key, "other").erased("link", "PERSON0")
    assert paid.write(names)[0] != Tokens(key, "study").erased("mturk", "PERSON0")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("erase", "name at least one arrival or completion code"),
        ("erase nobody", "nobody: is no arrival or completion code of this study"),
        ("erase PERSON0", "PERSON0: is no arrival or completion code of this study"),
        (
            "erase arrival-0",
            "arrival-0: its payment dialog of 1.50 USD is owed, and could not be made any more; "
            "first make it (`duologue hits pay`) or take it back (`duologue hits cancel`)",
        ),
    ],
)
def test_what_cannot_be_erased_is_one_clear_line(link: Desk, line: str, told: str) -> None:
    code, out, err = link.duologue(*line.split(), "--yes")
    assert (code, out, err) == (2, "", f"duologue: {told}\n")
    assert link.write(names) == ["PERSON0", "PERSON1", "PERSON2"]


def test_nobody_is_erased_who_is_inside(paid: Desk) -> None:
    paid.write(set_status, "arrival-0", ArrivalStatus.WAITING)
    _, _, err = paid.duologue("erase", "arrival-0", "--yes")
    assert err.startswith("duologue: arrival-0: is still inside; erase them when they have ended")


def test_a_person_that_was_erased_is_neither_paid_nor_written_to(paid: Desk) -> None:
    paid.duologue("erase", "arrival-0", "--yes")
    code, _, err = paid("bonus", "arrival-0", "1", "--reason", "thanks", "--yes")
    assert (code, err) == (
        2,
        "duologue: arrival-0: was erased on request; nobody knows who to pay\n",
    )
    assert paid.states() == ["paid", "paid"]


def test_it_is_gone_from_what_is_read_of_arrivals(paid: Desk) -> None:
    def note(connection: Connection) -> None:
        connection.execute(update(arrivals).values(address="ADDRESS"))

    def read(connection: Connection) -> list[str | None]:
        query = select(arrivals.c.address).order_by(arrivals.c.id)
        return list(connection.execute(query).scalars())

    paid.write(note)
    paid.duologue("erase", "arrival-0", "--yes")
    assert paid.write(read) == [None, "ADDRESS", "ADDRESS"]
