"""Taking HITs on the marketplace's pages: who may, who was faster, and who may not post."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest

from hit_manager.marketplace import assignments, qualification_types, qualifications, workers
from hit_manager.marketplace.requirements import (
    ADULT,
    LOCALE,
    NUMBER_APPROVED,
    Comparator,
    Guard,
    Locale,
    Requirement,
)
from hit_manager.marketplace.states import AssignmentStatus, TypeStatus
from tests.markets import (
    Market,
    ids_by_title,
    stored,
    titles,
)

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


async def test_country_and_adult_content_are_what_the_worker_said(shop: Market) -> None:
    german = Requirement(LOCALE, Comparator.IN, locales=(Locale("DE"), Locale("AT")))
    adult = Requirement(ADULT, Comparator.EQUAL, (1,), guard=Guard.DISCOVER)
    german_hit = await shop.hit(title="In German", requirements=(german,))
    await shop.hit(title="Not for all", requirements=(adult,))
    one = await shop.person(country="DE", adult=True)
    other = await shop.person(country="FR")
    await one.get("/worker/?qualified=1")
    assert titles(one) == ["Not for all", "In German"]
    await one.get(f"/worker/hits/{german_hit}")
    assert "Where you live: Germany or Austria" in one.last
    await other.get("/worker/")
    assert titles(other) == ["In German"]
    assert "do not qualify" in other.last


async def test_a_soft_block_hides_and_a_qualification_can_be_asked_for(market: Market) -> None:
    draft = qualification_types.TypeDraft("Trained", "Has done the training", "", TypeStatus.ACTIVE)
    write, requester = market.market.write, market.requester_id
    trained = (await write(qualification_types.create_type, requester, draft)).id
    auto = replace(draft, name="Curious", auto_granted=True, auto_value=7)
    curious = (await write(qualification_types.create_type, requester, auto)).id
    soft = replace(draft, name="Done enough")
    enough = (await write(qualification_types.create_type, requester, soft)).id
    hit_id = await market.hit(
        requirements=(
            Requirement(trained, Comparator.EXISTS),
            Requirement(curious, Comparator.GREATER_OR_EQUAL, (7,)),
            Requirement(enough, Comparator.DOES_NOT_EXIST, guard=Guard.DISCOVER),
        )
    )
    person = await market.person()
    worker_id = await market.worker_id(person)
    await person.get(f"/worker/hits/{hit_id}")
    assert person.has("cannot-accept")
    assert "Has the qualification “Trained”" in person.last
    assert "Curious: at least 7" in person.last
    paths = re.findall(r'action="(/worker/qualifications/\w+/ask)"', person.last)
    assert paths == [f"/worker/qualifications/{each}/ask" for each in (trained, curious)]
    page = person.last
    await person.post(paths[0], {"hit": hit_id})
    assert "You have asked for it" in person.last
    await person.post(paths[1], {"hit": hit_id})
    assert "Granted" in person.last
    assert not person.has("ask")
    person.last = page
    again = await person.post(paths[0], {"hit": hit_id})
    assert again.status == 409
    person.last = ""
    assert (await person.post(paths[1], {"hit": hit_id})).status == 403
    await write(qualifications.put, trained, worker_id, 1)
    await person.get(f"/worker/hits/{hit_id}")
    assert person.has("accept")
    await write(qualifications.put, enough, worker_id, 1)
    await person.get("/worker/")
    assert titles(person) == []
    assert (await person.get(f"/worker/hits/{hit_id}")).status == 404


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
    assert person.has("unread")
    person.last = page
    assert (await person.get(f"/worker/hits/{second}")).status == 404
    await person.get("/worker/messages")
    assert not person.has("unread")
    await person.get("/worker/")
    assert not person.has("unread")
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


async def test_a_button_pressed_again_takes_no_more_when_somebody_was_faster(
    market: Market,
) -> None:
    first, second, third, *_ = await market.hits(6)
    ada, bob = await market.person(), await market.person(name="Bob")
    await bob.get(f"/worker/hits/{first}")
    page = bob.last
    theirs = await ada.accept(first)

    async def press() -> str:
        bob.last = page
        return str((await bob.post(f"/worker/hits/{first}/accept")).url)

    async def pressed_at_once() -> set[str]:
        token = {"token": re.findall(r'name="token" value="([^"]+)"', page)[0]}
        link = f"{market.url}/worker/hits/{first}/accept"
        answers = [bob.client.post(link, data=token, allow_redirects=False) for _ in range(4)]
        return {answer.headers["Location"] for answer in await asyncio.gather(*answers)}

    [got] = await pressed_at_once()
    assert await press() == f"{market.url}{got}"
    assert bob.frame()[1]["hitId"] == second
    # Not even when the one they asked for is free again, which this press cannot know.
    await ada.get(f"/worker/assignments/{theirs}")
    await ada.post(f"/worker/assignments/{theirs}/return")
    assert await press() == f"{market.url}{got}"
    await bob.get("/worker/")
    assert bob.last.count('data-testid="held"') == 1
    # The button of another HIT is another wish.
    await bob.accept(third)
    await bob.get("/worker/")
    assert bob.last.count('data-testid="held"') == 2


async def test_what_was_got_instead_is_remembered_while_it_is_in_hand(market: Market) -> None:
    first, *_ = await market.hits(4)
    ada, bob = await market.person(), await market.person(name="Bob")
    await bob.get(f"/worker/hits/{first}")
    page = bob.last
    await ada.accept(first)
    got = []
    for end in ("return", "submit", "time"):
        bob.last = page
        taken = await bob.post(f"/worker/hits/{first}/accept")
        got.append(taken.url.path.rpartition("/")[2])
        if end == "return":
            await bob.post(f"/worker/assignments/{got[-1]}/return")
        elif end == "submit":
            await bob.submit({"assignmentId": got[-1], "code": "x"})
        else:
            market.clock.advance(1801)
    bob.last = page
    taken = await bob.post(f"/worker/hits/{first}/accept")
    assert len({*got, taken.url.path.rpartition("/")[2]}) == 4


async def test_a_hit_that_is_done_leads_to_no_other(shop: Market) -> None:
    first, _ = await shop.hits(2)
    person = await shop.person()
    await person.get(f"/worker/hits/{first}")
    page = person.last
    done = await person.accept(first)
    await person.submit({"assignmentId": done, "code": "x"})
    person.last = page
    again = await person.post(f"/worker/hits/{first}/accept")
    assert again.status == 409
    assert "accepted this HIT before" in person.last


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


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("market.example.org", "https://market.example.org", 200),
        # A proxy may name the usual port; a browser does not.
        ("market.example.org:443", "https://market.example.org", 200),
        ("MARKET.example.org:80", "http://market.example.org", 200),
        ("market.example.org:443", "http://market.example.org", 403),
        ("market.example.org", "https://other.example.org", 403),
        ("market.example.org", "https://market.example.org@other.example.org", 403),
        ("market.example.org", "ftp://market.example.org", 403),
        ("market.example.org", "http://[::1", 403),
        ("market.example.org", "\udcff", 403),
    ],
)
async def test_an_origin_is_compared_as_browsers_do(
    shop: Market, host: str, origin: str, status: int
) -> None:
    hit_id = await shop.hit()
    person = await shop.person()
    await person.get(f"/worker/hits/{hit_id}")
    path = f"/worker/hits/{hit_id}/accept"
    headers = {"Host": host, "Origin": origin}
    posted = await person.post(path, headers=headers, allow_redirects=False)
    assert posted.status == (303 if status == 200 else status)


async def test_a_token_is_of_one_worker_and_one_sign_in(shop: Market) -> None:
    hit_id = await shop.hit()
    ada, bob = await shop.person(), await shop.person(name="Bob")
    await ada.get(f"/worker/hits/{hit_id}")
    bob.last = ada.last
    assert (await bob.post(f"/worker/hits/{hit_id}/accept")).status == 403
