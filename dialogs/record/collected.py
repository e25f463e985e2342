"""Reading what was said in a whole study, for exports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import orjson
from sqlalchemy import Connection, select

from dialogs.events import Said, from_json
from dialogs.record.tables import dialogs, erasures, events, items, seats
from dialogs.rules import Acceptance, Outcome

_CHUNK: Final = 500
"""How many dialogs' messages are read at once."""


_ERASED: Final = (
    select(seats.c.role)
    .join(erasures, erasures.c.worker_id == seats.c.worker_id)
    .where(seats.c.dialog_id == dialogs.c.id)
    .exists()
)


@dataclass(frozen=True, slots=True)
class DialogRow:
    """A dialog and what it is about. `outcome` is None while it runs; one is `erased` when
    somebody's words in it were."""

    id: str
    image_id: str
    caption: str
    place: int
    outcome: Outcome | None
    acceptance: Acceptance | None
    erased: bool


def dialogs_of(connection: Connection, study_id: str) -> list[DialogRow]:
    """All dialogs of a study, in an order that does not depend on when they were held."""
    query = (
        select(
            dialogs.c.id,
            items.c.image_id,
            items.c.caption,
            dialogs.c.place,
            dialogs.c.outcome,
            dialogs.c.acceptance,
            _ERASED.label("erased"),
        )
        .join(items, items.c.id == dialogs.c.item_id)
        .where(dialogs.c.study_id == study_id)
        .order_by(items.c.position, items.c.id, dialogs.c.place, dialogs.c.id)
    )
    return [
        DialogRow(
            row.id,
            row.image_id,
            row.caption,
            row.place,
            Outcome(row.outcome) if row.outcome else None,
            Acceptance(row.acceptance) if row.acceptance else None,
            bool(row.erased),
        )
        for row in connection.execute(query)
    ]


def messages_of(
    connection: Connection, dialog_ids: Sequence[str]
) -> Iterator[tuple[str, tuple[Said, ...]]]:
    """For each of the dialogs, in the given order, its messages in the order they were sent."""
    for start in range(0, len(dialog_ids), _CHUNK):
        chunk = dialog_ids[start : start + _CHUNK]
        query = (
            select(events.c.dialog_id, events.c.kind, events.c.at, events.c.data)
            .where(events.c.dialog_id.in_(chunk), events.c.kind == Said.kind)
            .order_by(events.c.dialog_id, events.c.seq)
        )
        said: dict[str, list[Said]] = {dialog_id: [] for dialog_id in chunk}
        for row in connection.execute(query):
            event = from_json(row.kind, row.at, orjson.loads(row.data))
            assert isinstance(event, Said), "the query asks for messages only"
            said[row.dialog_id].append(event)
        for dialog_id in chunk:
            yield dialog_id, tuple(said[dialog_id])
