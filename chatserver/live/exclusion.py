"""Excluding a worker while the study runs: who waits goes home paid, who talks finishes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from redis.exceptions import RedisError

from chatserver.config import StudyConfig
from chatserver.live.matching import Matching
from chatserver.tokens import new_code
from dialogs.record import queries
from dialogs.record.decisions import release_unseated
from dialogs.record.errors import Conflict
from dialogs.record.excluding import excluded, excluded_outside
from dialogs.record.queries import ArrivalRow
from dialogs.record.store import Record
from dialogs.record.writer import Decision, together
from dialogs.rules import ArrivalStatus, Release

log = logging.getLogger("duologue.live")

_OUTSIDE: Final = (ArrivalStatus.ARRIVED, ArrivalStatus.WAITING)


class Exclusion:
    """Excludes workers. `on_release(arrival_id)` shows their pages that it is over."""

    def __init__(
        self,
        record: Record,
        matching: Matching,
        study: Callable[[], StudyConfig],
        *,
        on_release: Callable[[str], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._record = record
        self._matching = matching
        self._study = study
        self._on_release = on_release
        self._now = now

    async def exclude(self, worker_id: str, why: str, *with_it: Decision) -> bool:
        """Exclude a worker, together with what else is to be written down, and release them if
        they hold no seat: from now on they get none.

        Returns False if they are excluded already.
        """
        try:
            await self._record.writer.commit(
                together(excluded(worker_id, why, self._now()), *with_it)
            )
        except Conflict:
            return False
        await self.look()
        return True

    async def look(self) -> None:
        """Release whoever is excluded and holds no seat: who waited, who came in at that moment,
        and who went back to the lobby after a dialog."""
        for arrival_id in await self._record.read(excluded_outside, self._study().id):
            row = await self._record.one(queries.arrivals_by_id, arrival_id)
            if row is None or row.status not in _OUTSIDE:
                continue
            try:
                await self._record.writer.commit(self._screened_out(row))
            except Conflict:
                log.info("arrival %s has moved on", arrival_id)
                continue
            await self._tell(row)

    def _screened_out(self, row: ArrivalRow) -> Decision:
        """It ends, paid for the wait so far as for any other that led to nobody."""
        now, pay = self._now(), self._study().rules.pay
        cents = pay.for_waiting(row.waited(now))
        return release_unseated(
            row.id, row.status, Release.SCREENED_OUT, cents, pay.currency, now, new_code
        )

    async def _tell(self, row: ArrivalRow) -> None:
        with suppress(RedisError, OSError, TimeoutError):
            # A partner in a match learns it when the match runs out.
            await self._matching.forget(row.id)
        self._on_release(row.id)
