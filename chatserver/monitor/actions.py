"""The addresses of the monitor's actions, and who may use them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from aiohttp import web
from pydantic import BaseModel, ValidationError

from chatserver.monitor.acting import Acting
from chatserver.monitor.refusing import Refuse, bad_request
from chatserver.monitor.wire import (
    BonusWish,
    ChangeStudy,
    End,
    Extend,
    Note,
    Nothing,
    PaymentNames,
    Reason,
    Tell,
    WorkerMessage,
)
from dialogs.rules import AdminRole


class Signed(Protocol):
    """Who is signed in."""

    @property
    def id(self) -> str: ...

    @property
    def role(self) -> AdminRole: ...


Act = Callable[..., Awaitable[BaseModel]]
"""Takes the `Acting`, who acts, the id in the address if it has one, and the body's model."""

_OWNERS: Final = frozenset({AdminRole.OWNER})
_REVIEWERS: Final = frozenset({AdminRole.OWNER, AdminRole.REVIEWER})


@dataclass(frozen=True, slots=True)
class Action:
    """`POST /api/monitor/{path}` with a body of this model; `roles` may do it."""

    path: str
    takes: type[BaseModel]
    roles: frozenset[AdminRole]
    does: Act


ACTIONS: Final = (
    Action("dialogs/{id}/message", Tell, _REVIEWERS, Acting.tell),
    Action("dialogs/{id}/extend", Extend, _REVIEWERS, Acting.extend),
    Action("dialogs/{id}/end", End, _REVIEWERS, Acting.end),
    Action("workers/{id}/exclude", Reason, _OWNERS, Acting.exclude),
    Action("workers/{id}/allow", Nothing, _OWNERS, Acting.allow),
    Action("workers/{id}/note", Note, _REVIEWERS, Acting.note),
    Action("workers/{id}/message", WorkerMessage, _REVIEWERS, Acting.message),
    Action("workers/{id}/bonus", BonusWish, _OWNERS, Acting.bonus),
    Action("ledger/approve", PaymentNames, _REVIEWERS, Acting.approve),
    Action("ledger/retry", PaymentNames, _OWNERS, Acting.retry),
    Action("study/pause", Nothing, _OWNERS, Acting.pause),
    Action("study/resume", Nothing, _OWNERS, Acting.resume),
    Action("study/change", ChangeStudy, _OWNERS, Acting.change),
)


def add_actions(
    app: web.Application, acting: Acting, signed: Callable[[web.Request], Signed]
) -> None:
    """Serve the actions, and how the study runs. `signed(request)` is who is signed in: nobody
    else comes this far."""
    for action in ACTIONS:
        app.router.add_post(f"/api/monitor/{action.path}", _handler(action, acting, signed))

    async def study(request: web.Request) -> web.Response:
        return await _answer(acting.study.show())

    app.router.add_get("/api/monitor/study", study)


def _handler(
    action: Action, acting: Acting, signed: Callable[[web.Request], Signed]
) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handle(request: web.Request) -> web.Response:
        who = signed(request)
        return await _answer(_act(action, acting, who, request))

    return handle


async def _act(action: Action, acting: Acting, who: Signed, request: web.Request) -> BaseModel:
    if who.role not in action.roles:
        raise Refuse(403, "not_allowed", f"As a {who.role} you cannot do this.")
    asked = _read(action.takes, await request.read())
    about: list[Any] = [request.match_info["id"]] if "{id}" in action.path else []
    return await action.does(acting, who, *about, asked)


def _read(model: type[BaseModel], body: bytes) -> BaseModel:
    try:
        # By way of JSON, in which a text stands for one of an enum.
        return model.model_validate_json(body or b"{}")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "The body"
        raise bad_request(f"{where}: {first['msg']}.") from None


async def _answer(work: Awaitable[BaseModel]) -> web.Response:
    try:
        answer = await work
    except Refuse as no:
        told = {"error": no.error, "code": no.code}
        return web.json_response(told, status=no.status)
    return web.Response(text=answer.model_dump_json(), content_type="application/json")
