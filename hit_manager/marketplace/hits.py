"""HITs: made, expired, extended, reviewed, disposed of.

A HIT's status is computed from its assignments and its expiry by `status_of` and stored by
`refresh`, which everything that changes one of them calls; the money it holds and the events
that follow from its status are settled there too.

Sources: Amazon's API reference (the operations) and Requester guide ("Retrieving HIT status").
Unlike Amazon, this marketplace never disposes of a HIT by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, func, insert, select, update

from hit_manager.marketplace import money
from hit_manager.marketplace.errors import (
    BadIncrease,
    NoSuchHit,
    OutOfRange,
    WrongHitState,
)
from hit_manager.marketplace.hit_types import TypeDraft, require_type
from hit_manager.marketplace.ids import entity_id
from hit_manager.marketplace.notifications import emit
from hit_manager.marketplace.requirements import load_requirements
from hit_manager.marketplace.states import AssignmentStatus, Event, HitStatus
from hit_manager.marketplace.tables import assignments, hit_types, hits

MAX_ASSIGNMENTS: Final = 1_000_000_000
LEAST_EXTENSION_S: Final = 60
MOST_EXTENSION_S: Final = 31_536_000


@dataclass(frozen=True, slots=True)
class Counts:
    """How many assignments of a HIT are in which state."""

    pending: int = 0
    submitted: int = 0
    approved: int = 0
    rejected: int = 0

    @property
    def taken(self) -> int:
        return self.pending + self.submitted + self.approved + self.rejected


@dataclass(frozen=True, slots=True)
class Hit:
    """A HIT with all that is shown of it. `free` is how many may still accept it."""

    n: int
    id: str
    requester_id: str
    type_id: str
    type: TypeDraft
    question: str
    annotation: str | None
    max_assignments: int
    created_at: float
    expires_at: float
    status: HitStatus
    counts: Counts
    free: int

    @property
    def cost(self) -> int:
        """Of one approved assignment, with its fee, in cents."""
        return self.type.reward + self.fee

    @property
    def fee(self) -> int:
        """On one approved assignment, in cents."""
        return money.reward_fee(
            self.type.reward, self.max_assignments, [r.type_id for r in self.type.requirements]
        )


def status_of(
    stored: HitStatus, counts: Counts, max_assignments: int, *, expired: bool
) -> HitStatus:
    """The status that follows from the assignments, the expiry and what was stored. Pure."""
    if stored is HitStatus.DISPOSED:
        return stored
    if counts.taken < max_assignments and not expired:
        return HitStatus.ASSIGNABLE
    if counts.pending:
        return HitStatus.UNASSIGNABLE
    # The requester's word that they are reviewing holds as long as it can.
    return HitStatus.REVIEWING if stored is HitStatus.REVIEWING else HitStatus.REVIEWABLE


def create(
    connection: Connection,
    now: float,
    requester_id: str,
    type_id: str,
    *,
    question: str,
    max_assignments: int,
    lifetime_s: int,
    annotation: str | None = None,
) -> Hit:
    """Make a HIT of a type that exists, and set its cost aside.

    Raises:
        InsufficientFunds: the requester has not as much.
    """
    hit_id = entity_id()
    connection.execute(
        insert(hits).values(
            id=hit_id,
            requester_id=requester_id,
            type_id=type_id,
            question=question,
            annotation=annotation,
            max_assignments=max_assignments,
            created_at=now,
            expires_at=now + lifetime_s,
            due_at=now + lifetime_s,
            status=HitStatus.ASSIGNABLE,
            held=0,
        )
    )
    emit(connection, now, Event.HIT_CREATED, hit_id)
    return refresh(connection, now, hit_id)


def get(connection: Connection, now: float, hit_id: str, requester_id: str | None = None) -> Hit:
    """One HIT, of this requester where one is named; disposed ones too.

    Raises:
        NoSuchHit: there is none.
    """
    where = [hits.c.id == hit_id]
    if requester_id is not None:
        where.append(hits.c.requester_id == requester_id)
    found = load(connection, now, *where, limit=1)
    if not found:
        raise NoSuchHit(f"Hit {hit_id} does not exist.")
    return found[0]


def load(
    connection: Connection,
    now: float,
    *where: ColumnElement[bool],
    limit: int | None = None,
    oldest_first: bool = False,
) -> list[Hit]:
    """The HITs that fulfil conditions on `hits` and `hit_types`, newest first."""
    rows = connection.execute(
        _WITH_TYPE.where(*where)
        .order_by(hits.c.n if oldest_first else hits.c.n.desc())
        .limit(limit)
    ).all()
    counted = count(connection, [row.id for row in rows])
    return [_hit(row, counted[row.id], now) for row in rows]


_ALIKE: Final = frozenset({"n", "id", "requester_id", "created_at", "fingerprint"})
_WITH_TYPE: Final = select(
    hits, *(c.label(f"type_{c.name}") for c in hit_types.c if c.name not in _ALIKE)
).join(hit_types, hit_types.c.id == hits.c.type_id)
"""Built once: putting it together costs more than running it."""


def count(connection: Connection, hit_ids: Collection[str]) -> dict[str, Counts]:
    """The counts of several HITs."""
    found: dict[str, dict[str, int]] = {hit_id: {} for hit_id in hit_ids}
    if hit_ids:
        rows = connection.execute(
            select(assignments.c.hit_id, assignments.c.status, func.count())
            .where(assignments.c.hit_id.in_(hit_ids))
            .group_by(assignments.c.hit_id, assignments.c.status)
        )
        for hit_id, status, number in rows:
            found[hit_id][status] = number
    return {
        hit_id: Counts(
            pending=by.get(AssignmentStatus.ACCEPTED, 0),
            submitted=by.get(AssignmentStatus.SUBMITTED, 0),
            approved=by.get(AssignmentStatus.APPROVED, 0),
            rejected=by.get(AssignmentStatus.REJECTED, 0),
        )
        for hit_id, by in found.items()
    }


def _hit(row: Row[Any], counts: Counts, now: float) -> Hit:
    open_ = row.expires_at > now and row.status != HitStatus.DISPOSED
    return Hit(
        n=row.n,
        id=row.id,
        requester_id=row.requester_id,
        type_id=row.type_id,
        type=TypeDraft(
            title=row.type_title,
            description=row.type_description,
            keywords=row.type_keywords,
            reward=row.type_reward,
            duration_s=row.type_duration_s,
            auto_approval_s=row.type_auto_approval_s,
            requirements=load_requirements(row.type_requirements),
        ),
        question=row.question,
        annotation=row.annotation,
        max_assignments=row.max_assignments,
        created_at=row.created_at,
        expires_at=row.expires_at,
        status=HitStatus(row.status),
        counts=counts,
        free=max(0, row.max_assignments - counts.taken) if open_ else 0,
    )


def refresh(connection: Connection, now: float, hit_id: str, *, at: float | None = None) -> Hit:
    """Bring status and held money in line with the assignments and the expiry.

    `at` is when what led here happened, where that is not now.

    Raises:
        InsufficientFunds: more has to be held than the requester has.
    """
    hit = get(connection, now, hit_id)
    status = status_of(hit.status, hit.counts, hit.max_assignments, expired=hit.expires_at <= now)
    disposed = status is HitStatus.DISPOSED
    owed = 0 if disposed else hit.free + hit.counts.pending + hit.counts.submitted
    money.hold(connection, hit.requester_id, hit_id, owed * hit.cost)
    if status is hit.status:
        return hit
    connection.execute(update(hits).where(hits.c.id == hit_id).values(status=status))
    if status is HitStatus.REVIEWABLE and hit.status is not HitStatus.REVIEWING:
        emit(connection, now if at is None else at, Event.HIT_REVIEWABLE, hit_id)
    return replace(hit, status=status)


def note_expiry(connection: Connection, now: float, hit_id: str, *, at: float) -> Hit:
    """What follows when a HIT's time is over: it is said, and free slots hold money no longer."""
    connection.execute(update(hits).where(hits.c.id == hit_id).values(due_at=None))
    emit(connection, at, Event.HIT_EXPIRED, hit_id)
    return refresh(connection, now, hit_id, at=at)


