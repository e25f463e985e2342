"""The figures of a study at one moment: few, cheap queries, each one pass over its rows.

For whoever watches a study: metrics, the terminal, the monitor. Nothing here says who anybody is.
Money is in cents, times are seconds since 1970-01-01 UTC, waits are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, case, func, literal, select

from dialogs.record.endings import ENDING
from dialogs.record.leases import HITS, SERVING
from dialogs.record.queries import dialogs_by_id
from dialogs.record.tables import (
    TAKES_PLACE,
    arrivals,
    dialogs,
    hits,
    items,
    leases,
    ledger,
    relaunches,
    releases,
    reports,
    studies,
)
from dialogs.rules import (
    ArrivalStatus,
    Ending,
    HitState,
    LedgerState,
    Phase,
    Release,
    ReportKind,
    StudyStatus,
)
from dialogs.state import DialogState


@dataclass(frozen=True, slots=True)
class Payments:
    """How many payments are alike in something, and what they come to."""

    payments: int = 0
    cents: int = 0


@dataclass(frozen=True, slots=True)
class Hits:
    """How many HITs are in one state, and their seats: nobody has taken `free` of them, `pending`
    are taken and not handed in."""

    hits: int = 0
    free: int = 0
    pending: int = 0


@dataclass(frozen=True, slots=True)
class Figures:
    """A study at one moment. What is counted by something names all that it can be, also with 0.

    `done` of its `places` have a complete dialog that is not rejected as data. `oldest_wait_s` is
    the longest wait of those in the lobby now. `seen_at` is when a server last said that it runs
    and its database takes writes, `recruits_until` until when somebody holds the lease of
    recruiting and paying; None if nobody ever did.
    """

    at: float
    status: StudyStatus
    items: int
    places: int
    done: int
    live: Mapping[Phase, int]
    ended: Mapping[Ending, int]
    people: Mapping[ArrivalStatus, int]
    oldest_wait_s: float
    relaunches: int
    ledger: Mapping[LedgerState, Payments]
    put_off: int
    hits: Mapping[HitState, Hits]
    reported: int
    seen_at: float | None
    recruits_until: float | None

    @property
    def in_lobby(self) -> int:
        return self.people[ArrivalStatus.WAITING]

    @property
    def inside(self) -> int:
        """Everybody who has come and is not released."""
        return sum(n for status, n in self.people.items() if status is not ArrivalStatus.RELEASED)


_MINE: Final[Any] = bindparam("study")
_STATUS: Final = select(studies.c.status).where(studies.c.id == _MINE)
_ITEMS: Final = select(func.count(), func.coalesce(func.sum(items.c.wanted), 0)).where(
    items.c.study_id == _MINE
)
# Item by item: what is there too much of one is not there of another.
_DONE: Final = TAKES_PLACE & (dialogs.c.phase == Phase.ENDED.value)
_EACH: Final = (
    select(
        dialogs.c.phase,
        ENDING.label("ending"),
        case((_DONE & (dialogs.c.place <= items.c.wanted), 1), else_=0).label("done"),
    )
    .join(items, items.c.id == dialogs.c.item_id)
    .where(dialogs.c.study_id == _MINE)
    .subquery()
)
_DIALOGS: Final = select(
    _EACH.c.phase, _EACH.c.ending, func.count().label("n"), func.sum(_EACH.c.done).label("done")
).group_by(_EACH.c.phase, _EACH.c.ending)
_PEOPLE: Final = (
    select(arrivals.c.status, func.count().label("n"))
    .where(arrivals.c.study_id == _MINE)
    .group_by(arrivals.c.status)
)
# A wait that was interrupted goes on where it stopped.
_WAIT: Final = select(func.min(arrivals.c.ready_at - arrivals.c.waited_s)).where(
    arrivals.c.study_id == _MINE, arrivals.c.status == ArrivalStatus.WAITING.value
)
_RELAUNCHES: Final = (
    select(func.count())
    .select_from(relaunches.join(items, items.c.id == relaunches.c.item_id))
    .where(items.c.study_id == _MINE)
)
_LEDGER: Final = (
    select(
        ledger.c.state,
        func.count().label("n"),
        func.sum(ledger.c.cents).label("cents"),
        func.sum(case((ledger.c.problem.is_not(None), 1), else_=0)).label("problems"),
    )
    .join(arrivals, arrivals.c.id == ledger.c.arrival_id)
    .where(arrivals.c.study_id == _MINE)
    .group_by(ledger.c.state)
)
_HITS: Final = (
    select(
        hits.c.state,
        func.count().label("n"),
        func.sum(hits.c.free).label("free"),
        func.sum(hits.c.pending).label("pending"),
    )
    .where(hits.c.study_id == _MINE)
    .group_by(hits.c.state)
)
_REPORTED: Final = (
    select(func.count())
    .select_from(reports.join(arrivals, arrivals.c.id == reports.c.arrival_id))
    .where(arrivals.c.study_id == _MINE, reports.c.kind == ReportKind.PROBLEM.value)
)
_LEASES: Final = select(leases.c.work, leases.c.until).where(leases.c.study_id == _MINE)

_WAITS_FOR_MONEY: Final = (LedgerState.OWED.value, LedgerState.APPROVED.value)
"""What is put off stays in one of these, with a problem."""


def figures(connection: Connection, study_id: str, now: float) -> Figures:
    """The study's figures at the moment `now`.

    Raises:
        LookupError: the record knows no such study.
    """
    mine = {"study": study_id}
    status = connection.execute(_STATUS, mine).scalar_one_or_none()
    if status is None:
        raise LookupError(study_id)
    found, places = connection.execute(_ITEMS, mine).one()
    held = connection.execute(_DIALOGS, mine).all()
    phases = {row.phase: row.n for row in held if row.ending is None}
    endings = {row.ending: row.n for row in held if row.ending is not None}
    people = {row.status: row.n for row in connection.execute(_PEOPLE, mine)}
    since = connection.execute(_WAIT, mine).scalar_one()
    owed = {row.state: row for row in connection.execute(_LEDGER, mine)}
    posted = {row.state: row for row in connection.execute(_HITS, mine)}
    work = {row.work: row.until for row in connection.execute(_LEASES, mine)}
    serving = work.get(SERVING)
    return Figures(
        at=now,
        status=StudyStatus(status),
        items=int(found),
        places=int(places),
        done=sum(int(row.done or 0) for row in held),
        live={phase: phases.get(phase.value, 0) for phase in (Phase.PAIRED, Phase.SOLO)},
        ended={ending: endings.get(ending.value, 0) for ending in Ending},
        people={status: people.get(status.value, 0) for status in ArrivalStatus},
        oldest_wait_s=0.0 if since is None else max(now - since, 0.0),
        relaunches=int(connection.execute(_RELAUNCHES, mine).scalar_one()),
        ledger={
            state: Payments(row.n, int(row.cents)) if (row := owed.get(state.value)) else Payments()
            for state in LedgerState
        },
        put_off=sum(int(row.problems) for row in owed.values() if row.state in _WAITS_FOR_MONEY),
        hits={
            state: Hits(row.n, int(row.free), int(row.pending))
            if (row := posted.get(state.value))
            else Hits()
            for state in HitState
        },
        reported=int(connection.execute(_REPORTED, mine).scalar_one()),
        seen_at=serving,
        recruits_until=work.get(HITS),
    )


# --- What happened last ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Happened:
    """One thing that happened: `what` is `opened`, an ending, a release, a relaunch, `paid`, or
    what a worker reported. The ids are ours, and say nothing about who it was."""

    at: float
    what: str
    dialog_id: str | None = None
    arrival_id: str | None = None


OPENED: Final = "opened"
RELAUNCHED: Final = "relaunched"
PAID: Final = "paid"
_NOBODY: Final = literal(None)

_LATEST: Final = (
    select(
        dialogs.c.opened_at.label("at"),
        literal(OPENED).label("what"),
        dialogs.c.id.label("dialog_id"),
        _NOBODY.label("arrival_id"),
    ).where(dialogs.c.study_id == _MINE),
    select(dialogs.c.ended_at, ENDING, dialogs.c.id, _NOBODY).where(
        dialogs.c.study_id == _MINE, dialogs.c.ended_at.is_not(None)
    ),
    # Who completed a dialog ended with it, which is told already.
    select(releases.c.at, releases.c.release, releases.c.dialog_id, releases.c.arrival_id)
    .join(arrivals, arrivals.c.id == releases.c.arrival_id)
    .where(arrivals.c.study_id == _MINE, releases.c.release != Release.COMPLETED.value),
    select(relaunches.c.at, literal(RELAUNCHED), relaunches.c.dialog_id, _NOBODY)
    .join(items, items.c.id == relaunches.c.item_id)
    .where(items.c.study_id == _MINE),
    select(ledger.c.paid_at, literal(PAID), _NOBODY, ledger.c.arrival_id)
    .join(arrivals, arrivals.c.id == ledger.c.arrival_id)
    .where(arrivals.c.study_id == _MINE, ledger.c.state == LedgerState.PAID.value),
    select(reports.c.at, reports.c.kind, _NOBODY, reports.c.arrival_id)
    .join(arrivals, arrivals.c.id == reports.c.arrival_id)
    .where(arrivals.c.study_id == _MINE),
)


def latest(connection: Connection, study_id: str, most: int) -> list[Happened]:
    """The `most` things that happened last, newest first."""
    found: list[Happened] = []
    # Each by itself, so that no more than `most` of a kind are ever sorted together.
    for query in _LATEST:
        at = query.selected_columns[0]
        for row in connection.execute(query.order_by(at.desc()).limit(most), {"study": study_id}):
            found.append(Happened(*row))
    return sorted(found, key=lambda each: each.at, reverse=True)[:most]


# --- Who is at it now ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Waits:
    """Somebody in the lobby, for `waited_s` in all; `missed_start` if they did not press *start*
    when they were matched before."""

    arrival_id: str
    language: str
    waited_s: float
    missed_start: bool


@dataclass(frozen=True, slots=True)
class GoesOn:
    """A dialog that goes on, and the image that it is about."""

    image_id: str
    state: DialogState


_WAITING: Final = (
    select(
        arrivals.c.id,
        arrivals.c.language,
        (arrivals.c.ready_at - arrivals.c.waited_s).label("since"),
        arrivals.c.missed_start,
    )
    .where(
        arrivals.c.study_id == _MINE,
        arrivals.c.status == ArrivalStatus.WAITING.value,
        arrivals.c.ready_at.is_not(None),
    )
    .order_by("since", arrivals.c.id)
)
_GOING_ON: Final = (
    select(dialogs.c.id, items.c.image_id)
    .join(items, items.c.id == dialogs.c.item_id)
    .where(
        dialogs.c.study_id == _MINE,
        dialogs.c.phase.in_([Phase.PAIRED.value, Phase.SOLO.value]),
    )
    .order_by(dialogs.c.opened_at, dialogs.c.id)
)


def waiting(connection: Connection, study_id: str, now: float, most: int) -> list[Waits]:
    """Those in the lobby, `most` at most, who wait longest first."""
    found = connection.execute(_WAITING.limit(most), {"study": study_id})
    return [
        Waits(row.id, row.language, max(now - row.since, 0.0), bool(row.missed_start))
        for row in found
    ]


def going_on(connection: Connection, study_id: str, most: int) -> list[GoesOn]:
    """The live dialogs, `most` at most, the oldest first."""
    found = connection.execute(_GOING_ON.limit(most), {"study": study_id}).all()
    states = dialogs_by_id(connection, [row.id for row in found])
    return [GoesOn(row.image_id, states[row.id]) for row in found if row.id in states]
