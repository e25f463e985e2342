"""How a route of the fake Prolific is written: a method that says what it accepts, and its page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from aiohttp import web

Body = dict[str, Any]
Handler = Callable[[web.Request, Body], Awaitable[web.Response]]


@dataclass(frozen=True)
class Route:
    """`fields` of the body, None for no body; `query`: parameters beside those of pages."""

    method: str
    path: str
    fields: set[str] | None
    query: set[str]
    handler: Handler


def route(
    method: str, path: str, *, fields: set[str] | None = None, query: set[str] | None = None
) -> Callable[[Any], Any]:
    """The method answers requests of this kind below `/api/v1/`."""

    def mark(function: Any) -> Any:
        function.route = (method, path, fields, query or set())
        return function

    return mark


def routes(section: object) -> Iterator[Route]:
    """The routes of an object's methods. Each must name the page it follows."""
    for name in dir(section):
        function = getattr(section, name)
        if found := getattr(function, "route", None):
            if "https://docs.prolific.com/" not in (function.__doc__ or ""):
                raise AssertionError(f"{name} names no page of the documentation")
            method, path, fields, query = found
            yield Route(method, path, fields, query, function)


def page(request: web.Request, results: list[Any]) -> web.Response:
    """One page of a list, with the links that Prolific's own client reads."""
    number = int(request.query.get("page", "1"))
    size = int(request.query.get("page_size", "20"))
    more = len(results) > number * size
    following = f"{request.path}?page={number + 1}" if more else None
    return web.json_response(
        {
            "results": results[(number - 1) * size : number * size],
            "_links": {"next": {"href": following, "title": "Next"}},
            "meta": {"count": len(results)},
        }
    )
