"""How routes of the monitor read what they are sent, and answer."""

from __future__ import annotations

import math
from typing import TypeVar

from aiohttp import hdrs, web
from pydantic import BaseModel, ValidationError

from chatserver.incoming import body_of
from chatserver.monitor.wire import Denied, Trouble

Asked = TypeVar("Asked", bound=BaseModel)


class NotDone(Exception):
    """A request of the monitor is refused; the sentence is for whoever asked."""

    def __init__(
        self, status: int, code: Trouble, error: str, *, retry_after_s: float | None = None
    ) -> None:
        super().__init__(error)
        self.status = status
        self.code = code
        self.error = error
        self.retry_after_s = None if retry_after_s is None else max(1, math.ceil(retry_after_s))


def unknown(what: str) -> NotDone:
    """Nobody knows this."""
    return NotDone(404, Trouble.NOT_FOUND, f"There is no such {what}.")


def conflict(error: str) -> NotDone:
    """Something else happened meanwhile, or this is not possible as things are."""
    return NotDone(409, Trouble.CONFLICT, error)


def bad_request(error: str) -> NotDone:
    """What was asked makes no sense."""
    return NotDone(400, Trouble.BAD_REQUEST, error)


async def read(request: web.Request, model: type[Asked]) -> Asked:
    """The JSON body as `model`.

    Raises:
        NotDone: it is something else; the field that is wrong is named, its value is not told.
    """
    if request.content_type != "application/json":
        raise NotDone(415, Trouble.BAD_REQUEST, "The body must be JSON.")
    try:
        return model.model_validate_json(await body_of(request))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part)[:40] for part in first["loc"]) or "body"
        # What we say ourselves comes with a word in front of it.
        why = first["msg"].removeprefix("Value error, ")
        raise NotDone(400, Trouble.BAD_REQUEST, f"{where}: {why}.") from None


def answer(body: BaseModel, *, status: int = 200) -> web.Response:
    return web.Response(text=body.model_dump_json(), status=status, content_type="application/json")


def denied(error: NotDone) -> web.Response:
    told = Denied(error=error.error, code=error.code, retry_after_s=error.retry_after_s)
    response = answer(told, status=error.status)
    if error.retry_after_s is not None:
        response.headers[hdrs.RETRY_AFTER] = str(error.retry_after_s)
    return response
