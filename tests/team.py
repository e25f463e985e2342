"""Somebody of the team in tests: an admin in the record, and their browser.

owner = await join(live, AdminRole.OWNER)
status, body = await owner.post("/api/monitor/study/pause", {})
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from aiohttp import web
from aiohttp.typedefs import Handler
from argon2 import PasswordHasher, profiles

from chatserver.monitor.answers import NotDone, denied
from chatserver.monitor.sessions import COOKIE, cookie_of, new_token, session_id_of
from dialogs.record import admins
from dialogs.record.store import Record
from dialogs.record.tables import admin_sessions
from dialogs.record.writer import Decision
from dialogs.rules import AdminRole
from tests.live import Live

PASSWORD: Final = "nine lemons under the piano"


def cheap_hash(password: str) -> str:
    """A hash that costs no time, and which the server renews at the first sign-in."""
    return PasswordHasher.from_parameters(profiles.CHEAPEST).hash(password)


async def add_admin(
    record: Record, name: str, role: AdminRole = AdminRole.OWNER, password: str = PASSWORD
) -> str:
    """An admin; returns the id."""
    admin_id = f"ad-{name}"
    await asyncio.to_thread(
        admins.written,
        record.engine,
        admins.add_admin,
        admin_id,
        name,
        role,
        cheap_hash(password),
        1.0,
    )
    return admin_id


def cookie_for(live: Live, token: object) -> str:
    """What a browser sends that has this session's cookie."""
    return f"{cookie_of(COOKIE, live.study_id)}={token}"


@dataclass
class Member:
    """A browser of somebody who is signed in; `csrf` and `token` may be changed."""

    live: Live
    name: str
    id: str
    token: str
    csrf: str
    url: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def session_id(self) -> str:
        return session_id_of(self.token)

    async def get(self, path: str) -> tuple[int, Any]:
        return await self.ask("GET", path)

    async def post(self, path: str, body: object = None) -> tuple[int, Any]:
        """With the CSRF token, as the page does."""
        return await self.ask("POST", path, {} if body is None else body)

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        headers = {"Cookie": cookie_for(self.live, self.token), **self.headers}
        if method != "GET" and self.csrf:
            headers["X-CSRF-Token"] = self.csrf
        url = (self.url or self.live.urls[0]) + path
        sent: dict[str, Any] = {} if body is None else {"json": body}
        async with self.live.http.request(
            method, url, headers=headers, allow_redirects=False, **sent
        ) as response:
            raw = await response.read()
            if raw and response.content_type == "application/json":
                return response.status, orjson.loads(raw)
            return response.status, raw.decode()


@web.middleware
async def refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """What the guard of the monitor makes of refusals, for routes that are tested without it."""
    try:
        return await handler(request)
    except NotDone as error:
        return denied(error)


async def join(live: Live, role: AdminRole, name: str | None = None) -> Member:
    """Somebody new with this role, who is signed in."""
    name = name or f"{role}-{secrets.token_hex(3)}"
    return await signed_in(live, name, await add_admin(live.record, name, role))


async def signed_in(live: Live, name: str, admin_id: str) -> Member:
    """Another browser of an admin, by the clock of the first server if one runs."""
    token, csrf = new_token(), new_token()
    now = live.servers[0].service.now()
    row = {
        "id": session_id_of(token),
        "admin_id": admin_id,
        "csrf": csrf,
        "created_at": now,
        "seen_at": now,
    }
    await live.record.writer.commit(Decision(admin_id, ((admin_sessions, row),)))
    return Member(live, name, admin_id, token, csrf)
