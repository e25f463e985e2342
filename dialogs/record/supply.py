"""How many people a study needs and has, and each item's way to its dialogs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, case, func, select

from dialogs.record.endings import ENDING
from dialogs.record.tables import (
    TAKES_PLACE,
    arrivals,
    assignments,
    dialogs,
    hits,
    items,
    relaunch_seats,
    relaunches,
    seats,
)
from dialogs.record.unowed import undecided_strangers
from dialogs.rules import (
    Acceptance,
    ArrivalStatus,
    AssignmentStatus,
    HitState,
    Outcome,
    Phase,
    SeatStatus,
)


@dataclass(frozen=True, slots=True)
class Supply:
    """How many people a study still needs, and how many are on their way.

    `missing` places have no complete dialog yet; `inside` arrivals are at work and not left
    alone; `open_seats` of open HITs wait for somebody; `coming` have taken a HIT and not opened
    our page yet; `in_lobby` wait for a partner; `alone` finish a dialog by themselves, which
    fills no place but is paid; `strangers` handed in without having come to us, and their work
    waits for a decision.
    """

    missing: int
    inside: int
    open_seats: int
    coming: int
    in_lobby: int
    alone: int = 0
    strangers: int = 0

    @property
    def wanted(self) -> int:
        """People: two for each place without a complete dialog."""
        return 2 * self.missing

    @property
    def have(self) -> int:
        return self.inside + self.open_seats + self.coming


_IN_SOLO: Final = (
    select(seats.c.arrival_id)
    .join(dialogs, dialogs.c.id == seats.c.dialog_id)
    .where(
        dialogs.c.study_id == bindparam("study"),
        dialogs.c.phase == Phase.SOLO.value,
        seats.c.status == SeatStatus.LIVE.value,
    )
)
_SUBMITTED: Final = tuple(
    status.value for status in AssignmentStatus if status is not AssignmentStatus.TAKEN
)


_STANDING: Final = (HitState.WANTED.value, HitState.OPEN.value, HitState.CLOSED.value)
"""One that is wanted may have been posted before, and be on its way to be opened again."""

_DONE: Final = (
    select(dialogs.c.item_id, func.count().label("n"))
    .join(items, items.c.id == dialogs.c.item_id)
    .where(
        dialogs.c.study_id == bindparam("study"),
        TAKES_PLACE,
        dialogs.c.outcome == Outcome.COMPLETE.value,
        dialogs.c.place <= items.c.wanted,
    )
    .group_by(dialogs.c.item_id)
    .subquery()
)
_MISSING: Final = (
    # Item by item: what is there too much of one is not there of another.
    select(func.sum(items.c.wanted - func.coalesce(_DONE.c.n, 0)))
    .select_from(items.outerjoin(_DONE, _DONE.c.item_id == items.c.id))
    .where(items.c.study_id == bindparam("study"))
)


def _holders(*counts: Any) -> Select[Any]:
    """Of each HIT, those who came to us by it and have not handed it in."""
    told = arrivals.outerjoin(
        assignments,
        (assignments.c.study_id == arrivals.c.study_id)
        & (assignments.c.id == arrivals.c.assignment_id),
    )
    return (
        select(arrivals.c.hit_id, *counts)
        .select_from(told)
        .where(
            arrivals.c.study_id == bindparam("study"),
            arrivals.c.hit_id.is_not(None),
            assignments.c.status.is_(None) | assignments.c.status.not_in(_SUBMITTED),
        )
        .group_by(arrivals.c.hit_id)
    )


def _gone() -> Select[Any]:
    """How many are still here for us and hold no seat over there any more.

    Whoever talks is seen by the live server, so only people outside of dialogs are meant.
    """
    idle = arrivals.c.status.in_([ArrivalStatus.ARRIVED.value, ArrivalStatus.WAITING.value])
    old = (
        _holders(
            func.count().label("n"),
            func.sum(case((idle, 1), else_=0)).label("idle"),
        )
        .where(
            arrivals.c.status != ArrivalStatus.RELEASED.value,
            arrivals.c.created_at < bindparam("long_ago"),
        )
        .subquery()
    )
    more = old.c.n - hits.c.pending
    return (
        select(func.sum(case((more > old.c.idle, old.c.idle), (more > 0, more), else_=0)))
        .select_from(hits.join(old, old.c.hit_id == hits.c.id))
        .where(
            hits.c.study_id == bindparam("study"),
            hits.c.remote_id.is_not(None),
            hits.c.state.in_(_STANDING),
        )
    )


_GONE: Final = _gone()
JUST_COME_S: Final = 120.0
"""For how long a recruiter may not have noticed yet that somebody has taken a HIT."""


def supply(connection: Connection, study_id: str, looked_at: float | None = None) -> Supply:
    """How many people are needed and how many are there; a few queries, whatever the size.

    `looked_at` is when the recruiter was asked for what the HITs' rows say. With it, people are
    passed over who came long before, and whose seat somebody else can take again over there:
    they gave the HIT back without a word to us.
    """

    def count(query: Any, **more: Any) -> int:
        return int(connection.execute(query, {"study": study_id, **more}).scalar_one() or 0)

    mine: Any = bindparam("study")
    unreleased = arrivals.c.status != ArrivalStatus.RELEASED.value
    inside = count(
        select(func.count())
        .select_from(arrivals)
        .where(arrivals.c.study_id == mine, unreleased, arrivals.c.id.not_in(_IN_SOLO))
    )
    alone = count(
        select(func.count())
        .select_from(arrivals)
        .where(arrivals.c.study_id == mine, unreleased, arrivals.c.id.in_(_IN_SOLO))
    )
    in_lobby = count(
        select(func.count())
        .select_from(arrivals)
        .where(arrivals.c.study_id == mine, arrivals.c.status == ArrivalStatus.WAITING.value)
    )
    to_grow = hits.c.seats - hits.c.seats_there
    open_seats = count(
        select(func.sum(hits.c.free + case((to_grow > 0, to_grow), else_=0))).where(
            hits.c.study_id == mine,
            hits.c.state.in_([HitState.WANTED.value, HitState.OPEN.value]),
        )
    )
    # Who has come to us holds a seat over there until it is handed in.
    here = _holders(func.count().label("n")).subquery()
    unseen = hits.c.pending - func.coalesce(here.c.n, 0)
    coming = count(
        select(func.sum(case((unseen > 0, unseen), else_=0)))
        .select_from(hits.outerjoin(here, here.c.hit_id == hits.c.id))
        .where(
            hits.c.study_id == mine,
            hits.c.state.in_(_STANDING),
        )
    )
    gone = count(_GONE, long_ago=looked_at - JUST_COME_S) if looked_at is not None else 0
    missing = count(_MISSING)
    strangers = undecided_strangers(connection, study_id)
    return Supply(missing, inside - gone, open_seats, coming, in_lobby, alone, strangers)


# --- Relaunches ---


def unposted_relaunches(connection: Connection, study_id: str) -> list[str]:
    """The dialogs whose relaunch no HIT is there for, oldest first.

    Where people who waited have taken the place meanwhile, nobody need be invited for it; if
    theirs fails too, it has a relaunch of its own.
    """
    posted = (
        select(relaunch_seats.c.dialog_id)
        .join(hits, hits.c.id == relaunch_seats.c.hit_id)
        .where(
            hits.c.study_id == bindparam("study"),
            # Seats that were refused or taken back before they were posted invited nobody.
            hits.c.state.in_([HitState.WANTED.value, HitState.OPEN.value])
            | (hits.c.seats_there >= relaunch_seats.c.upto),
        )
    )
    taken = (
        select(dialogs.c.id)
        .where(
            dialogs.c.item_id == relaunches.c.item_id,
            dialogs.c.place == relaunches.c.place,
            dialogs.c.id != relaunches.c.dialog_id,
            dialogs.c.opened_at >= relaunches.c.at,
        )
        .exists()
    )
    lost = dialogs.alias("lost")
    query = (
        select(relaunches.c.dialog_id)
        .join(lost, lost.c.id == relaunches.c.dialog_id)
        .where(
            lost.c.study_id == bindparam("study"),
            relaunches.c.dialog_id.not_in(posted),
            ~taken,
        )
        .order_by(relaunches.c.at, relaunches.c.dialog_id)
    )
    return list(connection.execute(query, {"study": study_id}).scalars())


@dataclass(frozen=True, slots=True)
class Chain:
    """One item's way to its dialogs: each dialog, how it ended, and the HITs of its relaunch."""

    image_id: str
    wanted: int
    complete: int
    dialogs: tuple[tuple[str, str, tuple[str, ...]], ...]


