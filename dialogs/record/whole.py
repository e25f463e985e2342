"""One dialog with everything that belongs to it, for the team."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import BindParameter, Connection, bindparam, select

from dialogs.events import Event
from dialogs.record.accounts import ListedPayment, payments_of_arrivals
from dialogs.record.findings import FindingRow, findings_of
from dialogs.record.people import Habits, Person, habits, people_by_id
from dialogs.record.queries import ItemRow, events_after, items_by_id
from dialogs.record.tables import admins, dialogs, judgements, relaunches
from dialogs.rules import Acceptance
from dialogs.state import DialogState, fold


@dataclass(frozen=True, slots=True)
class JudgementRow:
    """What somebody of the team said of a dialog."""

    admin_id: str
    by: str
    verdict: Acceptance | None
    reason: str
    decides: bool
    at: float


@dataclass(frozen=True, slots=True)
class Whole:
    """A dialog, its events and its state, and all rows about it. `people` are those of its seats,
    by their ids; `relaunched` says that its place is to be collected again."""

    state: DialogState
    events: tuple[Event, ...]
    item: ItemRow
    language: str
    same_address: bool
    acceptance: Acceptance | None
    findings: tuple[FindingRow, ...]
    judgements: tuple[JudgementRow, ...]
    people: dict[str, Person]
    habits: dict[str, Habits]
    payments: tuple[ListedPayment, ...]
    relaunched: bool


# Built once, since building them takes longer than running them.
_THIS: Final[BindParameter[str]] = bindparam("dialog")
_DIALOG: Final = select(dialogs).where(
    dialogs.c.id == _THIS, dialogs.c.study_id == bindparam("study")
)
_AGAIN: Final = select(relaunches.c.at).where(relaunches.c.dialog_id == _THIS)
_JUDGEMENTS: Final = (
    select(judgements, admins.c.name)
    .join(admins, admins.c.id == judgements.c.admin_id)
    .where(judgements.c.dialog_id == _THIS)
    .order_by(judgements.c.at)
)


def whole(connection: Connection, study_id: str, dialog_id: str) -> Whole | None:
    """All about one dialog of the study; None if there is none."""
    this = {"dialog": dialog_id}
    row = connection.execute(_DIALOG, this | {"study": study_id}).one_or_none()
    if row is None:
        return None
    events = tuple(events_after(connection, dialog_id, 0))
    state = fold(dialog_id, events)
    workers = {seat.worker_id for seat in state.seats.values()}
    arrivals = [seat.arrival_id for seat in state.seats.values()]
    return Whole(
        state=state,
        events=events,
        item=items_by_id(connection, [row.item_id])[row.item_id],
        language=row.language,
        same_address=row.same_address,
        acceptance=Acceptance(row.acceptance) if row.acceptance else None,
        findings=tuple(findings_of(connection, [dialog_id])[dialog_id]),
        judgements=_judgements(connection, dialog_id),
        people=people_by_id(connection, study_id, workers),
        habits=habits(connection, workers),
        payments=tuple(payments_of_arrivals(connection, arrivals)),
        relaunched=connection.execute(_AGAIN, this).one_or_none() is not None,
    )


def _judgements(connection: Connection, dialog_id: str) -> tuple[JudgementRow, ...]:
    return tuple(
        JudgementRow(
            row.admin_id,
            row.name,
            Acceptance(row.verdict) if row.verdict else None,
            row.reason,
            row.decides,
            row.at,
        )
        for row in connection.execute(_JUDGEMENTS, {"dialog": dialog_id})
    )
