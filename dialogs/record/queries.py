"""Reading the record. Every function takes a connection and returns plain frozen values."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import Connection, bindparam, func, select

from dialogs.events import Event, from_json
from dialogs.record.tables import (
    TAKES_PLACE,
    arrivals,
    dialogs,
    events,
    items,
    ledger,
    releases,
    reports,
    seats,
    studies,
    workers,
)
from dialogs.rules import (
    ArrivalStatus,
    LedgerState,
    Outcome,
    Phase,
    Release,
    ReportKind,
    SeatStatus,
    StudyStatus,
)
from dialogs.state import DialogState, fold

log = logging.getLogger("duologue.record")

_CHUNK: Final = 500
"""How many ids one query names: below every database's limit of parameters."""


def chunks(ids: Collection[str]) -> Iterator[list[str]]:
    """The ids in parts that one query can name."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), _CHUNK):
        yield ordered[start : start + _CHUNK]


# --- Studies and items ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A study; `changes` is what the team has changed while it runs, by name (`dialogs.terms`)."""

    id: str
    status: StudyStatus
    config: dict[str, Any]
    created_at: float
    changes: dict[str, float | int]


def study(connection: Connection, study_id: str) -> StudyRow | None:
    row = connection.execute(select(studies).where(studies.c.id == study_id)).one_or_none()
    if row is None:
        return None
    changes = orjson.loads(row.changes) if row.changes else {}
    config = orjson.loads(row.config)
    return StudyRow(row.id, StudyStatus(row.status), config, row.created_at, changes)


def is_alone(connection: Connection, study_id: str) -> bool:
    """Whether no other study shares this database: then all rows of a table are this one's, and
    are counted without a look at whose each is, which takes several times as long."""
    others = select(studies.c.id).where(studies.c.id != study_id).limit(1)
    return connection.execute(others).first() is None


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


_ITEMS_BY_ID: Final = select(items).where(items.c.id.in_(bindparam("ids", expanding=True)))


def items_by_id(connection: Connection, ids: Collection[str]) -> dict[str, ItemRow]:
    return {
        row.id: _item(row)
        for chunk in chunks(ids)
        for row in connection.execute(_ITEMS_BY_ID, {"ids": chunk})
    }


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
                dialogs.c.study_id == study_id, TAKES_PLACE
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


# --- Dialogs -------------------------------------------------------------------------------


_EVENTS_AFTER: Final = (
    select(events.c.kind, events.c.at, events.c.data)
    .where(events.c.dialog_id == bindparam("dialog"), events.c.seq > bindparam("after"))
    .order_by(events.c.seq)
)
_EVENTS_OF: Final = (
    select(events.c.dialog_id, events.c.kind, events.c.at, events.c.data)
    .where(events.c.dialog_id.in_(bindparam("ids", expanding=True)))
    .order_by(events.c.dialog_id, events.c.seq)
)
_LAST_SEQS: Final = (
    select(events.c.dialog_id, func.max(events.c.seq))
    .where(events.c.dialog_id.in_(bindparam("ids", expanding=True)))
    .group_by(events.c.dialog_id)
)


def events_after(connection: Connection, dialog_id: str, seq: int) -> list[Event]:
    """The events of one dialog after number `seq`, in order."""
    found = connection.execute(_EVENTS_AFTER, {"dialog": dialog_id, "after": seq})
    return [from_json(r.kind, r.at, orjson.loads(r.data)) for r in found]


def dialogs_by_id(connection: Connection, ids: Collection[str]) -> dict[str, DialogState]:
    """The states of dialogs, each folded from all of its events.

    One that cannot be read is left out, so that it holds up no other.
    """
    happened: dict[str, list[Any]] = defaultdict(list)
    for chunk in chunks(ids):
        for row in connection.execute(_EVENTS_OF, {"ids": chunk}):
            happened[row.dialog_id].append(row)
    states: dict[str, DialogState] = {}
    for dialog_id, its in happened.items():
        try:
            events = [from_json(row.kind, row.at, orjson.loads(row.data)) for row in its]
            states[dialog_id] = fold(dialog_id, events)
        except (ValueError, KeyError, TypeError) as error:
            log.error("dialog %s cannot be read: %r", dialog_id, error)
    return states


