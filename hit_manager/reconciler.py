"""The reconciler: looks at what is wanted and what is there, and makes the difference go away.

It remembers nothing that counts: all it acts on is in the record or at the recruiter. It can be
killed at any moment and run again, and one process at a time holds its lease.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from dialogs.record import hits as rows
from dialogs.record import queries
from dialogs.record.hits import AssignmentRow, HitRow
from dialogs.record.store import Record
from dialogs.rules import AssignmentStatus, HitState, StudyStatus
from hit_manager.config import HitConfig
from hit_manager.demand import Demand, demand
from hit_manager.ids import hit_of_key
from hit_manager.posting import Posters
from hit_manager.recruiters.base import HitStatus, Recruiter, RecruiterError, RemoteHit

log = logging.getLogger("duologue.hits")

FINAL: Final = frozenset(
    {AssignmentStatus.APPROVED, AssignmentStatus.REJECTED, AssignmentStatus.RETURNED}
)
THOROUGH: Final = 20
"""Every so many rounds all assignments of HITs that are not done are looked at."""

LIVE: Final = (HitState.WANTED, HitState.OPEN, HitState.CLOSED)


@dataclass(frozen=True, slots=True)
class Report:
    """What one round did, and what it could not do."""

    wanted: int = 0
    have: int = 0
    posted: int = 0
    expired: int = 0
    strays: int = 0
    disposed: int = 0
    why: str = ""
    problems: tuple[str, ...] = field(default=())


class Reconciler:
    """Reconciles one study with one recruiter.

    `affordable()` says for how many people the budget still suffices, None for any number.
    """

    def __init__(
        self,
        record: Record,
        recruiter: Recruiter,
        config: HitConfig,
        *,
        affordable: Callable[[], int | None] = lambda: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._record = record
        self._recruiter = recruiter
        self._config = config
        self._affordable = affordable
        self._now = now
        self._rounds = 0
        self._posters = Posters(record, recruiter, config, now)

    async def once(self) -> Report:
        """One round. A recruiter that does not answer ends it; the next round goes on.

        Raises:
            RecordError: the database does not answer.
        """
        if not self._recruiter.capabilities.posts:
            return Report()
        try:
            remote = await self._recruiter.hits()
            known = await self._live_hits()
            strays = await self._expire_strays(remote, known)
            await self._look(remote, known)
            plan, report = await self._plan()
            expired = await self._posters.expire(plan.expire)
            if plan.seats:
                waiting = await self._record.read(rows.unposted_relaunches, self._config.study_id)
                await self._posters.want(plan.seats, waiting)
            posted = await self._posters.post(
                hit for hit in await self._live_hits() if hit.state is HitState.WANTED
            )
            disposed = await self._clear_away()
        except RecruiterError as error:
            log.warning("the recruiter %s: %s", self._recruiter.name, error)
            return Report(problems=(str(error),))
        return Report(report.wanted, report.have, posted, expired, strays, disposed, plan.why, ())

    async def _live_hits(self) -> list[HitRow]:
        return await self._record.read(rows.hits_in, self._config.study_id, LIVE)

    # --- Looking ---------------------------------------------------------------------------

    async def _expire_strays(self, remote: Iterable[RemoteHit], known: Iterable[HitRow]) -> int:
        """Take down what an earlier life of this study left standing over there."""
        ours = {hit.id for hit in known if hit.state is not HitState.CLOSED}
        strays = [
            hit
            for hit in remote
            if hit.status is HitStatus.OPEN
            and (mine := hit_of_key(self._config.study_id, hit.key)) is not None
            and mine not in ours
        ]
        for hit in strays:
            log.warning("HIT %s stands over there and is not wanted here: expired", hit.id)
            await self._recruiter.expire(hit.id)
        return len(strays)

    async def _look(self, remote: Iterable[RemoteHit], known: Iterable[HitRow]) -> None:
        """Take in what the recruiter says; it is right where we differ."""
        # Whatever changes moves a count; a decision by others over there does not.
        thorough = self._rounds % THOROUGH == 0
        self._rounds += 1
        there = {hit.id: hit for hit in remote}
        seen: dict[str, tuple[int, int]] = {}
        changed: list[HitRow] = []
        for hit in known:
            if hit.remote_id is None or hit.state is HitState.WANTED:
                continue
            now_is = there.get(hit.remote_id)
            counts = (now_is.free, now_is.pending) if now_is is not None else (0, 0)
            if counts != (hit.free, hit.pending):
                seen[hit.id] = counts
            if counts != (hit.free, hit.pending) or thorough:
                changed.append(hit)
            over = now_is is None or now_is.status is not HitStatus.OPEN
            if over and hit.state is HitState.OPEN:
                await self._record.writer.commit(rows.hit_becomes(hit.id, HitState.CLOSED))
        # In this order: a count that was taken in says that the assignments were, too.
        await self._look_at_assignments(changed)
        if seen:
            await self._record.writer.commit(rows.hits_seen(self._config.study_id, seen))

    async def _look_at_assignments(self, hits: Iterable[HitRow]) -> None:
        hits = list(hits)
        study_id = self._config.study_id
        known = await self._record.read(rows.assignments_of, study_id, [h.id for h in hits])
        new: list[AssignmentRow] = []
        changed: list[AssignmentRow] = []
        for hit in hits:
            assert hit.remote_id is not None, "a HIT that was posted has its id"
            for told in await self._recruiter.assignments(hit.remote_id):
                row = AssignmentRow(
                    told.id, hit.id, told.worker_id, told.status, told.code, told.submitted_at
                )
                if told.id not in known:
                    new.append(row)
                elif known[told.id] != row:
                    changed.append(row)
        if new or changed:
            decision = rows.assignments_seen(study_id, new, changed)
            await self._record.writer.commit(decision)

    # --- Planning --------------------------------------------------------------------------

    async def _plan(self) -> tuple[Demand, Report]:
        study_id = self._config.study_id
        study = await self._record.read(queries.study, study_id)
        supply = await self._record.read(rows.supply, study_id)
        live = await self._record.read(rows.hits_in, study_id, (HitState.WANTED, HitState.OPEN))
        plan = demand(
            self._config,
            supply,
            live,
            running=study is not None and study.status is StudyStatus.OPEN,
            affordable=self._affordable(),
            now=self._now(),
        )
        return plan, Report(wanted=supply.wanted, have=supply.have)

    async def _clear_away(self) -> int:
        """Dispose of closed HITs in which nothing is left to be done."""
        study_id = self._config.study_id
        closed = await self._record.read(rows.hits_in, study_id, (HitState.CLOSED,))
        found = await self._record.read(rows.assignments_of, study_id, [h.id for h in closed])
        unfinished = {a.hit_id for a in found.values() if a.status not in FINAL}
        done = [hit for hit in closed if not hit.pending and hit.id not in unfinished]
        return await self._posters.dispose(done)
