"""The marketplace's pages over HTTP: every flow of a worker, and every refusal."""

from __future__ import annotations

import asyncio
import io
import re
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import ClientSession, CookieJar, FormData
from defusedxml import ElementTree
from sqlalchemy import select

from hit_manager.marketplace import assignments, workers
from hit_manager.marketplace.answers import NAMESPACE, answer_document, fields_of
from hit_manager.marketplace.requirements import (
    ADULT,
    LOCALE,
    NUMBER_APPROVED,
    Comparator,
    Guard,
    Locale,
    Requirement,
)
from hit_manager.marketplace.states import AssignmentStatus
from hit_manager.marketplace.tables import workers as workers_table
from tests.markets import Market, Person, external, html_question, open_market

PREVIEW_ID = "ASSIGNMENT_ID_NOT_AVAILABLE"


@pytest_asyncio.fixture
async def market(empty_database_url: str) -> AsyncIterator[Market]:
    """A marketplace once on SQLite and once on PostgreSQL."""
    async with open_market(empty_database_url) as opened:
        yield opened


@pytest_asyncio.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Market]:
    """A marketplace on SQLite, where the database does not matter."""
    async with open_market(f"sqlite:///{tmp_path / 'market.sqlite3'}") as opened:
        yield opened


async def stored(market: Market, assignment_id: str) -> assignments.Assignment:
    found = await market.market.read(lambda c, _: assignments.find(c, assignment_id))
    assert found is not None
    return found


def answers(document: str | None) -> dict[str, str]:
    """What a QuestionFormAnswers document says."""
    root = ElementTree.fromstring((document or "").encode())
    assert root.tag == f"{{{NAMESPACE}}}QuestionFormAnswers"
    return {
        each.findtext(f"{{{NAMESPACE}}}QuestionIdentifier") or "": each.findtext(
            f"{{{NAMESPACE}}}FreeText"
        )
        or ""
        for each in root
    }


def titles(person: Person) -> list[str]:
    return re.findall(r'<h2 id="t-\w+"><a [^>]*>([^<]+)</a>', person.last)


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
        "assignmentId": PREVIEW_ID,
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
    assert re.search(r'data-testid="pending">\$1\.25<', person.last)
    assert "Well &lt;done&gt;" in person.last
    assert "Nothing was answered." in person.last
    assert "Bonus $0.40" in person.last
    assert "For waiting" in person.last
    states = re.findall(r'data-state="(\w+)"', person.last)
    assert states == ["submitted", "rejected", "approved", "approved"]
    market.clock.advance(7 * 86_400 + 1)
    await person.get("/worker/work")
    assert re.search(r'data-testid="earned">\$4\.15<', person.last)


async def give_bonus(
    market: Market, assignment_id: str, worker_id: str, amount: int, reason: str
) -> None:
    from sqlalchemy import insert

    from hit_manager.marketplace.tables import bonuses

    row = await stored(market, assignment_id)

    def put(connection: Any, now: float) -> None:
        connection.execute(
            insert(bonuses).values(
                requester_id=market.requester_id,
                hit_id=row.hit_id,
                assignment_id=assignment_id,
                worker_id=worker_id,
                amount=amount,
                fee=1,
                reason=reason,
                granted_at=now,
            )
        )

    await market.market.write(put)


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


# --- Qualifications ------------------------------------------------------------------------


async def test_each_guard_hides_as_much_as_it_says(market: Market) -> None:
    for guard, title in (
        (Guard.ACCEPT, "Guards accepting"),
        (Guard.PREVIEW, "Guards looking"),
        (Guard.DISCOVER, "Guards finding"),
    ):
        needed = Requirement(NUMBER_APPROVED, Comparator.GREATER_OR_EQUAL, (1,), guard=guard)
        await market.hit(title=title, requirements=(needed,))
    person = await market.person()
    await person.get("/worker/")
    assert titles(person) == ["Guards looking", "Guards accepting"]
    await person.get("/worker/?qualified=1")
    assert titles(person) == []
    ids = await ids_by_title(market)
    await person.get(f"/worker/hits/{ids['Guards accepting']}")
    assert person.has("task")
    assert person.has("cannot-accept")
    assert "HITs approved: at least 1" in person.last
    await person.get(f"/worker/hits/{ids['Guards looking']}")
    assert person.has("no-preview")
    assert "<iframe" not in person.last
    hidden = await person.get(f"/worker/hits/{ids['Guards finding']}")
    assert hidden.status == 404
    # Whoever has a page of another HIT cannot post past the guard either.
    open_hit = await market.hit(title="Open to all")
    await person.get(f"/worker/hits/{open_hit}")
    refused = await person.post(f"/worker/hits/{ids['Guards finding']}/accept")
    assert refused.status == 409
    assert "requirements" in person.last
    done = await person.accept(open_hit)
    await person.submit({"assignmentId": done, "code": "x"})
    await market.market.write(assignments.approve, market.requester_id, done, None)
    await person.get("/worker/?qualified=1")
    assert len(titles(person)) == 3


