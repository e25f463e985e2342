"""A dialog as the team is shown it: from its events and rows to what travels. No I/O here.

Tiles of the grid are plain dictionaries, since hundreds are made each second; their form is that of
the model `BoardRow` of the wire.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, assert_never

from chatserver.monitor.wire import Entry, EntryKind, SeatOut, Standing
from dialogs.events import Away, Ended, Event, Extended, Opened, Returned, Said, SeatLost, Told
from dialogs.record.queries import ItemRow
from dialogs.rules import Phase
from dialogs.state import DialogState, Seat


def board_row(state: DialogState, item: ItemRow, flags: int) -> dict[str, Any]:
    """A live dialog as one tile of the grid."""
    return {
        "id": state.dialog_id,
        "image_id": item.image_id,
        "caption": item.caption,
        "phase": state.phase,
        "round": state.round,
        "rounds": state.rules.rounds,
        "turn": state.turn,
        "turn_at": state.turn_at,
        "turn_ends_at": state.turn_at + state.rules.turn_limit_s,
        "opened_at": state.opened_at,
        "seats": [_board_seat(state, seat) for seat in state.seats.values()],
        "flags": flags,
    }


def _board_seat(state: DialogState, seat: Seat) -> dict[str, Any]:
    away_at = None if seat.gone else seat.away_at
    in_grace = away_at is not None and not state.done(seat)
    return {
        "role": seat.role,
        "worker_id": seat.worker_id,
        "sent": seat.sent,
        "away": away_at is not None,
        "away_at": away_at,
        "grace_ends_at": (away_at or 0.0) + state.rules.grace_s if in_grace else None,
        "gone": seat.gone,
    }


def standing(state: DialogState) -> Standing:
    """How a dialog stands after the events that led to `state`."""
    running = state.phase is not Phase.ENDED
    return Standing(
        phase=state.phase,
        outcome=state.outcome,
        ending=state.ending,
        round=state.round,
        turn=state.turn,
        turn_at=state.turn_at,
        turn_ends_at=state.turn_at + state.rules.turn_limit_s if running else None,
        limit_at=state.limit_at if running else None,
        ended_at=state.ended_at,
        seats=[
            SeatOut(
                role=seat.role,
                arrival_id=seat.arrival_id,
                worker_id=seat.worker_id,
                sent=seat.sent,
                away_at=seat.away_at,
                gone=seat.gone,
                release=seat.settlement.release if seat.settlement else None,
                cents=seat.settlement.cents if seat.settlement else 0,
                full_pay=state.rules.pay.complete,
            )
            for seat in state.seats.values()
        ],
    )


def entries(events: Iterable[Event], first: int = 1) -> Iterator[Entry]:
    """The events of a dialog from number `first` on, as lines of its transcript."""
    for seq, event in enumerate(events, first):
        yield entry(seq, event)


def entry(seq: int, event: Event) -> Entry:
    """Event number `seq` of a dialog as one line of its transcript."""
    kind = EntryKind(event.kind)
    match event:
        case Opened(at=at):
            return Entry(seq=seq, at=at, kind=kind)
        case Said(at=at, role=role, round=round_, meta=meta):
            return Entry(
                seq=seq,
                at=at,
                kind=kind,
                role=role,
                round=round_,
                text=event.text,
                pasted=meta.pasted,
                composed_ms=meta.composed_ms,
                edits=meta.edits,
            )
        case Away(at=at, role=role) | Returned(at=at, role=role):
            return Entry(seq=seq, at=at, kind=kind, role=role)
        case SeatLost(at=at, role=role, why=why):
            return Entry(seq=seq, at=at, kind=kind, role=role, why=why)
        case Told(at=at, to=to, text=text):
            return Entry(seq=seq, at=at, kind=kind, role=to, text=text)
        case Extended(at=at, by_s=by_s):
            return Entry(seq=seq, at=at, kind=kind, seconds=by_s)
        case Ended(at=at, reason=reason):
            return Entry(seq=seq, at=at, kind=kind, why=event.ending, text=reason)
        case _:
            assert_never(event)
