"""Reading the record. Every function takes a connection and returns plain frozen values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import Connection, Select, func, or_, select

from dialogs.dialog import DialogState, fold
from dialogs.events import Event, from_json
from dialogs.record.tables import (
    arrivals,
    dialogs,
    events,
    items,
    ledger,
    relaunches,
    releases,
    seats,
    studies,
    workers,
)
from dialogs.rules import (
    Acceptance,
    ArrivalStatus,
    Outcome,
    Phase,
    Release,
    SeatStatus,
    StudyStatus,
)

_CHUNK: Final = 500
"""How many ids one query names: below every database's limit of parameters."""


def _chunks(ids: Collection[str]) -> Iterator[list[str]]:
    ordered = sorted(ids)
    for start in range(0, len(ordered), _CHUNK):
        yield ordered[start : start + _CHUNK]


# --- Studies and items ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StudyRow:
    id: str
    status: StudyStatus
    config: dict[str, Any]


def study(connection: Connection, study_id: str) -> StudyRow | None:
    row = connection.execute(select(studies).where(studies.c.id == study_id)).one_or_none()
    if row is None:
        return None
    return StudyRow(row.id, StudyStatus(row.status), orjson.loads(row.config))


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item; `file` and `blurred_file` are names in the study's picture folder."""

    id: str
    image_id: str
    caption: str
    file: str
    blurred_file: str | None
    width: int
    height: int
    wanted: int


def item(connection: Connection, item_id: str) -> ItemRow | None:
    row = connection.execute(select(items).where(items.c.id == item_id)).one_or_none()
    return None if row is None else _item(row)


def items_of(connection: Connection, study_id: str) -> list[ItemRow]:
    """All items of a study in their order."""
    query = select(items).where(items.c.study_id == study_id).order_by(items.c.position)
    return [_item(row) for row in connection.execute(query)]


def _item(row: Any) -> ItemRow:
    return ItemRow(
        row.id,
        row.image_id,
        row.caption,
        row.file,
        row.blurred_file,
        row.width,
        row.height,
        row.wanted,
    )


Place = tuple[str, int]
"""(item id, number of the wanted dialog from 1)."""


def free_places(connection: Connection, study_id: str) -> list[Place]:
    """The places that no paired or complete dialog takes, in the order of the items."""
    taken: set[Place] = {
        (row.item_id, row.place)
        for row in connection.execute(
            select(dialogs.c.item_id, dialogs.c.place).where(
                dialogs.c.study_id == study_id, _takes_place()
            )
        )
    }
    wanted = connection.execute(
        select(items.c.id, items.c.wanted)
        .where(items.c.study_id == study_id)
        .order_by(items.c.position)
    ).all()
    most = max((row.wanted for row in wanted), default=0)
    return [
        (row.id, n)
        for n in range(1, most + 1)
        for row in wanted
        if n <= row.wanted and (row.id, n) not in taken
    ]


def _takes_place() -> Any:
    complete = (dialogs.c.outcome == Outcome.COMPLETE.value) & (
        dialogs.c.acceptance.is_(None) | (dialogs.c.acceptance != Acceptance.REJECTED.value)
    )
    return or_(dialogs.c.phase == Phase.PAIRED.value, complete)


# --- Dialogs -------------------------------------------------------------------------------


def events_after(connection: Connection, dialog_id: str, seq: int) -> list[Event]:
    """The events of one dialog after number `seq`, in order."""
    query = (
        select(events.c.kind, events.c.at, events.c.data)
        .where(events.c.dialog_id == dialog_id, events.c.seq > seq)
        .order_by(events.c.seq)
    )
    return [from_json(r.kind, r.at, orjson.loads(r.data)) for r in connection.execute(query)]


def dialog(connection: Connection, dialog_id: str) -> DialogState | None:
    """The state of a dialog, folded from all of its events."""
    happened = events_after(connection, dialog_id, 0)
    return fold(dialog_id, happened) if happened else None