def chains(connection: Connection, study_id: str) -> list[Chain]:
    """Item → dialogs → relaunches, in the order of the items."""
    posted: dict[str, list[str]] = {}
    query = (
        select(relaunch_seats.c.dialog_id, hits.c.id)
        .join(hits, hits.c.id == relaunch_seats.c.hit_id)
        .where(hits.c.study_id == study_id)
        .order_by(hits.c.created_at, hits.c.id)
    )
    for row in connection.execute(query):
        posted.setdefault(row.dialog_id, []).append(row.id)
    held: dict[str, list[tuple[str, str, tuple[str, ...]]]] = {}
    complete: dict[str, int] = {}
    found = connection.execute(
        select(dialogs, ENDING.label("ending"))
        .where(dialogs.c.study_id == study_id)
        .order_by(dialogs.c.opened_at, dialogs.c.id)
    )
    for row in found:
        how = row.ending or row.phase
        held.setdefault(row.item_id, []).append((row.id, how, tuple(posted.get(row.id, ()))))
        counts = how == Outcome.COMPLETE.value and row.acceptance != Acceptance.REJECTED.value
        complete[row.item_id] = complete.get(row.item_id, 0) + counts
    wanted = connection.execute(
        select(items).where(items.c.study_id == study_id).order_by(items.c.position)
    )
    return [
        Chain(row.image_id, row.wanted, complete.get(row.id, 0), tuple(held.get(row.id, ())))
        for row in wanted
    ]
