"""What the team notes about workers, for itself."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from dialogs.record.queries import chunks
from dialogs.record.tables import worker_notes
from dialogs.record.writer import Decision


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note; `admin_id` is who of the team wrote it."""

    id: str
    worker_id: str
    admin_id: str | None
    text: str
    at: float


def noted(note_id: str, worker_id: str, admin_id: str | None, text: str, now: float) -> Decision:
    """Somebody of the team notes something; conflicts if this id was used before."""
    row = {"id": note_id, "worker_id": worker_id, "admin_id": admin_id, "text": text, "at": now}
    return Decision(worker_id, ((worker_notes, row),))


def notes_by_id(connection: Connection, ids: Collection[str]) -> dict[str, NoteRow]:
    """These notes, by their ids."""
    return {
        row.id: _note(row)
        for chunk in chunks(ids)
        for row in connection.execute(select(worker_notes).where(worker_notes.c.id.in_(chunk)))
    }


def notes_of(connection: Connection, worker_id: str) -> list[NoteRow]:
    """What was noted about a worker, the newest first."""
    query = (
        select(worker_notes)
        .where(worker_notes.c.worker_id == worker_id)
        .order_by(worker_notes.c.at.desc(), worker_notes.c.id)
    )
    return [_note(row) for row in connection.execute(query)]


def _note(row: Any) -> NoteRow:
    return NoteRow(row.id, row.worker_id, row.admin_id, row.text, row.at)
