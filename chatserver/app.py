"""The HTTP edge: the page, arrivals, pictures, health. Only what is listed here is served."""

from __future__ import annotations

import errno
import logging
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import orjson
from aiohttp import hdrs, web
from pydantic import BaseModel, ValidationError
from redis.exceptions import RedisError

from chatserver.config import ServerConfig
from chatserver.doors import NotAdmitted, WrongAnswers
from chatserver.hooks import Hook
from chatserver.incoming import body_of, client_address
from chatserver.live.service import LiveService
from chatserver.live.views import picture_file, study_out
from chatserver.metrics import Metrics, exposition, why_not
from chatserver.monitor.access import add_access, is_private
from chatserver.wire import (
    ArrivalAnswer,
    ArrivalRequest,
    ErrorCode,
    Refused,
    WrongAnswersOut,
    is_modest,
)
from dialogs.record import queries
from dialogs.record.errors import RecordError

log = logging.getLogger("duologue.http")

SERVICE: Final = web.AppKey("service", LiveService)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

MAX_BODY: Final = 16 * 1024
"""Twice what an address with its query may have, which is most of what a page sends (bytes)."""
_NO_NAMES: Final = (errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EILSEQ)
"""What a file system says of a name that no file of it can have."""
_NO_PAGE: Final = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Not found</title>
<p>There is no page at this address; please open the link that you were given, exactly as it is.</p>
</html>
"""
"""Depends on nothing that could be missing."""
_NO_HOOKS: Final[Mapping[str, Hook]] = MappingProxyType({})


def create_app(
    service: LiveService, metrics: Metrics, hooks: Mapping[str, Hook] = _NO_HOOKS
) -> web.Application:
    """The application without the socket.io route, which `serve` attaches; `hooks` by name."""
    app = web.Application(middlewares=[_errors], client_max_size=MAX_BODY)
    app[SERVICE] = service
    app.on_response_prepare.append(_headers(service.config))
    add_access(app, service)
    app.router.add_get("/", _root)
    app.router.add_get("/work", _work)
    app.router.add_get("/api/study", _study)
    app.router.add_post("/api/arrivals", _arrivals)
    app.router.add_get("/items/{token}", _item)
    app.router.add_get("/healthz", _healthz)
    app.router.add_get("/readyz", _readyz)
    app.router.add_get("/metrics", _metrics(metrics))
    app.on_cleanup.append(metrics.close)
    app.router.add_get("/favicon.ico", _no_icon)
    for name, hook in hooks.items():
        app.router.add_post(f"/hooks/{name}", _hook(hook))
    app.router.add_static("/static/", service.config.static, follow_symlinks=False)
    return app


# --- For every response --------------------------------------------------------------------


def _headers(
    config: ServerConfig,
) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    ancestors = " ".join(config.frame_ancestors) or "'none'"
    policy = (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
        "frame-ancestors "
    )

    async def add(request: web.Request, response: web.StreamResponse) -> None:
        framed = "'none'" if is_private(request.path) else ancestors
        response.headers["Content-Security-Policy"] = policy + framed
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        hashed = request.path.startswith("/static/assets/") and response.status == 200
        # Built files carry a hash in their name; nothing else may be kept by anybody.
        keep = "public, max-age=31536000, immutable" if hashed else "no-store"
        response.headers.setdefault(hdrs.CACHE_CONTROL, keep)

    return add


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every error is one sentence and no internals: as JSON, or as a page for whoever types an
    address that is none."""
    try:
        _check_headers(request)
        return await handler(request)
    except web.HTTPException as answer:
        if answer.status < 400:
            raise
        if answer.status == 404:
            return _not_there(request)
        return _refuse(answer.status, ErrorCode.BAD_REQUEST, f"{answer.reason}.")
    except WrongAnswers as error:
        told = WrongAnswersOut(error=error.error, code=error.code, questions=[*error.questions])
        return _json(told, status=error.status)
    except NotAdmitted as error:
        return _refuse(error.status, error.code, error.error)
    except (RecordError, RedisError, OSError, TimeoutError) as error:
        if isinstance(error, OSError) and error.errno in _NO_NAMES:
            return _not_there(request)
        log.warning("%s %s: %r", request.method, _path(request), error)
        return _refuse(503, ErrorCode.TRY_AGAIN, "Please try again in a moment.")
    except Exception:
        log.exception("%s %s failed", request.method, _path(request))
        return _refuse(500, ErrorCode.TRY_AGAIN, "Something went wrong on our side.")


def _path(request: web.Request) -> str:
    """For the log: short, and in one line whatever is asked for."""
    return request.rel_url.raw_path[:200]


