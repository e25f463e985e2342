"""What no page of ours would ask of the monitor is refused in one sentence, on either database."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import hdrs
from yarl import URL

from dialogs.rules import AdminRole
from tests.live import Live
from tests.team import Member, cookie_for, join

KEY = "key-of-a-page"


async def asked(owner: Member, path: str, body: str) -> tuple[int, dict[str, Any]]:
    """Sends a body as it stands."""
    headers = {
        hdrs.COOKIE: cookie_for(owner.live, owner.token),
        hdrs.CONTENT_TYPE: "application/json",
        "X-CSRF-Token": owner.csrf,
    }
    url = URL(f"{owner.live.urls[0]}/api/monitor/{path}", encoded=True)
    async with owner.live.http.post(url, data=body, headers=headers) as answer:
        return answer.status, await answer.json()


@pytest.mark.parametrize("odd", ["1e308", "99999999999999999999", "-1", "nan", "1.5", "%C2%B2"])
async def test_a_place_in_a_list_of_chains_is_a_number_of_ours(live_each: Live, odd: str) -> None:
    await live_each.begin()
    owner = await join(live_each, AdminRole.OWNER)
    url = URL(f"{live_each.urls[0]}/api/monitor/chains?after={odd}", encoded=True)
    cookie = {hdrs.COOKIE: cookie_for(owner.live, owner.token)}
    async with live_each.http.get(url, headers=cookie) as answer:
        assert (answer.status, (await answer.json())["error"]) == (
            400,
            "after: must be a whole number",
        )


async def test_no_place_in_a_list_says_only_that(live: Live) -> None:
    await live.begin()
    owner = await join(live, AdminRole.OWNER)
    for odd in ("AAAA", "W251bGwsIiJd", "%"):
        status, told = await owner.get(f"/api/monitor/dialogs?after={odd}")
        assert (status, told["error"]) == (400, "after: is no place in a list")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
async def test_what_is_no_number_is_no_time(live_each: Live, number: str) -> None:
    await live_each.begin()
    owner = await join(live_each, AdminRole.OWNER)
    for path, body in (
        ("review/bulk", f'{{"verdict": "accepted", "until": {number}}}'),
        ("requests/r/again", f'{{"failed_at": {number}}}'),
        ("study/change", f'{{"changes": {{"grace_s": {number}}}, "reason": "x"}}'),
    ):
        status, told = await asked(owner, path, body)
        assert (status, told["code"]) == (400, "bad_request"), (path, told)


@pytest.mark.parametrize("blank", ["   ", "\\u202e\\u200b", "\\u2800", "\\u3164 "])
async def test_a_reason_that_nobody_could_read_is_none(live: Live, blank: str) -> None:
    await live.two()
    owner = await join(live, AdminRole.OWNER)
    (dialog,) = await live.rows_of("dialogs")
    worker = (await live.rows_of("workers"))[0].id
    for path, body in (
        (f"dialogs/{dialog.id}/flag", f'{{"reason": "{blank}"}}'),
        (f"dialogs/{dialog.id}/end", f'{{"key": "{KEY}", "reason": "{blank}"}}'),
        (f"dialogs/{dialog.id}/message", f'{{"key": "{KEY}", "text": "{blank}"}}'),
        (f"workers/{worker}/note", f'{{"text": "{blank}"}}'),
        (f"workers/{worker}/exclude", f'{{"reason": "{blank}"}}'),
        (f"workers/{worker}/bonus", f'{{"key": "{KEY}", "cents": 5, "reason": "{blank}"}}'),
        (f"workers/{worker}/message", f'{{"subject": "{blank}", "text": "Hello."}}'),
        (f"workers/{worker}/message", f'{{"subject": "Hello", "text": "{blank}\\n"}}'),
        ("study/change", f'{{"changes": {{"grace_s": 5}}, "reason": "{blank}"}}'),
    ):
        status, told = await asked(owner, path, body)
        assert status == 400, path
        assert told["error"].endswith(": must not be empty."), path
    assert {row.action for row in await live.rows_of("audit")} == {"admin.add"}


async def test_what_goes_out_by_mail_holds_lines_and_nothing_else(live: Live) -> None:
    await live.two()
    owner = await join(live, AdminRole.OWNER)
    worker = (await live.rows_of("workers"))[0].id
    for odd in ("\\u0000", "\\u0007", "\\u001b", "\\u007f"):
        body = f'{{"subject": "Hello", "text": "a{odd}b"}}'
        status, told = await asked(owner, f"workers/{worker}/message", body)
        assert (status, told["error"]) == (
            400,
            "text: must hold no control characters but line breaks.",
        )


@pytest.mark.parametrize("odd", ["%00", "%ED%A0%80", "d_none", "%F0%9F%92%A9"])
async def test_what_is_no_dialog_cannot_be_skipped(live_each: Live, odd: str) -> None:
    await live_each.begin()
    owner = await join(live_each, AdminRole.OWNER)
    status, told = await asked(owner, f"review/{odd}/skip", "{}")
    assert (status, told["code"]) == (404, "not_found")
    assert (await asked(owner, "review/next", "{}"))[0] == 200


@pytest.mark.parametrize("odd", ["%00", "%ED%A0%80"])
async def test_an_id_that_nothing_has_is_unknown_on_either_database(
    live_each: Live, odd: str
) -> None:
    await live_each.begin()
    owner = await join(live_each, AdminRole.OWNER)
    for path, body in (
        (f"dialogs/{odd}/flag", '{"reason": "x"}'),
        (f"workers/{odd}/note", '{"text": "x"}'),
        (f"requests/{odd}/again", '{"failed_at": null}'),
        (f"review/{odd}", '{"verdict": null}'),
    ):
        status, told = await asked(owner, path, body)
        assert (status, told["code"]) == (404, "not_found"), (path, told)


async def test_an_address_that_is_none_is_not_found_as_anything_else_is_not(live: Live) -> None:
    await live.begin()
    owner = await join(live, AdminRole.OWNER)
    none = {"error": "There is no such address.", "code": "not_found", "retry_after_s": None}
    for path in ("/api/monitor/nothing", "/api/monitor", "/api/monitor/now/"):
        assert await owner.get(path) == (404, none)
    wrong = {"error": "Method Not Allowed.", "code": "bad_request", "retry_after_s": None}
    assert await owner.ask("DELETE", "/api/monitor/now") == (405, wrong)
    status, told = await asked(owner, "study/pause", " " * 100_000)
    assert (status, told["code"], "retry_after_s" in told) == (413, "bad_request", True)


async def test_the_page_of_the_sign_in_asks_without_an_error_who_is_there(live: Live) -> None:
    await live.begin()
    async with live.http.get(f"{live.urls[0]}/api/sign-in") as answer:
        assert (answer.status, await answer.json()) == (
            200,
            {"me": None, "study": live.config.study.title},
        )
    owner = await join(live, AdminRole.OWNER)
    status, told = await owner.get("/api/sign-in")
    assert (status, told["me"]["name"], told["me"]["csrf"]) == (200, owner.name, owner.csrf)
    owner.headers["Sec-Fetch-Site"] = "cross-site"
    assert (await owner.get("/api/sign-in"))[0] == 403
