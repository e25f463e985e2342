"""Decisions about a study as a whole: that it exists, whether it is open, what it pays and allows
now, and its items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import ColumnElement, Connection, Update, bindparam, func, select

from dialogs.record.bulk import RowLock, RowUpdate
from dialogs.record.tables import hits, items, studies
from dialogs.record.writer import Change, Decision
from dialogs.rules import HitState, StudyStatus
from dialogs.terms import Changes

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
_STATUS_FROM: Final = RowUpdate(
    lambda p: (
        studies.update()
        .where(studies.c.id == p["study"], studies.c.status == p["before"])
        .values(status=p["status"])
    ),
    study=studies.c.id,
    before=studies.c.status,
    status=studies.c.status,
)
_BLURRED: Final = RowUpdate(
    lambda p: items.update().where(items.c.id == p["item"]).values(blurred_file=p["file"]),
    item=items.c.id,
    file=items.c.blurred_file,
)


# Read before it is changed, so that the change sees every HIT that was decided on until then.
_TERMS_ALONE: Final = RowLock(
    select(studies.c.id)
    .where(
        studies.c.id == bindparam("study"),
        func.coalesce(studies.c.changes, "") == bindparam("known"),
    )
    .with_for_update()
)
# FOR SHARE on PostgreSQL: those who post wait for a change, not for each other.
_TERMS_STAY: Final = RowLock(
    select(studies.c.id)
    .where(
        studies.c.id == bindparam("study"),
        func.coalesce(studies.c.changes, "") == bindparam("known"),
    )
    .with_for_update(read=True)
)


def _terms(p: Mapping[str, ColumnElement[Any]]) -> Update:
    up = hits.c.state.in_([HitState.WANTED.value, HitState.OPEN.value])
    inside = (hits.c.state == HitState.CLOSED.value) & (hits.c.pending > 0)
    closed = hits.c.state == HitState.CLOSED.value
    in_the_way = select(hits.c.id).where(
        hits.c.study_id == studies.c.id,
        ((up | inside) & (hits.c.reward > p["promised"])) | (closed & (hits.c.reward > p["least"])),
    )
    return (
        studies.update()
        .where(studies.c.id == p["study"], ~in_the_way.exists())
        .values(changes=p["after"])
    )


_TERMS: Final = RowUpdate(
    _terms,
    study=studies.c.id,
    after=studies.c.changes,
    promised=hits.c.reward,
    least=hits.c.reward,
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


def turned_status(study_id: str, before: StudyStatus, status: StudyStatus) -> Decision:
    """Pause or resume a study that is the other; conflicts if somebody else was quicker."""
    params = {"study": study_id, "before": before.value, "status": status.value}
    return Decision(study_id, (), (Change(_STATUS_FROM, params),))


def changed_terms(
    study_id: str, before: Changes, after: Changes, *, least: int, lowered: bool
) -> Decision:
    """The team changes what the study pays and allows, instead of all that it changed before.

    Conflicts if somebody else changed it meanwhile, or if a HIT is in the way: one whose reward is
    more than the `least` that may be owed from now on, or, when pay is `lowered`, any that
    promises more to people who can still take it or are at work.
    """
    known = Change(_TERMS_ALONE, {"study": study_id, "known": _as_text(before)})
    params = {
        "study": study_id,
        "after": _as_text(after) or None,
        "promised": -1 if lowered else least,
        "least": least,
    }
    return Decision(study_id, (), (known, Change(_TERMS, params)))


def terms_stay(study_id: str, changes: Changes) -> Change:
    """Part of a decision that holds only while the team has changed this and nothing else."""
    return Change(_TERMS_STAY, {"study": study_id, "known": _as_text(changes)})


def _as_text(changes: Changes) -> str:
    if not changes:
        return ""
    return orjson.dumps(dict(changes), option=orjson.OPT_SORT_KEYS).decode()


@dataclass(frozen=True, slots=True)
class Promised:
    """What HITs that are not done promise: how many stand open or are being worked on, and the
    highest reward of all, in cents."""

    current: int
    reward: int


def promised(connection: Connection, study_id: str) -> Promised:
    """What keeps a study from paying less; see `changed_terms`."""
    live = [HitState.WANTED.value, HitState.OPEN.value, HitState.CLOSED.value]
    query = select(hits.c.state, hits.c.pending, hits.c.reward).where(
        hits.c.study_id == study_id, hits.c.state.in_(live)
    )
    found = connection.execute(query).all()
    current = [row for row in found if row.state != HitState.CLOSED.value or row.pending > 0]
    return Promised(len(current), max((row.reward for row in found), default=0))


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
