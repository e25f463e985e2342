"""Our studies over there: found, posted, grown, paused and cleared away.

Source: https://docs.prolific.com/api-reference/studies/publish-study (transitions),
https://docs.prolific.com/api-reference/studies/update-study (what a published study lets change).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from hit_manager.recruiters.backoff import Patience
from hit_manager.recruiters.base import (
    NotThere,
    NotYet,
    Posting,
    Refused,
    RemoteHit,
    Unsure,
)
from hit_manager.recruiters.prolific.client import Client, Repeat, masked
from hit_manager.recruiters.prolific.config import ProlificConfig
from hit_manager.recruiters.prolific.groups import Group
from hit_manager.recruiters.prolific.study import (
    UNDECIDED,
    StudyStatus,
    new_study,
    remote_hit,
    study_status,
)

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")

_STANDING: Final = frozenset(
    {StudyStatus.PAUSED, StudyStatus.AWAITING_REVIEW, StudyStatus.COMPLETED}
)
"""Nobody new comes to a study that is one of these."""
_EMPTY: Final = frozenset({StudyStatus.UNPUBLISHED, StudyStatus.COMPLETED})
"""Nobody is inside a study that is one of these."""


def is_id(text: str) -> bool:
    """Whether it may be an id of Prolific's (24 hexadecimal digits, as far as anybody knows)."""
    return bool(_ID.fullmatch(text))


def safe(part: str) -> str:
    """An id as part of an address. What could lead elsewhere is no id of Prolific's."""
    if not is_id(part):
        raise NotThere(f"{masked(part)[:70]!r} is no id of Prolific's")
    return part


class Studies:
    """The studies that bear our mark."""

    def __init__(self, client: Client, config: ProlificConfig, group: Group) -> None:
        self._client = client
        self._config = config
        self._group = group
        self._ours: set[str] = set()

    async def post(self, posting: Posting) -> RemoteHit:
        """Create the draft of a study and publish it; whatever of that an earlier call with the
        same key has done is found by the study's internal name, and not done again.

        Raises:
            Unsure: the draft may exist, but cannot be seen yet. Nobody is recruited by it.
        """
        study = await self._find(posting.key)
        if study is None:
            body = new_study(posting, self._config, await self._group.id())
            try:
                study = await self._client.post("studies/", body, Repeat.ONCE)
            except Unsure:
                study = await self._find(posting.key)
                if study is None:
                    raise
        if study_status(study) is StudyStatus.UNPUBLISHED:
            study = await self._transition(
                study["id"], "PUBLISH", {StudyStatus.PUBLISHING, StudyStatus.ACTIVE}
            )
        self._remember(study)
        return await self._seen(study)

    async def grow(self, hit_id: str, seats: int) -> None:
        """Places only grow: for fewer than there are, nothing is done. A study whose places were
        all taken recruits again by it; one that is paused stays so."""
        if seats > int((await self._get(hit_id))["total_available_places"]):
            await self._client.patch(f"studies/{safe(hit_id)}/", {"total_available_places": seats})

    async def start(self, hit_id: str) -> None:
        """Let a paused study go on."""
        if study_status(await self._get(hit_id)) is StudyStatus.PAUSED:
            await self._transition(hit_id, "START", {StudyStatus.ACTIVE})

    async def pause(self, hit_id: str) -> None:
        """Let nobody new come. Whoever is inside may finish."""
        match study_status(await self._get(hit_id)):
            case StudyStatus.ACTIVE:
                await self._transition(hit_id, "PAUSE", _STANDING)
            case StudyStatus.SCHEDULED:
                await self._transition(hit_id, "CANCEL_PUBLISH", {StudyStatus.UNPUBLISHED})
            case StudyStatus.PUBLISHING:
                raise NotYet("the study is being published, and can be paused in a moment")
            case _:
                pass

    async def stop(self, hit_id: str) -> None:
        """End it for good; a draft is deleted.

        Raises:
            NotYet: somebody is inside, or waits for a decision.
        """
        try:
            await self.pause(hit_id)
            counts = await self._counts(hit_id)
            if undecided := sum(int(counts.get(status, 0)) for status in UNDECIDED):
                raise NotYet(f"{undecided} submissions of the study are undecided")
            match study_status(await self._get(hit_id)):
                case StudyStatus.PAUSED:
                    await self._transition(hit_id, "STOP", _STANDING - {StudyStatus.PAUSED})
                case StudyStatus.UNPUBLISHED:
                    await self._client.delete(f"studies/{safe(hit_id)}/")
                case _:
                    pass
        except NotThere:
            pass

    async def seen(self, hit_id: str) -> RemoteHit:
        return await self._seen(await self._get(hit_id))

    async def all_seen(self) -> Sequence[RemoteHit]:
        return [await self._seen(study) for study in await self.all()]

    async def are_ours(self, study_id: str, patience: Patience) -> bool:
        """Whether this study bears our mark. Asked once for each."""
        if study_id not in self._ours:
            self._remember(await self._client.get(f"studies/{safe(study_id)}/", patience=patience))
        return study_id in self._ours

    async def all(self) -> list[dict[str, Any]]:
        """Everything with our mark, of every status."""
        project = self._config.project_id
        path = "studies/" if project is None else f"projects/{safe(project)}/studies/"
        found = [study async for study in self._client.pages(path) if self._marked(study)]
        for study in found:
            self._remember(study)
        return found

    # --- Inside ----------------------------------------------------------------------------

    def _marked(self, study: Mapping[str, Any]) -> bool:
        return str(study.get("internal_name") or "").startswith(self._config.mark)

    def _remember(self, study: Mapping[str, Any]) -> None:
        if self._marked(study):
            self._ours.add(str(study["id"]))

    async def _find(self, key: str) -> dict[str, Any] | None:
        """The study for a key; of several, left by an answer that came too late, always the same:
        one that is published before any draft, and the oldest."""
        name = self._config.mark + key
        found = [study for study in await self.all() if study["internal_name"] == name]
        found.sort(
            key=lambda study: (
                study_status(study) is StudyStatus.UNPUBLISHED,
                str(study.get("date_created", "")),
                str(study["id"]),
            )
        )
        return found[0] if found else None

    async def _get(self, hit_id: str) -> dict[str, Any]:
        study: dict[str, Any] = await self._client.get(f"studies/{safe(hit_id)}/")
        return study

    async def _counts(self, hit_id: str) -> dict[str, Any]:
        counts: dict[str, Any] = await self._client.get(
            f"studies/{safe(hit_id)}/submissions/counts/"
        )
        return counts

    async def _seen(self, study: Mapping[str, Any]) -> RemoteHit:
        counts = None
        # A long study leaves many behind that are over; nobody need ask after each, every round.
        if study_status(study) not in _EMPTY or "places_taken" not in study:
            counts = await self._counts(str(study["id"]))
        return remote_hit(study, counts, self._config.mark)

    async def _transition(
        self, hit_id: str, action: str, wanted: Collection[StudyStatus]
    ) -> dict[str, Any]:
        """Move a study; if Prolific refuses because it is there already, that is done."""
        try:
            moved: dict[str, Any] = await self._client.post(
                f"studies/{safe(hit_id)}/transition/", {"action": action}, Repeat.HARMLESS
            )
        except NotThere:
            raise
        except Refused:
            moved = await self._get(hit_id)
            if study_status(moved) not in wanted:
                raise
        return moved
