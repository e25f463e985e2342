"""Nothing of the monitor answers who may not see it, however they ask."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from http.cookies import Morsel, SimpleCookie
from pathlib import Path
from typing import Any, Final
from unittest.mock import Mock

import orjson
import pytest
from aiohttp import web
from argon2 import Parameters, Type
from yarl import URL

from chatserver.monitor.access import NEEDS, SESSIONS, admit_socket
from chatserver.monitor.attempts import IN_VAIN_S, REMEMBERED_S
from chatserver.monitor.passwords import Passwords
from chatserver.monitor.sessions import (
    COOKIE,
    DEVICE_COOKIE,
    IDLE_S,
    LONGEST_S,
    SEEN_EVERY_S,
    Sessions,
    cookie_of,
    session_id_of,
)
from chatserver.tokens import Tokens
from dialogs.record import admins, tables
from dialogs.record.studies import new_study
from dialogs.rules import AdminRole
from duologue.admin import demo_line, how_to_begin
from duologue.serve import Site
from tests.live import WITHIN_S, Live, eventually
from tests.team import PASSWORD, Member, add_admin, cookie_for, join, signed_in

ME = "/api/monitor/me"
WRONG = {"error": "The name or the password is not right.", "code": "wrong", "retry_after_s": None}


CHEAP: Final = Parameters(Type.ID, 19, 8, 4, time_cost=2, memory_cost=16, parallelism=1)


@pytest.fixture(autouse=True)
def hashing_costs_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it costs by default is seen to in tests/unit/test_passwords.py."""
    monkeypatch.setattr("chatserver.monitor.passwords._PARAMETERS", CHEAP)


class Clock:
    """The server's time, which only the test moves."""

    def __init__(self) -> None:
        self.at = time.time()

    def __call__(self) -> float:
        return self.at


@dataclass
class Answer:
    status: int
    body: Any
    headers: Any
    cookie: SimpleCookie

    @property
    def token(self) -> str:
        return self.session.value

    @property
    def session(self) -> Morsel[str]:
        (found,) = [each for each in self.cookie.values() if COOKIE in each.key]
        return found

    @property
    def device(self) -> Morsel[str]:
        (found,) = [each for each in self.cookie.values() if DEVICE_COOKIE in each.key]
        return found


async def begin(live: Live, **server: Any) -> Clock:
    """A server with an owner `ada`, and its clock."""
    running = await live.begin(**server)
    clock = Clock()
    running.service.now = clock
    await add_admin(live.record, "ada")
    return clock


