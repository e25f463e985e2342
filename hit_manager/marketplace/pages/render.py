"""From a template to a response: filters, and the headers that every page has."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from hit_manager.marketplace.pages.session import MARKET

HERE: Final = Path(__file__).parent

_CLOSED: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'"
)
"""Nothing of anybody else's, nothing inline, and forms that lead nowhere else."""


def money(cents: int) -> str:
    """125 as `$1.25`."""
    return f"${cents // 100:,}.{cents % 100:02d}"


def span(seconds: float) -> str:
    """5400 as `1 hour 30 minutes`: the two largest units, which is as exact as people need."""
    left, parts = int(seconds), []
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}{'' if count == 1 else 's'}")
    return " ".join(parts[:2]) or "at once"


def clock(seconds: float) -> str:
    """754 as `12:34`, 4000 as `1:06:40`."""
    minutes, s = divmod(int(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02d}:{s:02d}" if hours else f"{m}:{s:02d}"


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(at: float) -> str:
    """A time for people whose page runs no script; with scripts it becomes their local time."""
    when = datetime.fromtimestamp(at, UTC)
    return f"{when.day} {when:%b %Y, %H:%M} UTC"


def shorten(text: str, most: int) -> str:
    """At most so many characters, cut between words where there is a gap."""
    if len(text) <= most:
        return text
    return text[:most].rsplit(" ", 1)[0].rstrip(" ,.;:") + " …"


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        money=money, span=span, clock=clock, iso=iso, moment=moment, shorten=shorten
    )
    return made


_TEMPLATES: Final = _environment()


def page(
    request: web.Request,
    template: str,
    /,
    *,
    status: int = 200,
    framing: bool = False,
    framed: bool = False,
    **values: Any,
) -> web.Response:
    """The page that a template makes of `values`, and of what the team says about itself.

    `framing`: it shows a task, whose address is the requester's to choose and which may lead on
    to others. `framed`: it is shown in such a frame. No other page may be in a frame at all.
    """
    policy = _CLOSED
    if framing:
        policy += "; frame-src 'self' https: http:"
    if not framed:
        # A page for frames holds nothing that a click could be stolen for, and must also reach
        # people whose task puts it into a frame within its own.
        policy += "; frame-ancestors 'none'"
    text = _TEMPLATES.get_template(template).render(
        {"about": request.app[MARKET].about, "worker": None, "notice": None, "here": ""} | values
    )
    return web.Response(
        text=text,
        status=status,
        content_type="text/html",
        charset="utf-8",
        headers={
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
            "Cache-Control": "no-store",
        },
    )
