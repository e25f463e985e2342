"""The study from the monitor: how it runs, pausing it, and changing what it pays and allows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from chatserver.live.service import LiveService
from chatserver.monitor.answers import bad_request, conflict, unknown
from chatserver.monitor.wire import ChangeStudy, Done, Limits, Nothing, StudyOut
from dialogs.record import queries
from dialogs.record.changing import CannotChange, ChangedMeanwhile, change_terms, turn
from dialogs.record.queries import StudyRow
from dialogs.rules import AdminRole, StudyStatus
from dialogs.terms import CHANGEABLE, Terms


class Who(Protocol):
    """Who of the team acts, as the sign-in knows them."""

    @property
    def id(self) -> str: ...
    @property
    def role(self) -> AdminRole: ...


class Changing:
    """The study's own actions; see `Acting`."""

    def __init__(
        self,
        service: LiveService,
        *,
        changed: Callable[[str], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._service = service
        self._record = service.record
        self._study_id = service.config.study.id
        self._changed = changed
        self._now = now

    async def _stored(self) -> StudyRow:
        study = await self._record.read(queries.study, self._study_id)
        if study is None:
            raise unknown("study")
        return study

    async def show(self) -> StudyOut:
        stored = await self._stored()
        return StudyOut(
            status=stored.status,
            file=stored.config,
            from_file=Limits.model_validate(self._file().values()),
            changes=Limits.model_validate(stored.changes),
            may_change=list(CHANGEABLE),
            keys=dict(CHANGEABLE),
        )

    def _file(self) -> Terms:
        return self._service.config.study.terms

    # --- Pausing -----------------------------------------------------------------------------

    async def pause(self, who: Who, asked: Nothing) -> Done:
        return await self._become(who, StudyStatus.PAUSED)

    async def resume(self, who: Who, asked: Nothing) -> Done:
        return await self._become(who, StudyStatus.OPEN)

    async def _become(self, who: Who, status: StudyStatus) -> Done:
        turned = await turn(self._record, self._study_id, status, admin_id=who.id, now=self._now())
        if turned:
            await self._service.look_at_study()
            self._changed("study")
        return Done()

    # --- Changing ----------------------------------------------------------------------------

    async def change(self, who: Who, asked: ChangeStudy) -> Done:
        """Change what new dialogs are opened with, instead of all that was changed before."""
        known = None if asked.known is None else asked.known.model_dump(exclude_none=True)
        try:
            await change_terms(
                self._record,
                self._study_id,
                self._file(),
                asked.changes.model_dump(exclude_none=True),
                reason=asked.reason,
                admin_id=who.id,
                now=self._now(),
                known=known,
            )
        except ChangedMeanwhile as error:
            raise conflict(str(error)) from None
        except CannotChange as error:
            raise bad_request(str(error)) from None
        await self._service.look_at_study()
        self._changed("study")
        return Done()
