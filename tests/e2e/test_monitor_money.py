"""What the team does to people and payments, by the page, at a marketplace that carries it out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Browser, expect
from sqlalchemy import select, update

from dialogs.record import tables
from dialogs.rules import LedgerState
from duologue.demo import config_for
from duologue.demo_market import MarketSite, market_site
from duologue.serve import prepare_record, running
from duologue.simulate.market import simulate_market
from hit_manager.marketplace import tables as market
from tests.e2e.office import Colleague, Office, at_work
from tests.e2e.stage import WAIT_MS
from tests.live import eventually

pytestmark = pytest.mark.e2e

STUDY: Final = {"rounds": "2", "pair_again_below": "1", "start_s": "5", "limit_s": "6"}
PEOPLE: Final = 4


async def all_handed_in(office: Office) -> bool:
    rows = await office.rows(tables.assignments)
    return sum(row.status == "submitted" for row in rows) >= PEOPLE


async def all_paid(office: Office) -> bool:
    rows = await office.rows(tables.ledger)
    return len({row.arrival_id for row in rows if row.state == "paid"}) >= PEOPLE


@asynccontextmanager
async def paying(
    browser: Browser,
    folder: Path,
    redis_url: str,
    approval: str,
    enough: Callable[[Office], Awaitable[bool]],
) -> AsyncIterator[tuple[Office, MarketSite]]:
    """A study at a marketplace, where people worked until it was enough."""
    more = {**STUDY, "approval": f'"{approval}"'}
    async with market_site(folder, {"DUOLOGUE_PORT": "0"}, PEOPLE, more) as at:
        await prepare_record(at.site)
        config = replace(config_for(at.site), heartbeat_s=1.0)
        async with (
            running(at.site, redis_url, config=config, hits_every_s=0.3) as server,
            at_work(browser, server) as office,
        ):
            done = asyncio.Event()

            async def watch() -> None:
                try:
                    await eventually(lambda: enough(office), within=90)
                finally:
                    done.set()

            watching = asyncio.ensure_future(watch())
            await simulate_market(at.invitations, office.plan(PEOPLE), done.is_set)
            await watching
            yield office, at


async def ledger_is(office: Office, **states: int) -> None:
    """Wait until there are so many payments in each of these states, and no others."""

    async def so() -> bool:
        rows = [row.state for row in await office.rows(tables.ledger)]
        return {state: rows.count(state) for state in set(rows)} == states

    await eventually(so, told=str(states))


async def over_there(at: MarketSite, table: Any) -> list[Any]:
    """A table of the marketplace."""
    return await at.server.market.write(
        lambda connection, _now: list(connection.execute(select(table)))
    )


async def kept_away(at: MarketSite) -> list[str]:
    """Who bears the qualification that the study's HITs ask people not to have."""
    rows = await over_there(at, market.qualifications)
    return [row.worker_id for row in rows if row.status == "Granted"]


async def choose_payment(owner: Colleague, state: str) -> None:
    """The first payment for a dialog in this state."""
    rows = owner.get("payments-table").locator("tbody tr")
    row = rows.filter(has_text=state).filter(has_text="$1.50").first
    await row.get_by_role("checkbox").check(timeout=WAIT_MS)


