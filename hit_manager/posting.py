"""Putting HITs up and taking them down, so that doing any of it twice does no harm.

What is wanted is a row before the recruiter is asked, and the recruiter is asked with a key that
is derived from the row. Whoever dies in between leaves a row that the next one goes on with.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from dialogs.record import queries
from dialogs.record.errors import Conflict
from dialogs.record.hits import HitRow, grown, hit_becomes, posted
from dialogs.record.store import Record
from dialogs.record.wanted import MoreSeats, NewHit, RelaunchSeats, wanted_hits
from dialogs.record.writer import Change, Decision
from dialogs.rules import HitState
from hit_manager.config import HitConfig
from hit_manager.demand import Share, apart, together
from hit_manager.ids import growth_key, new_hit_id, new_token, posting_key, record_key
from hit_manager.recruiters.base import (
    HitStatus,
    NoFunds,
    NotThere,
    NotYet,
    Posting,
    Recruiter,
    RecruiterError,
    Refused,
    RemoteHit,
)

log = logging.getLogger("duologue.hits")

ROWS_AT_ONCE: Final = 500
"""Rows of one decision: more would keep the database from everybody else for too long."""

AT_A_TIME: Final = 4
"""Calls to a recruiter that are under way together; more would be throttled."""

T = TypeVar("T")


def parts(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """The rows in parts that one decision can hold."""
    for start in range(0, len(rows), ROWS_AT_ONCE):
        yield rows[start : start + ROWS_AT_ONCE]


class Posters:
    """Posts and expires the HITs of a study through one recruiter.

    One HIT that the recruiter says no to keeps no other from being expired; `problems` tells.
    `guard()` is made part of every decision to post more.
    """

    def __init__(
        self,
        record: Record,
        recruiter: Recruiter,
        config: HitConfig,
        now: Callable[[], float],
        guard: Callable[[], tuple[Change, ...]] = tuple,
    ) -> None:
        self._record = record
        self._recruiter = recruiter
        self._config = config
        self._now = now
        self._guard = guard
        self._refused = False
        self._record_key = ""
        self._terms = recruiter.terms(self._posting_at(config.url))
        self.problems: dict[str, None] = {}

    def go_on_with(self, config: HitConfig) -> None:
        """The study pays or is something else from now on: what was decided before is outdated."""
        self._config = config
        self._terms = self._recruiter.terms(self._posting_at(config.url))

    def told(self) -> tuple[str, ...]:
        """The problems since this was asked last."""
        problems, self.problems = tuple(self.problems), {}
        return problems

    async def record_key(self) -> str:
        """What the keys of our postings begin with."""
        if not self._record_key:
            study = await self._record.read(queries.study, self._config.study_id)
            assert study is not None, "who posts for a study has its record"
            self._record_key = record_key(study.id, study.created_at)
        return self._record_key

    async def want(
        self, seats: int, relaunches: Sequence[str], hits: Iterable[HitRow] = ()
    ) -> None:
        """Decide on `seats` seats in all: in new HITs, or, where HITs grow, in those of `hits`
        that can have more.

        The oldest relaunches that no HIT is there for come first, two seats each.

        Raises:
            Conflict: the guard does not hold any more, or a HIT has changed; nothing was decided.
        """
        config = self._config
        most = min(config.seats, self._recruiter.capabilities.most_seats)
        if self._recruiter.capabilities.grows:
            alike = (hit for hit in hits if not self.is_outdated(hit))
            shares = together(seats, most, relaunches, alike)
        else:
            shares = list(apart(seats, most, relaunches))
        for part in parts(shares):
            await self._record.writer.commit(self._wanted(part))

    def _wanted(self, shares: Iterable[Share]) -> Decision:
        config, new, more, relaunched = self._config, [], [], []
        for share in shares:
            if share.hit is None:
                hit_id = new_hit_id()
                price = (config.reward, config.currency)
                new.append(NewHit(hit_id, new_token(), share.total, *price, self._terms))
            else:
                hit_id = share.hit.id
                more.append(MoreSeats(share.hit, share.total))
            relaunched += [
                RelaunchSeats(dialog, hit_id, seats, upto)
                for dialog, seats, upto in share.relaunches
            ]
        name, now = self._recruiter.name, self._now()
        return wanted_hits(config.study_id, name, new, now, self._guard(), more, relaunched)

    def is_outdated(self, hit: HitRow) -> bool:
        """Whether it was decided on when the study paid or was something else."""
        now = (self._config.reward, self._config.currency, self._terms)
        return (hit.reward, hit.currency, hit.terms) != now

    async def post(self, hits: Iterable[HitRow]) -> tuple[int, bool]:
        """Post HITs that are wanted, and give more seats to those that were posted and are to
        have them: how many are as wanted, and whether all went well.

        After the first that is refused or not answered no more are tried: what holds for one
        mostly holds for all, and each refused one needs a person.
        """
        self._refused = False
        results = await _few_at_a_time(self._post, hits)
        return sum(results), not self._refused

    async def _post(self, hit: HitRow) -> bool:
        if self._refused:
            return False
        try:
            if hit.remote_id is None:
                remote = await self._recruiter.post(self._posting(hit, await self.record_key()))
            else:
                remote = await self._grow(hit, hit.remote_id)
        except RecruiterError as error:
            self._refused = True
            await self._not_posted(hit, error)
            return False
        try:
            await self._record.writer.commit(self._is_up(hit, remote))
        except Conflict:
            log.info("HIT %s was posted by somebody else meanwhile", hit.id)
        return True

    async def _grow(self, hit: HitRow, remote_id: str) -> RemoteHit:
        """Give a HIT the seats that it is to have, and open it if it was closed."""
        if hit.to_grow:
            key = growth_key(await self.record_key(), hit)
            await self._recruiter.grow(remote_id, hit.seats, key)
        if hit.state is HitState.WANTED:
            await self._recruiter.extend(remote_id, self._now() + self._config.lifetime_s)
        remote = await self._recruiter.hit(remote_id)
        if remote.status is not HitStatus.OPEN:
            raise Refused(f"it is {remote.status} all the same")
        if remote.seats < hit.seats:
            raise NotYet(f"it has {remote.seats} of {hit.seats} seats so far")
        return remote

    async def _not_posted(self, hit: HitRow, error: RecruiterError) -> None:
        what = "posted" if hit.remote_id is None else "given more seats"
        self.problems[f"a HIT could not be {what}: {error}"] = None
        if not isinstance(error, Refused) or isinstance(error, NoFunds):
            log.warning("HIT %s is not yet %s: %s", hit.id, what, error)
            return
        log.error("HIT %s was not %s: %s", hit.id, what, error)
        if hit.remote_id is None:
            await self._record.writer.commit(hit_becomes(hit.id, HitState.FAILED, str(error)))
        elif await self.take_down(hit.remote_id):
            # Nothing more is asked of it, and what it did not get goes into another.
            await self._record.writer.commit(hit_becomes(hit.id, HitState.CLOSED, str(error)))

    def _is_up(self, hit: HitRow, remote: RemoteHit) -> Decision:
        if hit.state is HitState.OPEN:
            return grown(hit.id, remote.free, remote.seats)
        now = self._now()
        until = now + self._config.lifetime_s
        return posted(hit.id, remote.id, remote.free, remote.seats, now, until)

    def _posting(self, hit: HitRow, record: str) -> Posting:
        return replace(
            self._posting_at(f"{self._config.url}/work?hit={hit.token}"),
            key=posting_key(record, hit),
            reward=hit.reward,
            currency=hit.currency,
            seats=hit.seats,
        )

    def _posting_at(self, url: str) -> Posting:
        config = self._config
        return Posting(
            key="",
            url=url,
            title=config.title,
            description=config.description,
            keywords=config.keywords,
            reward=config.reward,
            currency=config.currency,
            seats=1,
            lifetime_s=config.lifetime_s,
            assignment_duration_s=config.assignment_duration_s,
            auto_approval_s=config.auto_approval_s,
        )

    async def expire(self, hits: Iterable[HitRow]) -> int:
        """Let nobody new take these HITs; returns how many are down."""
        results = await _few_at_a_time(self._expire, hits)
        return sum(results)

    async def _expire(self, hit: HitRow) -> bool:
        if hit.remote_id is not None and not await self.take_down(hit.remote_id):
            return False
        await self._record.writer.commit(hit_becomes(hit.id, HitState.CLOSED))
        return True

    async def take_down(self, remote_id: str) -> bool:
        """Expire what stands over there; whether nobody new can take it any more."""
        try:
            await self._recruiter.expire(remote_id)
        except NotThere:
            log.info("HIT %s is gone over there already", remote_id)
        except RecruiterError as error:
            log.warning("HIT %s is not expired yet: %s", remote_id, error)
            self.problems[f"a HIT could not be expired: {error}"] = None
            return False
        return True

    async def dispose(self, hits: Iterable[HitRow]) -> int:
        """Clear away HITs whose work is all reviewed; returns how many are gone."""
        results = await _few_at_a_time(self._dispose, hits)
        return sum(results)

    async def _dispose(self, hit: HitRow) -> bool:
        if hit.remote_id is not None:
            try:
                await self._recruiter.dispose(hit.remote_id)
            except NotThere:
                log.info("HIT %s is gone over there already", hit.id)
            except RecruiterError as error:
                log.info("HIT %s stays for now: %s", hit.id, error)
                return False
        await self._record.writer.commit(hit_becomes(hit.id, HitState.DONE))
        return True


async def _few_at_a_time(
    work: Callable[[HitRow], Awaitable[bool]], hits: Iterable[HitRow]
) -> list[bool]:
    """The results of `work`. Returns, or fails, when nothing of it goes on any more."""
    slots = asyncio.Semaphore(AT_A_TIME)

    async def one(hit: HitRow) -> bool:
        async with slots:
            return await work(hit)

    results = await asyncio.gather(*(one(hit) for hit in hits), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [bool(result) for result in results]