async def sign_in(
    live: Live,
    name: object = "ada",
    password: object = PASSWORD,
    *,
    raw: bytes | None = None,
    url: str | None = None,
    **headers: str,
) -> Answer:
    """Sign in as the page does; `raw` instead of the body, `headers` with `_` for `-`."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    body = raw if raw is not None else orjson.dumps({"name": name, "password": password})
    async with live.http.post(
        (url or live.urls[0]) + "/api/sign-in",
        data=body,
        headers={"Content-Type": "application/json", **given},
    ) as response:
        cookie: SimpleCookie = SimpleCookie()
        for line in response.headers.getall("Set-Cookie", ()):
            cookie.load(line)
        return Answer(response.status, await response.json(), response.headers, cookie)


async def from_elsewhere(live: Live, n: int, *args: Any, **how: Any) -> Answer:
    """The same from another address, by a trusted proxy."""
    return await sign_in(live, *args, X_Forwarded_For=f"203.0.113.{n}", **how)


def browser_of(live: Live, answer: Answer) -> Member:
    return Member(live, "ada", "ad-ada", answer.token, answer.body["csrf"])


async def tries(live: Live) -> list[bool]:
    return [row.good for row in await live.rows(tables.sign_ins)]


async def audited(live: Live) -> list[str]:
    rows = sorted(await live.rows(tables.audit), key=lambda row: row.at)
    return [row.action for row in rows]


# --- Every route -------------------------------------------------------------------------------


def routes_of(live: Live) -> list[tuple[str, str]]:
    """Method and pattern of every route under /api/monitor."""
    app = live.servers[0].app
    return [
        (route.method, re.sub(r"\{[^}]*\}", "{}", route.resource.canonical))
        for route in app.router.routes()
        if route.resource is not None and route.resource.canonical.startswith("/api/monitor")
    ]


async def test_every_route_has_a_role(live: Live) -> None:
    await begin(live)
    found = routes_of(live)
    assert ("GET", ME) in found
    for method, pattern in found:
        if method != "HEAD":
            assert (method, pattern.removeprefix("/api/monitor")) in NEEDS, f"{method} {pattern}"


async def test_no_route_answers_without_a_session(live: Live) -> None:
    await begin(live)
    nobody = Member(live, "", "", "", "")
    stranger = Member(live, "", "", "a-token-that-was-never-given", "x")
    asked = [*routes_of(live), *((method, f"/api/monitor{path}") for method, path in NEEDS)]
    asked += [("GET", "/api/monitor"), ("GET", "/api/monitor/none"), ("DELETE", ME)]
    for method, pattern in asked:
        for who in (nobody, stranger):
            status, body = await who.ask(method, pattern.replace("{}", "x"))
            assert status == 401, f"{method} {pattern}: {status}"
            if method != "HEAD":
                assert body["code"] == "signed_out"


async def test_odd_ways_to_write_a_path_are_no_way_around(live: Live) -> None:
    await begin(live)
    at = live.urls[0].removeprefix("http://")
    host, _, port = at.partition(":")
    for path in (
        "/api/%6donitor/me",
        "/api/monitor/%6de",
        "/api//monitor/me",
        "/api/monitor//me",
        "/api/./monitor/me",
        "/x/../api/monitor/me",
        "/API/monitor/me",
        f"http://{at}/api/monitor/me",
        "/monitor",
        "/%6donitor",
        "/monitor/",
        "/monitor/../monitor",
        "//monitor",
    ):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        assert int(answer.split()[1]) in (303, 400, 401, 404), f"{path}: {answer!r}"


async def test_each_role_may_do_what_it_may_and_no_more(live: Live) -> None:
    await begin(live)
    rank = [AdminRole.VIEWER, AdminRole.REVIEWER, AdminRole.OWNER]
    members = [await join(live, role) for role in rank]
    there = set(routes_of(live))
    for (method, path), least in NEEDS.items():
        pattern = f"/api/monitor{path}"
        if "sign-out" in path or (method, pattern) not in there:
            continue
        for role, member in zip(rank, members, strict=True):
            status, body = await member.ask(method, pattern.replace("{}", "x"))
            code = body.get("code") if isinstance(body, dict) else None
            if rank.index(role) < rank.index(least):
                assert (status, code) == (403, "not_allowed"), f"{role} {method} {path}"
            else:
                assert code not in ("not_allowed", "signed_out", "bad_csrf"), f"{role} {path}"


@pytest.mark.parametrize(
    ("least", "role", "status"),
    [
        (AdminRole.VIEWER, AdminRole.VIEWER, 200),
        (AdminRole.REVIEWER, AdminRole.VIEWER, 403),
        (AdminRole.REVIEWER, AdminRole.REVIEWER, 200),
        (AdminRole.OWNER, AdminRole.REVIEWER, 403),
        (AdminRole.OWNER, AdminRole.OWNER, 200),
        (None, AdminRole.OWNER, 403),
    ],
)
async def test_a_role_is_enough_or_not(
    live: Live,
    monkeypatch: pytest.MonkeyPatch,
    least: AdminRole | None,
    role: AdminRole,
    status: int,
) -> None:
    """A route of which nobody said what it needs answers nobody."""
    monkeypatch.setattr("chatserver.monitor.access.NEEDS", {("GET", "/me"): least} if least else {})
    await begin(live)
    member = await join(live, role)
    found, body = await member.get(ME)
    assert found == status
    if status == 403:
        assert body["code"] == "not_allowed"


# --- The session -------------------------------------------------------------------------------


async def test_somebody_signs_in_and_out(live_each: Live) -> None:
    live = live_each
    await begin(live)
    answer = await sign_in(live)
    assert answer.status == 200
    ada = browser_of(live, answer)
    status, me = await ada.get(ME)
    assert (status, me) == (200, answer.body)
    assert (me["name"], me["role"], me["study"]["id"]) == ("ada", "owner", live.study_id)
    (row,) = await live.rows(tables.admin_sessions)
    # Nobody signs in by what the record holds.
    assert row.id == session_id_of(answer.token)
    stored = [
        repr(row) for table in tables.metadata.sorted_tables for row in await live.rows(table)
    ]
    assert not any(answer.token in each or PASSWORD in each for each in stored)
    assert (await ada.get("/monitor"))[0] == 200
    status, _ = await ada.post("/api/monitor/sign-out")
    assert status == 200
    assert (await ada.get(ME))[0] == 401
    assert (await ada.get("/monitor"))[0] == 303
    assert await audited(live) == ["admin.add", "sign_in", "sign_out"]
    assert await tries(live) == [True]


async def test_a_name_is_the_same_however_it_is_typed(live: Live) -> None:
    await begin(live)
    for name in ("ADA", " ada ", "\uff41da"):
        assert (await sign_in(live, name)).status == 200, name


async def test_the_cookie_over_http(live: Live) -> None:
    await begin(live)
    # Not behind a proxy anybody may say this.
    answer = await sign_in(live, X_Forwarded_Proto="https")
    morsel = answer.session
    assert morsel.key == cookie_of(COOKIE, live.study_id)
    assert (morsel["httponly"], morsel["samesite"], morsel["path"]) == (True, "Strict", "/")
    assert (morsel["secure"], morsel["domain"], morsel["max-age"]) == ("", "", "")
    # 256 bits.
    assert len(morsel.value) == 43


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ({"trusted_proxies": 1}, "https"),
        ({"trusted_proxies": 2}, "https"),
        ({"trusted_proxies": 2}, "https, http"),
        ({"public_url": "https://study.example.org"}, ""),
    ],
)
async def test_the_cookie_over_https(live: Live, server: dict[str, Any], told: str) -> None:
    public = server.get("public_url")
    await live.prepare(**{k: v for k, v in server.items() if k != "public_url"})
    running = await live.serve()
    if public:
        # It listens where it did, and is known by another address.
        object.__setattr__(running.service.config, "public_url", public)
    await add_admin(live.record, "ada")
    answer = await sign_in(live, X_Forwarded_Proto=told)
    morsel = answer.session
    plain = cookie_of(COOKIE, live.study_id)
    assert morsel.key == f"__Host-{plain}"
    assert (morsel["secure"], morsel["path"], morsel["domain"]) == (True, "/", "")
    # Another server on this host, or one without TLS, could have set the other one.
    for name, status in ((plain, 401), (f"__Host-{plain}", 200)):
        headers = {"Cookie": f"{name}={answer.token}", "X-Forwarded-Proto": told}
        async with live.http.get(live.urls[0] + ME, headers=headers) as response:
            assert response.status == status, name


async def test_a_browser_may_be_signed_in_to_two_studies_of_one_host(live: Live) -> None:
    """Ports have no cookies of their own."""
    await begin(live)
    jar: dict[str, str] = {}
    study = live.servers[0].service.config.study
    await live.record.writer.commit(new_study("another", {}, time.time()))
    for study_id in (study.id, "another"):
        # The other study's server, as far as its cookies go.
        object.__setattr__(study, "id", study_id)
        answer = await sign_in(live)
        assert answer.status == 200
        jar |= {morsel.key: morsel.value for morsel in answer.cookie.values()}
    assert len(jar) == 4
    assert all(re.fullmatch(r"duologue_(monitor|device)_[0-9a-f]{12}", name) for name in jar)


async def test_a_sign_in_begins_a_new_session_and_ends_the_last_one(live: Live) -> None:
    """Who has put a cookie into somebody's browser beforehand has nothing by it."""
    await begin(live)
    planted = "planted-by-somebody-who-waits-for-the-sign-in"
    first = await sign_in(live, Cookie=cookie_for(live, planted))
    assert first.token != planted
    assert (await Member(live, "", "", planted, "").get(ME))[0] == 401
    second = await sign_in(live, Cookie=cookie_for(live, first.token))
    assert second.token != first.token
    assert second.body["csrf"] != first.body["csrf"]
    assert (await browser_of(live, first).get(ME))[0] == 401
    assert (await browser_of(live, second).get(ME))[0] == 200


