"""What every test can ask for: real Redis and real databases."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.services import (
    CannotHave,
    PostgresServer,
    ValkeyServer,
    create_database,
    database_name,
    drop_database,
    flush,
    redis_database,
)

# Two busy cores make any deadline a coin toss. CI tries the same examples each time, so that a red
# run is about the change at hand; everyone else's runs look for new ones.
settings.register_profile("person", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "person")


def _worker_number() -> int:
    """This process among those of pytest-xdist: 0, 1, ..."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


@pytest.fixture(scope="session")
def redis_server_url() -> Iterator[str]:
    """A Redis server for the whole run: DUOLOGUE_TEST_REDIS_URL, else one of our own."""
    if url := os.environ.get("DUOLOGUE_TEST_REDIS_URL"):
        yield url
        return
    try:
        server = ValkeyServer(appendfsync="no").start()
    except CannotHave as error:
        pytest.skip(str(error))
    with server:
        yield server.url


@pytest.fixture
def redis_url(redis_server_url: str) -> Iterator[str]:
    """An empty Redis database that no other test sees."""
    url = redis_database(redis_server_url, _worker_number())
    flush(url)
    yield url
    flush(url)


@pytest.fixture
def valkey_server() -> Iterator[ValkeyServer]:
    """A server of this test's own, to kill, flush and start again."""
    with ValkeyServer() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_server_url() -> Iterator[str]:
    """A PostgreSQL server for the whole run: DUOLOGUE_TEST_POSTGRES_URL, else one of our own.

    The account in the URL must be allowed to create databases.
    """
    if url := os.environ.get("DUOLOGUE_TEST_POSTGRES_URL"):
        yield url
        return
    try:
        # No test that uses it crashes the machine; those that kill the server start their own.
        server = PostgresServer(durable=False).start()
    except CannotHave as error:
        pytest.skip(str(error))
    with server:
        yield server.url


@pytest.fixture
def postgres_server() -> Iterator[PostgresServer]:
    """A durable server of this test's own, to kill and start again."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server_url: str) -> Iterator[str]:
    """A new, empty PostgreSQL database."""
    url = create_database(postgres_server_url)
    yield url
    drop_database(postgres_server_url, database_name(url))


@pytest.fixture(scope="session")
def postgres_template(postgres_server_url: str) -> Iterator[str]:
    """The name of a database with the current tables, to copy: faster than migrating each."""
    from dialogs.record.migrate import migrate

    url = create_database(postgres_server_url)
    migrate(url)
    yield database_name(url)
    drop_database(postgres_server_url, database_name(url))


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the current tables, to copy."""
    from dialogs.record.migrate import migrate

    path = tmp_path_factory.mktemp("template") / "record.sqlite3"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(params=["sqlite", "postgres"])
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new database without tables, once in SQLite and once in PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'empty.sqlite3'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """A new SQLite database with the current tables."""
    path = tmp_path / "record.sqlite3"
    shutil.copyfile(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture
def migrated_postgres_url(postgres_server_url: str, postgres_template: str) -> Iterator[str]:
    """A new PostgreSQL database with the current tables."""
    url = create_database(postgres_server_url, template=postgres_template)
    yield url
    drop_database(postgres_server_url, database_name(url))


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A new database with the current tables, once in SQLite and once in PostgreSQL."""
    fixture = "sqlite_url" if request.param == "sqlite" else "migrated_postgres_url"
    url: str = request.getfixturevalue(fixture)
    return url
