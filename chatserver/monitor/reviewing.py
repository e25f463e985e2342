"""The review of what was collected, as the page asks for it: `/api/monitor/review/*`."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Any, Final, Protocol, TypeVar

import orjson
from aiohttp import web
from pydantic import BaseModel, ValidationError

from chatserver.live.service import LiveService
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
from dialogs.record.judging import BadJudgement, Overtaken, Pay
from dialogs.record.review_desk import Given, ReviewDesk
from dialogs.record.review_queue import ANY, Filters
from dialogs.record.store import Record
from dialogs.rules import AdminRole, Outcome

LONGEST: Final = 200
"""Characters of a value in an address, at most."""

Kind = TypeVar("Kind", bound=StrEnum)
Show = Callable[[str], Awaitable[DialogOut]]
"""Gives a dialog as the page shows it, by its id."""


class Who(Protocol):
    """Who of the team asks."""

    @property
    def id(self) -> str: ...
    @property
    def role(self) -> AdminRole: ...


class NotDone(Exception):
    """Nothing was done, and what the page is told."""

    def __init__(self, status: int, code: str, error: str) -> None:
        super().__init__(error)
        self.status = status
        self.code = code
        self.error = error


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

    async def next(self, who: Who, query: Mapping[str, str]) -> ReviewNext:
        """What this reviewer judges next."""
        filters = filters_of(query)
        try:
            given = await self._desk.next(who.id, filters)
        except Overtaken as error:
            raise NotDone(409, "conflict", str(error)) from None
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
            raise NotDone(400, "bad_request", "pay: an arrival stands in it twice.")
        try:
            done = await self._desk.judge(who.id, dialog_id, what.verdict, what.reason.strip(), pay)
        except LookupError:
            raise _unknown() from None
        except BadJudgement as error:
            raise NotDone(400, "bad_request", f"{error}.") from None
        except Overtaken as error:
            raise NotDone(409, "conflict", str(error)) from None
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
        await self._desk.skip(who.id, dialog_id)
        return Done()

    async def undo(self, who: Who, what: Undo) -> ReviewNext:
        owner = who.role is AdminRole.OWNER
        try:
            given = await self._desk.undo(who.id, what.dialog_id, of_anybody=owner)
        except LookupError:
            raise _unknown() from None
        except Overtaken as error:
            raise NotDone(409, "conflict", str(error)) from None
        self._told(asks=False)
        return await self._given(who, given, ANY)

    async def bulk(self, who: Who, what: Bulk) -> BulkDone:
        """Judge all that match, or with `dry_run` say what that would be."""
        if what.verdict is not None and what.outcome not in (None, Outcome.COMPLETE):
            raise NotDone(400, "bad_request", "verdict: only a complete dialog can be data.")
        if what.verdict is None and what.outcome is Outcome.COMPLETE:
            text = "verdict: a complete dialog is accepted or rejected."
            raise NotDone(400, "bad_request", text)
        filters = Filters(
            flag=what.flag,
            unflagged=what.unflagged,
            worker=what.worker,
            outcome=what.outcome,
            since=what.since,
            until=what.until,
        )
        asked = (who.id, what.verdict, filters)
        if what.dry_run:
            plan = await self._desk.plan(*asked, approve_pay=what.approve_pay)
        elif what.expected is None:
            text = "expected: say how many dialogs it is to be."
            raise NotDone(400, "bad_request", text)
        else:
            try:
                plan = await self._desk.bulk(
                    *asked, approve_pay=what.approve_pay, expected=what.expected
                )
            except Overtaken as error:
                raise NotDone(409, "conflict", str(error)) from None
            self._told(asks=True)
        return BulkDone(dialogs=plan.dialogs, payments=plan.payments, cents=plan.cents)

    async def stats(self, who: Who) -> ReviewStats:
        found = await self._record.read(review_stats, self._study_id)
        mine = next((each.judged for each in found.reviewers if each.admin_id == who.id), 0)
        return ReviewStats(
            waiting=await self._desk.waiting(who.id, ANY),
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


def _unknown() -> NotDone:
    return NotDone(404, "not_found", "There is no such dialog that has ended.")


# --- What is asked -------------------------------------------------------------------------


def filters_of(query: Mapping[str, str]) -> Filters:
    """The filters in an address.

    Raises:
        NotDone: one makes no sense.
    """
    return Filters(
        flag=_text(query, "flag"),
        unflagged=_yes(query, "unflagged"),
        worker=_text(query, "worker"),
        outcome=_one_of(query, "outcome", Outcome),
        since=_time(query, "since"),
        until=_time(query, "until"),
    )


def _bad(where: str, why: str) -> NotDone:
    return NotDone(400, "bad_request", f"{where}: {why}.")


def _text(query: Mapping[str, str], name: str) -> str | None:
    value = query.get(name, "")
    if len(value) > LONGEST or any(char < " " or char == "\x7f" for char in value):
        raise _bad(name, f"must be one line of {LONGEST} characters at most")
    return value or None


def _yes(query: Mapping[str, str], name: str) -> bool:
    value = _text(query, name)
    if value not in (None, "0", "1"):
        raise _bad(name, "must be 0 or 1")
    return value == "1"


def _one_of(query: Mapping[str, str], name: str, kind: type[Kind]) -> Kind | None:
    value = _text(query, name)
    if value is not None and value not in set(kind):
        raise _bad(name, f"must be one of {', '.join(kind)}")
    return None if value is None else kind(value)


def _time(query: Mapping[str, str], name: str) -> float | None:
    value = _text(query, name)
    try:
        seconds = None if value is None else float(value)
    except ValueError:
        seconds = math.nan
    if seconds is not None and not math.isfinite(seconds):
        raise _bad(name, "must be a number of seconds")
    return seconds


# --- Routes --------------------------------------------------------------------------------


def add_routes(
    router: web.UrlDispatcher, reviewing: Reviewing, who: Callable[[web.Request], Who]
) -> None:
    """Serve the review. `who(request)` says who asks; that they may is known before."""

    async def take_next(request: web.Request) -> BaseModel:
        return await reviewing.next(who(request), request.query)

    async def judge(request: web.Request) -> BaseModel:
        what = await _body(request, Judge)
        return await reviewing.judge(who(request), request.match_info["id"], what)

    async def skip(request: web.Request) -> BaseModel:
        return await reviewing.skip(who(request), request.match_info["id"])

    async def undo(request: web.Request) -> BaseModel:
        return await reviewing.undo(who(request), await _body(request, Undo))

    async def bulk(request: web.Request) -> BaseModel:
        return await reviewing.bulk(who(request), await _body(request, Bulk))

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
Body = TypeVar("Body", bound=BaseModel)


def _answered(handler: Handler) -> Answering:
    async def answer(request: web.Request) -> web.StreamResponse:
        try:
            text, status = (await handler(request)).model_dump_json(), 200
        except NotDone as refused:
            told = {"error": refused.error, "code": refused.code}
            text, status = orjson.dumps(told).decode(), refused.status
        return web.Response(text=text, status=status, content_type="application/json")

    return answer


async def _body(request: web.Request, model: type[Body]) -> Body:
    sent: Any = await request.read()
    try:
        # From JSON, in which the texts of an enum are its members.
        return model.model_validate_json(sent)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part)[:40] for part in first["loc"]) or "body"
        raise _bad(where, first["msg"]) from None