async def ids_by_title(market: Market) -> dict[str, str]:
    from hit_manager.marketplace import hits

    found = await market.market.read(lambda c, now: hits.load(c, now))
    return {hit.type.title: hit.id for hit in found}


async def test_country_and_adult_content_are_what_the_worker_said(shop: Market) -> None:
    german = Requirement(LOCALE, Comparator.IN, locales=(Locale("DE"), Locale("AT")))
    adult = Requirement(ADULT, Comparator.EQUAL, (1,), guard=Guard.DISCOVER)
    await shop.hit(title="In German", requirements=(german,))
    await shop.hit(title="Not for all", requirements=(adult,))
    one = await shop.person(country="DE", adult=True)
    other = await shop.person(country="FR")
    await one.get("/worker/?qualified=1")
    assert titles(one) == ["Not for all", "In German"]
    await other.get("/worker/")
    assert titles(other) == ["In German"]
    assert "do not qualify" in other.last


async def test_a_blocked_worker_sees_nothing_of_the_requester(shop: Market) -> None:
    first, second = await shop.hits(2)
    person = await shop.person()
    held = await person.accept(first)
    await person.get(f"/worker/hits/{second}")
    worker_id = await shop.worker_id(person)
    page = person.last
    await shop.market.write(workers.block, shop.requester_id, worker_id, "Sold answers")
    await person.get("/worker/")
    assert titles(person) == []
    person.last = page
    assert (await person.get(f"/worker/hits/{second}")).status == 404
    await person.get("/worker/messages")
    assert "Vision Lab has blocked you" in person.last
    assert "Sold answers" not in person.last
    # What is in hand may be finished.
    assert (await person.submit({"assignmentId": held, "code": "x"})).status == 200


# --- Accepting and returning ---------------------------------------------------------------


async def test_who_is_too_late_gets_another_of_the_kind(market: Market) -> None:
    first, second = await market.hits(2)
    ada, bob, eve = [await market.person(name=name) for name in ("Ada", "Bob", "Eve")]
    for person in (ada, bob, eve):
        await person.get(f"/worker/hits/{first}")
    await ada.post(f"/worker/hits/{first}/accept")
    got = await bob.post(f"/worker/hits/{first}/accept")
    assert got.url.query == {"said": "other"}
    assert bob.frame()[1]["hitId"] == second
    late = await eve.post(f"/worker/hits/{first}/accept")
    assert late.status == 409
    assert "no more assignments" in eve.last


async def test_many_at_once_share_out_what_there_is(market: Market) -> None:
    await market.hits(4)
    people = [await market.person(name=f"P{n}") for n in range(7)]
    first = (await ids_by_title(market))["Ask about a picture"]
    for person in people:
        await person.get(f"/worker/hits/{first}")
    done = await asyncio.gather(*(p.post(f"/worker/hits/{first}/accept") for p in people))
    assert sorted(response.status for response in done) == [200] * 4 + [409] * 3
    assert len({p.frame()[1]["hitId"] for p in people if "<iframe" in p.last}) == 4


async def test_a_button_pressed_twice_takes_one(shop: Market) -> None:
    first, _ = await shop.hits(2)
    person = await shop.person()
    await person.get(f"/worker/hits/{first}")
    page = person.last
    once = await person.post(f"/worker/hits/{first}/accept")
    person.last = page
    twice = await person.post(f"/worker/hits/{first}/accept")
    assert once.url == twice.url


