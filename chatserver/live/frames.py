"""A dialog event as the frame that a page gets. Every event moves a page's position by one.

Frames are plain dictionaries, since they are made for every message and every reader; their
form is that of the models `MessageOut`, `PartnerOut`, `PhaseOut`, `ToldOut` and `ExtendedOut` of
the wire.
"""

from __future__ import annotations

from typing import Any

from dialogs.events import Away, Event, Extended, Returned, Said, Told
from dialogs.rules import Role
from dialogs.state import DialogState

Frame = dict[str, Any]


def message_out(seq: int, said: Said, reader: Role) -> Frame:
    """A message as `reader` gets it: the key is for its author only."""
    return {
        "seq": seq,
        "round": said.round,
        "role": said.role,
        "parts": [{"text": part.text} for part in said.parts],
        "at": said.at,
        "key": said.key if said.role is reader else None,
    }


def told_out(seq: int, told: Told) -> Frame:
    """A message of the team, as whoever it is for gets it."""
    return {"seq": seq, "text": told.text, "at": told.at}


def turn_ends_at(state: DialogState) -> float | None:
    """When the running turn's time is over, if one runs."""
    return None if state.turn is None else state.turn_at + state.rules.turn_limit_s


def grace_ends_at(state: DialogState, reader: Role) -> float | None:
    """When the wait for the reader's partner is over, if the partner is away."""
    other = next(seat for seat in state.seats.values() if seat.role is not reader)
    if other.gone or other.away_at is None:
        return None
    return other.away_at + state.rules.grace_s


def frame(after: DialogState, event: Event, reader: Role, now: float) -> tuple[str, Frame]:
    """The name and payload of the frame for `event`, which led to the state `after`.

    What says nothing to this reader becomes a `phase` frame, so that positions stay in step.
    """
    match event:
        case Said():
            return "message", message_out(after.seq, event, reader)
        case Away(role=role) if role is not reader:
            return "partner", {
                "seq": after.seq,
                "present": False,
                "grace_ends_at": grace_ends_at(after, reader),
                "now": now,
            }
        case Returned(role=role) if role is not reader:
            return "partner", {
                "seq": after.seq,
                "present": True,
                "grace_ends_at": None,
                "now": now,
            }
        case Told(to=to) if to in (None, reader):
            return "told", told_out(after.seq, event)
        case Extended():
            return "extended", {
                "seq": after.seq,
                "turn_ends_at": turn_ends_at(after),
                "grace_ends_at": grace_ends_at(after, reader),
                "now": now,
            }
        case _:
            return "phase", {"seq": after.seq, "phase": after.phase}
