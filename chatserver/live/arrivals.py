"""How a person comes in: from the recruiter's parameters to an arrival in the record."""

from __future__ import annotations

import time
from collections.abc import Callable

from chatserver.config import StudyConfig
from chatserver.doors import Door, NotAdmitted, Visitor, WrongAnswers
from chatserver.live.deadlines import ArrivalDeadline, Deadlines, Due
from chatserver.tokens import Tokens, new_id
from chatserver.wire import ArrivalRequest, ErrorCode
from dialogs.record import queries
from dialogs.record.decisions import new_arrival
from dialogs.record.errors import Conflict
from dialogs.record.excluding import workers_by_id
from dialogs.record.queries import ArrivalRow
from dialogs.record.store import Record
from dialogs.rules import ArrivalStatus, Release

ATTEMPTS = 4


class Arrivals:
    """Admits people to a study through its recruiter's door. `is_open` says whether it takes new
    ones; `on_arrival(recruiter)` is told of each."""

    def __init__(
        self,
        record: Record,
        deadlines: Deadlines,
        tokens: Tokens,
        study: Callable[[], StudyConfig],
        door: Door,
        *,
        is_open: Callable[[], bool],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._record = record
        self._deadlines = deadlines
        self._tokens = tokens
        self._study = study
        self._door = door
        self._is_open = is_open
        self._now = now
        self.on_arrival: Callable[[str], None] = lambda recruiter: None

    async def admit(self, request: ArrivalRequest, address: str) -> str:
        """The token of this person's arrival; asked again, the same arrival's.

        Raises:
            NotAdmitted: with an HTTP status and a sentence for the person.
        """
        if self._door.preview(request.query):
            raise NotAdmitted(404, ErrorCode.NOT_NOW, "This is a preview.")
        visitor = await self._door.visitor(request.query, request.worker_key)
        for _ in range(ATTEMPTS):
            worker = await self._record.read(
                queries.worker_id, self._study().id, self._door.recruiter, visitor.external_id
            )
            if worker is None:
                await self._check_not_erased(visitor)
            known = await self._known(visitor, worker)
            if known is not None:
                return self._tokens.arrival(known.id)
            latest = await self._record.read(queries.latest_arrival, worker) if worker else None
            if latest and latest.status is not ArrivalStatus.RELEASED:
                if visitor.assignment_id is None:
                    return self._tokens.arrival(latest.id)
                raise NotAdmitted(
                    409,
                    ErrorCode.NOT_NOW,
                    "You have another task of this study open. Please finish or return that one "
                    "first, then reload this page.",
                )
            if latest and visitor.assignment_id is None and not request.another:
                return self._tokens.arrival(latest.id)
            await self._check_new(request, worker, latest)
            try:
                return self._tokens.arrival(await self._create(request, worker, visitor, address))
            except Conflict:
                # The same person came in by another tab or process meanwhile.
                continue
        raise NotAdmitted(503, ErrorCode.TRY_AGAIN, "Please try again in a moment.")

    async def _known(self, visitor: Visitor, worker: str | None) -> ArrivalRow | None:
        """The arrival of this assignment, if it was opened before."""
        if visitor.assignment_id is None:
            return None
        known = await self._record.read(
            queries.arrival_of_assignment, self._study().id, visitor.assignment_id
        )
        if known is not None and known.worker_id != worker:
            raise NotAdmitted(
                403,
                ErrorCode.BAD_REQUEST,
                "This task was begun by somebody else. Please open a task of your own.",
            )
        return known

    async def _check_not_erased(self, visitor: Visitor) -> None:
        pseudonym = self._tokens.erased(self._door.recruiter, visitor.external_id)
        erased = await self._record.read(
            queries.worker_id, self._study().id, self._door.recruiter, pseudonym
        )
        if erased is not None:
            raise NotAdmitted(
                409,
                ErrorCode.CAP_REACHED,
                "What you did here was erased because you asked for it, so you cannot take part "
                "in this study again.",
            )

    async def _check_new(
        self, request: ArrivalRequest, worker: str | None, latest: ArrivalRow | None
    ) -> None:
        if worker is not None:
            person = await self._record.one(workers_by_id, worker)
            if person is not None and person.excluded_at is not None:
                # Before anybody reads and agrees to anything in vain.
                raise NotAdmitted(
                    409,
                    ErrorCode.NOT_NEEDED,
                    "There is no further task for you in this study. Thank you for coming!",
                )
        if not (request.consented or (request.another and latest is not None)):
            raise NotAdmitted(404, ErrorCode.NOT_NOW, "You have not begun yet.")
        if not self._is_open():
            raise NotAdmitted(
                409,
                ErrorCode.STUDY_PAUSED,
                "The study takes nobody new at the moment. Please come back later.",
            )
        if worker is not None:
            history = await self._record.read(queries.histories, [worker])
            if history[worker].dialogs >= self._study().dialogs_per_worker:
                raise NotAdmitted(
                    409,
                    ErrorCode.CAP_REACHED,
                    "You have taken part as often as one person can in this study. Thank you!",
                )
        if latest is not None:
            released = await self._record.one(queries.releases_of, latest.id)
            # Otherwise a person could come, find nothing and be paid for it, again and again.
            if released is not None and released.release is Release.STUDY_FULL:
                waited = "You have waited and are paid for it. " if released.cents else ""
                raise NotAdmitted(
                    409,
                    ErrorCode.CAP_REACHED,
                    f"{waited}There is nothing more to do for now. Thank you!",
                )
        else:
            self._check_answers(request.check_answers)

    def _check_answers(self, given: list[int]) -> None:
        right = [check.answer for check in self._study().check]
        wrong = [n + 1 for n, answer in enumerate(right) if n >= len(given) or given[n] != answer]
        if wrong:
            raise WrongAnswers(wrong)

    async def _create(
        self, request: ArrivalRequest, worker: str | None, visitor: Visitor, address: str
    ) -> str:
        now = self._now()
        worker_row = None
        if worker is None:
            worker = new_id("w")
            worker_row = {
                "id": worker,
                "study_id": self._study().id,
                "recruiter": self._door.recruiter,
                "external_id": visitor.external_id,
                "created_at": now,
            }
        languages = self._study().languages
        arrival_id = new_id("a")
        row = {
            "id": arrival_id,
            "study_id": self._study().id,
            "worker_id": worker,
            "assignment_id": visitor.assignment_id or new_id(self._door.recruiter),
            "status": ArrivalStatus.ARRIVED.value,
            "language": request.language if request.language in languages else languages[0],
            "address": self._tokens.address(address),
            "created_at": now,
            "hit_id": visitor.hit_id,
            "submit_to": visitor.submit_to,
        }
        await self._record.writer.commit(new_arrival(worker_row, row, visitor.external_id))
        self.on_arrival(self._door.recruiter)
        expiry = Due(ArrivalDeadline.EXPIRY, arrival_id)
        self._deadlines.arm(expiry, self._study().assignment_duration_s)
        return arrival_id
