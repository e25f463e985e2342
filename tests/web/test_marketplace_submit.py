"""Submitting to the marketplace from a frame: every answer is a page, and nothing is lost."""

from __future__ import annotations

import io
import re
import sqlite3

import pytest
from aiohttp import ClientSession, FormData

from hit_manager.marketplace import assignments
from hit_manager.marketplace.answers import NAMESPACE, answer_document, fields_of
from hit_manager.marketplace.pages.task import NOT_AVAILABLE
from hit_manager.marketplace.states import AssignmentStatus
from tests.markets import (
    Market,
    Person,
    answers,
    stored,
)

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
        ({"assignmentId": NOT_AVAILABLE, "code": "x"}, 409, "preview"),
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
