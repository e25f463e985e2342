"""Which dialogs wait for a reviewer, and who has which in hand.

What waits: complete dialogs without a verdict; others that ended, if something was found in them
or their pay waits for approval; and dialogs that somebody else has judged and that are to be
judged twice. Where somebody's words were erased nothing can be data, so a complete dialog of
theirs waits no more; what is owed for it stands under the payments. A reviewer is given one at a
time, and holds it by a row for `CLAIM_S`.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    bindparam,
    func,
    literal_column,
    select,
)

from dialogs.record.bulk import Row, RowLocks, RowUpdate
from dialogs.record.endings import ended_so
from dialogs.record.queries import chunks
from dialogs.record.tables import (
    NO_DATA,
    TO_JUDGE,
    dialogs,
    erasures,
    findings,
    judgements,
    ledger,
    review_claims,
    seats,
)
from dialogs.record.writer import Change, Decision
from dialogs.rules import Ending, LedgerState, Outcome, SeatStatus

CLAIM_S: Final = 600.0
"""For how long a reviewer who does not ask again keeps a dialog."""
AHEAD_S: Final = 60.0
"""How far the clocks of two servers may be apart. A claim that lasts longer than `CLAIM_S` and this
was made by a clock that was wrong, and holds nothing."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which dialogs a reviewer wants; None is any. `complete` asks for complete ones, or for all
    others; `worker` is our id of the person; times are those at which dialogs ended, the second
    one not included."""

    flag: str | None = None
    unflagged: bool = False
    worker: str | None = None
    outcome: Ending | None = None
    complete: bool | None = None
    since: float | None = None
    until: float | None = None


ANY: Final = Filters()


@dataclass(frozen=True, slots=True)
class Waiting:
    """A dialog that waits; `second` says that somebody else has judged it already."""

    dialog_id: str
    ended_at: float
    second: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """Who has a dialog in hand, and until when."""

    dialog_id: str
    admin_id: str
    until: float


# --- Reading -------------------------------------------------------------------------------

_FOUND: Final = select(findings.c.number).where(findings.c.dialog_id == dialogs.c.id)
# Not the bare column: SQLite would look through all that is owed for each dialog.
_IS_OWED: Final = func.coalesce(ledger.c.state, "") == LedgerState.OWED.value
_OWED: Final = (
    select(ledger.c.reason)
    .select_from(seats.join(ledger, ledger.c.arrival_id == seats.c.arrival_id))
    .where(
        seats.c.dialog_id == dialogs.c.id,
        seats.c.status != SeatStatus.GIVEN_UP.value,
        _IS_OWED,
    )
    # So that PostgreSQL looks dialog by dialog: it would collect all that is owed to anybody.
    .offset(literal_column("0"))
)
_DECIDED: Final = select(judgements.c.admin_id).where(
    judgements.c.dialog_id == dialogs.c.id, judgements.c.decides.is_(True)
)
# A list by itself, since there are few of them: asked of each dialog, it would cost the count.
_ERASED: Final = dialogs.c.id.in_(
    select(seats.c.dialog_id).join(erasures, erasures.c.worker_id == seats.c.worker_id)
)
_NO_DATA_WAITS: Final = NO_DATA & ~_DECIDED.exists() & (_FOUND.exists() | _OWED.exists())


def _in_other_hands(connection: Connection, admin_id: str, now: float) -> list[str]:
    """What others have in hand: as many dialogs as there are reviewers, at most."""
    query = select(review_claims.c.dialog_id).where(
        review_claims.c.admin_id != admin_id,
        review_claims.c.until > now,
        review_claims.c.until <= _longest(now),
    )
    return list(connection.execute(query).scalars())


def _longest(now: float) -> float:
    return now + CLAIM_S + AHEAD_S


def _matching(filters: Filters) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if filters.flag is not None:
        flagged = select(findings.c.dialog_id).where(findings.c.flag == filters.flag)
        found.append(dialogs.c.id.in_(flagged))
    if filters.unflagged:
        found.append(~_FOUND.exists())
    if filters.worker is not None:
        theirs = select(seats.c.dialog_id).where(seats.c.worker_id == filters.worker)
        found.append(dialogs.c.id.in_(theirs))
    if filters.outcome is not None:
        found.append(ended_so(filters.outcome))
    if filters.complete is not None:
        is_complete = dialogs.c.outcome == Outcome.COMPLETE.value
        found.append(is_complete if filters.complete else ~is_complete)
    if filters.since is not None:
        found.append(dialogs.c.ended_at >= filters.since)
    if filters.until is not None:
        found.append(dialogs.c.ended_at < filters.until)
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of what waits, so cut that each is read along an index of its own; `second` is that
    of those which somebody else has judged already."""

    source: FromClause
    conditions: tuple[ColumnElement[bool], ...]
    second: bool = False

    def select(self, *what: Any) -> Select[Any]:
        return select(*what).select_from(self.source).where(*self.conditions)


