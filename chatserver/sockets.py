"""The socket.io edge: who may connect, what is a well-formed request, what every error becomes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

import socketio
from pydantic import BaseModel, ValidationError
from redis.exceptions import RedisError
from socketio.exceptions import ConnectionRefusedError

from chatserver.engine import Frames
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

    def __init__(self, server: socketio.AsyncServer, frames: Frames, service: LiveService) -> None:
        self._server = server
        self._frames = frames
        self._service = service
        service.on_replaced = self._replace
        server.on("connect", self._connect)
        server.on("disconnect", self._disconnect)
        for event, model in self.EVENTS.items():
            self._on(event, model, getattr(service.requests, event))
        server.on("*", self._unknown)

    # --- Coming and going ------------------------------------------------------------------

    async def _connect(self, sid: str, _environ: Any, auth: Any = None) -> None:
        """Admit a socket by its arrival token.

        Whatever goes wrong becomes a refusal: socket.io keeps a half-open entry otherwise.
        """
        token = auth.get("token") if isinstance(auth, dict) else None
        arrival_id = self._service.tokens.read_arrival(token)
        if arrival_id is None:
            raise _refusal(ErrorCode.BAD_TOKEN, "This link is not valid (any more).")
        if self._service.stopping:
            raise _refusal(ErrorCode.TRY_AGAIN, "The server is restarting. One moment, please.")
        try:
            async with asyncio.timeout(ACCEPT_WITHIN_S):
                old = await self._service.attach(sid, arrival_id)
        except LookupError:
            raise _refusal(ErrorCode.BAD_TOKEN, "This link is not valid (any more).") from None
        except Exception as error:
            if not isinstance(error, _PASSING):
                log.exception("arrival %s could not connect", arrival_id)
            raise _refusal(ErrorCode.TRY_AGAIN, "One moment, please.") from None
        if old is not None:
            self._replace(old)

    async def _disconnect(self, sid: str, *_: Any) -> None:
        self._service.detach(sid)
        self._frames.abort(sid)

    def _replace(self, page: Page) -> None:
        """Tell a page that a newer one took over, and close it."""
        self._frames.send([page.sid], "stopped", REPLACED.model_dump(mode="json"))
        # The frame needs a moment to leave before the connection is cut.
        asyncio.get_running_loop().call_later(1.0, self._frames.abort, page.sid)

    # --- Requests --------------------------------------------------------------------------

    def _on(self, event: str, model: type[Ask], answer: Answering[Ask]) -> None:
        async def handle(sid: str, *data: Any) -> Any:
            page = self._service.hub.of_sid(sid)
            if page is None:
                return REPLACED.model_dump(mode="json")
            try:
                if not page.welcomed.is_set():
                    async with asyncio.timeout(WELCOME_WITHIN_S):
                        await page.welcomed.wait()
                asked = model.model_validate(data[0] if data else {})
                given = await answer(page, asked)
            except ValidationError as error:
                given = _bad_request(event, error)
            except _PASSING as error:
                log.warning("%s of arrival %s: %r", event, page.arrival_id, error)
                given = TRY_AGAIN
            except Exception:
                log.exception(
                    "%s of arrival %s in dialog %s failed", event, page.arrival_id, page.dialog_id
                )
                given = TRY_AGAIN
            await self._slow_down(page, given)
            return given.model_dump(mode="json") if given is not None else None

        self._server.on(event, handle)

    async def _slow_down(self, page: Page, given: BaseModel | None) -> None:
        """A page that goes on asking for what it is refused is answered ever more slowly."""
        if isinstance(given, Refused):
            page.refusals += 1
            if page.refusals > PATIENCE:
                await asyncio.sleep(min(0.05 * (page.refusals - PATIENCE), 1.0))
        else:
            page.refusals = 0

    async def _unknown(self, event: str, sid: str, *_: Any) -> Any:
        page = self._service.hub.of_sid(sid)
        error = f"There is no event {event[:40]!r}."
        given = Refused(error=error, code=ErrorCode.BAD_REQUEST)
        if page is not None:
            await self._slow_down(page, given)
        return given.model_dump(mode="json")


def _refusal(code: ErrorCode, text: str) -> ConnectionRefusedError:
    return ConnectionRefusedError(text, {"error": text, "code": code.value})


def _bad_request(event: str, error: ValidationError) -> Refused:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "payload"
    return Refused(
        error=f"The page sent something the server does not understand ({event}: {where}: "
        f"{first['msg']}). Please reload the page.",
        code=ErrorCode.BAD_REQUEST,
    )
