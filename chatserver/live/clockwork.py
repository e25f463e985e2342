"""Serves deadlines when they are due, and makes sure that none is missing.

Any process serves any deadline. Nothing is fired until this process has been ready for one
grace period, nor while the clocks disagree.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

from redis.exceptions import RedisError

from chatserver.config import StudyConfig
from chatserver.live.deadlines import ArrivalDeadline, Claim, Deadlines, Due, every
from chatserver.live.dialogs import Busy, Dialogs
from chatserver.live.health import Health
from chatserver.live.matching import Matching
from chatserver.tokens import new_code
from dialogs.dialog import DeadlineKind, Expire, deadlines
from dialogs.record import queries
from dialogs.record.decisions import release_unseated
from dialogs.record.errors import Conflict, RecordError
from dialogs.record.store import Record
from dialogs.rules import ArrivalStatus, Release

log = logging.getLogger("duologue.clockwork")

_LOOK_S: Final = 0.25
_FAILURES: Final = (RedisError, RecordError, OSError, TimeoutError)


class Clockwork:
    """The deadline and sweep loops of a process. `on_release(arrival_id)` refreshes a page."""

    def __init__(
        self,
        record: Record,
        dialogs: Dialogs,
        matching: Matching,
        deadlines: Deadlines,
        health: Health,
        study: Callable[[], StudyConfig],
        *,
        sweep_s: float,
        on_release: Callable[[str], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._record = record
        self._dialogs = dialogs
        self._matching = matching
        self._deadlines = deadlines
        self._health = health
        self._study = study
        self._sweep_s = sweep_s
        self._on_release = on_release
        self._now = now
        self._sweep_now = asyncio.Event()

    # --- Firing ----------------------------------------------------------------------------

    async def run(self, stop: asyncio.Event) -> None:
        """Serve what is due until `stop`."""
        while await every(_LOOK_S, stop):
            if self._health.ready_for() < self._study().rules.grace_s:
                continue
            try:
                await self._serve_due()
            except _FAILURES as error:
                log.warning("deadlines wait: %s", error)

    async def _serve_due(self) -> None:
        if not self._health.in_step(await self._deadlines.redis_time()):
            return
        claims = await self._deadlines.claim()
        if claims:
            await asyncio.gather(*(self._serve(claim) for claim in claims))

    async def _serve(self, claim: Claim) -> None:
        try:
            if await self._stretched(claim.due):
                return
            await self._fire(claim.due)
            await self._deadlines.done(claim)
        except (Busy, *_FAILURES) as error:
            log.info("%s comes again: %r", claim.due, error, extra=claim.due.named())
        except Exception:
            log.exception("%s could not be served", claim.due, extra=claim.due.named())

    async def _fire(self, due: Due) -> None:
        if isinstance(due.kind, ArrivalDeadline):
            await self._expire(due.subject)
            return
        try:
            await self._dialogs.carry_out(due.subject, Expire(due.kind, due.role, due.seq))
        except LookupError:
            log.info("%s is of a dialog that does not exist", due, extra=due.named())

    async def _stretched(self, due: Due) -> bool:
        """A person who types gets the turn's time again, up to the study's number of times."""
        if due.kind is not DeadlineKind.TURN or due.role is None:
            return False
        if not await self._deadlines.was_typing(due.subject, due.role, due.seq):
            return False
        # By the rules that the dialog began with; the study's may have changed since.
        state = self._dialogs.peek(due.subject)
        state = state or await self._record.one(queries.dialogs_by_id, due.subject)
        if state is None or due.stretch + 1 >= state.rules.turn_stretch:
            return False
        self._deadlines.disarm(due)
        longer = Due(due.kind, due.subject, due.role, due.seq, due.stretch + 1)
        self._deadlines.arm(longer, state.rules.turn_limit_s)
        return True

    async def _expire(self, arrival_id: str) -> None:
        """The time for the assignment is over for somebody who holds no seat."""
        row = await self._record.one(queries.arrivals_by_id, arrival_id)
        if row is None or row.status not in (ArrivalStatus.ARRIVED, ArrivalStatus.WAITING):
            return
        now = self._now()
        pay = self._study().rules.pay
        # Who could have handed in at the lobby limit and did not has hardly been there since.
        waited = min(row.waited(now), self._study().lobby_limit_s)
        release = Release.NEVER_PAIRED if waited else Release.RETURNED
        decision = release_unseated(
            arrival_id, row.status, release, pay.for_waiting(waited), pay.currency, now, new_code
        )
        try:
            await self._record.writer.commit(decision)
        except Conflict:
            log.info("arrival %s has moved on", arrival_id, extra={"arrival": arrival_id})
            return
        await self._matching.forget(arrival_id)
        self._on_release(arrival_id)

    # --- Sweeping --------------------------------------------------------------------------

    def sweep_soon(self) -> None:
        """Redis may have lost something: look now."""
        self._sweep_now.set()

    async def sweep(self, stop: asyncio.Event) -> None:
        """Arm what is missing, now and every `sweep_s`, until `stop`."""
        self._sweep_now.set()
        due = time.monotonic()
        while await every(_LOOK_S, stop):
            if not self._sweep_now.is_set() and time.monotonic() < due:
                continue
            self._sweep_now.clear()
            due = time.monotonic() + self._sweep_s
            try:
                await self.sweep_once()
            except _FAILURES as error:
                log.warning("the sweep waits: %s", error)
                self._sweep_now.set()

    async def sweep_once(self) -> None:
        """Arm every missing deadline at full length, and correct the free places."""
        live = await self._record.read(queries.live_dialogs, self._study().id)
        known = {d: state for d in live if (state := self._dialogs.peek(d)) is not None}
        others = [dialog_id for dialog_id in live if dialog_id not in known]
        read = await self._record.read(queries.dialogs_by_id, others)
        for dialog_id, state in (known | read).items():
            for deadline in deadlines(state):
                delay_s = self._deadlines.full_length(deadline)
                self._deadlines.arm_missing(Due.of(dialog_id, deadline), delay_s)
        outside = (ArrivalStatus.ARRIVED, ArrivalStatus.WAITING)
        for row in await self._record.read(queries.open_arrivals, self._study().id, outside):
            expiry = Due(ArrivalDeadline.EXPIRY, row.id)
            self._deadlines.arm_missing(expiry, self._study().assignment_duration_s)
        await self._matching.sync_places()
