"""HITs in the record: what is wanted, what is there, and what recruiters say of it.

Only the hit manager writes these rows. Money is in cents, times are seconds since 1970-01-01 UTC.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, case, select

from dialogs.record.bulk import RowUpdate
from dialogs.record.queries import chunks
from dialogs.record.tables import (
    assignments,
    hits,
    workers,
)
from dialogs.record.writer import Change, Decision
from dialogs.rules import (
    ERASED,
    AssignmentStatus,
    HitState,
)


@dataclass(frozen=True, slots=True)
class HitRow:
    """One of our HITs. `seats` are wanted of it, in all. `seats_there`, `free` and `pending` are
    what the recruiter said last: seats it has, seats that nobody has taken, and seats taken but
    not handed in; of a closed one, `free` are those that would be open if it were opened again.
    `terms` is a digest of what was fixed when it was posted."""

    id: str
    recruiter: str
    token: str
    remote_id: str | None
    state: HitState
    seats: int
    reward: int
    currency: str
    created_at: float
    posted_at: float | None
    expires_at: float | None
    free: int
    pending: int
    problem: str | None
    seats_there: int = 0
    terms: str = ""

    @property
    def to_grow(self) -> int:
        """How many seats are wanted that the recruiter has not given yet."""
        return max(self.seats - self.seats_there, 0)


@dataclass(frozen=True, slots=True)
class AssignmentRow:
    """What the recruiter says of one worker's hold on a HIT."""

    id: str
    hit_id: str
    worker: str
    status: AssignmentStatus
    code: str | None
    submitted_at: float | None


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
        row.created_at,
        row.posted_at,
        row.expires_at,
        row.free,
        row.pending,
        row.problem,
        row.seats_there,
        row.terms or "",
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


def unplaced_hits(connection: Connection, study_id: str) -> list[HitRow]:
    """HITs of which we know no name over there: perhaps they were never posted, perhaps whoever
    posted them died before the answer was stored."""
    query = select(hits).where(
        hits.c.study_id == study_id,
        hits.c.remote_id.is_(None),
        hits.c.state != HitState.FAILED.value,
    )
    return [_hit(row) for row in connection.execute(query.order_by(hits.c.created_at, hits.c.id))]


def hits_by_remote_id(
    connection: Connection, study_id: str, remote_ids: Collection[str]
) -> dict[str, HitRow]:
    """HITs by what the recruiter calls them."""
    found: dict[str, HitRow] = {}
    for chunk in chunks(remote_ids):
        query = select(hits).where(hits.c.study_id == study_id, hits.c.remote_id.in_(chunk))
        for row in connection.execute(query):
            found[row.remote_id] = _hit(row)
    return found


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
            seats_there=p["there"],
            problem=None,
        )
    ),
    hit=hits.c.id,
    remote=hits.c.remote_id,
    now=hits.c.posted_at,
    until=hits.c.expires_at,
    open=hits.c.free,
    there=hits.c.seats_there,
)
_FOUND: Final = RowUpdate(
    lambda p: (
        hits.update()
        .where(hits.c.id == p["hit"], hits.c.remote_id.is_(None))
        .values(
            state=HitState.OPEN.value,
            remote_id=p["remote"],
            posted_at=p["now"],
            expires_at=p["until"],
            free=p["open"],
            seats_there=p["there"],
            problem=None,
        )
    ),
    hit=hits.c.id,
    remote=hits.c.remote_id,
    now=hits.c.posted_at,
    until=hits.c.expires_at,
    open=hits.c.free,
    there=hits.c.seats_there,
)
_GROWN: Final = RowUpdate(
    lambda p: (
        hits.update()
        .where(hits.c.id == p["hit"], hits.c.state == HitState.OPEN.value)
        .values(seats_there=p["there"], free=p["open"])
    ),
    hit=hits.c.id,
    there=hits.c.seats_there,
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
    lambda p: (
        hits.update()
        .where(hits.c.id == p["hit"])
        .values(free=p["open"], pending=p["taken"], seats_there=p["there"])
    ),
    hit=hits.c.id,
    open=hits.c.free,
    taken=hits.c.pending,
    there=hits.c.seats_there,
)
_LONGER: Final = RowUpdate(
    lambda p: hits.update().where(hits.c.id == p["hit"]).values(expires_at=p["until"]),
    hit=hits.c.id,
    until=hits.c.expires_at,
)
# The recruiter goes on telling who did the work; whoever was erased is not learnt again.
_IS_ERASED: Final = assignments.c.worker.startswith(ERASED)
_TOLD: Final = RowUpdate(
    lambda p: (
        assignments.update()
        .where(assignments.c.study_id == p["study"], assignments.c.id == p["assignment"])
        .values(
            hit_id=p["where"],
            status=p["now_is"],
            code=case((_IS_ERASED, None), else_=p["handed"]),
            submitted_at=p["when"],
            worker=case((_IS_ERASED, assignments.c.worker), else_=p["who"]),
        )
    ),
    study=assignments.c.study_id,
    assignment=assignments.c.id,
    now_is=assignments.c.status,
    handed=assignments.c.code,
    when=assignments.c.submitted_at,
    who=assignments.c.worker,
    where=assignments.c.hit_id,
)


def posted(
    hit_id: str, remote_id: str, free: int, there: int, now: float, expires_at: float
) -> Decision:
    """The recruiter has it, with so many seats `there`; conflicts if it was not wanted any
    more."""
    params = _standing(hit_id, remote_id, free, there, now, expires_at)
    return Decision(hit_id, (), (Change(_POSTED, params),))


def found(
    hit_id: str, remote_id: str, free: int, there: int, now: float, expires_at: float
) -> Decision:
    """It stands over there, though nobody told us that it was posted; conflicts if we know it."""
    params = _standing(hit_id, remote_id, free, there, now, expires_at)
    return Decision(hit_id, (), (Change(_FOUND, params),))


def _standing(
    hit_id: str, remote_id: str, free: int, there: int, now: float, expires_at: float
) -> dict[str, Any]:
    return {
        "hit": hit_id,
        "remote": remote_id,
        "now": now,
        "until": expires_at,
        "open": free,
        "there": there,
    }


def grown(hit_id: str, free: int, there: int) -> Decision:
    """An open HIT has so many seats over there; conflicts if it is not open any more."""
    params = {"hit": hit_id, "open": free, "there": there}
    return Decision(hit_id, (), (Change(_GROWN, params),))


def hit_becomes(hit_id: str, state: HitState, problem: str | None = None) -> Decision:
    """The HIT is closed, done or failed; it has no free seat any more."""
    params = {"hit": hit_id, "after": state.value, "why": problem}
    return Decision(hit_id, (), (Change(_BECOMES, params),))


def hit_extended(hit_id: str, until: float) -> Decision:
    return Decision(hit_id, (), (Change(_LONGER, {"hit": hit_id, "until": until}),))


def hits_seen(study_id: str, seen: Mapping[str, tuple[int, int, int]]) -> Decision:
    """What the recruiter says of our HITs: (free, pending, seats there) by our id."""
    changes = [
        Change(_SEEN, {"hit": hit_id, "open": free, "taken": pending, "there": there})
        for hit_id, (free, pending, there) in sorted(seen.items())
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
                "where": each.hit_id,
            },
        )
        for each in changed
    ]
    return Decision(study_id, tuple((assignments, row) for row in rows), tuple(changes))
