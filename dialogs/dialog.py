"""The rules of a dialog: `decide` what a command leads to in a state, and by when.

Pure: standard library only, no clock, no randomness, no I/O; time and ids are arguments.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, assert_never

from dialogs.events import (
    Away,
    Ended,
    Event,
    Extended,
    Meta,
    Opened,
    Part,
    Returned,
    Said,
    SeatLost,
    SeatTaken,
    Settlement,
    Told,
)
from dialogs.limits import BadText, clean_text
from dialogs.rules import Outcome, Phase, Release, Role, Rules, SeatEnd
from dialogs.state import DialogState

# --- Commands ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Say:
    role: Role
    key: str
    parts: tuple[Part, ...]
    meta: Meta = field(default_factory=Meta)


@dataclass(frozen=True, slots=True)
class Leave:
    role: Role


@dataclass(frozen=True, slots=True)
class Return:
    """The person's page answers again."""

    role: Role


@dataclass(frozen=True, slots=True)
class PairAgain:
    role: Role


@dataclass(frozen=True, slots=True)
class Tell:
    """The team writes to one person, or with `to` None to everybody who is still there.

    `key`, in this and the other commands of the team, is of its sender's making: what has a known
    key is not done again.
    """

    key: str
    to: Role | None
    text: str


@dataclass(frozen=True, slots=True)
class Extend:
    """The team gives `by_s` seconds more; never so that the limit falls after `latest`."""

    key: str
    by_s: float
    latest: float = math.inf


@dataclass(frozen=True, slots=True)
class EndByTeam:
    """The team ends the dialog. `cents` is the pay of whoever is not to be paid in full; `reason`
    is shown to the people, and may be empty."""

    key: str
    reason: str = ""
    cents: Mapping[Role, int] = field(default_factory=dict)


class DeadlineKind(StrEnum):
    """What a deadline of a dialog is about."""

    PRESENCE = "presence"
    GRACE = "grace"
    TURN = "turn"
    LIMIT = "limit"


class Deadline(NamedTuple):
    """A moment at which the rules must be asked again, `delay_s` after event `seq`.

    It names what armed it; when that is no longer how things stand, firing changes nothing.
    """

    kind: DeadlineKind
    role: Role | None
    seq: int
    delay_s: float


@dataclass(frozen=True, slots=True)
class Expire:
    """A deadline has fired."""

    kind: DeadlineKind
    role: Role | None
    seq: int


Command = Say | Leave | Return | PairAgain | Expire | Tell | Extend | EndByTeam


# --- Answers -------------------------------------------------------------------------------


class RefusalCode(StrEnum):
    """Why a command was refused; the page has a text for each."""

    NOT_YOUR_TURN = "not_your_turn"
    BAD_TEXT = "bad_text"
    SEAT_LOST = "seat_lost"
    DIALOG_ENDED = "dialog_ended"
    ALL_SENT = "all_sent"
    NOT_ALONE = "not_alone"
    NOT_POSSIBLE = "not_possible"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Nothing happened, and why; `text` may be shown to whoever asked."""

    code: RefusalCode
    text: str


@dataclass(frozen=True, slots=True)
class Known:
    """What has this key is already stored, as event `seq`."""

    seq: int


Answer = tuple[Event, ...] | Refusal | Known


# --- Decide --------------------------------------------------------------------------------


def open_dialog(
    rules: Rules, item_id: str, place: int, seats: tuple[SeatTaken, ...], now: float
) -> Opened:
    """The first event of a dialog. The seats must be exactly the protocol's roles."""
    if sorted(s.role for s in seats) != sorted(rules.kind.turns):
        raise ValueError(f"the seats {seats} are not the roles {rules.kind.turns}")
    return Opened(now, rules, item_id, place, seats)


def decide(state: DialogState, command: Command, now: float) -> Answer:
    """What `command` leads to in `state`: the events to store, a refusal, or a known message.

    No events, `()`, means that there is nothing to do: the command is stale or repeated.
    """
    match command:
        case Say():
            return _say(state, command, now)
        case Leave(role):
            return _leave(state, role, now)
        case Return(role):
            seat = state.seats[role]
            back = state.phase is not Phase.ENDED and not seat.gone and seat.away_seq is not None
            return (Returned(now, role),) if back else ()
        case PairAgain(role):
            return _pair_again(state, role, now)
        case Expire():
            return _expire(state, command, now)
        case Tell() | Extend() | EndByTeam():
            return _steer(state, command, now)
        case _:
            assert_never(command)


