"""The live dialogs of a whole study, as whoever watches sees them: kept up by events, mended by
regular looks at the record. Costs nothing while nobody watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from chatserver.live.dialogs import Dialogs
from chatserver.live.fanout import Fanout
from dialogs.events import Event, from_json
from dialogs.record import overview, queries
from dialogs.record.store import Record
from dialogs.rules import Phase
from dialogs.state import DialogState, evolve


class Board:
    """What has changed since it was last taken. `on_event(state, event)` is called for every event
    that is taken in, in the order of its dialog, none left out."""

    def __init__(self, record: Record, dialogs: Dialogs, fanout: Fanout, study_id: str) -> None:
        self._record = record
        self._dialogs = dialogs
        self._study_id = study_id
        self._states: dict[str, DialogState] = {}
        self._changed: set[str] = set()
        self._over: set[str] = set()
        self._flags: dict[str, int] = {}
        self._looking = False
        self.on_event: Callable[[DialogState, Event], None] = lambda state, event: None
        fanout.on("events", self._told)

    async def begin(self) -> None:
        """Somebody watches: take in what happens from now on, and read what there is."""
        self._looking = True
        self._dialogs.on_event = self._happened
        await self.look()

    def end(self) -> None:
        """Nobody watches any more."""
        self._looking = False
        self._dialogs.on_event = None
        for kept in (self._states, self._changed, self._over, self._flags):
            kept.clear()

    def state(self, dialog_id: str) -> DialogState | None:
        """A dialog that has not ended, as far as is known here."""
        return self._states.get(dialog_id)

    def states(self) -> list[DialogState]:
        """All of them."""
        return list(self._states.values())

    def flags(self, dialog_id: str) -> int:
        """How many flags were raised in one of them so far."""
        return self._flags.get(dialog_id, 0)

    def take(self) -> tuple[list[DialogState], list[str]]:
        """The dialogs that are new or have changed since the last call, and those that ended."""
        changed = [self._states[d] for d in self._changed if d in self._states]
        over = list(self._over)
        self._changed.clear()
        self._over.clear()
        return changed, over

    async def look(self) -> None:
        """Find in the record what no event has told: dialogs that were opened, and what happened
        in other processes."""
        live = await self._record.read(overview.live, self._study_id)
        seqs = {dialog_id: lately.seq for dialog_id, lately in live.items()}
        ended = self._states.keys() - live.keys()
        if ended:
            seqs |= await self._record.read(queries.last_seqs, ended)
        unknown = [dialog_id for dialog_id in seqs if dialog_id not in self._states]
        if unknown:
            read = await self._record.read(queries.dialogs_by_id, unknown)
            for state in read.values():
                self._begin_with(state)
        for dialog_id, seq in seqs.items():
            await self._catch_up(dialog_id, seq)
        self._flagged({dialog_id: lately.flags for dialog_id, lately in live.items()})

    def _flagged(self, now: dict[str, int]) -> None:
        for dialog_id in now.keys() | self._flags.keys():
            if now.get(dialog_id, 0) != self.flags(dialog_id) and dialog_id in self._states:
                self._changed.add(dialog_id)
        self._flags = now

    async def _catch_up(self, dialog_id: str, seq: int) -> None:
        known = self._states.get(dialog_id)
        if known is None or known.seq >= seq:
            return
        events = await self._record.read(queries.events_after, dialog_id, known.seq)
        for number, event in enumerate(events, known.seq + 1):
            self._next(dialog_id, number, event)

    def _begin_with(self, state: DialogState) -> None:
        # An event may have brought it while it was read.
        new = self._looking and state.dialog_id not in self._states
        if new and state.phase is not Phase.ENDED:
            self._states[state.dialog_id] = state
            self._changed.add(state.dialog_id)

    # --- Events ----------------------------------------------------------------------------

    def _happened(self, after: DialogState, event: Event) -> None:
        self._next(after.dialog_id, after.seq, event, after)

    def _told(self, note: Any) -> None:
        """Another process has committed events."""
        if not self._looking:
            return
        dialog_id, first, events = note
        for seq, (kind, at, data) in enumerate(events, first):
            known = self._states.get(dialog_id)
            # Whatever else comes is known, or found by the next look.
            if known is not None and seq == known.seq + 1:
                self._next(dialog_id, seq, from_json(kind, at, orjson.loads(data)))

    def _next(
        self, dialog_id: str, seq: int, event: Event, after: DialogState | None = None
    ) -> None:
        """Take in event `seq` if it is the next one; `after` is the state after it, if known."""
        before = self._states.get(dialog_id)
        if before is None or seq != before.seq + 1:
            return
        state = after or evolve(before, event)
        if state.phase is Phase.ENDED:
            del self._states[dialog_id]
            self._changed.discard(dialog_id)
            self._over.add(dialog_id)
        else:
            self._states[dialog_id] = state
            self._changed.add(dialog_id)
        self.on_event(state, event)
