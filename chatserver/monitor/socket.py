"""What reaches the open monitors without being asked for: the namespace `/monitor`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from aiohttp import web
from pydantic import BaseModel, ValidationError
from redis.exceptions import RedisError

from chatserver.engine import Engine, Refusal
from chatserver.live.deadlines import every
from chatserver.live.service import LiveService
from chatserver.monitor.board import Board
from chatserver.monitor.pulse import Often, Pulse
from chatserver.monitor.showing import board_row, entry, standing
from chatserver.monitor.wire import (
    Changed,
    Denied,
    DialogOut,
    Happened,
    Nothing,
    Trouble,
    TypingSeen,
    Watch,
)
from chatserver.wire import is_modest
from dialogs.events import Event
from dialogs.record import queries
from dialogs.record.errors import RecordError
from dialogs.record.marks import Marks, marks
from dialogs.record.queries import ItemRow
from dialogs.rules import Role
from dialogs.state import DialogState

log = logging.getLogger("duologue.monitor")

NAMESPACE: Final = "/monitor"
MOST: Final = 200
"""Monitors that one process holds open."""
FLUSH_S: Final = 0.5
"""How often changes of the board are sent."""
LOOK_S: Final = 1.0
NOW_S: Final = 1.0
MARKS_S: Final = 2.0
CHART_S: Final = 5.0
SLOW_S: Final = 3.0
"""After how long without an answer what is shown counts as old."""
FRESH_S: Final = 120.0
"""How far back the points of the chart are sent again: the step that runs, and the one before."""

_FAILURES: Final = (RecordError, RedisError, OSError, TimeoutError)
_WAITS: Final = Denied(error="The database does not answer.", code=Trouble.TRY_AGAIN)
_UNREADABLE: Final = Denied(error="That cannot be read.", code=Trouble.BAD_REQUEST)


class SignedIn(Protocol):
    """Who is behind a monitor."""

    @property
    def session_id(self) -> str: ...


class Door(Protocol):
    """Who may open a monitor. `on_signed_out` are called with sessions that are over."""

    on_signed_out: list[Callable[[Collection[str]], None]]

    async def by_socket(self, request: web.Request, auth: object) -> SignedIn | None:
        """Who comes, by the handshake and what the page brings along; None for nobody."""

    def follow(self, session_id: str) -> None:
        """A monitor was opened by this session."""

    def unfollow(self, session_id: str) -> None:
        """One of its monitors is gone."""


@dataclass(slots=True, eq=False)
class Monitor:
    """One open monitor. What happens in its dialog while that is being read is kept in `held`."""

    sid: str
    who: SignedIn
    dialog_id: str | None = None
    held: list[tuple[DialogState, Event]] | None = None
    read_upto: int = 0


@dataclass(slots=True)
class _Clocks:
    look: Often = field(default_factory=lambda: Often(LOOK_S))
    now: Often = field(default_factory=lambda: Often(NOW_S))
    marks: Often = field(default_factory=lambda: Often(MARKS_S))
    chart: Often = field(default_factory=lambda: Often(CHART_S))


class MonitorSockets:
    """The edge of the namespace, and the loop that keeps every open monitor true.

    `show` makes the whole view of a dialog.
    """

    unreadable = _UNREADABLE.model_dump(mode="json")

    def __init__(
        self,
        engine: Engine,
        service: LiveService,
        pulse: Pulse,
        door: Door,
        show: Callable[[str], Awaitable[DialogOut]],
    ) -> None:
        study_id = service.config.study.id
        self._engine = engine
        self._service = service
        self._record = service.record
        self._study_id = study_id
        self._pulse = pulse
        self._door = door
        self._show = show
        self._monitors: dict[str, Monitor] = {}
        self._items: dict[str, ItemRow] = {}
        self._marks: Marks = {}
        self._clocks = _Clocks()
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.board = Board(service.record, service.dialogs, service.fanout, study_id)
        self.board.on_event = self._happened
        service.fanout.on("changed", self._changed_elsewhere)
        self._count_opened = service.matching.on_opened
        service.matching.on_opened = self._opened
        door.on_signed_out.append(self._sign_out)
        engine.serve(NAMESPACE, self)

    def __len__(self) -> int:
        return len(self._monitors)

    # --- Coming and going ------------------------------------------------------------------

    async def connect(self, sid: str, auth: Any, request: web.Request) -> Refusal | None:
        """Admit whoever is signed in."""
        if len(self._monitors) >= MOST:
            return _refusal(Trouble.TRY_AGAIN, "Too many monitors are open.")
        try:
            who = await self._door.by_socket(request, auth)
        except _FAILURES:
            return _refusal(Trouble.TRY_AGAIN, "One moment, please.")
        if who is None:
            return _refusal(Trouble.SIGNED_OUT, "Please sign in again.")
        self._monitors[sid] = Monitor(sid, who)
        self._door.follow(who.session_id)
        self._wake.set()
        # After the packet that lets the page in.
        asyncio.get_running_loop().call_soon(self._welcome, sid)
        return None

    async def disconnect(self, sid: str) -> None:
        """A monitor was closed."""
        monitor = self._monitors.pop(sid, None)
        if monitor is not None:
            self._door.unfollow(monitor.who.session_id)

    def _sign_out(self, session_ids: Collection[str]) -> None:
        """These sessions are over: their pages are told, and closed."""
        for monitor in list(self._monitors.values()):
            if monitor.who.session_id in session_ids:
                told = Denied(error="You are signed out.", code=Trouble.SIGNED_OUT)
                self._send([monitor], "stopped", told)
                del self._monitors[monitor.sid]
                self._door.unfollow(monitor.who.session_id)
                # The frame needs a moment to leave before the connection is cut.
                asyncio.get_running_loop().call_later(1.0, self._engine.abort, monitor.sid)

    # --- Requests --------------------------------------------------------------------------

    async def answer(self, sid: str, event: str, data: Any) -> Any:
        """`watch` and `unwatch`; every error becomes an answer."""
        monitor = self._monitors.get(sid)
        if monitor is None:
            return _told("Please sign in again.", Trouble.SIGNED_OUT)
        try:
            match event:
                case "watch" if is_modest(data):
                    return await self._watch(monitor, Watch.model_validate(data).dialog_id)
                case "unwatch" if is_modest(data):
                    Nothing.model_validate(data)
                    monitor.dialog_id = None
                    return None
                case _:
                    return self.unreadable
        except ValidationError:
            return self.unreadable
        except LookupError:
            monitor.dialog_id = None
            return _told("There is no such dialog.", Trouble.NOT_FOUND)
        except _FAILURES as error:
            log.warning("a dialog could not be shown: %r", error)
            return _told("Please try again in a moment.", Trouble.TRY_AGAIN)
        except Exception:
            log.exception("%s of a monitor failed", event[:40])
            return _told("Something went wrong on our side.", Trouble.TRY_AGAIN)

    async def _watch(self, monitor: Monitor, dialog_id: str) -> Any:
        """The whole dialog; what happens from its reading on follows it."""
        monitor.dialog_id, monitor.held = dialog_id, []
        try:
            if self.board.state(dialog_id) is None:
                # It may have been opened since the last look; one that has ended stays unknown.
                await self.board.look()
            shown = await self._show(dialog_id)
            monitor.read_upto = shown.entries[-1].seq if shown.entries else 0
        finally:
            # The answer is on its way before this runs.
            asyncio.get_running_loop().call_soon(self._release, monitor, monitor.held)
        return shown.model_dump(mode="json")

    def _release(self, monitor: Monitor, held: list[tuple[DialogState, Event]]) -> None:
        if monitor.held is not held:
            # It has asked for another dialog meanwhile.
            return
        monitor.held = None
        for state, event in held:
            if state.dialog_id == monitor.dialog_id and state.seq > monitor.read_upto:
                self._send([monitor], "entries", self._happened_out(state, event))

    # --- What happens ----------------------------------------------------------------------

    def _happened(self, state: DialogState, event: Event) -> None:
        watching = self._watching(state.dialog_id)
        if not watching:
            return
        for monitor in watching:
            if monitor.held is not None:
                monitor.held.append((state, event))
        ready = [monitor for monitor in watching if monitor.held is None]
        if ready:
            self._send(ready, "entries", self._happened_out(state, event))

    def _happened_out(self, state: DialogState, event: Event) -> Happened:
        return Happened(
            dialog_id=state.dialog_id,
            now=self._service.now(),
            entries=[entry(state.seq, event)],
            standing=standing(state),
        )

    def _typing(self, dialog_id: str, role: Role, on: bool) -> None:
        watching = [m for m in self._watching(dialog_id) if m.held is None]
        if watching:
            self._send(watching, "typing", TypingSeen(dialog_id=dialog_id, role=role, on=on))

    def _watching(self, dialog_id: str) -> list[Monitor]:
        return [m for m in self._monitors.values() if m.dialog_id == dialog_id]

    def _opened(self) -> None:
        """A dialog was opened in this process: it is on the board with the next changes."""
        self._count_opened()
        self._clocks.look.soon()

    def changed(self, *what: str) -> None:
        """Something was changed by the team: every monitor, here and elsewhere, looks again."""
        self._service.fanout.tell("changed", what)
        self._changed_elsewhere(what)

    def _changed_elsewhere(self, what: Iterable[str]) -> None:
        self._clocks.now.soon()
        for each in what:
            self._send(self._monitors.values(), "changed", Changed.model_validate({"what": each}))

    # --- The loop --------------------------------------------------------------------------

    async def look_after(self, _app: web.Application) -> AsyncIterator[None]:
        """Keep the open monitors true while the application runs."""
        stop = asyncio.Event()
        running = asyncio.ensure_future(self.run(stop))
        yield
        stop.set()
        await running

    async def run(self, stop: asyncio.Event) -> None:
        """Keep the open monitors true until `stop`; sleeps while there are none."""
        stopping = asyncio.ensure_future(stop.wait())
        while not stop.is_set():
            self._wake.clear()
            waking = asyncio.ensure_future(self._wake.wait())
            await asyncio.wait((waking, stopping), return_when=asyncio.FIRST_COMPLETED)
            waking.cancel()
            if not stop.is_set():
                await self._while_watched(stop)

    async def _while_watched(self, stop: asyncio.Event) -> None:
        self._clocks = _Clocks()
        self._service.requests.on_typing = self._typing
        try:
            await self._quietly(self.board.begin)
            while self._monitors and not stop.is_set():
                slow = asyncio.get_running_loop().call_later(SLOW_S, self._slow)
                try:
                    if not await self._quietly(self._beat):
                        self._wait_on()
                finally:
                    slow.cancel()
                await every(FLUSH_S, stop)
        finally:
            self._service.requests.on_typing = None
            self.board.end()
            self._marks = {}

    def _wait_on(self) -> None:
        """Without a word, what is shown would pass for what is so."""
        self._send(self._monitors.values(), "waits", _WAITS)

    def _slow(self) -> None:
        self._wait_on()
        # Only figures say that the page is live again.
        self._clocks.now.soon()

    async def _beat(self) -> None:
        clocks = self._clocks
        await self._if_due(clocks.look, self.board.look)
        await self._flush()
        await self._if_due(clocks.now, self._tell_now)
        await self._if_due(clocks.marks, self._tell_changes)
        await self._if_due(clocks.chart, self._tell_chart)

    async def _if_due(self, often: Often, work: Callable[[], Awaitable[bool | None]]) -> None:
        """Do it if it is due; what finds that something is out of order says False."""
        if often.is_due():
            try:
                in_order = await work()
            except BaseException:
                often.failed()
                raise
            if in_order is False:
                often.failed()
            else:
                often.done()

    async def _quietly(self, work: Callable[[], Awaitable[None]]) -> bool:
        """Whether it could be done."""
        try:
            await work()
            return True
        except _FAILURES as error:
            log.warning("the monitors wait: %r", error)
        except Exception:
            log.exception("the monitors were not told")
        return False

    async def _flush(self) -> None:
        changed, over = self.board.take()
        if changed or over:
            await self._learn_items(changed)
            self._send(self._monitors.values(), "board", self._board_out(changed, over))

    async def _learn_items(self, states: Iterable[DialogState]) -> None:
        unknown = {s.item_id for s in states if s.item_id not in self._items}
        if unknown:
            self._items |= await self._record.read(queries.items_by_id, unknown)

    def _board_out(
        self, states: Iterable[DialogState], over: list[str], *, all_: bool = False
    ) -> dict[str, Any]:
        rows = [
            board_row(state, item, self.board.flags(state.dialog_id))
            for state in states
            if (item := self._items.get(state.item_id)) is not None
        ]
        # In the form of the model `Board`.
        return {"now": self._service.now(), "all": all_, "rows": rows, "over": over}

    def _welcome(self, sid: str) -> None:
        monitor = self._monitors.get(sid)
        if monitor is not None:
            self._clocks.now.soon()
            task = asyncio.ensure_future(self._tell_first(monitor))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _tell_first(self, monitor: Monitor) -> None:
        if not await self._quietly(lambda: self._tell_all(monitor)):
            self._send([monitor], "waits", _WAITS)

    async def _tell_all(self, monitor: Monitor) -> None:
        await self._learn_items(self.board.states())
        # What came up meanwhile is in one of the next changes.
        self._send([monitor], "board", self._board_out(self.board.states(), [], all_=True))
        self._send([monitor], "now", await self._pulse.now())

    async def _tell_now(self) -> bool:
        now = await self._pulse.now()
        self._send(self._monitors.values(), "now", now)
        return now.health.database and now.health.redis

    async def _tell_chart(self) -> None:
        since = self._service.now() - FRESH_S
        self._send(self._monitors.values(), "chart", await self._pulse.chart(since))

    async def _tell_changes(self) -> None:
        found = await self._record.read(marks, self._study_id)
        for name, mark in found.items():
            if self._marks and self._marks.get(name) != mark:
                self._send(
                    self._monitors.values(), "changed", Changed.model_validate({"what": name})
                )
        self._marks = found

    def _send(self, to: Iterable[Monitor], event: str, payload: BaseModel | dict[str, Any]) -> None:
        sids = [monitor.sid for monitor in to]
        if not sids:
            return
        if isinstance(payload, BaseModel):
            payload = payload.model_dump(mode="json")
        self._engine.send(sids, event, payload, NAMESPACE)


def _told(error: str, code: Trouble) -> dict[str, Any]:
    return Denied(error=error, code=code).model_dump(mode="json")


def _refusal(code: Trouble, text: str) -> Refusal:
    return Refusal(text, {"error": text, "code": code.value})