@pytest.mark.parametrize(("every_s", "last_s"), [(IDLE_S, IDLE_S), (IDLE_S / 2, LONGEST_S)])
async def test_a_session_runs_out(live: Live, every_s: float, last_s: float) -> None:
    """When it is not used, and however much it is used."""
    clock = await begin(live)
    ada = await join(live, AdminRole.VIEWER)
    began = clock.at
    while (left := began + last_s - clock.at) > every_s:
        clock.at += every_s - 10 if every_s == IDLE_S else every_s
        assert (await ada.get(ME))[0] == 200
    clock.at += left - 1
    if every_s != IDLE_S:
        assert (await ada.get(ME))[0] == 200
        clock.at += 1
    else:
        clock.at += 1
    assert (await ada.get(ME))[0] == 401
    assert (await ada.get("/monitor"))[0] == 303


async def test_the_record_is_told_of_use_once_a_minute(live: Live) -> None:
    clock = await begin(live)
    ada = await join(live, AdminRole.VIEWER)

    async def seen() -> float:
        (row,) = await live.rows(tables.admin_sessions)
        return float(row.seen_at)

    began = clock.at
    for after, noted in ((SEEN_EVERY_S, began), (1.0, began + SEEN_EVERY_S + 1), (30.0, None)):
        clock.at += after
        assert (await ada.get(ME))[0] == 200
        assert await seen() == (noted if noted is not None else began + SEEN_EVERY_S + 1)


