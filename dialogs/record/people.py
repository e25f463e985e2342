"""The people of a study, each with what they have done: for the team.

Times are seconds since 1970-01-01 UTC, money is in cents.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import orjson
from sqlalchemy import BindParameter, Connection, and_, bindparam, case, func, or_, select

from dialogs.events import Said, from_json
from dialogs.record.listing import PAGE, Cursor, older
from dialogs.record.queries import chunks
from dialogs.record.tables import (
    arrivals,
    dialogs,
    events,
    findings,
    ledger,
    releases,
    seats,
    workers,
)
from dialogs.rules import (
    Acceptance,
    ArrivalStatus,
    LedgerState,
    Outcome,
    Release,
    Role,
    SeatStatus,
)

LATEST: Final = 10
"""From how many of somebody's dialogs, the latest, their speed is taken."""

# A flag is somebody's own when it names their role or nobody's.
_OWN: Final = and_(
    findings.c.dialog_id == seats.c.dialog_id,
    or_(findings.c.role.is_(None), findings.c.role == seats.c.role),
)

_IS_PAID: Final = ledger.c.state == LedgerState.PAID.value


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody and what they have done. `dialogs` does not count a seat that was given up for a
    new partner; `left` is how often they left one; `flags` those about them; `rejected` their
    dialogs that were rejected as data; `inside` how far the arrival is that they have open."""

    id: str
    recruiter: str
    external_id: str
    first_at: float
    last_at: float
    excluded_at: float | None
    excluded_why: str | None
    arrivals: int
    dialogs: int
    complete: int
    solo: int
    left: int
    rejected: int
    flags: int
    owed: int
    paid: int
    inside: ArrivalStatus | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which people; `search` is the beginning of our id of them, or of the recruiter's."""

    search: str = ""
    by_external_id: bool = True
    excluded: bool = False
    flagged: bool = False


def people(
    connection: Connection, study_id: str, wanted: Wanted, after: Cursor | None = None
) -> tuple[list[Person], int, Cursor | None]:
    """A page of the people that match, who came first last; how many there are in all, and where
    the next page begins."""
    conditions: list[Any] = [workers.c.study_id == study_id]
    if wanted.excluded:
        conditions.append(workers.c.excluded_at.is_not(None))
    if wanted.flagged:
        flagged = select(seats.c.worker_id).select_from(findings).join(seats, _OWN)
        conditions.append(workers.c.id.in_(flagged))
    if wanted.search:
        begins = wanted.search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        by = [workers.c.id, workers.c.external_id] if wanted.by_external_id else [workers.c.id]
        conditions.append(or_(*(each.like(begins, escape="\\") for each in by)))
    total = connection.execute(
        select(func.count()).select_from(workers).where(*conditions)
    ).scalar_one()
    query = (
        select(workers)
        .where(*conditions)
        .order_by(workers.c.created_at.desc(), workers.c.id.desc())
        .limit(PAGE + 1)
    )
    if after is not None:
        query = query.where(older(workers.c.created_at, workers.c.id, after))
    rows = connection.execute(query).all()
    following = (rows[PAGE - 1].created_at, rows[PAGE - 1].id) if len(rows) > PAGE else None
    return _complete(connection, rows[:PAGE]), total, following


def people_by_id(connection: Connection, study_id: str, ids: Collection[str]) -> dict[str, Person]:
    """These people of the study, by our ids."""
    found: list[Person] = []
    for chunk in chunks(ids):
        rows = connection.execute(_PEOPLE, {"ids": chunk, "study": study_id}).all()
        found += _complete(connection, rows)
    return {person.id: person for person in found}


# Built once, since building them takes longer than running them.
_IDS: Final[BindParameter[str]] = bindparam("ids", expanding=True)
_PEOPLE: Final = select(workers).where(
    workers.c.id.in_(_IDS), workers.c.study_id == bindparam("study")
)
_CAME: Final = (
    select(
        arrivals.c.worker_id,
        func.count().label("n"),
        func.max(arrivals.c.created_at).label("last_at"),
        func.max(
            case(
                (arrivals.c.status != ArrivalStatus.RELEASED.value, arrivals.c.status),
                else_=None,
            )
        ).label("inside"),
    )
    .where(arrivals.c.worker_id.in_(_IDS))
    .group_by(arrivals.c.worker_id)
)
_TALKED: Final = (
    select(
        seats.c.worker_id,
        func.count().label("n"),
        func.count(case((dialogs.c.outcome == Outcome.COMPLETE.value, 1))).label("complete"),
        func.count(case((dialogs.c.outcome == Outcome.SOLO.value, 1))).label("solo"),
        func.count(case((dialogs.c.acceptance == Acceptance.REJECTED.value, 1))).label("rejected"),
    )
    .join(dialogs, dialogs.c.id == seats.c.dialog_id)
    .where(seats.c.worker_id.in_(_IDS), seats.c.status != SeatStatus.GIVEN_UP.value)
    .group_by(seats.c.worker_id)
)
_LEFT: Final = (
    select(arrivals.c.worker_id, func.count().label("n"))
    .join(releases, releases.c.arrival_id == arrivals.c.id)
    .where(arrivals.c.worker_id.in_(_IDS), releases.c.release == Release.LEFT.value)
    .group_by(arrivals.c.worker_id)
)
_FLAGS: Final = (
    select(seats.c.worker_id, func.count().label("n"))
    .join(findings, _OWN)
    .where(seats.c.worker_id.in_(_IDS))
    .group_by(seats.c.worker_id)
)
_MONEY: Final = (
    select(
        arrivals.c.worker_id,
        func.sum(case((_IS_PAID, 0), else_=ledger.c.cents)).label("owed"),
        func.sum(case((_IS_PAID, ledger.c.cents), else_=0)).label("paid"),
    )
    .join(ledger, ledger.c.arrival_id == arrivals.c.id)
    .where(arrivals.c.worker_id.in_(_IDS), ledger.c.state != LedgerState.CANCELLED.value)
    .group_by(arrivals.c.worker_id)
)