async def test_a_returned_hit_is_free_again_and_cannot_be_submitted(market: Market) -> None:
    hit_id = await market.hit()
    ada, bob = await market.person(), await market.person(name="Bob")
    assignment_id = await ada.accept(hit_id)
    await bob.get("/worker/")
    assert titles(bob) == []
    foreign = await bob.get(f"/worker/assignments/{assignment_id}")
    assert foreign.status == 404
    given = await ada.post(f"/worker/assignments/{assignment_id}/return")
    assert given.url.path_qs == "/worker/work?said=returned"
    assert 'data-state="returned"' in ada.last
    said = await ada.submit({"assignmentId": assignment_id, "code": "x"})
    assert said.status == 409
    assert 'data-reason="returned"' in ada.last
    assert "What you sent is still here" in ada.last
    await bob.accept(hit_id)


async def test_a_deadline_ends_the_hold_and_says_so(market: Market) -> None:
    hit_id = await market.hit(duration_s=60)
    person = await market.person()
    assignment_id = await person.accept(hit_id)
    market.clock.advance(61)
    work = await person.get(f"/worker/assignments/{assignment_id}")
    assert work.url.path_qs == "/worker/work?said=over"
    said = await person.submit({"assignmentId": assignment_id, "long": "an answer of an hour"})
    assert said.status == 409
    assert 'data-reason="expired"' in person.last
    assert "an answer of an hour" in person.last
    await person.get("/worker/")
    assert titles(person) == ["Ask about a picture"]


async def test_an_expired_hit_can_be_finished_by_who_has_it(shop: Market) -> None:
    hit_id = await shop.hit(lifetime_s=60)
    person = await shop.person()
    assignment_id = await person.accept(hit_id)
    shop.clock.advance(120)
    await person.get(f"/worker/assignments/{assignment_id}")
    assert person.has("task")
    assert (await person.submit({"assignmentId": assignment_id, "code": "x"})).status == 200


# --- Posts that no page of ours made -------------------------------------------------------


async def test_posts_from_elsewhere_do_nothing(shop: Market) -> None:
    first, second = await shop.hits(2)
    person = await shop.person()
    assignment_id = await person.accept(first)
    await person.get(f"/worker/hits/{second}")
    page = person.last
    paths = (f"/worker/hits/{second}/accept", f"/worker/assignments/{assignment_id}/return")
    for path in paths:
        person.last = ""
        assert (await person.post(path)).status == 403
        assert (await person.post(path, {"token": "0" * 64})).status == 403
        # A task on another port of this host has the cookie sent along, SameSite or not.
        for origin in ("http://127.0.0.1:1", "null", "https://study.example.org"):
            person.last = page
            assert (await person.post(path, headers={"Origin": origin})).status == 403
    assert (await stored(shop, assignment_id)).status is AssignmentStatus.ACCEPTED
    person.last = page
    assert (await person.post(paths[0], headers={"Origin": shop.url})).status == 200


async def test_a_token_is_of_one_worker_and_one_sign_in(shop: Market) -> None:
    hit_id = await shop.hit()
    ada, bob = await shop.person(), await shop.person(name="Bob")
    await ada.get(f"/worker/hits/{hit_id}")
    bob.last = ada.last
    assert (await bob.post(f"/worker/hits/{hit_id}/accept")).status == 403


# --- Submitting ----------------------------------------------------------------------------


async def test_submitting_again_after_success_is_success_and_changes_nothing(
    market: Market,
) -> None:
    person = await market.person()
    assignment_id = await person.accept(await market.hit())
    for code in ("first", "second"):
        said = await person.submit({"assignmentId": assignment_id, "code": code})
        assert said.status == 200
        assert person.has("submitted")
    assert answers((await stored(market, assignment_id)).answer) == {"code": "first"}
    await market.market.write(assignments.approve, market.requester_id, assignment_id, None)
    assert (await person.submit({"assignmentId": assignment_id, "code": "3"})).status == 200


@pytest.mark.parametrize(
    ("pairs", "status", "reason"),
    [
        ({"assignmentId": PREVIEW_ID, "code": "x"}, 409, "preview"),
        ({"code": "x"}, 409, "missing"),
        ({"assignmentId": "3NOBODY", "code": "x"}, 404, "unknown"),
        ({"assignmentId": "3\x00'; --", "code": "x"}, 404, "unknown"),
        ({"assignmentid": "3NOBODY", "code": "x"}, 409, "missing"),
        ({"assignmentId": "3NOBODY"}, 409, "empty"),
        ({"assignmentId": "3NOBODY", "hitId": "3H", "workerId": "A1"}, 409, "empty"),
        ({}, 409, "missing"),
    ],
)
async def test_what_cannot_be_submitted_is_said_in_a_page(
    shop: Market, pairs: dict[str, str], status: int, reason: str
) -> None:
    person = Person(shop.url, ClientSession())
    shop.people.append(person)
    said = await person.submit(pairs)
    assert said.status == status
    assert f'data-reason="{reason}"' in person.last
    assert said.content_type == "text/html"
    assert "Set-Cookie" not in said.headers


