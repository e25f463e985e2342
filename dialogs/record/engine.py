"""Opening a database: SQLite or PostgreSQL by URL, with the durability this project promises."""

from __future__ import annotations

import fcntl
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

import psycopg
from psycopg.abc import RV, PQGen
from sqlalchemy import Engine, create_engine, event, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from dialogs.record.errors import CannotOpen

LOCK_TIMEOUT_S: Final = 2
IDLE_TIMEOUT_S: Final = 5
ANSWER_TIMEOUT_S: Final = 3
"""How long PostgreSQL may keep silent on one statement; its own limits end it before."""


def parse_url(url: str) -> URL:
    """The database URL with the driver this project uses.

    Raises:
        CannotOpen: not a URL, or neither SQLite nor PostgreSQL.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise CannotOpen(
            f"{url!r} is no database URL; write sqlite:///FILE or postgresql://USER@HOST/NAME"
        ) from None
    match parsed.get_backend_name():
        case "sqlite" if parsed.database and parsed.database != ":memory:":
            return parsed
        case "postgresql":
            return parsed.set(drivername="postgresql+psycopg")
        case _:
            raise CannotOpen(
                f"{parsed.render_as_string()!r}: the database must be a SQLite file "
                "(sqlite:///FILE) or PostgreSQL (postgresql://USER@HOST/NAME)"
            )


def open_engine(url: str, *, readers: int = 4, patient: bool = False) -> Engine:
    """An engine whose every connection has the settings of this project.

    SQLite: WAL, `synchronous=FULL`, write transactions take their lock at once. PostgreSQL:
    locks and statements end after 2 s, idle transactions after 5 s, and a server that keeps
    silent is given up after 3 s, unless `patient`. `readers` bounds the pool.
    """
    parsed = parse_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _open_sqlite(parsed, readers)
    return _open_postgres(parsed, readers, patient=patient)


def _open_sqlite(url: URL, readers: int) -> Engine:
    with suppress(OSError):
        # What people wrote is nobody else's to read. Where this fails, connecting says why.
        Path(str(url.database)).touch(mode=0o600)
    engine = create_engine(
        url,
        hide_parameters=True,
        pool_size=readers + 1,
        max_overflow=0,
        pool_timeout=LOCK_TIMEOUT_S,
        # The driver's own transaction control is off: it would begin late and deferred.
        connect_args={
            "timeout": LOCK_TIMEOUT_S,
            "isolation_level": None,
            "check_same_thread": False,
        },
    )

    @event.listens_for(engine, "connect")
    def _settings(connection: Any, _record: Any) -> None:
        _keep_wal(connection)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        # What is overwritten leaves no copy in the file. Nearly nothing is, so it costs nothing.
        connection.execute("PRAGMA secure_delete=ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        reading = connection.get_execution_options().get("reading", False)
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def _keep_wal(connection: sqlite3.Connection) -> None:
    """Put the file into WAL mode; that lasts, so only its first connection changes anything.

    SQLite does not wait for others who do the same at that moment, whatever its time-out.
    """
    until = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


class _Bounded(psycopg.Connection[Any]):
    """A connection that gives up a server that does not answer.

    No socket option does: of a process that is stopped or stuck the kernel still answers.
    """

    def wait(
        self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = ANSWER_TIMEOUT_S
    ) -> RV:
        try:
            return super().wait(gen, interval, timeout)
        except psycopg.OperationalError as error:
            # Without a code it is not the server that spoke: what becomes of the statement is
            # unknown, and a late answer must not be taken for the next one's.
            if error.sqlstate is None:
                self.pgconn.finish()
            raise


def _open_postgres(url: URL, readers: int, *, patient: bool) -> Engine:
    # PostgreSQL guesses too high what a look at each dialog costs, and would compile what asks for
    # it, every time anew: that takes longer than it saves.
    options = (
        "-c jit=off "
        f"-c lock_timeout={LOCK_TIMEOUT_S}s -c statement_timeout={LOCK_TIMEOUT_S}s "
        f"-c idle_in_transaction_session_timeout={IDLE_TIMEOUT_S}s"
    )
    engine = create_engine(
        url,
        hide_parameters=True,
        pool_size=readers + 1,
        max_overflow=0,
        pool_timeout=LOCK_TIMEOUT_S,
        pool_pre_ping=False,
        connect_args={
            "options": options,
            "connect_timeout": LOCK_TIMEOUT_S,
            # A peer that vanished without a word is noticed by the kernel.
            "keepalives_idle": 2,
            "keepalives_interval": 1,
            "keepalives_count": 3,
            "tcp_user_timeout": 4000,
        },
    )
    made = psycopg.Connection if patient else _Bounded

    @event.listens_for(engine, "do_connect")
    def _connect(_dialect: Any, _record: Any, args: Any, params: Any) -> psycopg.Connection[Any]:
        return made.connect(*args, **params)

    return engine


def durability(engine: Engine) -> dict[str, str]:
    """The durability settings as the live database reports them."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            level = connection.execute(text("PRAGMA synchronous")).scalar_one()
            names = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}
            return {"synchronous": names[int(level)]}
        return {
            name: str(connection.execute(text(f"SHOW {name}")).scalar_one())
            for name in ("fsync", "synchronous_commit")
        }


class SoleProcess:
    """The lock that keeps a second server process off a SQLite file.

    SQLite on one file serves one process well; two would wait for each other's locks.
    """

    def __init__(self, url: str) -> None:
        self._path = Path(f"{parse_url(url).database}.lock")
        self._file: IO[str] | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            CannotOpen: another process holds it.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("a")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            self._file = None
            raise CannotOpen(
                f"another server uses {self._path.with_suffix('')}; one process is the most on "
                "SQLite. Stop it, or set DUOLOGUE_DATABASE_URL to a PostgreSQL database"
            ) from None

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def check(engine: Engine) -> None:
    """Ask the database for an answer.

    Raises:
        CannotOpen: with the reason.
    """
    try:
        with engine.connect() as connection:
            connection.execute(text("SELECT 1"))
    except SQLAlchemyError as error:
        raise no_answer(engine, error) from None


def no_answer(engine: Engine, error: SQLAlchemyError) -> CannotOpen:
    """What to tell of a database that cannot be used now."""
    where = engine.url.render_as_string(hide_password=True)
    return CannotOpen(f"the database {where} does not answer: {said(error)}")


def said(error: SQLAlchemyError) -> str:
    """What a database says is wrong, in one line and without the values of the row: those may be
    ids or texts of people, and errors are logged."""
    cause = getattr(error, "orig", None) or error
    if not isinstance(cause, (psycopg.Error, sqlite3.Error, SQLAlchemyError)):
        # It did not even reach the database, and what Python says of a value names it.
        return type(cause).__name__
    text = cause.diag.message_primary if isinstance(cause, psycopg.Error) else None
    # A value that is none of its type stands at the end: `invalid input syntax for …: "value"`.
    return (text or str(cause)).strip().split("\n")[0].partition(': "')[0]
