"""A database comes to the current tables, whole or not at all, from wherever it is."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, event, inspect, text

from dialogs.record import migrate as migrations
from dialogs.record.engine import open_engine
from dialogs.record.errors import CannotOpen
from dialogs.record.migrate import migrate, newest
from dialogs.record.store import Record
from dialogs.record.tables import metadata


def tables_of(url: str) -> set[str]:
    engine = open_engine(url)
    try:
        return set(inspect(engine).get_table_names())
    finally:
        engine.dispose()


def version_of(url: str) -> str:
    engine = open_engine(url)
    with engine.connect() as connection:
        version: str = connection.execute(
            text("SELECT version_num FROM alembic_version")
        ).scalar_one()
    engine.dispose()
    return version


def set_version(url: str, version: str) -> None:
    engine = open_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :v"), {"v": version})
    engine.dispose()


def test_an_empty_database_gets_all_tables_and_the_newest_version(empty_database_url: str) -> None:
    migrate(empty_database_url)
    assert tables_of(empty_database_url) == {*metadata.tables, "alembic_version"}
    assert version_of(empty_database_url) == newest()


def test_migrating_again_changes_nothing(database_url: str) -> None:
    before = schema(database_url)
    migrate(database_url)
    migrate(database_url)
    assert schema(database_url) == before
    assert version_of(database_url) == newest()


def schema(url: str) -> list[Any]:
    engine = open_engine(url)
    found = inspect(engine)
    described = [
        (
            name,
            [(c["name"], str(c["type"]), c["nullable"]) for c in found.get_columns(name)],
            found.get_pk_constraint(name),
            sorted(
                (str(index["name"]), index["column_names"], index["unique"])
                for index in found.get_indexes(name)
            ),
        )
        for name in sorted(found.get_table_names())
    ]
    engine.dispose()
    return described


def test_the_migrated_tables_are_those_that_the_code_names(database_url: str) -> None:
    engine = open_engine(database_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_conditions_of_unique_indexes_and_checks_are_those_that_the_code_names(
    empty_database_url: str,
) -> None:
    """Comparing metadata does not look at these, and they carry the invariants."""
    engine = open_engine(empty_database_url)
    metadata.create_all(engine)
    made = conditions(engine)
    metadata.drop_all(engine)
    migrate(empty_database_url)
    assert conditions(engine) == made
    engine.dispose()


def conditions(engine: Engine) -> dict[str, str]:
    """The definitions of all indexes and checks, without the signs that may differ."""
    if engine.dialect.name == "sqlite":
        query = (
            "SELECT name, sql FROM sqlite_master "
            "WHERE sql IS NOT NULL AND name != 'alembic_version'"
        )
    else:
        query = (
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' "
            "AND tablename != 'alembic_version' UNION ALL "
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'c'"
        )
    with engine.connect() as connection:
        found = {row[0]: row[1] for row in connection.execute(text(query))}
    # Tables are compared by their parts elsewhere; of them only the checks are left here.
    kept = {}
    for name, definition in found.items():
        plain = "".join(c for c in definition.lower() if c.isalnum() or c in "<>=!'")
        kept[name] = (
            sorted(part for part in plain.split("constraint") if part.startswith("ck"))
            if plain.startswith("createtable")
            else plain
        )
    assert any("uq_dialogs_place" in name for name in kept)
    return kept


def test_processes_that_start_together_migrate_once(empty_database_url: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(migrate, empty_database_url) for _ in range(4)]:
            done.result()
    assert version_of(empty_database_url) == newest()


# --- Interrupted ---------------------------------------------------------------------------


@pytest.mark.parametrize("after", [1, 5, 14])
def test_an_interrupted_migration_leaves_nothing_half_made(
    empty_database_url: str, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = migrations.open_engine

    def open_fragile(*args: Any, **kwargs: Any) -> Engine:
        engine = sound(*args, **kwargs)
        left = [after]

        def fail(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
            if statement.strip().upper().startswith("CREATE"):
                left[0] -= 1
                if left[0] < 0:
                    raise KeyboardInterrupt

        event.listen(engine, "before_cursor_execute", fail)
        return engine

    monkeypatch.setattr(migrations, "open_engine", open_fragile)
    with pytest.raises(KeyboardInterrupt):
        migrate(empty_database_url)
    monkeypatch.undo()
    assert tables_of(empty_database_url) == set()
    migrate(empty_database_url)
    assert version_of(empty_database_url) == newest()


def test_a_process_killed_in_a_migration_of_sqlite_leaves_nothing_half_made(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path / 'record.sqlite3'}"
    code = f"""
        import os, signal
        from sqlalchemy import Engine, event
        from dialogs.record.migrate import migrate
        made = []
        def die(connection, cursor, statement, *rest):
            made.append(statement)
            if "CREATE TABLE seats" in statement:
                os.kill(os.getpid(), signal.SIGKILL)
        event.listen(Engine, "after_cursor_execute", die)
        migrate({url!r})
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=dict(os.environ))
    assert ended.returncode == -9
    assert tables_of(url) == set()
    migrate(url)
    assert version_of(url) == newest()


# --- Other versions ------------------------------------------------------------------------


def test_a_database_of_a_newer_version_is_refused_and_left_alone(database_url: str) -> None:
    set_version(database_url, "9999")
    before = schema(database_url)
    with pytest.raises(CannotOpen, match="another version of Duologue"):
        migrate(database_url)
    assert schema(database_url) == before
    assert version_of(database_url) == "9999"


async def test_a_record_of_a_newer_version_is_not_opened(database_url: str) -> None:
    set_version(database_url, "9999")
    record = Record(database_url)
    try:
        with pytest.raises(CannotOpen, match="another version"):
            record.open()
    finally:
        await record.close()


def test_a_database_that_is_busy_is_refused_in_words(sqlite_url: str) -> None:
    engine = open_engine(sqlite_url)
    holder = sqlite3.connect(engine.url.database or "", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(CannotOpen, match="locked"):
            migrate(sqlite_url)
    finally:
        holder.rollback()
        holder.close()
        engine.dispose()


def test_a_file_that_is_no_database_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "record.sqlite3"
    path.write_bytes(b"This is a letter, not a database. " * 100)
    with pytest.raises(CannotOpen, match="not a database"):
        migrate(f"sqlite:///{path}")
