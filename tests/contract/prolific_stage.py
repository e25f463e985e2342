"""The far side of Prolific: a fake of its API, and the people who take part."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from dialogs.rules import AssignmentStatus
from hit_manager.recruiters.backoff import Patience
from hit_manager.recruiters.prolific import Codes, Prolific, ProlificConfig
from tests.contract.prolific_server import ProlificServer, Trouble
from tests.contract.prolific_world import NoPlace, Submission, World
from tests.contract.recruiters import NoSeat, Stage, Visit

CODES = Codes.derived("a secret of the team", "photos")

_CHANGES = r"^(?!.*/submissions/bonus-payments/$)"
"""A bonus that is set up changes nothing for anybody: the step after it does."""


class Clock:
    """Both clocks: that of Prolific, and that of the recruiter, which only goes forward."""

    def __init__(self, stage: ProlificStage) -> None:
        self._stage = stage

    def now(self) -> float:
        return self._stage.world.now

    def advance(self, seconds: float) -> float:
        self._stage.world.move(seconds)
        self._stage.seconds += seconds
        return self.now()


class ProlificStage(Stage):
    unknown_id = "65a000000000000000ffffff"
    unknown_worker_id = "65a000000000000000eeeeee"

    def __init__(self, server: ProlificServer, **changes: Any) -> None:
        self.server = server
        self.world = server.world
        self.clock = Clock(self)
        self.waits = []
        self.seconds = 0.0
        """What the recruiter's clock shows."""
        self.config = ProlificConfig(
            token=self.world.token,
            workspace_id=self.world.workspace_id,
            project_id=self.world.project_id,
            codes=CODES,
            estimated_minutes=10,
            base_url=server.url,
            **{
                "study_id": "photos",
                "patience": self._patience(5),
                "join_patience": self._patience(2),
                **changes,
            },
        )
        self.recruiter = self.another()
        self._others: list[Prolific] = []

    @property
    def prolific(self) -> Prolific:
        assert isinstance(self.recruiter, Prolific)
        return self.recruiter

    def _patience(self, tries: int) -> Patience:
        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        return Patience(tries=tries, sleep=sleep, chance=lambda: 0.5)

    def another(self) -> Prolific:
        return Prolific(self.config, now=lambda: self.seconds)

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, folder: Path, world: World | None = None, **changes: Any
    ) -> AsyncIterator[Self]:
        server = ProlificServer(world or World())
        async with server.running():
            stage = cls(server, **changes)
            await stage.recruiter.open()
            # It has run for so long that whatever an earlier process paid can be seen.
            stage.seconds += stage.config.paid_within_s
            yield stage
            for recruiter in (stage.recruiter, *stage._others):
                await recruiter.close()
        assert server.mistakes == [], "the API was used otherwise than documented"

    @property
    def calls(self) -> int:
        return len(self.server.calls)

    async def again(self) -> Prolific:
        self._others.append(self.another())
        await self._others[-1].open()
        return self._others[-1]

    # --- Workers ---------------------------------------------------------------------------

    def _submission(self, visit: Visit) -> Submission:
        return self.world.submissions[visit.assignment_id]

    async def take(self, hit_id: str) -> Visit:
        return await self.take_again(None, hit_id)

    async def take_again(self, worker_id: str | None, hit_id: str) -> Visit:
        try:
            submission = self.world.take(hit_id, worker_id)
        except NoPlace as error:
            raise NoSeat(str(error)) from None
        query = dict(parse_qsl(urlsplit(self.world.open(submission)).query))
        return Visit(submission.participant, submission.id, hit_id, query)

    def previews(self, visit: Visit) -> Sequence[Mapping[str, str]]:
        ids = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
        return [
            {},
            *({k: v for k, v in visit.query.items() if k != left_out} for left_out in ids),
            *({**visit.query, name: ""} for name in ids),
            *({**visit.query, name: f"{{{{%{name}%}}}}"} for name in ids),
            *({**visit.query, name: "../../users/me"} for name in ids),
        ]

    async def submit(self, visit: Visit, code: str = "CODE1234") -> None:
        self.world.complete(self._submission(visit), code)

    async def give_back(self, visit: Visit) -> None:
        self.world.give_back(self._submission(visit))

    # --- The team at the platform's own pages, and the platform's books ----------------------

    async def decide(self, visit: Visit, status: AssignmentStatus) -> None:
        if status is AssignmentStatus.APPROVED:
            self.world.approve(self._submission(visit))
        else:
            self._submission(visit).status = "REJECTED"
        self.world.settle()

    async def rewards(self, visit: Visit) -> Sequence[int]:
        return self._submission(visit).rewards

    async def bonuses(self, visit: Visit) -> Sequence[int]:
        return [amount for _, amount in self._submission(visit).bonuses]

    async def inbox(self, worker_id: str) -> Sequence[str]:
        return [body for participant, _, body in self.world.messages if participant == worker_id]

    async def posted(self, key: str) -> int:
        return sum(study["metadata"] == key for study in self.world.studies.values())

    async def expires_at(self, hit_id: str) -> float | None:
        return None

    # --- The network -------------------------------------------------------------------------

    def lose_answers(self, number: int = 1) -> None:
        self.server.trouble(Trouble.LOST, number, path=_CHANGES)

    def throttle(self, number: int) -> None:
        self.server.plans.clear()
        if number:
            self.server.trouble(Trouble.THROTTLED, number, writes=False)

    def changed(self, **changes: Any) -> Prolific:
        """A recruiter with other settings, not opened; closed at the stage's end."""
        self._others.append(Prolific(replace(self.config, **changes), now=lambda: self.seconds))
        return self._others[-1]
