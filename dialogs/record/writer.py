"""The group-commit writer: many decisions, one transaction, one fsync.

One a process. Decisions that arrive while a transaction is in flight are committed together by
the next one, so the cost of an fsync is shared by whoever waits. A decision is stored whole or
not at all: plain inserts, and changes that must each find exactly one row. When a batch
fails for one decision's sake, it is rolled back and halved until that decision stands alone.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection, Engine, Table
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    NotSupportedError,
    ProgrammingError,
    SQLAlchemyError,
    StatementError,
)

from dialogs.record.bulk import Row, RowLock, RowLocks, RowUpdate, insert_rows
from dialogs.record.engine import said
from dialogs.record.errors import BadRow, Conflict, Overloaded, RecordError, Unavailable
from dialogs.record.tables import metadata

MAX_BATCH: Final = 500
MAX_WAITING: Final = 20_000

_TABLE_ORDER: Final = {table.name: n for n, table in enumerate(metadata.sorted_tables)}


@dataclass(frozen=True, slots=True)
class Change:
    """An update, deletion or locked read that must find exactly one row; otherwise the decision
    conflicts."""

    statement: RowUpdate | RowLock | RowLocks
    params: Row


@dataclass(frozen=True, slots=True)
class Decision:
    """What one command leads to in the record. `key` names its dialog or arrival: batches are
    sorted by it, so that two processes take their locks in the same order."""

    key: str
    inserts: tuple[tuple[Table, Row], ...]
    changes: tuple[Change, ...] = ()


def together(*decisions: Decision) -> Decision:
    """All of these or none; they are about the same dialog or arrival, and no two about one row."""
    return Decision(
        decisions[0].key,
        tuple(insert for decision in decisions for insert in decision.inserts),
        tuple(change for decision in decisions for change in decision.changes),
    )


@dataclass(slots=True)
class WriterStats:
    """Running counts since the start; `sizes` is how many batches had so many decisions."""

    decisions: int = 0
    batches: int = 0
    conflicts: int = 0
    failures: int = 0
    largest_batch: int = 0
    sizes: Counter[int] = field(default_factory=Counter)


class Writer:
    """Commits decisions in groups. `commit` returns when the database has committed.

    `before_commit` and `after_commit` are called in the writer's thread around each commit;
    the chaos suite ends the process there.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        before_commit: Callable[[], None] | None = None,
        after_commit: Callable[[], None] | None = None,
    ) -> None:
        self._engine = engine
        self._before = before_commit
        self._after = after_commit
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._waiting: list[tuple[Decision, asyncio.Future[None]]] = []
        self._wake = asyncio.Event()
        self._closing = False
        self._task: asyncio.Task[None] | None = None
        self.stats = WriterStats()

    @property
    def waiting(self) -> int:
        """How many decisions no transaction has begun with yet."""
        return len(self._waiting)

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="writer")

    async def stop(self) -> None:
        """Commit what is waiting, then end."""
        self._closing = True
        self._wake.set()
        if self._task is not None:
            await self._task
        self._thread.shutdown()

    def submit(self, decision: Decision) -> asyncio.Future[None]:
        """Queue a decision. The future ends when it is committed, or with a `RecordError`."""
        future = asyncio.get_running_loop().create_future()
        if self._closing:
            future.set_exception(Overloaded("the server is stopping"))
        elif len(self._waiting) >= MAX_WAITING:
            future.set_exception(Overloaded("too many decisions wait for the database"))
        else:
            self._waiting.append((decision, future))
            self._wake.set()
        return future

    async def commit(self, decision: Decision) -> None:
        """Commit one decision.

        A caller that is cancelled takes nothing back: the decision is committed all the same.

        Raises:
            Conflict: decide anew from the record.
            BadRow: the decision can never be stored.
            Unavailable: no answer or an unknown one; decide again from the record.
        """
        await self.submit(decision)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
            if not self._waiting and not self._closing:
                self._wake.clear()
            if not batch:
                if self._closing:
                    return
                continue
            batch.sort(key=lambda entry: entry[0].key)
            decisions = [decision for decision, _ in batch]
            results = await loop.run_in_executor(self._thread, self._write, decisions)
            self.stats.batches += 1
            self.stats.decisions += len(batch)
            self.stats.sizes[len(batch)] += 1
            self.stats.largest_batch = max(self.stats.largest_batch, len(batch))
            for (_, future), error in zip(batch, results, strict=True):
                if future.done():
                    continue
                if error is None:
                    future.set_result(None)
                else:
                    future.set_exception(error)

    def _write(self, batch: Sequence[Decision], *, again: bool = True) -> list[RecordError | None]:
        try:
            with self._engine.connect() as connection, connection.begin():
                _execute(connection, batch)
                if self._before:
                    self._before()
            if self._after:
                self._after()
        except Exception as error:
            failure = _classify(error)
            if again and _is_untouched(error):
                # Two processes waited for each other; nothing of this was written.
                return self._write(batch, again=False)
            if isinstance(failure, Unavailable) or len(batch) == 1:
                self.stats.conflicts += isinstance(failure, Conflict)
                self.stats.failures += not isinstance(failure, Conflict)
                return [failure] * len(batch)
            middle = len(batch) // 2
            return self._write(batch[:middle]) + self._write(batch[middle:])
        return [None] * len(batch)


def _execute(connection: Connection, batch: Sequence[Decision]) -> None:
    changes: dict[RowUpdate | RowLock | RowLocks, list[Row]] = defaultdict(list)
    rows: dict[Table, list[Row]] = defaultdict(list)
    for decision in batch:
        for change in decision.changes:
            changes[change.statement].append(change.params)
        for table, row in decision.inserts:
            rows[table].append(row)
    for statement, params in sorted(changes.items(), key=lambda each: each[0].order):
        # Two changes of one row may count as one; by itself each decision finds its own.
        found = statement.run(connection, sorted(params, key=_in_one_order))
        if found != len(params):
            # Without their values: those may be ids or texts of people, and this is logged.
            raise Conflict(
                f"{found} rows where {len(params)} were expected: {', '.join(params[0])}"
            )
    for table in sorted(rows, key=lambda t: _TABLE_ORDER[t.name]):
        insert_rows(connection, table, rows[table])


def _in_one_order(params: Row) -> tuple[str, ...]:
    """Every process locks the rows that one statement changes in this order."""
    return tuple(map(str, params.values()))


def _classify(error: Exception) -> RecordError:
    match error:
        case RecordError():
            return error
        case IntegrityError():
            unique = getattr(error.orig, "sqlstate", None) == "23505" or "UNIQUE" in str(error.orig)
            return Conflict(said(error)) if unique else BadRow(said(error))
        case DBAPIError() if error.connection_invalidated or not _is_of_the_row(error):
            return Unavailable(said(error))
        case StatementError():
            return BadRow(said(error))
        case SQLAlchemyError():
            return Unavailable(said(error))
        case UnicodeError() | ValueError() | TypeError() | OverflowError():
            return BadRow(type(error).__name__)
        case _:
            return Unavailable(f"{type(error).__name__}: {error}")


def _is_untouched(error: Exception) -> bool:
    """Whether the database gave the transaction up by itself: a deadlock, or a serialisation."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in {
        "40P01",
        "40001",
    }


def _is_of_the_row(error: DBAPIError) -> bool:
    """Whether the fault is the row's own, and not the database's or the moment's."""
    if state := getattr(error.orig, "sqlstate", None):
        # Data exceptions, and limits such as that of a key in an index.
        return state[:2] in {"22", "54"}
    return isinstance(error, DataError | ProgrammingError | NotSupportedError)
