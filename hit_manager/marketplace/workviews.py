"""What workers find: the list of HITs, and one HIT before it is accepted.

Nothing here changes anything. Times are seconds since 1970-01-01 UTC, money US cents.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

from sqlalchemy import ColumnElement, Connection, Row, exists, func, select

from hit_manager.marketplace import hits as rules
from hit_manager.marketplace.assignments import is_blocked
from hit_manager.marketplace.errors import NoSuchHit
from hit_manager.marketplace.qualification_requests import load_requests
from hit_manager.marketplace.qualification_types import load_types
from hit_manager.marketplace.qualifications import holdings
from hit_manager.marketplace.requirements import (
    SYSTEM_TYPES,
    Comparator,
    Holdings,
    Requirement,
    allowed,
    load_requirements,
    meets,
)
from hit_manager.marketplace.states import (
    HOLDING,
    Action,
    AssignmentStatus,
    HitStatus,
    RequestStatus,
    TypeStatus,
)
from hit_manager.marketplace.tables import (
    assignments,
    blocks,
    hit_types,
    hits,
    qualification_requests,
    qualification_types,
    requesters,
)
from hit_manager.marketplace.wording import describe


class Sort(StrEnum):
    NEWEST = "newest"
    REWARD = "reward"
    MOST = "most"


@dataclass(frozen=True, slots=True)
class Sought:
    """What is searched for. Every word of `text` must be in title, description, keywords or
    the requester's name."""

    text: str = ""
    only_qualified: bool = False
    sort: Sort = Sort.NEWEST


@dataclass(frozen=True, slots=True)
class Group:
    """The HITs of one type that a worker can find. `available` is how many there are."""

    hit_type_id: str
    title: str
    description: str
    keywords: tuple[str, ...]
    reward: int
    duration_s: int
    requester: str
    available: int
    created_at: float
    qualified: bool


@dataclass(frozen=True, slots=True)
class Need:
    """One requirement in words, and whether the worker meets it. `ask` is the id of the
    qualification type where asking for it may help, `asked` that this was done."""

    text: str
    met: bool
    ask: str | None = None
    asked: bool = False


@dataclass(frozen=True, slots=True)
class HitView:
    """A HIT before it is accepted. `refusal` is why it cannot be; `held` is the assignment of a
    worker who has accepted it already."""

    hit_id: str
    hit_type_id: str
    title: str
    description: str
    reward: int
    duration_s: int
    auto_approval_s: int
    requester: str
    expires_at: float
    available: int
    question: str
    needs: tuple[Need, ...]
    may_preview: bool
    refusal: str | None
    held: str | None


# --- Finding -------------------------------------------------------------------------------


def _open_to(worker_id: str, now: float) -> tuple[ColumnElement[bool], ...]:
    """Conditions on `hits`: somebody can take it, and this worker has not done so."""
    mine = exists().where(
        assignments.c.hit_id == hits.c.id,
        assignments.c.worker_id == worker_id,
        assignments.c.status.in_(HOLDING),
    )
    blocked = exists().where(
        blocks.c.requester_id == hits.c.requester_id, blocks.c.worker_id == worker_id
    )
    return (hits.c.status == HitStatus.ASSIGNABLE, hits.c.expires_at > now, ~mine, ~blocked)


def groups(connection: Connection, now: float, worker_id: str, sought: Sought) -> list[Group]:
    """The HITs this worker may discover, by type; those they may not are not there."""
    counted = (
        select(
            hits.c.type_id,
            func.count().label("available"),
            func.max(hits.c.created_at).label("newest_at"),
            func.max(hits.c.n).label("newest"),
        )
        .where(*_open_to(worker_id, now))
        .group_by(hits.c.type_id)
        .subquery()
    )
    rows = connection.execute(
        select(hit_types, requesters.c.name, counted.c.available, counted.c.newest_at)
        .join(counted, counted.c.type_id == hit_types.c.id)
        .join(requesters, requesters.c.id == hit_types.c.requester_id)
        .order_by(counted.c.newest.desc())
    )
    has, found = holdings(connection, worker_id), []
    for row in rows:
        needs = load_requirements(row.requirements)
        if allowed(needs, has, Action.DISCOVER):
            found.append(_group(row, qualified=allowed(needs, has, Action.ACCEPT)))
    found = [group for group in found if _fits(group, sought)]
    match sought.sort:
        case Sort.NEWEST:
            return found
        case Sort.REWARD:
            return sorted(found, key=lambda group: -group.reward)
        case Sort.MOST:
            return sorted(found, key=lambda group: -group.available)
        case _:
            assert_never(sought.sort)


def _group(row: Row[Any], *, qualified: bool) -> Group:
    words = (word.strip() for word in row.keywords.split(","))
    return Group(
        hit_type_id=row.id,
        title=row.title,
        description=row.description,
        keywords=tuple(word for word in words if word),
        reward=row.reward,
        duration_s=row.duration_s,
        requester=row.name,
        available=row.available,
        created_at=row.newest_at,
        qualified=qualified,
    )


