"""What the team wants of the recruiter: rows that the monitor adds and the hit manager carries out.

A request is written down before anything is done for it, and what became of it after. Its id is
given by whoever asks, so that the same asked twice is one row. Times are seconds since 1970-01-01
UTC, money is in cents.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import Column, ColumnElement, Connection, func, literal, or_, select

from dialogs.record.bulk import RowUpdate
from dialogs.record.listing import PAGE, Cursor, older
from dialogs.record.queries import chunks
from dialogs.record.tables import arrivals, team_requests
from dialogs.record.writer import Change, Decision
from dialogs.rules import RequestKind, RequestState


@dataclass(frozen=True, slots=True)
class TeamRequest:
    """One request. `target` is a worker (message, block, unblock) or an arrival (bonus, reject,
    retry), by our ids; `data` is what else it takes:

    bonus     cents, reason (told to the worker)
    reject    reason (told to the worker)
    message   subject, text
    block     reason (for the team)
    retry     reason: which payment of the arrival, such as `dialog`

    `started_at` is set while something is done that must not be done twice, and nobody knows yet
    how it ended. `tries` were in vain so far; the next is at `retry_at`.
    """

    id: str
    admin_id: str | None
    kind: RequestKind
    target: str
    data: Mapping[str, Any]
    state: RequestState
    at: float
    tries: int
    retry_at: float | None
    started_at: float | None
    done_at: float | None
    problem: str | None


# --- Decisions -----------------------------------------------------------------------------


def asked(
    study_id: str,
    request_id: str,
    admin_id: str | None,
    kind: RequestKind,
    target: str,
    data: Mapping[str, Any],
    now: float,
) -> Decision:
    """The team wants something; conflicts if this id was used before."""
    row = {
        "id": request_id,
        "study_id": study_id,
        "admin_id": admin_id,
        "kind": kind.value,
        "target": target,
        "data": orjson.dumps(data).decode(),
        "state": RequestState.WANTED.value,
        "at": now,
    }
    return Decision(target, ((team_requests, row),))


_NEVER: Final = -1.0
Values = Callable[[Mapping[str, ColumnElement[Any]]], Mapping[str, Any]]


def _change(values: Values, *, fresh: bool = False, **columns: Column[Any]) -> RowUpdate:
    """A change of a request that nothing has come of yet; `fresh`, if it is not started."""

    def update(p: Mapping[str, ColumnElement[Any]]) -> Any:
        mine = team_requests.update().where(
            team_requests.c.id == p["name"], team_requests.c.state == RequestState.WANTED.value
        )
        if fresh:
            mine = mine.where(team_requests.c.started_at.is_(None))
        return mine.values(**values(p))

    return RowUpdate(update, name=team_requests.c.id, **columns)


_STARTED: Final = _change(
    lambda p: {"started_at": p["now"]}, fresh=True, now=team_requests.c.started_at
)
_PUT_OFF: Final = _change(
    lambda p: {
        "tries": team_requests.c.tries + 1,
        "retry_at": p["again"],
        "problem": p["what"],
        "started_at": None,
    },
    again=team_requests.c.retry_at,
    what=team_requests.c.problem,
)
_ENDED: Final = _change(
    lambda p: {"state": p["how"], "done_at": p["now"], "retry_at": None, "problem": p["what"]},
    how=team_requests.c.state,
    now=team_requests.c.done_at,
    what=team_requests.c.problem,
)


def _change_failed(values: Values) -> RowUpdate:
    """A change of a request that failed at the moment `at` and at no other. What failed because
    somebody was erased has no such moment, `_NEVER`."""

    def update(p: Mapping[str, ColumnElement[Any]]) -> Any:
        mine = team_requests.update().where(
            team_requests.c.id == p["name"],
            team_requests.c.state == RequestState.FAILED.value,
            func.coalesce(team_requests.c.done_at, literal(_NEVER)) == p["at"],
        )
        return mine.values(**values(p))

    return RowUpdate(update, name=team_requests.c.id, at=team_requests.c.done_at)


_AGAIN: Final = _change_failed(
    lambda p: {
        "state": RequestState.WANTED.value,
        "tries": 0,
        "started_at": None,
        "done_at": None,
        "problem": None,
    }
)
_DISMISSED: Final = _change_failed(lambda p: {"state": RequestState.DISMISSED.value})


def started(request: TeamRequest, now: float) -> Decision:
    """Something is about to be done that must not be done twice; conflicts if it was started."""
    return Decision(request.target, (), (Change(_STARTED, {"name": request.id, "now": now}),))


def put_off(request: TeamRequest, problem: str, retry_at: float) -> Decision:
    """Nothing was done; it is tried again from `retry_at` on."""
    params = {"name": request.id, "again": retry_at, "what": problem}
    return Decision(request.target, (), (Change(_PUT_OFF, params),))


def done(request: TeamRequest, now: float, note: str | None = None) -> Decision:
    """It is carried out, or need not be any more: then `note` says why. Conflicts if that was
    settled before."""
    return _ended(request, RequestState.DONE, now, note)


def failed(request: TeamRequest, problem: str, now: float) -> Decision:
    """It cannot be carried out; a person must look."""
    return _ended(request, RequestState.FAILED, now, problem)


def again(request: TeamRequest) -> Decision:
    """Somebody has looked at what failed: it is carried out as if it was asked for now. Conflicts
    if it stands otherwise than `request` says."""
    return _once_failed(_AGAIN, request)


def dismissed(request: TeamRequest) -> Decision:
    """Somebody has looked at what failed and leaves it at that; conflicts as `again`."""
    return _once_failed(_DISMISSED, request)


def _once_failed(change: RowUpdate, request: TeamRequest) -> Decision:
    at = _NEVER if request.done_at is None else request.done_at
    params = {"name": request.id, "at": at}
    return Decision(request.target, (), (Change(change, params),))


def _ended(request: TeamRequest, how: RequestState, now: float, what: str | None) -> Decision:
    params = {"name": request.id, "how": how.value, "now": now, "what": what}
    return Decision(request.target, (), (Change(_ENDED, params),))


# --- Queries -------------------------------------------------------------------------------


def requests_due(connection: Connection, study_id: str, now: float, most: int) -> list[TeamRequest]:
    """The oldest requests that nothing has come of and that are not put off, `most` at most."""
    query = (
        select(team_requests)
        .where(
            team_requests.c.study_id == study_id,
            team_requests.c.state == RequestState.WANTED.value,
            or_(team_requests.c.retry_at.is_(None), team_requests.c.retry_at <= now),
        )
        .order_by(team_requests.c.at, team_requests.c.id)
        .limit(most)
    )
    return [_request(row) for row in connection.execute(query)]


def requests_by_id(connection: Connection, ids: Collection[str]) -> dict[str, TeamRequest]:
    return {
        row.id: _request(row)
        for chunk in chunks(ids)
        for row in connection.execute(select(team_requests).where(team_requests.c.id.in_(chunk)))
    }


def requests_at(connection: Connection, target: str) -> list[TeamRequest]:
    """All that was asked for about this worker or arrival, oldest first."""
    query = (
        select(team_requests)
        .where(team_requests.c.target == target)
        .order_by(team_requests.c.at, team_requests.c.id)
    )
    return [_request(row) for row in connection.execute(query)]


def requests_about(connection: Connection, worker_id: str) -> list[TeamRequest]:
    """All that was asked for about a person: them, and their arrivals; the newest first."""
    theirs = select(arrivals.c.id).where(arrivals.c.worker_id == worker_id)
    query = (
        select(team_requests)
        .where(or_(team_requests.c.target == worker_id, team_requests.c.target.in_(theirs)))
        .order_by(team_requests.c.at.desc(), team_requests.c.id.desc())
    )
    return [_request(row) for row in connection.execute(query)]


@dataclass(frozen=True, slots=True)
class ListedRequest:
    """A request, and by our id which person it is about."""

    request: TeamRequest
    worker_id: str


_WITH_WHOM: Final = select(
    team_requests,
    func.coalesce(arrivals.c.worker_id, team_requests.c.target).label("worker_id"),
).outerjoin(arrivals, arrivals.c.id == team_requests.c.target)


def listed_requests(
    connection: Connection,
    study_id: str,
    state: RequestState | None = None,
    after: Cursor | None = None,
) -> tuple[list[ListedRequest], int, Cursor | None]:
    """A page of requests, the newest first, how many there are in all, and where the next page
    begins."""
    conditions: list[Any] = [team_requests.c.study_id == study_id]
    if state is not None:
        conditions.append(team_requests.c.state == state.value)
    total = connection.execute(select(func.count()).select_from(team_requests).where(*conditions))
    query = (
        _WITH_WHOM.where(*conditions)
        .order_by(team_requests.c.at.desc(), team_requests.c.id.desc())
        .limit(PAGE + 1)
    )
    if after is not None:
        query = query.where(older(team_requests.c.at, team_requests.c.id, after))
    rows = connection.execute(query).all()
    following = (rows[PAGE - 1].at, rows[PAGE - 1].id) if len(rows) > PAGE else None
    found = [ListedRequest(_request(row), row.worker_id) for row in rows[:PAGE]]
    return found, total.scalar_one(), following


def request_of(connection: Connection, study_id: str, request_id: str) -> ListedRequest | None:
    """One request of the study; None if there is none."""
    row = connection.execute(
        _WITH_WHOM.where(team_requests.c.study_id == study_id, team_requests.c.id == request_id)
    ).one_or_none()
    return None if row is None else ListedRequest(_request(row), row.worker_id)


def requests_by_state(connection: Connection, study_id: str) -> dict[RequestState, int]:
    """How many requests are in each state."""
    query = (
        select(team_requests.c.state, func.count())
        .where(team_requests.c.study_id == study_id)
        .group_by(team_requests.c.state)
    )
    return {RequestState(row[0]): row[1] for row in connection.execute(query)}


def _request(row: Any) -> TeamRequest:
    return TeamRequest(
        row.id,
        row.admin_id,
        RequestKind(row.kind),
        row.target,
        orjson.loads(row.data),
        RequestState(row.state),
        row.at,
        row.tries,
        row.retry_at,
        row.started_at,
        row.done_at,
        row.problem,
    )