async def test_what_is_taken_away_is_gone_within_seconds(live: Live) -> None:
    clock = await begin(live)
    engine = live.record.engine
    taken = {
        "sign_out": lambda: admins.written(engine, admins.sign_out, "one", clock.at),
        "disable": lambda: admins.written(engine, admins.disable, "two", clock.at),
        "password": lambda: admins.written(engine, admins.set_password, "three", "x", clock.at),
    }
    for name, take in zip(("one", "two", "three"), taken.values(), strict=True):
        member = await join(live, AdminRole.OWNER, name)
        assert (await member.get(ME))[0] == 200
        assert await asyncio.to_thread(take) is not None
        clock.at += 2.0
        assert (await member.get(ME))[0] == 401, name
        # Also where somebody had the cookie from before.
        clock.at += 60.0
        assert (await member.get(ME))[0] == 401, name
    ben = await join(live, AdminRole.OWNER, "ben")
    assert (await ben.get(ME))[1]["role"] == "owner"
    await asyncio.to_thread(admins.written, engine, admins.set_role, "ben", AdminRole.VIEWER, 1.0)
    clock.at += 2.0
    assert (await ben.get(ME))[1]["role"] == "viewer"


async def test_who_is_disabled_cannot_sign_in(live: Live) -> None:
    await begin(live)
    await add_admin(live.record, "ben")
    await asyncio.to_thread(admins.written, live.record.engine, admins.disable, "ben", 1.0)
    answer = await sign_in(live, "ben")
    assert (answer.status, answer.body) == (401, WRONG)
    # Nor has one who got in at that very moment.
    ben = await signed_in(live, "ben", "ad-ben")
    assert (await ben.get(ME))[0] == 401


