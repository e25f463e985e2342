"""The addresses of the workers' pages, and what becomes of whoever may not be there."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from aiohttp import web

from hit_manager.marketplace.core import Marketplace
from hit_manager.marketplace.errors import Fault, MarketplaceError, Refused
from hit_manager.marketplace.pages import joining, submit, views
from hit_manager.marketplace.pages.render import HERE, page
from hit_manager.marketplace.pages.session import MARKET, WORKER, who
from hit_manager.marketplace.workside import Worker

log = logging.getLogger("duologue.market")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_KEPT_S: Final = 300


def add_pages(app: web.Application, market: Marketplace) -> None:
    """Serve the pages from `app`, under `/worker/` and `/mturk/externalSubmit`."""
    app[MARKET] = market
    app.middlewares.append(_said_in_a_page)
    router = app.router
    router.add_get("/worker", _to_list)
    router.add_get("/worker/join/{code}", joining.show)
    router.add_post("/worker/join/{code}", joining.enter)
    for path, handler in (
        ("/worker/", views.hits),
        ("/worker/groups/{type}", views.group),
        ("/worker/hits/{hit}", views.preview),
        ("/worker/hits/{hit}/question", views.html_question),
        ("/worker/assignments/{assignment}", views.work),
        ("/worker/assignments/{assignment}/done", views.done),
        ("/worker/work", views.my_work),
        ("/worker/messages", views.messages),
    ):
        router.add_get(path, _for_workers(handler))
    router.add_post("/worker/hits/{hit}/accept", _for_workers(views.accept))
    router.add_post("/worker/qualifications/{type}/ask", _for_workers(views.ask))
    router.add_post("/worker/assignments/{assignment}/return", _for_workers(views.give_back))
    router.add_post(submit.PATH, submit.external_submit)
    router.add_get(submit.PATH, submit.looked_at)
    router.add_get("/worker/static/{name}", _static)


async def _to_list(_request: web.Request) -> web.StreamResponse:
    raise web.HTTPSeeOther("/worker/")


def _for_workers(handler: Handler) -> Handler:
    """Let in who is signed in; tell everybody else how to come in."""

    async def guarded(request: web.Request) -> web.StreamResponse:
        worker = await who(request)
        if worker is None:
            return _problem(
                request,
                401,
                "You are not signed in",
                "Open your own invitation link again: it is how you come in, and how you come "
                "back. Without one, ask the team that runs this marketplace.",
            )
        request[WORKER] = worker
        try:
            return await handler(request)
        except Refused as error:
            return views.refusal_page(request, error)

    return guarded


async def _static(request: web.Request) -> web.StreamResponse:
    folder = HERE / "static"
    name = request.match_info["name"]
    if name not in {each.name for each in folder.iterdir()}:
        raise web.HTTPNotFound
    return web.FileResponse(
        folder / name,
        headers={
            "Cache-Control": f"public, max-age={_KEPT_S}",
            "X-Content-Type-Options": "nosniff",
            # A frame without an origin of its own asks for these from elsewhere.
            "Access-Control-Allow-Origin": "*",
        },
    )


@web.middleware
async def _said_in_a_page(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every error of these addresses is a page without internals."""
    if not request.path.startswith(("/worker", submit.PATH)):
        return await handler(request)
    try:
        # No id of ours holds what PostgreSQL cannot be asked for.
        if not all(part.isprintable() for part in request.match_info.values()):
            raise web.HTTPNotFound
        return await handler(request)
    except web.HTTPException as answer:
        if answer.status < 400:
            raise
        heading, text = _SAID.get(answer.status, _SAID[400])
        return _problem(request, answer.status, heading, text, await _whoever(request))
    except Fault as error:
        log.warning("%s: %r", request.method, error)
        return _problem(
            request, 503, "One moment, please", "Load this page again in a few seconds."
        )
    except Exception:
        log.exception("a page of the marketplace failed")
        return _problem(
            request, 500, "Something went wrong on our side", "Please try again in a moment."
        )


_SAID: Final = {
    400: ("That could not be understood", "Please go back and try again."),
    403: (
        "This page is out of date",
        "You have signed in again since it was opened. Go back, load it again, and repeat what "
        "you did; nothing has changed.",
    ),
    413: ("That is too much", "Please go back and make it shorter."),
    415: ("That could not be understood", "It was sent compressed; please send it as it is."),
    404: ("There is no such page", "Check the address."),
}


async def _whoever(request: web.Request) -> Worker | None:
    """Who is signed in; nobody if the database does not answer: then, too, there is a page."""
    if WORKER in request:
        return request[WORKER]
    try:
        return await who(request)
    except MarketplaceError:
        return None


def _problem(
    request: web.Request, status: int, heading: str, text: str, worker: Worker | None = None
) -> web.Response:
    """A page that says what is wrong. With a worker it keeps the menu and leads on."""
    return page(
        request,
        "problem.html",
        status=status,
        worker=worker or request.get(WORKER),
        heading=heading,
        text=text,
    )