def last_seqs(connection: Connection, dialog_ids: Collection[str]) -> dict[str, int]:
    """The number of the newest event of each dialog that has any."""
    found: dict[str, int] = {}
    for chunk in _chunks(dialog_ids):
        query = (
            select(events.c.dialog_id, func.max(events.c.seq))
            .where(events.c.dialog_id.in_(chunk))
            .group_by(events.c.dialog_id)
        )
        found.update({row[0]: row[1] for row in connection.execute(query)})
    return found


def live_dialogs(connection: Connection, study_id: str) -> list[str]:
    """The ids of the dialogs that have not ended."""
    query = select(dialogs.c.id).where(
        dialogs.c.study_id == study_id,
        dialogs.c.phase.in_([Phase.PAIRED.value, Phase.SOLO.value]),
    )
    return list(connection.execute(query).scalars())


# --- Arrivals ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ArrivalRow:
    """An arrival; `dialog_id` and `item_id` are those of its seat, unless it gave that up."""

    id: str
    study_id: str
    worker_id: str
    assignment_id: str
    status: ArrivalStatus
    language: str
    address: str | None
    created_at: float
    ready_at: float | None
    waited_s: float
    missed_start: bool
    feedback_sent: bool
    dialog_id: str | None
    item_id: str | None

    def waited(self, now: float) -> float:
        """Seconds in the lobby so far, earlier waits included."""
        running = max(now - self.ready_at, 0.0) if self.ready_at is not None else 0.0
        return self.waited_s + running


def _arrival_query() -> Select[Any]:
    held = (seats.c.arrival_id == arrivals.c.id) & (seats.c.status != SeatStatus.GIVEN_UP.value)
    return select(arrivals, seats.c.dialog_id, seats.c.item_id).outerjoin(seats, held)


def _arrival(row: Any) -> ArrivalRow:
    return ArrivalRow(
        row.id,
        row.study_id,
        row.worker_id,
        row.assignment_id,
        ArrivalStatus(row.status),
        row.language,
        row.address,
        row.created_at,
        row.ready_at,
        row.waited_s,
        row.missed_start,
        row.feedback_at is not None,
        row.dialog_id,
        row.item_id,
    )


def arrival(connection: Connection, arrival_id: str) -> ArrivalRow | None:
    row = connection.execute(_arrival_query().where(arrivals.c.id == arrival_id)).one_or_none()
    return None if row is None else _arrival(row)


def arrivals_by_id(connection: Connection, ids: Collection[str]) -> dict[str, ArrivalRow]:
    found: dict[str, ArrivalRow] = {}
    for chunk in _chunks(ids):
        for row in connection.execute(_arrival_query().where(arrivals.c.id.in_(chunk))):
            found[row.id] = _arrival(row)
    return found


