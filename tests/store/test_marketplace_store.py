"""The marketplace's database: whose it is, and many who want the same at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from sqlalchemy import Connection, insert, select, update

from dialogs.record.errors import CannotOpen
from hit_manager.marketplace import assignments, hit_types, hits, money, workers
from hit_manager.marketplace.clock import MovableClock
from hit_manager.marketplace.core import SETTLED_AT_ONCE, Marketplace
from hit_manager.marketplace.errors import NoMoreAssignments, Refused
from hit_manager.marketplace.states import HitStatus
from hit_manager.marketplace.store import Store
from hit_manager.marketplace.tables import marketplace, requesters

TYPE = hit_types.TypeDraft("Talk", "Two people talk", "", 50, 600, 3600)


@pytest_asyncio.fixture
async def market(empty_database_url: str) -> AsyncIterator[Marketplace]:
    clock = MovableClock()
    store = Store(empty_database_url, clock)
    store.open()
    yield Marketplace(store, clock, "http://market.test")
    await store.close()


async def posted(market: Marketplace, number: int = 1, seats: int = 1) -> tuple[str, list[str]]:
    """A requester with so many HITs."""

    def post(connection: Connection, now: float) -> tuple[str, list[str]]:
        requester = workers.create_requester(connection, now, "A lab", 10_000_000)
        kind = hit_types.register_type(connection, now, requester, TYPE)
        made = [
            hits.create(
                connection,
                now,
                requester,
                kind,
                question="<q/>",
                max_assignments=seats,
                lifetime_s=3600,
            ).id
            for _ in range(number)
        ]
        return requester, made

    return await market.write(post)


async def test_a_slot_is_taken_once(market: Marketplace) -> None:
    _, [hit_id] = await posted(market, seats=3)
    people = [await market.write(workers.create_worker) for _ in range(12)]
    results = await asyncio.gather(
        *(market.write(assignments.accept, worker, hit_id) for worker in people),
        return_exceptions=True,
    )
    assert sum(isinstance(result, assignments.Assignment) for result in results) == 3
    assert sum(isinstance(result, NoMoreAssignments) for result in results) == 9


async def test_two_processes_do_not_spend_the_same_money(
    market: Marketplace, empty_database_url: str
) -> None:
    requester, _ = await posted(market)
    await market.write(_have, requester, 100)
    other = Store(empty_database_url, market.clock)
    other.open()
    results = await asyncio.gather(
        *(store.write(_spend, requester) for store in (market.store, other) for _ in range(10)),
        return_exceptions=True,
    )
    await other.close()
    assert sum(result is None for result in results) == 10
    assert sum(isinstance(result, Refused) for result in results) == 10
    left = await market.read(lambda c, _: money.balance(c, requester))
    assert left.available == 0


def _have(connection: Connection, _now: float, requester_id: str, amount: int) -> None:
    connection.execute(
        update(requesters).where(requesters.c.id == requester_id).values(available=amount)
    )


def _spend(connection: Connection, _now: float, requester_id: str) -> None:
    money.pay(connection, requester_id, 10)


async def test_what_is_refused_changes_nothing(market: Marketplace) -> None:
    requester, _ = await posted(market)

    def pay_and_fail(connection: Connection, _now: float) -> None:
        money.pay(connection, requester, 10)
        raise Refused("No.")

    before = await market.read(lambda c, _: money.balance(c, requester))
    with pytest.raises(Refused):
        await market.write(pay_and_fail)
    assert await market.read(lambda c, _: money.balance(c, requester)) == before


async def test_much_that_is_due_is_settled_in_parts(market: Marketplace) -> None:
    number = SETTLED_AT_ONCE + 5
    requester, made = await posted(market, number)
    market.clock.advance(3601)  # type: ignore[attr-defined]
    found = await market.read(hits.get, made[-1])
    assert found.status is HitStatus.REVIEWABLE
    assert not await market.tick()
    assert (await market.read(lambda c, _: money.balance(c, requester))).on_hold == 0


async def test_opened_again_it_is_the_same(empty_database_url: str) -> None:
    secrets = []
    for _ in range(2):
        store = Store(empty_database_url, MovableClock())
        store.open()
        secrets.append(store.secret)
        await store.close()
    assert secrets[0] == secrets[1]
    assert len(secrets[0]) == 32


async def test_another_programs_tables_are_left_alone(sqlite_url: str) -> None:
    store = Store(sqlite_url, MovableClock())
    with pytest.raises(CannotOpen, match="another program"):
        store.open()
    await store.close()


async def test_another_versions_tables_are_left_alone(market: Marketplace) -> None:
    def raise_version(connection: Connection, _now: float) -> None:
        row = connection.execute(select(marketplace)).one()
        connection.execute(marketplace.delete())
        connection.execute(
            insert(marketplace).values(version=99, created_at=row.created_at, secret=row.secret)
        )

    await market.store.write(raise_version)
    with pytest.raises(CannotOpen, match="version 99"):
        market.store.open()
