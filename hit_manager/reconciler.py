"""The reconciler: looks at what is wanted and what is there, and makes the difference go away.

It remembers nothing that counts: all it acts on is in the record or at the recruiter. It can be
killed at any moment and run again, and one process at a time holds its lease.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from dialogs.record import hits as rows
from dialogs.record import queries
from dialogs.record.erasing import erased_in
from dialogs.record.errors import Conflict
from dialogs.record.hits import AssignmentRow, HitRow
from dialogs.record.payments import stopped
from dialogs.record.store import Record
from dialogs.record.stuck import hits_with_unpaid, never_handed_in
from dialogs.record.supply import supply, unposted_relaunches
from dialogs.record.writer import Change
from dialogs.rules import AssignmentStatus, HitState, LedgerState, StudyStatus
from hit_manager.config import HitConfig
from hit_manager.demand import Demand, demand
from hit_manager.ids import hit_of_key, of_another_record
from hit_manager.posting import ROWS_AT_ONCE, Posters, parts
from hit_manager.recruiters.base import (
    HitStatus,
    NotThere,
    Recruiter,
    RecruiterError,
    RemoteHit,
)

log = logging.getLogger("duologue.hits")

FINAL: Final = frozenset(
    {AssignmentStatus.APPROVED, AssignmentStatus.REJECTED, AssignmentStatus.RETURNED}
)
THOROUGH: Final = 20
"""Every so many rounds all assignments of HITs that are not done are looked at."""

LATE_S: Final = 900.0
"""For how long a HIT that was posted, or work that was handed in, may be missing in the
recruiter's list."""

FIRST_PAUSE_S: Final = 60.0
LONGEST_PAUSE_S: Final = 3600.0
"""After a HIT was refused, for how long no more are tried: ever longer, between these."""

_LOST: Final = (
    "the work was never handed in over there, and its time is over: pay it by other means "
    "(`duologue hits pay --mark-paid`) or take it back (`duologue hits cancel`)"
)

LIVE: Final = (HitState.WANTED, HitState.OPEN, HitState.CLOSED)


@dataclass(frozen=True, slots=True)
class Report:
    """What one round did, and what it could not do."""

    wanted: int = 0
    have: int = 0
    posted: int = 0
    grown: int = 0
    expired: int = 0
    strays: int = 0
    disposed: int = 0
    why: str = ""
    problems: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Down:
    """What was taken down. `unseen` HITs had been decided on and are not seen over there; they may
    have been posted a moment ago."""

    expired: int = 0
    strays: int = 0
    unseen: int = 0
    problems: tuple[str, ...] = ()