async def test_the_empty_answer_leaves_the_assignment_to_be_submitted(shop: Market) -> None:
    person = await shop.person()
    assignment_id = await person.accept(await shop.hit())
    assert (await person.submit({"assignmentId": assignment_id})).status == 409
    assert (await stored(shop, assignment_id)).status is AssignmentStatus.ACCEPTED
    assert (await person.submit({"assignmentId": assignment_id, "note": ""})).status == 200
    assert answers((await stored(shop, assignment_id)).answer) == {"note": ""}


async def test_fields_come_from_query_and_body_in_every_encoding(shop: Market) -> None:
    person = await shop.person()
    assignment_id = await person.accept(await shop.hit())
    form = FormData({"text": "a < b & “c” \U0001f600\r\n\x0b]]>"})
    form.add_field("box", "one")
    form.add_field("box", "two")
    form.add_field("file", b"bytes", filename="photo.png", content_type="image/png")
    said = await person.submit(form, params={"assignmentId": assignment_id, "from": "query"})
    assert said.status == 200
    assert answers((await stored(shop, assignment_id)).answer) == {
        "from": "query",
        "text": "a < b & “c” \U0001f600\r\n\ufffd]]>",
        "box": "one|two",
        "file": "photo.png",
    }


async def test_a_second_try_works_after_the_database_was_away(shop: Market) -> None:
    """Trap 31: done here and not submitted there must never be the end."""
    person = await shop.person()
    assignment_id = await person.accept(await shop.hit())
    file = shop.market.store.engine.url.database
    assert file is not None
    busy = sqlite3.connect(file, isolation_level=None)
    busy.execute("BEGIN IMMEDIATE")
    try:
        said = await person.submit({"assignmentId": assignment_id, "code": '"K7"'})
    finally:
        busy.execute("ROLLBACK")
        busy.close()
    assert said.status == 503
    assert 'data-reason="unavailable"' in person.last
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', person.last))
    assert fields == {"assignmentId": assignment_id, "code": "&#34;K7&#34;"}
    again = {name: value.replace("&#34;", '"') for name, value in fields.items()}
    assert (await person.submit(again)).status == 200
    assert answers((await stored(shop, assignment_id)).answer) == {"code": '"K7"'}


async def test_too_long_an_answer_and_a_mere_look_are_pages_too(shop: Market) -> None:
    person = await shop.person()
    assignment_id = await person.accept(await shop.hit())
    encoded = {"Content-Type": "application/x-www-form-urlencoded"}

    def body(length: int) -> io.BytesIO:
        return io.BytesIO(f"assignmentId={assignment_id}&text={'x' * length}".encode())

    long = await person.submit(body(3_000_000), headers=encoded)
    assert long.status == 413
    assert 'data-reason="too-large"' in person.last
    assert (await person.get("/mturk/externalSubmit")).status == 405
    fits = await person.submit(body(1_000_000), headers=encoded)
    assert fits.status == 200


async def test_nothing_that_was_sent_becomes_part_of_the_page(shop: Market) -> None:
    person = await shop.person()
    evil = '"><script>alert(1)</script>'
    await person.submit({"assignmentId": evil, evil: evil})
    assert "<script>alert" not in person.last
    assert "&lt;script&gt;" in person.last


def test_the_document_is_what_the_reference_prints() -> None:
    fields = fields_of([("assignmentId", "3A"), ("hitId", "3H"), ("a", "1"), ("b", ""), ("", "?")])
    assert answer_document(fields) == (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>'
        f'<QuestionFormAnswers xmlns="{NAMESPACE}">'
        "<Answer><QuestionIdentifier>a</QuestionIdentifier><FreeText>1</FreeText></Answer>"
        "<Answer><QuestionIdentifier>b</QuestionIdentifier><FreeText/></Answer>"
        "</QuestionFormAnswers>"
    )


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
