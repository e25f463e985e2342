"""What the team notes about workers, for itself."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

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


def notes_of(connection: Connection, worker_id: str) -> list[NoteRow]:
    """What was noted about a worker, the newest first."""
    query = (
        select(worker_notes)
        .where(worker_notes.c.worker_id == worker_id)
        .order_by(worker_notes.c.at.desc(), worker_notes.c.id)
    )
    return [
        NoteRow(row.id, row.worker_id, row.admin_id, row.text, row.at)
        for row in connection.execute(query)
    ]