def arrival_of_assignment(
    connection: Connection, study_id: str, assignment_id: str
) -> ArrivalRow | None:
    query = _arrival_query().where(
        arrivals.c.study_id == study_id, arrivals.c.assignment_id == assignment_id
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else _arrival(row)


def worker_id(
    connection: Connection, study_id: str, recruiter: str, external_id: str
) -> str | None:
    """Our id of the person that a recruiter calls `external_id`."""
    query = select(workers.c.id).where(
        workers.c.study_id == study_id,
        workers.c.recruiter == recruiter,
        workers.c.external_id == external_id,
    )
    return connection.execute(query).scalar_one_or_none()


def latest_arrival(connection: Connection, worker: str) -> ArrivalRow | None:
    """The worker's newest arrival; the open one if there is one."""
    query = (
        _arrival_query()
        .where(arrivals.c.worker_id == worker)
        .order_by((arrivals.c.status == ArrivalStatus.RELEASED.value), arrivals.c.created_at.desc())
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else _arrival(row)


def open_arrivals(
    connection: Connection, study_id: str, statuses: Sequence[ArrivalStatus]
) -> list[ArrivalRow]:
    query = _arrival_query().where(
        arrivals.c.study_id == study_id, arrivals.c.status.in_([s.value for s in statuses])
    )
    return [_arrival(row) for row in connection.execute(query)]


@dataclass(frozen=True, slots=True)
class History:
    """What a worker has met and seen in this study, for pairing."""

    seen: frozenset[str]
    met: frozenset[str]
    dialogs: int


def histories(connection: Connection, worker_ids: Collection[str]) -> Mapping[str, History]:
    """For each worker: the items seen, the workers met, and the number of dialogs so far.

    A dialog that was given up for a new partner counts as seen and met, not as a dialog.
    """
    seen: dict[str, set[str]] = defaultdict(set)
    met: dict[str, set[str]] = defaultdict(set)
    count: dict[str, int] = defaultdict(int)
    mine, theirs = seats.alias("mine"), seats.alias("theirs")
    for chunk in _chunks(worker_ids):
        query = (
            select(mine.c.worker_id, mine.c.item_id, mine.c.status, theirs.c.worker_id.label("met"))
            .join(
                theirs,
                (theirs.c.dialog_id == mine.c.dialog_id) & (theirs.c.role != mine.c.role),
            )
            .where(mine.c.worker_id.in_(chunk))
        )
        for row in connection.execute(query):
            seen[row.worker_id].add(row.item_id)
            met[row.worker_id].add(row.met)
            count[row.worker_id] += row.status != SeatStatus.GIVEN_UP.value
    return {
        worker: History(frozenset(seen[worker]), frozenset(met[worker]), count[worker])
        for worker in worker_ids
    }


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """How an arrival ended and what it is owed in all (cents)."""

    release: Release
    code: str
    at: float
    cents: int
    outcome: Outcome | None


def release(connection: Connection, arrival_id: str) -> ReleaseRow | None:
    query = (
        select(releases, dialogs.c.outcome)
        .outerjoin(dialogs, dialogs.c.id == releases.c.dialog_id)
        .where(releases.c.arrival_id == arrival_id)
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    owed = connection.execute(
        select(func.coalesce(func.sum(ledger.c.cents), 0)).where(ledger.c.arrival_id == arrival_id)
    ).scalar_one()
    outcome = Outcome(row.outcome) if row.outcome else None
    return ReleaseRow(Release(row.release), row.code, row.at, int(owed), outcome)


# --- Counts --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Totals:
    """How far a study has come."""

    places: int
    complete: int
    live: int
    solo: int
    abandoned: int
    messages: int
    owed: int
    owed_cents: int
    relaunches: int
    releases: Mapping[str, int]


def totals(connection: Connection, study_id: str) -> Totals:
    """Counts over a whole study. `messages` are those of complete dialogs."""

    def count(query: Select[Any]) -> int:
        return int(connection.execute(query).scalar_one() or 0)

    of_study = dialogs.c.study_id == study_id
    by_outcome = {
        row[0]: row[1]
        for row in connection.execute(
            select(dialogs.c.outcome, func.count()).where(of_study).group_by(dialogs.c.outcome)
        )
    }
    said = (
        select(func.count())
        .select_from(events.join(dialogs, dialogs.c.id == events.c.dialog_id))
        .where(of_study, events.c.kind == "said", dialogs.c.outcome == Outcome.COMPLETE.value)
    )
    owed = select(func.count(), func.coalesce(func.sum(ledger.c.cents), 0)).select_from(
        ledger.join(arrivals, arrivals.c.id == ledger.c.arrival_id)
    )
    owed_rows, owed_cents = connection.execute(owed.where(arrivals.c.study_id == study_id)).one()
    released = connection.execute(
        select(releases.c.release, func.count())
        .select_from(releases.join(arrivals, arrivals.c.id == releases.c.arrival_id))
        .where(arrivals.c.study_id == study_id)
        .group_by(releases.c.release)
    )
    return Totals(
        places=count(select(func.sum(items.c.wanted)).where(items.c.study_id == study_id)),
        complete=by_outcome.get(Outcome.COMPLETE.value, 0),
        live=by_outcome.get(None, 0),
        solo=by_outcome.get(Outcome.SOLO.value, 0),
        abandoned=by_outcome.get(Outcome.ABANDONED.value, 0),
        messages=count(said),
        owed=int(owed_rows),
        owed_cents=int(owed_cents),
        relaunches=count(
            select(func.count())
            .select_from(relaunches.join(dialogs, dialogs.c.id == relaunches.c.dialog_id))
            .where(of_study)
        ),
        releases={row[0]: row[1] for row in released},
    )
