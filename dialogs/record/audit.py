"""What the team does, as rows: who, what, when, before and after."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy import Table

from dialogs.record.bulk import Row
from dialogs.record.tables import audit


def audited(
    study_id: str | None,
    admin_id: str | None,
    action: str,
    target: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    now: float,
) -> tuple[Table, Row]:
    """An insert to add to a decision's, so that whatever is done is in the log, and nothing else.

    `action` is a name such as `review.judge`. What somebody wrote does not belong here: rows of
    the log are never changed, not even for who asks to be erased.
    """
    return (
        audit,
        {
            "id": f"u_{secrets.token_hex(12)}",
            "study_id": study_id,
            "admin_id": admin_id,
            "action": action,
            "target": target,
            "before": _text(before),
            "after": _text(after),
            "at": now,
        },
    )


def _text(values: Mapping[str, Any] | None) -> str | None:
    return None if values is None else orjson.dumps(values).decode()
