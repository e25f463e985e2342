"""From what was decided to the rows that state it.

Every effect of an event (a release and its code, a ledger row, a relaunch, the place's return)
is a row of the same decision, so it exists exactly if the event does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import bindparam, select

from dialogs.events import Ended, Event, Opened, SeatLost, Settlement, to_json
from dialogs.record.bulk import Row, RowLock, RowUpdate
from dialogs.record.tables import (
    arrivals,
    dialogs,
    events,
    ledger,
    relaunches,
    releases,
    reports,
    seats,
    studies,
    workers,
)
from dialogs.record.writer import Change, Decision
from dialogs.rules import (
    ArrivalStatus,
    LedgerReason,
    LedgerState,
    Outcome,
    Phase,
    Release,
    ReportKind,
    SeatStatus,
    StudyStatus,
)
from dialogs.state import DialogState, evolve

CodeFor = Callable[[str], str]
"""Gives the completion code for an arrival id; must be unguessable and unique."""


# --- Statements (built once, so that they are compiled once) -------------------------------

_ARRIVAL_TO: Final = RowUpdate(
    lambda p: (
        arrivals.update()
        .where(arrivals.c.id == p["arrival"], arrivals.c.status == p["before"])
        .values(status=p["after"])
    ),
    arrival=arrivals.c.id,
    before=arrivals.c.status,
    after=arrivals.c.status,
)
# Not for somebody whom the team has excluded, also when they were let back into the lobby since.
_ARRIVAL_SEATED: Final = RowUpdate(
    lambda p: (
        arrivals.update()
        .where(
            arrivals.c.id == p["arrival"],
            arrivals.c.status == ArrivalStatus.WAITING.value,
            ~select(workers.c.id)
            .where(workers.c.id == arrivals.c.worker_id, workers.c.excluded_at.is_not(None))
            .exists(),
        )
        .values(status=ArrivalStatus.SEATED.value)
    ),
    arrival=arrivals.c.id,
)
_ARRIVAL_READY: Final = RowUpdate(
    lambda p: (
        arrivals.update()
        .where(arrivals.c.id == p["arrival"], arrivals.c.status == ArrivalStatus.ARRIVED.value)
        .values(status=ArrivalStatus.WAITING.value, ready_at=p["ready"], missed_start=False)
    ),
    arrival=arrivals.c.id,
    ready=arrivals.c.ready_at,
)
_ARRIVAL_UNREADY: Final = RowUpdate(
    lambda p: (
        arrivals.update()
        .where(arrivals.c.id == p["arrival"], arrivals.c.status == ArrivalStatus.WAITING.value)
        .values(
            status=ArrivalStatus.ARRIVED.value,
            ready_at=None,
            waited_s=arrivals.c.waited_s + p["waited"],
            missed_start=p["missed"],
        )
    ),
    arrival=arrivals.c.id,
    waited=arrivals.c.waited_s,
    missed=arrivals.c.missed_start,
)
_FEEDBACK: Final = RowUpdate(
    lambda p: (
        arrivals.update()
        .where(arrivals.c.id == p["arrival"])
        .values(feedback=p["text"], feedback_at=p["now"])
    ),
    arrival=arrivals.c.id,
    text=arrivals.c.feedback,
    now=arrivals.c.feedback_at,
)
# FOR SHARE on PostgreSQL: a pause waits for openings in flight, openings not for each other.
_STUDY_IS_OPEN: Final = RowLock(
    select(studies.c.id)
    .where(studies.c.id == bindparam("study"), studies.c.status == StudyStatus.OPEN.value)
    .with_for_update(read=True)
)
_WORKER_IS_KNOWN: Final = RowLock(
    select(workers.c.id)
    .where(
        workers.c.id == bindparam("worker"),
        workers.c.external_id == bindparam("external"),
        workers.c.excluded_at.is_(None),
    )
    .with_for_update(read=True)
)
_DIALOG_TO_SOLO: Final = RowUpdate(
    lambda p: (
        dialogs.update()
        .where(dialogs.c.id == p["dialog"], dialogs.c.phase == Phase.PAIRED.value)
        .values(phase=Phase.SOLO.value)
    ),
    dialog=dialogs.c.id,
)
_DIALOG_TO_ENDED: Final = RowUpdate(
    lambda p: (
        dialogs.update()
        .where(dialogs.c.id == p["dialog"], dialogs.c.phase != Phase.ENDED.value)
        .values(phase=Phase.ENDED.value, outcome=p["how"], ended_at=p["now"])
    ),
    dialog=dialogs.c.id,
    how=dialogs.c.outcome,
    now=dialogs.c.ended_at,
)
_SEAT_TO: Final = RowUpdate(
    lambda p: (
        seats.update()
        .where(
            seats.c.dialog_id == p["dialog"],
            seats.c.arrival_id == p["arrival"],
            seats.c.status == SeatStatus.LIVE.value,
        )
        .values(status=p["after"])
    ),
    dialog=seats.c.dialog_id,
    arrival=seats.c.arrival_id,
    after=seats.c.status,
)


# --- Dialogs -------------------------------------------------------------------------------


def event_row(dialog_id: str, seq: int, event: Event) -> Row:
    return {
        "dialog_id": dialog_id,
        "seq": seq,
        "kind": event.kind,
        "at": event.at,
        "data": orjson.dumps(to_json(event)).decode(),
    }


def opening(
    study_id: str, dialog_id: str, opened: Opened, language: str, *, same_address: bool
) -> Decision:
    """A dialog becomes true: if the study is open, both arrivals wait and neither worker is
    excluded, and the place is free."""
    inserts: list[tuple[Any, Row]] = [
        (
            dialogs,
            {
                "id": dialog_id,
                "study_id": study_id,
                "item_id": opened.item_id,
                "place": opened.place,
                "phase": Phase.PAIRED.value,
                "language": language,
                "same_address": same_address,
                "opened_at": opened.at,
            },
        ),
        (events, event_row(dialog_id, 1, opened)),
    ]
    changes = [Change(_STUDY_IS_OPEN, {"study": study_id})]
    for seat in sorted(opened.seats, key=lambda s: s.arrival_id):
        inserts.append(
            (
                seats,
                {
                    "dialog_id": dialog_id,
                    "role": seat.role.value,
                    "arrival_id": seat.arrival_id,
                    "worker_id": seat.worker_id,
                    "item_id": opened.item_id,
                    "status": SeatStatus.LIVE.value,
                },
            )
        )
        changes.append(Change(_ARRIVAL_SEATED, {"arrival": seat.arrival_id}))
    return Decision(dialog_id, tuple(inserts), tuple(changes))


def happenings(
    state: DialogState, new: Iterable[Event], code_for: CodeFor
) -> tuple[Decision, DialogState]:
    """The rows of `new` events after `state`, and the state after them."""
    dialog_id = state.dialog_id
    inserts: list[tuple[Any, Row]] = []
    changes: list[Change] = []
    for event in new:
        after = evolve(state, event)
        inserts.append((events, event_row(dialog_id, after.seq, event)))
        match event:
            case SeatLost(settlement=settlement, phase=phase):
                if phase is Phase.SOLO:
                    changes.append(Change(_DIALOG_TO_SOLO, {"dialog": dialog_id}))
                effects = _settled(state, settlement, event.at, SeatStatus.LOST, code_for)
            case Ended():
                effects = _ended(state, event, code_for)
            case _:
                effects = _Effects([], [])
        inserts += effects.inserts
        changes += effects.changes
        if _leaves_incomplete(state, after, event):
            inserts.append((relaunches, _relaunch_row(state, event.at)))
        state = after
    return Decision(dialog_id, tuple(inserts), tuple(changes)), state


@dataclass(frozen=True, slots=True)
class _Effects:
    inserts: list[tuple[Any, Row]]
    changes: list[Change]


def _leaves_incomplete(before: DialogState, after: DialogState, event: Event) -> bool:
    """Whether this event is the one by which a paired dialog will never be complete."""
    return (
        before.phase is Phase.PAIRED
        and after.phase is not Phase.PAIRED
        and not (isinstance(event, Ended) and event.outcome is Outcome.COMPLETE)
    )


def _relaunch_row(state: DialogState, at: float) -> Row:
    return {
        "dialog_id": state.dialog_id,
        "item_id": state.item_id,
        "place": state.place,
        "at": at,
    }


def _ended(state: DialogState, ended: Ended, code_for: CodeFor) -> _Effects:
    effects = _Effects(
        [],
        [
            Change(
                _DIALOG_TO_ENDED,
                {"dialog": state.dialog_id, "how": ended.outcome.value, "now": ended.at},
            )
        ],
    )
    for settlement in ended.settlements:
        status = SeatStatus.LOST if settlement.release is Release.LEFT else SeatStatus.DONE
        more = _settled(state, settlement, ended.at, status, code_for)
        effects.inserts.extend(more.inserts)
        effects.changes.extend(more.changes)
    for arrival_id in ended.waiting_again:
        effects.changes.append(_seat_to(state.dialog_id, arrival_id, SeatStatus.GIVEN_UP))
        effects.changes.append(_arrival_to(arrival_id, ArrivalStatus.SEATED, ArrivalStatus.WAITING))
    return effects


def _settled(
    state: DialogState,
    settlement: Settlement,
    at: float,
    seat: SeatStatus,
    code_for: CodeFor,
) -> _Effects:
    arrival_id = settlement.arrival_id
    inserts = _release_rows(
        arrival_id,
        state.dialog_id,
        settlement.release,
        LedgerReason.DIALOG,
        settlement.cents,
        state.rules.pay.currency,
        at,
        code_for,
    )
    changes = [
        _seat_to(state.dialog_id, arrival_id, seat),
        _arrival_to(arrival_id, ArrivalStatus.SEATED, ArrivalStatus.RELEASED),
    ]
    return _Effects(inserts, changes)


def _seat_to(dialog_id: str, arrival_id: str, status: SeatStatus) -> Change:
    return Change(_SEAT_TO, {"dialog": dialog_id, "arrival": arrival_id, "after": status.value})


# --- Arrivals ------------------------------------------------------------------------------


def _arrival_to(arrival_id: str, before: ArrivalStatus, after: ArrivalStatus) -> Change:
    return Change(
        _ARRIVAL_TO, {"arrival": arrival_id, "before": before.value, "after": after.value}
    )


def _release_rows(
    arrival_id: str,
    dialog_id: str | None,
    release: Release,
    reason: LedgerReason,
    cents: int,
    currency: str,
    at: float,
    code_for: CodeFor,
) -> list[tuple[Any, Row]]:
    rows: list[tuple[Any, Row]] = [
        (
            releases,
            {
                "arrival_id": arrival_id,
                "dialog_id": dialog_id,
                "release": release.value,
                "code": code_for(arrival_id),
                "at": at,
            },
        )
    ]
    if cents > 0:
        rows.append(
            (
                ledger,
                {
                    "arrival_id": arrival_id,
                    "reason": reason.value,
                    "cents": cents,
                    "currency": currency,
                    "state": LedgerState.OWED.value,
                    "at": at,
                },
            )
        )
    return rows


def ready(arrival_id: str, now: float) -> Decision:
    """The arrival waits from `now` on; conflicts if it is not `arrived`."""
    change = Change(_ARRIVAL_READY, {"arrival": arrival_id, "ready": now})
    return Decision(arrival_id, (), (change,))


def unready(arrival_id: str, waited_s: float, *, missed_start: bool) -> Decision:
    """The arrival no longer waits; the seconds it waited are kept and count for its pay."""
    params = {"arrival": arrival_id, "waited": waited_s, "missed": missed_start}
    return Decision(arrival_id, (), (Change(_ARRIVAL_UNREADY, params),))


def release_unseated(
    arrival_id: str,
    before: ArrivalStatus,
    release: Release,
    cents: int,
    currency: str,
    now: float,
    code_for: CodeFor,
) -> Decision:
    """An arrival ends without a seat; conflicts if it was seated or released meanwhile."""
    rows = _release_rows(
        arrival_id, None, release, LedgerReason.WAITING, cents, currency, now, code_for
    )
    change = _arrival_to(arrival_id, before, ArrivalStatus.RELEASED)
    return Decision(arrival_id, tuple(rows), (change,))


def feedback(arrival_id: str, text: str, now: float) -> Decision:
    return Decision(
        arrival_id, (), (Change(_FEEDBACK, {"arrival": arrival_id, "text": text, "now": now}),)
    )


def report(report_id: str, arrival_id: str, kind: ReportKind, text: str, now: float) -> Decision:
    """A worker tells the team about a problem, or why they leave."""
    row = {
        "id": report_id,
        "arrival_id": arrival_id,
        "kind": kind.value,
        "text": text,
        "at": now,
    }
    return Decision(arrival_id, ((reports, row),))


def new_arrival(worker: Row | None, arrival: Row, known_as: str | None = None) -> Decision:
    """A worker opens an assignment; `worker` is given when the person is new. Conflicts if one who
    is not is no longer `known_as` this id of the recruiter's, being erased, or is excluded."""
    inserts: list[tuple[Any, Row]] = [(workers, worker)] if worker else []
    inserts.append((arrivals, arrival))
    changes: list[Change] = []
    if worker is None and known_as is not None:
        params = {"worker": arrival["worker_id"], "external": known_as}
        changes.append(Change(_WORKER_IS_KNOWN, params))
    return Decision(arrival["id"], tuple(inserts), tuple(changes))