async def test_a_password_that_was_changed_meanwhile_begins_no_session(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The right password is verified, and at that moment it is no longer the right one."""
    await begin(live)
    engine = live.record.engine
    verify = Passwords.is_right

    async def slowly(self: Passwords, password: str, stored: str | None) -> bool:
        right = await verify(self, password, stored)
        await asyncio.to_thread(admins.written, engine, admins.set_password, "ada", "x", 1.0)
        return right

    monkeypatch.setattr(Passwords, "is_right", slowly)
    assert (await sign_in(live)).status == 401
    assert await live.rows(tables.admin_sessions) == []


async def test_an_old_hash_is_renewed_by_the_sign_in(live: Live) -> None:
    await begin(live)
    (before,) = await live.rows(tables.admins)
    for _ in range(2):
        assert (await sign_in(live)).status == 200
    (after,) = await live.rows(tables.admins)
    assert before.password != after.password
    assert "$m=16,t=2,p=1$" in after.password


async def test_signed_out_everywhere_in_another_process_too(live_postgres: Live) -> None:
    live = live_postgres
    await live.begin()
    other = await live.process()
    here = await join(live, AdminRole.OWNER, "ada")
    there = await signed_in(live, "ada", here.id)
    there.url = other.url
    ben = await join(live, AdminRole.OWNER, "ben")
    for member in (here, there, ben):
        assert (await member.get(ME))[0] == 200
    assert (await here.post("/api/monitor/sign-out-everywhere"))[0] == 200
    assert (await here.get(ME))[0] == 401

    async def gone() -> bool:
        return (await there.get(ME))[0] == 401

    await eventually(gone, within=10.0)
    assert (await ben.get(ME))[0] == 200


async def test_open_sockets_are_told_that_their_session_is_over(live: Live) -> None:
    """At once where it was ended here, within seconds where it was ended elsewhere."""
    clock = await begin(live)
    told: list[str] = []
    app = web.Application()
    sessions = app[SESSIONS] = Sessions(live.servers[0].service)
    sessions.on_signed_out.append(told.extend)
    ada = await join(live, AdminRole.OWNER, "bob")
    cookie = cookie_of(COOKIE, live.study_id)
    request = Mock(web.Request, cookies={cookie: ada.token}, secure=False, app=app, headers={})
    admin = await admit_socket(request, {"csrf": ada.csrf})
    assert admin is not None
    assert (admin.name, admin.session_id) == ("bob", ada.session_id)
    for auth in (None, "x", {}, {"csrf": 1}, {"csrf": ""}, {"csrf": "\ud800"}, {"token": "x"}):
        assert await admit_socket(request, auth) is None, auth
    sessions.follow(admin.session_id)
    await sessions._look()
    assert told == []
    await asyncio.to_thread(admins.written, live.record.engine, admins.sign_out, "bob", clock.at)
    await sessions._look()
    assert told == [ada.session_id]
    assert await admit_socket(request, {"csrf": ada.csrf}) is None
    sessions.unfollow(admin.session_id)
    await sessions._look()
    assert told == [ada.session_id]
    again = await signed_in(live, "bob", ada.id)
    request.cookies = {cookie: again.token}
    admin = await admit_socket(request, {"csrf": again.csrf})
    assert admin is not None
    await sessions.end_all(admin)
    assert told == [ada.session_id, again.session_id]


# --- Requests of others' pages -----------------------------------------------------------------


@pytest.mark.parametrize("csrf", ["", "x", "\u00e4"])
async def test_a_change_needs_the_sessions_csrf_token(live: Live, csrf: str) -> None:
    await begin(live)
    ada, ben = await join(live, AdminRole.OWNER), await join(live, AdminRole.OWNER)
    for wrong in (csrf, ben.csrf):
        ada.csrf, right = wrong, ada.csrf
        status, body = await ada.post("/api/monitor/sign-out")
        assert (status, body["code"]) == (403, "bad_csrf")
        for method in ("PUT", "DELETE", "PATCH"):
            assert (await ada.ask(method, ME))[0] == 403
        assert (await ada.get(ME))[0] == 200
        ada.csrf = right
    assert (await ada.post("/api/monitor/sign-out"))[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_another_sites_page_may_ask_nothing(live: Live, headers: dict[str, str]) -> None:
    await begin(live)
    ada = await join(live, AdminRole.OWNER)
    ada.headers = headers
    for method, path in (("GET", ME), ("POST", "/api/monitor/sign-out")):
        status, body = await ada.ask(method, path)
        assert (status, body["code"]) == (403, "foreign")
    answer = await sign_in(live, **{k.replace("-", "_"): v for k, v in headers.items()})
    assert (answer.status, answer.body["code"]) == (403, "foreign")
    assert not answer.cookie
    ada.headers = {"Origin": live.urls[0], "Sec-Fetch-Site": "same-origin"}
    assert (await ada.get(ME))[0] == 200


async def test_a_form_of_another_site_signs_nobody_in(live: Live) -> None:
    """A form can be sent anywhere, as text that is JSON too; but not with JSON's type."""
    await begin(live)
    body = orjson.dumps({"name": "ada", "password": PASSWORD})
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = await sign_in(live, raw=body, Content_Type=kind)
        assert (answer.status, answer.body["code"]) == (415, "bad_request")


async def test_no_other_site_may_show_it_in_a_frame(live: Live) -> None:
    await begin(live, frame_ancestors=("https://workersandbox.mturk.com",))
    ada = await join(live, AdminRole.OWNER)
    headers = {"Cookie": cookie_for(live, ada.token)}
    for path in ("/monitor", "/monitor/x", "/sign-in", "/static/monitor.html", ME):
        async with live.http.get(live.urls[0] + path, headers=headers) as response:
            assert response.status == 200
            assert response.headers["Content-Security-Policy"] == (
                "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
                "frame-ancestors 'none'"
            )
            assert response.headers["Cache-Control"] == "no-store"
    async with live.http.get(live.urls[0] + "/work") as response:
        assert "mturk" in response.headers["Content-Security-Policy"]


# --- The page ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "up", "back"),
    [
        ("/monitor", "", "/monitor"),
        ("/monitor/", "../", "/monitor/"),
        ("/monitor/dialogs/d_1?x=1&y=2", "../../", "/monitor/dialogs/d_1?x=1&y=2"),
        ("/monitor//evil.example", "../../", "/monitor//evil.example"),
        ("/monitor/%5C%5Cevil.example", "../", "/monitor/%5C%5Cevil.example"),
        ("/monitor/%0d%0aSet-Cookie:%20a=b", "../", "/monitor/%0d%0aSet-Cookie:%20a=b"),
        ("/monitor?next=https://evil.example#x", "", "/monitor?next=https://evil.example"),
        ("/monitor?a=%26next%3D//evil.example", "", "/monitor?a=%26next%3D//evil.example"),
        ("/monitor/" + "x" * 600, "../", "/monitor"),
        ("/%6donitor", "", "/monitor"),
    ],
)
async def test_who_is_not_signed_in_goes_to_the_sign_in_and_comes_back(
    live: Live, path: str, up: str, back: str
) -> None:
    """Never to another site: what comes back is a path of the monitor."""
    await begin(live)
    url = URL(live.urls[0] + path, encoded=True)
    async with live.http.get(url, allow_redirects=False) as response:
        assert response.status == 303
        to = response.headers["Location"]
        assert to.startswith(f"{up}sign-in?next=")
        assert "Set-Cookie" not in response.headers
        landed = response.url.join(URL(to, encoded=True))
        assert str(landed.with_query(None)) == f"{live.urls[0]}/sign-in"
        assert dict(landed.query) == {"next": back}


