"""Whether people are there: pages are asked regularly, and a lost connection is one sign.

Each answered heartbeat moves a presence deadline to `presence_s` from now; the closing of the
current socket moves it to `closed_s`. What follows when it fires is the rules' business.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any, Final

from redis.exceptions import RedisError

from chatserver.live.deadlines import Deadlines, Due, every
from chatserver.live.dialogs import Busy, Dialogs
from chatserver.live.hub import Hub, Page, Wire
from chatserver.live.matching import Matching
from dialogs.dialog import DeadlineKind, Return, deadlines
from dialogs.record.errors import RecordError
from dialogs.rules import ArrivalStatus
from pairing.lobby import Lobby

log = logging.getLogger("duologue.presence")

_TICK_S: Final = 1.0


class Presence:
    """Asks the pages of this process and moves their deadlines."""

    def __init__(
        self,
        hub: Hub,
        dialogs: Dialogs,
        lobby: Lobby,
        matching: Matching,
        deadlines: Deadlines,
        *,
        wire: Wire,
        heartbeat_s: float,
        closed_s: float,
    ) -> None:
        self._hub = hub
        self._dialogs = dialogs
        self._lobby = lobby
        self._matching = matching
        self._deadlines = deadlines
        self._wire = wire
        self._heartbeat_s = heartbeat_s
        self._closed_s = closed_s
        self._answered: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    def heard(self, page: Page) -> None:
        """The page gave a sign of life; it counts with the next tick."""
        self._answered.add(page.arrival_id)

    async def run(self, stop: asyncio.Event) -> None:
        """Ask, and take in the answers, until `stop`."""
        while await every(min(_TICK_S, self._heartbeat_s), stop):
            try:
                self._ask_pages()
                await self._take_in()
            except (RedisError, RecordError, OSError, TimeoutError) as error:
                log.warning("heartbeats wait: %s", error)

    def _ask_pages(self) -> None:
        now = time.monotonic()
        for page in self._hub.pages():
            if page.asking or now - page.asked_at < self._heartbeat_s:
                continue
            page.asked_at, page.asking = now, True
            self._wire.ask(page.sid, self._on_answer(page))

    def _on_answer(self, page: Page) -> Callable[[], None]:
        def answered() -> None:
            page.asking = False
            self.heard(page)

        return answered

    async def _take_in(self) -> None:
        answered, self._answered = self._answered, set()
        waiting = []
        for arrival_id in answered:
            page = self._hub.page(arrival_id)
            if page is None:
                continue
            if page.dialog_id is not None:
                self.is_here(page)
            elif page.status is ArrivalStatus.WAITING:
                waiting.append(arrival_id)
        if waiting and (unknown := await self._lobby.beat(waiting)):
            await self._matching.join(unknown)

    def is_here(self, page: Page) -> None:
        """The person in a dialog is there: move the deadline, and end an absence."""
        state = self._dialogs.peek(page.dialog_id) if page.dialog_id else None
        seat = state.seat_of(page.arrival_id) if state else None
        if state is None or seat is None:
            return
        if seat.away_seq is not None:
            task = asyncio.ensure_future(self._return(state.dialog_id, Return(seat.role)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return
        for deadline in deadlines(state):
            if deadline.kind is DeadlineKind.PRESENCE and deadline.role is seat.role:
                delay_s = self._deadlines.full_length(deadline)
                self._deadlines.arm(Due.of(state.dialog_id, deadline), delay_s)

    async def _return(self, dialog_id: str, command: Return) -> None:
        try:
            await self._dialogs.carry_out(dialog_id, command)
        except (Busy, RecordError, LookupError) as error:
            # The next answered heartbeat tries again.
            log.info(
                "dialog %s: a return is not stored yet: %r",
                dialog_id,
                error,
                extra={"dialog": dialog_id},
            )

    def closed(self, page: Page) -> None:
        """The page's current socket has closed."""
        if page.dialog_id is not None:
            state = self._dialogs.peek(page.dialog_id)
            seat = state.seat_of(page.arrival_id) if state else None
            if state is not None and seat is not None:
                for deadline in deadlines(state):
                    if deadline.kind is DeadlineKind.PRESENCE and deadline.role is seat.role:
                        self._deadlines.arm(Due.of(state.dialog_id, deadline), self._closed_s)
        elif page.status is ArrivalStatus.WAITING:
            task = asyncio.ensure_future(self._sleep(page.arrival_id))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _sleep(self, arrival_id: str) -> None:
        try:
            await self._lobby.sleep(arrival_id)
        except (RedisError, OSError, TimeoutError) as error:
            # Without a heartbeat the arrival falls asleep by itself.
            log.info("arrival %s: %s", arrival_id, error, extra={"arrival": arrival_id})