def _first(study_id: str, filters: Filters) -> list[_Part]:
    """Dialogs on which nobody has decided yet."""
    ways = {True: TO_JUDGE & ~_ERASED, False: _NO_DATA_WAITS}
    if filters.complete is not None:
        ways.pop(not filters.complete)
    if filters.outcome is not None:
        ways.pop(filters.outcome is not Ending.COMPLETE, None)
    of_study = dialogs.c.study_id == study_id
    return [_Part(dialogs, (of_study, way, *_matching(filters))) for way in ways.values()]


def _second(study_id: str, admin_id: str, filters: Filters) -> _Part:
    """Dialogs that somebody else has judged and that are to be judged again."""
    conditions = (
        judgements.c.again.is_(True),
        judgements.c.admin_id != admin_id,
        ~_ERASED,
        # Not the bare column: SQLite would begin with all dialogs of the study.
        func.coalesce(dialogs.c.study_id, "") == study_id,
        *_matching(filters),
    )
    both = judgements.join(dialogs, dialogs.c.id == judgements.c.dialog_id)
    return _Part(both, conditions, second=True)


def number_waiting(
    connection: Connection,
    study_id: str,
    admin_id: str,
    filters: Filters,
    now: float,
    *,
    in_hands: bool = False,
) -> int:
    """How many dialogs wait for this reviewer, those that others have in hand not counted unless
    with `in_hands`."""
    held = [] if in_hands else _in_other_hands(connection, admin_id, now)
    everything, among = _counting(study_id, admin_id, filters)
    number: int = connection.execute(everything).scalar_one()
    if held:
        # Of all that wait they are a handful, so the rest is counted without a look at claims.
        number -= connection.execute(among, {"held": held}).scalar_one()
    return number


@lru_cache(maxsize=64)
def _counting(study_id: str, admin_id: str, filters: Filters) -> tuple[Select[int], Select[int]]:
    """The statements that count what waits: all of it, and what is `held`. They are asked for
    again and again, and building one costs more than running it."""
    parts = [*_first(study_id, filters), _second(study_id, admin_id, filters)]
    counts = [part.select(func.count()) for part in parts]
    held: BindParameter[str] = bindparam("held", expanding=True)
    theirs = [count.where(dialogs.c.id.in_(held)) for count in counts]
    return _sum_of(counts), _sum_of(theirs)


def _sum_of(counts: Iterable[Select[int]]) -> Select[int]:
    return select(reduce(operator.add, (count.scalar_subquery() for count in counts)))


def next_waiting(
    connection: Connection,
    study_id: str,
    admin_id: str,
    filters: Filters,
    now: float,
    *,
    only: str | None = None,
    skipped: Collection[str] = (),
) -> Waiting | None:
    """What waits longest for this reviewer, by when it ended; with `only`, that one if it waits.
    What they have `skipped` comes after everything else."""
    held = _in_other_hands(connection, admin_id, now)
    turns: list[tuple[ColumnElement[bool], ...]]
    if only is not None:
        turns = [(dialogs.c.id == only, dialogs.c.id.not_in(held))]
    elif skipped:
        turns = [(dialogs.c.id.not_in([*skipped, *held]),)]
        turns.append((dialogs.c.id.in_(skipped), dialogs.c.id.not_in(held)))
    else:
        turns = [(dialogs.c.id.not_in(held),)]
    parts = [*_first(study_id, filters), _second(study_id, admin_id, filters)]
    for turn in turns:
        found: list[Waiting] = []
        for part in parts:
            query = part.select(dialogs.c.id, dialogs.c.ended_at).where(*turn)
            query = query.order_by(dialogs.c.ended_at, dialogs.c.id).limit(1)
            rows = connection.execute(query)
            found += [Waiting(row.id, row.ended_at, part.second) for row in rows]
        if found:
            return min(found, key=lambda each: (each.ended_at, each.dialog_id))
    return None


def all_waiting(
    connection: Connection, study_id: str, admin_id: str, filters: Filters, now: float
) -> list[str]:
    """The dialogs on which nobody has decided yet and that nobody else has in hand, oldest
    first."""
    free = dialogs.c.id.not_in(_in_other_hands(connection, admin_id, now))
    found: list[tuple[float, str]] = []
    for part in _first(study_id, filters):
        rows = connection.execute(part.select(dialogs.c.ended_at, dialogs.c.id).where(free))
        found += [(row.ended_at, row.id) for row in rows]
    return [dialog_id for _, dialog_id in sorted(found)]


def all_owed(
    connection: Connection, study_id: str, admin_id: str, filters: Filters, now: float
) -> tuple[int, int]:
    """How many payments of `all_waiting` wait for approval, and what they come to in cents."""
    free = dialogs.c.id.not_in(_in_other_hands(connection, admin_id, now))
    payments = cents = 0
    for part in _first(study_id, filters):
        theirs = part.select(dialogs.c.id).where(free).subquery()
        query = (
            select(func.count(), func.coalesce(func.sum(ledger.c.cents), 0))
            .select_from(
                theirs.join(seats, seats.c.dialog_id == theirs.c.id).join(
                    ledger, ledger.c.arrival_id == seats.c.arrival_id
                )
            )
            .where(seats.c.status != SeatStatus.GIVEN_UP.value, _IS_OWED)
        )
        more, sum_ = connection.execute(query).one()
        payments, cents = payments + more, cents + int(sum_)
    return payments, cents


