"""A record with a study in it, for tests: people `worker-N` with arrival `arrival-N`, items."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import Connection, Table, func, select, text

from dialogs.dialog import open_dialog
from dialogs.events import Opened, SeatTaken
from dialogs.record import decisions, queries, studies
from dialogs.record.store import Record, reading
from dialogs.record.writer import Decision
from dialogs.rules import ArrivalStatus, Release, Role, Rules
from dialogs.state import DialogState, begin
from tests.services import create_database, database_name, drop_database

STUDY = "study"
RULES = Rules(rounds=2)
OPENED_AT = 1_700_000_000.0


@contextmanager
def shared_database(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """A database for many tests that commit nothing: `request.param` is sqlite or postgres."""
    if request.param == "sqlite":
        shutil.copyfile(request.getfixturevalue("sqlite_template"), folder / "record.sqlite3")
        yield f"sqlite:///{folder / 'record.sqlite3'}"
        return
    server = request.getfixturevalue("postgres_server_url")
    url = create_database(server, template=request.getfixturevalue("postgres_template"))
    yield url
    drop_database(server, database_name(url))


@asynccontextmanager
async def opened(url: str, **how: Any) -> AsyncIterator[Record]:
    """A record, open until the end of the block."""
    record = Record(url, **how)
    try:
        record.open()
        yield record
    finally:
        await record.close()


def prepared(item_id: str, wanted: int = 1, position: int = 0) -> studies.PreparedItem:
    return studies.PreparedItem(
        item_id, f"image-{item_id}", "A dog.", "f.jpg", None, 8, 8, "00", wanted, position
    )


def worker_row(n: int | str, study: str = STUDY) -> dict[str, Any]:
    return {
        "id": f"worker-{n}",
        "study_id": study,
        "recruiter": "link",
        "external_id": f"person-{n}",
        "created_at": OPENED_AT,
    }


def arrival_row(n: int | str, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"arrival-{n}",
        "study_id": STUDY,
        "worker_id": f"worker-{n}",
        "assignment_id": f"assignment-{n}",
        "status": ArrivalStatus.ARRIVED.value,
        "language": "en",
        "address": None,
        "created_at": OPENED_AT,
        **fields,
    }


async def commit_all(record: Record, *made: Decision) -> None:
    for decision in made:
        await record.writer.commit(decision)


async def begin_study(record: Record, *, people: int = 2, items: Iterable[str] = ("dog",)) -> None:
    """An open study whose people all wait in the lobby."""
    rows = [prepared(item, position=n) for n, item in enumerate(items)]
    await commit_all(record, studies.new_study(STUDY, {}, 1.0))
    await commit_all(record, studies.new_items(STUDY, rows, 1.0))
    for n in range(people):
        await commit_all(
            record,
            decisions.new_arrival(worker_row(n), arrival_row(n)),
            decisions.ready(f"arrival-{n}", OPENED_AT),
        )


def opening_of(
    dialog: str,
    questioner: int,
    answerer: int,
    item: str = "dog",
    place: int = 1,
    rules: Rules = RULES,
) -> Opened:
    """The first event of a dialog between two of the people."""
    pair = ((Role.QUESTIONER, questioner), (Role.ANSWERER, answerer))
    taken = tuple(SeatTaken(role, f"arrival-{n}", f"worker-{n}") for role, n in pair)
    return open_dialog(rules, item, place, taken, OPENED_AT)


def opening(dialog: str, questioner: int, answerer: int, *args: Any, **how: Any) -> Decision:
    made = opening_of(dialog, questioner, answerer, *args, **how)
    return decisions.opening(STUDY, dialog, made, "en", same_address=False)


async def open_a_dialog(record: Record, dialog: str, *args: Any, **how: Any) -> DialogState:
    await record.writer.commit(opening(dialog, *args, **how))
    return begin(dialog, opening_of(dialog, *args, **how))


def never_paired(n: int) -> Decision:
    """The person goes home from the lobby, paid for a minute."""
    return decisions.release_unseated(
        f"arrival-{n}",
        ArrivalStatus.WAITING,
        Release.NEVER_PAIRED,
        10,
        "USD",
        OPENED_AT,
        "code-{}".format,
    )


def said_row(dialog: str, seq: int, **fields: Any) -> dict[str, Any]:
    """A row of `events` that no rule has looked at."""
    data = orjson.dumps({"n": seq}).decode()
    return {"dialog_id": dialog, "seq": seq, "kind": "said", "at": 1.5, "data": data, **fields}


def count(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def rows_of(record: Record, table: Table) -> list[dict[str, Any]]:
    with reading(record.engine) as connection:
        found = connection.execute(select(table).order_by(*table.primary_key.columns))
        return [dict(row) for row in found.mappings()]


def end_other_connections(record: Record) -> None:
    """PostgreSQL ends every connection to this database but the one that asks."""
    with record.engine.connect() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )


async def state_of(record: Record, dialog: str) -> DialogState:
    state = await record.one(queries.dialogs_by_id, dialog)
    assert state is not None
    return state
