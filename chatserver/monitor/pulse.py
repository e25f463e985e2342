"""How the study stands, put together for whoever watches."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from redis.exceptions import RedisError

from chatserver.live.processes import Process
from chatserver.live.service import LiveService
from chatserver.monitor.wire import (
    Chart,
    ChartPoint,
    Health,
    LobbyRow,
    Now,
    ProcessOut,
    Stuck,
)
from dialogs.record import overview
from dialogs.record.overview import Step
from dialogs.record.review_desk import ReviewDesk
from dialogs.record.rounds import last_round
from dialogs.record.told import LATELY_S, problems_reported
from dialogs.rules import StudyStatus

LOBBY_SHOWN: Final = 100
"""Of how many people in the lobby each wait is shown."""
STEP_S: Final = 60
WITHIN_S: Final = 1.0
"""Within what Redis must answer so as not to hold up everything else that is shown."""


class Pulse:
    """Reads what the page *Now* shows."""

    def __init__(self, service: LiveService, desk: ReviewDesk) -> None:
        self._service = service
        self._desk = desk
        self._record = service.record
        self._study_id = service.config.study.id

    async def now(self) -> Now:
        """The whole study at this moment.

        Raises:
            RecordError: the database does not answer.
        """
        service = self._service
        at = service.now()
        found = await self._record.read(overview.overview, self._study_id, at)
        waiting = await self._record.read(overview.lobby, self._study_id, LOBBY_SHOWN)
        problems = await self._record.read(problems_reported, self._study_id, at - LATELY_S)
        by_hand = service.study().approve_by_hand
        return Now(
            at=at,
            began_at=found.began_at,
            status=StudyStatus.OPEN if service.is_open() else StudyStatus.PAUSED,
            places=found.places,
            done=found.done,
            live=found.live,
            inside=found.inside,
            rate=found.rate,
            ends_at=found.ends_at(at),
            cost=found.cost,
            paid=found.paid,
            forecast=found.forecast(service.study().rules.pay.complete),
            hourly=found.hourly,
            to_review=await self._desk.undecided(),
            stuck=Stuck(
                payments=found.stuck.payments,
                cents=found.stuck.cents,
                requests=found.stuck.requests,
                problems=problems,
                to_approve=found.stuck.owed if by_hand else 0,
                to_approve_cents=found.stuck.owed_cents if by_hand else 0,
            ),
            lobby=[
                LobbyRow(
                    arrival_id=row.arrival_id,
                    worker_id=row.worker_id,
                    since=row.ready_at,
                    waited_s=row.waited_s,
                    language=row.language,
                )
                for row in waiting
            ],
            lobby_size=found.in_lobby,
            health=await self.health(),
        )

    async def health(self) -> Health:
        """What is in order; Redis need not answer for it."""
        health = self._service.health
        redis_ok = health.redis_ok
        last = await self._record.read(last_round, self._study_id)
        processes: list[Process] = []
        if redis_ok:
            try:
                async with asyncio.timeout(WITHIN_S):
                    processes = await self._service.processes.all()
            except (RedisError, OSError, TimeoutError):
                redis_ok = False
        return Health(
            database=health.database_ok,
            redis=redis_ok,
            processes=[
                ProcessOut(id=p.id, started_at=p.started_at, seen_at=p.seen_at, pages=p.pages)
                for p in processes
            ],
            recruiting_at=last.at if last else None,
            recruiting=list(last.problems) if last else [],
        )

    async def chart(self, since: float) -> Chart:
        """What has happened since then, in steps of a minute.

        Raises:
            RecordError: the database does not answer.
        """
        now = self._service.now()
        steps = await self._record.read(overview.chart, self._study_id, since, now, STEP_S)
        return Chart(step_s=STEP_S, points=[_point(step) for step in steps])


def _point(step: Step) -> ChartPoint:
    return ChartPoint(
        at=step.at,
        arrivals=step.arrivals,
        pairs=step.pairs,
        complete=step.complete,
        lost=step.lost,
        wait_s=step.wait_s,
    )


PUT_OFF_S: Final = 5.0


class Often:
    """When something that takes its time is to be done again: every `every_s` seconds, and less
    often where that would be more than a twentieth of the time; put off by `PUT_OFF_S` at most,
    since one slow answer says little of the next."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._due = 0.0
        self._began = 0.0

    def is_due(self) -> bool:
        """Whether to do it now; if so, it counts as begun."""
        now = time.monotonic()
        if now < self._due:
            return False
        self._began = now
        return True

    def done(self) -> None:
        """It has been done."""
        now = time.monotonic()
        rest = min(20 * (now - self._began), PUT_OFF_S)
        self._due = max(self._began + self._every_s, now + rest)

    def failed(self) -> None:
        """It could not be done. How long that took says nothing of how long it takes."""
        self._due = time.monotonic() + self._every_s

    def soon(self) -> None:
        """Do it at the next opportunity."""
        self._due = 0.0
