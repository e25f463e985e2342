"""HITs in the record: what is wanted, what is there, and what recruiters say of it.

Only the hit manager writes these rows. Money is in cents, times are seconds since 1970-01-01 UTC.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, case, func, select

from dialogs.record.bulk import RowUpdate
from dialogs.record.queries import chunks
from dialogs.record.tables import (
    TAKES_PLACE,
    arrivals,
    assignments,
    dialogs,
    hits,
    items,
    relaunches,
    seats,
    workers,
)
from dialogs.record.writer import Change, Decision
from dialogs.rules import (
    ArrivalStatus,
    AssignmentStatus,
    HitState,
    Outcome,
    Phase,
    SeatStatus,
)


@dataclass(frozen=True, slots=True)
class HitRow:
    """One of our HITs. `free` and `pending` are what the recruiter said last: seats that nobody
    has taken, and seats taken but not handed in."""

    id: str
    recruiter: str
    token: str
    remote_id: str | None
    state: HitState
    seats: int
    reward: int
    currency: str
    relaunch_of: str | None
    created_at: float
    posted_at: float | None
    expires_at: float | None
    free: int
    pending: int
    problem: str | None


@dataclass(frozen=True, slots=True)
class AssignmentRow:
    """What the recruiter says of one worker's hold on a HIT."""

    id: str
    hit_id: str
    worker: str
    status: AssignmentStatus
    code: str | None
    submitted_at: float | None


# --- What is wanted and what is there ------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Supply:
    """How many people a study still needs, and how many are on their way.

    `missing` places have no complete dialog yet; `inside` arrivals are at work and not left
    alone; `open_seats` of open HITs wait for somebody; `coming` have taken a HIT and not opened
    our page yet; `in_lobby` wait for a partner.
    """

    missing: int
    inside: int
    open_seats: int
    coming: int
    in_lobby: int

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


def supply(connection: Connection, study_id: str) -> Supply:
    """How many people are needed and how many are there; a few queries, whatever the size."""

    def count(query: Any, **more: Any) -> int:
        return int(connection.execute(query, {"study": study_id, **more}).scalar_one() or 0)

    mine: Any = bindparam("study")
    wanted = count(select(func.sum(items.c.wanted)).where(items.c.study_id == mine))
    complete = count(
        select(func.count())
        .select_from(dialogs)
        .where(dialogs.c.study_id == mine, TAKES_PLACE, dialogs.c.outcome == Outcome.COMPLETE.value)
    )
    unreleased = arrivals.c.status != ArrivalStatus.RELEASED.value
    inside = count(
        select(func.count())
        .select_from(arrivals)
        .where(arrivals.c.study_id == mine, unreleased, arrivals.c.id.not_in(_IN_SOLO))
    )
    in_lobby = count(
        select(func.count())
        .select_from(arrivals)
        .where(arrivals.c.study_id == mine, arrivals.c.status == ArrivalStatus.WAITING.value)
    )
    free = case((hits.c.state == HitState.WANTED.value, hits.c.seats), else_=hits.c.free)
    open_seats = count(
        select(func.sum(free)).where(
            hits.c.study_id == mine,
            hits.c.state.in_([HitState.WANTED.value, HitState.OPEN.value]),
        )
    )
    # Who has come to us holds a seat over there until it is handed in.
    here = (
        select(arrivals.c.hit_id, func.count().label("n"))
        .select_from(
            arrivals.outerjoin(
                assignments,
                (assignments.c.study_id == arrivals.c.study_id)
                & (assignments.c.id == arrivals.c.assignment_id),
            )
        )
        .where(
            arrivals.c.study_id == mine,
            arrivals.c.hit_id.is_not(None),
            assignments.c.status.is_(None) | assignments.c.status.not_in(_SUBMITTED),
        )
        .group_by(arrivals.c.hit_id)
        .subquery()
    )
    unseen = hits.c.pending - func.coalesce(here.c.n, 0)
    coming = count(
        select(func.sum(case((unseen > 0, unseen), else_=0)))
        .select_from(hits.outerjoin(here, here.c.hit_id == hits.c.id))
        .where(
            hits.c.study_id == mine,
            hits.c.state.in_([HitState.OPEN.value, HitState.CLOSED.value]),
        )
    )
    return Supply(wanted - complete, inside, open_seats, coming, in_lobby)


# --- Reading -------------------------------------------------------------------------------


def _hit(row: Any) -> HitRow:
    return HitRow(
        row.id,
        row.recruiter,
        row.token,
        row.remote_id,
        HitState(row.state),
        row.seats,
        row.reward,
        row.currency,
        row.relaunch_of,
        row.created_at,
        row.posted_at,
        row.expires_at,
        row.free,
        row.pending,
        row.problem,
    )


