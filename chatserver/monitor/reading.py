"""What the team reads: `GET /api/monitor/…`, but for review and sign-in."""

from __future__ import annotations

from typing import Final

from aiohttp import hdrs, web

from chatserver.live.service import LiveService
from chatserver.monitor import asked
from chatserver.monitor.answers import answer, unknown
from chatserver.monitor.cursors import to_text
from chatserver.monitor.flagging import known_flags
from chatserver.monitor.pulse import Pulse
from chatserver.monitor.rows import (
    dialog_out,
    dialog_row,
    payment_out,
    request_out,
    worker_brief,
    worker_row,
)
from chatserver.monitor.sessions import ADMIN
from chatserver.monitor.wire import (
    AuditRow,
    AuditRows,
    ChainDialog,
    ChainRow,
    ChainRows,
    DialogOut,
    DialogRows,
    HitRow,
    HitRows,
    LedgerRows,
    LedgerSum,
    NoteOut,
    RequestRows,
    ToldRow,
    ToldRows,
    WorkerOut,
    WorkerRows,
)
from dialogs.record import accounts, findings, listing, people, queries
from dialogs.record.admins import admin_names
from dialogs.record.audit import audit_page
from dialogs.record.listing import Filters
from dialogs.record.notes import notes_of
from dialogs.record.payments import ledger_totals
from dialogs.record.people import Wanted
from dialogs.record.requests import listed_requests, requests_about, requests_by_state
from dialogs.record.supply import supply
from dialogs.record.told import listed_told
from dialogs.record.whole import whole
from dialogs.rules import (
    Acceptance,
    AdminRole,
    Ending,
    HitState,
    LedgerState,
    Phase,
    RequestState,
    ToldKind,
)

USUAL_HOURS: Final = 3.0
MOST_HOURS: Final = 48.0
DIALOGS_SHOWN: Final = 100
"""Of how many of somebody's dialogs, the latest, each has a row."""


