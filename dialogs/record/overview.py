"""How a study stands at the moment, for whoever watches it. Asked often, so each question is cheap.

Times are seconds since 1970-01-01 UTC, money is in cents.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import Final

from sqlalchemy import BindParameter, Connection, bindparam, func, select

from dialogs.record.stuck import NEED_A_PERSON
from dialogs.record.tables import (
    arrivals,
    dialogs,
    events,
    findings,
    items,
    ledger,
    releases,
    seats,
    studies,
    team_requests,
)
from dialogs.rules import (
    Acceptance,
    ArrivalStatus,
    LedgerState,
    Outcome,
    Phase,
    Release,
    RequestState,
)

RATE_S: Final = 3600.0
"""The time over which the rate is taken, in seconds."""
LATEST: Final = 200
"""Of how many people, the latest, an hour's pay is taken."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """What waits for a person: payments that failed or are held, `cents` in all, requests of
    the team that failed and that nobody has dismissed, and payments that nobody has approved,
    `owed_cents` in all."""

    payments: int
    cents: int
    requests: int
    owed: int
    owed_cents: int


@dataclass(frozen=True, slots=True)
class Overview:
    """How far a study has come and what it has cost.

    `done` of `places` are complete and not rejected. `lately` dialogs were completed in the last
    `lately_s` seconds: an hour, or less for a study that has just begun. `cost` is all that is
    owed or paid, `paid` what has gone out; without commission. `hourly` is the pay for an hour of
    somebody's time: the median of the latest people who were paid in full, from opening the page
    to the end. `began_at` is when the first person came, None while nobody has.
    """

    began_at: float | None
    places: int
    done: int
    live: int
    inside: int
    in_lobby: int
    lately: int
    lately_s: float
    cost: int
    paid: int
    hourly: int | None
    stuck: Stuck

    @property
    def rate(self) -> float:
        """Complete dialogs an hour."""
        return self.lately / self.lately_s * 3600 if self.lately_s > 0 else 0.0

    def ends_at(self, now: float) -> float | None:
        """When every place is done at this rate; None when nobody can tell."""
        left = self.places - self.done
        return now + left / self.rate * 3600 if left > 0 and self.rate > 0 else None

    def forecast(self, pay_complete: int) -> int:
        """What the whole study costs if it goes on as it did; before anything is done, as if
        nobody ever left."""
        left = max(self.places - self.done, 0)
        each = self.cost / self.done if self.done else 2 * pay_complete
        return self.cost + round(left * each)


_STUDY: Final[BindParameter[str]] = bindparam("study")
_PLACES: Final = select(func.coalesce(func.sum(items.c.wanted), 0)).where(
    items.c.study_id == _STUDY
)
# Counted in an index alone, and therefore by what stands in it.
_DIALOGS: Final = (
    select(dialogs.c.phase, dialogs.c.outcome, dialogs.c.acceptance, func.count())
    .where(dialogs.c.study_id == _STUDY)
    .group_by(dialogs.c.phase, dialogs.c.outcome, dialogs.c.acceptance)
)
_BEGAN: Final = select(func.min(arrivals.c.created_at)).where(arrivals.c.study_id == _STUDY)
_FIRST: Final = select(func.min(dialogs.c.opened_at)).where(dialogs.c.study_id == _STUDY)
_LATELY: Final = select(func.count()).where(
    dialogs.c.study_id == _STUDY,
    dialogs.c.ended_at >= bindparam("since"),
    dialogs.c.outcome == Outcome.COMPLETE.value,
)
_FAILED: Final = select(func.count()).where(
    team_requests.c.study_id == _STUDY, team_requests.c.state == RequestState.FAILED.value
)
# Together, since a statement costs more than most of these.
_FIGURES: Final = select(
    _PLACES.scalar_subquery().label("places"),
    _BEGAN.scalar_subquery().label("began"),
    _FIRST.scalar_subquery().label("first"),
    _LATELY.scalar_subquery().label("lately"),
    _FAILED.scalar_subquery().label("failed"),
    (~select(studies.c.id).where(studies.c.id != _STUDY).exists()).label("alone"),
)
_INSIDE: Final = (
    select(arrivals.c.status, func.count())
    .where(
        arrivals.c.study_id == _STUDY,
        arrivals.c.status.in_([s.value for s in ArrivalStatus if s is not ArrivalStatus.RELEASED]),
    )
    .group_by(arrivals.c.status)
)
_COST: Final = (
    select(ledger.c.state, func.sum(ledger.c.cents), func.count())
    .where(ledger.c.state != LedgerState.CANCELLED.value)
    .group_by(ledger.c.state)
)
_COST_AMONG_OTHERS: Final = _COST.join(arrivals, arrivals.c.id == ledger.c.arrival_id).where(
    arrivals.c.study_id == _STUDY
)
_IN_FULL: Final = (Release.COMPLETED.value, Release.FINISHED_ALONE.value)
# Asked so, both databases begin with the latest releases, and not with all who ever came.
_OF_STUDY: Final = (
    select(arrivals.c.id)
    .where(arrivals.c.id == releases.c.arrival_id, arrivals.c.study_id == _STUDY)
    .exists()
)
_EARNED: Final = (ledger.c.arrival_id == releases.c.arrival_id) & (
    ledger.c.state != LedgerState.CANCELLED.value
)
_LATEST_PAID: Final = (
    select(releases.c.arrival_id, releases.c.at)
    .where(
        releases.c.release.in_(_IN_FULL),
        _OF_STUDY,
        select(ledger.c.reason).where(_EARNED).exists(),
    )
    .order_by(releases.c.at.desc())
    .limit(LATEST)
    .subquery("latest")
)
_HOURLY: Final = (
    select(_LATEST_PAID.c.at - arrivals.c.created_at, func.sum(ledger.c.cents))
    .join(arrivals, arrivals.c.id == _LATEST_PAID.c.arrival_id)
    .join(ledger, ledger.c.arrival_id == _LATEST_PAID.c.arrival_id)
    .where(ledger.c.state != LedgerState.CANCELLED.value)
    .group_by(_LATEST_PAID.c.arrival_id, _LATEST_PAID.c.at, arrivals.c.created_at)
)


def overview(connection: Connection, study_id: str, now: float) -> Overview:
    """The study at this moment."""
    study = {"study": study_id}
    done = live = 0
    for phase, outcome, acceptance, number in connection.execute(_DIALOGS, study):
        live += number if phase != Phase.ENDED.value else 0
        kept = outcome == Outcome.COMPLETE.value and acceptance != Acceptance.REJECTED.value
        done += number if kept else 0
    figures = connection.execute(_FIGURES, study | {"since": now - RATE_S}).one()
    inside = {row[0]: row[1] for row in connection.execute(_INSIDE, study)}
    sums = _COST if figures.alone else _COST_AMONG_OTHERS
    owed = {row[0]: (int(row[1]), row[2]) for row in connection.execute(sums, study)}
    cost = {state: cents for state, (cents, _) in owed.items()}
    unapproved_cents, unapproved = owed.get(LedgerState.OWED.value, (0, 0))
    stuck = [owed[state.value] for state in NEED_A_PERSON if state.value in owed]
    return Overview(
        began_at=figures.began,
        places=int(figures.places),
        done=done,
        live=live,
        inside=sum(inside.values()),
        in_lobby=inside.get(ArrivalStatus.WAITING.value, 0),
        lately=figures.lately,
        lately_s=RATE_S if figures.first is None else min(RATE_S, now - figures.first),
        cost=sum(cost.values()),
        paid=cost.get(LedgerState.PAID.value, 0),
        hourly=_hourly(connection, study_id),
        stuck=Stuck(
            payments=sum(number for _, number in stuck),
            cents=sum(cents for cents, _ in stuck),
            requests=figures.failed,
            owed=unapproved,
            owed_cents=unapproved_cents,
        ),
    )


def _hourly(connection: Connection, study_id: str) -> int | None:
    found = connection.execute(_HOURLY, {"study": study_id})
    earned = [cents / seconds * 3600 for seconds, cents in found if seconds > 0]
    return round(median(earned)) if earned else None


# --- The live dialogs ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lately:
    """How far a live dialog is: the number of its newest event, and of the flags raised in it."""

    seq: int
    flags: int


# Along one index entry of each live dialog, and with no list of ids to put together.
_LIVE: Final = select(
    dialogs.c.id,
    select(func.max(events.c.seq))
    .where(events.c.dialog_id == dialogs.c.id)
    .scalar_subquery()
    .label("seq"),
    select(func.count())
    .select_from(findings)
    .where(findings.c.dialog_id == dialogs.c.id)
    .scalar_subquery()
    .label("flags"),
).where(
    dialogs.c.study_id == _STUDY,
    dialogs.c.phase.in_([Phase.PAIRED.value, Phase.SOLO.value]),
)


def live(connection: Connection, study_id: str) -> dict[str, Lately]:
    """The dialogs that have not ended, by id."""
    return {
        row.id: Lately(row.seq or 0, row.flags)
        for row in connection.execute(_LIVE, {"study": study_id})
    }


# --- The lobby -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Waiting:
    """Somebody in the lobby: `waited_s` seconds before `ready_at`, and since then."""

    arrival_id: str
    worker_id: str
    ready_at: float
    waited_s: float
    language: str


_LOBBY: Final = (
    select(
        arrivals.c.id,
        arrivals.c.worker_id,
        arrivals.c.ready_at,
        arrivals.c.created_at,
        arrivals.c.waited_s,
        arrivals.c.language,
    )
    .where(arrivals.c.study_id == _STUDY, arrivals.c.status == ArrivalStatus.WAITING.value)
    .order_by(arrivals.c.ready_at, arrivals.c.id)
    .limit(bindparam("most"))
)


def lobby(connection: Connection, study_id: str, most: int) -> list[Waiting]:
    """Who waits, the longest first, `most` at most."""
    return [
        Waiting(row.id, row.worker_id, row.ready_at or row.created_at, row.waited_s, row.language)
        for row in connection.execute(_LOBBY, {"study": study_id, "most": most})
    ]


# --- The chart -----------------------------------------------------------------------------


@dataclass(slots=True)
class Step:
    """What happened in the step of time from `at` on; `waits` are those of who was paired."""

    at: float
    arrivals: int = 0
    pairs: int = 0
    complete: int = 0
    lost: int = 0
    wait_s: float | None = None


_SINCE: Final[BindParameter[float]] = bindparam("since")
_CAME: Final = select(arrivals.c.created_at).where(
    arrivals.c.study_id == _STUDY, arrivals.c.created_at >= _SINCE
)
_PAIRED: Final = (
    select(
        dialogs.c.opened_at,
        arrivals.c.waited_s,
        arrivals.c.ready_at,
        dialogs.c.id,
    )
    .join(seats, seats.c.dialog_id == dialogs.c.id)
    .join(arrivals, arrivals.c.id == seats.c.arrival_id)
    .where(dialogs.c.study_id == _STUDY, dialogs.c.opened_at >= _SINCE)
)
_COMPLETE: Final = select(dialogs.c.ended_at).where(
    dialogs.c.study_id == _STUDY,
    dialogs.c.ended_at >= _SINCE,
    dialogs.c.outcome == Outcome.COMPLETE.value,
)
_LOST: Final = select(releases.c.at).where(
    releases.c.at >= _SINCE, releases.c.release == Release.LEFT.value, _OF_STUDY
)


def chart(
    connection: Connection, study_id: str, since: float, until: float, step_s: int
) -> list[Step]:
    """What happened from the step that holds `since` to the one that holds `until`."""
    start = since // step_s * step_s
    steps = [Step(start + n * step_s) for n in range(int((until - start) // step_s) + 1)]
    params = {"study": study_id, "since": start}

    def step(at: float) -> Step:
        # What has just happened may be a moment later than `until`.
        return steps[min(int((at - start) // step_s), len(steps) - 1)]

    for (at,) in connection.execute(_CAME, params):
        step(at).arrivals += 1
    for (at,) in connection.execute(_COMPLETE, params):
        step(at).complete += 1
    for (at,) in connection.execute(_LOST, params):
        step(at).lost += 1
    waits: dict[float, list[float]] = defaultdict(list)
    opened: dict[str, Step] = {}
    for at, waited_s, ready_at, dialog_id in connection.execute(_PAIRED, params):
        opened[dialog_id] = mine = step(at)
        if ready_at is not None and ready_at <= at:
            waits[mine.at].append(waited_s + at - ready_at)
    for mine in opened.values():
        mine.pairs += 1
    for each in steps:
        each.wait_s = median(waits[each.at]) if each.at in waits else None
    return steps
