"""Carries out what the team wants of people and payments, once, whatever dies in between.

Each request is a row before anything is done for it. What changes only the record is one decision
together with the request's end. What is asked of a recruiter is harmless to ask twice, but for
messages: those are marked as started before they are sent, and whoever finds one so says that it
may have been sent, instead of sending it again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, assert_never

from dialogs.record import payments, queries
from dialogs.record import requests as rows
from dialogs.record.erasing import erased_among
from dialogs.record.errors import Conflict
from dialogs.record.excluding import workers_by_id
from dialogs.record.queries import ArrivalRow
from dialogs.record.requests import TeamRequest
from dialogs.record.store import Record
from dialogs.record.writer import Decision, together
from dialogs.rules import ArrivalStatus, AssignmentStatus, LedgerState, RequestKind, RequestState
from hit_manager import giving
from hit_manager.config import HitConfig
from hit_manager.outbox import FIRST_RETRY_S, LONGEST_RETRY_S, Outbox
from hit_manager.people import known_as
from hit_manager.recruiters.base import (
    NotYet,
    Recruiter,
    RecruiterError,
    Unavailable,
    Unsure,
)
from hit_manager.refusing import is_owed, of_somebody_else, refuse

log = logging.getLogger("duologue.requests")

ROUND_S: Final = 10.0
"""After so many seconds no further request is begun: HITs must not wait for long."""
AT_ONCE: Final = 200
"""Requests of one round, at most."""
LATE_S: Final = 900.0
"""For how long after an assignment's time work may still turn up as handed in."""

_MAY_BE_SENT: Final = (
    "it may have been sent: look whether the worker has it, and send it again if not"
)


@dataclass(frozen=True, slots=True)
class Carried:
    """What one round did: requests carried out, those that must wait, and those that failed."""

    done: int = 0
    waiting: int = 0
    failed: int = 0


class _No(Exception):
    """It cannot be carried out; the text is for the team."""


class _NeedNot(Exception):
    """It need not be carried out any more; the text says why."""