class Reading:
    """Answers what is read. Every answer is a page of what is in the record now."""

    def __init__(self, service: LiveService, pulse: Pulse) -> None:
        self._service = service
        self._record = service.record
        self._study_id = service.config.study.id
        self._pulse = pulse

    def add_to(self, app: web.Application) -> None:
        """Add the routes."""
        for path, answering in (
            ("now", self.now),
            ("chart", self.chart),
            ("dialogs", self.dialogs),
            ("dialogs/{id}", self.dialog),
            ("workers", self.workers),
            ("workers/{id}", self.worker),
            ("hits", self.hits),
            ("chains", self.chains),
            ("ledger", self.ledger),
            ("requests", self.requests),
            ("flags", self.flags),
            ("audit", self.audit),
            ("told", self.told),
            ("items/{id}/picture", self.picture),
        ):
            app.router.add_get(f"/api/monitor/{path}", answering)

    async def now(self, _request: web.Request) -> web.StreamResponse:
        return answer(await self._pulse.now())

    async def chart(self, request: web.Request) -> web.StreamResponse:
        wanted = asked.number(request.query, "hours")
        hours = USUAL_HOURS if wanted is None else wanted
        if not 0 < hours <= MOST_HOURS:
            raise asked.bad("hours", f"must be more than 0, and {MOST_HOURS:g} at most")
        return answer(await self._pulse.chart(self._service.now() - hours * 3600))

    async def dialogs(self, request: web.Request) -> web.StreamResponse:
        query = request.query
        filters = Filters(
            phase=asked.one_of(query, "phase", Phase),
            outcome=asked.one_of(query, "outcome", Ending),
            acceptance=asked.one_of(query, "acceptance", Acceptance),
            flag=asked.text(query, "flag"),
            worker=asked.text(query, "worker"),
            since=asked.number(query, "since"),
            until=asked.number(query, "until"),
        )
        rows, total, following = await self._record.read(
            listing.listed, self._study_id, filters, asked.after(query)
        )
        shown = [dialog_row(row) for row in rows]
        return answer(DialogRows(rows=shown, total=total, next=to_text(following)))

    async def dialog(self, request: web.Request) -> web.StreamResponse:
        try:
            return answer(await self.show(request.match_info["id"]))
        except LookupError:
            raise unknown("dialog") from None

    async def show(self, dialog_id: str) -> DialogOut:
        """Everything about one dialog.

        Raises:
            LookupError: there is none.
        """
        found = await self._record.read(whole, self._study_id, dialog_id)
        if found is None:
            raise LookupError(dialog_id)
        return dialog_out(found, self._service.now())

    async def workers(self, request: web.Request) -> web.StreamResponse:
        query = request.query
        wanted = Wanted(
            search=asked.text(query, "search") or "",
            by_external_id=_may_know(request),
            excluded=asked.flag(query, "excluded"),
            flagged=asked.flag(query, "flagged"),
        )
        found, total, following = await self._record.read(
            people.people, self._study_id, wanted, asked.after(query)
        )
        shown = [worker_row(person) for person in found]
        return answer(WorkerRows(rows=shown, total=total, next=to_text(following)))

    async def worker(self, request: web.Request) -> web.StreamResponse:
        worker_id = request.match_info["id"]
        read = self._record.read
        person = (await read(people.people_by_id, self._study_id, [worker_id])).get(worker_id)
        if person is None:
            raise unknown("person")
        habits = (await read(people.habits, [worker_id]))[worker_id]
        came = [row.id for row in await read(queries.arrivals_of_worker, worker_id)]
        payments = await read(accounts.payments_of_arrivals, came[:DIALOGS_SHOWN])
        dialogs = await read(listing.dialogs_of_worker, worker_id, DIALOGS_SHOWN)
        notes = await read(notes_of, worker_id)
        requests = await read(requests_about, worker_id)
        authors = [note.admin_id for note in notes] + [each.admin_id for each in requests]
        names = await read(admin_names, {each for each in authors if each is not None})
        return answer(
            WorkerOut(
                row=worker_row(person),
                # Who watches only need not know who people are elsewhere.
                external_id=person.external_id if _may_know(request) else None,
                excluded_why=person.excluded_why,
                brief=worker_brief(person, habits),
                releases=await read(people.releases_of_worker, worker_id),
                median_words=habits.words,
                dialogs=[dialog_row(row) for row in dialogs],
                payments=[payment_out(row) for row in payments],
                notes=[
                    NoteOut(by=names.get(note.admin_id or ""), text=note.text, at=note.at)
                    for note in notes
                ],
                requests=[request_out(each, worker_id, names) for each in requests],
            )
        )

    async def hits(self, request: web.Request) -> web.StreamResponse:
        query, read = request.query, self._record.read
        state = asked.one_of(query, "state", HitState)
        rows, total, following = await read(
            accounts.listed_hits, self._study_id, state, asked.after(query)
        )
        need = await read(supply, self._study_id)
        return answer(
            HitRows(
                wanted=need.wanted,
                have=need.have,
                why="" if self._service.is_open() else "the study is paused",
                states=await read(accounts.hits_by_state, self._study_id),
                rows=[
                    HitRow(
                        id=row.id,
                        remote_id=row.remote_id,
                        state=row.state,
                        seats=row.seats,
                        taken=row.taken,
                        submitted=row.submitted,
                        reward=row.reward,
                        posted_at=row.posted_at,
                        expires_at=row.expires_at,
                        problem=row.problem,
                    )
                    for row in rows
                ],
                total=total,
                next=to_text(following),
            )
        )

    async def chains(self, request: web.Request) -> web.StreamResponse:
        rows, total, following = await self._record.read(
            accounts.relaunched_items, self._study_id, asked.integer(request.query, "after")
        )
        shown = [
            ChainRow(
                image_id=row.image_id,
                caption=row.caption,
                wanted=row.wanted,
                complete=row.complete,
                dialogs=[
                    ChainDialog(id=id_, how=how, relaunched=list(hits))
                    for id_, how, hits in row.dialogs
                ],
            )
            for row in rows
        ]
        where = None if following is None else str(following)
        return answer(ChainRows(rows=shown, total=total, next=where))

    async def ledger(self, request: web.Request) -> web.StreamResponse:
        query = request.query
        state = asked.one_of(query, "state", LedgerState)
        rows, total, following = await self._record.read(
            accounts.listed_payments,
            self._study_id,
            states=(state,) if state else (),
            problem=asked.flag(query, "problem"),
            after=asked.after(query),
        )
        sums = await self._record.read(ledger_totals, self._study_id)
        return answer(
            LedgerRows(
                sums=[
                    LedgerSum(state=each.state, payments=each.payments, cents=each.cents)
                    for each in sums
                ],
                rows=[payment_out(row) for row in rows],
                total=total,
                next=to_text(following),
            )
        )

    async def requests(self, request: web.Request) -> web.StreamResponse:
        query, read = request.query, self._record.read
        state = asked.one_of(query, "state", RequestState)
        rows, total, following = await read(
            listed_requests, self._study_id, state, asked.after(query)
        )
        authors = {row.request.admin_id for row in rows}
        names = await read(admin_names, {each for each in authors if each is not None})
        return answer(
            RequestRows(
                states=await read(requests_by_state, self._study_id),
                rows=[request_out(row.request, row.worker_id, names) for row in rows],
                total=total,
                next=to_text(following),
            )
        )

    async def flags(self, _request: web.Request) -> web.StreamResponse:
        return answer(known_flags(await self._record.read(findings.flagged, self._study_id)))

    async def audit(self, request: web.Request) -> web.StreamResponse:
        query = request.query
        try:
            page = await self._record.read(
                audit_page,
                self._study_id,
                by=asked.text(query, "by"),
                action=asked.text(query, "action"),
                target=asked.text(query, "target"),
                after=asked.text(query, "after"),
            )
        except ValueError as error:
            raise asked.bad("after", str(error)) from None
        shown = [
            AuditRow(
                id=row.id,
                at=row.at,
                by=row.by,
                action=row.action,
                target=row.target,
                before=row.before,
                after=row.after,
            )
            for row in page.rows
        ]
        return answer(AuditRows(rows=shown, total=page.total, next=page.next))

    async def told(self, request: web.Request) -> web.StreamResponse:
        """What workers told the team."""
        rows, total, following = await self._record.read(
            listed_told,
            self._study_id,
            asked.one_of(request.query, "kind", ToldKind),
            asked.after(request.query),
        )
        shown = [
            ToldRow(
                id=row.id,
                at=row.at,
                kind=row.kind,
                text=row.text,
                worker_id=row.worker_id,
                dialog_id=row.dialog_id,
            )
            for row in rows
        ]
        return answer(ToldRows(rows=shown, total=total, next=to_text(following)))

    async def picture(self, request: web.Request) -> web.StreamResponse:
        """An item's picture, for the team only."""
        item = await self._record.one(queries.items_by_id, request.match_info["id"])
        if item is None:
            raise unknown("item")
        file = self._service.config.pictures / item.file
        # The same for ever, but for nobody else who uses this browser.
        return web.FileResponse(file, headers={hdrs.CACHE_CONTROL: "private, max-age=3600"})


def _may_know(request: web.Request) -> bool:
    """Whether who asks may know what recruiters call people."""
    return request[ADMIN].role is not AdminRole.VIEWER
