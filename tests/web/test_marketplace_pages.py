"""The marketplace's pages over HTTP: coming in, finding, earning, frames and headers."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession, CookieJar, DummyCookieJar
from sqlalchemy import select

from hit_manager.marketplace import assignments
from hit_manager.marketplace.pages.task import NOT_AVAILABLE
from hit_manager.marketplace.states import AssignmentStatus
from hit_manager.marketplace.tables import workers as workers_table
from tests.markets import (
    Market,
    Person,
    answers,
    external,
    give_bonus,
    html_question,
    open_market,
    stored,
    titles,
)

# --- The whole way -------------------------------------------------------------------------


async def test_from_the_invitation_to_my_work(market: Market) -> None:
    hit_id = await market.hit()
    person = await market.person()
    worker_id = await market.worker_id(person)
    assert titles(person) == ["Ask about a picture"]
    group = re.search(r'href="(/worker/groups/\w+)"', person.last)
    assert group
    shown = await person.get(group[1])
    assert shown.url.path == f"/worker/hits/{hit_id}"
    src, query = person.frame()
    assert src.startswith("https://study.example.org/work?hit=1&k=v&")
    assert query == {
        "hit": "1",
        "k": "v",
        "assignmentId": NOT_AVAILABLE,
        "hitId": hit_id,
        "turkSubmitTo": market.url,
    }
    assignment_id = await person.accept(hit_id)
    assert person.frame()[1] == query | {
        "assignmentId": assignment_id,
        "workerId": worker_id,
    } | {"hit": "1"}
    market.clock.advance(60)
    await person.get(f"/worker/assignments/{assignment_id}")
    assert 'data-left="1740"' in person.last
    early = await person.get(f"/worker/assignments/{assignment_id}/done")
    assert early.status == 204
    said = await person.submit({"assignmentId": assignment_id, "hitId": hit_id, "code": "K7"})
    assert said.status == 200
    assert f'data-submitted="{assignment_id}"' in person.last
    after = await person.get(f"/worker/assignments/{assignment_id}/done")
    assert after.url.path_qs == "/worker/work?said=submitted"
    assert 'data-state="submitted"' in person.last
    row = await stored(market, assignment_id)
    assert row.status is AssignmentStatus.SUBMITTED
    assert row.worker_id == worker_id
    assert answers(row.answer) == {"code": "K7"}


async def test_earnings_by_state_with_reasons_and_bonuses(market: Market) -> None:
    person = await market.person()
    ids = []
    for hit_id in await market.hits(4):
        assignment_id = await person.accept(hit_id)
        await person.submit({"assignmentId": assignment_id, "code": "x"})
        ids.append(assignment_id)
    write, requester = market.market.write, market.requester_id
    await write(assignments.approve, requester, ids[0], "Well <done>")
    await write(assignments.approve, requester, ids[1], None)
    await write(assignments.reject, requester, ids[2], "Nothing was answered.")
    worker_id = await market.worker_id(person)
    await give_bonus(market, ids[0], worker_id, 40, "For waiting")
    await person.get("/worker/work")
    assert re.search(r'data-testid="earned">\$2\.90<', person.last)
    assert re.search(
        r'data-testid="pending">1<span class="small">\$1\.25 in rewards; ', person.last
    )
    assert "Well &lt;done&gt;" in person.last
    assert "Nothing was answered." in person.last
    assert "Bonus $0.40" in person.last
    assert "For waiting" in person.last
    prices = re.findall(r'data-testid="price">(\S+)</span>', person.last)
    assert prices == ["$1.25", "$0.00", "$1.25", "$1.65"]
    assert "$1.25 reward + $0.40 bonus" in person.last
    assert "$2.50 rewards + $0.40 bonuses" in person.last
    states = re.findall(r'data-state="(\w+)"', person.last)
    assert states == ["submitted", "rejected", "approved", "approved"]
    market.clock.advance(7 * 86_400 + 1)
    await person.get("/worker/work")
    assert re.search(r'data-testid="earned">\$4\.15<', person.last)


# --- Coming in -----------------------------------------------------------------------------


async def test_an_invitation_makes_one_worker_who_comes_back_by_it(shop: Market) -> None:
    code = await shop.invite()
    person = await shop.person()
    await person.get(f"/worker/join/{code}")
    assert "You are invited" in person.last
    for wrong in ({"name": " ", "country": "DE"}, {"name": "Eve", "country": "XX"}):
        refused = await person.post(f"/worker/join/{code}", wrong)
        assert refused.status == 422
        assert 'aria-invalid="true"' in person.last
    jar = CookieJar(unsafe=True)
    async with ClientSession() as first, ClientSession(cookie_jar=jar) as second:
        form = {"name": "Grace", "country": "US"}
        link = f"{shop.url}/worker/join/{code}"
        joined = await first.post(link, data=form, allow_redirects=False)
        assert joined.status == 303
        cookie = joined.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie
        assert "Path=/worker" in cookie
        assert "Secure" not in cookie
        again = await second.get(link)
        assert "Welcome back, Grace" in await again.text()
        back = await second.post(link, data={"name": "Mallory", "country": "US"})
        text = await back.text()
        assert "Grace" in text
        assert "Mallory" not in text
    made = await shop.market.read(lambda c, _: c.execute(select(workers_table.c.name)).all())
    assert sorted(row.name for row in made) == ["Ada", "Grace"]


async def test_an_address_with_tls_keeps_its_cookie_to_tls(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'market.sqlite3'}"
    async with open_market(store, public_url="https://market.example.org/") as opened:
        code = await opened.invite()
        here = opened.market.public_url
        assert here == "https://market.example.org"
        # Nobody serves that name here; the requests go where the server listens.
        async with ClientSession() as client:
            joined = await client.post(
                f"{opened.local}/worker/join/{code}",
                data={"name": "Ada", "country": "DE"},
                allow_redirects=False,
            )
        assert "Secure" in joined.headers["Set-Cookie"]


async def test_who_has_no_invitation_sees_how_to_get_one(shop: Market) -> None:
    async with ClientSession() as client:
        for path in ("/worker/", "/worker/work", "/worker/hits/3X", "/worker/messages"):
            response = await client.get(shop.url + path)
            assert response.status == 401
            assert "invitation link" in await response.text()
        response = await client.get(f"{shop.url}/worker/join/nobody-made-this")
        assert response.status == 404
        assert "not known" in await response.text()


async def test_joining_twice_at_once_makes_one_worker(market: Market) -> None:
    code = await market.invite()

    async def join(name: str) -> int:
        async with ClientSession() as client:
            link = f"{market.url}/worker/join/{code}"
            response = await client.post(
                link, data={"name": name, "country": "DE"}, allow_redirects=False
            )
            return response.status

    assert await asyncio.gather(*(join(f"P{n}") for n in range(6))) == [303] * 6
    made = await market.market.read(lambda c, _: c.execute(select(workers_table.c.id)).all())
    assert len(made) == 1


# --- Finding -------------------------------------------------------------------------------


async def test_the_list_is_by_type_newest_first_and_searched(market: Market) -> None:
    await market.hits(3, title="Describe a street", reward=50, keywords="street,photo")
    market.clock.advance(1)
    await market.hits(1, title="Ask about a dog", reward=200, keywords="dog")
    person = await market.person()
    await person.get("/worker/")
    assert titles(person) == ["Ask about a dog", "Describe a street"]
    assert "3 HITs" in person.last
    for query, found in (
        ("q=PHOTO", ["Describe a street"]),
        ("q=vision+dog", ["Ask about a dog"]),
        ("q=cat", []),
        ("sort=most", ["Describe a street", "Ask about a dog"]),
        ("sort=reward", ["Ask about a dog", "Describe a street"]),
        ("sort=nonsense&from=-1&q=%00", []),
    ):
        response = await person.get(f"/worker/?{query}")
        assert response.status == 200
        assert titles(person) == found, query
    await person.get("/worker/?q=%22%3E%3Cscript%3E")
    assert "<script>" not in person.last.replace('<script type="module"', "")


async def test_what_is_taken_done_or_over_is_not_in_the_list(market: Market) -> None:
    taken, done, over = await market.hits(3)
    ada, bob = await market.person(), await market.person(name="Bob")
    await ada.accept(taken)
    mine = await ada.accept(done)
    await ada.submit({"assignmentId": mine, "code": "x"})
    await bob.get("/worker/")
    assert "1 HIT<" in bob.last
    market.clock.advance(3601)
    await bob.get("/worker/")
    assert titles(bob) == []
    assert bob.has("no-hits")
    response = await bob.get(f"/worker/hits/{over}")
    assert response.status == 404
    response = await bob.post(f"/worker/hits/{over}/accept")
    assert response.status == 403


async def test_a_hit_for_several_people_is_for_each_of_them_once(market: Market) -> None:
    hit_id = await market.hit(seats=3)
    ada, bob = await market.person(), await market.person(name="Bob")
    mine = await ada.accept(hit_id)
    await ada.get("/worker/")
    assert titles(ada) == []
    assert ada.has("held")
    await bob.get("/worker/")
    assert titles(bob) == ["Ask about a picture"]
    await ada.submit({"assignmentId": mine, "code": "x"})
    await ada.get("/worker/")
    assert titles(ada) == []
    await ada.get(f"/worker/hits/{hit_id}")
    assert "submitted this HIT already" in ada.last
    # Whoever gave it back may take it once more.
    again = await bob.accept(hit_id)
    await bob.post(f"/worker/assignments/{again}/return")
    assert await bob.accept(hit_id) != again


async def test_a_long_list_goes_on_on_the_next_page(shop: Market) -> None:
    for n in range(32):
        await shop.hit(title=f"Task number {n}")
    person = await shop.person()
    await person.get("/worker/?q=task")
    assert len(titles(person)) == 30
    more = re.search(r'href="(/worker/\?[^"]*from=30)"', person.last)
    assert more
    await person.get(more[1].replace("&amp;", "&"))
    assert titles(person) == ["Task number 1", "Task number 0"]


# --- Frames and headers --------------------------------------------------------------------


def sandbox(person: Person) -> set[str]:
    found = re.search(r'<iframe [^>]*sandbox="([^"]*)"', person.last)
    assert found
    return set(found[1].split())


async def test_a_task_keeps_its_origin_unless_it_is_ours(shop: Market) -> None:
    person = await shop.person()
    foreign = await shop.hit(external("https://study.example.org/?a=%20b#top", 640))
    ours = await shop.hit(external(f"{shop.url}/worker/work"), title="Ours")
    page = await shop.hit(html_question("<p>Hello</p>"), title="A page")
    await person.get(f"/worker/hits/{foreign}")
    assert "allow-same-origin" in sandbox(person)
    src, query = person.frame()
    assert query["a"] == " b"
    assert src.endswith("#top")
    assert 'height="640"' in person.last
    for hit_id in (ours, page):
        await person.get(f"/worker/hits/{hit_id}")
        assert "allow-same-origin" not in sandbox(person)
    for hit_id in (foreign, ours, page):
        await person.get(f"/worker/hits/{hit_id}")
        assert not {word for word in sandbox(person) if "top-navigation" in word}
        assert "allow-popups-to-escape-sandbox" not in sandbox(person)


OURS = {
    "https://market.example.org": (
        "https://market.example.org:443/x",
        "https://MARKET.example.org/x",
        "https://me@market.example.org/x",
        # As a browser reads it: the backslash ends the host, wide letters are letters.
        "https://market.example.org\\@other.example.org/",
        "https://\uff4darket.example.org/",
    ),
    "https://market.example.org:443": ("https://market.example.org/x",),
    "http://market.example.org": ("http://market.example.org:80/x",),
    "http://127.0.0.1:1": ("http://127.1:1/", "http://2130706433:1/", "http://0x7f.0.0.1:1/"),
}
NOT_OURS = (
    "https://market.example.org:8443/x",
    "https://other.example.org/",
    "https://127.0.0.1:2/",
)


@pytest.mark.parametrize("public_url", OURS)
async def test_an_address_of_ours_is_known_however_it_is_written(
    tmp_path: Path, public_url: str
) -> None:
    store = f"sqlite:///{tmp_path / 'market.sqlite3'}"
    async with open_market(store, public_url=public_url, allow_http=True) as opened:
        # Nobody serves that name here, and the cookie is for TLS.
        link = f"{opened.local}/worker/join/{await opened.invite()}"
        async with ClientSession(cookie_jar=DummyCookieJar()) as client:
            form = {"name": "Ada", "country": "DE"}
            joined = await client.post(link, data=form, allow_redirects=False)
            cookie = {"Cookie": joined.headers["Set-Cookie"].partition(";")[0]}
            person = Person(opened.local, client)
            for address in (*OURS[public_url], *NOT_OURS):
                hit_id = await opened.hit(external(address))
                shown = await client.get(f"{opened.local}/worker/hits/{hit_id}", headers=cookie)
                person.last = await shown.text()
                ours = address in OURS[public_url]
                assert ("allow-same-origin" not in sandbox(person)) is ours, address


async def test_a_task_at_the_name_by_which_the_worker_came_is_ours(shop: Market) -> None:
    person = await shop.person()
    port = urlsplit(shop.url).port
    hit_id = await shop.hit(external(f"http://localhost:{port}/x"))
    for host, ours in ((f"LOCALHOST:{port}", True), ("market.example.org", False)):
        response = await person.client.get(
            f"{shop.url}/worker/hits/{hit_id}", headers={"Host": host}
        )
        person.last = await response.text()
        assert ("allow-same-origin" not in sandbox(person)) is ours


async def test_an_html_question_is_a_page_without_an_origin(shop: Market) -> None:
    form = '<form action="https://www.mturk.com/mturk/externalSubmit"><input name="a"></form>'
    person = await shop.person()
    await person.accept(await shop.hit(html_question(form, 300)))
    src, query = person.frame()
    assert query["workerId"]
    response = await person.get(src)
    policy = response.headers["Content-Security-Policy"]
    assert "sandbox allow-scripts" in policy
    assert "allow-same-origin" not in policy
    assert f'action="{shop.url}/mturk/externalSubmit"' in person.last
    assert (await person.get("/worker/work")).status == 200


async def test_a_question_form_is_said_not_to_be_shown(shop: Market) -> None:
    form = (
        '<QuestionForm xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
        '2017-11-06/QuestionForm.xsd"><Overview><Text>Hi</Text></Overview></QuestionForm>'
    )
    person = await shop.person()
    hit_id = await shop.hit(form)
    await person.get(f"/worker/hits/{hit_id}")
    assert person.has("not-shown")
    await person.accept(hit_id)
    assert person.has("not-shown")


async def test_every_page_has_strict_headers_and_names_nobody_else(shop: Market) -> None:
    person = await shop.person()
    hit_id = await shop.hit()
    assignment_id = await person.accept(hit_id)
    pages = (
        "/worker/",
        f"/worker/hits/{hit_id}",
        f"/worker/assignments/{assignment_id}",
        "/worker/work",
        "/worker/messages",
        "/worker/nothing",
        f"/worker/join/{await shop.invite()}",
    )
    for path in pages:
        response = await person.get(path)
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Cache-Control"] == "no-store"
        assert "style=" not in person.last
        assert "onclick" not in person.last
        own = set(re.findall(r'(?:src|href)="(https?://[^"]+)"', person.last))
        assert all(each.startswith("https://study.example.org/") for each in own)
    for name in ("market.css", "market.js", "answer.js"):
        assert (await person.get(f"/worker/static/{name}")).status == 200
    for odd in ("/worker/static/..%2Frender.py", "/worker/static/x", "/worker/../healthz/x"):
        assert (await person.get(odd)).status == 404


async def test_the_server_says_how_it_is(market: Market) -> None:
    async with ClientSession() as client:
        assert (await client.get(f"{market.url}/healthz")).status == 200
        assert (await client.get(f"{market.url}/readyz")).status == 200
        root = await client.get(market.url, allow_redirects=False)
        assert root.headers["Location"] == "/worker/"
