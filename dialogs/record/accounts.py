"""HITs, relaunches and payments in lists, for the team. Lists come in pages, the newest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, case, func, literal_column, or_, select

from dialogs.record.endings import ENDING
from dialogs.record.listing import PAGE, Cursor, older
from dialogs.record.payments import PAYMENTS, PaymentRow, payment_of
from dialogs.record.queries import is_alone
from dialogs.record.stuck import NEED_A_PERSON, OVER
from dialogs.record.tables import (
    arrivals,
    assignments,
    dialogs,
    hits,
    items,
    ledger,
    relaunch_seats,
    relaunches,
    seats,
)
from dialogs.rules import AssignmentStatus, HitState, LedgerState, Outcome, SeatStatus

# --- HITs ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ListedHit:
    """A HIT: `taken` of its seats are or were somebody's, `submitted` wait for a decision over
    there."""

    id: str
    remote_id: str | None
    state: HitState
    seats: int
    taken: int
    submitted: int
    reward: int
    posted_at: float | None
    expires_at: float | None
    problem: str | None


def hits_by_state(connection: Connection, study_id: str) -> dict[HitState, int]:
    """How many HITs are in each state."""
    query = (
        select(hits.c.state, func.count()).where(hits.c.study_id == study_id).group_by(hits.c.state)
    )
    return {HitState(row[0]): row[1] for row in connection.execute(query)}


def listed_hits(
    connection: Connection, study_id: str, state: HitState | None, after: Cursor | None
) -> tuple[list[ListedHit], int, Cursor | None]:
    """A page of HITs, how many there are in all, and where the next page begins."""
    conditions: list[Any] = [hits.c.study_id == study_id]
    if state is not None:
        conditions.append(hits.c.state == state.value)
    total = connection.execute(select(func.count()).select_from(hits).where(*conditions))
    query = (
        select(hits)
        .where(*conditions)
        .order_by(hits.c.created_at.desc(), hits.c.id.desc())
        .limit(PAGE + 1)
    )
    if after is not None:
        query = query.where(older(hits.c.created_at, hits.c.id, after))
    rows = connection.execute(query).all()
    following = (rows[PAGE - 1].created_at, rows[PAGE - 1].id) if len(rows) > PAGE else None
    page = rows[:PAGE]
    waits = assignments.c.status == AssignmentStatus.SUBMITTED.value
    # Who has not handed in is known by number everywhere, and by name on few recruiters.
    unknown = (AssignmentStatus.RETURNED.value, AssignmentStatus.TAKEN.value)
    held = {
        row.hit_id: row
        for row in connection.execute(
            select(
                assignments.c.hit_id,
                func.count().label("n"),
                func.count(case((waits, 1))).label("submitted"),
            )
            .where(
                assignments.c.hit_id.in_([row.id for row in page]),
                assignments.c.status.not_in(unknown),
            )
            .group_by(assignments.c.hit_id)
        )
    }
    found = [
        ListedHit(
            row.id,
            row.remote_id,
            HitState(row.state),
            row.seats,
            row.pending + (held[row.id].n if row.id in held else 0),
            held[row.id].submitted if row.id in held else 0,
            row.reward,
            row.posted_at,
            row.expires_at,
            row.problem,
        )
        for row in page
    ]
    return found, total.scalar_one(), following


# --- Relaunches ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Failed:
    """An item with a dialog that had to be held again: all its dialogs, how each ended, and the
    HITs that were posted for it."""

    image_id: str
    caption: str
    position: int
    wanted: int
    complete: int
    dialogs: tuple[tuple[str, str, tuple[str, ...]], ...]


def relaunched_items(
    connection: Connection, study_id: str, after: int | None
) -> tuple[list[Failed], int, int | None]:
    """A page of the items that were relaunched, in their order; how many there are in all, and
    after which position the next page begins."""
    again = select(relaunches.c.dialog_id).where(relaunches.c.item_id == items.c.id).exists()
    conditions = [items.c.study_id == study_id, again]
    total = connection.execute(select(func.count()).select_from(items).where(*conditions))
    query = select(items).where(*conditions).order_by(items.c.position).limit(PAGE + 1)
    if after is not None:
        query = query.where(items.c.position > after)
    rows = connection.execute(query).all()
    page = rows[:PAGE]
    held: dict[str, list[Any]] = {row.id: [] for row in page}
    for row in connection.execute(
        select(dialogs, ENDING.label("ending"))
        .where(dialogs.c.item_id.in_(held))
        .order_by(dialogs.c.opened_at, dialogs.c.id)
    ):
        held[row.item_id].append(row)
    posted: dict[str, list[str]] = {}
    for row in connection.execute(
        select(relaunch_seats.c.dialog_id, relaunch_seats.c.hit_id)
        .join(relaunches, relaunches.c.dialog_id == relaunch_seats.c.dialog_id)
        .where(relaunches.c.item_id.in_(held))
        .order_by(relaunch_seats.c.dialog_id, relaunch_seats.c.hit_id)
    ):
        posted.setdefault(row.dialog_id, []).append(row.hit_id)
    found = [
        Failed(
            row.image_id,
            row.caption,
            row.position,
            row.wanted,
            sum(_counts(each) for each in held[row.id]),
            tuple((each.id, _how(each), tuple(posted.get(each.id, ()))) for each in held[row.id]),
        )
        for row in page
    ]
    following = page[-1].position if len(rows) > PAGE else None
    return found, total.scalar_one(), following


def _how(row: Any) -> str:
    how: str = row.acceptance if row.acceptance == "rejected" else row.ending or row.phase
    return how


def _counts(row: Any) -> bool:
    return bool(row.outcome == Outcome.COMPLETE.value and row.acceptance != "rejected")


# --- Payments ------------------------------------------------------------------------------

# One that was given up for a new partner does not count, so there is one at most.
_DIALOG: Final = (
    select(seats.c.dialog_id)
    .where(
        seats.c.arrival_id == ledger.c.arrival_id,
        seats.c.status != literal_column(f"'{SeatStatus.GIVEN_UP.value}'"),
    )
    .correlate(ledger)
    .scalar_subquery()
    .label("dialog_id")
)
_PAYMENTS_OF: Final = (
    PAYMENTS.add_columns(arrivals.c.worker_id, _DIALOG)
    .where(ledger.c.arrival_id.in_(bindparam("ids", expanding=True)))
    .order_by(ledger.c.at, ledger.c.arrival_id, ledger.c.reason)
)
_NAME: Final = ledger.c.arrival_id + "/" + ledger.c.reason


@dataclass(frozen=True, slots=True)
class ListedPayment:
    """A payment, whose it is by our id of the person, in which dialog they had a part, if in any,
    and when it went out."""

    payment: PaymentRow
    worker_id: str
    dialog_id: str | None
    paid_at: float | None


def listed_payments(
    connection: Connection,
    study_id: str,
    *,
    states: tuple[LedgerState, ...] = (),
    problem: bool = False,
    after: Cursor | None = None,
) -> tuple[list[ListedPayment], int, Cursor | None]:
    """A page of payments, how many there are in all, and where the next page begins. With
    `problem`, those that something is in the way of."""
    conditions: list[Any] = []
    if states:
        conditions.append(ledger.c.state.in_([state.value for state in states]))
    if problem:
        needs = ledger.c.state.in_([state.value for state in NEED_A_PERSON])
        over = ledger.c.state.in_([state.value for state in OVER])
        conditions.append(or_(needs, ~over & ledger.c.problem.is_not(None)))
    number = select(func.count()).select_from(ledger).where(*conditions)
    # Asked so, both databases begin with the latest payments, and not with all who ever came.
    mine = arrivals.c.id == ledger.c.arrival_id, arrivals.c.study_id == study_id
    of_study = select(arrivals.c.id).where(*mine).exists()
    if not is_alone(connection, study_id):
        number = number.where(of_study)
    total = connection.execute(number).scalar_one()
    query = (
        select(ledger.c.arrival_id, ledger.c.reason, ledger.c.at, _NAME.label("name"))
        .where(*conditions, of_study)
        .order_by(ledger.c.at.desc(), _NAME.desc())
        .limit(PAGE + 1)
    )
    if after is not None:
        query = query.where(older(ledger.c.at, _NAME, after))
    keys = connection.execute(query).all()
    following = (keys[PAGE - 1].at, keys[PAGE - 1].name) if len(keys) > PAGE else None
    page = keys[:PAGE]
    known = {
        (each.payment.arrival_id, each.payment.reason): each
        for each in payments_of_arrivals(connection, [row.arrival_id for row in page])
    }
    return [known[row.arrival_id, row.reason] for row in page], total, following


def payments_of_arrivals(connection: Connection, arrival_ids: list[str]) -> list[ListedPayment]:
    """All payments of some arrivals, a few hundred at most; the oldest first."""
    return [_listed(row) for row in connection.execute(_PAYMENTS_OF, {"ids": arrival_ids})]


def _listed(row: Any) -> ListedPayment:
    return ListedPayment(payment_of(row), row.worker_id, row.dialog_id, row.paid_at)
