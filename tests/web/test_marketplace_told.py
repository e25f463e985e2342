"""What the marketplace's pages tell workers: of pay, of the team, and of what is left to do."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import ClientSession

from hit_manager.marketplace import assignments, qualifications
from hit_manager.marketplace.about import PAID_SOMEHOW, About
from hit_manager.marketplace.qualification_types import TypeDraft, create_type
from hit_manager.marketplace.requirements import Comparator, Requirement
from hit_manager.marketplace.states import TypeStatus
from tests.markets import Market, Person, give_bonus, open_market

MAIL = "crowd@lab.example.org"
VOUCHERS = "We send you a voucher at the end of each month."


def text_of(page: str) -> str:
    """A page as it is read."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


@pytest_asyncio.fixture
async def known(tmp_path: Path) -> AsyncIterator[Market]:
    """A marketplace whose team has said who it is."""
    about = About("Picture Lab <crowd>", MAIL, VOUCHERS)
    async with open_market(f"sqlite:///{tmp_path / 'market.sqlite3'}", about=about) as opened:
        yield opened


# --- What is left to do --------------------------------------------------------------------


async def test_work_in_hand_is_said_not_to_be_handed_in(shop: Market) -> None:
    person = await shop.person()
    assignment_id = await person.accept(await shop.hit())
    await person.get("/worker/")
    assert "It is not handed in yet." in person.last
    await person.get("/worker/work")
    assert person.has("not-handed-in")
    said = text_of(person.last)
    assert "Not handed in yet: open it and submit it before the time ends, or return it." in said
    assert "Only work that is handed in is paid." in said
    await person.submit({"assignmentId": assignment_id, "code": "x"})
    await person.get("/worker/work")
    assert not person.has("not-handed-in")


async def test_a_task_that_does_not_show_is_spoken_of(shop: Market) -> None:
    person = await shop.person()
    hit_id = await shop.hit()
    await person.get(f"/worker/hits/{hit_id}")
    assert "its server may be out of reach" in person.last
    await person.accept(hit_id)
    said = text_of(person.last)
    assert "Task not showing? Load this page again." in said
    assert "If you have not started, you can also return the HIT; that costs you nothing." in said


# --- Pay -----------------------------------------------------------------------------------


async def test_a_reward_is_called_one_and_a_bonus_is_thought_of(shop: Market) -> None:
    what = "$1.50 for a whole dialog: $0.10 with approval, the rest as a bonus."
    person = await shop.person()
    hit_id = await shop.hit(description=what, reward=10)
    await person.get("/worker/")
    said = text_of(person.last)
    assert "Reward $0.10" in said
    assert "where a team pays a bonus on top, the description says so" in said
    assert f'<p class="what">{what}</p>' in person.last
    await person.get(f"/worker/hits/{hit_id}")
    assert f'<p class="what prose">{what}</p>' in person.last
    assert "$0.10what the task promises beyond that comes as a bonus" in text_of(person.last)
    assignment_id = await person.accept(hit_id)
    assert "Reward $0.10 plus any bonus" in text_of(person.last)
    await person.submit({"assignmentId": assignment_id, "code": "x"})
    await person.get("/worker/work")
    said = text_of(person.last)
    assert "Reward $0.10 Submitted" in said
    assert "$0.10 in rewards; what the tasks promised beyond that comes as a bonus" in said
    assert "any more that the task promised comes as a bonus, when the team has reviewed" in said
    assert "reward approved at the latest on" in said
    assert "may follow" not in said
    await shop.market.write(assignments.approve, shop.requester_id, assignment_id, None)
    await give_bonus(shop, assignment_id, await shop.worker_id(person), 140, "A whole dialog")
    await person.get("/worker/work")
    assert 'data-testid="price">$1.50</span>' in person.last
    assert "$0.10 reward + $1.40 bonus" in text_of(person.last)
    assert "Earned$1.50$0.10 rewards + $1.40 bonuses" in text_of(person.last)


async def test_a_description_that_is_the_title_is_not_said_twice(shop: Market) -> None:
    person = await shop.person()
    hit_id = await shop.hit(title="Talk about a picture", description="Talk about a picture ")
    for path in ("/worker/", f"/worker/hits/{hit_id}"):
        await person.get(path)
        assert 'class="what' not in person.last


# --- The team ------------------------------------------------------------------------------


