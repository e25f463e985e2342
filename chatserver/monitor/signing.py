"""Signing in and out, and the page itself."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from aiohttp import web

from chatserver.incoming import client_address
from chatserver.live.service import LiveService
from chatserver.monitor.answers import NotDone, answer, read
from chatserver.monitor.attempts import GUESSED_AT, HOUR_S, IN_VAIN_S, REMEMBERED_S, wait_s
from chatserver.monitor.passwords import Passwords
from chatserver.monitor.sessions import ADMIN, Admin, Sessions, new_token, session_id_of
from chatserver.monitor.wire import Done, Me, SignedIn, SignIn, StudyBrief, Trouble
from chatserver.tokens import new_id
from dialogs.record import admins, attempts
from dialogs.record.admins import AdminRow, known_as
from dialogs.record.errors import Conflict

log = logging.getLogger("duologue.monitor")

SESSIONS: Final = web.AppKey("sessions", Sessions)

PATH: Final = "/sign-in"
PAGE_FILE: Final = "monitor.html"
MOST_IN_LINE: Final = 3
"""Tries from one address that wait for each other; further ones are refused."""
TRIES: Final = 3
"""How often a sign-in begins anew where its admin is changed meanwhile."""
BUSY_S: Final = 2.0
"""How soon who is refused because others are at it may try again."""
_NO_PAGE: Final = (
    "The monitor's page is not built; run `make setup`, or install the released package.\n"
)


def add_routes(app: web.Application, service: LiveService) -> None:
    desk = SigningIn(service, app[SESSIONS])
    app.router.add_get("/api/sign-in", desk.signed_in)
    app.router.add_post("/api/sign-in", desk.sign_in)
    app.router.add_post("/api/monitor/sign-out", desk.sign_out)
    app.router.add_post("/api/monitor/sign-out-everywhere", desk.sign_out_everywhere)
    app.router.add_get("/api/monitor/me", desk.me)
    app.router.add_get(PATH, desk.page)
    app.router.add_get("/monitor", desk.page)
    app.router.add_get("/monitor/{rest:.*}", desk.page)
    app.on_cleanup.append(desk.close)


class SigningIn:
    """The routes by which somebody of the team comes and goes."""

    def __init__(self, service: LiveService, sessions: Sessions) -> None:
        self._service = service
        self._sessions = sessions
        self._passwords = Passwords()
        self._lines: WeakValueDictionary[str, _Line] = WeakValueDictionary()

    async def close(self, _app: web.Application) -> None:
        self._passwords.close()

    async def page(self, _request: web.Request) -> web.StreamResponse:
        file = self._service.config.static / PAGE_FILE
        if not _is_there(file):
            return web.Response(text=_NO_PAGE, status=503)
        return web.FileResponse(file)

    async def me(self, request: web.Request) -> web.StreamResponse:
        return answer(self._me(request[ADMIN]))

    async def signed_in(self, request: web.Request) -> web.StreamResponse:
        """For the page of the sign-in, to which nobody signed in is no error."""
        admin = await self._sessions.of(request)
        me = None if admin is None else self._me(admin)
        return answer(SignedIn(me=me, study=self._service.config.study.title))

    async def sign_in(self, request: web.Request) -> web.StreamResponse:
        given = await read(request, SignIn)
        config, tokens = self._service.config, self._service.tokens
        alias = tokens.admin_name(known_as(given.name) or given.name)
        device = tokens.read_device(self._sessions.device_of(request), alias)
        network = _network_of(client_address(request, config.trusted_proxies))
        address = tokens.address(network if device is None else f"device {device}")
        with self._passwords.place() as free:
            if not free:
                raise _too_many(BUSY_S)
            async with self._in_turn(address):
                admin, attempt_id = await self._tried(
                    given, alias, address, known=device is not None
                )
                response = await self._begun(request, given, admin, attempt_id)
        if device is None:
            self._sessions.remember(request, response, tokens.device(alias))
        return response

    async def _tried(
        self, given: SignIn, alias: str, address: str, *, known: bool
    ) -> tuple[AdminRow, str]:
        """Whose name and password these are, and the attempt by which they said so.

        Raises:
            NotDone: nobody's, or too many tries went before.
        """
        record, now = self._service.record, self._service.now()
        tried = await record.read(
            attempts.attempts,
            alias,
            address,
            here_since=now - REMEMBERED_S,
            name_since=now - HOUR_S,
            most_at_name=GUESSED_AT,
        )
        if wait := wait_s(tried, alias, now, known=known):
            raise _too_many(wait)
        attempt_id = new_id("si")
        await record.writer.commit(attempts.attempted(attempt_id, alias, address, now))
        await self._forget(now)
        return await self._verified(given), attempt_id

    async def _forget(self, now: float) -> None:
        """Tries that no limit looks at any more go, a few with each new one."""
        record = self._service.record
        old = await record.read(
            attempts.outdated, good_before=now - REMEMBERED_S, vain_before=now - IN_VAIN_S
        )
        if old:
            # Whoever signs in elsewhere at this moment forgets the same ones.
            with suppress(Conflict):
                await record.writer.commit(attempts.forgotten(old))

    async def _verified(self, given: SignIn) -> AdminRow:
        """Whose name and password these are. What is done does not tell whether there is an admin
        of this name.

        Raises:
            NotDone: nobody's who may sign in.
        """
        name = known_as(given.name)
        admin = await self._service.record.read(admins.admin_named, name or "")
        able = admin is not None and admin.disabled_at is None
        stored = admin.password if admin is not None and able else None
        right = await self._passwords.is_right(given.password, stored)
        if admin is None or not right:
            if admin is not None:
                log.warning("a try to sign in as %s was wrong", admin.name)
            raise NotDone(401, Trouble.WRONG, "The name or the password is not right.")
        return admin

    async def _begun(
        self, request: web.Request, given: SignIn, admin: AdminRow, attempt_id: str
    ) -> web.Response:
        """The answer that begins a session: always a new one, and this browser's last one ends."""
        before = await self._sessions.of(request)
        token, csrf = new_token(), new_token()
        session_id = session_id_of(token)
        stored = await self._passwords.renewed(given.password, admin.password)
        study_id, now = self._service.config.study.id, self._service.now()
        for _ in range(TRIES):
            decision = admins.signed_in(study_id, admin, session_id, csrf, attempt_id, stored, now)
            try:
                await self._service.record.writer.commit(decision)
                break
            except Conflict:
                # They were disabled, given another password, or their hash was renewed.
                admin = await self._verified(given)
                stored = admin.password
        else:
            raise NotDone(503, Trouble.TRY_AGAIN, "Please try again in a moment.")
        if before is not None:
            await self._sessions.end(before)
        log.info("%s has signed in", admin.name)
        me = Admin(admin.id, admin.name, admin.role, session_id, csrf)
        response = answer(self._me(me))
        self._sessions.give(request, response, token)
        return response

    @asynccontextmanager
    async def _in_turn(self, address: str) -> AsyncIterator[None]:
        """One after the other from each address, so that each sees what the last one came to."""
        line = self._lines.setdefault(address, _Line())
        if line.length >= MOST_IN_LINE:
            raise _too_many(BUSY_S)
        line.length += 1
        try:
            async with line.lock:
                yield
        finally:
            line.length -= 1

    async def sign_out(self, request: web.Request) -> web.StreamResponse:
        await self._sessions.end(request[ADMIN])
        return self._gone(request)

    async def sign_out_everywhere(self, request: web.Request) -> web.StreamResponse:
        await self._sessions.end_all(request[ADMIN])
        return self._gone(request)

    def _gone(self, request: web.Request) -> web.Response:
        response = answer(Done())
        self._sessions.take_away(request, response)
        return response

    def _me(self, admin: Admin) -> Me:
        config, can = self._service.config, self._service.config.abilities
        study = StudyBrief(
            id=config.study.id,
            title=config.study.title,
            currency=config.study.rules.pay.currency,
            recruiter=self._service.door.recruiter,
            rounds=config.study.rules.rounds,
            posts=can.posts,
            pays=can.pays,
            messages=can.messages,
            work=""
            if can.posts or config.study.invitations is not None
            else f"{config.public_url}/work",
        )
        return Me(name=admin.name, role=admin.role, csrf=admin.csrf, study=study)


class _Line:
    """Who of one address is at it, or waits for that."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.length = 0


def _is_there(file: Path) -> bool:
    return file.is_file()


def _network_of(address: str) -> str:
    """What counts as one address: of IPv6 the network, in which one person has all of them."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found.packed, 64), strict=False))


def _too_many(wait: float) -> NotDone:
    seconds = max(1, math.ceil(wait))
    long = f"{seconds} seconds" if seconds <= 90 else f"{math.ceil(seconds / 60)} minutes"
    return NotDone(
        429,
        Trouble.SLOW_DOWN,
        f"There were too many tries to sign in; please try again in {long}.",
        retry_after_s=wait,
    )
