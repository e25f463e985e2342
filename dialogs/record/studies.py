"""Decisions about a study as a whole: that it exists, whether it is open, and its items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from dialogs.record.bulk import RowUpdate
from dialogs.record.tables import items, studies
from dialogs.record.writer import Change, Decision
from dialogs.rules import StudyStatus

_CONFIG: Final = RowUpdate(
    lambda p: studies.update().where(studies.c.id == p["study"]).values(config=p["config"]),
    study=studies.c.id,
    config=studies.c.config,
)
_STATUS: Final = RowUpdate(
    lambda p: studies.update().where(studies.c.id == p["study"]).values(status=p["status"]),
    study=studies.c.id,
    status=studies.c.status,
)
_BLURRED: Final = RowUpdate(
    lambda p: items.update().where(items.c.id == p["item"]).values(blurred_file=p["file"]),
    item=items.c.id,
    file=items.c.blurred_file,
)


def new_study(study_id: str, config: Mapping[str, Any], now: float) -> Decision:
    """A study begins, open; conflicts if it exists."""
    row = {
        "id": study_id,
        "status": StudyStatus.OPEN.value,
        "config": orjson.dumps(config).decode(),
        "created_at": now,
    }
    return Decision(study_id, ((studies, row),))


def changed_config(study_id: str, config: Mapping[str, Any]) -> Decision:
    """The study file has changed; dialogs that are open keep the rules they began with."""
    params = {"study": study_id, "config": orjson.dumps(config).decode()}
    return Decision(study_id, (), (Change(_CONFIG, params),))


def changed_status(study_id: str, status: StudyStatus) -> Decision:
    """Pause or resume a study."""
    params = {"study": study_id, "status": status.value}
    return Decision(study_id, (), (Change(_STATUS, params),))


@dataclass(frozen=True, slots=True)
class PreparedItem:
    """An item with its files ready to be served; `wanted` dialogs are collected about it."""

    id: str
    image_id: str
    caption: str
    file: str
    blurred_file: str | None
    width: int
    height: int
    sha256: str
    wanted: int
    position: int


def new_items(study_id: str, prepared: Iterable[PreparedItem], now: float) -> Decision:
    """Items are added, all or none; conflicts if one of their image ids is known."""
    rows = [
        {
            "id": item.id,
            "study_id": study_id,
            "image_id": item.image_id,
            "caption": item.caption,
            "file": item.file,
            "blurred_file": item.blurred_file,
            "width": item.width,
            "height": item.height,
            "sha256": item.sha256,
            "wanted": item.wanted,
            "position": item.position,
            "added_at": now,
        }
        for item in prepared
    ]
    return Decision(study_id, tuple((items, row) for row in rows))


def blurred_files(study_id: str, files: Mapping[str, str]) -> Decision:
    """Known items get a blurred variant: the study's protocol has come to need one."""
    changes = [
        Change(_BLURRED, {"item": item_id, "file": file}) for item_id, file in sorted(files.items())
    ]
    return Decision(study_id, (), tuple(changes))