async def _body(request: web.Request) -> dict[str, Any]:
    """The JSON object that a page sends; whatever else it is, is told in one sentence.

    It is bounded before anything is validated, which costs more the more is wrong.
    """
    try:
        found = orjson.loads(await body_of(request))
    except orjson.JSONDecodeError:
        raise web.HTTPBadRequest(reason="The body is not JSON") from None
    if not isinstance(found, dict) or not is_modest(found):
        raise web.HTTPBadRequest(reason="The body is not what this address takes")
    return found


def _check_headers(request: web.Request) -> None:
    """Refuse what no page of ours sends.

    Raises:
        HTTPUnsupportedMediaType: a compressed body, which could be a thousand times as long.
    """
    for encoding in request.headers.getall(hdrs.CONTENT_ENCODING, ()):
        if encoding.strip().lower() not in ("", "identity"):
            raise web.HTTPUnsupportedMediaType


def _not_there(request: web.Request) -> web.Response:
    if "text/html" in request.headers.get(hdrs.ACCEPT, "").lower():
        return web.Response(text=_NO_PAGE, status=404, content_type="text/html")
    return _refuse(404, ErrorCode.BAD_REQUEST, "Not Found.")


def _refuse(status: int, code: ErrorCode, error: str) -> web.Response:
    return _json(Refused(error=error, code=code), status=status)


def _json(body: BaseModel, *, status: int = 200) -> web.Response:
    return web.Response(text=body.model_dump_json(), status=status, content_type="application/json")


# --- Routes --------------------------------------------------------------------------------


async def _root(_request: web.Request) -> web.StreamResponse:
    raise web.HTTPFound("work")


async def _work(request: web.Request) -> web.StreamResponse:
    return web.FileResponse(request.app[SERVICE].config.static / "worker.html")


async def _study(request: web.Request) -> web.StreamResponse:
    """The study for the preview, which whoever only wants to look never gets beyond."""
    service = request.app[SERVICE]
    study, door = service.study(), service.door
    preview = door.preview(request.query)
    return _json(study_out(study, door.recruiter, paused=not service.is_open(), preview=preview))


async def _arrivals(request: web.Request) -> web.StreamResponse:
    service = request.app[SERVICE]
    body = await _body(request)
    try:
        asked = ArrivalRequest.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "body"
        return _refuse(400, ErrorCode.BAD_REQUEST, f"{where}: {first['msg']}")
    address = client_address(request, service.config.trusted_proxies)
    return _json(ArrivalAnswer(token=await service.arrivals.admit(asked, address)))


async def _item(request: web.Request) -> web.StreamResponse:
    """The picture that the arrival's role may see in its dialog, and no other."""
    service = request.app[SERVICE]
    arrival_id = service.tokens.read_picture(request.match_info["token"])
    row = await service.record.one(queries.arrivals_by_id, arrival_id) if arrival_id else None
    if row is None or row.dialog_id is None:
        raise web.HTTPNotFound
    state = await service.dialogs.read(row.dialog_id)
    seat = state.seat_of(row.id)
    item = await service.record.one(queries.items_by_id, state.item_id)
    if seat is None or item is None:
        raise web.HTTPNotFound
    name = picture_file(state.rules.kind, seat.role, item)
    if name is None:
        raise web.HTTPForbidden
    return web.FileResponse(
        service.config.pictures / name, headers={hdrs.CACHE_CONTROL: "no-store"}
    )


async def _healthz(_request: web.Request) -> web.StreamResponse:
    """The process runs."""
    return web.json_response({"ok": True})


async def _readyz(request: web.Request) -> web.StreamResponse:
    """The process may be sent people: database and Redis answer, and it is not stopping."""
    service = request.app[SERVICE]
    health = service.health
    ready = health.ready and not service.stopping
    return web.json_response(
        {"ready": ready, "database": health.database_ok, "redis": health.redis_ok},
        status=200 if ready else 503,
    )


def _metrics(metrics: Metrics) -> Handler:
    async def show(request: web.Request) -> web.StreamResponse:
        refusal = why_not(request, request.app[SERVICE].config.metrics_token)
        if refusal is not None:
            return _refuse(403, ErrorCode.BAD_REQUEST, refusal)
        return exposition(await metrics.text())

    return show


def _hook(hook: Hook) -> Handler:
    async def take(request: web.Request) -> web.StreamResponse:
        if not hook(request.headers, await body_of(request)):
            return _refuse(403, ErrorCode.BAD_REQUEST, "This is not signed as it must be.")
        return web.Response(status=204)

    return take


async def _no_icon(_request: web.Request) -> web.StreamResponse:
    return web.Response(status=204)