def hits_in(connection: Connection, study_id: str, states: Collection[HitState]) -> list[HitRow]:
    """The study's HITs in these states, oldest first."""
    query = (
        select(hits)
        .where(hits.c.study_id == study_id, hits.c.state.in_([s.value for s in states]))
        .order_by(hits.c.created_at, hits.c.id)
    )
    return [_hit(row) for row in connection.execute(query)]


def hit_by_token(connection: Connection, study_id: str, token: str) -> HitRow | None:
    """The HIT whose link carries this token."""
    query = select(hits).where(hits.c.study_id == study_id, hits.c.token == token)
    row = connection.execute(query).one_or_none()
    return None if row is None else _hit(row)


def hit_by_remote_id(connection: Connection, study_id: str, remote_id: str) -> HitRow | None:
    """The HIT that the recruiter calls so."""
    query = select(hits).where(hits.c.study_id == study_id, hits.c.remote_id == remote_id)
    row = connection.execute(query).one_or_none()
    return None if row is None else _hit(row)


def hits_by_id(connection: Connection, ids: Collection[str]) -> dict[str, HitRow]:
    found: dict[str, HitRow] = {}
    for chunk in chunks(ids):
        for row in connection.execute(select(hits).where(hits.c.id.in_(chunk))):
            found[row.id] = _hit(row)
    return found


def _assignment(row: Any) -> AssignmentRow:
    return AssignmentRow(
        row.id, row.hit_id, row.worker, AssignmentStatus(row.status), row.code, row.submitted_at
    )


def assignments_of(
    connection: Connection, study_id: str, hit_ids: Collection[str]
) -> dict[str, AssignmentRow]:
    """What recruiters said of these HITs' assignments, by assignment id."""
    found: dict[str, AssignmentRow] = {}
    for chunk in chunks(hit_ids):
        query = select(assignments).where(
            assignments.c.study_id == study_id, assignments.c.hit_id.in_(chunk)
        )
        for row in connection.execute(query):
            found[row.id] = _assignment(row)
    return found


def assignments_by_id(
    connection: Connection, study_id: str, ids: Collection[str]
) -> dict[str, AssignmentRow]:
    found: dict[str, AssignmentRow] = {}
    for chunk in chunks(ids):
        query = select(assignments).where(
            assignments.c.study_id == study_id, assignments.c.id.in_(chunk)
        )
        for row in connection.execute(query):
            found[row.id] = _assignment(row)
    return found