def _say(state: DialogState, say: Say, now: float) -> Answer:
    if (seq := state.keys.get((say.role, say.key))) is not None:
        return Known(seq)
    seat = state.seats[say.role]
    if seat.gone:
        return Refusal(RefusalCode.SEAT_LOST, "Your part in this dialog is over.")
    if state.phase is Phase.ENDED:
        return Refusal(RefusalCode.DIALOG_ENDED, "This dialog has ended.")
    if state.done(seat):
        return Refusal(RefusalCode.ALL_SENT, "You have sent all your messages. Thank you!")
    if state.turn is not say.role:
        return Refusal(RefusalCode.NOT_YOUR_TURN, "Please wait: it is your partner's turn.")
    try:
        # A message without parts is as empty as one without text.
        parts = tuple(Part(clean_text(part.text)) for part in say.parts or (Part(""),))
    except BadText as bad:
        return Refusal(RefusalCode.BAD_TEXT, str(bad))
    said = Said(now, say.role, say.key, state.round, parts, say.meta)
    if state.phase is Phase.SOLO and seat.sent + 1 == state.rules.rounds:
        return said, _end(state, Outcome.SOLO, {say.role: Release.FINISHED_ALONE}, now)
    if state.phase is Phase.PAIRED and len(state.messages) + 1 == state.rules.messages:
        releases = dict.fromkeys(state.seats, Release.COMPLETED)
        return said, _end(state, Outcome.COMPLETE, releases, now)
    return (said,)


def _leave(state: DialogState, role: Role, now: float) -> Answer:
    seat = state.seats[role]
    if seat.gone or state.phase is Phase.ENDED:
        return ()
    if state.done(seat):
        return Refusal(
            RefusalCode.ALL_SENT,
            "You have sent all your messages. "
            "Please stay: the last step comes right after your partner's last answer.",
        )
    return _lose(state, role, SeatEnd.LEAVE, now)


def _pair_again(state: DialogState, role: Role, now: float) -> Answer:
    if not state.may_pair_again(role):
        return Refusal(
            RefusalCode.NOT_ALONE, "A new partner is possible only early, after yours has left."
        )
    waiting = (state.seats[role].arrival_id,)
    return (Ended(now, Outcome.ABANDONED, (), waiting),)


def _expire(state: DialogState, expired: Expire, now: float) -> tuple[Event, ...]:
    armed = any(
        (d.kind, d.role, d.seq) == (expired.kind, expired.role, expired.seq)
        for d in deadlines(state)
    )
    if not armed:
        return ()
    match expired.kind:
        case DeadlineKind.PRESENCE:
            return (Away(now, _role(expired)),)
        case DeadlineKind.GRACE:
            return _lose(state, _role(expired), SeatEnd.GRACE, now)
        case DeadlineKind.TURN:
            return _lose(state, _role(expired), SeatEnd.TURN, now)
        case DeadlineKind.LIMIT:
            return (_end_by_limit(state, now),)
        case _:
            assert_never(expired.kind)


def _role(expired: Expire) -> Role:
    assert expired.role is not None, "only the dialog's own limit has no role"
    return expired.role


def _end_by_limit(state: DialogState, now: float) -> Ended:
    """Who is there when the hard limit falls has done nothing wrong and is paid in full."""
    releases = {
        seat.role: Release.LEFT
        if seat.away_seq is not None and not state.done(seat)
        else Release.ENDED_BY_TEAM
        for seat in state.seats.values()
        if not seat.gone
    }
    return _end(state, Outcome.ABANDONED, releases, now)


def _lose(state: DialogState, role: Role, why: SeatEnd, now: float) -> tuple[Event, ...]:
    """The seat of `role` is lost; the other person goes on alone, or the dialog ends."""
    settlement = _settle(state, role, Release.LEFT)
    others = [s for s in state.seats.values() if s.role is not role and not s.gone]
    if any(not state.done(s) for s in others):
        return (SeatLost(now, role, why, Phase.SOLO, settlement),)
    lost = SeatLost(now, role, why, Phase.ENDED, settlement)
    outcome = Outcome.SOLO if others else Outcome.ABANDONED
    return lost, _end(state, outcome, {s.role: Release.FINISHED_ALONE for s in others}, now)


def _end(
    state: DialogState, outcome: Outcome, releases: Mapping[Role, Release], now: float
) -> Ended:
    return Ended(now, outcome, tuple(_settle(state, r, how) for r, how in releases.items()))


def _settle(state: DialogState, role: Role, release: Release) -> Settlement:
    cents = state.rules.pay.for_release(release)
    return Settlement(state.seats[role].arrival_id, release, cents)


# --- What the team may do ------------------------------------------------------------------

