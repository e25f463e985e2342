"""What is served to whom over HTTP, and that nothing else is."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from itsdangerous import Signer, URLSafeSerializer

from chatserver.config import Check
from dialogs.rules import StudyStatus
from tests.live import SECRET, Live, Person, eventually


async def fetch(live: Live, path: str, raw: bytes | None = None) -> tuple[int, str, bytes]:
    """Fetch exactly this path, which no client library normalises: status, head and body."""
    at = urlsplit(live.urls[0])
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    request = (
        raw or f"GET {path} HTTP/1.1\r\nHost: {at.netloc}\r\nConnection: close\r\n\r\n".encode()
    )
    writer.write(request)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.decode("latin-1"), body


async def picture(live: Live, path: str) -> tuple[int, bytes]:
    async with live.http.get(f"{live.urls[0]}/{path}") as response:
        return response.status, await response.read()


# --- Only what is listed -----------------------------------------------------------------------

ODD_PATHS = (
    "/config.js",
    "/.env",
    "/.git/config",
    "/../",
    "/../../etc/passwd",
    "//etc/passwd",
    "/static",
    "/static/",
    "/static/assets",
    "/static/assets/",
    "/static/../",
    "/static/../../secret.txt",
    "/static/../secret.txt",
    "/static/%2e%2e/secret.txt",
    "/static/..%2fsecret.txt",
    "/static/%2e%2e%2fsecret.txt",
    "/static/..%5csecret.txt",
    "/static/link.txt",
    "/static//secret.txt",
    "/static/assets/../../secret.txt",
    "/secret.txt",
    "/record.sqlite3",
    "/study.toml",
    "/secret.key",
    "/pictures",
    "/pictures/",
    "/items",
    "/items/",
    "/items/x",
    "/items/../secret.txt",
    "/items/%2e%2e%2fsecret.txt",
    "/api",
    "/api/",
    "/api/arrivals",
    "/server-status",
    "/worker.html",
    "/work/",
    "/work/x",
    "/index.html",
    "/robots.txt",
    "/socket.io",
    "/socket.io/",
    "/socket.io/socket.io.js",
    "/socket.io/?EIO=3&transport=websocket",
    "/chatserver/app.py",
)


async def test_only_listed_paths_are_served(live: Live) -> None:
    await live.prepare()
    secret = live.folder / "secret.txt"
    secret.write_text("the secret")
    (live.config.static / "link.txt").symlink_to(secret)
    await live.serve()
    for path in ODD_PATHS:
        status, head, body = await fetch(live, path)
        assert status in (400, 403, 404, 405), f"{path}: {status}"
        for telling in (
            b"secret",
            b"Traceback",
            b"Index of",
            b"<a href",
            live.folder.name.encode(),
        ):
            assert telling not in body, f"{path}: {body!r}"
        assert "set-cookie" not in head.lower()


@pytest.mark.parametrize("path", ["/work/", "/wrok", "/items/x", "/" + "x" * 300])
async def test_who_types_an_address_that_is_none_reads_a_sentence(live: Live, path: str) -> None:
    await live.begin()
    browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    for accept, kind in ((browser, "text/html"), ("*/*", "application/json")):
        raw = f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nConnection: close\r\n\r\n"
        status, head, body = await fetch(live, path, raw.encode())
        assert status == 404
        assert f"content-type: {kind}" in head.lower()
        assert "default-src 'self'" in head
        if kind == "text/html":
            assert body.count(b"<p>") == 1
            assert b"There is no page at this address" in body
            # It needs nothing that may not have been built.
            assert not re.search(rb"src=|href=|url\(", body)
        else:
            assert json.loads(body)["error"] == "Not Found."


async def test_each_picture_file_is_reached_by_its_token_only(live: Live) -> None:
    await live.begin()
    names = [p.name for p in await asyncio.to_thread(lambda: list(live.config.pictures.iterdir()))]
    assert names
    for name in names:
        for folder in ("items", "pictures", "static", "static/assets", "static/../pictures"):
            status, _, body = await fetch(live, f"/{folder}/{name}")
            assert status in (403, 404), f"{folder}/{name}"
            assert b"JFIF" not in body


async def test_no_other_method_is_served(live: Live) -> None:
    await live.begin()
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "CONNECT", "POST"):
        for path in ("/work", "/api/study", "/static/worker.html", "/items/x"):
            raw = f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
            status, _, _ = await fetch(live, path, raw)
            assert status in (400, 404, 405), f"{method} {path}"


async def test_the_listed_paths_are_served_and_leave_no_trace(live: Live) -> None:
    await live.begin()
    for path, kind, keeps in (
        ("/work", "text/html", "no-store"),
        ("/work?workerId=a&hitId=b", "text/html", "no-store"),
        ("/api/study", "application/json", "no-store"),
        ("/static/assets/worker-1a2b.js", "javascript", "immutable"),
        ("/static/worker.html", "text/html", "no-store"),
        ("/healthz", "application/json", "no-store"),
        ("/readyz", "application/json", "no-store"),
    ):
        status, head, _ = await fetch(live, path)
        lines = head.lower()
        assert status == 200, path
        assert kind in lines
        assert keeps in lines
        assert "x-content-type-options: nosniff" in lines
        assert "content-security-policy: default-src 'self'" in lines
        assert "referrer-policy: no-referrer" in lines
        assert "set-cookie" not in lines


async def test_the_study_tells_the_page_nothing_that_it_must_not_know(live: Live) -> None:
    check = Check("What is asked about?", ("the image", "the weather"), 0)
    await live.begin(
        study={"check": (check,), "invitations": frozenset({"code-123456"}), "contact": "us"}
    )
    _, _, body = await fetch(live, "/api/study")
    study = json.loads(body)
    assert study["check"] == [{"question": check.question, "options": list(check.options)}]
    for telling in (b"code-123456", SECRET.encode(), b"picture 0", b"sqlite", b"redis"):
        assert telling not in body


async def test_whoever_is_served_gets_no_cookie_and_needs_none(live: Live) -> None:
    heads: list[Any] = []
    await live.begin()

    async def keep(_session: Any, _context: Any, params: Any) -> None:
        heads.append((params.response.status, params.response.headers, params.headers))

    live.http_trace.append(keep)
    asker, teller = await live.pair(*await live.people(2))
    await picture(live, teller.dialog["item"]["picture"])
    await live.converse(asker, teller)
    for person in (asker, teller):
        await person.shows("released")
    async with live.http.get(f"{live.urls[0]}/work") as response:
        assert response.status == 200
    assert {status for status, _, _ in heads} == {101, 200}
    for _, answered, asked in heads:
        assert "Set-Cookie" not in answered
        assert "Cookie" not in asked


async def test_a_server_that_cannot_reach_its_database_says_that_it_is_not_ready(
    live: Live,
) -> None:
    server = await live.begin()

    async def fails() -> None:
        raise ConnectionError("gone")

    server.service.health._ask_database = fails

    async def not_ready() -> bool:
        return (await fetch(live, "/readyz"))[0] == 503

    await eventually(not_ready)
    _, _, body = await fetch(live, "/readyz")
    assert json.loads(body) == {"ready": False, "database": False, "redis": True}
    assert (await fetch(live, "/healthz"))[0] == 200


# --- Arrivals ----------------------------------------------------------------------------------


async def test_a_bad_arrival_is_one_sentence(live: Live) -> None:
    await live.begin()
    for body in (
        b"",
        b"[]",
        b"{",
        b'{"worker_key":"short"}',
        b'{"worker_key":7}',
        b'{"unknown":1}',
        b'{"query":{"a":1}}',
        b"\xff",
        b'{"check_answers":["a"]}',
        b"{}",
    ):
        async with live.http.post(f"{live.urls[0]}/api/arrivals", data=body) as response:
            answer = await response.json()
        assert response.status == 400, body
        assert set(answer) == {"error", "code"}
    async with live.http.post(f"{live.urls[0]}/api/arrivals", data=b"x" * 100_000) as response:
        assert response.status == 413
    assert not await live.rows_of("arrivals")


async def test_consent_and_check_come_before_an_arrival(live: Live) -> None:
    checks = (Check("One?", ("no", "yes"), 1), Check("Two?", ("yes", "no"), 0))
    await live.begin(study={"check": checks})
    ada = live.person()
    assert (await ada.arrive(consented=False))["status"] == 404
    assert (await ada.arrive(consented=False, another=True))["status"] == 404
    for answers in ([], [1], [0, 0], [1, 1], [-1, 0]):
        answer = await ada.arrive(check_answers=answers)
        assert answer["status"] == 422, answers
    both = await ada.arrive(check_answers=[0, 1])
    assert "look at questions 1 and 2 again" in both["error"]
    assert (both["code"], both["questions"]) == ("wrong_answers", [1, 2])
    one = await ada.arrive(check_answers=[1, 1])
    assert "look at question 2 again" in one["error"]
    assert one["questions"] == [2]
    assert not await live.rows_of("arrivals")
    assert (await ada.arrive(check_answers=[1, 0]))["status"] == 200


async def test_the_same_person_gets_the_same_arrival_from_many_tabs_at_once(
    live_each: Live,
) -> None:
    await live_each.begin()
    ada = live_each.person()
    answers = await asyncio.gather(*(ada.arrive() for _ in range(8)))
    assert {a["status"] for a in answers} == {200}
    assert len(await live_each.rows_of("workers")) == 1
    assert len(await live_each.rows_of("arrivals")) == 1


async def test_invitations_are_required_and_cannot_be_forged_or_used_twice(live: Live) -> None:
    await live.begin(study={"invitations": frozenset({"invite-one", "invite-two"})})
    ada, ben, eve = (live.person() for _ in range(3))
    for query, code in (
        ({}, "no_invitation"),
        ({"invite": ""}, "no_invitation"),
        ({"Invite": "invite-one"}, "no_invitation"),
        ({"invite": "invite-three"}, "unknown_invitation"),
    ):
        answer = await eve.arrive(query=query)
        assert (answer["status"], answer["code"]) == (403, code)
        assert "invitation" in answer["error"]
    assert not await live.rows_of("workers")
    assert (await ada.arrive(query={"invite": "invite-one"}))["status"] == 200
    assert (await ben.arrive(query={"invite": "invite-two"}))["status"] == 200
    # Whoever opens the link again is the same person, whatever their browser says.
    assert (await eve.arrive(query={"invite": "invite-one"}))["status"] == 200
    assert len(await live.rows_of("workers")) == 2
    assert len(await live.rows_of("arrivals")) == 2
    await ada.connect()
    await eve.connect()
    await ada.until(lambda: ada.stopped)


async def test_guests_are_for_trying_only(live: Live) -> None:
    await live.begin()
    ada = live.person()
    first = await ada.arrive(query={"guest": "one"})
    second = await ada.arrive(query={"guest": "two"})
    assert first["status"] == second["status"] == 200
    assert len(await live.rows_of("workers")) == 1


async def test_a_forwarded_address_counts_only_from_trusted_proxies(live: Live) -> None:
    await live.begin(trusted_proxies=1)
    addresses = []
    for header in ("1.1.1.1, 2.2.2.2", "9.9.9.9, 2.2.2.2", "1.1.1.1, 3.3.3.3"):
        body = {"worker_key": header.ljust(16, "x"), "consented": True}
        async with live.http.post(
            f"{live.urls[0]}/api/arrivals", json=body, headers={"X-Forwarded-For": header}
        ) as response:
            assert response.status == 200
    rows = sorted(await live.rows_of("arrivals"), key=lambda row: row.created_at)
    addresses = [row.address for row in rows]
    assert addresses[0] == addresses[1] != addresses[2]
    assert not any("2.2.2.2" in address for address in addresses)


# --- The image ---------------------------------------------------------------------------------


def told(person: Person) -> str:
    """Everything that a page was ever sent, as text."""
    return json.dumps(person.log)


def clear_and_blurred(live: Live) -> tuple[bytes, bytes]:
    folder: Path = live.config.pictures
    drawn = live.drawn[0]
    assert drawn.blurred_file is not None
    return (folder / drawn.file).read_bytes(), (folder / drawn.blurred_file).read_bytes()


async def test_the_questioner_can_fetch_no_picture_by_any_token(live: Live) -> None:
    server = await live.begin(items=1)
    asker, teller = await live.pair(*await live.people(2))
    assert asker.dialog["item"] == {
        "caption": "picture 0",
        "picture": None,
        "blurred": False,
        "width": None,
        "height": None,
    }
    rows = {row.role: row for row in await live.rows_of("seats")}
    own, partners = rows["questioner"].arrival_id, rows["answerer"].arrival_id
    tokens = server.service.tokens
    # The token that belongs to the questioner's own seat, were it ever told.
    assert (await picture(live, f"items/{tokens.picture(own)}"))[0] == 403
    # Nothing else that the questioner has or could make of it opens anything.
    theirs = teller.dialog["item"]["picture"].removeprefix("items/")
    payload, _, signature = theirs.rpartition(".")
    own_payload, _, own_signature = tokens.picture(own).rpartition(".")
    for forged in (
        asker.token,
        teller.token,
        own,
        partners,
        f"{payload}.{own_signature}",
        f"{own_payload}.{signature}",
        f"{payload}.",
        payload,
        theirs[:-1],
        theirs + "A",
        Signer("no key", salt=f"picture:{live.study_id}").sign(partners).decode(),
        Signer(SECRET, salt=f"picture:{live.study_id}x").sign(partners).decode(),
        Signer(SECRET, salt=f"arrival:{live.study_id}").sign(partners).decode(),
        URLSafeSerializer(SECRET, salt=f"picture:{live.study_id}").dumps(partners),
    ):
        assert (await picture(live, f"items/{forged}"))[0] == 404, forged
    drawn = live.drawn[0]
    await live.converse(asker, teller)
    await asker.shows("released")
    for secret in (drawn.file, drawn.blurred_file, drawn.sha256, theirs, partners, "items/"):
        assert str(secret) not in told(asker)
    assert (await picture(live, f"items/{tokens.picture(own)}"))[0] == 403


async def test_the_answerer_gets_the_picture_and_no_cache_keeps_it(live: Live) -> None:
    _, teller = await live.two(items=1)
    item = teller.dialog["item"]
    assert item["caption"] == "picture 0"
    assert item["blurred"] is False
    async with live.http.get(f"{live.urls[0]}/{item['picture']}") as response:
        assert response.status == 200
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["Content-Type"] == "image/jpeg"
        assert await response.read() == clear_and_blurred(live)[0]
    assert live.drawn[0].file not in told(teller)


async def test_the_questioner_of_the_blurred_protocol_gets_the_blurred_file_only(
    live: Live,
) -> None:
    server = await live.begin(items=1, rules={"protocol": "visdial-blurred"})
    asker, teller = await live.pair(*await live.people(2))
    clear, blurred = clear_and_blurred(live)
    assert asker.dialog["item"]["caption"] is None
    assert asker.dialog["item"]["blurred"] is True
    assert await picture(live, asker.dialog["item"]["picture"]) == (200, blurred)
    assert await picture(live, teller.dialog["item"]["picture"]) == (200, clear)
    await live.converse(asker, teller)
    await asker.shows("released")
    for secret in (live.drawn[0].file, live.drawn[0].sha256, "picture 0"):
        assert secret not in told(asker)
    own = asker.dialog["item"]["picture"] if asker.state.get("dialog") else None
    rows = {row.role: row for row in await live.rows_of("seats")}
    token = server.service.tokens.picture(rows["questioner"].arrival_id)
    assert await picture(live, own or f"items/{token}") == (200, blurred)


async def test_no_picture_without_a_seat(live: Live) -> None:
    server = await live.begin()
    (ada,) = await live.people(1)
    (row,) = await live.rows_of("arrivals")
    token = server.service.tokens.picture(row.id)
    assert (await picture(live, f"items/{token}"))[0] == 404
    await ada.do("ready")
    assert (await picture(live, f"items/{token}"))[0] == 404
    assert (await picture(live, f"items/{server.service.tokens.picture('a_nobody')}"))[0] == 404


async def test_who_becomes_questioner_after_having_answered_sees_no_picture(live: Live) -> None:
    """The picture's token names an arrival; what it opens is decided by the seat held now."""
    server = await live.begin(items=2)
    asker, teller = await live.pair(*await live.people(2))
    first = teller.dialog["item"]["picture"]
    await asker.do("leave")
    await teller.until(lambda: teller.phase == "solo")
    await teller.do("pair_again")
    await teller.shows("waiting")
    assert (await picture(live, first))[0] == 404
    (ben,) = await live.people(1)
    # Heads: who waits longer asks.
    server.service.lobby._rng.random = lambda: 0.0  # type: ignore[method-assign]
    await live.pair(teller, ben)
    assert teller.role == "questioner"
    assert (await picture(live, first))[0] == 403


# --- Opening and closing the study ---------------------------------------------------------------


async def test_a_paused_study_admits_nobody_and_says_so(live: Live) -> None:
    await live.prepare()
    await live.set_status(StudyStatus.PAUSED)
    await live.serve()
    ada = live.person()
    # From the first moment on.
    answer = await ada.arrive()
    assert answer["status"] == 409
    assert answer["code"] == "study_paused"
    _, _, body = await fetch(live, "/api/study")
    assert json.loads(body)["paused"] is True