def set_expiry(
    connection: Connection, now: float, requester_id: str, hit_id: str, expire_at: float
) -> Hit:
    """Expire a HIT at once (a time that has passed) or give it more time.

    The same time once more is done already.

    Raises:
        NoSuchHit, WrongHitState: none, or disposed of.
        OutOfRange: less time than it has, or an extension of not 60 s to 365 days.
        InsufficientFunds: the slots that open again cannot be paid.
    """
    hit = get(connection, now, hit_id, requester_id)
    _forbid(hit, HitStatus.DISPOSED)
    if expire_at <= now:
        if hit.expires_at <= now:
            return hit
        connection.execute(update(hits).where(hits.c.id == hit_id).values(expires_at=now))
        return note_expiry(connection, now, hit_id, at=now)
    if int(expire_at) == int(hit.expires_at):
        return hit
    increment = int(expire_at - max(now, hit.expires_at))
    if not LEAST_EXTENSION_S <= increment <= MOST_EXTENSION_S:
        raise OutOfRange(
            f"The value {increment} is invalid for ExpirationIncrementInSeconds. Valid values "
            f"range from {LEAST_EXTENSION_S} to {MOST_EXTENSION_S}."
        )
    connection.execute(
        update(hits).where(hits.c.id == hit_id).values(expires_at=expire_at, due_at=expire_at)
    )
    emit(connection, now, Event.HIT_EXTENDED, hit_id)
    return refresh(connection, now, hit_id)