async def test_a_page_that_is_not_built_is_a_sentence(live: Live) -> None:
    await begin(live)
    await asyncio.to_thread((live.config.static / "monitor.html").unlink)
    async with live.http.get(live.urls[0] + "/sign-in") as response:
        assert response.status == 503
        assert "not built" in await response.text()


# --- Guessing ----------------------------------------------------------------------------------


async def test_who_guesses_waits_longer_and_longer(live_each: Live) -> None:
    live = live_each
    clock = await begin(live)
    for _ in range(5):
        answer = await sign_in(live, password="wrong wrong wrong")
        assert (answer.status, answer.body) == (401, WRONG)
    for wait in (15, 30, 60):
        # The right password too: whoever knows when it is refused has guessed it.
        answer = await sign_in(live)
        assert (answer.status, answer.body["code"]) == (429, "slow_down")
        assert answer.headers["Retry-After"] == str(wait) == str(answer.body["retry_after_s"])
        assert "please try again in" in answer.body["error"]
        clock.at += wait - 1
        assert (await sign_in(live)).status == 429
        clock.at += 1
        assert (await sign_in(live, password="wrong wrong wrong")).status == 401
    # Nobody who was refused was looked at, nor made to wait longer by that.
    assert await tries(live) == [False] * 8
    clock.at += 120
    assert (await sign_in(live)).status == 200
    # And that is forgotten.
    assert (await sign_in(live, password="wrong wrong wrong")).status == 401
    assert (await sign_in(live)).status == 200


async def test_many_tries_at_a_time_are_counted(live: Live) -> None:
    await begin(live)
    answers = []
    for _ in range(5):
        several = [sign_in(live, password="wrong wrong wrong") for _ in range(20)]
        answers += await asyncio.gather(*several)
    assert sum(answer.status == 401 for answer in answers) == 5
    assert {answer.status for answer in answers} == {401, 429}


async def test_the_waits_hold_after_a_restart(live: Live) -> None:
    clock = await begin(live)
    for _ in range(5):
        await sign_in(live, password="wrong wrong wrong")
    await live.stop(live.servers[0])
    running = await live.serve()
    running.service.now = clock
    assert (await sign_in(live)).status == 429


async def test_whoever_signs_in_clears_away_tries_that_no_longer_count(live: Live) -> None:
    clock = await begin(live)
    assert (await sign_in(live, password="wrong")).status == 401
    assert (await sign_in(live)).status == 200
    clock.at += IN_VAIN_S - 1.0
    await sign_in(live)
    assert await tries(live) == [False, True, True]
    clock.at += 2.0
    await sign_in(live)
    assert await tries(live) == [True, True, True], "one in vain is over"
    clock.at += REMEMBERED_S + 1.0
    await sign_in(live)
    assert await tries(live) == [True]


async def test_strangers_lock_nobody_out(live: Live) -> None:
    """While somebody guesses at a name, from one address or from many, its owner gets in."""
    await begin(live, trusted_proxies=1)
    assert (await from_elsewhere(live, 1)).status == 200
    while (await from_elsewhere(live, 2, password="wrong wrong wrong")).status != 429:
        pass
    assert (await from_elsewhere(live, 2)).status == 429
    assert (await from_elsewhere(live, 1)).status == 200
    assert (await from_elsewhere(live, 3)).status == 200
    for n in range(10, 40):
        assert (await from_elsewhere(live, n, password="wrong wrong wrong")).status == 401
    # Everybody has one try now, who was here before has all.
    for n in range(40, 42):
        assert (await from_elsewhere(live, n, password="wrong wrong wrong")).status == 401
        assert (await from_elsewhere(live, n)).status == 429
    assert (await from_elsewhere(live, 50)).status == 200
    for _ in range(4):
        assert (await from_elsewhere(live, 1, password="wrong wrong wrong")).status == 401
    assert (await from_elsewhere(live, 1)).status == 200


