"""A dialog event as the frame that a page gets. Every event moves a page's position by one.

Frames are plain dictionaries, since they are made for every message and every reader; their
form is that of the models `MessageOut`, `PartnerOut` and `PhaseOut` of the wire.
"""

from __future__ import annotations

from typing import Any

from dialogs.events import Away, Event, Returned, Said
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


def frame(after: DialogState, event: Event, reader: Role, now: float) -> tuple[str, Frame]:
    """The name and payload of the frame for `event`, which led to the state `after`.

    What says nothing to this reader becomes a `phase` frame, so that positions stay in step.
    """
    match event:
        case Said():
            return "message", message_out(after.seq, event, reader)
        case Away(at=at, role=role) if role is not reader:
            ends = at + after.rules.grace_s
            return "partner", {
                "seq": after.seq,
                "present": False,
                "grace_ends_at": ends,
                "now": now,
            }
        case Returned(role=role) if role is not reader:
            return "partner", {
                "seq": after.seq,
                "present": True,
                "grace_ends_at": None,
                "now": now,
            }
        case _:
            return "phase", {"seq": after.seq, "phase": after.phase}
