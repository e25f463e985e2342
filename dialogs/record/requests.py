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
from sqlalchemy import Column, ColumnElement, Connection, or_, select

from dialogs.record.bulk import RowUpdate
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


def newest_requests(connection: Connection, study_id: str, most: int) -> list[TeamRequest]:
    """What was asked for last, in any state."""
    query = (
        select(team_requests)
        .where(team_requests.c.study_id == study_id)
        .order_by(team_requests.c.at.desc(), team_requests.c.id.desc())
        .limit(most)
    )
    return [_request(row) for row in connection.execute(query)]


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
