"""The state of a dialog, which is the fold of its events. Pure: standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from dialogs.events import (
    Away,
    Ended,
    Event,
    Extended,
    Opened,
    Returned,
    Said,
    SeatLost,
    Settlement,
    Told,
)
from dialogs.rules import Ending, Outcome, Phase, Role, Rules, SeatEnd


@dataclass(frozen=True, slots=True)
class Seat:
    """One person's hold on the dialog, as far as the events say.

    `away_seq` is the event that started the running grace period, `here_seq` the event since
    which the person counts as present. A seat that is `gone` never comes back; `lost` says why.
    """

    role: Role
    arrival_id: str
    worker_id: str
    sent: int = 0
    gone: bool = False
    away_seq: int | None = None
    away_at: float | None = None
    here_seq: int = 1
    settlement: Settlement | None = None
    lost: SeatEnd | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A stored message with its place in the order of all events; `alone` if its partner's seat was
    lost by then."""

    seq: int
    said: Said
    alone: bool = False


@dataclass(frozen=True, slots=True)
class TeamMessage:
    """A message of the team with its place in the order of all events."""

    seq: int
    told: Told

    def for_reader(self, role: Role) -> bool:
        """Whether the person in this role may see it."""
        return self.told.to in (None, role)


@dataclass(frozen=True, slots=True)
class DialogState:
    """The fold of a dialog's events. `seq` counts all events, not only messages, from 1.

    The dialog's limit falls `limit_s` seconds after event `limit_seq`, at the moment `limit_at`.
    `told` and `extended` (numbers of events) are what the team did, `team_keys` its commands that
    are carried out. `ended_by_team` says that it ended the dialog, `reason` what it wrote then.
    """

    dialog_id: str
    seq: int
    phase: Phase
    rules: Rules
    item_id: str
    place: int
    opened_at: float
    seats: Mapping[Role, Seat]
    messages: tuple[Message, ...] = ()
    keys: Mapping[tuple[Role, str], int] = field(default_factory=dict)
    turn_seq: int = 1
    turn_at: float = 0.0
    rounds_paired: int = 0
    outcome: Outcome | None = None
    ending: Ending | None = None
    ended_at: float | None = None
    limit_seq: int = 1
    limit_s: float = 0.0
    limit_at: float = 0.0
    told: tuple[TeamMessage, ...] = ()
    extended: tuple[int, ...] = ()
    team_keys: Mapping[str, int] = field(default_factory=dict)
    ended_by_team: bool = False
    reason: str = ""

    @property
    def turn(self) -> Role | None:
        """Whose message is awaited, if anyone's."""
        match self.phase:
            case Phase.PAIRED:
                return self.rules.kind.role_at(len(self.messages))
            case Phase.SOLO:
                return self.remaining.role
            case Phase.ENDED:
                return None
            case _:
                assert_never(self.phase)

    @property
    def remaining(self) -> Seat:
        """The one seat still held in `solo`."""
        (seat,) = (s for s in self.seats.values() if not s.gone)
        return seat

    @property
    def round(self) -> int:
        """The current round, from 1 to `rules.rounds`."""
        match self.phase:
            case Phase.SOLO:
                done = self.remaining.sent
            case Phase.PAIRED | Phase.ENDED:
                done = len(self.messages) // len(self.rules.kind.turns)
            case _:
                assert_never(self.phase)
        return min(done + 1, self.rules.rounds)

    def done(self, seat: Seat) -> bool:
        """Whether the person has given all that was asked: such a seat is never lost."""
        return seat.sent >= self.rules.rounds

    def seat_of(self, arrival_id: str) -> Seat | None:
        return next((s for s in self.seats.values() if s.arrival_id == arrival_id), None)

    def may_pair_again(self, role: Role) -> bool:
        """Whether this survivor may go back to the lobby instead of finishing alone."""
        return (
            self.phase is Phase.SOLO
            and not self.seats[role].gone
            and self.rounds_paired < self.rules.pair_again_below
        )


def begin(dialog_id: str, opened: Opened) -> DialogState:
    """The state after a dialog's first event."""
    seats = {s.role: Seat(s.role, s.arrival_id, s.worker_id) for s in opened.seats}
    return DialogState(
        dialog_id,
        1,
        Phase.PAIRED,
        opened.rules,
        opened.item_id,
        opened.place,
        opened.at,
        seats,
        turn_at=opened.at,
        limit_s=opened.rules.dialog_limit_s,
        limit_at=opened.at + opened.rules.dialog_limit_s,
    )


