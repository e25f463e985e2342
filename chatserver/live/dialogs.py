"""Carries out commands on dialogs, and keeps the folds of those that this process serves.

Acknowledged means committed: a command's events are in the database before anybody is told.
A dialog has one decision in flight in a process; the database's primary key settles the rest.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson
from sqlalchemy import Table

from chatserver.live.deadlines import Deadlines
from chatserver.live.fanout import Fanout
from chatserver.live.frames import frame, message_out
from chatserver.live.hub import Hub
from chatserver.tokens import new_code
from dialogs.dialog import Answer, Command, Known, Refusal, RefusalCode, decide
from dialogs.events import Ended, Event, SeatLost, from_json
from dialogs.record import queries
from dialogs.record.bulk import Row
from dialogs.record.decisions import event_row, happenings
from dialogs.record.errors import BadRow, Conflict, Overloaded, Unavailable
from dialogs.record.store import Record
from dialogs.record.tables import events as stored
from dialogs.record.writer import Decision
from dialogs.rules import Outcome, Phase
from dialogs.state import DialogState, evolve

log = logging.getLogger("duologue.dialogs")

MAX_QUEUED: Final = 16
"""Commands that may wait for one dialog's turn in this process."""

ATTEMPTS: Final = 8
RETRY_S: Final = 0.05
REPEAT_S: Final = 1.0
"""Between two messages of a dialog that are shown again."""

Rows = tuple[tuple[Table, Row], ...]
Beside = Callable[[int], Rows]
"""Gives the rows that are stored together with an event, by its number."""


class Busy(Exception):
    """The command cannot be carried out now; nothing has happened. The sender may try again."""


class LiveDialog:
    """One dialog's fold, its queue, and how many pages of this process are in it."""

    __slots__ = ("lock", "pages", "queued", "repeated_at", "state")

    def __init__(self, state: DialogState) -> None:
        self.state = state
        self.lock = asyncio.Lock()
        self.queued = 0
        self.pages = 0
        self.repeated_at = float("-inf")


