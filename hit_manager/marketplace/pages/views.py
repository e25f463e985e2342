"""The pages of a signed-in worker: the list, a HIT, the work in its frame, my work, messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from aiohttp import web

from hit_manager.marketplace import (
    assignments,
    qualification_requests,
    workrecord,
    workside,
    workviews,
)
from hit_manager.marketplace.errors import NoSuchAssignment, NoSuchHit, Refused
from hit_manager.marketplace.pages.forms import Form, read_form
from hit_manager.marketplace.pages.render import page
from hit_manager.marketplace.pages.session import MARKET, WORKER, is_ours, is_own_post, token
from hit_manager.marketplace.pages.task import HTML_POLICY, html_page, show
from hit_manager.marketplace.states import AssignmentStatus, RequestStatus
from hit_manager.marketplace.workviews import Sort, Sought

PAGE: Final = 30
MAX_SEARCH: Final = 200

_SORTS: Final = (
    (Sort.NEWEST, "Newest first"),
    (Sort.REWARD, "Highest reward"),
    (Sort.MOST, "Most HITs"),
)


@dataclass(frozen=True, slots=True)
class Notice:
    """A line at the top of a page. `tone` is good, warn or bad."""

    tone: str
    text: str


# What another page may ask to be said; free text from an address would be anybody's.
_NOTICES: Final = {
    "submitted": Notice("good", "Submitted. The team will review your work."),
    "returned": Notice("good", "Returned. Somebody else can take that HIT now."),
    "over": Notice("warn", "That HIT is no longer yours: its time was up, or it was returned."),
    "taken": Notice("warn", "That HIT is no longer available."),
    "asked": Notice("good", "Asked. The team will look at your request."),
    "granted": Notice("good", "Granted: you have this qualification now."),
    "other": Notice("warn", "Somebody else took the HIT you looked at. This is another like it."),
}


def signed_in(request: web.Request, template: str, /, **values: Any) -> web.Response:
    """A page with the worker's bar, and the notice that its address names."""
    notice = _NOTICES.get(request.query.get("said", ""))
    common = {"worker": request[WORKER], "notice": notice, "token": token(request)}
    return page(request, template, **(common | values))


async def hits(request: web.Request) -> web.Response:
    """The list, searched."""
    market, worker = request.app[MARKET], request[WORKER]
    query = request.query
    sought = Sought(
        text=query.get("q", "")[:MAX_SEARCH].strip(),
        only_qualified=query.get("qualified") == "1",
        sort=Sort(query["sort"]) if query.get("sort") in set(Sort) else Sort.NEWEST,
    )
    start = _number(query.get("from"))
    found = await market.read(workviews.groups, worker.id, sought)
    held = await market.store.read(workrecord.held_by, worker.id)
    shown = found[start : start + PAGE]
    more = None
    if len(found) > start + PAGE:
        kept = {key: value for key, value in query.items() if key in ("q", "qualified", "sort")}
        more = "/worker/?" + urlencode(kept | {"from": str(start + PAGE)})
    return signed_in(
        request,
        "hits.html",
        here="hits",
        groups=shown,
        held=held,
        sought=sought,
        sorts=_SORTS,
        more=more,
        now=market.clock.now(),
    )


async def group(request: web.Request) -> web.Response:
    """On to a HIT of this type that the worker can take."""
    market = request.app[MARKET]
    found = await market.read(workviews.pick, request[WORKER].id, request.match_info["type"])
    raise web.HTTPSeeOther(f"/worker/hits/{found}" if found else "/worker/?said=taken")


async def preview(request: web.Request) -> web.Response:
    """A HIT to look at. Nothing is taken, and the task is told of nobody."""
    market, worker = request.app[MARKET], request[WORKER]
    hit = await market.read(workviews.hit_for, worker.id, request.match_info["hit"])
    another = await market.store.read(workviews.pick, worker.id, hit.hit_type_id, hit.hit_id)
    task = None
    if hit.may_preview:
        ours = partial(is_ours, request)
        task = show(hit.question, market.public_url, hit.hit_id, is_ours=ours)
    return signed_in(
        request,
        "preview.html",
        framing=True,
        here="hits",
        hit=hit,
        held=hit.held,
        refusal=hit.refusal,
        another=another if another != hit.hit_id else None,
        task=task,
    )


async def accept(request: web.Request) -> web.Response:
    """Take this HIT, or another of its type when somebody was faster."""
    await _own(request)
    market, worker, hit_id = request.app[MARKET], request[WORKER], request.match_info["hit"]
    got = await market.write(workside.accept, worker.id, hit_id)
    said = "" if got.hit_id == hit_id else "?said=other"
    raise web.HTTPSeeOther(f"/worker/assignments/{got.assignment_id}{said}")


