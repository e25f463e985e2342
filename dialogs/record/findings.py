"""What the rules of quality found in dialogs that ended, and what somebody of the team saw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Protocol

import orjson
from sqlalchemy import Connection, bindparam, func, select

from dialogs.record.audit import after_of, audited
from dialogs.record.bulk import RowUpdate
from dialogs.record.queries import chunks
from dialogs.record.tables import UNCHECKED, admins, dialogs, findings
from dialogs.record.writer import Change, Decision
from dialogs.rules import Role

BY_TEAM: Final = "team"
"""The flag of what somebody of the team raised."""

_MOST: Final = 1000
"""The findings of the rules are numbered from 1 below this, those of the team from it on, so that
neither can take the other's number."""


class Found(Protocol):
    """One thing that a rule found: `role` is whose doing it is, `round` and `seq` which message;
    None, where it is about more than that. `reason` is a sentence for the reviewer."""

    @property
    def flag(self) -> str: ...
    @property
    def role(self) -> Role | None: ...
    @property
    def round(self) -> int | None: ...
    @property
    def seq(self) -> int | None: ...
    @property
    def reason(self) -> str: ...


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding as it is stored. `by` is the name of who of the team raised it, None for the
    rules."""

    dialog_id: str
    number: int
    flag: str
    role: Role | None
    round: int | None
    seq: int | None
    reason: str
    by: str | None
    at: float


# --- Reading -------------------------------------------------------------------------------


def unchecked(connection: Connection, study_id: str, most: int) -> list[str]:
    """Dialogs that ended and were not looked through yet, the oldest first."""
    query = (
        select(dialogs.c.id)
        .where(dialogs.c.study_id == study_id, UNCHECKED)
        .order_by(dialogs.c.ended_at, dialogs.c.id)
        .limit(most)
    )
    return list(connection.execute(query).scalars())


_FINDINGS_OF: Final = (
    select(findings, admins.c.name)
    .outerjoin(admins, admins.c.id == findings.c.admin_id)
    .where(findings.c.dialog_id.in_(bindparam("ids", expanding=True)))
    .order_by(findings.c.dialog_id, findings.c.number)
)


def findings_of(connection: Connection, dialog_ids: Collection[str]) -> dict[str, list[FindingRow]]:
    """What was found in these dialogs, in the order of its numbers."""
    found: dict[str, list[FindingRow]] = defaultdict(list)
    for chunk in chunks(dialog_ids):
        for row in connection.execute(_FINDINGS_OF, {"ids": chunk}):
            found[row.dialog_id].append(
                FindingRow(
                    row.dialog_id,
                    row.number,
                    row.flag,
                    Role(row.role) if row.role else None,
                    row.round,
                    row.seq,
                    row.reason,
                    row.name,
                    row.at,
                )
            )
    return found


def flagged(connection: Connection, study_id: str) -> dict[str, int]:
    """In how many dialogs of a study each flag was raised, the most frequent first."""
    number = func.count(findings.c.dialog_id.distinct())
    query = (
        select(findings.c.flag, number)
        .join(dialogs, dialogs.c.id == findings.c.dialog_id)
        .where(dialogs.c.study_id == study_id)
        .group_by(findings.c.flag)
        .order_by(number.desc(), findings.c.flag)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def raised_as(connection: Connection, dialog_id: str, audit_id: str) -> FindingRow | None:
    """What was raised with this row of the audit, if that was done."""
    after = after_of(connection, audit_id)
    if after is None:
        return None
    number = orjson.loads(after)["number"]
    rows = findings_of(connection, [dialog_id])[dialog_id]
    return next((row for row in rows if row.number == number), None)


def next_number(connection: Connection, dialog_id: str) -> int:
    """The number of what somebody of the team raises next in this dialog."""
    last = connection.execute(
        select(func.max(findings.c.number)).where(findings.c.dialog_id == dialog_id)
    ).scalar_one()
    return max(last or 0, _MOST - 1) + 1


# --- Decisions -----------------------------------------------------------------------------

_CHECKED: Final = RowUpdate(
    lambda p: (
        dialogs.update().where(dialogs.c.id == p["dialog"], UNCHECKED).values(checked_at=p["now"])
    ),
    dialog=dialogs.c.id,
    now=dialogs.c.checked_at,
)


def checked(dialog_id: str, found: Iterable[Found], now: float) -> Decision:
    """A dialog was looked through; conflicts if it was before, or has not ended."""
    rows = [
        _row(dialog_id, number, str(each.flag), each.role, each.round, each.seq, each.reason, now)
        for number, each in enumerate(islice(found, _MOST - 1), start=1)
    ]
    change = Change(_CHECKED, {"dialog": dialog_id, "now": now})
    return Decision(dialog_id, tuple((findings, row) for row in rows), (change,))


def raised(
    study_id: str,
    dialog_id: str,
    number: int,
    admin_id: str,
    reason: str,
    role: Role | None,
    seq: int | None,
    now: float,
    audit_id: str | None = None,
) -> Decision:
    """Somebody of the team raises a flag, under the `next_number`; conflicts if another one has
    got it meanwhile, or if this was raised before under the same `audit_id`."""
    row = _row(dialog_id, number, BY_TEAM, role, None, seq, reason, now)
    after = {"number": number, "role": role, "seq": seq}
    table, told = audited(study_id, admin_id, "dialog.flag", dialog_id, None, after, now)
    if audit_id is not None:
        told["id"] = audit_id
    return Decision(dialog_id, ((findings, row | {"admin_id": admin_id}), (table, told)))


def _row(
    dialog_id: str,
    number: int,
    flag: str,
    role: Role | None,
    round_: int | None,
    seq: int | None,
    reason: str,
    now: float,
) -> dict[str, Any]:
    return {
        "dialog_id": dialog_id,
        "number": number,
        "flag": flag,
        "role": role and role.value,
        "round": round_,
        "seq": seq,
        "reason": reason,
        "at": now,
    }