def claim_of(connection: Connection, admin_id: str) -> Claim | None:
    """What this reviewer has in hand, or had until it ran out."""
    query = select(review_claims).where(review_claims.c.admin_id == admin_id)
    row = connection.execute(query).one_or_none()
    return None if row is None else Claim(row.dialog_id, row.admin_id, row.until)


def claims_on(connection: Connection, dialog_ids: Collection[str]) -> dict[str, Claim]:
    """Who has these dialogs in hand, or had until it ran out."""
    return {
        row.dialog_id: Claim(row.dialog_id, row.admin_id, row.until)
        for chunk in chunks(dialog_ids)
        for row in connection.execute(
            select(review_claims).where(review_claims.c.dialog_id.in_(chunk))
        )
    }


# --- Decisions -----------------------------------------------------------------------------

# Whatever is done about the review of a dialog waits for what is being done, and then looks.
_ONE_AT_A_TIME: Final = RowLocks(
    lambda p: (
        select(dialogs.c.id)
        .where(dialogs.c.id == p["dialog"])
        .order_by(dialogs.c.id)
        .with_for_update(key_share=True, of=dialogs)
    ),
    dialog=dialogs.c.id,
)
_NOT_IN_OTHER_HANDS: Final = RowLocks(
    lambda p: select(dialogs.c.id).where(
        dialogs.c.id == p["dialog"],
        ~select(review_claims.c.admin_id)
        .where(
            review_claims.c.dialog_id == dialogs.c.id,
            review_claims.c.admin_id != p["admin"],
            review_claims.c.until > p["now"],
            review_claims.c.until <= p["longest"],
        )
        .exists(),
    ),
    dialog=dialogs.c.id,
    admin=review_claims.c.admin_id,
    now=review_claims.c.until,
    longest=review_claims.c.until,
)
_GIVEN_BACK: Final = RowUpdate(
    lambda p: review_claims.delete().where(
        review_claims.c.dialog_id == p["dialog"],
        review_claims.c.admin_id == p["admin"],
        review_claims.c.until == p["before"],
    ),
    dialog=review_claims.c.dialog_id,
    admin=review_claims.c.admin_id,
    before=review_claims.c.until,
)
_PROLONGED: Final = RowUpdate(
    lambda p: (
        review_claims.update()
        .where(
            review_claims.c.dialog_id == p["dialog"],
            review_claims.c.admin_id == p["admin"],
            review_claims.c.until == p["before"],
        )
        .values(until=p["then"])
    ),
    dialog=review_claims.c.dialog_id,
    admin=review_claims.c.admin_id,
    before=review_claims.c.until,
    then=review_claims.c.until,
)


def in_own_hands(dialog_id: str, admin_id: str, now: float) -> tuple[Change, ...]:
    """What must hold while a reviewer does something about a dialog: nobody else has it."""
    theirs = {"dialog": dialog_id, "admin": admin_id, "now": now, "longest": _longest(now)}
    return (Change(_ONE_AT_A_TIME, {"dialog": dialog_id}), Change(_NOT_IN_OTHER_HANDS, theirs))


def given_back(claim: Claim) -> Change:
    """The dialog is in nobody's hands any more; conflicts if the claim has changed."""
    return Change(
        _GIVEN_BACK,
        {"dialog": claim.dialog_id, "admin": claim.admin_id, "before": claim.until},
    )


def claim_row(dialog_id: str, admin_id: str, now: float) -> Row:
    return {"dialog_id": dialog_id, "admin_id": admin_id, "until": now + CLAIM_S}


def claimed(
    dialog_id: str, admin_id: str, earlier: Claim | None, theirs: Claim | None, now: float
) -> Decision:
    """A reviewer takes a dialog in hand. `earlier` is what they had, perhaps the same one;
    `theirs` what is known of this dialog's claim. Conflicts if somebody else is faster."""
    held = in_own_hands(dialog_id, admin_id, now)
    if earlier is not None and earlier.dialog_id == dialog_id:
        params = {
            "dialog": dialog_id,
            "admin": admin_id,
            "before": earlier.until,
            "then": now + CLAIM_S,
        }
        return Decision(dialog_id, (), (*held, Change(_PROLONGED, params)))
    before = tuple(given_back(claim) for claim in (earlier, theirs) if claim is not None)
    row = (review_claims, claim_row(dialog_id, admin_id, now))
    return Decision(dialog_id, (row,), (*held, *before))


def left_alone(claim: Claim) -> Decision:
    """A reviewer gives back what they had in hand; conflicts if the claim has changed."""
    return Decision(claim.dialog_id, (), (given_back(claim),))
