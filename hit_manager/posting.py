"""Putting HITs up and taking them down, so that doing any of it twice does no harm.

What is wanted is a row before the recruiter is asked, and the recruiter is asked with a key that
is derived from the row. Whoever dies in between leaves a row that the next one goes on with.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

from dialogs.record.errors import Conflict
from dialogs.record.hits import HitRow, NewHit, hit_becomes, posted, wanted_hits
from dialogs.record.store import Record
from dialogs.rules import HitState
from hit_manager.config import HitConfig
from hit_manager.demand import split
from hit_manager.ids import new_hit_id, new_token, posting_key
from hit_manager.recruiters.base import NotThere, Posting, Recruiter, Refused, Unavailable

log = logging.getLogger("duologue.hits")

AT_A_TIME: Final = 4
"""Calls to a recruiter that are under way together; more would be throttled."""

SEATS_PER_DIALOG: Final = 2


class Posters:
    """Posts and expires the HITs of a study through one recruiter."""

    def __init__(
        self, record: Record, recruiter: Recruiter, config: HitConfig, now: Callable[[], float]
    ) -> None:
        self._record = record
        self._recruiter = recruiter
        self._config = config
        self._now = now

    async def want(self, seats: int, relaunches: Sequence[str]) -> list[str]:
        """Decide on HITs with `seats` seats in all; returns their ids.

        The oldest relaunches that no HIT was posted for are taken along, two seats each.
        """
        config, left = self._config, list(relaunches)
        new, for_this = [], 0
        for each in split(seats, config.seats):
            new.append(
                NewHit(
                    new_hit_id(),
                    new_token(),
                    each,
                    config.reward,
                    config.currency,
                    left[0] if left else None,
                )
            )
            for_this += each
            while left and for_this >= SEATS_PER_DIALOG:
                left.pop(0)
                for_this -= SEATS_PER_DIALOG
        decision = wanted_hits(config.study_id, self._recruiter.name, new, self._now())
        await self._record.writer.commit(decision)
        return [hit.id for hit in new]

    async def post(self, hits: Iterable[HitRow]) -> int:
        """Post HITs that are wanted; returns how many are up."""
        results = await _few_at_a_time(self._post, hits)
        return sum(results)

    async def _post(self, hit: HitRow) -> bool:
        config, now = self._config, self._now()
        posting = Posting(
            key=posting_key(config.study_id, hit),
            url=f"{config.url}/work?hit={hit.token}",
            title=config.title,
            description=config.description,
            keywords=config.keywords,
            reward=hit.reward,
            currency=hit.currency,
            seats=hit.seats,
            lifetime_s=config.lifetime_s,
            assignment_duration_s=config.assignment_duration_s,
            auto_approval_s=config.auto_approval_s,
        )
        try:
            remote = await self._recruiter.post(posting)
        except Refused as error:
            log.error("HIT %s was refused: %s", hit.id, error)
            decision = hit_becomes(hit.id, HitState.FAILED, str(error))
            await self._record.writer.commit(decision)
            return False
        except Unavailable as error:
            log.warning("HIT %s is posted later: %s", hit.id, error)
            return False
        decision = posted(hit.id, remote.id, remote.free, now, now + config.lifetime_s)
        try:
            await self._record.writer.commit(decision)
        except Conflict:
            log.info("HIT %s was posted by somebody else meanwhile", hit.id)
        return True

    async def expire(self, hits: Iterable[HitRow]) -> int:
        """Let nobody new take these HITs; returns how many are down."""
        results = await _few_at_a_time(self._expire, hits)
        return sum(results)

    async def _expire(self, hit: HitRow) -> bool:
        if hit.remote_id is not None:
            try:
                await self._recruiter.expire(hit.remote_id)
            except NotThere:
                log.info("HIT %s is gone over there already", hit.id)
            except (Refused, Unavailable) as error:
                log.warning("HIT %s is not expired yet: %s", hit.id, error)
                return False
        await self._record.writer.commit(hit_becomes(hit.id, HitState.CLOSED))
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
                pass
            except (Refused, Unavailable) as error:
                log.info("HIT %s stays for now: %s", hit.id, error)
                return False
        await self._record.writer.commit(hit_becomes(hit.id, HitState.DONE))
        return True


async def _few_at_a_time(
    work: Callable[[HitRow], Awaitable[bool]], hits: Iterable[HitRow]
) -> list[bool]:
    slots = asyncio.Semaphore(AT_A_TIME)

    async def one(hit: HitRow) -> bool:
        async with slots:
            return await work(hit)

    return await asyncio.gather(*(one(hit) for hit in hits))
