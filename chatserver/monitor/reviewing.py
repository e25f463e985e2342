"""The review of what was collected, as the page asks for it: `/api/monitor/review/*`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from aiohttp import web
from pydantic import BaseModel

from chatserver.live.service import LiveService
from chatserver.monitor import asked
from chatserver.monitor.answers import answer, bad_request, conflict, read, unknown
from chatserver.monitor.wire import (
    Bulk,
    BulkDone,
    DialogOut,
    Done,
    Judge,
    Judged,
    ReviewerOut,
    ReviewNext,
    ReviewStats,
    Settled,
    Undo,
)
from dialogs.record.agreement import review_stats
from dialogs.record.audit import after_of, audited
from dialogs.record.judging import BadJudgement, Overtaken, Pay
from dialogs.record.review_desk import Given, Plan, ReviewDesk
from dialogs.record.review_queue import ANY, Filters
from dialogs.record.store import Record
from dialogs.record.writer import Decision
from dialogs.rules import AdminRole, Ending

Show = Callable[[str], Awaitable[DialogOut]]
"""Gives a dialog as the page shows it, by its id."""


class Who(Protocol):
    """Who of the team asks."""

    @property
    def id(self) -> str: ...
    @property
    def role(self) -> AdminRole: ...


def desk_of(service: LiveService) -> ReviewDesk:
    """The review of the study that is served: the lobby learns at once of places that are free
    again."""
    study = service.config.study
    desk = ReviewDesk(service.record, study.id, twice=study.review_twice, now=service.now)
    desk.on_place = lambda item_id, place: service.dialogs.on_place(item_id, place)
    desk.on_taken = service.take_away
    return desk


class Reviewing:
    """Answers what reviewers ask for. `changed(what)` tells open pages what is older than the
    record now; `ask()` tells the hit manager that there is something to do."""

    def __init__(
        self,
        record: Record,
        study_id: str,
        desk: ReviewDesk,
        show: Show,
        *,
        changed: Callable[[str], None] = lambda what: None,
        ask: Callable[[], None] = lambda: None,
    ) -> None:
        self._record = record
        self._study_id = study_id
        self._desk = desk
        self._show = show
        self._changed = changed
        self._ask = ask
        self._bulks: dict[str, asyncio.Future[BulkDone]] = {}

    async def next(self, who: Who, query: Mapping[str, str]) -> ReviewNext:
        """What this reviewer judges next."""
        filters = filters_of(query)
        try:
            given = await self._desk.next(who.id, filters)
        except Overtaken as error:
            raise conflict(str(error)) from None
        return await self._given(who, given, filters)

    async def _given(self, who: Who, given: Given | None, filters: Filters) -> ReviewNext:
        waiting = await self._desk.waiting(who.id, filters)
        if given is None:
            return ReviewNext(dialog=None, until=None, second=False, waiting=waiting)
        shown = await self._show(given.dialog_id)
        if given.second:
            # What the first one said would be heard in what the second one says.
            blind: dict[str, Any] = {"judgements": [], "acceptance": None, "relaunched": False}
            shown = shown.model_copy(update=blind)
        return ReviewNext(dialog=shown, until=given.until, second=given.second, waiting=waiting)

    async def judge(self, who: Who, dialog_id: str, what: Judge) -> Judged:
        pay = {each.arrival_id: Pay(each.approve, each.reason.strip()) for each in what.pay}
        if len(pay) < len(what.pay):
            raise bad_request("pay: an arrival stands in it twice.")
        try:
            done = await self._desk.judge(who.id, dialog_id, what.verdict, what.reason.strip(), pay)
        except LookupError:
            raise unknown("dialog that has ended") from None
        except BadJudgement as error:
            raise bad_request(f"{error}.") from None
        except Overtaken as error:
            raise conflict(str(error)) from None
        self._told(asks=done.decides)
        return Judged(
            decides=done.decides,
            pay=[
                Settled(
                    arrival_id=each.arrival_id,
                    reason=each.reason,
                    cents=each.cents,
                    state=each.state,
                    moved=each.moved,
                )
                for each in done.pay
            ],
        )

    async def skip(self, who: Who, dialog_id: str) -> Done:
        try:
            await self._desk.skip(who.id, dialog_id)
        except LookupError:
            raise unknown("dialog that has ended") from None
        return Done()

    async def undo(self, who: Who, what: Undo) -> ReviewNext:
        owner = who.role is AdminRole.OWNER
        try:
            given = await self._desk.undo(who.id, what.dialog_id, of_anybody=owner)
        except LookupError:
            raise unknown("dialog that has ended") from None
        except Overtaken as error:
            raise conflict(str(error)) from None
        self._told(asks=False)
        return await self._given(who, given, ANY)

    async def bulk(self, who: Who, what: Bulk) -> BulkDone:
        """Judge all that match, or with `dry_run` say what that would be."""
        if what.verdict is not None and what.outcome not in (None, Ending.COMPLETE):
            raise bad_request("verdict: only a complete dialog can be data.")
        if what.verdict is None and what.outcome is Ending.COMPLETE:
            text = "verdict: a complete dialog is accepted or rejected."
            raise bad_request(text)
        filters = Filters(
            flag=what.flag,
            unflagged=what.unflagged,
            worker=what.worker,
            outcome=what.outcome,
            since=what.since,
            until=what.until,
        )
        if what.dry_run:
            plan = await self._desk.plan(
                who.id, what.verdict, filters, approve_pay=what.approve_pay
            )
            return _bulk_done(plan)
        if what.expected is None:
            text = "expected: say how many dialogs it is to be."
            raise bad_request(text)
        if what.key is None:
            return await self._bulk(who, what, filters, what.expected, None)
        return await self._once(who, what, filters, what.expected, f"{who.id}.bulk.{what.key}")

    async def _once(
        self, who: Who, what: Bulk, filters: Filters, expected: int, name: str
    ) -> BulkDone:
        """Judge all that match, unless that was done under this name, or goes on in this process.

        In another one it may go on as well; then it is no longer as many as were expected.
        """
        known = await self._record.read(after_of, name)
        if known is not None:
            return BulkDone.model_validate_json(known)
        running = self._bulks.get(name)
        if running is None:
            work = self._bulk(who, what, filters, expected, name)
            running = self._bulks[name] = asyncio.ensure_future(work)
            running.add_done_callback(lambda _: self._bulks.pop(name))
        # Whoever asked may be gone before it is done.
        return await asyncio.shield(running)

    async def _bulk(
        self, who: Who, what: Bulk, filters: Filters, expected: int, name: str | None
    ) -> BulkDone:
        try:
            plan = await self._desk.bulk(
                who.id, what.verdict, filters, approve_pay=what.approve_pay, expected=expected
            )
        except Overtaken as error:
            raise conflict(str(error)) from None
        done = _bulk_done(plan)
        table, row = audited(
            self._study_id,
            who.id,
            "review.bulk",
            self._study_id,
            None,
            done.model_dump(),
            time.time(),
        )
        if name is not None:
            row["id"] = name
        await self._record.writer.commit(Decision(self._study_id, ((table, row),)))
        self._told(asks=True)
        return done

    async def stats(self, who: Who) -> ReviewStats:
        found = await self._record.read(review_stats, self._study_id)
        mine = next((each.judged for each in found.reviewers if each.admin_id == who.id), 0)
        return ReviewStats(
            waiting=await self._desk.undecided(),
            judged=found.judged,
            accepted=found.accepted,
            rejected=found.rejected,
            mine=mine,
            twice=found.twice,
            agree=found.agree,
            kappa=found.kappa,
            reviewers=[
                ReviewerOut(
                    name=each.name,
                    judged=each.judged,
                    rejected=each.rejected,
                    twice=each.twice,
                    alike=each.alike,
                )
                for each in found.reviewers
            ],
        )

    def _told(self, *, asks: bool) -> None:
        for what in ("review", "dialogs", "ledger"):
            self._changed(what)
        if asks:
            self._ask()


def _bulk_done(plan: Plan) -> BulkDone:
    return BulkDone(dialogs=plan.dialogs, payments=plan.payments, cents=plan.cents)


# --- What is asked -------------------------------------------------------------------------


def filters_of(query: Mapping[str, str]) -> Filters:
    """The filters in an address.

    Raises:
        NotDone: one makes no sense.
    """
    return Filters(
        flag=asked.text(query, "flag"),
        unflagged=asked.flag(query, "unflagged"),
        worker=asked.text(query, "worker"),
        outcome=asked.one_of(query, "outcome", Ending),
        since=asked.number(query, "since"),
        until=asked.number(query, "until"),
    )


# --- Routes --------------------------------------------------------------------------------


def add_routes(
    router: web.UrlDispatcher, reviewing: Reviewing, who: Callable[[web.Request], Who]
) -> None:
    """Serve the review. `who(request)` says who asks; that they may is known before."""

    async def take_next(request: web.Request) -> BaseModel:
        return await reviewing.next(who(request), request.query)

    async def judge(request: web.Request) -> BaseModel:
        what = await read(request, Judge)
        return await reviewing.judge(who(request), request.match_info["id"], what)

    async def skip(request: web.Request) -> BaseModel:
        return await reviewing.skip(who(request), request.match_info["id"])

    async def undo(request: web.Request) -> BaseModel:
        return await reviewing.undo(who(request), await read(request, Undo))

    async def bulk(request: web.Request) -> BaseModel:
        return await reviewing.bulk(who(request), await read(request, Bulk))

    async def stats(request: web.Request) -> BaseModel:
        return await reviewing.stats(who(request))

    path = "/api/monitor/review"
    router.add_get(f"{path}/stats", _answered(stats))
    # Before those with an id, which match whatever stands there.
    router.add_post(f"{path}/next", _answered(take_next))
    router.add_post(f"{path}/undo", _answered(undo))
    router.add_post(f"{path}/bulk", _answered(bulk))
    router.add_post(f"{path}/{{id}}", _answered(judge))
    router.add_post(f"{path}/{{id}}/skip", _answered(skip))


Handler = Callable[[web.Request], Awaitable[BaseModel]]
Answering = Callable[[web.Request], Awaitable[web.StreamResponse]]


def _answered(handler: Handler) -> Answering:
    async def answered(request: web.Request) -> web.StreamResponse:
        return answer(await handler(request))

    return answered
