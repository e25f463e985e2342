"""The review in the monitor: by the keyboard alone, by two people at once, and many at a time."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Browser, Locator, Response, expect
from sqlalchemy import delete

from dialogs.record import tables
from dialogs.rules import AdminRole
from duologue.simulate import Mix
from tests.e2e.office import Colleague, Office, at_work
from tests.e2e.stage import WAIT_MS, on_stage, photos, quick, write_study
from tests.live import eventually

pytestmark = pytest.mark.e2e

SHORT: Final = {"rounds": "3", "same_address": '"allow"'}
LEAVES_EARLY: Final = 34
"""A seed by which the one of two who leaves says so after one message."""


def few_photos(folder: Path, count: int) -> Path:
    file = photos(folder)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert len(lines) >= count
    file.write_text("\n".join(lines[:count]), encoding="utf-8")
    return file


@asynccontextmanager
async def to_review(
    browser: Browser, folder: Path, redis_url: str, *, complete: int, items: int
) -> AsyncIterator[Office]:
    """A study in which so many dialogs are complete and wait for a reviewer."""
    site = write_study(folder / "study", few_photos(folder / "photos", items), **SHORT)
    async with (
        on_stage(browser, site, redis_url, quick(site)) as stage,
        at_work(browser, stage.server) as office,
    ):
        await office.crowd(2 * complete)
        assert (
            sum(row.outcome == "complete" for row in await office.rows(tables.dialogs)) == complete
        )
        yield office


async def dialog(office: Office, dialog_id: str) -> Any:
    (row,) = [row for row in await office.rows(tables.dialogs) if row.id == dialog_id]
    return row


async def pay_of(office: Office, dialog_id: str) -> dict[str, tuple[str, str | None]]:
    """The state and the note of what each role is owed for a dialog."""
    ledger = {row.arrival_id: row for row in await office.rows(tables.ledger)}
    return {
        seat.role: (ledger[seat.arrival_id].state, ledger[seat.arrival_id].note)
        for seat in await office.rows(tables.seats)
        if seat.dialog_id == dialog_id and seat.arrival_id in ledger
    }


async def relaunched(office: Office, dialog_id: str) -> int:
    return sum(row.dialog_id == dialog_id for row in await office.rows(tables.relaunches))


class Reviewer:
    """Somebody who judges by the keyboard alone."""

    def __init__(self, colleague: Colleague, office: Office) -> None:
        self.colleague = colleague
        self.page = colleague.page
        self.office = office

    @property
    def heading(self) -> Locator:
        return self.page.locator("#in-hand")

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.page.keyboard.press(key)

    async def write(self, text: str) -> None:
        """Where the focus is, which must be a field."""
        await expect(self.page.locator("textarea:focus, input:focus")).to_have_count(1)
        await self.page.keyboard.type(text)

    async def is_told(self, text: str) -> None:
        toast = self.colleague.get("toasts").locator(".toast").filter(has_text=text)
        await expect(toast.last).to_be_visible(timeout=WAIT_MS)

    async def in_hand(self, *, after: str = "") -> str:
        """The dialog that is shown, which is the one that the record holds for this person; once
        another than `after` is shown."""
        if after:
            await expect(self.heading).not_to_contain_text(after[:8], timeout=WAIT_MS)
        else:
            await expect(self.heading).to_be_visible(timeout=WAIT_MS)
        (held,) = [
            row.dialog_id
            for row in await self.office.rows(tables.review_claims)
            if row.until > time.time()
        ]
        await expect(self.heading).to_contain_text(held[:8])
        return str(held)


async def test_by_the_keyboard_alone(browser: Browser, tmp_path: Path, redis_url: str) -> None:
    async with to_review(browser, tmp_path, redis_url, complete=4, items=5) as office:
        await office.crowd(2, mix=Mix.parse("normal=1,leaver=1"), seed=LEAVES_EARLY)
        reviewer = Reviewer(await office.colleague(AdminRole.REVIEWER), office)
        await reviewer.colleague.go("Review")
        first = await reviewer.in_hand()

        await reviewer.press("?")
        await expect(reviewer.colleague.get("keys")).to_be_visible()
        await reviewer.press("Escape", "j", "j", "k", "n")
        await expect(reviewer.page.locator("[data-now]").first).to_contain_text("Round 1")
        await expect(reviewer.colleague.get("problem")).to_contain_text("Accept (A) or reject (R)")

        await reviewer.press("a")
        await reviewer.is_told("Accepted.")
        second = await reviewer.in_hand(after=first)
        assert (await dialog(office, first)).acceptance == "accepted"
        assert set((await pay_of(office, first)).values()) == {("approved", None)}

        await rejects_and_takes_back(reviewer, office, second)
        third = await reviewer.in_hand(after=second)
        await refuses_pay(reviewer, office, third)
        fourth = await reviewer.in_hand(after=third)
        await flags_and_skips(reviewer, office, fourth)
        fifth = await reviewer.in_hand(after=fourth)

        # This one is not complete: it is no data, and only its pay is decided.
        await reviewer.press("a")
        await expect(reviewer.colleague.get("problem")).to_contain_text("cannot be data")
        await reviewer.press("n")
        await reviewer.is_told("Its pay is settled.")
        # What was skipped comes back when there is nothing else.
        assert await reviewer.in_hand(after=fifth) == fourth
        await reviewer.press("a")
        await expect(reviewer.colleague.get("nothing-left")).to_be_visible(timeout=WAIT_MS)
        assert (await dialog(office, fourth)).acceptance == "accepted"
        assert (await dialog(office, fifth)).acceptance is None
        assert set((await pay_of(office, fifth)).values()) == {("approved", None)}

        await is_collected_again(office, second)
        for action, count in (("review.judge", 6), ("review.undo", 1)):
            rows = await office.actions(action)
            assert [row.admin_id for row in rows] == [f"ad-{reviewer.colleague.name}"] * count


async def rejects_and_takes_back(reviewer: Reviewer, office: Office, held: str) -> None:
    """Without a reason it is not rejected; what was decided is undone, and decided again."""
    ask = reviewer.colleague.get("reject-ask")
    await reviewer.press("r")
    await expect(ask).to_be_visible()
    await reviewer.press("Control+Enter")
    await expect(ask.get_by_test_id("problem")).to_have_text("Write the reason.")
    await reviewer.write("Nobody looked at the picture.")
    await reviewer.press("Control+Enter")
    await reviewer.is_told("Rejected; its place is collected again.")
    await reviewer.in_hand(after=held)
    assert (await dialog(office, held)).acceptance == "rejected"
    assert await relaunched(office, held) == 1
    # Whether it is data and whether it is paid are two things.
    assert set((await pay_of(office, held)).values()) == {("approved", None)}

    await reviewer.press("u")
    await reviewer.is_told("Your last decision is taken back.")
    await expect(reviewer.heading).to_contain_text(held[:8], timeout=WAIT_MS)
    assert (await dialog(office, held)).acceptance is None
    assert await relaunched(office, held) == 0
    assert set((await pay_of(office, held)).values()) == {("owed", None)}

    await reviewer.press("r")
    await reviewer.write("Nobody looked at the picture.")
    await reviewer.press("Control+Enter")
    await expect(ask).to_have_count(0, timeout=WAIT_MS)


async def refuses_pay(reviewer: Reviewer, office: Office, held: str) -> None:
    """One person's pay is refused, which takes a reason; the other is paid, and it is data."""
    refusal = reviewer.colleague.get("refusal-questioner")
    await reviewer.press("p")
    await expect(refusal).to_be_focused()
    await reviewer.press("Escape", "a")
    problem = reviewer.colleague.get("problem")
    await expect(problem).to_contain_text("Write why the questioner’s pay is refused")
    await expect(refusal).to_be_focused()
    await reviewer.write("The same question ten times.")
    await reviewer.press("Escape", "Shift+P")
    await expect(reviewer.colleague.get("refusal-answerer")).to_be_focused()
    await reviewer.press("Escape", "Shift+P", "a")
    await reviewer.in_hand(after=held)
    assert (await dialog(office, held)).acceptance == "accepted"
    assert await pay_of(office, held) == {
        "questioner": ("cancelled", "taken back: The same question ten times."),
        "answerer": ("approved", None),
    }


