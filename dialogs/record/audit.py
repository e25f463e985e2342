"""What the team has done: who, what, when, before, after. Rows are added and never changed."""

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
    """The row of what `admin_id` does, or with None somebody at the command line; to be inserted
    by the decision that does it. What people are told is named, not quoted."""
    row = {
        "id": secrets.token_urlsafe(12),
        "study_id": study_id,
        "admin_id": admin_id,
        "action": action,
        "target": target,
        "before": None if before is None else orjson.dumps(before).decode(),
        "after": None if after is None else orjson.dumps(after).decode(),
        "at": now,
    }
    return audit, row
