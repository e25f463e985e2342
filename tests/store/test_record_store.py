"""Opening a record: who may, with what durability, and what is said when it cannot be."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from dialogs.record import tables
from dialogs.record.engine import durability, parse_url
from dialogs.record.errors import CannotOpen, Unavailable
from dialogs.record.store import Record
from dialogs.record.writer import Decision
from tests.records import begin_study, end_other_connections, opened, rows_of, said_row
from tests.services import create_database, database_name, drop_database


async def test_a_second_server_on_one_file_is_refused_until_the_first_ends(
    sqlite_url: str,
) -> None:
    async with opened(sqlite_url):
        second = Record(sqlite_url)
        with pytest.raises(CannotOpen, match="one process is the most on SQLite"):
            second.open()
        await second.close()
    async with opened(sqlite_url) as third:
        await begin_study(third)


async def test_a_second_server_process_on_one_file_is_refused(sqlite_url: str) -> None:
    code = (
        "import asyncio\n"
        "from dialogs.record.store import Record\n"
        "async def main():\n"
        f"    Record({sqlite_url!r}).open()\n"
        "asyncio.run(main())\n"
    )
    async with opened(sqlite_url):
        ended = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True
        )
    assert ended.returncode != 0
    assert "CannotOpen: another server uses" in ended.stderr


async def test_a_failed_second_server_does_not_take_the_lock_from_the_first(
    sqlite_url: str,
) -> None:
    async with opened(sqlite_url):
        for _ in range(2):
            second = Record(sqlite_url)
            with pytest.raises(CannotOpen):
                second.open()
            await second.close()


async def test_servers_share_postgresql(migrated_postgres_url: str) -> None:
    async with opened(migrated_postgres_url) as one, opened(migrated_postgres_url) as two:
        await begin_study(one)
        assert len(rows_of(two, tables.arrivals)) == 2


async def test_a_tool_reads_and_writes_beside_a_server(database_url: str) -> None:
    async with opened(database_url) as server, opened(database_url, serving=False) as tool:
        await begin_study(server)
        assert len(rows_of(tool, tables.arrivals)) == 2
        rows = [Decision(f"d-{n}", ((tables.events, said_row(f"d-{n}", 1)),)) for n in range(40)]
        await asyncio.gather(
            *(server.writer.commit(row) for row in rows[:20]),
            *(tool.writer.commit(row) for row in rows[20:]),
        )
        assert len(rows_of(server, tables.events)) == 40


async def test_closing_commits_what_waits(database_url: str) -> None:
    async with opened(database_url) as record:
        waiting = [
            record.writer.submit(Decision(f"d-{n}", ((tables.events, said_row(f"d-{n}", 1)),)))
            for n in range(700)
        ]
    assert all(future.done() and future.exception() is None for future in waiting)
    async with opened(database_url) as record:
        assert len(rows_of(record, tables.events)) == 700


async def test_reading_takes_no_lock_that_writers_need(sqlite_url: str) -> None:
    async with opened(sqlite_url) as record:
        reading, go_on = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def slow(connection: Connection) -> int:
            found = connection.execute(text("SELECT count(*) FROM events")).scalar_one()
            loop.call_soon_threadsafe(reading.set)
            asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(30)
            return int(found)

        reader = asyncio.create_task(record.read(slow))
        await reading.wait()
        await record.writer.commit(Decision("d", ((tables.events, said_row("d", 1)),)))
        go_on.set()
        assert await reader == 0


async def test_what_is_committed_is_durable(database_url: str) -> None:
    async with opened(database_url) as record:
        for _ in range(3):
            settings = durability(record.engine)
            if record.engine.dialect.name == "sqlite":
                assert settings == {"synchronous": "FULL"}
                with record.engine.connect() as connection:
                    mode = connection.execute(text("PRAGMA journal_mode")).scalar_one()
                assert mode == "wal"
            else:
                assert settings["synchronous_commit"] == "on"


async def test_locks_statements_and_idle_transactions_end_by_themselves(
    migrated_postgres_url: str,
) -> None:
    async with opened(migrated_postgres_url) as record:
        with record.engine.connect() as connection:
            names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
            shown = {n: connection.execute(text(f"SHOW {n}")).scalar_one() for n in names}
        assert list(shown.values()) == ["2s", "2s", "5s"]


async def test_no_time_of_a_statement_goes_into_compiling_it(migrated_postgres_url: str) -> None:
    async with opened(migrated_postgres_url) as record:
        with record.engine.connect() as connection:
            rows = "generate_series(1, 100000)"
            costly = f"EXPLAIN SELECT count(*) FROM {rows} a, {rows} b, {rows} c"
            plan = connection.execute(text(costly)).scalars().all()
            assert connection.execute(text("SHOW jit")).scalar_one() == "off"
        assert not any("JIT" in line for line in plan)


async def test_reading_after_the_connections_were_ended_is_unavailable_and_then_works(
    migrated_postgres_url: str,
) -> None:
    def ask(connection: Connection) -> int:
        return int(connection.execute(text("SELECT 1")).scalar_one())

    async with (
        opened(migrated_postgres_url) as record,
        opened(migrated_postgres_url, serving=False) as other,
    ):
        assert await record.read(ask) == 1
        await asyncio.to_thread(end_other_connections, other)
        with pytest.raises(Unavailable):
            await record.read(ask)
        assert await record.read(ask) == 1


async def test_a_database_that_is_gone_is_refused_in_words(postgres_server_url: str) -> None:
    url = create_database(postgres_server_url)
    drop_database(postgres_server_url, database_name(url))
    record = Record(url)
    with pytest.raises(CannotOpen, match="does not exist"):
        record.open()
    await record.close()


async def test_a_password_is_never_shown(postgres_server_url: str) -> None:
    url = "postgresql://someone:SECRET@127.0.0.1:1/none"
    record = Record(url)
    with pytest.raises(CannotOpen) as refused:
        record.open()
    await record.close()
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("record.db", "is no database URL"),
        ("mysql://localhost/x", "must be a SQLite file"),
        ("sqlite://", "must be a SQLite file"),
        ("sqlite:///:memory:", "must be a SQLite file"),
    ],
)
def test_other_urls_are_refused_in_words(url: str, words: str) -> None:
    with pytest.raises(CannotOpen, match=words):
        parse_url(url)


async def test_the_folder_of_a_new_file_is_made(tmp_path: Path) -> None:
    async with opened(f"sqlite:///{tmp_path / 'new' / 'deep' / 'record.sqlite3'}") as record:
        await begin_study(record)
