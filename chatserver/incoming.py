"""What any route may ask of a request: its body, in time, and by which way it came."""

from __future__ import annotations

import asyncio
from typing import Final

from aiohttp import hdrs, web

from chatserver.origins import Origin, origin_of

BODY_WITHIN_S: Final = 15.0
"""A body is here within this time of its head, or the connection is closed."""


async def body_of(request: web.Request) -> bytes:
    """A whole body, if it comes in time."""
    try:
        async with asyncio.timeout(BODY_WITHIN_S):
            return await request.read()
    except TimeoutError:
        raise web.HTTPRequestTimeout from None
    except web.RequestPayloadError:
        raise web.HTTPBadRequest from None


def client_address(request: web.Request, trusted_proxies: int) -> str:
    """The address of the client: the peer's, or what the outermost trusted proxy saw.

    Each trusted proxy adds the address it saw to the end of X-Forwarded-For; what stands
    before those could be made up by anybody.
    """
    seen = _forwarded(request, "X-Forwarded-For")
    if trusted_proxies and len(seen) >= trusted_proxies:
        # Bytes of a header that are no text stand in it as half characters.
        return seen[-trusted_proxies].encode(errors="replace").decode()
    return request.remote or ""


def is_https(request: web.Request, public_url: str, trusted_proxies: int) -> bool:
    """Whether the client speaks TLS, with us, with a trusted proxy, or by what is public of us."""
    if request.secure or public_url.startswith("https:"):
        return True
    told = _forwarded(request, "X-Forwarded-Proto") if trusted_proxies else []
    # Some proxies add theirs to the end, others write one word for all.
    return bool(told) and told[-min(trusted_proxies, len(told))].lower() == "https"


def _forwarded(request: web.Request, header: str) -> list[str]:
    # A proxy may add a header of its own instead of going on with the last one.
    whole = ",".join(request.headers.getall(header, ()))
    return [part.strip() for part in whole.split(",") if part.strip()]


def is_own_origin(request: web.Request, allowed: Origin | None) -> bool:
    """Whether the browser's page that asks is one of ours, or of the `allowed` origin. Programs
    name no origin."""
    given = request.headers.get(hdrs.ORIGIN)
    if given is None:
        return True
    origin = origin_of(given)
    if origin is None:
        return False
    scheme = origin[0]
    hosts = (request.host, request.headers.get("X-Forwarded-Host"))
    return origin in (allowed, *(origin_of(f"{scheme}://{host}") for host in hosts if host))