def last_seqs(connection: Connection, dialog_ids: Collection[str]) -> dict[str, int]:
    """The number of the newest event of each dialog that has any."""
    found: dict[str, int] = {}
    for chunk in chunks(dialog_ids):
        found.update({row[0]: row[1] for row in connection.execute(_LAST_SEQS, {"ids": chunk})})
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
    hit_id: str | None
    submit_to: str | None
    dialog_id: str | None
    item_id: str | None

    def waited(self, now: float) -> float:
        """Seconds in the lobby so far, earlier waits included."""
        running = max(now - self.ready_at, 0.0) if self.ready_at is not None else 0.0
        return self.waited_s + running


# Statements are built once: building one costs as much as running it.
_held: Final = (seats.c.arrival_id == arrivals.c.id) & (seats.c.status != SeatStatus.GIVEN_UP.value)
_ARRIVALS: Final = select(arrivals, seats.c.dialog_id, seats.c.item_id).outerjoin(seats, _held)
_ARRIVALS_BY_ID: Final = _ARRIVALS.where(arrivals.c.id.in_(bindparam("ids", expanding=True)))
_LATEST_ARRIVAL: Final = (
    _ARRIVALS.where(arrivals.c.worker_id == bindparam("worker"))
    .order_by((arrivals.c.status == ArrivalStatus.RELEASED.value), arrivals.c.created_at.desc())
    .limit(1)
)
_ARRIVAL_OF_ASSIGNMENT: Final = _ARRIVALS.where(
    arrivals.c.study_id == bindparam("study"), arrivals.c.assignment_id == bindparam("assignment")
)
_OPEN_ARRIVALS: Final = _ARRIVALS.where(
    arrivals.c.study_id == bindparam("study"),
    arrivals.c.status.in_(bindparam("statuses", expanding=True)),
)
_WORKER: Final = select(workers.c.id).where(
    workers.c.study_id == bindparam("study"),
    workers.c.recruiter == bindparam("recruiter"),
    workers.c.external_id == bindparam("external"),
)
_mine, _theirs = seats.alias("mine"), seats.alias("theirs")
_HISTORIES: Final = (
    select(_mine.c.worker_id, _mine.c.item_id, _mine.c.status, _theirs.c.worker_id.label("met"))
    .join(_theirs, (_theirs.c.dialog_id == _mine.c.dialog_id) & (_theirs.c.role != _mine.c.role))
    .where(_mine.c.worker_id.in_(bindparam("workers", expanding=True)))
)
_RELEASES_OF: Final = (
    select(
        releases,
        dialogs.c.outcome,
        select(func.coalesce(func.sum(ledger.c.cents), 0))
        .where(
            ledger.c.arrival_id == releases.c.arrival_id,
            ledger.c.state != LedgerState.CANCELLED.value,
        )
        .scalar_subquery()
        .label("cents"),
        select(func.count())
        .where(
            seats.c.worker_id == arrivals.c.worker_id,
            seats.c.status != SeatStatus.GIVEN_UP.value,
        )
        .correlate(arrivals)
        .scalar_subquery()
        .label("worker_dialogs"),
        workers.c.excluded_at,
    )
    .join(arrivals, arrivals.c.id == releases.c.arrival_id)
    .join(workers, workers.c.id == arrivals.c.worker_id)
    .outerjoin(dialogs, dialogs.c.id == releases.c.dialog_id)
    .where(releases.c.arrival_id.in_(bindparam("ids", expanding=True)))
)


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
        row.hit_id,
        row.submit_to,
        row.dialog_id,
        row.item_id,
    )


