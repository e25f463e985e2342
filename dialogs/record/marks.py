"""By what somebody who looks at a list can tell that it is no longer how things are."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import BindParameter, Connection, bindparam, func, select

from dialogs.record.tables import (
    arrivals,
    audit,
    dialogs,
    findings,
    hits,
    judgements,
    ledger,
    reports,
    studies,
    team_requests,
    workers,
)

_STUDY: Final[BindParameter[str]] = bindparam("study")
_OF_STUDY: Final = dialogs.c.study_id == _STUDY

# Where it would take long to leave other studies of the database out, they are looked at as well:
# then somebody looks again at what has not changed, which is no harm.
_MARKS: Final[dict[str, tuple[Any, ...]]] = {
    "dialogs": (
        select(dialogs.c.phase, dialogs.c.outcome, dialogs.c.acceptance, func.count())
        .where(_OF_STUDY)
        .group_by(dialogs.c.phase, dialogs.c.outcome, dialogs.c.acceptance),
    ),
    "workers": (
        select(arrivals.c.status, func.count())
        .where(arrivals.c.study_id == _STUDY)
        .group_by(arrivals.c.status),
        select(func.count(), func.count(workers.c.excluded_at)).where(workers.c.study_id == _STUDY),
        select(team_requests.c.state, func.count())
        .where(team_requests.c.study_id == _STUDY)
        .group_by(team_requests.c.state),
    ),
    "requests": (
        select(team_requests.c.state, func.count(), func.max(team_requests.c.done_at))
        .where(team_requests.c.study_id == _STUDY)
        .group_by(team_requests.c.state),
    ),
    "hits": (
        select(hits.c.state, func.count(), func.sum(hits.c.seats), func.sum(hits.c.free))
        .where(hits.c.study_id == _STUDY)
        .group_by(hits.c.state),
    ),
    "ledger": (
        select(ledger.c.state, func.count()).group_by(ledger.c.state),
        select(func.count(), func.max(ledger.c.retry_at)).where(ledger.c.problem.is_not(None)),
    ),
    "review": (
        select(func.count(), func.max(judgements.c.at)),
        select(func.count()).select_from(findings),
    ),
    "told": (
        select(func.count(), func.max(reports.c.at)),
        select(func.count(arrivals.c.feedback), func.max(arrivals.c.feedback_at)).where(
            arrivals.c.study_id == _STUDY
        ),
    ),
    "study": (select(studies.c.status, studies.c.changes).where(studies.c.id == _STUDY),),
    "audit": (select(func.count()).where(audit.c.study_id == _STUDY),),
}

Marks = dict[str, tuple[Any, ...]]
"""What is looked at → something that differs when it has changed."""


def marks(connection: Connection, study_id: str) -> Marks:
    """The marks of a study at this moment."""
    return {
        name: tuple(
            tuple(sorted(map(tuple, connection.execute(query, {"study": study_id})), key=repr))
            for query in queries
        )
        for name, queries in _MARKS.items()
    }