async def test_who_guesses_at_the_same_address_keeps_nobody_waiting_in_their_own_browser(
    live: Live,
) -> None:
    """As where a proxy hides all addresses, or a lab has one for all."""
    clock = await begin(live)
    await add_admin(live.record, "ben")
    first = await sign_in(live)
    assert (first.device["httponly"], first.device["samesite"]) == (True, "Strict")
    name = cookie_of(DEVICE_COOKIE, live.study_id)
    ada, bens = f"{name}={first.device.value}", (await sign_in(live, "ben")).device.value
    other = Tokens("another secret key of another server", live.study_id)
    alias = live.servers[0].service.tokens.admin_name("ada")
    forged = [bens, other.device(alias), f"{alias}.x", "", "x" * 3000, "\u00e4"]
    while (await sign_in(live, password="wrong wrong wrong")).status != 429:
        pass
    for value in forged:
        answer = await sign_in(live, Cookie=f"{name}={value}")
        assert answer.status == 429, value
    assert (await sign_in(live)).status == 429
    again = await sign_in(live, Cookie=ada)
    assert again.status == 200
    # It is known already.
    assert [each.key for each in again.cookie.values()] == [cookie_of(COOKIE, live.study_id)]
    # Whoever has stolen it can try no more often than others, and is nobody by it.
    clock.at += 1
    for _ in range(5):
        answer = await sign_in(live, password="wrong wrong wrong", Cookie=ada)
        assert answer.status == 401
    assert (await sign_in(live, Cookie=ada)).status == 429
    assert (await Member(live, "", "", first.device.value, "").get(ME))[0] == 401


async def test_one_address_may_not_try_many_names(live: Live) -> None:
    await begin(live, trusted_proxies=1)
    assert (await from_elsewhere(live, 1)).status == 200
    for n in range(20):
        assert (await from_elsewhere(live, 1, f"name{n}")).status == 401
    assert (await from_elsewhere(live, 1, "another")).status == 429
    # Who shares the address and has been here before is not kept out by that.
    assert (await from_elsewhere(live, 1)).status == 200
    assert (await from_elsewhere(live, 2, "another")).status == 401


async def test_in_ipv6_a_network_is_one_address(live: Live) -> None:
    await begin(live, trusted_proxies=1)
    for n in range(6):
        at = f"2001:db8:0:1::{n}"
        answer = await sign_in(live, password="wrong wrong wrong", X_Forwarded_For=at)
    assert answer.status == 429
    assert (await sign_in(live, X_Forwarded_For="2001:db8:0:2::1")).status == 200


