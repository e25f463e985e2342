"""Inserting many rows of one table with one statement."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import orjson
from sqlalchemy import JSON, Connection, Insert, Table, Text, bindparam, cast, column, func, select

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
    document = cast(bindparam("rows", type_=Text), JSON)
    read = (
        func.json_to_recordset(document)
        .table_valued(*[column(name, table.c[name].type) for name in names])
        .render_derived(name="x", with_types=True)
    )
    return table.insert().from_select(names, select(*[read.c[name] for name in names]))
