"""The guard of the monitor: what of it takes which role, and that nothing answers without one.

Every request to `/api/monitor` needs a session, one that changes anything also the session's CSRF
token, and each route the role of `NEEDS`. A route that is not in the table answers nobody.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware

from chatserver.incoming import is_own_origin
from chatserver.live.service import LiveService
from chatserver.monitor import signing
from chatserver.monitor.answers import NotDone, denied, unknown
from chatserver.monitor.sessions import ADMIN, Admin, Sessions, is_csrf
from chatserver.monitor.signing import SESSIONS
from chatserver.monitor.wire import Trouble
from chatserver.origins import origin_of
from dialogs.rules import AdminRole

__all__ = ["ADMIN", "NEEDS", "SESSIONS", "Admin", "add_access", "admit_socket", "is_private"]

log = logging.getLogger("duologue.monitor")

CSRF_HEADER: Final = "X-CSRF-Token"
API: Final = "/api/monitor"
PAGE: Final = "/monitor"
SIGN_IN: Final = "/api/sign-in"
_LONGEST_NEXT: Final = 500

_RANK: Final = (AdminRole.VIEWER, AdminRole.REVIEWER, AdminRole.OWNER)
_VIEWER, _REVIEWER, _OWNER = _RANK

NEEDS: Final[Mapping[tuple[str, str], AdminRole]] = MappingProxyType(
    {
        ("GET", "/me"): _VIEWER,
        ("GET", "/now"): _VIEWER,
        ("GET", "/chart"): _VIEWER,
        ("GET", "/dialogs"): _VIEWER,
        ("GET", "/dialogs/{}"): _VIEWER,
        ("GET", "/items/{}/picture"): _VIEWER,
        ("GET", "/workers"): _VIEWER,
        ("GET", "/workers/{}"): _VIEWER,
        ("GET", "/hits"): _VIEWER,
        ("GET", "/chains"): _VIEWER,
        ("GET", "/ledger"): _VIEWER,
        ("GET", "/requests"): _VIEWER,
        ("GET", "/flags"): _VIEWER,
        ("GET", "/review/stats"): _VIEWER,
        ("GET", "/study"): _VIEWER,
        ("GET", "/audit"): _VIEWER,
        ("GET", "/told"): _VIEWER,
        ("POST", "/sign-out"): _VIEWER,
        ("POST", "/sign-out-everywhere"): _VIEWER,
        ("POST", "/dialogs/{}/message"): _REVIEWER,
        ("POST", "/dialogs/{}/end"): _REVIEWER,
        ("POST", "/dialogs/{}/extend"): _REVIEWER,
        ("POST", "/dialogs/{}/flag"): _REVIEWER,
        ("POST", "/workers/{}/note"): _REVIEWER,
        ("POST", "/workers/{}/message"): _REVIEWER,
        ("POST", "/review/next"): _REVIEWER,
        ("POST", "/review/{}"): _REVIEWER,
        ("POST", "/review/{}/skip"): _REVIEWER,
        ("POST", "/review/undo"): _REVIEWER,
        ("POST", "/review/bulk"): _REVIEWER,
        ("POST", "/ledger/approve"): _REVIEWER,
        ("POST", "/requests/{}/again"): _REVIEWER,
        ("POST", "/requests/{}/dismiss"): _REVIEWER,
        ("POST", "/workers/{}/exclude"): _OWNER,
        ("POST", "/workers/{}/allow"): _OWNER,
        ("POST", "/workers/{}/bonus"): _OWNER,
        ("POST", "/ledger/retry"): _OWNER,
        ("POST", "/study/pause"): _OWNER,
        ("POST", "/study/resume"): _OWNER,
        ("POST", "/study/change"): _OWNER,
    }
)
"""The least role of each route under `/api/monitor`; `{}` stands for any part of a path."""


def add_access(app: web.Application, service: LiveService) -> Sessions:
    """Put the guard before everything of the monitor, and the sign-in beside it."""
    sessions = app[SESSIONS] = Sessions(service)
    app.middlewares.append(_guard(sessions, service))
    app.cleanup_ctx.append(sessions.look_after)
    signing.add_routes(app, service)
    return sessions


async def admit_socket(request: web.Request, auth: object) -> Admin | None:
    """Who opens the monitor's socket: by the cookie of its handshake and `csrf` in its `auth`."""
    return await request.app[SESSIONS].by_socket(request, auth)


