"""The live service: one server process's parts put together, its loops, and its pages."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from chatserver.config import SameAddress, ServerConfig, StudyConfig
from chatserver.doors import Door, LinkDoor
from chatserver.ending import end
from chatserver.live.arrivals import Arrivals
from chatserver.live.clockwork import Clockwork
from chatserver.live.deadlines import Deadlines, every
from chatserver.live.dialogs import Dialogs
from chatserver.live.exclusion import Exclusion
from chatserver.live.fanout import Fanout
from chatserver.live.flagging import Flagging
from chatserver.live.health import Health
from chatserver.live.hub import Hub, Page, Wire
from chatserver.live.matching import Matching
from chatserver.live.presence import Presence
from chatserver.live.processes import Processes
from chatserver.live.requests import Requests
from chatserver.live.screens import Screens
from chatserver.live.steering import Steering
from chatserver.tally import Tally
from chatserver.tokens import Tokens, new_id
from dialogs.record import leases, queries
from dialogs.record.errors import RecordError
from dialogs.record.store import Record
from dialogs.rules import ArrivalStatus, StudyStatus
from dialogs.terms import Changes
from pairing.keys import Keys
from pairing.lobby import Lobby

log = logging.getLogger("duologue.live")

WELCOME_S: Final = 10.0
AGAIN_S: Final = 1.0
"""Seconds until a loop that failed begins again."""


class LiveService:
    """Everything behind the edge of one server process.

    `redis` is for commands, `listener` for the subscription (no read time-out); `door` is that
    of the study's recruiter, by default a plain link's.
    """

    def __init__(
        self,
        config: ServerConfig,
        record: Record,
        redis: Redis,
        listener: Redis,
        *,
        wire: Wire,
        door: Door | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        study = config.study
        keys = Keys(study.id)
        self.config = config
        self.record = record
        self.now = now
        self._redis = redis
        self.wire = wire
        self._status = StudyStatus.OPEN
        self._study = study
        self._changes: Changes = {}
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[Any]] = []
        self._loose: set[asyncio.Task[Any]] = set()
        self.tally = Tally()
        self.tokens = Tokens(config.secret_key, study.id)
        self.door = door or LinkDoor(study, guests=config.guests)
        self.hub = Hub(wire)
        self.process_id = new_id("p")
        self.fanout = Fanout(redis, listener, keys.channel, self.process_id)
        self.processes = Processes(
            redis, keys, self.process_id, pages=lambda: len(self.hub), now=now
        )
        self.deadlines = Deadlines(
            redis, keys, stretches=study.rules.turn_stretch, presence_s=config.presence_s
        )
        self.health = Health(
            self._ask_database,
            self.deadlines.probe,
            on_jump=self._on_jump,
            silence_s=config.no_outage_s,
        )
        self.dialogs = Dialogs(record, self.hub, self.fanout, self.deadlines, now=now)
        self.lobby = Lobby(
            redis,
            study.id,
            fresh_s=config.fresh_s,
            start_s=study.start_s,
            same_address_allowed=study.same_address is not SameAddress.REFUSE,
        )
        self.matching = Matching(
            record,
            self.lobby,
            self.deadlines,
            self.study,
            is_open=self.is_open,
            ready_for=self.health.ready_for,
            now=now,
        )
        self.screens = Screens(
            record,
            self.hub,
            self.fanout,
            self.dialogs,
            self.lobby,
            self.tokens,
            self.study,
            self.door,
            is_open=self.is_open,
            redis_now=self.health.redis_now,
            now=now,
        )
        self.presence = Presence(
            self.hub,
            self.dialogs,
            self.lobby,
            self.matching,
            self.deadlines,
            wire=wire,
            heartbeat_s=config.heartbeat_s,
            closed_s=config.closed_s,
        )
        self.arrivals = Arrivals(
            record,
            self.deadlines,
            self.tokens,
            self.study,
            self.door,
            is_open=self.is_open,
            now=now,
        )
        self.clockwork = Clockwork(
            record,
            self.dialogs,
            self.matching,
            self.deadlines,
            self.health,
            self.study,
            sweep_s=config.sweep_s,
            on_release=lambda arrival_id: self.screens.refresh_everywhere([arrival_id]),
            now=now,
        )
        self.requests = Requests(
            record,
            self.hub,
            self.fanout,
            self.dialogs,
            self.matching,
            self.screens,
            self.presence,
            self.deadlines,
            self.study,
            is_open=self.is_open,
            now=now,
        )
        self.steering = Steering(record, self.dialogs, study, self.door)
        self.arrivals.on_arrival = self.tally.arrived
        self.matching.on_opened = self.tally.dialog_opened
        self.dialogs.on_turned = self.tally.turned
        self.exclusion = Exclusion(
            record,
            self.matching,
            self.study,
            on_release=lambda arrival_id: self.screens.refresh_everywhere([arrival_id]),
            now=now,
        )
        self.flagging = Flagging(record, study.id, now=now)
        self.dialogs.on_refresh = self.screens.refresh
        self.dialogs.on_place = lambda item, place: self._later(self._offer(item, place))
        self.dialogs.on_waiting = lambda ids: self._later(self._join(ids))
        self.matching.on_change = self.screens.refresh_everywhere
        self.matching.on_refused = self.look_at_study
        self.fanout.on("attached", self._attached_elsewhere)
        self.fanout.on_up = self.clockwork.sweep_soon

    # --- Life ------------------------------------------------------------------------------

    def is_open(self) -> bool:
        """Whether the study takes new people, as the record said last."""
        return self._status is StudyStatus.OPEN

    def study(self) -> StudyConfig:
        """The study as it runs now: by its file, and what the team has changed since."""
        return self._study

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    async def start(self) -> None:
        """Begin to serve. The record must be open."""
        await self.health.check()
        await self._quietly(self._look_once())
        for work in (
            self.fanout.send,
            self.fanout.listen,
            self.deadlines.send,
            partial(self.matching.run, self._stop),
            partial(self.presence.run, self._stop),
            partial(self.clockwork.run, self._stop),
            partial(self.clockwork.sweep, self._stop),
            partial(self.flagging.run, self._stop),
            self._watch_health,
            self._look_at_record,
            self._tell_lobbies,
        ):
            self._tasks.append(asyncio.get_running_loop().create_task(self._kept(work)))

    async def stop(self) -> None:
        """End the loops. Takes nobody's seat: the next process goes on where this one stopped."""
        self._stop.set()
        with_end = asyncio.gather(
            self.fanout.flushed(), self.deadlines.flushed(), self.processes.leave()
        )
        try:
            async with asyncio.timeout(1.0):
                await with_end
        except (RedisError, OSError, TimeoutError):
            log.warning("Redis did not take the last notes; the record has them")
        await end((*self._tasks, *self._loose))

    async def _kept(self, work: Callable[[], Awaitable[None]]) -> None:
        """Keep a loop going: whatever ends it, it begins again."""
        while not self.stopping:
            try:
                return await work()
            except Exception:
                log.exception("a loop of the live service has ended; it begins again")
                await asyncio.sleep(AGAIN_S)

    def _later(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(self._quietly(work))
        self._loose.add(task)
        task.add_done_callback(self._loose.discard)

    async def _quietly(self, work: Awaitable[None]) -> None:
        try:
            await work
        except (RedisError, RecordError, OSError, TimeoutError) as error:
            # The sweep and the heartbeats make good for it.
            log.warning("put off: %r", error)

    async def _offer(self, item_id: str, place: int) -> None:
        await self.lobby.offer([(item_id, place)])
        self.matching.look()

    def take_away(self, item_id: str, place: int) -> None:
        """A place that was free is not after all."""
        self._later(self.lobby.withdraw([(item_id, place)]))

    async def _join(self, arrival_ids: Iterable[str]) -> None:
        await self.matching.join(arrival_ids)
        self.screens.refresh_everywhere(arrival_ids)

    async def _ask_database(self) -> None:
        """Read and write: a database whose disk is full still answers reads."""
        await self.record.read(queries.study, self.config.study.id)
        study_id, now = self.config.study.id, self.now()
        await leases.say_alive(self.record, study_id, self.process_id, now)

    async def _on_jump(self) -> None:
        await self.deadlines.forget_all()
        self.clockwork.sweep_soon()

    async def _watch_health(self) -> None:
        closed = False
        while await every(self.config.health_s, self._stop):
            if await self.health.check():
                closed = False
                await self._quietly(self._say_alive())
            elif self.health.unready_for() > self.config.outage_s and not closed:
                closed = True
                log.warning("not ready for %s s: pages go elsewhere", self.config.outage_s)
                await self.wire.close_all("not ready")

    async def _say_alive(self) -> None:
        await self.deadlines.alive(self.config.no_outage_s)
        await self.processes.say()

    async def _look_at_record(self) -> None:
        while await every(self.config.poll_s, self._stop):
            await self._quietly(self._look_once())

    async def _look_once(self) -> None:
        await self.look_at_study()
        await self.exclusion.look()
        await self.dialogs.catch_up()
        await self.screens.look()

    async def look_at_study(self) -> None:
        """Take over what the record says of the study: whether it is open, and what was changed."""
        study = await self.record.read(queries.study, self.config.study.id)
        if study is None:
            return
        if study.changes != self._changes:
            self._take_over(study.changes)
        if study.status is not self._status:
            self._status = study.status
            log.info("the study is %s", study.status)
            self.matching.look()

    def _take_over(self, changes: Changes) -> None:
        """What the team has changed holds from now on, for dialogs to come."""
        self._changes = changes
        try:
            self._study = self.config.study.changed(changes)
        except ValueError as error:
            log.error("what was changed does not fit to the study file: %s", error)
        else:
            log.info("the study was changed: %s", dict(changes) or "nothing any more")

    async def _tell_lobbies(self) -> None:
        while await every(self.config.lobby_s, self._stop):
            await self._quietly(self.screens.tell_lobby())

    # --- Pages come and go -----------------------------------------------------------------

    async def attach(self, sid: str, arrival_id: str) -> Page | None:
        """A socket joins for an arrival. Returns the page of this process that it replaces.

        Raises:
            LookupError: there is no such arrival.
        """
        row = await self.record.one(queries.arrivals_by_id, arrival_id)
        if row is None or row.study_id != self.config.study.id:
            raise LookupError(arrival_id)
        page = Page(sid, arrival_id, row.worker_id, attached_at=self.now(), status=row.status)
        old = self.hub.attach(page)
        if old is not None and old.dialog_id is not None:
            self.dialogs.quit(old.dialog_id)
        self.fanout.tell("attached", [arrival_id, page.attached_at])
        self._later(self._welcome(page))
        return old

    async def _welcome(self, page: Page) -> None:
        if page.status is ArrivalStatus.WAITING:
            # Joining counts as a heartbeat; Redis may have lost this arrival.
            await self._quietly(self.matching.join([page.arrival_id]))
        self.screens.refresh(page.arrival_id)
        async with asyncio.timeout(WELCOME_S):
            await page.welcomed.wait()
        if page.dialog_id is not None and self.hub.page(page.arrival_id) is page:
            self.presence.is_here(page)

    def detach(self, sid: str) -> None:
        """A socket has closed; it counts only if it was the arrival's current one."""
        page = self.hub.detach(sid)
        if page is None:
            return
        # Nobody need wait any longer for its first screen.
        page.welcomed.set()
        if not self.stopping:
            self.presence.closed(page)
        if page.dialog_id is not None:
            self.dialogs.quit(page.dialog_id)

    def _attached_elsewhere(self, note: Any) -> None:
        arrival_id, attached_at = note
        page = self.hub.page(arrival_id)
        if page is None or page.attached_at >= attached_at:
            return
        # Its socket counts no more: that it closes says nothing about the person.
        self.hub.detach(page.sid)
        if page.dialog_id is not None:
            self.dialogs.quit(page.dialog_id)
        self.on_replaced(page)

    on_replaced: Callable[[Page], None] = staticmethod(lambda page: None)
    """Set by the edge: tell this page that another one took over, and close it."""

    on_wish: Callable[[], None] = staticmethod(lambda: None)
    """Set by the composition root, where a hit manager runs beside this: the team has written down
    what it wants of the recruiter, and somebody looks whether it is done."""
