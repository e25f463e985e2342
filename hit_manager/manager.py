"""The hit manager of a study: carries out what the team wants, reconciles and pays, round after
round, one process at a time."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from types import MappingProxyType

from dialogs.record import leases, queries
from dialogs.record.errors import RecordError
from dialogs.record.hits import hits_in
from dialogs.record.payments import PaymentRow
from dialogs.record.rounds import round_ended
from dialogs.record.store import Record
from dialogs.record.studies import terms_stay
from dialogs.record.writer import Change
from dialogs.rules import HitState
from dialogs.terms import Changes
from hit_manager.config import HitConfig
from hit_manager.counts import Counts, counted
from hit_manager.ledger import price_of_a_person
from hit_manager.outbox import Outbox, Paid
from hit_manager.reconciler import Down, Reconciler, Report
from hit_manager.recruiters.base import Recruiter, RecruiterError
from hit_manager.team_requests import Carried, TeamRequests

log = logging.getLogger("duologue.hits")

LEASE_S = 60.0
"""How long a process that vanished keeps others waiting, in seconds."""

NOTE_S = 60.0
"""How old what is noted of the last round may be, while nothing changes, in seconds."""

SHORTEST_S = 2.0
"""Between two rounds, at least, in seconds."""


@dataclass(frozen=True, slots=True)
class Round:
    """What one round did; `ours` is False where another process is at it."""

    ours: bool = True
    report: Report = field(default_factory=Report)
    paid: Paid = field(default_factory=Paid)
    carried: Carried = field(default_factory=Carried)

    @property
    def problems(self) -> tuple[str, ...]:
        """What was in its way, each sentence once."""
        return tuple(dict.fromkeys((*self.report.problems, *self.paid.problems)))


class HitManager:
    """Recruits and pays for one study through one recruiter.

    `open` before the first round, `close` after the last. It counts in `counts` what it does.
    `config_for` makes the settings anew of what the team has changed while the study runs; `config`
    is for `changes`.
    """

    def __init__(
        self,
        record: Record,
        recruiter: Recruiter,
        config: HitConfig,
        *,
        counts: Counts | None = None,
        changes: Changes = MappingProxyType({}),
        config_for: Callable[[Changes], HitConfig] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.counts = counts or Counts()
        recruiter = counted(recruiter, self.counts)
        self._record = record
        self._recruiter = recruiter
        self._config = config
        self._config_for = config_for or (lambda changes: config)
        self._changes = changes
        self._now = now
        self._holder = secrets.token_hex(8)
        self._ours_until = float("-inf")
        self._one_at_a_time = asyncio.Lock()
        self._affordable: int | None = None
        self._stopping: Callable[[], bool] = lambda: False
        self._was_ours: bool | None = None
        self._noted: tuple[str, ...] | None = None
        self._noted_at = float("-inf")
        self.outbox = Outbox(record, recruiter, config, still=self._still, now=now)
        self.reconciler = Reconciler(
            record,
            recruiter,
            config,
            affordable=lambda: self._affordable,
            guard=self._guard,
            now=now,
        )
        self.requests = TeamRequests(
            record, recruiter, config, self.outbox, still=self._still, now=now
        )

    def _guard(self) -> tuple[Change, ...]:
        """What must hold when more is decided to be posted: nobody else is at it, and the study
        still pays what will be promised."""
        study_id = self._config.study_id
        return (
            leases.held(study_id, leases.HITS, self._holder, self._now()),
            terms_stay(study_id, self._changes),
        )

    async def open(self) -> None:
        """Check the recruiter's credentials.

        Raises:
            RecruiterError: it cannot be used.
        """
        await self._recruiter.open()

    async def close(self) -> None:
        try:
            await self.leave()
        finally:
            await self._recruiter.close()

    async def leave(self) -> None:
        """Let another process go on at once."""
        await leases.give_back(self._record, self._config.study_id, leases.HITS, self._holder)
        self._ours_until = float("-inf")

    async def round(self) -> Round:
        """Carry out what the team wants, reconcile once and pay once, unless another process does.

        Raises:
            RecordError: the database does not answer.
        """
        async with self._lease() as ours:
            if not ours:
                return Round(ours=False)
            # What the team wants is little, and somebody looks whether it is done. Then HITs: what
            # must come down must not wait for payments.
            await self._follow_study()
            carried = await self.requests.once()
            report = await self._reconcile()
            done = Round(True, report, await self.outbox.once(), carried)
            await self._note(done.problems)
            return done

    async def reconcile(self) -> Report | None:
        """Reconcile once, without paying; None where another process is at it.

        Raises:
            RecordError: the database does not answer.
        """
        async with self._lease() as ours:
            if not ours:
                return None
            await self._follow_study()
            return await self._reconcile()

    async def take_all_down(self) -> Down | None:
        """Let nobody new take any HIT; None where another process is at it.

        Raises:
            RecordError, RecruiterError: one of both does not answer.
        """
        async with self._lease() as ours:
            return await self.reconciler.take_all_down() if ours else None

    async def _follow_study(self) -> None:
        """Take over what the team has changed since the last round."""
        study = await self._record.read(queries.study, self._config.study_id)
        changes: Changes = study.changes if study is not None else {}
        if changes == self._changes:
            return
        self._config = self._config_for(changes)
        self._changes = changes
        for part in (self.outbox, self.reconciler, self.requests):
            part.go_on_with(self._config)

    async def _note(self, problems: tuple[str, ...]) -> None:
        """Keep how the round went where the monitor reads it; the same is said once a minute."""
        now = self._now()
        if problems == self._noted and now - self._noted_at < NOTE_S:
            return
        await round_ended(self._record, self._config.study_id, now, problems)
        self._noted, self._noted_at = problems, now

    async def _note_failure(self, error: Exception) -> None:
        # A process that stands by says nothing about the one that is at it.
        if self._was_ours is not False:
            with suppress(RecordError):
                await self._note((str(error) or type(error).__name__,))

    async def _reconcile(self) -> Report:
        self._affordable = await self.people_affordable()
        return await self.reconciler.once()

    async def pay(self, due: Iterable[PaymentRow]) -> Paid | None:
        """Pay these now; None where another process is at it.

        Raises:
            RecordError: the database does not answer.
        """
        async with self._lease() as ours:
            return await self.outbox.pay(due) if ours else None

    @asynccontextmanager
    async def _lease(self) -> AsyncIterator[bool]:
        # The lease keeps other processes away, the lock our own other rounds.
        async with self._one_at_a_time:
            if not await self._take_lease():
                yield False
                return
            keeping = asyncio.ensure_future(self._keep_lease())
            try:
                yield True
            finally:
                keeping.cancel()
                with suppress(asyncio.CancelledError):
                    await keeping

    async def _take_lease(self) -> bool:
        study_id, now = self._config.study_id, self._now()
        ours = await leases.take(self._record, study_id, leases.HITS, self._holder, now, LEASE_S)
        self._ours_until = now + LEASE_S if ours else float("-inf")
        return ours

    async def _keep_lease(self) -> None:
        while True:
            await asyncio.sleep(LEASE_S / 3)
            try:
                await self._take_lease()
            except RecordError as error:
                log.warning("the lease could not be prolonged: %s", error)

    def _still(self) -> bool:
        """Whether to go on: the lease is ours, and nobody wants us to stop. A machine that was
        asleep for long finds that the lease is not."""
        return self._now() < self._ours_until and not self._stopping()

    async def people_affordable(self) -> int | None:
        """For how many more people in all the budget suffices, those inside included."""
        if self._config.budget is None:
            return None
        left = self._config.budget - await self.outbox.committed()
        return max(left, 0) // price_of_a_person(self._config, self._recruiter)

    async def run(self, stop: asyncio.Event, soon: asyncio.Event | None = None) -> None:
        """Round after round until `stop`; what fails is tried again in the next. Whoever sets
        `soon` need not wait for the next as long as usual.

        After `stop` no further payment is begun. May be cancelled: what was sent then may still
        arrive, so others wait until the lease has run out.
        """
        self._stopping = stop.is_set
        opened, soon = False, soon or asyncio.Event()
        try:
            while not stop.is_set():
                soon.clear()
                try:
                    if not opened:
                        await self.open()
                        opened = True
                    self._tell(await self.round())
                except (RecordError, RecruiterError) as error:
                    self.counts.failed += 1
                    log.warning("recruiting waits: %s", error)
                    await self._note_failure(error)
                except Exception as error:
                    # An answer nobody thought of must not end recruiting and paying for good.
                    self.counts.failed += 1
                    log.exception("a round of recruiting failed; the next one tries again")
                    await self._note_failure(error)
                # However often somebody says soon, no more is asked of the recruiter than this.
                shortest_s = min(SHORTEST_S, self._config.interval_s)
                if not await _set_within(shortest_s, stop):
                    await _set_within(self._config.interval_s - shortest_s, stop, soon)
            await self._say_what_stands()
            await self.close()
        except asyncio.CancelledError:
            await self._recruiter.close()
            raise
        except (RecordError, RecruiterError) as error:
            log.info("the recruiter was not left in good order: %s", error)

    async def _say_what_stands(self) -> None:
        study_id = self._config.study_id
        standing = await self._record.read(hits_in, study_id, (HitState.OPEN,))
        if standing:
            log.warning(
                "HITs that stay open: %d. A server that is started again goes on with them; "
                "to end, pause the study and say `duologue hits expire`",
                len(standing),
            )

    def _tell(self, done: Round) -> None:
        if done.ours:
            self.counts.did(done.report, done.paid, self._now())
        else:
            self.counts.left_to_another(self._now())
        if done.ours is not self._was_ours:
            self._was_ours = done.ours
            log.info(
                "this process carries out what is to be done with the recruiter"
                if done.ours
                else "another process works with the recruiter; this one stands by"
            )
        _tell(done)


async def _set_within(seconds: float, *events: asyncio.Event) -> bool:
    """Whether one of the events is set within this time; returns when it is, or at its end."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        done, _ = await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        for each in waiting:
            each.cancel()


def _tell(done: Round) -> None:
    report, paid = done.report, done.paid
    if report.posted or report.grown or report.expired or report.strays:
        log.info(
            "HITs: %d posted, %d given more seats, %d expired, %d strays; "
            "%d people wanted, %d on their way",
            report.posted,
            report.grown,
            report.expired,
            report.strays,
            report.wanted,
            report.have,
        )
    if paid.payments:
        log.info("payments: %d went out, %d cents", paid.payments, paid.cents)
    if done.carried.done or done.carried.failed:
        log.info("requests of the team: %d done, %d failed", done.carried.done, done.carried.failed)
    for problem in done.problems:
        log.warning("recruiting: %s", problem)
