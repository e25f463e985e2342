"""A database opened for work: migrated, with its writer and its readers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from dialogs.record.engine import SoleProcess, check, open_engine, said
from dialogs.record.errors import Unavailable
from dialogs.record.migrate import migrate
from dialogs.record.together import Together
from dialogs.record.writer import Writer

P = ParamSpec("P")
T = TypeVar("T")

READERS = 4


class Record:
    """The record of a server process, or with `serving=False` of a tool beside it.

    `read(query, *args)` runs a function of `queries` on a connection of its own, off the event
    loop; `one(query, id)` does so together with others who ask the same; `writer` commits
    decisions.
    """

    def __init__(
        self,
        url: str,
        *,
        serving: bool = True,
        before_commit: Callable[[], None] | None = None,
        after_commit: Callable[[], None] | None = None,
    ) -> None:
        self.engine: Engine = open_engine(url, readers=READERS)
        self._url = url
        alone = serving and self.engine.dialect.name == "sqlite"
        self._sole = SoleProcess(url) if alone else None
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="reader")
        self._together: dict[Callable[..., Any], Together[Any]] = {}
        self.writer = Writer(self.engine, before_commit=before_commit, after_commit=after_commit)

    def open(self) -> None:
        """Check and migrate the database, and start the writer. Needs a running event loop.

        Raises:
            CannotOpen: another server process holds this SQLite file, the database does not
                answer, or it was written by a newer version.
        """
        if self._sole:
            self._sole.acquire()
        check(self.engine)
        migrate(self._url)
        self.writer.start()

    async def close(self) -> None:
        """Commit what waits and close all connections."""
        await self.writer.stop()
        self._threads.shutdown()
        self.engine.dispose()
        if self._sole:
            self._sole.release()

    async def read(
        self,
        query: Callable[Concatenate[Connection, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `query(connection, *args)` on a reading connection.

        Raises:
            Unavailable: the database did not answer in time.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: self._read(query, *args, **kwargs))

    async def one(
        self, query: Callable[[Connection, Collection[str]], Mapping[str, T]], id_: str
    ) -> T | None:
        """What `query(connection, ids)` finds for this id, or None.

        Questions of many callers at a time cost one query; the answer is never older than the
        question.

        Raises:
            Unavailable: the database did not answer in time.
        """
        together = self._together.get(query)
        if together is None:
            together = self._together[query] = Together(lambda ids: self.read(query, ids))
        found: T | None = await together.get(id_)
        return found

    def _read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        try:
            with reading(self.engine) as connection:
                return query(connection, *args, **kwargs)
        except SQLAlchemyError as error:
            raise Unavailable(said(error)) from None


def reading(engine: Engine) -> AbstractContextManager[Connection]:
    """A connection that only reads.

    On SQLite it takes no write lock; on PostgreSQL each statement is a transaction of its own,
    which saves two of three round trips.
    """
    connection = engine.connect().execution_options(reading=True)
    if engine.dialect.name == "postgresql":
        connection = connection.execution_options(isolation_level="AUTOCOMMIT")
    return connection