async def flags_and_skips(reviewer: Reviewer, office: Office, held: str) -> None:
    await reviewer.press("f")
    await reviewer.write("The answers look copied.")
    await reviewer.press("Control+Enter")
    await reviewer.is_told("Flagged.")
    (finding,) = [row for row in await office.rows(tables.findings) if row.admin_id]
    assert (finding.dialog_id, finding.reason) == (held, "The answers look copied.")
    await reviewer.press("s")
    await reviewer.is_told("Skipped.")
    await reviewer.in_hand(after=held)
    assert (await dialog(office, held)).acceptance is None


async def is_collected_again(office: Office, rejected: str) -> None:
    """The place of a rejected dialog is talked about once more, and then no more."""
    place = await dialog(office, rejected)
    for _ in range(2):
        await office.crowd(4)
        there = [
            row
            for row in await office.rows(tables.dialogs)
            if (row.item_id, row.place) == (place.item_id, place.place)
        ]
        assert sorted(str(row.acceptance) for row in there) == ["None", "rejected"]
        assert {row.outcome for row in there} == {"complete"}
    assert await relaunched(office, rejected) == 1


# --- Two at once ---------------------------------------------------------------------------


class Given:
    """Every dialog that somebody is given, as the server's answers say it."""

    def __init__(self, colleague: Colleague) -> None:
        self.ids: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()
        colleague.page.on("response", self._hear)

    def _hear(self, response: Response) -> None:
        if response.url.endswith("/review/next"):
            task = asyncio.ensure_future(self._read(response))
            self._tasks.add(task)

    async def _read(self, response: Response) -> None:
        found = json.loads(await response.text())["dialog"]
        if found is not None:
            self.ids.append(found["id"])

    async def whole(self) -> list[str]:
        await asyncio.gather(*self._tasks)
        return self.ids