async def test_an_unknown_name_costs_what_a_known_one_does(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same work, and the same answer: nobody can tell who is an admin."""
    await begin(live)
    work: list[str] = []
    verify = Passwords._verify

    def counted(self: Passwords, stored: str, password: str) -> bool:
        work.append(stored.rsplit("$", 2)[0])
        return verify(self, stored, password)

    monkeypatch.setattr(Passwords, "_verify", counted)
    # So that the hash is of today's parameters.
    assert (await sign_in(live)).status == 200
    work.clear()
    known = await sign_in(live, password="wrong wrong wrong")
    unknown = await sign_in(live, "nobody", "wrong wrong wrong")
    odd = await sign_in(live, "no body!", "wrong wrong wrong")
    assert known.status == unknown.status == odd.status == 401
    assert known.body == unknown.body == odd.body == WRONG
    assert len(work) == 3
    assert set(work) == {"$argon2id$v=19$m=16,t=2,p=1"}


async def test_when_too_many_sign_in_at_a_time_some_are_asked_to_wait(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And they are not counted as wrong."""
    await begin(live, trusted_proxies=1)
    enough = asyncio.Event()
    verify = Passwords.is_right

    async def waiting(self: Passwords, password: str, stored: str | None) -> bool:
        await enough.wait()
        return await verify(self, password, stored)

    monkeypatch.setattr(Passwords, "is_right", waiting)
    ten = [asyncio.ensure_future(from_elsewhere(live, n)) for n in range(10)]

    async def all_inside() -> bool:
        return len(await tries(live)) == 10

    await eventually(all_inside)
    async with asyncio.timeout(WITHIN_S):
        answer = await from_elsewhere(live, 99)
    assert (answer.status, answer.headers["Retry-After"]) == (429, "2")
    enough.set()
    assert {each.status for each in await asyncio.gather(*ten)} == {200}
    assert await tries(live) == [True] * 10
    assert (await from_elsewhere(live, 99)).status == 200


# --- The first owner ---------------------------------------------------------------------------


async def test_a_server_says_how_its_first_owner_is_made(live: Live) -> None:
    server = await live.begin()
    site = Site(Path("my study"), Mock(), Mock())
    assert await how_to_begin(server, site) == (
        "nobody may sign in to it yet: duologue admin add NAME --role owner --study 'my study'"
    )
    await add_admin(live.record, "ada", AdminRole.VIEWER)
    assert await how_to_begin(server, site) == ""


async def test_a_demonstration_has_an_owner_also_the_second_time(live: Live) -> None:
    server = await live.begin()
    for _ in range(2):
        line = await demo_line(server)
        found = re.fullmatch(r"monitor: +(\S+)  \(name demo, password (\S+)\)", line)
        assert found, line
        assert found[1] == f"{live.urls[0]}/monitor"
        answer = await sign_in(live, "demo", found[2])
        assert (answer.status, answer.body["role"]) == (200, "owner")


# --- Odd bodies --------------------------------------------------------------------------------


ODD_BODIES = (
    (b"", 400),
    (b"{", 400),
    (b"null", 400),
    (b"[]", 400),
    (b'"ada"', 400),
    (b"{}", 400),
    (b'{"name": "ada"}', 400),
    (b'{"name": 1, "password": "x"}', 400),
    (b'{"name": ["ada"], "password": "x"}', 400),
    (b'{"name": {"$ne": null}, "password": {"$ne": null}}', 400),
    (b'{"name": "ada", "password": true}', 400),
    (b'{"name": "ada", "password": null}', 400),
    (b'{"name": "ada", "password": ""}', 400),
    (b'{"name": "", "password": "x"}', 400),
    (b'{"name": "ada", "password": "x", "role": "owner"}', 400),
    (b'{"name": "a\\u0000da", "password": "x"}', 400),
    (b'{"name": "ada", "password": "\\ud800"}', 400),
    (b'{"name": "\\ud800", "password": "x"}', 400),
    (b"\xff\xfe", 400),
    (b"[" * 10_000, 400),
    (b'{"name": "ada", "password": "' + b"x" * 1001 + b'"}', 400),
    (b'{"name": "ada", "password": "' + b"x" * 1_000_000 + b'"}', 413),
    (b'{"name": "ada", "password": "a\\u0000b"}', 401),
    (b'{"name": "ada", "password": "nine lemons under the piano\\u0000"}', 401),
    ('{"name": "ada", "password": "\U0001f40b\u202e\u0301"}'.encode(), 401),
    ('{"name": "\u202eada", "password": "x"}'.encode(), 401),
    (b'{"name": "ada\' OR 1=1 --", "password": "x"}', 401),
    (b'{"name": "%", "password": "x"}', 401),
)


async def test_odd_bodies_are_refused_in_a_sentence(
    live_each: Live, caplog: pytest.LogCaptureFixture
) -> None:
    live = live_each
    await begin(live, trusted_proxies=1)
    for n, (raw, status) in enumerate(ODD_BODIES):
        answer = await from_elsewhere(live, n, raw=raw)
        assert answer.status == status, (raw[:80], answer.body)
        assert isinstance(answer.body["error"], str)
        # What was sent is nobody else's to read.
        assert "xxx" not in str(answer.body)
        assert "lemons" not in str(answer.body) + caplog.text
        assert "failed" not in caplog.text
        assert not answer.cookie


async def test_a_password_may_be_any_text(live: Live) -> None:
    await begin(live)
    odd = "\u00e4\0\U0001f40b\u202e\n \u0301 und noch mehr"
    await add_admin(live.record, "j\u00fcrgen", AdminRole.VIEWER, odd)
    assert (await sign_in(live, "J\u00dcRGEN", odd)).status == 200
    assert (await sign_in(live, "ju\u0308rgen", odd)).status == 200
    assert (await sign_in(live, "j\u00fcrgen", odd.partition("\0")[0])).status == 401


async def test_nothing_secret_is_logged(live: Live, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    await begin(live)
    good = await sign_in(live)
    await sign_in(live, password="a wrong password")
    await sign_in(live, "a password in the wrong field", "x")
    ada = browser_of(live, good)
    await ada.post("/api/monitor/sign-out")
    rows = [repr(row) for table in tables.metadata.sorted_tables for row in await live.rows(table)]
    for secret in (PASSWORD, "a wrong password", "in the wrong field", good.token):
        assert secret not in caplog.text
        assert not any(secret in row for row in rows)
    assert good.body["csrf"] not in caplog.text
    assert "ada has signed in" in caplog.text
