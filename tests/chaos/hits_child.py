"""A process that runs hit managers and lets them be killed: `python -m tests.chaos.hits_child`.

It reads one job a line (JSON) and forks for each, so that none pays for the imports; the answer
is the exit status of the fork, negative for a signal. A job's manager kills itself with SIGKILL,
as `kill -9` would, when it comes to the job's point for the nth time.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, replace
from typing import Any

from dialogs.record.store import Record
from hit_manager.config import Approval, HitConfig
from hit_manager.manager import HitManager
from hit_manager.recruiters.base import Bonus, Keep, Posting, RemoteHit, keep_nothing
from hit_manager.recruiters.mturk import Mturk, MturkConfig

CALLS = ("post", "expire", "approve", "bonus")
MOMENTS = ("before", "after")


@dataclass(frozen=True, slots=True)
class Point:
    """Where a manager dies: before or after a kind of call, or a commit, for the nth time."""

    what: str
    moment: str
    nth: int = 1

    def __str__(self) -> str:
        return f"{self.moment} {self.what} {self.nth}"


@dataclass(frozen=True, slots=True)
class Job:
    """One life of a manager: so many rounds at one moment, or until its point."""

    database: str
    endpoint: str
    key: str
    secret: str
    config: HitConfig
    now: float
    rounds: int = 1
    point: Point | None = None

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Job:
        data = json.loads(text)
        data["config"] = HitConfig(**data["config"] | {"approval": Approval.AUTOMATIC})
        data["point"] = Point(**data["point"]) if data["point"] else None
        return cls(**data)


class Death:
    """Counts how often each point was passed, and ends the process at the job's."""

    def __init__(self, point: Point | None) -> None:
        self._point = point
        self._left = point.nth if point else 0

    def here(self, what: str, moment: str) -> None:
        if self._point is None or (what, moment) != (self._point.what, self._point.moment):
            return
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)

    def at(self, what: str, moment: str) -> Callable[[], None]:
        return lambda: self.here(what, moment)


class Mortal(Mturk):
    """Mechanical Turk's recruiter, whose process may die around its calls."""

    def __init__(self, death: Death, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        self._death = death

    def begin(self, death: Death, now: float) -> None:
        """A new life, which takes place at one moment."""
        self._death = death
        self._now = lambda: now

    def grows(self, most_seats: int) -> None:
        """Give HITs more seats, as Prolific's recruiter does, up to so many."""
        self.capabilities = replace(self.capabilities, grows=True, most_seats=most_seats)

    async def post(self, posting: Posting) -> RemoteHit:
        self._death.here("post", "before")
        posted = await super().post(posting)
        self._death.here("post", "after")
        return posted

    async def grow(self, hit_id: str, seats: int, key: str) -> None:
        self._death.here("grow", "before")
        await super().grow(hit_id, seats, key)
        self._death.here("grow", "after")

    async def expire(self, hit_id: str) -> None:
        self._death.here("expire", "before")
        await super().expire(hit_id)
        self._death.here("expire", "after")

    async def approve(self, assignment_id: str, feedback: str = "") -> None:
        self._death.here("approve", "before")
        await super().approve(assignment_id, feedback)
        self._death.here("approve", "after")

    async def pay(self, bonus: Bonus, keep: Keep = keep_nothing) -> None:
        self._death.here("bonus", "before")
        await super().pay(bonus, keep)
        self._death.here("bonus", "after")

    async def reject(self, assignment_id: str, feedback: str) -> None:
        self._death.here("reject", "before")
        await super().reject(assignment_id, feedback)
        self._death.here("reject", "after")

    async def message(self, worker_ids: Collection[str], subject: str, text: str) -> dict[str, str]:
        self._death.here("message", "before")
        unreached = await super().message(worker_ids, subject, text)
        self._death.here("message", "after")
        return unreached


def recruiter_for(job: Job) -> Mortal:
    """A recruiter whose boto3 client is made already: that takes longer than a manager's life."""
    # Without the qualification of the blocked, which is looked up once a life.
    config = MturkConfig(job.endpoint, job.key, job.secret, block_name="")
    recruiter = Mortal(Death(None), config)
    recruiter._client._client()
    if job.config.seats > 1:
        recruiter.grows(job.config.seats)
    return recruiter


async def live(job: Job, recruiter: Mortal) -> None:
    """One life of a manager."""
    death = Death(job.point)
    recruiter.begin(death, job.now)
    record = Record(
        job.database,
        serving=False,
        before_commit=death.at("commit", "before"),
        after_commit=death.at("commit", "after"),
    )
    record.open()
    manager = HitManager(record, recruiter, job.config, now=lambda: job.now)
    try:
        for _ in range(job.rounds):
            done = await manager.round()
            assert done.ours, "the lease of the life before has not run out"
    finally:
        await manager.close()
        await record.close()


def main() -> None:
    recruiter: Mortal | None = None
    for line in sys.stdin:
        job = Job.from_json(line)
        recruiter = recruiter or recruiter_for(job)
        child = os.fork()
        if not child:
            try:
                asyncio.run(live(job, recruiter))
                os._exit(0)
            except BaseException as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
                os._exit(1)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