class Dialogs:
    """The live dialogs of a process.

    `on_refresh(arrival_id)` asks for a new `state` to that page; `on_place(item, n)` tells of a
    place that is free again, `on_waiting(arrival_ids)` of people who are back in the lobby,
    `on_event(state, event)` of every event that is taken in here, and the state after it.
    `on_turned(events)` of events committed here that changed a dialog's phase.
    """

    def __init__(
        self,
        record: Record,
        hub: Hub,
        fanout: Fanout,
        deadlines: Deadlines,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._record = record
        self._hub = hub
        self._fanout = fanout
        self._deadlines = deadlines
        self._now = now
        self._live: dict[str, LiveDialog] = {}
        self.on_refresh: Callable[[str], None] = lambda arrival_id: None
        self.on_place: Callable[[str, int], None] = lambda item_id, place: None
        self.on_waiting: Callable[[Iterable[str]], None] = lambda arrival_ids: None
        self.on_event: Callable[[DialogState, Event], None] | None = None
        self.on_turned: Callable[[Sequence[Event]], None] = lambda events: None
        fanout.on("events", self._told)

    # --- Serving ---------------------------------------------------------------------------

    async def enter(self, dialog_id: str) -> None:
        """A page of this process joins the dialog, and gets its frames from now on."""
        live = self._live.get(dialog_id) or await self._load(dialog_id)
        live.pages += 1
        self._live[dialog_id] = live

    def quit(self, dialog_id: str) -> None:
        """A page of this process is gone from the dialog."""
        live = self._live.get(dialog_id)
        if live is not None:
            live.pages -= 1
            self._drop_if_idle(live)

    def served(self) -> list[DialogState]:
        """The states of the dialogs that this process serves, as it knows them."""
        return [live.state for live in self._live.values()]

    def peek(self, dialog_id: str) -> DialogState | None:
        """The state as this process knows it, perhaps behind the record."""
        live = self._live.get(dialog_id)
        return live.state if live else None

    async def read(self, dialog_id: str) -> DialogState:
        """The state of a dialog, just read."""
        live = self._live.get(dialog_id)
        if live is None:
            return (await self._load(dialog_id)).state
        # After its end nothing happens in a dialog.
        if live.state.phase is not Phase.ENDED:
            last = await self._record.one(queries.last_seqs, dialog_id)
            if last is not None and last > live.state.seq:
                await self._reload(live)
        return live.state

    async def catch_up(self) -> None:
        """Find in the record what fan-out has not brought, and deliver it."""
        seqs = await self._record.read(queries.last_seqs, list(self._live))
        behind = [
            live
            for dialog_id, seq in seqs.items()
            if (live := self._live.get(dialog_id)) and live.state.seq < seq
        ]
        for live in behind:
            await self._reload(live)

    async def _load(self, dialog_id: str) -> LiveDialog:
        state = await self._record.one(queries.dialogs_by_id, dialog_id)
        if state is None:
            raise LookupError(f"there is no dialog {dialog_id}")
        # Another coroutine may have read it meanwhile: its fold is the one that is served.
        return self._live.get(dialog_id) or LiveDialog(state)

    def _drop_if_idle(self, live: LiveDialog) -> None:
        if live.pages <= 0 and live.queued == 0:
            self._live.pop(live.state.dialog_id, None)

    # --- Commands --------------------------------------------------------------------------

    async def carry_out(
        self, dialog_id: str, command: Command, beside: Beside | None = None
    ) -> Answer:
        """Decide, commit, and tell everybody. The rows of `beside(seq)` are stored in the same
        moment as the command's first event, whose number that is.

        The answer is `Known` with the number of the command's first event, stored now or
        earlier; a refusal; or nothing, `()`, for a command that was stale.

        Raises:
            Busy: too many commands wait, or the database does not answer.
        """
        live = self._live.get(dialog_id) or await self._load(dialog_id)
        if live.queued >= MAX_QUEUED:
            raise Busy
        self._live[dialog_id] = live
        live.queued += 1
        try:
            async with live.lock:
                return await self._decide(live, command, beside)
        except Unavailable as error:
            log.warning(
                "dialog %s: %s not carried out: %s",
                dialog_id,
                type(command),
                error,
                extra={"dialog": dialog_id},
            )
            raise Busy from error
        finally:
            live.queued -= 1
            self._drop_if_idle(live)

    async def _decide(self, live: LiveDialog, command: Command, beside: Beside | None) -> Answer:
        just_read = False
        for attempt in range(ATTEMPTS):
            state = live.state
            answer = decide(state, command, self._now())
            if isinstance(answer, Known):
                self._publish_again(live, answer.seq)
                return answer
            if isinstance(answer, Refusal) or not answer:
                # A no must come from a fold that was just read: another process may know more.
                if just_read:
                    return answer
                await self._reload(live)
                just_read = True
                continue
            try:
                decision, after = happenings(state, answer, new_code)
                if beside is not None:
                    inserts = (*decision.inserts, *beside(state.seq + 1))
                    decision = replace(decision, inserts=inserts)
                await self._record.writer.commit(decision)
            except Conflict:
                await self._reload(live)
                just_read = True
            except BadRow as error:
                log.warning(
                    "dialog %s: a row was refused: %s",
                    state.dialog_id,
                    error,
                    extra={"dialog": state.dialog_id},
                )
                text = "The message holds characters that cannot be stored. Please change it."
                return Refusal(RefusalCode.BAD_TEXT, text)
            except Overloaded:
                raise
            except Unavailable:
                # The commit may or may not have happened; only the record knows.
                await asyncio.sleep(RETRY_S * 2**attempt)
                await self._reload(live)
                just_read = True
            else:
                self._committed(live, state, answer, after, decision)
                return Known(state.seq + 1)
        raise Busy

    def _committed(
        self,
        live: LiveDialog,
        before: DialogState,
        events: Sequence[Event],
        after: DialogState,
        decision: Decision,
    ) -> None:
        if not self._fanout.alone():
            # The rows hold the events as JSON already.
            rows = (row for table, row in decision.inserts if table is stored)
            note = [[row["kind"], row["at"], row["data"]] for row in rows]
            self._fanout.tell("events", [before.dialog_id, before.seq + 1, note])
        self._deadlines.change(before, after)
        for n, event in enumerate(events, start=before.seq + 1):
            self._apply(live, n, event, after if n == after.seq else None)
        if after.phase is not before.phase:
            self.on_turned(events)

    def _publish_again(self, live: LiveDialog, seq: int) -> None:
        """A repeated message is shown again to whoever missed it; pages ignore what they have.

        Not more than once in a while: repeating costs its sender nothing, and must not fill the
        other's line.
        """
        now = time.monotonic()
        if now - live.repeated_at < REPEAT_S:
            return
        live.repeated_at = now
        said = next((m.said for m in live.state.messages if m.seq == seq), None)
        if said is None:
            # What the team did is found in the record by whoever missed it.
            return
        row = event_row(live.state.dialog_id, seq, said)
        note = [live.state.dialog_id, seq, [[row["kind"], row["at"], row["data"]]]]
        self._fanout.tell("events", note)
        for seat in live.state.seats.values():
            if not seat.gone:
                self._hub.emit(seat.arrival_id, "message", message_out(seq, said, seat.role))

    # --- Events ----------------------------------------------------------------------------

    async def _reload(self, live: LiveDialog) -> None:
        base = live.state.seq
        events = await self._record.read(queries.events_after, live.state.dialog_id, base)
        for n, event in enumerate(events, start=base + 1):
            self._apply(live, n, event)

    def _told(self, note: Any) -> None:
        """Another process has committed events."""
        dialog_id, seq, events = note
        live = self._live.get(dialog_id)
        if live is None:
            return
        for n, (kind, at, data) in enumerate(events, start=seq):
            if n == live.state.seq + 1:
                self._apply(live, n, from_json(kind, at, orjson.loads(data)))

    def _apply(
        self, live: LiveDialog, seq: int, event: Event, after: DialogState | None = None
    ) -> None:
        """Take in event `seq` if it is the next one, and deliver it to the pages here.

        An older one is known already. A newer one cannot come: reloads are in order. `after` is
        the state that the event leads to, where it is known.
        """
        before = live.state
        if seq != before.seq + 1:
            return
        after = live.state = after or evolve(before, event)
        if self.on_event is not None:
            self.on_event(after, event)
        now = self._now()
        for seat in before.seats.values():
            if seat.gone:
                continue
            name, payload = frame(after, event, seat.role, now)
            self._hub.emit(seat.arrival_id, name, payload)
        if isinstance(event, SeatLost | Ended):
            for seat in before.seats.values():
                self.on_refresh(seat.arrival_id)
            self._tell_consequences(before, after, event)

    def _tell_consequences(
        self, before: DialogState, after: DialogState, event: SeatLost | Ended
    ) -> None:
        incomplete = after.phase is not Phase.ENDED or after.outcome is not Outcome.COMPLETE
        if before.phase is Phase.PAIRED and after.phase is not Phase.PAIRED and incomplete:
            self.on_place(after.item_id, after.place)
        if isinstance(event, Ended) and event.waiting_again:
            self.on_waiting(event.waiting_again)
