"""The page behind an invitation: it explains, asks for a name and a country, and signs in."""

from __future__ import annotations

from typing import Final

from aiohttp import web

from hit_manager.marketplace.countries import COUNTRIES, NAMES
from hit_manager.marketplace.pages.forms import read_form
from hit_manager.marketplace.pages.render import page
from hit_manager.marketplace.pages.session import MARKET, from_here, remember, who
from hit_manager.marketplace.workside import Invitation, invitation, join, sign_in

MAX_NAME: Final = 40


async def show(request: web.Request) -> web.Response:
    """GET: looking at it uses nothing up, for programs that read mail open links too."""
    found = await _invitation(request)
    if found is None:
        return await _unknown(request)
    me = await who(request)
    if me is not None and found.worker is not None and found.worker.id == me.id:
        raise web.HTTPSeeOther("/worker/")
    return _form(request, found)


async def enter(request: web.Request) -> web.Response:
    """POST: become a worker, or come back as the one whom this invitation made."""
    found = await _invitation(request)
    if found is None:
        return await _unknown(request)
    if not from_here(request):
        raise web.HTTPForbidden
    market = request.app[MARKET]
    if found.worker is not None:
        session = await market.store.write(sign_in, found.code)
    else:
        form = await read_form(request)
        name = " ".join(form.get("name", "").split())
        country = form.get("country", "")
        adult = form.get("adult") == "1"
        problems = _problems(name, country)
        if problems:
            return _form(request, found, name, country, adult, problems, status=422)
        session = await market.store.write(
            join, found.code, name=name, country=country, adult=adult
        )
    response = web.HTTPSeeOther("/worker/")
    remember(request, response, session)
    raise response


def _problems(name: str, country: str) -> dict[str, str]:
    found = {}
    if not name:
        found["name"] = "Please enter a name; a nickname will do."
    elif len(name) > MAX_NAME or not name.isprintable():
        found["name"] = f"Please enter at most {MAX_NAME} ordinary characters."
    if country not in NAMES:
        found["country"] = "Please choose the country you live in."
    return found


async def _invitation(request: web.Request) -> Invitation | None:
    return await request.app[MARKET].store.read(invitation, request.match_info["code"])


def _form(
    request: web.Request,
    found: Invitation,
    name: str = "",
    country: str = "",
    adult: bool = False,
    problems: dict[str, str] | None = None,
    *,
    status: int = 200,
) -> web.Response:
    return page(
        request,
        "join.html",
        status=status,
        returning=found.worker,
        name=name,
        country=country,
        adult=adult,
        problems={"name": "", "country": ""} | (problems or {}),
        countries=COUNTRIES,
        max_name=MAX_NAME,
    )


async def _unknown(request: web.Request) -> web.Response:
    return page(
        request,
        "problem.html",
        status=404,
        worker=await who(request),
        heading="This invitation is not known",
        text="Check that the whole address was copied, or ask the team for a new invitation.",
    )
