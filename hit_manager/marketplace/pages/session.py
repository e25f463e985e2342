"""Who is at the page: a cookie of the marketplace's own pages, and posts that only they make.

The cookie holds a random word; the database its hash. The pages in frames never see it: a task
is of another site, and what it submits is known by its assignment's id alone.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from aiohttp import hdrs, web

from hit_manager.marketplace.addresses import place_of, place_of_host
from hit_manager.marketplace.core import Marketplace
from hit_manager.marketplace.pages.forms import Form
from hit_manager.marketplace.workside import Worker, worker_of

MARKET: Final = web.AppKey("market_of_pages", Marketplace)
WORKER: Final = web.RequestKey("worker", Worker)

COOKIE: Final = "market_worker"
COOKIE_DAYS: Final = 180
TOKEN_FIELD: Final = "token"


async def who(request: web.Request) -> Worker | None:
    """The worker whose cookie this is."""
    said = request.cookies.get(COOKIE)
    if not said:
        return None
    return await request.app[MARKET].store.read(worker_of, said)


def remember(request: web.Request, response: web.StreamResponse, session: str) -> None:
    """Sign in whoever gets this response."""
    response.set_cookie(
        COOKIE,
        session,
        max_age=COOKIE_DAYS * 86_400,
        path="/worker",
        httponly=True,
        samesite="Lax",
        secure=request.app[MARKET].public_url.startswith("https:"),
    )


def token(request: web.Request) -> str:
    """What a post of this worker must bring along. Nobody without the cookie can tell it.

    SameSite alone does not do: a task on another port of this host is of the same site.
    """
    secret = request.app[MARKET].store.secret
    said = request.cookies.get(COOKIE, "")
    return hmac.new(secret, f"post {said}".encode(errors="replace"), hashlib.sha256).hexdigest()


def is_own_post(request: web.Request, form: Form) -> bool:
    """Whether a page of ours, shown to this worker, made this post of this form."""
    given = form.get(TOKEN_FIELD, "")
    same = hmac.compare_digest(given.encode(), token(request).encode())
    return same and from_here(request)


def from_here(request: web.Request) -> bool:
    """Whether the browser names this marketplace, or nothing, as the origin of a request."""
    origin = request.headers.get(hdrs.ORIGIN)
    if origin is None:
        return True
    # A frame without an origin says "null", which is no place.
    place = place_of(origin)
    return place is not None and place in (
        place_of(request.app[MARKET].public_url),
        # By whatever name the person came.
        place_of_host(place.scheme, request.host),
    )


def is_ours(request: web.Request, address: str) -> bool:
    """Whether what is at this address could have the origin of the marketplace's own pages.

    Also what is not plainly written: the browser may read it as ours.
    """
    place = place_of(address)
    if place is None:
        return True
    # By another scheme it is another origin; but a proxy may serve both, and tells of neither.
    return any(
        ours is not None and (ours.host, ours.port) == (place.host, place.port)
        for ours in (
            place_of(request.app[MARKET].public_url),
            place_of_host(place.scheme, request.host),
        )
    )
