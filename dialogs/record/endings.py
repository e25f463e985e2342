"""How dialogs ended, told apart by who ended them, as a column of queries on `dialogs`."""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, case, select

from dialogs.record.tables import audit, dialogs, releases, seats
from dialogs.rules import Ending, Outcome, Release

DIALOG_END: Final = "dialog.end"
"""What the audit calls it when the team ends a dialog: in the transaction that ends it."""

_BY_TEAM: Final = (
    select(audit.c.id).where(audit.c.target == dialogs.c.id, audit.c.action == DIALOG_END)
).exists()
_FROM_OUTSIDE: Final = (
    select(releases.c.arrival_id)
    .join(seats, seats.c.arrival_id == releases.c.arrival_id)
    .where(
        seats.c.dialog_id == dialogs.c.id,
        releases.c.dialog_id == dialogs.c.id,
        releases.c.release == Release.ENDED_BY_TEAM.value,
    )
).exists()

ENDING: Final[ColumnElement[str | None]] = case(
    (dialogs.c.outcome != Outcome.ABANDONED.value, dialogs.c.outcome),
    (_BY_TEAM, Ending.ENDED_BY_TEAM.value),
    (_FROM_OUTSIDE, Ending.TIME_LIMIT.value),
    else_=dialogs.c.outcome,
)
"""An `Ending`, or None while the dialog runs. Nothing more is looked at for a dialog that was not
abandoned."""


def ended_so(ending: Ending) -> ColumnElement[bool]:
    """Which dialogs ended so: by the outcome first, which has an index."""
    if ending.value in (Outcome.COMPLETE.value, Outcome.SOLO.value):
        return dialogs.c.outcome == ending.value
    return (dialogs.c.outcome == Outcome.ABANDONED.value) & (ending.value == ENDING)
