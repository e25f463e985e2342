"""Inserting or changing many rows of one table with one statement.

A statement for each row would cost a round trip each, and after each the waiting thread has to
get hold of the interpreter again, which a busy event loop gives away every half millisecond.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any, Final

import orjson
from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    Connection,
    Delete,
    Insert,
    Select,
    Table,
    TableValuedAlias,
    Text,
    Update,
    bindparam,
    cast,
    column,
    func,
    literal_column,
    select,
)

Row = dict[str, Any]


def insert_rows(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert `rows`, all or none, in their order. Each may name columns of its own.

    PostgreSQL gets the rows of one shape as a single parameter: a fraction of the work of a
    statement for each row, and no more for one row. SQLite has no round trips to save.
    """
    shapes: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        shapes.setdefault(tuple(sorted(row)), []).append(row)
    for names, alike in shapes.items():
        if connection.dialect.name == "postgresql":
            connection.execute(_from_json(table, names), {"rows": orjson.dumps(alike).decode()})
        else:
            connection.execute(table.insert(), alike)


@cache
def _from_json(table: Table, names: tuple[str, ...]) -> Insert:
    """`INSERT … SELECT FROM json_to_recordset(:rows)` for the named columns."""
    read = _recordset({name: table.c[name] for name in names})
    return table.insert().from_select(names, select(*[read.c[name] for name in names]))


def _recordset(columns: Mapping[str, Column[Any]]) -> TableValuedAlias:
    """The JSON parameter `rows` as a table, its columns of the types of `columns`."""
    document = cast(bindparam("rows", type_=Text), JSON)
    return (
        func.json_to_recordset(document)
        .table_valued(*[column(name, each.type) for name, each in columns.items()])
        .render_derived(name="x", with_types=True)
    )


_MADE: Final = count()
"""Numbers the statements as they are written: processes that run the same code run several of
them in the same order, so that they do not wait for each other's locks in a circle."""


class RowUpdate:
    """An update or deletion of at most one row, written once and run for any number of them.

    `build` makes the statement from its parameters, by name; each has the type of the column
    that it is compared with or becomes. On PostgreSQL the parameters are the columns of one JSON
    document, elsewhere they are bound row by row.
    """

    def __init__(
        self,
        build: Callable[[Mapping[str, ColumnElement[Any]]], Update | Delete],
        **columns: Column[Any],
    ) -> None:
        self.order = next(_MADE)
        # The names of columns are reserved for parameters of SQLAlchemy's own.
        self._names = {name: f"given_{name}" for name in columns}
        self._each = build(
            {name: bindparam(self._names[name], type_=c.type) for name, c in columns.items()}
        )
        rows = _recordset(columns)
        read = select(*[rows.c[name] for name in columns])

        @cache
        def for_some(most: int) -> Update | Delete:
            some = read.limit(literal_column(str(most))).subquery("some")
            return build({name: some.c[name] for name in columns})

        self._for_some = for_some

    def run(self, connection: Connection, params: Sequence[Row]) -> int:
        """Run for each of `params`; returns how many rows were changed or deleted."""
        if connection.dialect.name == "postgresql":
            rows = {"rows": orjson.dumps(params).decode()}
            return connection.execute(self._for_some(_round(len(params))), rows).rowcount
        named = [{self._names[name]: value for name, value in row.items()} for row in params]
        return connection.execute(self._each, named).rowcount


def _round(number: int) -> int:
    """The next power of four: a statement for each number would be one to plan for each.

    PostgreSQL takes any JSON document for a hundred rows, and to change a hundred rows it reads
    a table of ten thousand from end to end. It believes a limit that is written out.
    """
    most = 1
    while most < number:
        most *= 4
    return most


class RowLock:
    """A locked read that finds at most one row for one set of parameters."""

    def __init__(self, statement: Select[Any]) -> None:
        self.order = next(_MADE)
        self._statement = statement

    def run(self, connection: Connection, params: Sequence[Row]) -> int:
        """Run for each of `params`, the same ones once; returns how many found their row."""
        found: dict[tuple[Any, ...], int] = {}
        for each in params:
            key = tuple(each.values())
            if key not in found:
                found[key] = len(connection.execute(self._statement, each).fetchall())
        return sum(found[tuple(each.values())] for each in params)


class RowLocks:
    """A locked read that finds at most one row for each set of parameters, for many sets at once.

    `build` makes the statement as for `RowUpdate`; it orders its rows, so that every process locks
    them in one order. On PostgreSQL all sets are one statement.
    """

    def __init__(
        self,
        build: Callable[[Mapping[str, ColumnElement[Any]]], Select[Any]],
        **columns: Column[Any],
    ) -> None:
        self.order = next(_MADE)
        self._each = build({name: bindparam(name, type_=c.type) for name, c in columns.items()})
        rows = _recordset(columns)
        read = select(*[rows.c[name] for name in columns])

        @cache
        def for_some(most: int) -> Select[Any]:
            some = read.limit(literal_column(str(most))).subquery("some")
            return build({name: some.c[name] for name in columns})

        self._for_some = for_some

    def run(self, connection: Connection, params: Sequence[Row]) -> int:
        """Run for each of `params`, the same ones once.

        Returns how many there are, less one for each different one that found no row.
        """
        once = list({tuple(row.values()): row for row in params}.values())
        if connection.dialect.name == "postgresql":
            rows = {"rows": orjson.dumps(once).decode()}
            statement = self._for_some(_round(len(once)))
            found = len(connection.execute(statement, rows).fetchall())
        else:
            found = sum(len(connection.execute(self._each, row).fetchall()) for row in once)
        return len(params) - (len(once) - found)