class TeamRequests:
    """Carries out one study's requests through one recruiter.

    `still()` is asked before each: False stops, as somebody else may be at it.
    """

    def __init__(
        self,
        record: Record,
        recruiter: Recruiter,
        config: HitConfig,
        outbox: Outbox,
        *,
        still: Callable[[], bool] = lambda: True,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._record = record
        self._recruiter = recruiter
        self._config = config
        self._outbox = outbox
        self._still = still
        self._now = now

    def go_on_with(self, config: HitConfig) -> None:
        """The study pays or is something else from now on."""
        self._config = config

    async def once(self) -> Carried:
        """One round over what is due.

        Raises:
            RecordError: the database does not answer.
        """
        began, done = self._now(), Carried()
        due = await self._record.read(rows.requests_due, self._config.study_id, began, AT_ONCE)
        for request in due:
            if not self._still() or self._now() >= began + ROUND_S:
                break
            match await self._one(request):
                case RequestState.DONE:
                    done = replace(done, done=done.done + 1)
                case RequestState.FAILED | RequestState.DISMISSED:
                    done = replace(done, failed=done.failed + 1)
                case RequestState.WANTED:
                    done = replace(done, waiting=done.waiting + 1)
        return done

    async def _one(self, request: TeamRequest) -> RequestState:
        """Go as far as it goes; returns how it stands afterwards."""
        try:
            with_it = await self._carry_out(request)
            await self._record.writer.commit(together(rows.done(request, self._now()), *with_it))
        except Conflict:
            # Somebody else is at it, or the record has changed: look again in the next round.
            return RequestState.WANTED
        except _NeedNot as why:
            return await self._end(rows.done(request, self._now(), str(why)), RequestState.DONE)
        except (NotYet, Unavailable) as error:
            wait_s = min(FIRST_RETRY_S * 2 ** min(request.tries, 20), LONGEST_RETRY_S)
            later = rows.put_off(request, str(error), self._now() + wait_s)
            return await self._end(later, RequestState.WANTED)
        except (_No, RecruiterError) as error:
            log.warning("%s %s: %s", request.kind, request.id, error)
            failed = rows.failed(request, str(error), self._now())
            return await self._end(failed, RequestState.FAILED)
        return RequestState.DONE

    async def _end(self, decision: Decision, state: RequestState) -> RequestState:
        with suppress(Conflict):
            await self._record.writer.commit(decision)
        return state

    async def _carry_out(self, request: TeamRequest) -> list[Decision]:
        """Do what is wanted; returns what is to be written down together with its end."""
        match request.kind:
            case RequestKind.BONUS:
                return await self._bonus(request)
            case RequestKind.REJECT:
                await self._reject(request)
            case RequestKind.MESSAGE:
                await self._message(request)
            case RequestKind.BLOCK | RequestKind.UNBLOCK:
                await self._keep_away(request, request.kind is RequestKind.BLOCK)
            case RequestKind.RETRY:
                return await self._retry(request)
            case _:
                assert_never(request.kind)
        return []

    # --- Money -------------------------------------------------------------------------------

    async def _bonus(self, request: TeamRequest) -> list[Decision]:
        row = await self._arrival(request)
        cents, reason = int(request.data["cents"]), str(request.data["reason"])
        if problem := giving.unfit(reason):
            raise _No(f"the reason {problem}")
        if not 0 < cents <= payments.MOST_CENTS:
            raise _No("this is no amount that can be given")
        if problem := await giving.erased(self._record, row):
            raise _No(problem)
        if earlier := await giving.given(self._record, row.id, f"bonus-{request.id}"):
            if problem := giving.differs(earlier, cents):
                raise _No(problem)
            return []
        price = cents + self._recruiter.commission(cents, bonus=True)
        if problem := await giving.unaffordable(self._config, self._outbox, price):
            raise _No(problem)
        currency, now = self._config.currency, self._now()
        return [payments.given_by_hand(row.id, request.id, cents, currency, reason, now)]

    async def _retry(self, request: TeamRequest) -> list[Decision]:
        row = await self._arrival(request)
        payment = await giving.given(self._record, row.id, str(request.data["reason"]))
        if payment is None:
            raise _No("there is no such payment")
        match payment.state:
            case LedgerState.FAILED | LedgerState.HELD:
                return [payments.approved(payment, self._now())]
            case LedgerState.CANCELLED:
                raise _No("this payment was taken back")
            case _:
                raise _NeedNot(f"this payment is {payment.state.shown} already")

    # --- Work --------------------------------------------------------------------------------

    async def _reject(self, request: TeamRequest) -> None:
        row = await self._arrival(request)
        if not self._recruiter.capabilities.pays:
            raise _NeedNot(f"the recruiter {self._recruiter.name!r} takes no work in")
        if row.status is not ArrivalStatus.RELEASED:
            # What they will be owed is not known yet, and what was refused cannot be paid any more.
            raise NotYet("is not done here yet, so the work cannot be refused")
        found = await self._record.read(payments.payments_of, [row.id])
        if owed := is_owed(found, self._config.currency):
            raise _No(f"{owed}, so the work cannot be refused")
        try:
            told = await self._recruiter.assignment(row.assignment_id)
        except NotYet:
            self._may_come(row)
            raise
        match told.status:
            case AssignmentStatus.TAKEN:
                self._may_come(row)
                raise NotYet("the work has not been handed in over there yet")
            case AssignmentStatus.REJECTED:
                return
            case AssignmentStatus.RETURNED:
                raise _NeedNot("the work was given back over there, so nothing is paid for it")
            case AssignmentStatus.APPROVED:
                raise _No("over there, the work was approved already, and is paid")
            case AssignmentStatus.SUBMITTED:
                pass
            case _:
                assert_never(told.status)
        if await of_somebody_else(self._record, row, told):
            raise _No("over there, somebody else did this work")
        feedback = str(request.data["reason"])
        await refuse(
            self._record, self._recruiter, self._config.study_id, row.assignment_id, feedback
        )

    def _may_come(self, row: ArrivalRow) -> None:
        """Work can be handed in as long as its time is not over."""
        if self._now() > row.created_at + self._config.assignment_duration_s + LATE_S:
            raise _NeedNot("the work was never handed in, so nothing is paid for it")

    # --- People ------------------------------------------------------------------------------

    async def _message(self, request: TeamRequest) -> None:
        if request.started_at is not None:
            raise _No(_MAY_BE_SENT)
        if not self._recruiter.capabilities.messages:
            name = self._recruiter.name
            raise _No(
                f"who came by a {name} cannot be reached by a {name}; write to them by other means"
            )
        worker = await self._worker(request)
        await self._record.writer.commit(rows.started(request, self._now()))
        subject, text = str(request.data["subject"]), str(request.data["text"])
        try:
            unreached = await self._recruiter.message([worker], subject, text)
        except Unsure as error:
            raise _No(f"{_MAY_BE_SENT} ({error})") from None
        if unreached:
            raise _No("; ".join(unreached.values()))

    async def _keep_away(self, request: TeamRequest, away: bool) -> None:
        later = [
            other
            for other in await self._record.read(rows.requests_at, request.target)
            if other.kind in (RequestKind.BLOCK, RequestKind.UNBLOCK)
            and (other.at, other.id) > (request.at, request.id)
        ]
        if later:
            # Put off, it would otherwise undo what was wanted after it.
            raise _NeedNot("something else was asked for since")
        if not self._recruiter.capabilities.blocks:
            raise _No(
                f"who comes by a {self._recruiter.name} cannot be kept away over there; here, who "
                "is excluded is not let in"
            )
        worker = await self._worker(request)
        if away:
            await self._recruiter.block(worker, str(request.data.get("reason", "")))
        else:
            await self._recruiter.unblock(worker)

    # --- Who it is about -----------------------------------------------------------------------

    async def _arrival(self, request: TeamRequest) -> ArrivalRow:
        row = await self._record.one(queries.arrivals_by_id, request.target)
        if row is None or row.study_id != self._config.study_id:
            raise _No("there is no such arrival in this study")
        return row

    async def _worker(self, request: TeamRequest) -> str:
        """The recruiter's id of who the request is about."""
        known = await self._record.one(workers_by_id, request.target)
        if known is None or known.study_id != self._config.study_id:
            raise _No("there is no such worker in this study")
        if await self._record.read(erased_among, [known.id]):
            raise _No("was erased on request; nobody knows who it was")
        if known.recruiter != self._recruiter.name:
            raise _No(f"came by {known.recruiter}, which is not this study's recruiter any more")
        mine = await self._record.read(queries.arrivals_of_worker, known.id)
        _, problems = await known_as(
            self._record, self._config.study_id, {row.id: row for row in mine}
        )
        if problems:
            raise _No(problems[0])
        return known.external_id