async def test_payments_are_approved_and_failed_ones_tried_again(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    by_hand = paying(browser, tmp_path, redis_url, "by_hand", all_handed_in)
    async with by_hand as (office, _):
        owed = len(await office.rows(tables.ledger))
        assert owed >= PEOPLE
        await ledger_is(office, owed=owed)
        owner = await office.colleague()
        await owner.go("Money")
        await expect(owner.get("hits-table").locator("tbody tr").first).to_be_visible()
        await choose_payment(owner, "Owed")
        await expect(owner.get("approve")).to_have_text("Approve 1…")
        await owner.press("approve")
        await expect(owner.get("pay-ask")).to_contain_text("1 payment of $1.50 in all")
        await expect(owner.get("ask-submit")).to_have_text("Approve $1.50")
        await owner.submit()
        await owner.is_told("1 payment of $1.50 approved.")
        await ledger_is(office, owed=owed - 1, paid=1)
        # The page shows it without being loaded again.
        table = owner.get("payments-table")
        await expect(table.locator("tr").filter(has_text="Paid")).to_have_count(1, timeout=WAIT_MS)
        (row,) = await office.actions("ledger.approve")
        assert row.admin_id == f"ad-{owner.name}"

        failed = next(
            row
            for row in await office.rows(tables.ledger)
            if (row.state, row.cents) == ("owed", 150)
        )
        mine = (tables.ledger.c.arrival_id == failed.arrival_id) & (
            tables.ledger.c.reason == failed.reason
        )
        with office.server.service.record.engine.begin() as connection:
            broken = {"state": LedgerState.FAILED.value, "problem": "The account was empty."}
            connection.execute(update(tables.ledger).where(mine).values(broken))
        await owner.open("/monitor", "Now")
        await owner.get("attention").get_by_role("link", name="1 payment failed").click()
        await owner.shows("Money")
        await expect(table.locator("tbody tr")).to_have_count(1, timeout=WAIT_MS)
        await expect(table).to_contain_text("The account was empty.")
        await choose_payment(owner, "Failed")
        await owner.press("retry")
        await owner.submit()
        await owner.is_told("1 payment of $1.50 will be tried again.")
        await ledger_is(office, owed=owed - 2, paid=2)
        (request,) = await office.rows(tables.team_requests)
        assert (request.kind, request.target, request.state) == ("retry", failed.arrival_id, "done")
        (row,) = await office.actions("ledger.retry")
        assert (row.admin_id, row.target) == (f"ad-{owner.name}", failed.arrival_id)


async def test_what_is_done_to_a_worker_reaches_the_marketplace(
    browser: Browser, tmp_path: Path, redis_url: str
) -> None:
    paid_study = paying(browser, tmp_path, redis_url, "automatic", all_paid)
    async with paid_study as (office, at):
        owner = await office.colleague()
        await owner.go("Workers")
        paid_ones = {row.arrival_id for row in await office.rows(tables.ledger)}
        somebody = next(row for row in await office.rows(tables.arrivals) if row.id in paid_ones)
        (first,) = [
            row for row in await office.rows(tables.workers) if row.id == somebody.worker_id
        ]
        await owner.fill("filter-search", first.external_id[:8])
        rows = owner.get("workers").locator("tbody tr")
        await expect(rows).to_have_count(1, timeout=WAIT_MS)
        await rows.get_by_role("link").click()
        await owner.shows("Worker")

        await owner.fill("note-text", "Writes in whole sentences.")
        await owner.press("note-add")
        notes = owner.get("notes").locator("li")
        await expect(notes).to_contain_text("Writes in whole sentences.", timeout=WAIT_MS)
        await expect(notes).to_contain_text(owner.name)
        (note,) = await office.rows(tables.worker_notes)
        assert (note.worker_id, note.admin_id) == (first.id, f"ad-{owner.name}")

        await owner.press("act-write")
        await owner.fill("write-subject", "Your dialogs")
        await owner.fill("write-text", "They are very good.")
        await owner.submit()
        await owner.is_told("The message was handed over.")
        await owner.press("act-bonus")
        await owner.fill("bonus-amount", "0,7x")
        await owner.press("ask-submit")
        await expect(owner.get("problem")).to_contain_text("Write an amount such as 1.50")
        await owner.fill("bonus-amount", "0.75")
        await owner.fill("bonus-reason", "For the best questions.")
        await expect(owner.get("ask-submit")).to_have_text("Give $0.75")
        await owner.submit()
        await owner.is_told("A bonus of $0.75 was given.")
        await asked(owner, "message", "bonus")
        await expect(owner.get("payments")).to_contain_text("$0.75 as a bonus", timeout=WAIT_MS)
        (message,) = await over_there(at, market.messages)
        assert (message.subject, message.text) == ("Your dialogs", "They are very good.")

        async def paid() -> bool:
            given = await over_there(at, market.bonuses)
            return 75 in [bonus.amount for bonus in given]

        await eventually(paid)

        await owner.press("act-exclude")
        await owner.press("ask-submit")
        await expect(owner.get("problem")).to_have_text("Write the reason.")
        await owner.fill("exclude-reason", "Two people, one account.")
        await owner.submit()
        await expect(owner.get("excluded")).to_contain_text("Two people, one account.")
        await asked(owner, "block", "message", "bonus")
        assert await excluded(office, first.id) == "Two people, one account."
        assert await kept_away(at) == [first.external_id]
        await owner.go("Workers")
        await owner.get("filter-excluded").select_option("true")
        await expect(rows).to_have_count(1, timeout=WAIT_MS)
        await expect(rows).to_contain_text("excluded")
        await rows.get_by_role("link").click()
        await owner.press("act-allow")
        await owner.submit()
        await expect(owner.get("act-exclude")).to_be_visible(timeout=WAIT_MS)
        await asked(owner, "unblock", "block", "message", "bonus")
        assert await excluded(office, first.id) is None
        assert await kept_away(at) == []
        for what in ("note", "message", "bonus", "exclude", "allow"):
            (row,) = await office.actions(f"worker.{what}")
            assert row.admin_id == f"ad-{owner.name}"


async def asked(owner: Colleague, *kinds: str) -> None:
    """What was asked of the recruiter is shown, and shown to be done."""
    rows = owner.get("requests").locator("li")
    await expect(rows).to_have_count(len(kinds), timeout=WAIT_MS)
    for kind in kinds:
        row = rows.filter(has=owner.page.locator("b", has_text=kind)).first
        await expect(row).to_contain_text("Done", timeout=WAIT_MS)


async def excluded(office: Office, worker_id: str) -> str | None:
    (row,) = [row for row in await office.rows(tables.workers) if row.id == worker_id]
    return row.excluded_why if row.excluded_at is not None else None
