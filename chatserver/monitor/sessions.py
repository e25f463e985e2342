"""Who is signed in to the monitor: a cookie, and the record's word for it.

The cookie holds 256 random bits; the record a digest of them. What the record says is believed for
a moment, so a session that was ended anywhere is over everywhere soon after.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from aiohttp import web

from chatserver.incoming import is_https
from chatserver.live.service import LiveService
from chatserver.tokens import DEVICE_LIFETIME_S
from dialogs.record import admins
from dialogs.record.admins import SessionRow
from dialogs.record.errors import Conflict, RecordError
from dialogs.rules import AdminRole

log = logging.getLogger("duologue.monitor")

COOKIE: Final = "duologue_monitor"
"""What the names of the session's cookies begin with."""
DEVICE_COOKIE: Final = "duologue_device"
"""It signs nobody in. It says that somebody has signed in by this browser, whose tries are counted
for themselves: whoever guesses from the same address keeps nobody waiting there."""
IDLE_S: Final = 12 * 3600.0
LONGEST_S: Final = 7 * 24 * 3600.0
SEEN_EVERY_S: Final = 60.0
"""How often the record is told that a session is used, at most."""
BELIEVED_S: Final = 2.0
"""How long an answer of the record is good for."""
MOST_REMEMBERED: Final = 1000
LOOK_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Admin:
    """Who asks, and by which session."""

    id: str
    name: str
    role: AdminRole
    session_id: str
    csrf: str


ADMIN: Final = web.RequestKey("admin", Admin)


def cookie_of(cookie: str, study_id: str) -> str:
    """What a cookie is called for a study. A browser sends a host's cookies to all of its ports, so
    that two studies on one host would sign each other's team out by the same name."""
    return f"{cookie}_{hashlib.sha256(study_id.encode(errors='replace')).hexdigest()[:12]}"


def new_token() -> str:
    """256 random bits."""
    return secrets.token_urlsafe(32)


