"""The protocol AWS JSON 1.1: what a request says, and how it is answered.

Sources: Smithy's page "AWS JSON 1.1 protocol"; the shapes RequestError and ServiceFault of the
service model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
from aiohttp import web

from hit_manager.marketplace.errors import (
    MarketplaceError,
    Refused,
    UnknownOperation,
    Unreadable,
)

CONTENT_TYPE: Final = "application/x-amz-json-1.1"
TARGET_PREFIX: Final = "MTurkRequesterServiceV20170117."
CODE_PREFIX: Final = "AWS.MechanicalTurk."


def operation_of(headers: Mapping[str, str]) -> str:
    """The name of the operation that is asked for.

    Raises:
        UnknownOperation: none of this API's.
    """
    target = headers.get("X-Amz-Target", "")
    if not target.startswith(TARGET_PREFIX):
        raise UnknownOperation(f"X-Amz-Target has to begin with {TARGET_PREFIX}")
    return target.removeprefix(TARGET_PREFIX)


def read_body(headers: Mapping[str, str], body: bytes) -> Any:
    """The request's JSON.

    Raises:
        Unreadable: another content type, or no JSON.
    """
    kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != CONTENT_TYPE:
        raise Unreadable(f"The content type has to be {CONTENT_TYPE}.")
    try:
        return orjson.loads(body or b"{}")
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"The request is no JSON: {error}") from None


def answer(result: Mapping[str, Any], request_id: str) -> web.Response:
    return _response(200, result, request_id)


def answer_error(error: MarketplaceError, request_id: str, now: float) -> web.Response:
    """An error in the service's form. Its message ends with the time, as Amazon's do: programs
    must go by the code."""
    # A header may hold bytes that are no text, and be quoted.
    body = {"__type": error.kind, "Message": str(error).encode(errors="replace").decode()}
    if isinstance(error, Refused):
        body["Message"] += f" ({int(now * 1000)} s)"
    if error.turk_code is not None:
        body["TurkErrorCode"] = CODE_PREFIX + error.turk_code
    return _response(error.http_status, body, request_id)


def _response(status: int, body: Mapping[str, Any], request_id: str) -> web.Response:
    return web.Response(
        status=status,
        body=orjson.dumps(body),
        headers={"Content-Type": CONTENT_TYPE, "x-amzn-RequestId": request_id},
    )
