"""The marketplace's database: one transaction at a time writes, others read beside it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, Final, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, insert, inspect, select, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError, TimeoutError

from dialogs.record.engine import check, open_engine, said
from dialogs.record.errors import CannotOpen
from hit_manager.marketplace.clock import Clock
from hit_manager.marketplace.errors import Unavailable
from hit_manager.marketplace.tables import VERSION, marketplace, metadata

P = ParamSpec("P")
T = TypeVar("T")

READERS: Final = 3

_LOCK: Final = 6_872_357
"""Of PostgreSQL's advisory locks, the one that a writing transaction of the marketplace holds."""


class Store:
    """Runs functions of a connection and the time, off the event loop.

    Writes are serialised, whoever makes them: in this process by a thread of their own, between
    processes by SQLite's write lock or an advisory lock of PostgreSQL. So a function of a
    write can look first and change then, and nothing comes between.
    """

    def __init__(self, url: str, clock: Clock) -> None:
        self.engine: Engine = open_engine(url, readers=READERS)
        # Parameters are names and ids of people, and errors are logged.
        self.engine.hide_parameters = True
        self._clock = clock
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="market-writer")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="market-reader")
        self.secret = b""

    def open(self) -> None:
        """Make the tables where there are none.

        Raises:
            CannotOpen: no answer, another program's tables, or another version's.
        """
        check(self.engine)
        try:
            with self.engine.begin() as connection:
                self._lock(connection)
                self.secret = _prepare(connection, self._clock.now())
        except SQLAlchemyError as error:
            raise CannotOpen(said(error)) from None

    async def close(self) -> None:
        """Let what runs end, then close all connections."""
        await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        self.engine.dispose()

    async def write(
        self,
        change: Callable[Concatenate[Connection, float, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `change(connection, now, *args)` in a transaction; committed on return.

        A caller that is cancelled takes nothing back.

        Raises:
            MarketplaceError: as `change` does; nothing was changed then.
            Unavailable: the database did not answer, or its answer to the commit is unknown.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._writer, lambda: self.write_now(change, *args, **kwargs)
        )

    async def read(
        self,
        query: Callable[Concatenate[Connection, float, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `query(connection, now, *args)` beside the writer.

        Raises:
            MarketplaceError: as `query` does.
            Unavailable: the database did not answer.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, lambda: self._read(query, *args, **kwargs))

    def write_now(
        self,
        change: Callable[Concatenate[Connection, float, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """`write`, for a program without an event loop."""
        try:
            with self.engine.connect() as connection, connection.begin():
                self._lock(connection)
                return change(connection, self._clock.now(), *args, **kwargs)
        except (DBAPIError, TimeoutError) as error:
            raise _unavailable(error) from None

    def _read(
        self,
        query: Callable[Concatenate[Connection, float, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        try:
            with self._reading() as connection, connection.begin():
                return query(connection, self._clock.now(), *args, **kwargs)
        except (DBAPIError, TimeoutError) as error:
            raise _unavailable(error) from None

    def _reading(self) -> Connection:
        """A connection whose transactions see one state of the database, from their first
        statement on."""
        connection = self.engine.connect().execution_options(reading=True)
        if connection.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        return connection

    def _lock(self, connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


def _unavailable(error: SQLAlchemyError) -> Unavailable:
    return Unavailable(said(error))


def _prepare(connection: Connection, now: float) -> bytes:
    """The secret of this marketplace, after making sure that the tables are ours."""
    names = set(inspect(connection).get_table_names())
    if marketplace.name not in names:
        if names:
            raise CannotOpen(
                "this database holds the tables of another program; a marketplace needs one of "
                "its own"
            )
        metadata.create_all(connection)
        connection.execute(
            insert(marketplace).values(
                version=VERSION, created_at=now, secret=secrets.token_bytes(32)
            )
        )
    row = connection.execute(select(marketplace.c.version, marketplace.c.secret)).one()
    if row.version != VERSION:
        raise CannotOpen(
            f"the marketplace's tables have version {row.version}, this program has {VERSION}"
        )
    return bytes(row.secret)