def unposted_relaunches(connection: Connection, study_id: str) -> list[str]:
    """The dialogs whose relaunch no HIT has been posted for, oldest first."""
    posted = select(hits.c.relaunch_of).where(
        hits.c.study_id == bindparam("study"), hits.c.relaunch_of.is_not(None)
    )
    query = (
        select(relaunches.c.dialog_id)
        .join(dialogs, dialogs.c.id == relaunches.c.dialog_id)
        .where(dialogs.c.study_id == bindparam("study"), relaunches.c.dialog_id.not_in(posted))
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
    query = select(hits.c.relaunch_of, hits.c.id).where(
        hits.c.study_id == study_id, hits.c.relaunch_of.is_not(None)
    )
    for row in connection.execute(query.order_by(hits.c.created_at)):
        posted.setdefault(row.relaunch_of, []).append(row.id)
    held: dict[str, list[tuple[str, str, tuple[str, ...]]]] = {}
    complete: dict[str, int] = {}
    found = connection.execute(
        select(dialogs).where(dialogs.c.study_id == study_id).order_by(dialogs.c.opened_at)
    )
    for row in found:
        how = row.outcome or row.phase
        held.setdefault(row.item_id, []).append((row.id, how, tuple(posted.get(row.id, ()))))
        complete[row.item_id] = complete.get(row.item_id, 0) + (how == Outcome.COMPLETE.value)
    wanted = connection.execute(
        select(items).where(items.c.study_id == study_id).order_by(items.c.position)
    )
    return [
        Chain(row.image_id, row.wanted, complete.get(row.id, 0), tuple(held.get(row.id, ())))
        for row in wanted
    ]


def workers_seen(connection: Connection, study_id: str, recruiter: str) -> set[str]:
    """The recruiter's ids of the people who have come to this study."""
    query = select(workers.c.external_id).where(
        workers.c.study_id == study_id, workers.c.recruiter == recruiter
    )
    return set(connection.execute(query).scalars())


# --- Decisions -----------------------------------------------------------------------------

_POSTED: Final = RowUpdate(
    lambda p: (
        hits.update()
        .where(hits.c.id == p["hit"], hits.c.state == HitState.WANTED.value)
        .values(
            state=HitState.OPEN.value,
            remote_id=p["remote"],
            posted_at=p["now"],
            expires_at=p["until"],
            free=p["open"],
            problem=None,
        )
    ),
    hit=hits.c.id,
    remote=hits.c.remote_id,
    now=hits.c.posted_at,
    until=hits.c.expires_at,
    open=hits.c.free,
)
_BECOMES: Final = RowUpdate(
    lambda p: (
        hits.update()
        .where(hits.c.id == p["hit"])
        .values(state=p["after"], problem=p["why"], free=0)
    ),
    hit=hits.c.id,
    after=hits.c.state,
    why=hits.c.problem,
)
_SEEN: Final = RowUpdate(
    lambda p: hits.update().where(hits.c.id == p["hit"]).values(free=p["open"], pending=p["taken"]),
    hit=hits.c.id,
    open=hits.c.free,
    taken=hits.c.pending,
)
_LONGER: Final = RowUpdate(
    lambda p: hits.update().where(hits.c.id == p["hit"]).values(expires_at=p["until"]),
    hit=hits.c.id,
    until=hits.c.expires_at,
)
_TOLD: Final = RowUpdate(
    lambda p: (
        assignments.update()
        .where(assignments.c.study_id == p["study"], assignments.c.id == p["assignment"])
        .values(status=p["now_is"], code=p["handed"], submitted_at=p["when"], worker=p["who"])
    ),
    study=assignments.c.study_id,
    assignment=assignments.c.id,
    now_is=assignments.c.status,
    handed=assignments.c.code,
    when=assignments.c.submitted_at,
    who=assignments.c.worker,
)


@dataclass(frozen=True, slots=True)
class NewHit:
    """A HIT that is decided on; `relaunch_of` names the dialog whose relaunch it is part of."""

    id: str
    token: str
    seats: int
    reward: int
    currency: str
    relaunch_of: str | None = None


def wanted_hits(study_id: str, recruiter: str, new: Iterable[NewHit], now: float) -> Decision:
    """These HITs are to be posted."""
    rows = [
        {
            "id": hit.id,
            "study_id": study_id,
            "recruiter": recruiter,
            "token": hit.token,
            "state": HitState.WANTED.value,
            "seats": hit.seats,
            "reward": hit.reward,
            "currency": hit.currency,
            "relaunch_of": hit.relaunch_of,
            "created_at": now,
        }
        for hit in new
    ]
    return Decision(study_id, tuple((hits, row) for row in rows))


def posted(hit_id: str, remote_id: str, free: int, now: float, expires_at: float) -> Decision:
    """The recruiter has it; conflicts if it was not wanted any more."""
    params = {"hit": hit_id, "remote": remote_id, "now": now, "until": expires_at, "open": free}
    return Decision(hit_id, (), (Change(_POSTED, params),))


def hit_becomes(hit_id: str, state: HitState, problem: str | None = None) -> Decision:
    """The HIT is closed, done or failed; it has no free seat any more."""
    params = {"hit": hit_id, "after": state.value, "why": problem}
    return Decision(hit_id, (), (Change(_BECOMES, params),))


def hit_extended(hit_id: str, until: float) -> Decision:
    return Decision(hit_id, (), (Change(_LONGER, {"hit": hit_id, "until": until}),))


def hits_seen(study_id: str, seen: Mapping[str, tuple[int, int]]) -> Decision:
    """What the recruiter says of our HITs: (free, pending) by our id."""
    changes = [
        Change(_SEEN, {"hit": hit_id, "open": free, "taken": pending})
        for hit_id, (free, pending) in sorted(seen.items())
    ]
    return Decision(study_id, (), tuple(changes))


def assignments_seen(
    study_id: str, new: Iterable[AssignmentRow], changed: Iterable[AssignmentRow]
) -> Decision:
    """What the recruiter says of assignments: some not known before, some changed."""
    rows = [
        {
            "study_id": study_id,
            "id": each.id,
            "hit_id": each.hit_id,
            "worker": each.worker,
            "status": each.status.value,
            "code": each.code,
            "submitted_at": each.submitted_at,
        }
        for each in new
    ]
    changes = [
        Change(
            _TOLD,
            {
                "study": study_id,
                "assignment": each.id,
                "now_is": each.status.value,
                "handed": each.code,
                "when": each.submitted_at,
                "who": each.worker,
            },
        )
        for each in changed
    ]
    return Decision(study_id, tuple((assignments, row) for row in rows), tuple(changes))