class Reconciler:
    """Reconciles one study with one recruiter.

    `affordable()` says for how many people the budget still suffices, None for any number;
    `guard()` is what must hold when more is decided to be posted.
    """

    def __init__(
        self,
        record: Record,
        recruiter: Recruiter,
        config: HitConfig,
        *,
        affordable: Callable[[], int | None] = lambda: None,
        guard: Callable[[], tuple[Change, ...]] = tuple,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._record = record
        self._recruiter = recruiter
        self._config = config
        self._affordable = affordable
        self._now = now
        self._rounds = 0
        self._refusals = 0
        self._pause_until = 0.0
        self._posters = Posters(record, recruiter, config, now, guard)

    def go_on_with(self, config: HitConfig) -> None:
        """The study pays or is something else from now on."""
        self._config = config
        self._posters.go_on_with(config)

    async def once(self) -> Report:
        """One round. A recruiter that does not answer ends it; the next round goes on.

        Raises:
            RecordError: the database does not answer.
        """
        if not self._recruiter.capabilities.posts:
            return Report()
        try:
            looked_at = self._now()
            remote = await self._recruiter.hits()
            await self._adopt(remote)
            known = await self._live_hits()
            strays = await self._expire_strays(remote, known)
            await self._tell_foreign(remote)
            await self._look(remote, known)
            await self._hold_lost(looked_at)
            await self._drop_outdated()
            plan, report = await self._plan(looked_at)
            expired = await self._posters.expire(plan.expire)
            posted, grown, why = await self._post(plan)
            disposed = await self._clear_away()
        except RecruiterError as error:
            log.warning("the recruiter %s: %s", self._recruiter.name, error)
            return Report(problems=(*self._posters.told(), str(error)))
        return Report(
            report.wanted,
            report.have,
            posted,
            grown,
            expired,
            strays,
            disposed,
            why,
            self._posters.told(),
        )

    async def take_all_down(self) -> Down:
        """Let nobody new take any HIT: those that are open, those that were only decided on, and
        those that stand over there without our knowing it.

        Raises:
            RecordError, RecruiterError: one of both does not answer.
        """
        remote = await self._recruiter.hits()
        await self._adopt(remote)
        strays = await self._expire_strays(remote, await self._live_hits())
        live = [hit for hit in await self._live_hits() if hit.state is not HitState.CLOSED]
        unseen = sum(hit.remote_id is None for hit in live)
        expired = await self._posters.expire(live)
        return Down(expired - unseen, strays, unseen, self._posters.told())

    async def _post(self, plan: Demand) -> tuple[int, int, str]:
        """Post what is wanted; how many HITs are up, how many have got more seats, and what holds
        back more."""
        if self._now() < self._pause_until:
            return 0, 0, "the recruiter refused a HIT; more are tried a little later"
        if plan.seats:
            waiting = await self._record.read(unposted_relaunches, self._config.study_id)
            await self._posters.want(plan.seats, waiting, await self._live_hits())
        wanted = [hit for hit in await self._live_hits() if _is_wanted(hit)]
        grown, well = await self._posters.post(hit for hit in wanted if hit.remote_id is not None)
        posted = 0
        if well:
            posted, well = await self._posters.post(h for h in wanted if h.remote_id is None)
        if well:
            self._refusals = 0
        else:
            pause_s = min(FIRST_PAUSE_S * 2 ** min(self._refusals, 20), LONGEST_PAUSE_S)
            self._refusals, self._pause_until = self._refusals + 1, self._now() + pause_s
        return posted, grown, plan.why

    async def _live_hits(self) -> list[HitRow]:
        return await self._record.read(rows.hits_in, self._config.study_id, LIVE)

    # --- Looking ---------------------------------------------------------------------------

    async def _adopt(self, remote: Iterable[RemoteHit]) -> None:
        """Know again what was posted by somebody who died before the answer was stored.

        The recruiter would tell by the key, but some remember keys for a day only.
        """
        unplaced = await self._record.read(rows.unplaced_hits, self._config.study_id)
        if not unplaced:
            return
        ours = {hit.id: hit for hit in unplaced}
        record = await self._posters.record_key()
        for there in remote:
            hit = ours.get(hit_of_key(record, there.key) or "")
            if hit is None or there.status is HitStatus.GONE:
                continue
            now = self._now()
            until = now + self._config.lifetime_s
            decision = rows.found(hit.id, there.id, there.free, there.seats, now, until)
            try:
                await self._record.writer.commit(decision)
            except Conflict:
                log.info("HIT %s was found by somebody else meanwhile", hit.id)

    async def _expire_strays(self, remote: Iterable[RemoteHit], known: Iterable[HitRow]) -> int:
        """Take down what an earlier life of this study left standing over there, and what stands
        there twice."""
        record = await self._posters.record_key()
        ours = {hit.id: hit.remote_id for hit in known if hit.state is not HitState.CLOSED}
        strays = [
            hit
            for hit in remote
            if hit.status is HitStatus.OPEN
            and (mine := hit_of_key(record, hit.key)) is not None
            and (mine not in ours or ours[mine] not in (None, hit.id))
        ]
        down = 0
        for hit in strays:
            log.warning("HIT %s stands over there and is not wanted here: expired", hit.id)
            down += await self._posters.take_down(hit.id)
        return down

    async def foreign(self, remote: Iterable[RemoteHit]) -> list[RemoteHit]:
        """HITs that stand open over there for the same study, posted from another record."""
        record = await self._posters.record_key()
        return [
            hit
            for hit in remote
            if hit.status is HitStatus.OPEN and of_another_record(record, hit.key)
        ]

    async def _tell_foreign(self, remote: Iterable[RemoteHit]) -> None:
        # They may be wanted by whoever posted them: only a person can know.
        if self._rounds % THOROUGH == 0 and (found := await self.foreign(remote)):
            study_id = self._config.study_id
            problem = (
                f"HITs of another record of the study {study_id!r} stand open over there "
                f"({len(found)}): give one of both studies another id, or take them down with "
                "`duologue hits expire --foreign`"
            )
            self._posters.problems[problem] = None

    async def take_foreign_down(self) -> int:
        """Take down what stands open for the same study from other records; how many are down.

        Raises:
            RecruiterError: the recruiter does not answer.
        """
        found = await self.foreign(await self._recruiter.hits())
        return sum([await self._posters.take_down(hit.id) for hit in found])

    async def _look(self, remote: Iterable[RemoteHit], known: Iterable[HitRow]) -> None:
        """Take in what the recruiter says; it is right where we differ."""
        # Whatever changes moves a count; a decision by others over there does not.
        thorough = self._rounds % THOROUGH == 0
        self._rounds += 1
        there = {hit.id: hit for hit in remote}
        seen: dict[str, tuple[int, int, int]] = {}
        changed: list[HitRow] = []
        over: list[HitRow] = []
        for hit in known:
            if hit.remote_id is None:
                continue
            now_is = there.get(hit.remote_id)
            if now_is is None and self._now() - (hit.posted_at or 0.0) < LATE_S:
                continue  # Lists over there may be late.
            up = now_is is not None and now_is.status is HitStatus.OPEN
            had = (hit.free, hit.pending, hit.seats_there)
            closes = not up and hit.state is HitState.OPEN
            if closes:
                over.append(hit)
            if now_is is None:
                counts = (0, 0, hit.seats_there)
            else:
                # What would open with it, of one that is closed.
                free = now_is.free if up and hit.state is HitState.OPEN else now_is.room
                counts = (free, now_is.pending, now_is.seats)
            # Being closed takes the free seats out of the row.
            if counts != had or closes:
                seen[hit.id] = counts
            if counts != had or thorough:
                changed.append(hit)
        commit = self._record.writer.commit
        await asyncio.gather(*(commit(rows.hit_becomes(h.id, HitState.CLOSED)) for h in over))
        # In this order: a count that was taken in says that the assignments were, too.
        await self._look_at_assignments(changed)
        for ids in parts(list(seen)):
            part = {hit_id: seen[hit_id] for hit_id in ids}
            await self._record.writer.commit(rows.hits_seen(self._config.study_id, part))

    async def _look_at_assignments(self, hits: Iterable[HitRow]) -> None:
        study_id = self._config.study_id
        told: dict[str, AssignmentRow] = {}
        for hit in hits:
            assert hit.remote_id is not None, "a HIT that was posted has its id"
            try:
                found = await self._recruiter.assignments(hit.remote_id)
            except NotThere:
                log.info("HIT %s is gone over there", hit.id)
                continue
            for each in found:
                told[each.id] = AssignmentRow(
                    each.id, hit.id, each.worker_id, each.status, each.code, each.submitted_at
                )
        erased = await self._record.read(erased_in, study_id, list(told))
        for name, pseudonym in erased.items():
            told[name] = replace(told[name], worker=pseudonym, code=None)
        # By their ids: whatever was thought before, an assignment belongs to one HIT.
        known = await self._record.read(rows.assignments_by_id, study_id, list(told))
        new = [row for row in told.values() if row.id not in known]
        changed = [row for row in told.values() if row.id in known and known[row.id] != row]
        for part in parts(new):
            await self._record.writer.commit(rows.assignments_seen(study_id, part, []))
        for part in parts(changed):
            await self._record.writer.commit(rows.assignments_seen(study_id, [], part))

    async def _hold_lost(self, looked_at: float) -> None:
        """Show payments of people who never handed in and cannot any more: nobody would pay or
        miss them, and the budget would keep their money for ever."""
        came_before = looked_at - self._config.assignment_duration_s - LATE_S
        lost = await self._record.read(
            never_handed_in, self._config.study_id, self._recruiter.name, came_before, ROWS_AT_ONCE
        )
        for payment in lost:
            log.warning(
                "payment %s of arrival %s: never handed in",
                payment.reason,
                payment.arrival_id,
                extra={"arrival": payment.arrival_id},
            )
            with suppress(Conflict):
                await self._record.writer.commit(stopped(payment, LedgerState.HELD, _LOST))

    async def _drop_outdated(self) -> None:
        """Forget HITs that were decided on and not posted when the study paid or was
        something else."""
        wanted = [hit for hit in await self._live_hits() if _is_wanted(hit)]
        await self._posters.expire(hit for hit in wanted if self._posters.is_outdated(hit))

    # --- Planning --------------------------------------------------------------------------

    async def _plan(self, looked_at: float) -> tuple[Demand, Report]:
        study_id = self._config.study_id
        study = await self._record.read(queries.study, study_id)
        people = await self._record.read(supply, study_id, looked_at)
        live = await self._record.read(rows.hits_in, study_id, (HitState.WANTED, HitState.OPEN))
        plan = demand(
            self._config,
            people,
            live,
            running=study is not None and study.status is StudyStatus.OPEN,
            affordable=self._affordable(),
            now=self._now(),
        )
        return plan, Report(wanted=people.wanted, have=people.have)

    async def _clear_away(self) -> int:
        """Dispose of closed HITs in which nothing is left to be done.

        Over there, its assignments go with a HIT, and nobody can be paid for them any more.
        """
        study_id = self._config.study_id
        closed = await self._record.read(rows.hits_in, study_id, (HitState.CLOSED,))
        found = await self._record.read(rows.assignments_of, study_id, [h.id for h in closed])
        unfinished = {a.hit_id for a in found.values() if a.status not in FINAL}
        unfinished |= await self._record.read(hits_with_unpaid, study_id)
        done = [hit for hit in closed if not hit.pending and hit.id not in unfinished]
        return await self._posters.dispose(done)


def _is_wanted(hit: HitRow) -> bool:
    """Whether the recruiter has yet to be asked for it, or for more of its seats."""
    return hit.state is HitState.WANTED or (hit.state is HitState.OPEN and hit.to_grow > 0)