async def test_the_team_is_named_and_can_be_asked(known: Market) -> None:
    person = await known.person()
    hit_id = await known.hit()
    pages = ("/worker/", f"/worker/hits/{hit_id}", "/worker/work", "/worker/messages", "/worker/x")
    for path in (*pages, "/worker/join/nobody", f"/worker/join/{await known.invite()}"):
        await person.get(path)
        assert "· Picture Lab &lt;crowd&gt;</title>" in person.last, path
        assert "<span>Picture Lab &lt;crowd&gt;</span>" in person.last, path
        assert f'Questions: <a href="mailto:{MAIL}">{MAIL}</a>' in person.last, path
        told = path.startswith(("/worker/work", "/worker/join/")) and "nobody" not in path
        assert (VOUCHERS in person.last) is told, path
        assert PAID_SOMEHOW not in person.last, path
    async with ClientSession() as stranger:
        refused = await (await stranger.get(f"{known.url}/worker/")).text()
        assert f"mailto:{MAIL}" in refused.partition("<main")[2].partition("</main>")[0]
        lost = await stranger.post(f"{known.url}/mturk/externalSubmit", data={"assignmentId": "3"})
        assert f"mailto:{MAIL}" in await lost.text()


async def test_where_the_team_said_nothing_the_truth_is_told(shop: Market) -> None:
    person = await shop.person()
    for path in ("/worker/work", f"/worker/join/{await shop.invite()}"):
        await person.get(path)
        assert PAID_SOMEHOW in person.last
        assert "moves no money itself" in person.last
        assert "Questions:" not in person.last
        assert "<span>Marketplace</span>" in person.last
    assert "Only you and the team that runs the marketplace see it" in person.last


@pytest.mark.parametrize(
    ("contact", "link"),
    [
        (MAIL, f"mailto:{MAIL}"),
        ("https://lab.example.org/crowd", "https://lab.example.org/crowd"),
        ("Room 12, or a@b.org", ""),
        ("javascript:alert(1)", ""),
        ("a@b.org?subject=x", ""),
    ],
)
def test_a_contact_leads_where_it_can(contact: str, link: str) -> None:
    assert About(contact=contact).contact_link == link


# --- Groups --------------------------------------------------------------------------------


async def in_group(market: Market) -> tuple[str, str]:
    """A qualification that nobody may have, and a HIT that says so."""
    draft = TypeDraft("Group B", "For us alone", "", TypeStatus.ACTIVE)
    made = await market.market.write(create_type, market.requester_id, draft)
    return made.id, await market.hit(
        requirements=(Requirement(made.id, Comparator.DOES_NOT_EXIST),)
    )


async def group_said(person: Person, hit_id: str) -> bool:
    await person.get(f"/worker/hits/{hit_id}")
    return "Group B" in person.last


async def test_who_is_in_no_group_hears_nothing_of_it(shop: Market) -> None:
    type_id, hit_id = await in_group(shop)
    person = await shop.person()
    worker_id = await shop.worker_id(person)
    assert not await group_said(person, hit_id)
    assert not person.has("needs")
    grant = (shop.requester_id, type_id, worker_id)
    await shop.market.write(qualifications.grant, *grant, 1, tell=False)
    assert await group_said(person, hit_id)
    assert person.has("cannot-accept")
    await shop.market.write(qualifications.revoke, *grant, None)
    assert not await group_said(person, hit_id)
    assert not person.has("unread")
    await person.get("/worker/messages")
    assert "No messages." in person.last
    await shop.market.write(qualifications.grant, *grant, 1, tell=False)
    await shop.market.write(qualifications.revoke, *grant, "The study is over.")
    await person.get("/worker/messages")
    assert "“Group B” no longer applies to you. You need not do anything." in person.last
    assert "The study is over." in person.last


# --- Where there is nothing ----------------------------------------------------------------


async def test_a_page_that_is_not_there_keeps_the_menu(shop: Market) -> None:
    person = await shop.person()
    links = ('<a class="button button-main" href="/worker/">', 'href="/worker/messages"', ">Ada<")
    for path in ("/worker/nothing", "/worker/join/nobody", "/worker/hits/3X"):
        assert (await person.get(path)).status == 404
        assert all(link in person.last for link in links), path
    async with ClientSession() as stranger:
        lost = await (await stranger.get(f"{shop.url}/worker/nothing")).text()
        assert "There is no such page" in lost
        assert "/worker/messages" not in lost
