"""What both relays know: rooms of two, in memory, with the frames of the wire protocol.

Nothing is checked and nothing is stored; this is the least that a chat server does.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Final

MESSAGES: Final = 20
ROLES: Final = ("questioner", "answerer")

Frame = dict[str, Any]


@dataclass(slots=True)
class Room:
    """Two sockets and a counter. `name` is the socket.io room."""

    name: str
    sids: tuple[str, str]
    seq: int = 1
    started: set[str] = field(default_factory=set)

    def message(self, sid: str, data: Frame) -> Frame:
        """Count a message and return its frame for the partner."""
        self.seq += 1
        return {
            "seq": self.seq,
            "round": self.seq // 2,
            "role": ROLES[self.sids.index(sid)],
            "parts": data["parts"],
            "at": time.time(),
            "key": None,
        }

    @property
    def complete(self) -> bool:
        return self.seq > MESSAGES

    def talking(self, sid: str) -> Frame:
        """The `state` with which a dialog begins for one of the two."""
        role = ROLES[self.sids.index(sid)]
        return {
            "stage": "talking",
            "seq": 1,
            "now": time.time(),
            "dialog": {
                "role": role,
                "phase": "paired",
                "turn": ROLES[0],
                "your_turn": role == ROLES[0],
                "rounds": MESSAGES // 2,
            },
        }

    def released(self) -> Frame:
        """The `state` with which a dialog ends."""
        done = {"release": "completed", "outcome": "complete", "cents": 0, "code": self.name}
        return {"stage": "released", "seq": self.seq, "now": time.time(), "released": done}


ARRIVED: Final[Frame] = {"stage": "arrived", "seq": 0, "now": 0.0}
MATCHED: Final[Frame] = {
    "stage": "matched",
    "seq": 0,
    "now": 0.0,
    "match": {"start_by": 0.0, "started": False, "now": 0.0},
}


class Rooms:
    """The rooms by socket, and who waits for the next one."""

    def __init__(self) -> None:
        self.of: dict[str, Room] = {}
        self._waiting: str | None = None
        self._arrivals = 0

    def arrive(self) -> Frame:
        """The answer to `POST /api/arrivals`."""
        self._arrivals += 1
        return {"token": f"arrival-{self._arrivals}"}

    def ready(self, sid: str) -> Room | None:
        """The room, when `sid` is the second to be ready."""
        other, self._waiting = self._waiting, sid
        if other is None:
            return None
        self._waiting = None
        room = Room(f"room-{other}", (other, sid))
        self.of[other] = self.of[sid] = room
        return room

    def start(self, sid: str) -> Room | None:
        """The room, when both have started."""
        room = self.of[sid]
        room.started.add(sid)
        return room if len(room.started) == len(room.sids) else None

    def gone(self, sid: str) -> None:
        self.of.pop(sid, None)
        if self._waiting == sid:
            self._waiting = None
