"""Requests of the team that failed: asked for again, or dismissed once somebody has looked."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from chatserver.live.service import LiveService
from chatserver.monitor.answers import NotDone, conflict, unknown
from chatserver.monitor.changing import Who
from chatserver.monitor.rows import needed_for
from chatserver.monitor.wire import Done, OnFailed, Trouble
from dialogs.record import requests
from dialogs.record.audit import audited
from dialogs.record.erasing import erased_among
from dialogs.record.errors import Conflict
from dialogs.record.requests import TeamRequest
from dialogs.record.writer import Decision, together
from dialogs.rules import AdminRole, RequestState

_COME_ABOUT: Final = {
    "request.again": (RequestState.WANTED, RequestState.DONE),
    "request.dismiss": (RequestState.DISMISSED,),
}
"""How a request stands for which this was done."""


class Failed:
    """What the team does about them; see `Acting`."""

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

    async def again(self, who: Who, request_id: str, asked: OnFailed) -> Done:
        """Let the hit manager try once more. A message that may have been sent is sent once more,
        which is why a person decides."""
        request, worker_id = await self._request(who, request_id)
        if await self._record.read(erased_among, [worker_id]):
            raise conflict("Who this is about was erased on request; it can only be dismissed.")
        await self._settle(who, "request.again", request, asked, requests.again(request))
        self._service.on_wish()
        return Done(request=request.id)

    async def dismiss(self, who: Who, request_id: str, asked: OnFailed) -> Done:
        """Leave it at that: it stays as it is, and waits for nobody any more."""
        request, _ = await self._request(who, request_id)
        await self._settle(who, "request.dismiss", request, asked, requests.dismissed(request))
        return Done()

    async def _request(self, who: Who, request_id: str) -> tuple[TeamRequest, str]:
        """The request, and by our id who it is about."""
        found = await self._record.read(requests.request_of, self._study_id, request_id)
        if found is None:
            raise unknown("request")
        if who.role is not AdminRole.OWNER and needed_for(found.request.kind) is AdminRole.OWNER:
            raise NotDone(403, Trouble.NOT_ALLOWED, "Only an owner may do this.")
        return found.request, found.worker_id

    async def _settle(
        self, who: Who, action: str, request: TeamRequest, asked: OnFailed, change: Decision
    ) -> None:
        if request.state in _COME_ABOUT[action]:
            # It was sent twice, or somebody else was quicker with the same.
            return
        if request.state is not RequestState.FAILED:
            raise conflict(f"This request is {request.state.value} by now.")
        if request.done_at != asked.failed_at:
            raise conflict("It was tried again meanwhile, and has failed once more; look again.")
        before, after = {"state": request.state}, {"request": request.id}
        row = audited(self._study_id, who.id, action, request.target, before, after, self._now())
        try:
            await self._record.writer.commit(together(change, Decision(request.target, (row,))))
        except Conflict:
            raise conflict("Something else happened to this request meanwhile.") from None
        self._changed("requests")
