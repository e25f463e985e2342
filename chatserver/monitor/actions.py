"""The addresses of the monitor's actions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web
from pydantic import BaseModel

from chatserver.monitor.acting import Acting
from chatserver.monitor.answers import answer, read
from chatserver.monitor.changing import Who
from chatserver.monitor.wire import (
    BonusWish,
    ChangeStudy,
    End,
    Extend,
    Flag,
    Note,
    Nothing,
    OnFailed,
    PaymentNames,
    Reason,
    Tell,
    WorkerMessage,
)

Act = Callable[..., Awaitable[BaseModel]]
"""Takes the `Acting`, who acts, the id in the address if it has one, and the body's model."""


@dataclass(frozen=True, slots=True)
class Action:
    """`POST /api/monitor/{path}` with a body of this model; who may is in `access.NEEDS`."""

    path: str
    takes: type[BaseModel]
    does: Act


ACTIONS: Final = (
    Action("dialogs/{id}/message", Tell, Acting.tell),
    Action("dialogs/{id}/extend", Extend, Acting.extend),
    Action("dialogs/{id}/end", End, Acting.end),
    Action("dialogs/{id}/flag", Flag, Acting.flag),
    Action("workers/{id}/exclude", Reason, Acting.exclude),
    Action("workers/{id}/allow", Nothing, Acting.allow),
    Action("workers/{id}/note", Note, Acting.note),
    Action("workers/{id}/message", WorkerMessage, Acting.message),
    Action("workers/{id}/bonus", BonusWish, Acting.bonus),
    Action("ledger/approve", PaymentNames, Acting.approve),
    Action("ledger/retry", PaymentNames, Acting.retry),
    Action("requests/{id}/again", OnFailed, Acting.again),
    Action("requests/{id}/dismiss", OnFailed, Acting.dismiss),
    Action("study/pause", Nothing, Acting.pause),
    Action("study/resume", Nothing, Acting.resume),
    Action("study/change", ChangeStudy, Acting.change),
)


def add_actions(app: web.Application, acting: Acting, signed: Callable[[web.Request], Who]) -> None:
    """Serve the actions, and how the study runs. `signed(request)` is who is signed in: nobody
    else comes this far."""
    for action in ACTIONS:
        app.router.add_post(f"/api/monitor/{action.path}", _handler(action, acting, signed))

    async def study(_request: web.Request) -> web.Response:
        return answer(await acting.study.show())

    app.router.add_get("/api/monitor/study", study)


def _handler(
    action: Action, acting: Acting, signed: Callable[[web.Request], Who]
) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handle(request: web.Request) -> web.Response:
        asked = await read(request, action.takes)
        about: list[Any] = [request.match_info["id"]] if "{id}" in action.path else []
        return answer(await action.does(acting, signed(request), *about, asked))

    return handle