async def ask(request: web.Request) -> web.Response:
    """Ask for a qualification that a HIT needs, and go back to the HIT."""
    form = await _own(request)
    hit_id = form.get("hit", "")
    market, worker = request.app[MARKET], request[WORKER]
    asked = await market.write(qualification_requests.ask, worker.id, request.match_info["type"])
    said = "granted" if asked.status is RequestStatus.GRANTED else "asked"
    where = f"hits/{hit_id}" if hit_id.isalnum() else ""
    raise web.HTTPSeeOther(f"/worker/{where}?said={said}")


async def work(request: web.Request) -> web.Response:
    """The task in its frame, as this worker's own."""
    market, worker = request.app[MARKET], request[WORKER]
    held = await market.read(workrecord.assignment, worker.id, request.match_info["assignment"])
    if held.status is not AssignmentStatus.ACCEPTED:
        raise web.HTTPSeeOther(_after(held.status))
    task = show(
        held.question,
        market.public_url,
        held.hit_id,
        is_ours=partial(is_ours, request),
        assignment_id=held.assignment_id,
        worker_id=worker.id,
    )
    return signed_in(
        request, "work.html", framing=True, held=held, task=task, now=market.clock.now()
    )


async def done(request: web.Request) -> web.Response:
    """Where to go on after the frame said that it has submitted; the database knows."""
    market, worker = request.app[MARKET], request[WORKER]
    held = await market.read(workrecord.assignment, worker.id, request.match_info["assignment"])
    if held.status is AssignmentStatus.ACCEPTED:
        # It has not, whatever its page said. No content leaves the page and the work as they are.
        return web.Response(status=204)
    raise web.HTTPSeeOther(_after(held.status))


def _after(status: AssignmentStatus) -> str:
    if status in (AssignmentStatus.RETURNED, AssignmentStatus.ABANDONED):
        return "/worker/work?said=over"
    return "/worker/work?said=submitted"


async def give_back(request: web.Request) -> web.Response:
    """Return an assignment. The page asked before."""
    await _own(request)
    market, worker = request.app[MARKET], request[WORKER]
    await market.write(assignments.give_back, worker.id, request.match_info["assignment"])
    raise web.HTTPSeeOther("/worker/work?said=returned")


async def my_work(request: web.Request) -> web.Response:
    market, worker = request.app[MARKET], request[WORKER]
    before = _number(request.query.get("before"))
    rows = await market.read(workrecord.my_work, worker.id, before or None, PAGE + 1)
    earnings = await market.store.read(workrecord.earnings, worker.id)
    more = f"/worker/work?before={rows[PAGE - 1].n}" if len(rows) > PAGE else None
    return signed_in(
        request,
        "mywork.html",
        here="work",
        rows=rows[:PAGE],
        earnings=earnings,
        more=more,
        now=market.clock.now(),
    )


async def messages(request: web.Request) -> web.Response:
    market, worker = request.app[MARKET], request[WORKER]
    found = await market.read(workrecord.messages_of, worker.id)
    if worker.unread:
        await market.store.write(workside.read_messages, worker.id)
    return signed_in(
        request,
        "messages.html",
        here="messages",
        messages=found,
        worker=replace(worker, unread=0),
    )


async def html_question(request: web.Request) -> web.Response:
    """An HTMLQuestion's own page, for the frame of one who may see it."""
    market, worker = request.app[MARKET], request[WORKER]
    hit = await market.read(workviews.hit_for, worker.id, request.match_info["hit"])
    html = html_page(hit.question, market.public_url)
    if html is None or not (hit.may_preview or hit.held):
        raise NoSuchHit("This HIT has no page of its own.")
    return web.Response(
        text=html,
        content_type="text/html",
        charset="utf-8",
        headers={
            "Content-Security-Policy": HTML_POLICY,
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        },
    )


async def _own(request: web.Request) -> Form:
    """The form of a post, if a page of ours made it.

    Raises:
        HTTPForbidden: it was made elsewhere, or this page is of an earlier sign-in.
    """
    form = await read_form(request)
    if not is_own_post(request, form):
        raise web.HTTPForbidden
    return form


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 10 else 0


def refusal_page(request: web.Request, error: Refused) -> web.Response:
    """What a worker is told who asked for what cannot be had."""
    status, heading = 409, "That did not work"
    if isinstance(error, NoSuchHit | NoSuchAssignment):
        status, heading = 404, "There is no such HIT for you"
    return signed_in(request, "problem.html", status=status, heading=heading, text=str(error))