def add_assignments(
    connection: Connection, now: float, requester_id: str, hit_id: str, more: int
) -> Hit:
    """Let more people do a HIT.

    Raises:
        NoSuchHit, WrongHitState: none, or disposed of.
        BadIncrease: from fewer than ten to ten or more, whose fee is another.
        OutOfRange: more than a billion.
        InsufficientFunds: they cannot be paid.
    """
    hit = get(connection, now, hit_id, requester_id)
    _forbid(hit, HitStatus.DISPOSED)
    total = hit.max_assignments + more
    if hit.max_assignments < money.MANY_ASSIGNMENTS <= total:
        raise BadIncrease(
            f"A HIT made with fewer than {money.MANY_ASSIGNMENTS} assignments cannot be extended "
            f"to {money.MANY_ASSIGNMENTS} or more; it has {hit.max_assignments}."
        )
    if total > MAX_ASSIGNMENTS:
        raise OutOfRange(f"A HIT has at most {MAX_ASSIGNMENTS} assignments.")
    connection.execute(update(hits).where(hits.c.id == hit_id).values(max_assignments=total))
    emit(connection, now, Event.HIT_EXTENDED, hit_id)
    return refresh(connection, now, hit_id)


def change_type(
    connection: Connection, now: float, requester_id: str, hit_id: str, type_id: str
) -> Hit:
    """Give a HIT all properties of another type of the requester's.

    Raises:
        NoSuchHit, WrongHitState, Refused: no such HIT, disposed of, no such type.
        InsufficientFunds: the new reward cannot be paid.
    """
    hit = get(connection, now, hit_id, requester_id)
    _forbid(hit, HitStatus.DISPOSED)
    require_type(connection, requester_id, type_id)
    connection.execute(update(hits).where(hits.c.id == hit_id).values(type_id=type_id))
    return refresh(connection, now, hit_id)


def review(
    connection: Connection, now: float, requester_id: str, hit_id: str, *, revert: bool
) -> None:
    """Say that a reviewable HIT is being reviewed, or no longer.

    Raises:
        NoSuchHit, WrongHitState: none, or not in the state that this starts from.
    """
    hit = get(connection, now, hit_id, requester_id)
    start, end = HitStatus.REVIEWABLE, HitStatus.REVIEWING
    if revert:
        start, end = end, start
    _require(hit, start)
    connection.execute(update(hits).where(hits.c.id == hit_id).values(status=end))


def delete(connection: Connection, now: float, requester_id: str, hit_id: str) -> None:
    """Dispose of a HIT whose every submission is reviewed; what it holds comes back.

    Raises:
        NoSuchHit, WrongHitState: none, not reviewable, or not all reviewed.
    """
    hit = get(connection, now, hit_id, requester_id)
    _require(hit, HitStatus.REVIEWING, HitStatus.REVIEWABLE)
    if hit.counts.submitted:
        raise WrongHitState(
            f"This HIT is currently in the state '{hit.status}' and {hit.counts.submitted} of its "
            "assignments are neither approved nor rejected."
        )
    connection.execute(
        update(hits).where(hits.c.id == hit_id).values(status=HitStatus.DISPOSED, due_at=None)
    )
    emit(connection, now, Event.HIT_DISPOSED, hit_id)
    refresh(connection, now, hit_id)


def _require(hit: Hit, *states: HitStatus) -> None:
    if hit.status not in states:
        raise _wrong(hit, states)


def _forbid(hit: Hit, state: HitStatus) -> None:
    if hit.status is state:
        raise _wrong(hit, [s for s in HitStatus if s is not state])


def _wrong(hit: Hit, states: Sequence[HitStatus]) -> WrongHitState:
    return WrongHitState(
        f"This HIT is currently in the state '{hit.status}'.  This operation can be called with "
        f"a status of: {', '.join(states)}"
    )