def is_private(path: str) -> bool:
    """Whether what is at this path is the team's, and no other site may show it in a frame."""
    file = f"/static/{signing.PAGE_FILE}"
    return path in (signing.PATH, SIGN_IN, file) or _is_under(path, PAGE) or _is_under(path, API)


def _is_under(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")


def _guard(sessions: Sessions, service: LiveService) -> Middleware:
    own = origin_of(service.config.public_url)

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        pattern = _pattern(request)
        try:
            # Both what was asked for and what would answer: neither may be a way around.
            if _is_under(request.path, API) or _is_under(pattern, API):
                _from_here(request)
                request[ADMIN] = await _admitted(request, pattern)
                if not "".join(request.match_info.values()).isprintable():
                    # No id of ours; PostgreSQL would call one with NUL an outage.
                    raise unknown("address")
            elif request.path == SIGN_IN:
                _from_here(request)
            elif (_is_under(request.path, PAGE) or _is_under(pattern, PAGE)) and await sessions.of(
                request
            ) is None:
                raise _to_sign_in(request)
            return await handler(request)
        except NotDone as error:
            return denied(error)
        except web.HTTPException as error:
            if error.status < 400 or not _is_under(request.path, API):
                raise
            # As everything else of the interface is refused.
            return denied(_no_route(error))

    async def _admitted(request: web.Request, pattern: str) -> Admin:
        admin = await sessions.of(request)
        if admin is None:
            raise NotDone(401, Trouble.SIGNED_OUT, "Please sign in.")
        changes = request.method not in (hdrs.METH_GET, hdrs.METH_HEAD)
        if changes and not is_csrf(request.headers.get(CSRF_HEADER), admin):
            raise NotDone(403, Trouble.BAD_CSRF, "This page is out of date; please reload it.")
        if request.match_info.http_exception is not None:
            return admin
        method = request.method if changes else hdrs.METH_GET
        least = NEEDS.get((method, pattern.removeprefix(API)))
        if least is None:
            log.error("%s %s has no role and answers nobody", method, pattern)
        if least is None or _RANK.index(admin.role) < _RANK.index(least):
            raise NotDone(403, Trouble.NOT_ALLOWED, f"Your role, {admin.role}, may not do this.")
        return admin

    def _from_here(request: web.Request) -> None:
        """Second line, behind the cookie's SameSite and the CSRF token."""
        site = request.headers.get("Sec-Fetch-Site", "none")
        if site not in ("same-origin", "none") or not is_own_origin(request, own):
            raise NotDone(403, Trouble.FOREIGN, "This was asked by a page of another site.")

    return guard


def _pattern(request: web.Request) -> str:
    """The path of the route that would answer, with `{}` for its variable parts; empty of none."""
    resource = request.match_info.route.resource
    return "" if resource is None else re.sub(r"\{[^}]*\}", "{}", resource.canonical)


def _no_route(error: web.HTTPException) -> NotDone:
    if error.status == 404:
        return unknown("address")
    return NotDone(error.status, Trouble.BAD_REQUEST, f"{error.reason}.")


def _to_sign_in(request: web.Request) -> web.HTTPException | NotDone:
    """Where a browser without a session goes, and how it comes back."""
    if request.method not in (hdrs.METH_GET, hdrs.METH_HEAD):
        return NotDone(401, Trouble.SIGNED_OUT, "Please sign in.")
    wanted = request.rel_url.raw_path_qs
    if not _is_under(request.rel_url.raw_path, PAGE) or len(wanted) > _LONGEST_NEXT:
        wanted = PAGE
    # Relative, so that a proxy may serve all of this under a path of its own.
    up = "../" * (request.rel_url.raw_path.count("/") - 1)
    return web.HTTPSeeOther(f"{up}sign-in?next={quote(wanted, safe='/')}")
