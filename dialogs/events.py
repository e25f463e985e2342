"""What can happen in a dialog: one frozen dataclass a fact, and its JSON form.

Events state facts (who was released how, what is owed), so reading an old dialog never
decides anything anew. Times are seconds since 1970-01-01 UTC. Pure: standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Final

from dialogs.rules import Ending, Outcome, Phase, Release, Role, Rules, SeatEnd


@dataclass(frozen=True, slots=True)
class SeatTaken:
    """Who sits where: the arrival and the worker behind it."""

    role: Role
    arrival_id: str
    worker_id: str


@dataclass(frozen=True, slots=True)
class Settlement:
    """How one arrival ends and what it is owed (cents)."""

    arrival_id: str
    release: Release
    cents: int


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a message. Other protocols may add kinds beside text."""

    text: str


@dataclass(frozen=True, slots=True)
class Meta:
    """How a message was composed, as the page reports it: shown to reviewers, never trusted."""

    pasted: bool = False
    composed_ms: int = 0
    edits: int = 0


@dataclass(frozen=True, slots=True)
class Opened:
    kind: ClassVar[str] = "opened"
    at: float
    rules: Rules
    item_id: str
    place: int
    seats: tuple[SeatTaken, ...]


@dataclass(frozen=True, slots=True)
class Said:
    kind: ClassVar[str] = "said"
    at: float
    role: Role
    key: str
    round: int
    parts: tuple[Part, ...]
    meta: Meta = field(default_factory=Meta)

    @property
    def text(self) -> str:
        return " ".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Away:
    """A person is not answering; the grace period starts."""

    kind: ClassVar[str] = "away"
    at: float
    role: Role


@dataclass(frozen=True, slots=True)
class Returned:
    kind: ClassVar[str] = "returned"
    at: float
    role: Role


@dataclass(frozen=True, slots=True)
class SeatLost:
    """A person's part is over before its time; `phase` is the dialog's phase after it."""

    kind: ClassVar[str] = "seat_lost"
    at: float
    role: Role
    why: SeatEnd
    phase: Phase
    settlement: Settlement


@dataclass(frozen=True, slots=True)
class Ended:
    """The dialog is over. `waiting_again` names the arrivals that go back to the lobby.

    When the team ended it, `key` is that of its command, and `reason` what it wrote to the people,
    if anything; both are empty otherwise.
    """

    kind: ClassVar[str] = "ended"
    at: float
    outcome: Outcome
    settlements: tuple[Settlement, ...]
    waiting_again: tuple[str, ...] = ()
    reason: str = ""
    key: str = ""

    @property
    def ending(self) -> Ending:
        """The outcome, told apart by who ended the dialog."""
        if self.key:
            return Ending.ENDED_BY_TEAM
        if any(each.release is Release.ENDED_BY_TEAM for each in self.settlements):
            return Ending.TIME_LIMIT
        return Ending(self.outcome)


@dataclass(frozen=True, slots=True)
class Told:
    """The team wrote to one person, or with `to` None to everybody who was there. It is no
    message of the dialog: no rule counts it."""

    kind: ClassVar[str] = "told"
    at: float
    key: str
    to: Role | None
    text: str


@dataclass(frozen=True, slots=True)
class Extended:
    """The team gave more time: the dialog's limit is `by_s` seconds later, and the running turn
    and grace period begin anew."""

    kind: ClassVar[str] = "extended"
    at: float
    key: str
    by_s: float


Event = Opened | Said | Away | Returned | SeatLost | Ended | Told | Extended


def to_json(event: Event) -> dict[str, Any]:
    """The event's payload as plain JSON types; its kind and time are columns of their own."""
    # Written out, since this runs for every message: `asdict` takes twenty times as long.
    match event:
        case Said():
            meta = event.meta
            return {
                "role": event.role,
                "key": event.key,
                "round": event.round,
                "parts": [{"text": part.text} for part in event.parts],
                "meta": {
                    "pasted": meta.pasted,
                    "composed_ms": meta.composed_ms,
                    "edits": meta.edits,
                },
            }
        case Away(role=role) | Returned(role=role):
            return {"role": role}
        case _:
            data = asdict(event)
            del data["at"]
            return data


def from_json(kind: str, at: float, data: Mapping[str, Any]) -> Event:
    """The event that `to_json` wrote. An unknown kind is an error: the record is newer than us."""
    try:
        read = _READERS[kind]
    except KeyError:
        raise UnknownEvent(
            f"the record holds an event of kind {kind!r}, which this version of Duologue "
            f"does not know (it knows {', '.join(_READERS)}); run the newer version"
        ) from None
    return read(at, data)


class UnknownEvent(ValueError):
    """An event written by a newer version."""


def _settlement(data: Mapping[str, Any]) -> Settlement:
    return Settlement(data["arrival_id"], Release(data["release"]), data["cents"])


def _opened(at: float, d: Mapping[str, Any]) -> Opened:
    seats = tuple(SeatTaken(Role(s["role"]), s["arrival_id"], s["worker_id"]) for s in d["seats"])
    return Opened(at, Rules.from_json(d["rules"]), d["item_id"], d["place"], seats)


def _said(at: float, d: Mapping[str, Any]) -> Said:
    parts = tuple(Part(p["text"]) for p in d["parts"])
    return Said(at, Role(d["role"]), d["key"], d["round"], parts, Meta(**d["meta"]))


def _seat_lost(at: float, d: Mapping[str, Any]) -> SeatLost:
    return SeatLost(
        at, Role(d["role"]), SeatEnd(d["why"]), Phase(d["phase"]), _settlement(d["settlement"])
    )


def _ended(at: float, d: Mapping[str, Any]) -> Ended:
    settlements = tuple(_settlement(s) for s in d["settlements"])
    # Until the team could end a dialog, an end had neither reason nor key.
    words = d.get("reason", ""), d.get("key", "")
    return Ended(at, Outcome(d["outcome"]), settlements, tuple(d["waiting_again"]), *words)


def _told(at: float, d: Mapping[str, Any]) -> Told:
    return Told(at, d["key"], Role(d["to"]) if d["to"] else None, d["text"])


_READERS: Final[Mapping[str, Callable[[float, Mapping[str, Any]], Event]]] = {
    Opened.kind: _opened,
    Said.kind: _said,
    Away.kind: lambda at, d: Away(at, Role(d["role"])),
    Returned.kind: lambda at, d: Returned(at, Role(d["role"])),
    SeatLost.kind: _seat_lost,
    Ended.kind: _ended,
    Told.kind: _told,
    Extended.kind: lambda at, d: Extended(at, d["key"], d["by_s"]),
}
