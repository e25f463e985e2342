"""Keeps every page's screen true: reads the record and sends the whole `state`.

A page is refreshed when something happened to its arrival, here or in another process, and
when a regular look at the record finds a page behind.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from typing import Final

from redis.exceptions import RedisError

from chatserver.config import StudyConfig
from chatserver.doors import Door
from chatserver.live.dialogs import Dialogs
from chatserver.live.fanout import Fanout
from chatserver.live.hub import Hub, Page
from chatserver.live.views import dialog_out, lobby_out, released_out
from chatserver.tokens import Tokens
from chatserver.wire import Dialog as DialogOut
from chatserver.wire import Lobby as LobbyOut
from chatserver.wire import Match as MatchOut
from chatserver.wire import Stage, State
from dialogs.record import queries
from dialogs.record.errors import RecordError
from dialogs.record.queries import ArrivalRow, ItemRow
from dialogs.record.store import Record
from dialogs.rules import ArrivalStatus, Release
from dialogs.state import DialogState
from pairing.lobby import Lobby
from pairing.rules import Match, estimate

log = logging.getLogger("duologue.screens")

LOBBY_LOOK_S: Final = 1.0


class Screens:
    """Sends `state` and `lobby` to the pages of this process."""

    def __init__(
        self,
        record: Record,
        hub: Hub,
        fanout: Fanout,
        dialogs: Dialogs,
        lobby: Lobby,
        tokens: Tokens,
        study: Callable[[], StudyConfig],
        door: Door,
        *,
        is_open: Callable[[], bool],
        redis_now: Callable[[], float],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._record = record
        self._hub = hub
        self._fanout = fanout
        self._dialogs = dialogs
        self._lobby = lobby
        self._tokens = tokens
        self._study = study
        self._door = door
        self._is_open = is_open
        self._redis_now = redis_now
        self._now = now
        self._items: dict[str, ItemRow] = {}
        self._waits: list[float] = []
        self._looked_at = -LOBBY_LOOK_S
        self._looking = asyncio.Lock()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        fanout.on("refresh", self._refresh_here)

    # --- Asking for a refresh --------------------------------------------------------------

    def refresh(self, arrival_id: str) -> None:
        """Send a new `state` to the arrival's page, if it is connected to this process."""
        if self._hub.page(arrival_id) is None:
            return
        if arrival_id in self._tasks:
            self._again.add(arrival_id)
            return
        self._tasks[arrival_id] = asyncio.get_running_loop().create_task(self._refresh(arrival_id))

    def refresh_everywhere(self, arrival_ids: Iterable[str]) -> None:
        """The same, in whatever process the pages are connected."""
        ids = list(arrival_ids)
        self._fanout.tell("refresh", ids)
        self._refresh_here(ids)

    def _refresh_here(self, arrival_ids: Iterable[str]) -> None:
        for arrival_id in arrival_ids:
            self.refresh(arrival_id)

    async def _refresh(self, arrival_id: str) -> None:
        try:
            while (page := self._hub.page(arrival_id)) is not None:
                self._again.discard(arrival_id)
                page.behind = True
                await self.show(page)
                page.behind = False
                if arrival_id not in self._again:
                    return
        except (RecordError, RedisError, OSError, TimeoutError) as error:
            # The regular look at the record comes back to this page.
            log.warning(
                "arrival %s was not refreshed: %s", arrival_id, error, extra={"arrival": arrival_id}
            )
        except Exception:
            log.exception("arrival %s was not refreshed", arrival_id, extra={"arrival": arrival_id})
        finally:
            # Not by a callback of the task: who asks before that would wait for nobody.
            del self._tasks[arrival_id]
            self._again.discard(arrival_id)

    # --- The whole state -------------------------------------------------------------------

    async def show(self, page: Page) -> None:
        """Read the record and send the arrival's `state` to this page."""
        async with page.lock:
            row = await self._record.one(queries.arrivals_by_id, page.arrival_id)
            if row is None or self._hub.page(page.arrival_id) is not page:
                return
            await self._follow(page, row)
            if self._hub.page(page.arrival_id) is not page:
                return
            page.status = row.status
            match row.status:
                case ArrivalStatus.ARRIVED | ArrivalStatus.WAITING:
                    state = await self._outside(row)
                case ArrivalStatus.SEATED:
                    state = await self._inside(page, row)
                case ArrivalStatus.RELEASED:
                    state = await self._released(row)
            # No await between the fold's view and this: frames never overtake the state.
            self._hub.emit_to(page.sid, "state", state)
            page.shown = state.stage
            page.welcomed.set()

    async def _follow(self, page: Page, row: ArrivalRow) -> None:
        """Let the page into the dialog of its seat, and out of any other."""
        wanted = row.dialog_id if row.status is ArrivalStatus.SEATED else None
        if page.dialog_id == wanted:
            return
        if page.dialog_id is not None:
            self._dialogs.quit(page.dialog_id)
            page.dialog_id = None
        if wanted is not None:
            await self._dialogs.enter(wanted)
            if self._hub.page(page.arrival_id) is not page:
                # Its socket closed meanwhile, so nobody else lets it out again.
                self._dialogs.quit(wanted)
                return
            page.dialog_id = wanted

    async def _outside(self, row: ArrivalRow) -> State:
        match = await self._lobby.match_of(row.id) if row.status is ArrivalStatus.WAITING else None
        now = self._now()
        if match is not None:
            return State(stage=Stage.MATCHED, seq=0, now=now, match=self._match_out(match, row.id))
        if row.status is ArrivalStatus.ARRIVED:
            return State(stage=Stage.ARRIVED, seq=0, now=now, missed_start=row.missed_start)
        (lobby,) = await self._lobby_out([row])
        return State(stage=Stage.WAITING, seq=0, now=now, lobby=lobby)

    def _match_out(self, match: Match, arrival_id: str) -> MatchOut:
        now = self._now()
        left = match.start_by - self._redis_now()
        return MatchOut(start_by=now + left, started=arrival_id in match.started, now=now)

    async def _inside(self, page: Page, row: ArrivalRow) -> State:
        assert row.dialog_id is not None, "a seated arrival has a dialog"
        dialog, state = await self._dialog_out(row, row.dialog_id)
        return State(stage=Stage.TALKING, seq=state.seq, now=self._now(), dialog=dialog)

    async def _dialog_out(self, row: ArrivalRow, dialog_id: str) -> tuple[DialogOut, DialogState]:
        """The dialog as this arrival may see it, and its whole state, just read."""
        assert row.item_id is not None, "a seat has an item"
        item = await self._item(row.item_id)
        state = await self._dialogs.read(dialog_id)
        seat = state.seat_of(row.id)
        assert seat is not None, "the dialog of an arrival's seat has that seat"
        return dialog_out(state, seat.role, item, self._tokens.picture(row.id)), state

    async def _released(self, row: ArrivalRow) -> State:
        release = await self._record.one(queries.releases_of, row.id)
        assert release is not None, "a released arrival has its release in the same transaction"
        submit = await self._door.submit(row, release)
        another = self._door.begins_anew and self._may_come_again(release)
        dialog, state = None, None
        # Who stayed to the end may read the whole conversation, its last message included.
        if row.dialog_id is not None and release.release is not Release.LEFT:
            dialog, state = await self._dialog_out(row, row.dialog_id)
        elif row.dialog_id is not None:
            state = await self._dialogs.read(row.dialog_id)
        released = released_out(
            self._study(), row, release, submit=submit, another=another, dialog=state
        )
        seq = state.seq if state is not None and dialog is not None else 0
        return State(
            stage=Stage.RELEASED, seq=seq, now=self._now(), dialog=dialog, released=released
        )

    def _may_come_again(self, release: queries.ReleaseRow) -> bool:
        left = self._study().dialogs_per_worker - release.worker_dialogs
        wanted = release.release is not Release.STUDY_FULL and not release.excluded
        return left > 0 and self._is_open() and wanted

    async def _item(self, item_id: str) -> ItemRow:
        if item_id not in self._items:
            item = await self._record.one(queries.items_by_id, item_id)
            assert item is not None, "a dialog's item exists by a foreign key"
            self._items[item_id] = item
        return self._items[item_id]

    # --- The lobby -------------------------------------------------------------------------

    async def _lobby_out(self, rows: list[ArrivalRow]) -> list[LobbyOut]:
        views = await self._lobby.views([r.id for r in rows])
        await self._look_at_waits()
        empty = await self._nothing_left(rows)
        now = self._now()
        return [
            lobby_out(
                self._study(),
                row,
                position=view[0] if (view := views[row.id]) else None,
                estimate_s=estimate(self._waits, row.waited(now)),
                nothing_left=row.id in empty,
                paused=not self._is_open(),
                now=now,
            )
            for row in rows
        ]

    async def _look_at_waits(self) -> None:
        """Recent waits are the same for everybody: asked once a second at most."""
        async with self._looking:
            if time.monotonic() - self._looked_at < LOBBY_LOOK_S:
                return
            self._waits = await self._lobby.waits()
            self._looked_at = time.monotonic()

    async def _nothing_left(self, rows: list[ArrivalRow]) -> set[str]:
        """The arrivals whose workers have seen every item that has a free place.

        Redis only says when there is no need to ask: it may have lost places, and those that
        are held by a match may come back.
        """
        if await self._lobby.free_items() > self._study().dialogs_per_worker:
            return set()
        left = {item for item, _ in await self._record.read(queries.free_places, self._study().id)}
        if not left:
            return {row.id for row in rows}
        history = await self._record.read(queries.histories, {r.worker_id for r in rows})
        return {row.id for row in rows if left <= history[row.worker_id].seen}

    async def nothing_left(self, row: ArrivalRow) -> bool:
        """Whether no item is left that this arrival's worker could talk about."""
        return bool(await self._nothing_left([row]))

    async def tell_lobby(self) -> None:
        """Send every waiting page of this process how the wait goes."""
        ids = [p.arrival_id for p in self._hub.pages() if p.status is ArrivalStatus.WAITING]
        if not ids:
            return
        rows = await self._record.read(queries.arrivals_by_id, ids)
        waiting = [r for r in rows.values() if r.status is ArrivalStatus.WAITING]
        if not waiting:
            return
        for row, lobby in zip(waiting, await self._lobby_out(waiting), strict=True):
            page = self._hub.page(row.id)
            if page is None:
                continue
            # Without a position the arrival is in a match, or not in the lobby yet.
            if (lobby.position is None) is not (page.shown is Stage.MATCHED):
                self.refresh(row.id)
            elif lobby.position is not None:
                self._hub.emit_to(page.sid, "lobby", lobby)

    async def look(self) -> None:
        """Refresh the pages outside a dialog whose arrival has moved on in the record, and those
        that could not be refreshed before."""
        for page in self._hub.pages():
            if page.behind and page.arrival_id not in self._tasks:
                self.refresh(page.arrival_id)
        outside = {
            p.arrival_id: p
            for p in self._hub.pages()
            if p.dialog_id is None and p.status is not ArrivalStatus.RELEASED
        }
        rows = await self._record.read(queries.arrivals_by_id, outside)
        for arrival_id, row in rows.items():
            page = outside[arrival_id]
            if row.status is not page.status or not page.welcomed.is_set():
                self.refresh(arrival_id)
