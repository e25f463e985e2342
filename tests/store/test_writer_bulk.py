"""Rows inserted or changed together are as those that come one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import orjson
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, bindparam, event, select
from sqlalchemy.exc import IntegrityError

from dialogs.record import tables
from dialogs.record.bulk import RowLock, RowLocks, RowUpdate, insert_rows
from dialogs.record.engine import open_engine
from tests.live import until
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
    """A connection in a transaction that is never committed."""
    with engine.connect() as connection:
        yield connection


def stored(connection: Connection, table: Any) -> list[dict[str, Any]]:
    query = table.select().order_by(*table.primary_key.columns)
    return [dict(row) for row in connection.execute(query).mappings()]


def statements(engine: Engine) -> list[str]:
    """The statements that are executed from now on."""
    seen: list[str] = []

    def note(_c: Any, _cursor: Any, statement: str, _p: Any, _x: Any, _many: bool) -> None:
        seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    return seen


def study(connection: Connection) -> None:
    row = {"id": STUDY, "status": "open", "config": "{}", "created_at": 1.0}
    insert_rows(connection, tables.studies, [row])


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
numbers = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "dialog_id": texts,
                "seq": st.integers(-(2**31), 2**31 - 1),
                "kind": texts,
                "at": numbers,
                "data": texts,
            }
        ),
        unique_by=lambda row: (row["dialog_id"], row["seq"]),
        max_size=30,
    )
)
def test_every_value_is_read_back_as_it_was_given(
    connection: Connection, rows: list[dict[str, Any]]
) -> None:
    with connection.begin_nested() as part:
        insert_rows(connection, tables.events, rows)
        found = {(row["dialog_id"], row["seq"]): row for row in stored(connection, tables.events)}
        assert found == {(row["dialog_id"], row["seq"]): row for row in rows}
        part.rollback()


def test_rows_that_name_different_columns_keep_all_of_theirs(connection: Connection) -> None:
    study(connection)
    insert_rows(connection, tables.workers, [worker_row(n) for n in range(4)])
    insert_rows(
        connection,
        tables.arrivals,
        [
            arrival_row(0),
            arrival_row(1, ready_at=7.25),
            arrival_row(2, missed_start=True, waited_s=3.5),
            arrival_row(3, address="203.0.113.7"),
        ],
    )
    found = stored(connection, tables.arrivals)
    assert [row["ready_at"] for row in found] == [None, 7.25, None, None]
    assert [row["missed_start"] for row in found] == [False, False, True, False]
    assert [row["waited_s"] for row in found] == [0.0, 0.0, 3.5, 0.0]
    assert [row["address"] for row in found] == [None, None, None, "203.0.113.7"]


def test_nothing_to_insert_is_no_statement(connection: Connection) -> None:
    seen = statements(connection.engine)
    insert_rows(connection, tables.events, [])
    assert seen == []


@pytest.mark.parametrize("rows", [1, 2, 500])
def test_postgresql_takes_any_number_of_rows_in_one_statement(
    connection: Connection, rows: int
) -> None:
    connection.begin()
    seen = statements(connection.engine)
    insert_rows(connection, tables.events, [said_row("dialog", n) for n in range(rows)])
    assert len(seen) == 1
    if connection.dialect.name == "postgresql":
        assert "json_to_recordset" in seen[0]
    assert len(stored(connection, tables.events)) == rows


def test_one_row_that_conflicts_keeps_out_all(connection: Connection) -> None:
    rows = [said_row("dialog", n) for n in (1, 2, 3, 2)]
    with pytest.raises(IntegrityError), connection.begin_nested():
        insert_rows(connection, tables.events, rows)
    assert stored(connection, tables.events) == []


# --- Changes -------------------------------------------------------------------------------

READY = RowUpdate(
    lambda p: (
        tables.arrivals.update()
        .where(tables.arrivals.c.id == p["arrival"], tables.arrivals.c.status == p["before"])
        .values(
            status=p["after"],
            ready_at=p["ready"],
            waited_s=tables.arrivals.c.waited_s + p["waited"],
            missed_start=p["missed"],
        )
    ),
    arrival=tables.arrivals.c.id,
    before=tables.arrivals.c.status,
    after=tables.arrivals.c.status,
    ready=tables.arrivals.c.ready_at,
    waited=tables.arrivals.c.waited_s,
    missed=tables.arrivals.c.missed_start,
)


def change(n: int, **values: Any) -> dict[str, Any]:
    given = {"before": "arrived", "after": "waiting", "ready": 1.5, "waited": 0.25, "missed": False}
    return {"arrival": f"arrival-{n}", **given, **values}


def people(connection: Connection, number: int) -> None:
    study(connection)
    # No statement may take longer than 2 s, however busy the machine is.
    for first in range(0, number, 1000):
        some = range(first, min(first + 1000, number))
        insert_rows(connection, tables.workers, [worker_row(n) for n in some])
        insert_rows(connection, tables.arrivals, [arrival_row(n) for n in some])


changes = st.lists(
    st.builds(
        change,
        st.integers(0, 5),
        before=st.sampled_from(["arrived", "waiting"]),
        after=st.sampled_from(["waiting", "seated"]),
        ready=st.none() | numbers,
        waited=st.floats(0, 1e6),
        missed=st.booleans(),
    ),
    max_size=8,
    unique_by=lambda row: row["arrival"],
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes)
def test_rows_changed_together_are_the_rows_changed_one_by_one(
    connection: Connection, params: list[dict[str, Any]]
) -> None:
    with connection.begin_nested() as part:
        people(connection, 4)
        with connection.begin_nested() as together:
            count = READY.run(connection, params) if params else 0
            found = stored(connection, tables.arrivals)
            together.rollback()
        assert sum(READY.run(connection, [each]) for each in params) == count
        assert stored(connection, tables.arrivals) == found
        part.rollback()


@pytest.mark.parametrize("rows", [1, 2, 300])
def test_postgresql_takes_any_number_of_changes_in_one_statement(
    connection: Connection, rows: int
) -> None:
    people(connection, rows)
    seen = statements(connection.engine)
    assert READY.run(connection, [change(n) for n in range(rows)]) == rows
    assert len(seen) == 1
    assert {row["status"] for row in stored(connection, tables.arrivals)} == {"waiting"}


@pytest.mark.parametrize("rows", [1, 4, 9])
def test_postgresql_finds_a_few_rows_of_many_by_their_index(
    connection: Connection, rows: int
) -> None:
    if connection.dialect.name != "postgresql":
        pytest.skip("how the statement is planned is PostgreSQL's")
    people(connection, 5000)
    connection.exec_driver_sql("ANALYZE arrivals")
    seen = statements(connection.engine)
    params = [change(n) for n in range(rows)]
    assert READY.run(connection, params) == rows
    [statement] = seen
    document = {"rows": orjson.dumps(params).decode()}
    plan = connection.exec_driver_sql("EXPLAIN " + statement, document).scalars().all()
    assert not [line for line in plan if "Seq Scan" in line], plan


def test_a_change_that_finds_nothing_is_not_counted(connection: Connection) -> None:
    people(connection, 2)
    params = [change(0), change(1, before="seated"), change(7)]
    assert READY.run(connection, params) == 1
    assert [row["status"] for row in stored(connection, tables.arrivals)] == ["waiting", "arrived"]


def test_a_lock_is_taken_once_for_all_who_need_it(connection: Connection) -> None:
    study(connection)
    lock = RowLock(
        select(tables.studies.c.id)
        .where(tables.studies.c.id == bindparam("study"))
        .with_for_update(read=True)
    )
    seen = statements(connection.engine)
    assert lock.run(connection, [{"study": STUDY}, {"study": "none"}, {"study": STUDY}]) == 2
    assert len(seen) == 2


IN_PLACE = RowLocks(
    lambda p: (
        select(tables.arrivals.c.id)
        .where(tables.arrivals.c.id == p["arrival"], tables.arrivals.c.status == p["status"])
        .order_by(tables.arrivals.c.id)
        .with_for_update(of=tables.arrivals)
    ),
    arrival=tables.arrivals.c.id,
    status=tables.arrivals.c.status,
)


def in_place(n: int, status: str = "arrived") -> dict[str, Any]:
    return {"arrival": f"arrival-{n}", "status": status}


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.builds(in_place, st.integers(0, 5), st.sampled_from(["arrived", "waiting"])),
        min_size=1,
        max_size=8,
    )
)
def test_rows_locked_together_are_found_as_those_locked_one_by_one(
    connection: Connection, params: list[dict[str, Any]]
) -> None:
    with connection.begin_nested() as part:
        people(connection, 4)
        different = {tuple(each.values()): each for each in params}.values()
        missing = sum(IN_PLACE.run(connection, [each]) == 0 for each in different)
        assert IN_PLACE.run(connection, params) == len(params) - missing
        part.rollback()


@pytest.mark.parametrize("rows", [1, 2, 300])
def test_postgresql_takes_any_number_of_locks_in_one_statement(
    connection: Connection, rows: int
) -> None:
    people(connection, rows)
    seen = statements(connection.engine)
    assert IN_PLACE.run(connection, [in_place(n) for n in range(rows)] * 2) == 2 * rows
    assert len(seen) == (1 if connection.dialect.name == "postgresql" else rows)


async def test_rows_are_locked_one_after_the_other_in_their_order(
    migrated_postgres_url: str,
) -> None:
    """Who waits for the second of three rows holds the first already, and not yet the third."""
    engine = open_engine(migrated_postgres_url, patient=True)
    with engine.begin() as connection:
        people(connection, 3)

    def lock(*rows: int) -> int:
        with engine.begin() as connection:
            connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            return IN_PLACE.run(connection, [in_place(n) for n in rows])

    with psycopg.connect(migrated_postgres_url, autocommit=True) as other:

        def somebody_waits() -> bool:
            return other.execute("SELECT FROM pg_locks WHERE NOT granted").rowcount > 0

        def is_held(n: int) -> bool:
            row = "SELECT FROM arrivals WHERE id = %s FOR UPDATE SKIP LOCKED"
            return other.execute(row, [f"arrival-{n}"]).rowcount == 0

        with psycopg.connect(migrated_postgres_url) as holder:
            holder.execute("SELECT FROM arrivals WHERE id = 'arrival-1' FOR UPDATE")
            all_of_them = asyncio.ensure_future(asyncio.to_thread(lock, 2, 1, 0))
            await until(somebody_waits)
            assert [is_held(n) for n in range(3)] == [True, True, False]
        assert await all_of_them == 3
        assert not any(map(is_held, range(3)))
    engine.dispose()


# --- Deletions -----------------------------------------------------------------------------

GONE = RowUpdate(
    lambda p: tables.arrivals.delete().where(
        tables.arrivals.c.id == p["arrival"], tables.arrivals.c.status == p["before"]
    ),
    arrival=tables.arrivals.c.id,
    before=tables.arrivals.c.status,
)


def gone(n: int, status: str = "arrived") -> dict[str, Any]:
    return {"arrival": f"arrival-{n}", "before": status}


@pytest.mark.parametrize("rows", [1, 2, 300])
def test_rows_are_deleted_together(connection: Connection, rows: int) -> None:
    people(connection, rows + 1)
    seen = statements(connection.engine)
    assert GONE.run(connection, [gone(n) for n in range(rows)]) == rows
    assert len(seen) == 1
    assert [row["id"] for row in stored(connection, tables.arrivals)] == [f"arrival-{rows}"]


def test_a_deletion_that_finds_nothing_is_not_counted(connection: Connection) -> None:
    people(connection, 2)
    assert GONE.run(connection, [gone(0), gone(0), gone(1, "seated"), gone(7)]) == 1
    assert [row["id"] for row in stored(connection, tables.arrivals)] == ["arrival-1"]