def arrivals_by_id(connection: Connection, ids: Collection[str]) -> dict[str, ArrivalRow]:
    found: dict[str, ArrivalRow] = {}
    for chunk in chunks(ids):
        for row in connection.execute(_ARRIVALS_BY_ID, {"ids": chunk}):
            found[row.id] = _arrival(row)
    return found


def worker_id(
    connection: Connection, study_id: str, recruiter: str, external_id: str
) -> str | None:
    """Our id of the person that a recruiter calls `external_id`."""
    params = {"study": study_id, "recruiter": recruiter, "external": external_id}
    return connection.execute(_WORKER, params).scalar_one_or_none()


def external_ids(connection: Connection, worker_ids: Collection[str]) -> dict[str, str]:
    """What their recruiters call these workers."""
    return {
        row.id: row.external_id
        for chunk in chunks(worker_ids)
        for row in connection.execute(
            select(workers.c.id, workers.c.external_id).where(workers.c.id.in_(chunk))
        )
    }


def latest_arrival(connection: Connection, worker: str) -> ArrivalRow | None:
    """The worker's newest arrival; the open one if there is one."""
    row = connection.execute(_LATEST_ARRIVAL, {"worker": worker}).one_or_none()
    return None if row is None else _arrival(row)


def arrivals_of_worker(connection: Connection, worker: str) -> list[ArrivalRow]:
    """All of a worker's arrivals, the newest first."""
    query = _ARRIVALS.where(arrivals.c.worker_id == worker).order_by(arrivals.c.created_at.desc())
    return [_arrival(row) for row in connection.execute(query)]


def arrival_of_assignment(
    connection: Connection, study_id: str, assignment_id: str
) -> ArrivalRow | None:
    """The arrival of a recruiter's assignment, if it was ever opened."""
    params = {"study": study_id, "assignment": assignment_id}
    row = connection.execute(_ARRIVAL_OF_ASSIGNMENT, params).one_or_none()
    return None if row is None else _arrival(row)


def open_arrivals(
    connection: Connection, study_id: str, statuses: Sequence[ArrivalStatus]
) -> list[ArrivalRow]:
    params = {"study": study_id, "statuses": [s.value for s in statuses]}
    return [_arrival(row) for row in connection.execute(_OPEN_ARRIVALS, params)]


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
    for chunk in chunks(worker_ids):
        for row in connection.execute(_HISTORIES, {"workers": chunk}):
            seen[row.worker_id].add(row.item_id)
            met[row.worker_id].add(row.met)
            count[row.worker_id] += row.status != SeatStatus.GIVEN_UP.value
    return {
        worker: History(frozenset(seen[worker]), frozenset(met[worker]), count[worker])
        for worker in worker_ids
    }


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """How an arrival ended and what it is owed in all (cents).

    `worker_dialogs` is how many dialogs its worker has had in the study so far, and `excluded`
    whether the team lets them begin no other.
    """

    release: Release
    code: str
    at: float
    cents: int
    outcome: Outcome | None
    worker_dialogs: int
    excluded: bool


def releases_of(connection: Connection, arrival_ids: Collection[str]) -> dict[str, ReleaseRow]:
    """The release of each arrival that has one."""
    found: dict[str, ReleaseRow] = {}
    for chunk in chunks(arrival_ids):
        for row in connection.execute(_RELEASES_OF, {"ids": chunk}):
            found[row.arrival_id] = ReleaseRow(
                Release(row.release),
                row.code,
                row.at,
                int(row.cents),
                Outcome(row.outcome) if row.outcome else None,
                row.worker_dialogs,
                row.excluded_at is not None,
            )
    return found


def reports_of(connection: Connection, arrival_id: str) -> int:
    """How many problems somebody has reported."""
    query = (
        select(func.count())
        .select_from(reports)
        .where(reports.c.arrival_id == arrival_id, reports.c.kind == ReportKind.PROBLEM.value)
    )
    return connection.execute(query).scalar_one()