def evolve(state: DialogState, event: Event) -> DialogState:
    """The state after `event`, which must be the one numbered `state.seq + 1`."""
    seq = state.seq + 1
    match event:
        case Opened():
            raise ValueError(f"dialog {state.dialog_id} was opened twice")
        case Said(at=at, role=role, key=key):
            paired = state.phase is Phase.PAIRED
            messages = (*state.messages, Message(seq, event, not paired))
            rounds = len(messages) // len(state.rules.kind.turns)
            # Written out, since this runs for every message: `replace` takes twice as long.
            return DialogState(
                state.dialog_id,
                seq,
                state.phase,
                state.rules,
                state.item_id,
                state.place,
                state.opened_at,
                _with(state, _one_more(state.seats[role])),
                messages,
                {**state.keys, (role, key): seq},
                turn_seq=seq,
                turn_at=at,
                rounds_paired=rounds if paired else state.rounds_paired,
                outcome=state.outcome,
                ending=state.ending,
                ended_at=state.ended_at,
                limit_seq=state.limit_seq,
                limit_s=state.limit_s,
                limit_at=state.limit_at,
                told=state.told,
                extended=state.extended,
                team_keys=state.team_keys,
                ended_by_team=state.ended_by_team,
                reason=state.reason,
            )
        case Away(at=at, role=role):
            seat = replace(state.seats[role], away_seq=seq, away_at=at)
            return replace(state, seq=seq, seats=_with(state, seat))
        case Returned(at=at, role=role):
            seat = replace(state.seats[role], away_seq=None, away_at=None, here_seq=seq)
            after = replace(state, seq=seq, seats=_with(state, seat))
            # Who comes back to an open turn gets the whole limit again.
            return replace(after, turn_seq=seq, turn_at=at) if state.turn is role else after
        case SeatLost(at=at, role=role, why=why, phase=phase, settlement=settlement):
            seat = replace(state.seats[role], gone=True, settlement=settlement, lost=why)
            return replace(
                state,
                seq=seq,
                phase=phase,
                seats=_with(state, seat),
                turn_seq=seq,
                turn_at=at,
            )
        case Told(key=key):
            told = (*state.told, TeamMessage(seq, event))
            return replace(state, seq=seq, told=told, team_keys={**state.team_keys, key: seq})
        case Extended():
            return _extended(state, event, seq)
        case Ended(at=at, outcome=outcome, settlements=settlements, reason=reason, key=key):
            owed = {s.arrival_id: s for s in settlements}
            seats = {
                role: replace(seat, settlement=owed.get(seat.arrival_id, seat.settlement))
                for role, seat in state.seats.items()
            }
            return replace(
                state,
                seq=seq,
                phase=Phase.ENDED,
                outcome=outcome,
                ending=event.ending,
                ended_at=at,
                seats=seats,
                team_keys={**state.team_keys, key: seq} if key else state.team_keys,
                ended_by_team=bool(key),
                reason=reason,
            )
        case _:
            assert_never(event)


def _extended(state: DialogState, event: Extended, seq: int) -> DialogState:
    """The limit is later; whoever is awaited gets the whole turn or grace period again."""
    limit_s = max(state.limit_at - event.at, 0.0) + event.by_s
    away = [s for s in state.seats.values() if s.away_seq is not None and not s.gone]
    anew = {s.role: replace(s, away_seq=seq, away_at=event.at) for s in away}
    return replace(
        state,
        seq=seq,
        seats={**state.seats, **anew},
        turn_seq=seq,
        turn_at=event.at,
        limit_seq=seq,
        limit_s=limit_s,
        limit_at=event.at + limit_s,
        extended=(*state.extended, seq),
        team_keys={**state.team_keys, event.key: seq},
    )


def _one_more(seat: Seat) -> Seat:
    """The seat after a message of its person."""
    return Seat(
        seat.role,
        seat.arrival_id,
        seat.worker_id,
        seat.sent + 1,
        seat.gone,
        seat.away_seq,
        seat.away_at,
        seat.here_seq,
        seat.settlement,
        seat.lost,
    )


def _with(state: DialogState, seat: Seat) -> dict[Role, Seat]:
    return {**state.seats, seat.role: seat}


def fold(dialog_id: str, events: Iterable[Event]) -> DialogState:
    """The state after all of `events`, in order from the first."""
    stream = iter(events)
    opened = next(stream)
    if not isinstance(opened, Opened):
        raise ValueError(f"dialog {dialog_id} does not begin with its opening")
    state = begin(dialog_id, opened)
    for event in stream:
        state = evolve(state, event)
    return state