def session_id_of(token: str) -> str:
    """What the record knows a token as."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


class Sessions:
    """The sessions, as one process knows them.

    `on_signed_out` are called with the ids of sessions that are over: at once where this process
    ended them; of those that are followed, because a socket is open by them, within seconds also
    where anything else did, time included.
    """

    def __init__(self, service: LiveService) -> None:
        self._service = service
        self._believed: dict[str, tuple[float, SessionRow]] = {}
        self._followed: Counter[str] = Counter()
        self.on_signed_out: list[Callable[[Collection[str]], None]] = []

    # --- The cookie ------------------------------------------------------------------------

    def _is_https(self, request: web.Request) -> bool:
        config = self._service.config
        return is_https(request, config.public_url, config.trusted_proxies)

    def _called(self, request: web.Request, cookie: str) -> str:
        # With the prefix a browser takes it from this very host only, and by TLS.
        name = cookie_of(cookie, self._service.config.study.id)
        return f"__Host-{name}" if self._is_https(request) else name

    def give(self, request: web.Request, response: web.Response, token: str) -> None:
        """The cookie, until the browser is closed."""
        self._set(request, response, COOKIE, token, None)

    def device_of(self, request: web.Request) -> str | None:
        """The token by which a browser says that somebody has signed in there before."""
        return request.cookies.get(self._called(request, DEVICE_COOKIE))

    def remember(self, request: web.Request, response: web.Response, device: str) -> None:
        self._set(request, response, DEVICE_COOKIE, device, DEVICE_LIFETIME_S)

    def _set(
        self,
        request: web.Request,
        response: web.Response,
        cookie: str,
        value: str,
        max_age: int | None,
    ) -> None:
        response.set_cookie(
            self._called(request, cookie),
            value,
            max_age=max_age,
            path="/",
            httponly=True,
            samesite="Strict",
            secure=self._is_https(request),
        )

    def take_away(self, request: web.Request, response: web.Response) -> None:
        response.del_cookie(
            self._called(request, COOKIE),
            path="/",
            httponly=True,
            samesite="Strict",
            secure=self._is_https(request),
        )

    # --- Who it is -------------------------------------------------------------------------

    async def of(self, request: web.Request) -> Admin | None:
        """Who asks, if they are signed in.

        Raises:
            Unavailable: the record does not answer.
        """
        token = request.cookies.get(self._called(request, COOKIE))
        if not token:
            return None
        row = await self._open(session_id_of(token))
        return None if row is None else _admin(row)

    async def by_socket(self, request: web.Request, auth: object) -> Admin | None:
        """Who opens a socket, if they are signed in and bring the session's CSRF token along."""
        given = auth.get("csrf") if isinstance(auth, dict) else None
        admin = await self.of(request)
        return admin if admin is not None and is_csrf(given, admin) else None

    async def _open(self, session_id: str) -> SessionRow | None:
        now = self._service.now()
        read_at, row = self._believed.get(session_id, (float("-inf"), None))
        if not 0 <= now - read_at < BELIEVED_S:
            row = await self._service.record.one(admins.sessions_by_id, session_id)
            self._believe(session_id, row, now)
        if row is None or not _is_open(row, now):
            return None
        if now - row.seen_at > SEEN_EVERY_S:
            await self._note_seen(row, now)
        return row

    def _believe(self, session_id: str, row: SessionRow | None, now: float) -> None:
        self._believed.pop(session_id, None)
        if row is None:
            return
        if len(self._believed) >= MOST_REMEMBERED:
            del self._believed[next(iter(self._believed))]
        self._believed[session_id] = (now, row)

    async def _note_seen(self, row: SessionRow, now: float) -> None:
        if row.id in self._believed:
            read_at, _ = self._believed[row.id]
            self._believed[row.id] = (read_at, replace(row, seen_at=now))
        # Somebody who only reads is not kept from it by a database that does not write.
        with suppress(RecordError):
            await self._service.record.writer.commit(admins.seen(row.id, now))

    # --- Ending ----------------------------------------------------------------------------

    async def end(self, admin: Admin) -> None:
        """End the session by which this admin asks."""
        with suppress(Conflict):
            await self._end(admin, [admin.session_id], "sign_out")
        self.forget([admin.session_id])

    async def end_all(self, admin: Admin) -> None:
        """End every session of this admin, of whatever browser.

        Raises:
            Unavailable: the record did not answer; some may still be open.
        """
        record = self._service.record
        while True:
            ids = await record.read(admins.open_sessions, admin.id)
            try:
                await self._end(admin, ids, "sign_out_everywhere")
            except Conflict:
                # One was ended meanwhile, by somebody else.
                continue
            self.forget(ids)
            return

    async def _end(self, admin: Admin, ids: Collection[str], action: str) -> None:
        now = self._service.now()
        study_id = self._service.config.study.id
        await self._service.record.writer.commit(
            admins.signed_out(study_id, admin.id, admin.name, ids, action, now)
        )

    def forget(self, ids: Collection[str]) -> None:
        """These sessions are over: ask the record again, and tell whoever wants to know."""
        for session_id in ids:
            self._believed.pop(session_id, None)
        for tell in self.on_signed_out:
            tell(ids)

    # --- Sockets ---------------------------------------------------------------------------

    def follow(self, session_id: str) -> None:
        """A socket has been opened by this session."""
        self._followed[session_id] += 1

    def unfollow(self, session_id: str) -> None:
        """One of its sockets is gone."""
        self._followed[session_id] -= 1
        if self._followed[session_id] <= 0:
            del self._followed[session_id]

    async def look_after(self, _app: web.Application) -> AsyncIterator[None]:
        """While the application runs, notice which sessions with sockets are over."""

        async def look() -> None:
            while True:
                await asyncio.sleep(LOOK_S)
                try:
                    await self._look()
                except RecordError as error:
                    log.warning("the sessions of open pages could not be looked up: %r", error)
                except Exception:
                    log.exception("the sessions of open pages could not be looked after")

        looking = asyncio.ensure_future(look())
        yield
        looking.cancel()

    async def _look(self) -> None:
        if not self._followed:
            return
        ids = list(self._followed)
        rows = await self._service.record.read(admins.sessions_by_id, ids)
        now = self._service.now()
        over = [each for each in ids if each not in rows or not _is_open(rows[each], now)]
        if over:
            self.forget(over)


def is_csrf(given: object, admin: Admin) -> bool:
    """Whether this is the session's CSRF token; how long that takes says nothing of it."""
    text = given if isinstance(given, str) else ""
    return hmac.compare_digest(text.encode(errors="replace"), admin.csrf.encode())


def _is_open(row: SessionRow, now: float) -> bool:
    return (
        row.ended_at is None
        and row.disabled_at is None
        and now - row.seen_at < IDLE_S
        and now - row.created_at < LONGEST_S
    )


def _admin(row: SessionRow) -> Admin:
    return Admin(row.admin_id, row.name, row.role, row.id, row.csrf)
