"""Prolific's API as documented, on a local port: what its pages do not name is an error.

Every route names the page it follows. An unknown address, a missing slash at its end, a wrong
method, an unknown field or parameter, and a bad token are answered with an error and written down
in `mistakes`, which a test ends with an empty list of.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from aiohttp import web

from tests.contract.prolific_routes import Handler, routes
from tests.contract.prolific_studies import StudyRoutes
from tests.contract.prolific_submissions import SubmissionRoutes
from tests.contract.prolific_world import Fault, World


class Trouble(StrEnum):
    """What the network or the service does to a request."""

    LOST = "lost"
    """It is carried out, and the connection ends without an answer."""
    BAD_GATEWAY = "502"
    """It is not carried out."""
    BAD_GATEWAY_AFTER = "502 after"
    """It is carried out, and the answer is 502 all the same."""
    THROTTLED = "429"
    """It is not carried out."""
    MOVED = "301"
    """It is not carried out, but sent elsewhere, as is done with an address without its slash."""


@dataclass
class Plan:
    """`trouble` for the next `times` requests that fit."""

    trouble: Trouble
    times: int
    fits: Callable[[str, str], bool]


@dataclass
class ProlificServer:
    """The API in front of a `World`."""

    world: World
    plans: list[Plan] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    url: str = ""

    def trouble(
        self, trouble: Trouble, times: int = 1, *, path: str = "", writes: bool = True
    ) -> None:
        """For the next requests whose address has `path` in it, as a regular expression; with
        `writes` only such as change something."""

        def fits(method: str, at: str) -> bool:
            return (method != "GET" or not writes) and bool(re.search(path, at))

        self.plans.append(Plan(trouble, times, fits))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[ProlificServer]:
        app = web.Application(middlewares=[self._edge])
        for section in (StudyRoutes(self.world), SubmissionRoutes(self.world)):
            for one in routes(section):
                handler = self._checked(one.handler, one.fields, one.query)
                app.router.add_route(one.method, "/api/v1/" + one.path, handler)
        runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            host, port = runner.addresses[0][:2]
            self.url = f"http://{host}:{port}"
            yield self
        finally:
            await runner.cleanup()

    # --- The edge --------------------------------------------------------------------------

    @web.middleware
    async def _edge(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.calls.append(f"{request.method} {request.path}")
        plan = next((p for p in self.plans if p.fits(request.method, request.path)), None)
        if plan is not None:
            plan.times -= 1
            if plan.times == 0:
                self.plans.remove(plan)
            match plan.trouble:
                case Trouble.BAD_GATEWAY:
                    return web.Response(status=502, text="<html>Bad Gateway</html>")
                case Trouble.THROTTLED:
                    return _refusal(Fault(429, "Too many requests"))
                case Trouble.MOVED:
                    return web.Response(status=301, headers={"Location": request.path})
                case Trouble.LOST | Trouble.BAD_GATEWAY_AFTER:
                    pass
        response: web.StreamResponse
        try:
            response = await handler(request)
        except Fault as fault:
            response = _refusal(fault)
        except web.HTTPException as error:
            self.mistakes.append(f"{request.method} {request.path}: {error.status}")
            response = _refusal(Fault(error.status, error.reason))
        if plan is not None and plan.trouble is Trouble.LOST:
            assert request.transport is not None
            request.transport.abort()
        if plan is not None and plan.trouble is Trouble.BAD_GATEWAY_AFTER:
            return web.Response(status=502, text="<html>Bad Gateway</html>")
        return response

    def _checked(
        self, function: Handler, fields: set[str] | None, query: set[str]
    ) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            if request.headers.get("Authorization") != f"Token {self.world.token}":
                self.mistakes.append("a bad token")
                raise Fault(401, "Unauthorized", "Authentication credentials were not provided.")
            self._known(request, "parameter", set(request.query), query | {"page", "page_size"})
            body: dict[str, Any] = {}
            if fields is not None:
                body = await request.json()
                self._known(request, "field", set(body), fields)
            elif await request.read():
                self._known(request, "body", {"any"}, set())
            self.world.settle()
            answer = await function(request, body)
            self.world.settle()
            return answer

        return handle

    def _known(self, request: web.Request, what: str, given: set[str], known: set[str]) -> None:
        if given - known:
            self.mistakes.append(f"{request.method} {request.path}: {what} {given - known}")
            raise Fault(400, "Validation error", {name: ["unknown"] for name in given - known})


def _refusal(fault: Fault) -> web.Response:
    """https://docs.prolific.com/api-reference/introduction: the envelope of errors."""
    error = {
        "status": fault.status,
        "error_code": 100_000 + fault.status,
        "title": fault.title,
        "detail": fault.detail,
    }
    return web.json_response({"error": error}, status=fault.status)
