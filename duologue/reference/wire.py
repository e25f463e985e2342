"""The reference page of the wire protocol, made from its models."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from enum import StrEnum
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel
from pydantic.fields import FieldInfo

from chatserver import wire

_HEAD: Final = """\
# The wire protocol

The page and the server speak [socket.io](https://socket.io/docs/v4/) (protocol version 5, WebSocket
only, text frames only) in the namespace `/`. The `auth` payload is `{"token": …}`, the token being
the answer to `POST /api/arrivals`; there are no cookies. A refused connection carries
`{"error", "code"}`; with `bad_token` or `replaced` the page must not try again by itself.

The page sends events and gets an acknowledgement for each but `typing`: what the event's model
says, or `Refused`. A message that was not acknowledged is sent again with the same `key`, as often
as wanted: the answer is always the number of the first. The server sends `heartbeat`, which the
page acknowledges at once.

Every `message`, `partner`, `phase`, `told` and `extended` frame carries `seq`, the number of a
dialog event. A page applies frames in order, ignores numbers it has seen, and on a gap sends
`sync`. `state` replaces everything. Times are seconds since 1970-01-01 UTC by the server's clock.

| HTTP | what |
|---|---|
| `GET /work` | the worker's page; `?preview=1` only looks, `?invite=CODE` is an invitation |
| `GET /api/study` | `StudyOut` |
| `POST /api/arrivals` | `ArrivalRequest` → `ArrivalAnswer`, or `Refused` with a status of 4xx |
| `GET /items/{token}` | the picture that this arrival's role may see, never kept by a cache |
| `GET /healthz`, `GET /readyz` | the process runs; it may be sent people (200) or not (503) |

| page → server | payload | acknowledged with |
|---|---|---|
| `ready`, `start`, `decline`, `stop_waiting`, `pair_again` | `Nothing` | `Done` |
| `leave` | `LeaveRequest` | `Done` |
| `message` | `SendMessage` | `Sent` |
| `sync` | `Sync` | `Events` |
| `typing` | `Typing` | not at all |
| `finish` | `Finish` | `Done` |
| `report` | `Report` | `Done` |

| server → page | payload |
|---|---|
| `state` | `State` |
| `message`, `partner`, `phase` | `MessageOut`, `PartnerOut`, `PhaseOut` |
| `told`, `extended` | `ToldOut`, `ExtendedOut` |
| `lobby` | `Lobby` |
| `typing` | `Typing` |
| `heartbeat` | empty; to be acknowledged |
| `stopped` | `Stopped`: the page must stop for good |

"""


def wire_page() -> str:
    """`docs/reference/wire.md`."""
    return _HEAD + "\n".join(sections(wire)).rstrip() + "\n"


def sections(module: ModuleType) -> Iterator[str]:
    """A section for each model and enum of a module, in the order in which they stand there."""
    for name, model in _in_order(module):
        yield f"## `{name}`\n\n{_plain(model.__doc__)}\n"
        if issubclass(model, StrEnum):
            yield ", ".join(f"`{member.value}`" for member in model) + "\n"
        elif fields := _fields(model):
            rows = ["| field | type | default |", "|---|---|---|"]
            for field, info in fields.items():
                rows.append(f"| `{field}` | {_type(info)} | {_default(info)} |")
            yield "\n".join(rows) + "\n"


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    # Names of models that stand further down are known only once it has been built again.
    model.model_rebuild()
    return model.model_fields


def _in_order(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef) and node.name != "Wire":
            yield node.name, getattr(module, node.name)


def _type(info: FieldInfo) -> str:
    # What a function checks is said where it stands.
    told = (each for each in info.metadata if not isinstance(each, AfterValidator))
    limits = "; ".join(str(limit) for limit in told)
    return f"`{_name(info.annotation)}`{f' ({limits})' if limits else ''}".replace("|", "\\|")


def _name(annotation: Any) -> str:
    """A type as it is written, without what an `Annotated` says beside it."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _name(arguments[0])
    if origin in (Union, UnionType):
        return " | ".join(_name(each) for each in arguments)
    if origin is Literal or origin is None:
        if annotation is NoneType:
            return "None"
        return (
            annotation.__name__
            if isinstance(annotation, type)
            else str(annotation).replace("typing.", "")
        )
    return f"{origin.__name__}[{', '.join(_name(each) for each in arguments)}]"


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    value = info.get_default(call_default_factory=True)
    return f"`{value.model_dump() if isinstance(value, BaseModel) else value!r}`"


def _plain(text: str | None) -> str:
    return " ".join((text or "").split())