def _complete(connection: Connection, rows: Collection[Any]) -> list[Person]:
    if not rows:
        return []
    ids = {"ids": [row.id for row in rows]}
    came, talked, left, flags, money = (
        {row.worker_id: row for row in connection.execute(query, ids)}
        for query in (_CAME, _TALKED, _LEFT, _FLAGS, _MONEY)
    )
    return [_person(row, came, talked, left, flags, money) for row in rows]


def _person(
    row: Any,
    came: Mapping[str, Any],
    talked: Mapping[str, Any],
    left: Mapping[str, Any],
    flags: Mapping[str, Any],
    money: Mapping[str, Any],
) -> Person:
    def of(found: Mapping[str, Any], name: str = "n") -> int:
        return int(getattr(found[row.id], name)) if row.id in found else 0

    here = came.get(row.id)
    return Person(
        id=row.id,
        recruiter=row.recruiter,
        external_id=row.external_id,
        first_at=row.created_at,
        last_at=here.last_at if here else row.created_at,
        excluded_at=row.excluded_at,
        excluded_why=row.excluded_why,
        arrivals=of(came),
        dialogs=of(talked),
        complete=of(talked, "complete"),
        solo=of(talked, "solo"),
        left=of(left),
        rejected=of(talked, "rejected"),
        flags=of(flags),
        owed=of(money, "owed"),
        paid=of(money, "paid"),
        inside=ArrivalStatus(here.inside) if here and here.inside else None,
    )


# --- How they work -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Habits:
    """How somebody works, by their latest dialogs: the median of the seconds from the partner's
    message to theirs, and of the words of their messages."""

    answer_s: float | None
    words: float | None


_LATEST_OF: Final = (
    select(seats.c.dialog_id, seats.c.role)
    .join(dialogs, dialogs.c.id == seats.c.dialog_id)
    .where(seats.c.worker_id == bindparam("worker"))
    .order_by(dialogs.c.opened_at.desc())
    .limit(LATEST)
)
_SAID: Final = (
    select(events.c.dialog_id, events.c.kind, events.c.at, events.c.data)
    .where(events.c.dialog_id.in_(_IDS), events.c.kind == Said.kind)
    .order_by(events.c.dialog_id, events.c.seq)
)


def habits(connection: Connection, worker_ids: Collection[str]) -> dict[str, Habits]:
    """The habits of these people."""
    return {worker: _habits(connection, worker) for worker in worker_ids}


def _habits(connection: Connection, worker_id: str) -> Habits:
    held: dict[str, str] = {
        row.dialog_id: row.role for row in connection.execute(_LATEST_OF, {"worker": worker_id})
    }
    waits: list[float] = []
    words: list[int] = []
    for dialog_id, said in _said(connection, held).items():
        mine, before = Role(held[dialog_id]), None
        for each in said:
            if each.role is mine:
                words.append(len(each.text.split()))
                if before is not None and before.role is not mine:
                    waits.append(each.at - before.at)
            before = each
    return Habits(median(waits) if waits else None, median(words) if words else None)


def _said(connection: Connection, dialog_ids: Collection[str]) -> dict[str, list[Said]]:
    said: dict[str, list[Said]] = defaultdict(list)
    for chunk in chunks(dialog_ids):
        for row in connection.execute(_SAID, {"ids": chunk}):
            event = from_json(row.kind, row.at, orjson.loads(row.data))
            assert isinstance(event, Said), "the query asks for messages only"
            said[row.dialog_id].append(event)
    return said


def releases_of_worker(connection: Connection, worker_id: str) -> dict[Release, int]:
    """How somebody's arrivals ended, and how often."""
    query = (
        select(releases.c.release)
        .join(arrivals, arrivals.c.id == releases.c.arrival_id)
        .where(arrivals.c.worker_id == worker_id)
    )
    return dict(Counter(Release(row.release) for row in connection.execute(query)))
