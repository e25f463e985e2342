"""Every constraint of the tables, one by one: what must never be, the database refuses.

Rows are written past the rules, as a faulty program would write them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, Index, Table, UniqueConstraint, event, insert, update
from sqlalchemy.exc import IntegrityError

from dialogs.record import tables
from dialogs.record.engine import open_engine
from tests import team_rows
from tests.records import STUDY, arrival_row, said_row, shared_database, worker_row


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    with shared_database(request, tmp_path_factory.mktemp("shared")) as url:
        engine = open_engine(url)
        yield engine
        engine.dispose()


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    """A study with one item and three people; a dialog of the first two. Never committed."""
    with engine.connect() as connection:
        for table, row in STORY:
            connection.execute(insert(table), row)
        yield connection


def study(name: str) -> dict[str, Any]:
    return {"id": name, "status": "open", "config": "{}", "created_at": 1.0}


def item(name: str, **fields: Any) -> dict[str, Any]:
    row = {
        "id": name,
        "study_id": STUDY,
        "image_id": f"image-{name}",
        "caption": "A dog.",
        "file": "f.jpg",
        "width": 8,
        "height": 8,
        "sha256": "00",
        "wanted": 5,
        "position": 1,
        "added_at": 1.0,
    }
    return {**row, **fields}


def dialog(name: str, **fields: Any) -> dict[str, Any]:
    row = {
        "id": name,
        "study_id": STUDY,
        "item_id": "dog",
        "place": 1,
        "phase": "paired",
        "outcome": None,
        "acceptance": None,
        "language": "en",
        "same_address": False,
        "opened_at": 1.0,
    }
    return {**row, **fields}


def seat(name: str, role: str, person: int, **fields: Any) -> dict[str, Any]:
    row = {
        "dialog_id": name,
        "role": role,
        "arrival_id": f"arrival-{person}",
        "worker_id": f"worker-{person}",
        "item_id": "dog",
        "status": "live",
    }
    return {**row, **fields}


def release(person: int, **fields: Any) -> dict[str, Any]:
    row = {
        "arrival_id": f"arrival-{person}",
        "dialog_id": "first",
        "release": "left",
        "code": f"code-{person}",
        "at": 1.0,
    }
    return {**row, **fields}


def erasure(worker: str) -> dict[str, Any]:
    return {"worker_id": worker, "at": 9.0, "arrivals": 1, "texts": 3}


def owed(person: int, **fields: Any) -> dict[str, Any]:
    row = {
        "arrival_id": f"arrival-{person}",
        "reason": "dialog",
        "cents": 150,
        "currency": "USD",
        "state": "owed",
        "at": 1.0,
    }
    return {**row, **fields}


def relaunch(name: str, **fields: Any) -> dict[str, Any]:
    return {"dialog_id": name, "item_id": "dog", "place": 1, "at": 1.0, **fields}


def hit(name: str, **fields: Any) -> dict[str, Any]:
    row = {
        "id": name,
        "study_id": STUDY,
        "recruiter": "mturk",
        "token": f"token-{name}",
        "remote_id": f"remote-{name}",
        "state": "open",
        "seats": 1,
        "reward": 10,
        "currency": "USD",
        "created_at": 1.0,
    }
    return {**row, **fields}


def again(**fields: Any) -> dict[str, Any]:
    return {"dialog_id": "first", "hit_id": "h", "seats": 2, "upto": 2, **fields}


def assignment(name: str, **fields: Any) -> dict[str, Any]:
    row = {"study_id": STUDY, "id": name, "hit_id": "h", "worker": "W", "status": "taken"}
    return {**row, **fields}


def step(person: int, **fields: Any) -> dict[str, Any]:
    row = {
        "arrival_id": f"arrival-{person}",
        "reason": "dialog",
        "step": "bonus",
        "key": "k",
        "started_at": 1.0,
    }
    return {**row, **fields}


def lease(**fields: Any) -> dict[str, Any]:
    return {"study_id": STUDY, "work": "hits", "holder": "me", "until": 2.0, **fields}


STORY: list[tuple[Table, dict[str, Any]]] = [
    (tables.studies, study(STUDY)),
    (tables.items, item("dog")),
    (tables.items, item("cat")),
    *[(tables.workers, worker_row(n)) for n in range(3)],
    *[(tables.arrivals, arrival_row(n, status="seated")) for n in range(3)],
    (tables.dialogs, dialog("first")),
    (tables.seats, seat("first", "questioner", 0)),
    (tables.seats, seat("first", "answerer", 1)),
    (tables.events, said_row("first", 1)),
    (tables.releases, release(0)),
    (tables.ledger, owed(0)),
    (tables.relaunches, relaunch("first")),
    (tables.hits, hit("h")),
    (tables.relaunch_seats, again()),
    (tables.assignments, assignment("a")),
    (tables.payment_steps, step(0)),
    (tables.leases, lease()),
    *team_rows.STORY,
]

FREE = {"place": 2, "phase": "ended", "outcome": "abandoned"}
OTHER = (tables.dialogs, dialog("other", **FREE))
SECOND_ARRIVAL = (tables.arrivals, arrival_row("0b", worker_id="worker-0", status="released"))

Rows = list[tuple[Table, dict[str, Any]]]

# What must not be: the rows of which the last one is refused, and the constraint that says so.
REFUSED: dict[str, tuple[Rows, str]] = {
    "the same event twice": ([(tables.events, said_row("first", 1))], "pk_events"),
    "the same study twice": ([(tables.studies, study(STUDY))], "pk_studies"),
    "the same item twice": ([(tables.items, item("dog", image_id="x"))], "pk_items"),
    "an image twice in a study": (
        [(tables.items, item("wolf", image_id="image-dog"))],
        "uq_items_study_id_image_id",
    ),
    "an item of no study": (
        [(tables.items, item("wolf", study_id="none"))],
        "fk_items_study_id_studies",
    ),
    "the same worker twice": (
        [(tables.workers, {**worker_row(0), "external_id": "x"})],
        "pk_workers",
    ),
    "a person twice in a study": (
        [(tables.workers, {**worker_row(9), "external_id": "person-0"})],
        "uq_workers_study_id_recruiter_external_id",
    ),
    "a worker of no study": (
        [(tables.workers, worker_row(9, study="none"))],
        "fk_workers_study_id_studies",
    ),
    "the same arrival twice": (
        [(tables.arrivals, arrival_row(0, assignment_id="x", status="released"))],
        "pk_arrivals",
    ),
    "an assignment twice": (
        [
            (
                tables.arrivals,
                arrival_row(
                    "0b", worker_id="worker-0", assignment_id="assignment-1", status="released"
                ),
            )
        ],
        "uq_arrivals_study_id_assignment_id",
    ),
    "two open arrivals of a worker": (
        [(tables.arrivals, arrival_row(9, worker_id="worker-0"))],
        "uq_arrivals_one_open",
    ),
    "an arrival of nobody": (
        [(tables.arrivals, arrival_row(9))],
        "fk_arrivals_worker_id_workers",
    ),
    "an arrival in no study": (
        [
            (
                tables.arrivals,
                arrival_row("0b", worker_id="worker-0", study_id="none", status="released"),
            )
        ],
        "fk_arrivals_study_id_studies",
    ),
    "the same dialog twice": ([(tables.dialogs, dialog("first", **FREE))], "pk_dialogs"),
    "two paired dialogs of a place": ([(tables.dialogs, dialog("other"))], "uq_dialogs_place"),
    "a complete dialog of a place that is taken": (
        [(tables.dialogs, dialog("other", phase="ended", outcome="complete"))],
        "uq_dialogs_place",
    ),
    "an accepted dialog of a place that is taken": (
        [
            (
                tables.dialogs,
                dialog("other", phase="ended", outcome="complete", acceptance="accepted"),
            )
        ],
        "uq_dialogs_place",
    ),
    "place nought": ([(tables.dialogs, dialog("other", place=0))], "ck_dialogs_place"),
    "a dialog about nothing": (
        [(tables.dialogs, dialog("other", item_id="none"))],
        "fk_dialogs_item_id_items",
    ),
    "a dialog in no study": (
        [(tables.dialogs, dialog("other", study_id="none", place=2))],
        "fk_dialogs_study_id_studies",
    ),
    "a role twice in a dialog": (
        [(tables.seats, seat("first", "answerer", 2))],
        "pk_seats",
    ),
    "two seats of an arrival": (
        [OTHER, (tables.seats, seat("other", "answerer", 0, item_id="cat", status="done"))],
        "uq_seats_arrival",
    ),
    "two live seats of a worker": (
        [
            OTHER,
            SECOND_ARRIVAL,
            (
                tables.seats,
                seat("other", "answerer", 0, arrival_id="arrival-0b", item_id="cat"),
            ),
        ],
        "uq_seats_live_worker",
    ),
    "an item twice for a worker, even after it was given up": (
        [
            OTHER,
            SECOND_ARRIVAL,
            (
                tables.seats,
                seat("other", "answerer", 0, arrival_id="arrival-0b", status="given_up"),
            ),
        ],
        "uq_seats_worker_id_item_id",
    ),
    "a seat in no dialog": (
        [(tables.seats, seat("none", "answerer", 2))],
        "fk_seats_dialog_id_dialogs",
    ),
    "a seat of no arrival": (
        [OTHER, (tables.seats, seat("other", "answerer", 2, arrival_id="none"))],
        "fk_seats_arrival_id_arrivals",
    ),
    "a seat of no worker": (
        [OTHER, (tables.seats, seat("other", "answerer", 2, worker_id="none"))],
        "fk_seats_worker_id_workers",
    ),
    "a seat about no item": (
        [OTHER, (tables.seats, seat("other", "answerer", 2, item_id="none"))],
        "fk_seats_item_id_items",
    ),
    "a second release": ([(tables.releases, release(0, code="x"))], "pk_releases"),
    "a code twice": ([(tables.releases, release(1, code="code-0"))], "uq_releases_code"),
    "a release of nobody": (
        [(tables.releases, release(9))],
        "fk_releases_arrival_id_arrivals",
    ),
    "a release from no dialog": (
        [(tables.releases, release(1, dialog_id="none"))],
        "fk_releases_dialog_id_dialogs",
    ),
    "a second payment for the same": ([(tables.ledger, owed(0, cents=1))], "pk_ledger"),
    "a payment of nothing": ([(tables.ledger, owed(1, cents=0))], "ck_ledger_cents"),
    "a payment that takes": ([(tables.ledger, owed(1, cents=-5))], "ck_ledger_cents"),
    "a payment to nobody": (
        [(tables.ledger, owed(9))],
        "fk_ledger_arrival_id_arrivals",
    ),
    "a second relaunch of a dialog": (
        [(tables.relaunches, relaunch("first", place=2))],
        "pk_relaunches",
    ),
    "a relaunch of no dialog": (
        [(tables.relaunches, relaunch("none"))],
        "fk_relaunches_dialog_id_dialogs",
    ),
    "a relaunch about nothing": (
        [OTHER, (tables.relaunches, relaunch("other", item_id="none"))],
        "fk_relaunches_item_id_items",
    ),
    "the same HIT twice": (
        [(tables.hits, hit("h", token="other", remote_id="other"))],
        "pk_hits",
    ),
    "two HITs with one link": (
        [(tables.hits, hit("other", token="token-h"))],
        "uq_hits_token",
    ),
    "two HITs that are one over there": (
        [(tables.hits, hit("other", remote_id="remote-h"))],
        "uq_hits_study_id_remote_id",
    ),
    "a HIT of no study": (
        [(tables.hits, hit("other", study_id="none"))],
        "fk_hits_study_id_studies",
    ),
    "a relaunch twice in one HIT": (
        [(tables.relaunch_seats, again(upto=4))],
        "pk_relaunch_seats",
    ),
    "seats for a relaunch that is none": (
        [(tables.relaunch_seats, again(dialog_id="none"))],
        "fk_relaunch_seats_dialog_id_relaunches",
    ),
    "seats of no HIT for a relaunch": (
        [(tables.relaunch_seats, again(hit_id="none"))],
        "fk_relaunch_seats_hit_id_hits",
    ),
    "the same assignment twice": (
        [(tables.assignments, assignment("a", worker="X"))],
        "pk_assignments",
    ),
    "an assignment of no HIT": (
        [(tables.assignments, assignment("b", hit_id="none"))],
        "fk_assignments_hit_id_hits",
    ),
    "an assignment in no study": (
        [(tables.assignments, assignment("b", study_id="none"))],
        "fk_assignments_study_id_studies",
    ),
    "the same call of a payment twice": (
        [(tables.payment_steps, step(0, key="other"))],
        "pk_payment_steps",
    ),
    "a call for a payment that nobody is owed": (
        [(tables.payment_steps, step(1))],
        "fk_payment_steps_arrival_id_reason_ledger",
    ),
    "two holders of one lease": ([(tables.leases, lease(holder="you"))], "pk_leases"),
    "a lease of no study": (
        [(tables.leases, lease(study_id="none"))],
        "fk_leases_study_id_studies",
    ),
    "a report of nobody": (
        [
            (
                tables.reports,
                {"id": "r", "arrival_id": "none", "kind": "problem", "text": "help", "at": 1.0},
            )
        ],
        "fk_reports_arrival_id_arrivals",
    ),
    "the same report twice": (
        [
            (
                tables.reports,
                {"id": "r", "arrival_id": "arrival-0", "kind": "problem", "text": "a", "at": 1.0},
            ),
            (
                tables.reports,
                {"id": "r", "arrival_id": "arrival-0", "kind": "problem", "text": "b", "at": 1.0},
            ),
        ],
        "pk_reports",
    ),
    "an erasure of nobody": (
        [(tables.erasures, erasure("nobody"))],
        "fk_erasures_worker_id_workers",
    ),
    "the same erasure twice": (
        [(tables.erasures, erasure("worker-0")), (tables.erasures, erasure("worker-0"))],
        "pk_erasures",
    ),
    # With another dialog, which takes no place, for those that need one.
    **{name: ([OTHER, row], constraint) for name, (row, constraint) in team_rows.REFUSED.items()},
}


def is_about(error: IntegrityError, constraint: str) -> bool:
    """Whether the database refused because of this constraint, as far as it says so."""
    if (found := getattr(error.orig, "diag", None)) is not None:
        return found.constraint_name == constraint
    words = str(error.orig)
    if constraint.startswith("fk_"):
        return words == "FOREIGN KEY constraint failed"
    if constraint.startswith("ck_"):
        return words == f"CHECK constraint failed: {constraint}"
    columns = [f"{table}.{column}" for table, column in columns_of(constraint)]
    return words in (
        f"UNIQUE constraint failed: {', '.join(columns)}",
        f"UNIQUE constraint failed: index '{constraint}'",
    )


def columns_of(constraint: str) -> list[tuple[str, str]]:
    for table in tables.metadata.tables.values():
        for named in (table.primary_key, *table.constraints, *table.indexes):
            if constraint in (named.name, f"pk_{table.name}" if named is table.primary_key else ""):
                assert isinstance(named, UniqueConstraint | Index) or named is table.primary_key
                return [(table.name, column.name) for column in named.columns]
    raise AssertionError(f"there is no constraint {constraint}")


@pytest.mark.parametrize(("rows", "constraint"), REFUSED.values(), ids=REFUSED)
def test_the_database_refuses(connection: Connection, rows: Rows, constraint: str) -> None:
    for table, row in rows[:-1]:
        connection.execute(insert(table), row)
    table, row = rows[-1]
    with pytest.raises(IntegrityError) as refused:
        connection.execute(insert(table), row)
    assert is_about(refused.value, constraint), refused.value.orig


ALLOWED: dict[str, Rows] = {
    "an assignment of another worker": [
        (tables.workers, worker_row(9)),
        (tables.arrivals, arrival_row(9)),
    ],
    "a second arrival after the first was released": [SECOND_ARRIVAL],
    "another place of the item": [(tables.dialogs, dialog("other", place=2))],
    "the same place after an abandoned dialog": [
        (tables.dialogs, dialog("other", phase="ended", outcome="abandoned")),
        (tables.dialogs, dialog("another", phase="ended", outcome="solo")),
        (tables.dialogs, dialog("third", phase="solo")),
    ],
    "the same place after a rejected dialog": [
        (
            tables.dialogs,
            dialog("other", phase="ended", outcome="complete", acceptance="rejected"),
        )
    ],
    "a second seat after the first was given up": [
        OTHER,
        (
            tables.seats,
            seat("other", "questioner", 2, item_id="cat", status="given_up"),
        ),
        (tables.dialogs, dialog("another", **FREE)),
        (tables.seats, seat("another", "questioner", 2)),
    ],
    "a release without a dialog": [(tables.releases, release(1, dialog_id=None))],
    "waiting paid beside the dialog": [(tables.ledger, owed(0, reason="waiting"))],
    "events of a dialog whose row comes later": [(tables.events, said_row("later", 1))],
    **{name: [OTHER, *rows] for name, rows in team_rows.ALLOWED.items()},
}


@pytest.mark.parametrize("rows", ALLOWED.values(), ids=ALLOWED)
def test_the_database_allows(connection: Connection, rows: Rows) -> None:
    for table, row in rows:
        connection.execute(insert(table), row)


def test_a_place_is_taken_again_only_when_it_is_free(connection: Connection) -> None:
    """A change of a dialog is held to the same as a new one."""
    rejected = dialog("other", phase="ended", outcome="complete", acceptance="rejected")
    connection.execute(insert(tables.dialogs), rejected)
    accept = update(tables.dialogs).where(tables.dialogs.c.id == "other")
    with pytest.raises(IntegrityError), connection.begin_nested():
        connection.execute(accept.values(acceptance="accepted"))
    first = update(tables.dialogs).where(tables.dialogs.c.id == "first")
    connection.execute(first.values(phase="solo"))
    connection.execute(accept.values(acceptance="accepted"))


def test_a_released_arrival_cannot_be_opened_beside_another(connection: Connection) -> None:
    connection.execute(insert(SECOND_ARRIVAL[0]), SECOND_ARRIVAL[1])
    with pytest.raises(IntegrityError):
        connection.execute(
            update(tables.arrivals)
            .where(tables.arrivals.c.id == "arrival-0b")
            .values(status="waiting")
        )


def test_every_constraint_of_the_tables_has_its_example() -> None:
    named = {constraint for _, constraint in REFUSED.values()}
    for table in tables.metadata.tables.values():
        wanted = {f"pk_{table.name}"}
        wanted |= {str(c.name) for c in table.constraints if c is not table.primary_key}
        wanted |= {str(index.name) for index in table.indexes if index.unique}
        # The naming convention is applied when a statement is made of them.
        missing = {
            name for name in wanted if name not in named and f"ck_{table.name}_{name}" not in named
        }
        assert not missing, f"{table.name}: {missing}"


@pytest.mark.parametrize("table", tables.metadata.sorted_tables, ids=lambda table: table.name)
def test_a_value_that_must_be_there_is_there(connection: Connection, table: Table) -> None:
    samples: dict[str, dict[str, Any]] = {
        **{known.name: row for known, row in STORY},
        "reports": {
            "id": "r",
            "arrival_id": "arrival-0",
            "kind": "problem",
            "text": "help",
            "at": 1.0,
        },
        "erasures": erasure("worker-0"),
    }
    sample = samples[table.name]
    for column in table.columns:
        if column.nullable or column.server_default is not None:
            continue
        with pytest.raises(IntegrityError, match=column.name), connection.begin_nested():
            connection.execute(insert(table), {**sample, column.name: None})


def test_foreign_keys_are_enforced_on_every_connection(database_url: str) -> None:
    engine = open_engine(database_url)
    opened = []
    event.listen(engine, "connect", lambda raw, record: opened.append(raw))
    row = {"id": "r", "arrival_id": "none", "kind": "problem", "text": "help", "at": 1.0}
    connections = [engine.connect() for _ in range(3)]
    if engine.dialect.name == "sqlite":
        for connection in connections:
            on = connection.connection.cursor().execute("PRAGMA foreign_keys").fetchone()
            assert on == (1,)
    else:
        for connection in connections:
            with pytest.raises(IntegrityError):
                connection.execute(insert(tables.reports), row)
    for connection in connections:
        connection.close()
    engine.dispose()
    assert len(opened) == 3
