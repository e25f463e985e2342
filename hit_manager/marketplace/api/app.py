"""Requests to the API over HTTP: let in, understood, done in one transaction, answered."""

from __future__ import annotations

import logging
from typing import Any, Final
from uuid import uuid4

from aiohttp import web
from sqlalchemy import Connection

from hit_manager.marketplace import workers
from hit_manager.marketplace.api import aws_json, sigv4
from hit_manager.marketplace.api.call import Call
from hit_manager.marketplace.api.operations import OPERATIONS
from hit_manager.marketplace.api.shapes import INPUTS
from hit_manager.marketplace.api.validation import validate
from hit_manager.marketplace.core import Marketplace
from hit_manager.marketplace.errors import (
    Fault,
    MarketplaceError,
    Throttled,
    TooLarge,
    UnknownOperation,
    Unreadable,
)
from hit_manager.marketplace.faults import Fault as Injected

log: Final = logging.getLogger(__name__)

PATHS: Final = ("/", "/mturk", "/mturk/")


def add_routes(app: web.Application, marketplace: Marketplace) -> None:
    """Answer the API at `/`, and at `/mturk` for those who share the host with something else."""
    api = Api(marketplace)
    for path in PATHS:
        app.router.add_post(path, api.handle)


class Api:
    """Answers requests."""

    def __init__(self, marketplace: Marketplace) -> None:
        self._marketplace = marketplace

    async def handle(self, request: web.Request) -> web.StreamResponse:
        request_id = str(uuid4())
        try:
            result = await self._answer(request)
        except MarketplaceError as error:
            if isinstance(error, Fault):
                log.warning("request %s failed: %s", request_id, error)
            return aws_json.answer_error(error, request_id, self._marketplace.clock.now())
        except Exception:
            log.exception("request %s failed", request_id)
            fault = Fault("The marketplace failed; please try again.")
            return aws_json.answer_error(fault, request_id, self._marketplace.clock.now())
        if result is None:
            # A connection that breaks: the sender learns nothing of what was done.
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)
        return aws_json.answer(result, request_id)

    async def _answer(self, request: web.Request) -> dict[str, Any] | None:
        try:
            body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            raise TooLarge("The request is too large.") from None
        except ConnectionError:
            raise Unreadable("The request broke off.") from None
        requester_id = await self._requester(request, body)
        operation = aws_json.operation_of(request.headers)
        if operation not in OPERATIONS:
            raise UnknownOperation(f"This API has no operation {operation[:64]}.")
        faults = self._marketplace.faults
        if faults:
            faults.calls[operation] += 1
            if faults.take(operation, Injected.THROTTLED):
                raise Throttled("Rate exceeded")
            if faults.take(operation, Injected.FAILED):
                raise Fault("The marketplace failed; please try again.")
        given = validate(aws_json.read_body(request.headers, body), INPUTS[operation])
        result = await self._run(requester_id, operation, given)
        if faults and faults.take(operation, Injected.LOST):
            return None
        if faults and faults.take(operation, Injected.FAILED_AFTER):
            raise Fault("The marketplace failed; please try again.")
        return result

    async def _requester(self, request: web.Request, body: bytes) -> str:
        claim = sigv4.read_claim(request.headers)
        # A header may hold bytes that are no text, and the database cannot be asked for them.
        known = claim.key_id.isascii()
        find = self._marketplace.store.read
        key = await find(workers.find_key, claim.key_id) if known else None
        sigv4.check(
            claim,
            key.secret if key else None,
            method=request.method,
            raw_path=request.raw_path,
            headers=request.headers,
            body=body,
            now=self._marketplace.wall(),
        )
        assert key is not None
        return key.requester_id

    async def _run(
        self, requester_id: str, operation: str, given: dict[str, Any]
    ) -> dict[str, Any]:
        answers = OPERATIONS[operation]
        market = self._marketplace
        late_s = market.faults.late_s if market.faults else None

        def run(connection: Connection, now: float) -> dict[str, Any]:
            call = Call(
                connection,
                now,
                requester_id,
                operation,
                given,
                market.store.secret,
                market.allow_http,
                float("inf") if late_s is None else now - late_s,
            )
            return answers.function(call)

        return await (market.write(run) if answers.writes else market.read(run))