async def test_two_reviewers_never_hold_the_same(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    async with to_review(browser, tmp_path, redis_url, complete=7, items=7) as office:
        people = [await office.colleague(AdminRole.REVIEWER) for _ in range(2)]
        given = [Given(each) for each in people]

        async def judge(colleague: Colleague) -> int:
            """Accept whatever comes until nothing is left; how many that were."""
            heading, judged = colleague.page.locator("#in-hand"), 0
            none = colleague.get("nothing-left")
            await expect(heading.or_(none)).to_be_visible(timeout=WAIT_MS)
            while not await none.is_visible():
                held = (await heading.inner_text()).split()[1].rstrip("…")
                await colleague.page.keyboard.press("a")
                again = heading.filter(has_not_text=held)
                await expect(again.or_(none)).to_be_visible(timeout=WAIT_MS)
                judged += 1
            return judged

        await asyncio.gather(*(each.open("/monitor/review", "Review") for each in people))
        held = await office.rows(tables.review_claims)
        assert len({row.dialog_id for row in held}) == len({row.admin_id for row in held}) == 2
        counts = await asyncio.gather(*map(judge, people))
        one, other = [await each.whole() for each in given]
        assert set(one) & set(other) == set()
        assert len(set(one) | set(other)) == sum(counts) == 7
        assert min(counts) > 0
        judged = await office.rows(tables.judgements)
        assert len({row.dialog_id for row in judged}) == len(judged) == 7


# --- Many at a time ------------------------------------------------------------------------


async def test_filters_and_many_at_a_time(browser: Browser, tmp_path: Path, redis_url: str) -> None:
    async with to_review(browser, tmp_path, redis_url, complete=6, items=6) as office:
        owner = await office.colleague()
        heading = owner.page.locator("#in-hand")
        await without_flags(office)
        await owner.go("Review")
        await owner.page.keyboard.press("f")
        await owner.fill("flag-reason", "They knew each other.")
        await owner.submit()
        (finding,) = await office.rows(tables.findings)
        flagged = finding.dialog_id

        flags = owner.get("filter-flag")
        await flags.select_option(finding.flag, timeout=WAIT_MS)
        await expect(heading).to_contain_text(flagged[:8], timeout=WAIT_MS)
        await flags.select_option("contact")
        nothing = owner.get("nothing-left")
        await expect(nothing).to_contain_text("matches these filters", timeout=WAIT_MS)
        await flags.select_option(label="None")
        another = heading.filter(has_not_text=flagged[:8])
        await expect(another).to_be_visible(timeout=WAIT_MS)
        await flags.select_option(label="All")
        await owner.page.wait_for_url(f"{owner.url}/monitor/review", timeout=WAIT_MS)
        seats = await office.rows(tables.seats)
        other = next(seat for seat in seats if seat.dialog_id != flagged)
        await owner.fill("filter-worker", other.worker_id)
        await expect(heading).to_contain_text(other.dialog_id[:8], timeout=WAIT_MS)

        # Many: those of this person first, which is one dialog and two payments.
        await owner.press("bulk")
        await counts(owner, "1 dialog, 2 payments, $3.00.", "Accept 1 dialog, approve $3.00")
        await owner.press("ask-cancel")
        assert not await office.rows(tables.judgements)
        await owner.fill("filter-worker", "")
        await owner.page.wait_for_url(f"{owner.url}/monitor/review", timeout=WAIT_MS)
        await owner.press("bulk")
        await counts(owner, "5 dialogs, 10 payments, $15.00.", "Accept 5 dialogs, approve $15.00")
        await owner.get("bulk-unflagged").uncheck()
        await counts(owner, "6 dialogs, 12 payments, $18.00.", "Accept 6 dialogs, approve $18.00")
        await owner.get("bulk-unflagged").check()
        await counts(owner, "5 dialogs, 10 payments, $15.00.", "Accept 5 dialogs, approve $15.00")
        await owner.submit()
        await owner.is_told("5 dialogs judged, 10 payments approved, $15.00.")
        found = {row.id: row.acceptance for row in await office.rows(tables.dialogs)}
        assert found.pop(flagged) is None
        assert set(found.values()) == {"accepted"}
        states = sorted(row.state for row in await office.rows(tables.ledger))
        assert states == ["approved"] * 10 + ["owed"] * 2

        # What is left is rejected, and its people are paid all the same, later.
        await expect(heading).to_contain_text(flagged[:8], timeout=WAIT_MS)
        await owner.press("bulk")
        await owner.choose("bulk-verdict", "rejected")
        await owner.get("bulk-unflagged").uncheck()
        await owner.get("bulk-pay").uncheck()
        await counts(owner, "1 dialog, 0 payments, $0.00.", "Reject 1 dialog")
        await owner.submit()
        await expect(owner.get("nothing-left")).to_be_visible(timeout=WAIT_MS)
        assert (await dialog(office, flagged)).acceptance == "rejected"
        assert await relaunched(office, flagged) == 1

        async def told() -> bool:
            return len(await office.actions("review.judge")) == 6

        await eventually(told)


async def without_flags(office: Office) -> None:
    """As if everybody had taken their time: the rules find those who take none too fast."""
    record = office.server.service.record

    async def looked_through() -> bool:
        return all(row.checked_at is not None for row in await office.rows(tables.dialogs))

    await eventually(looked_through, within=30)
    with record.engine.begin() as connection:
        assert connection.execute(delete(tables.findings)).rowcount > 0


async def counts(owner: Colleague, what: str, button: str) -> None:
    """What the question before many are judged says of dialogs and money."""
    await expect(owner.get("bulk-count")).to_have_text(what, timeout=WAIT_MS)
    await expect(owner.get("ask-submit")).to_have_text(button)