def _fits(group: Group, sought: Sought) -> bool:
    if sought.only_qualified and not group.qualified:
        return False
    text = " ".join((group.title, group.description, *group.keywords, group.requester)).casefold()
    return all(word in text for word in sought.text.casefold().split())


def pick(
    connection: Connection, now: float, worker_id: str, type_id: str, after: str | None = None
) -> str | None:
    """A HIT of this type that the worker may find: the oldest, or the next one behind `after`,
    beginning anew behind the last."""
    rows = connection.execute(
        select(hits.c.id, hits.c.n, hit_types.c.requirements)
        .join(hit_types, hit_types.c.id == hits.c.type_id)
        .where(hits.c.type_id == type_id, *_open_to(worker_id, now))
        .order_by(*_behind(connection, after), hits.c.n)
        .limit(1)
    ).first()
    if rows is None:
        return None
    needs = load_requirements(rows.requirements)
    found: str = rows.id
    return found if allowed(needs, holdings(connection, worker_id), Action.DISCOVER) else None


def _behind(connection: Connection, hit_id: str | None) -> Iterable[ColumnElement[Any]]:
    if hit_id is None:
        return ()
    n = connection.execute(select(hits.c.n).where(hits.c.id == hit_id)).scalar() or 0
    return ((hits.c.n > n).desc(),)


def hit_for(connection: Connection, now: float, worker_id: str, hit_id: str) -> HitView:
    """A HIT as this worker may look at it.

    Raises:
        NoSuchHit: there is none, or they may not find it, or it is over and not theirs.
    """
    hit = rules.get(connection, now, hit_id)
    mine = connection.execute(
        select(assignments.c.id, assignments.c.status).where(
            assignments.c.hit_id == hit_id,
            assignments.c.worker_id == worker_id,
            assignments.c.status.in_(HOLDING),
        )
    ).one_or_none()
    has, needs = holdings(connection, worker_id), hit.type.requirements
    blocked = is_blocked(connection, hit.requester_id, worker_id)
    open_ = hit.status is HitStatus.ASSIGNABLE
    hidden = blocked or not allowed(needs, has, Action.DISCOVER)
    taken = not open_ and hit.expires_at > now
    if mine is None and (hidden or not (open_ or taken)):
        raise NoSuchHit("This HIT is over, or it is not for you.")
    refusal = None
    if mine is not None:
        refusal = "You have submitted this HIT already."
    elif not open_:
        refusal = "Somebody else has taken this HIT."
    elif not allowed(needs, has, Action.ACCEPT):
        refusal = "You do not meet what this HIT asks for, so you cannot accept it."
    available = connection.execute(
        select(func.count()).where(hits.c.type_id == hit.type_id, *_open_to(worker_id, now))
    ).scalar_one()
    return HitView(
        hit_id=hit.id,
        hit_type_id=hit.type_id,
        title=hit.type.title,
        description=hit.type.description,
        reward=hit.type.reward,
        duration_s=hit.type.duration_s,
        auto_approval_s=hit.type.auto_approval_s,
        requester=_requester(connection, hit.requester_id),
        expires_at=hit.expires_at,
        available=available,
        question=hit.question,
        needs=tuple(
            _need(connection, worker_id, each, has) for each in needs if not _untold(each, has)
        ),
        may_preview=allowed(needs, has, Action.PREVIEW),
        refusal=refusal,
        held=mine.id if mine is not None and mine.status == AssignmentStatus.ACCEPTED else None,
    )


def _untold(requirement: Requirement, has: Holdings) -> bool:
    """Whether a requirement is nothing to this worker: they lack what nobody may have. Teams sort
    people into groups with such qualifications, whose names say nothing to those outside."""
    return requirement.comparator is Comparator.DOES_NOT_EXIST and meets(requirement, has)


def _need(connection: Connection, worker_id: str, requirement: Requirement, has: Holdings) -> Need:
    text, met = describe(connection, requirement), meets(requirement, has)
    type_id, unwanted = requirement.type_id, requirement.comparator is Comparator.DOES_NOT_EXIST
    if met or unwanted or type_id in has.values or type_id in SYSTEM_TYPES:
        return Need(text, met)
    # A test is a form of a kind that is not shown here.
    found = load_types(
        connection,
        qualification_types.c.id == type_id,
        qualification_types.c.status == TypeStatus.ACTIVE,
        qualification_types.c.test.is_(None),
    )
    pending = load_requests(
        connection,
        qualification_requests.c.type_id == type_id,
        qualification_requests.c.worker_id == worker_id,
        qualification_requests.c.status == RequestStatus.PENDING,
    )
    return Need(text, met, type_id if found and not pending else None, bool(pending))


def _requester(connection: Connection, requester_id: str) -> str:
    name: str = connection.execute(
        select(requesters.c.name).where(requesters.c.id == requester_id)
    ).scalar_one()
    return name
