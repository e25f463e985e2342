"""A study that recruits on the fake Prolific, for tests: as `tests.recruiting`, with its people."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from dialogs.record import studies
from hit_manager.manager import HitManager
from hit_manager.recruiters.base import Recruiter
from tests.contract.prolific_stage import CODES, ProlificStage
from tests.contract.prolific_world import World
from tests.contract.recruiters import Visit
from tests.records import STUDY, opened
from tests.recruiting import CONFIG, Recruiting, release


class ProlificRecruiting(Recruiting):
    """`there` is the stage, with Prolific's side of it."""

    @property
    def there(self) -> ProlificStage:
        return cast(Any, self.stage)

    @property
    def world(self) -> World:
        return self.there.world

    @property
    def places(self) -> list[tuple[str, int]]:
        """Each study over there: its status, and its places."""
        found = self.world.studies.values()
        return [(study["status"], study["total_available_places"]) for study in found]

    @property
    def free(self) -> int:
        """How many people could come in over there."""
        return sum(
            study["total_available_places"] - self.world.taken(study["id"])
            for study in self.world.studies.values()
            if study["status"] == "ACTIVE"
        )

    def come(self, visit: Visit, hit_id: str, **how: Any) -> str:
        return super().come(visit, hit_id, **({"recruiter": "prolific"} | how))

    async def hand_in(self, arrival: str) -> None:
        await self.there.submit(self.visits[arrival], CODES.completed)

    async def restarted(self, recruiter: Recruiter | None = None) -> HitManager:
        """Another process, after the lease of the one before has run out."""
        other = recruiter or await self.there.again()
        self.stage.clock.advance(61.0)
        now = self.stage.clock.now
        self.manager = HitManager(self.record, other, self.config, now=now)
        return self.manager

    async def come_in(self, number: int) -> list[str]:
        """New people take places wherever some are free, and open our page."""
        arrivals: list[str] = []
        for hit in await self.hits():
            study = self.world.studies.get(hit.remote_id or "")
            while study and study["status"] == "ACTIVE" and len(arrivals) < number:
                if self.world.taken(study["id"]) >= study["total_available_places"]:
                    break
                arrivals.append(await self.arrive(hit))
        assert len(arrivals) == number, "there are not so many free places"
        return arrivals

    async def talk(self, name: str, item: str, *, well: bool, cents: int = 150) -> list[str]:
        """Two come, and have a dialog that is complete, or that both leave."""
        people = await self.come_in(2)
        self.pair(name, *people, item)
        await self.end(name, item, people, well=well, cents=cents)
        return people

    async def end(
        self, name: str, item: str, people: list[str], *, well: bool, cents: int = 150
    ) -> None:
        if not well:
            self.fail(name, item)
            for arrival in people:
                await self.there.give_back(self.visits[arrival])
            return
        self.complete(name)
        for arrival in people:
            self.write(release, arrival, cents, dialog=name)
            await self.hand_in(arrival)


@asynccontextmanager
async def recruiting_there(
    url: str, folder: Path, *, world: World | None = None, options: Any = None, **changes: Any
) -> AsyncIterator[ProlificRecruiting]:
    """An open study without items, on a new Prolific."""
    stage_of = ProlificStage.opened(folder, world, study_id=STUDY, **(options or {}))
    async with stage_of as stage, opened(url) as record:
        await record.writer.commit(studies.new_study(STUDY, {}, 1.0))
        config = replace(CONFIG, **{"reward": 150, "full_pay": 150, "seats": 100, **changes})
        yield ProlificRecruiting(record, cast(Any, stage), config)