MOST_EXTENSION_S = 3600.0
"""The most seconds that one extension may give."""


def _steer(state: DialogState, command: Tell | Extend | EndByTeam, now: float) -> Answer:
    if not command.key:
        raise ValueError("a command of the team needs a key")
    if (seq := state.team_keys.get(command.key)) is not None:
        if not isinstance(command, _kind_of(state, seq)):
            text = "This was asked before, and for something else."
            return Refusal(RefusalCode.NOT_POSSIBLE, text)
        return Known(seq)
    if state.phase is Phase.ENDED:
        return Refusal(RefusalCode.DIALOG_ENDED, "This dialog has ended.")
    match command:
        case Tell():
            return _tell(state, command, now)
        case Extend():
            return _extend(state, command, now)
        case EndByTeam():
            return _end_by_team(state, command, now)
        case _:
            assert_never(command)


def _kind_of(state: DialogState, seq: int) -> type[Tell | Extend | EndByTeam]:
    """Which command of the team led to event `seq`."""
    if seq in state.extended:
        return Extend
    return Tell if any(message.seq == seq for message in state.told) else EndByTeam


def _tell(state: DialogState, tell: Tell, now: float) -> Answer:
    if tell.to is not None and state.seats[tell.to].gone:
        return _gone(tell.to)
    try:
        return (Told(now, tell.key, tell.to, clean_text(tell.text)),)
    except BadText as bad:
        return Refusal(RefusalCode.BAD_TEXT, str(bad))


def _extend(state: DialogState, extend: Extend, now: float) -> Answer:
    if not 0 < extend.by_s <= MOST_EXTENSION_S:
        return Refusal(
            RefusalCode.NOT_POSSIBLE,
            f"An extension is more than nothing and at most {MOST_EXTENSION_S / 60:g} minutes.",
        )
    left = extend.latest - max(state.limit_at, now)
    if extend.by_s > left:
        return Refusal(RefusalCode.NOT_POSSIBLE, _how_much_more(left))
    return (Extended(now, extend.key, extend.by_s),)


def _how_much_more(left_s: float) -> str:
    """What can be given when so many seconds are left until an assignment runs out."""
    minutes = int(left_s // 60)
    why = "then the time for somebody's assignment runs out"
    if minutes < 1:
        return f"No more time can be given: {why}."
    return f"At most {minutes} {'minute' if minutes == 1 else 'minutes'} more can be given: {why}."


def _end_by_team(state: DialogState, end: EndByTeam, now: float) -> Answer:
    full = state.rules.pay.complete
    for role, cents in end.cents.items():
        if state.seats[role].gone:
            return _gone(role)
        if not 0 <= cents <= full:
            text = f"The pay of the {role} must be from 0 to {full} cents, not {cents}."
            return Refusal(RefusalCode.NOT_POSSIBLE, text)
        if cents < full and state.done(state.seats[role]):
            text = f"The {role} has sent all messages, and is paid in full: {full} cents."
            return Refusal(RefusalCode.NOT_POSSIBLE, text)
    try:
        reason = clean_text(end.reason) if end.reason.strip() else ""
    except BadText as bad:
        return Refusal(RefusalCode.BAD_TEXT, str(bad))
    settlements = tuple(
        Settlement(seat.arrival_id, Release.ENDED_BY_TEAM, end.cents.get(seat.role, full))
        for seat in state.seats.values()
        if not seat.gone
    )
    return (Ended(now, Outcome.ABANDONED, settlements, reason=reason, key=end.key),)


def _gone(role: Role) -> Refusal:
    return Refusal(RefusalCode.SEAT_LOST, f"The {role} has left this dialog.")


# --- Deadlines -----------------------------------------------------------------------------

PRESENCE_S = 30.0
"""How long a page may be silent, in seconds, before its person counts as away."""


def deadlines(state: DialogState) -> tuple[Deadline, ...]:
    """Every deadline that must be armed in this state. There is always one until the end."""
    if state.phase is Phase.ENDED:
        return ()
    rules = state.rules
    armed = [Deadline(DeadlineKind.LIMIT, None, state.limit_seq, state.limit_s)]
    armed.append(Deadline(DeadlineKind.TURN, state.turn, state.turn_seq, rules.turn_limit_s))
    for seat in state.seats.values():
        if seat.gone or state.done(seat):
            continue
        if seat.away_seq is None:
            armed.append(Deadline(DeadlineKind.PRESENCE, seat.role, seat.here_seq, PRESENCE_S))
        else:
            armed.append(Deadline(DeadlineKind.GRACE, seat.role, seat.away_seq, rules.grace_s))
    return tuple(armed)
