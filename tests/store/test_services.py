"""The servers that tests and chaos runs use keep what a crash must not take."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from tests import services
from tests.services import PostgresServer, ValkeyServer


def test_valkey_keeps_its_data_and_its_port_through_kill(valkey_server: ValkeyServer) -> None:
    with redis.Redis.from_url(valkey_server.url) as client:
        client.set("key", "value")
    url, pid = valkey_server.url, valkey_server.pid
    valkey_server.kill()
    assert not valkey_server.running
    assert not psutil.pid_exists(pid)
    valkey_server.start()
    assert valkey_server.url == url
    with redis.Redis.from_url(url) as client:
        assert client.get("key") == b"value"
    valkey_server.flush()
    with redis.Redis.from_url(url) as client:
        assert client.get("key") is None


def test_postgres_keeps_what_it_committed_through_kill(postgres_server: PostgresServer) -> None:
    url = postgres_server.create_database()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept (id integer)")
        connection.execute("INSERT INTO kept VALUES (1)")
    for _ in range(2):
        postgres_server.kill()
        assert not postgres_server.running
        postgres_server.start()
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT id FROM kept").fetchall() == [(1,)]
            assert connection.execute("SHOW fsync").fetchone() == ("on",)
            assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)


def test_a_copied_template_has_its_tables(postgres_server: PostgresServer) -> None:
    with psycopg.connect(postgres_server.create_database("template")) as connection:
        connection.execute("CREATE TABLE copied (id integer)")
    url = postgres_server.create_database(template="template")
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM copied").fetchone() == (0,)


def test_redis_url_is_empty_for_each_test(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0
        client.set("left", "behind")


def test_redis_url_is_empty_for_the_next_test_too(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0


def test_the_wheel_serves_where_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "_installed_postgres", lambda: iter(()))
    with PostgresServer() as server, psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL under another account")
def test_the_wheel_serves_from_a_folder_closed_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = services._postgres_package()
    assert package is not None
    tmp_path.chmod(0o700)
    for folder in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(folder, tmp_path / folder.name)
    monkeypatch.setattr(services, "_installed_postgres", lambda: iter(()))
    monkeypatch.setattr(services, "_postgres_package", lambda: tmp_path / package.name)
    with PostgresServer() as server, psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
