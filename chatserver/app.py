"""The HTTP edge: the page, arrivals, pictures, health. Only what is listed here is served."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import urlsplit

from aiohttp import hdrs, web
from pydantic import BaseModel, ValidationError
from redis.exceptions import RedisError

from chatserver.config import ServerConfig
from chatserver.doors import NotAdmitted, WrongAnswers
from chatserver.live.service import LiveService
from chatserver.live.views import picture_file, study_out
from chatserver.wire import ArrivalAnswer, ArrivalRequest, ErrorCode, Refused, WrongAnswersOut
from dialogs.record import queries
from dialogs.record.errors import RecordError

log = logging.getLogger("duologue.http")

SERVICE: Final = web.AppKey("service", LiveService)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

MAX_BODY: Final = 64 * 1024


def create_app(service: LiveService) -> web.Application:
    """The application without the socket.io route, which `serve` attaches."""
    app = web.Application(middlewares=[_errors], client_max_size=MAX_BODY)
    app[SERVICE] = service
    app.on_response_prepare.append(_headers(service.config))
    app.router.add_get("/", _root)
    app.router.add_get("/work", _work)
    app.router.add_get("/api/study", _study)
    app.router.add_post("/api/arrivals", _arrivals)
    app.router.add_get("/items/{token}", _item)
    app.router.add_get("/healthz", _healthz)
    app.router.add_get("/readyz", _readyz)
    app.router.add_get("/favicon.ico", _no_icon)
    app.router.add_static("/static/", service.config.static, follow_symlinks=False)
    return app


# --- For every response --------------------------------------------------------------------


def _headers(
    config: ServerConfig,
) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    ancestors = " ".join(config.frame_ancestors) or "'none'"
    policy = (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
        f"frame-ancestors {ancestors}"
    )

    async def add(request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Content-Security-Policy"] = policy
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        hashed = request.path.startswith("/static/assets/") and response.status == 200
        # Built files carry a hash in their name; nothing else may be kept by anybody.
        keep = "public, max-age=31536000, immutable" if hashed else "no-store"
        response.headers.setdefault(hdrs.CACHE_CONTROL, keep)

    return add


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every error is one sentence as JSON, and no internals."""
    try:
        _check_headers(request)
        return await handler(request)
    except web.HTTPException as answer:
        if answer.status < 400:
            raise
        return _refuse(answer.status, ErrorCode.BAD_REQUEST, f"{answer.reason}.")
    except WrongAnswers as error:
        told = WrongAnswersOut(error=error.error, code=error.code, questions=[*error.questions])
        return _json(told, status=error.status)
    except NotAdmitted as error:
        return _refuse(error.status, error.code, error.error)
    except (RecordError, RedisError, OSError, TimeoutError) as error:
        log.warning("%s %s: %r", request.method, request.path, error)
        return _refuse(503, ErrorCode.TRY_AGAIN, "Please try again in a moment.")
    except Exception:
        log.exception("%s %s failed", request.method, request.path)
        return _refuse(500, ErrorCode.TRY_AGAIN, "Something went wrong on our side.")


def _check_headers(request: web.Request) -> None:
    """Refuse what no page of ours sends.

    Raises:
        HTTPUnsupportedMediaType: a compressed body, which could be a thousand times as long.
        HTTPBadRequest: an origin that is no address.
    """
    for encoding in request.headers.getall(hdrs.CONTENT_ENCODING, ()):
        if encoding.strip().lower() not in ("", "identity"):
            raise web.HTTPUnsupportedMediaType
    try:
        urlsplit(request.headers.get(hdrs.ORIGIN, ""))
    except ValueError:
        raise web.HTTPBadRequest from None


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
    preview = service.door.preview(request.query)
    return _json(study_out(service.config.study, paused=not service.is_open(), preview=preview))


async def _arrivals(request: web.Request) -> web.StreamResponse:
    service = request.app[SERVICE]
    try:
        asked = ArrivalRequest.model_validate_json(await request.read())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "body"
        return _refuse(400, ErrorCode.BAD_REQUEST, f"{where}: {first['msg']}")
    texts = (*asked.query, *asked.query.values(), asked.worker_key or "", asked.language)
    if any("\0" in text for text in texts):
        # PostgreSQL cannot be asked for it.
        return _refuse(400, ErrorCode.BAD_REQUEST, "The link holds characters that are no text.")
    address = client_address(request, service.config.trusted_proxies)
    return _json(ArrivalAnswer(token=await service.arrivals.admit(asked, address)))


def client_address(request: web.Request, trusted_proxies: int) -> str:
    """The address of the client: the peer's, or what the outermost trusted proxy saw.

    Each trusted proxy adds the address it saw to the end of X-Forwarded-For; what stands
    before those could be made up by anybody.
    """
    # A header may hold bytes that are no text.
    said = request.headers.get("X-Forwarded-For", "").encode(errors="replace").decode()
    seen = [a.strip() for a in said.split(",") if a.strip()]
    if trusted_proxies and len(seen) >= trusted_proxies:
        return seen[-trusted_proxies]
    return request.remote or ""


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


async def _no_icon(_request: web.Request) -> web.StreamResponse:
    return web.Response(status=204)
