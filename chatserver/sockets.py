"""The socket.io edge: who may connect, what is a well-formed request, what every error becomes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError
from redis.exceptions import RedisError

from chatserver import packets
from chatserver.engine import Engine, Refusal
from chatserver.live.dialogs import Busy
from chatserver.live.hub import Page
from chatserver.live.service import LiveService
from chatserver.wire import (
    ErrorCode,
    Finish,
    LeaveRequest,
    Nothing,
    Refused,
    Report,
    SendMessage,
    Stopped,
    Sync,
    Typing,
    is_modest,
)
from dialogs.record.errors import RecordError

log = logging.getLogger("duologue.sockets")

Ask = TypeVar("Ask", bound=BaseModel)
Answering = Callable[[Page, Ask], Awaitable[BaseModel | None]]

TRY_AGAIN: Final = Refused(
    error="We could not store this just now. Nothing is lost; please try again in a moment.",
    code=ErrorCode.TRY_AGAIN,
)
REPLACED: Final = Stopped(
    error="This work was opened in another tab or window. Please go on there.",
    code=ErrorCode.REPLACED,
)
_PASSING: Final = (Busy, RecordError, RedisError, OSError, TimeoutError)

PATIENCE: Final = 10
"""Refusals of one page that are answered at once; further ones wait longer and longer."""
FORGIVEN_S: Final = 10.0
"""After so long one refusal is forgotten. What goes well in between does not count."""

ACCEPT_WITHIN_S: Final = 4.0
WELCOME_WITHIN_S: Final = 10.0


class Sockets:
    """Connects a socket.io server to the live service."""

    EVENTS: Final[Mapping[str, type[BaseModel]]] = MappingProxyType(
        {
            "message": SendMessage,
            "ready": Nothing,
            "start": Nothing,
            "decline": Nothing,
            "leave": LeaveRequest,
            "stop_waiting": Nothing,
            "pair_again": Nothing,
            "finish": Finish,
            "report": Report,
            "sync": Sync,
            "typing": Typing,
        }
    )
    """What a page may send; `Requests` has a method of the same name for each."""

    unreadable = Refused(
        error="The page sent something that cannot be read. Please change it and try again.",
        code=ErrorCode.BAD_REQUEST,
    ).model_dump(mode="json")

    def __init__(self, engine: Engine, service: LiveService) -> None:
        self._engine = engine
        self._service = service
        service.on_replaced = self._replace
        engine.serve(packets.MAIN, self)
        self._asks: dict[str, tuple[type[BaseModel], Answering[Any]]] = {
            event: (model, getattr(service.requests, event)) for event, model in self.EVENTS.items()
        }

    # --- Coming and going ------------------------------------------------------------------

    async def connect(self, sid: str, auth: Any, _request: web.Request) -> Refusal | None:
        """Admit a socket by its arrival token; whatever goes wrong becomes a refusal."""
        token = auth.get("token") if isinstance(auth, dict) else None
        arrival_id = self._service.tokens.read_arrival(token)
        if arrival_id is None:
            return _refusal(ErrorCode.BAD_TOKEN, "This link is not valid (any more).")
        if self._service.stopping:
            return _refusal(ErrorCode.TRY_AGAIN, "The server is restarting. One moment, please.")
        try:
            async with asyncio.timeout(ACCEPT_WITHIN_S):
                old = await self._service.attach(sid, arrival_id)
        except LookupError:
            return _refusal(ErrorCode.BAD_TOKEN, "This link is not valid (any more).")
        except Exception as error:
            if not isinstance(error, _PASSING):
                log.exception(
                    "arrival %s could not connect", arrival_id, extra={"arrival": arrival_id}
                )
            return _refusal(ErrorCode.TRY_AGAIN, "One moment, please.")
        if old is not None:
            self._replace(old)
        return None

    async def disconnect(self, sid: str) -> None:
        """The socket is gone."""
        self._service.detach(sid)

    def _replace(self, page: Page) -> None:
        """Tell a page that a newer one took over, and close it."""
        self._engine.send([page.sid], "stopped", REPLACED.model_dump(mode="json"))
        # The frame needs a moment to leave before the connection is cut.
        asyncio.get_running_loop().call_later(1.0, self._engine.abort, page.sid)

    # --- Requests --------------------------------------------------------------------------

    async def answer(self, sid: str, event: str, data: Any) -> Any:
        """What goes into the acknowledgement of an event; every error becomes one."""
        page = self._service.hub.of_sid(sid)
        if page is None:
            return REPLACED.model_dump(mode="json")
        came_at = time.perf_counter()
        try:
            given = await self._ask(page, event, data)
        except ValidationError as error:
            given = _bad_request(event, error)
        except _PASSING as error:
            log.warning("%s of arrival %s: %r", event, page.arrival_id, error, extra=_about(page))
            given = TRY_AGAIN
        except Exception:
            log.exception(
                "%s of arrival %s in dialog %s failed",
                event,
                page.arrival_id,
                page.dialog_id,
                extra=_about(page),
            )
            given = TRY_AGAIN
        if event == "message":
            self._service.tally.answered(given, time.perf_counter() - came_at)
        if isinstance(given, Refused):
            await self._slow_down(page)
        return given.model_dump(mode="json") if given is not None else None

    async def _ask(self, page: Page, event: str, data: Any) -> BaseModel | None:
        if event not in self._asks:
            text = f"There is no event {event[:40]!r}."
            return Refused(error=text, code=ErrorCode.BAD_REQUEST)
        if not is_modest(data):
            return _not_understood(event, "payload", "more fields than any page sends")
        model, answer = self._asks[event]
        if not page.welcomed.is_set():
            async with asyncio.timeout(WELCOME_WITHIN_S):
                await page.welcomed.wait()
        return await answer(page, model.model_validate(data))

    async def _slow_down(self, page: Page) -> None:
        """A page that goes on asking for what it is refused is answered ever more slowly."""
        now = asyncio.get_running_loop().time()
        forgiven = (now - page.refused_at) / FORGIVEN_S
        page.refusals = max(0.0, page.refusals - forgiven) + 1
        page.refused_at = now
        if page.refusals > PATIENCE:
            await asyncio.sleep(min(0.05 * (page.refusals - PATIENCE), 1.0))


def _about(page: Page) -> dict[str, str | None]:
    """Whom a line of the log is about, for programs that read it."""
    return {"arrival": page.arrival_id, "dialog": page.dialog_id}


def _refusal(code: ErrorCode, text: str) -> Refusal:
    return Refusal(text, {"error": text, "code": code.value})


def _bad_request(event: str, error: ValidationError) -> Refused:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part)[:40] for part in first["loc"]) or "payload"
    return _not_understood(event, where, first["msg"])


def _not_understood(event: str, where: str, why: str) -> Refused:
    return Refused(
        error=f"The page sent something the server does not understand ({event}: {where}: {why}). "
        "Please reload the page.",
        code=ErrorCode.BAD_REQUEST,
    )
