"""What work costs and where the money is. All amounts are US cents.

Fees as Amazon printed them (mturk.com/pricing): 20 % of a reward and of a bonus; another 20 %
of the reward for HITs of ten and more assignments; another 5 % of the reward for HITs that ask
for Masters; never less than a cent. Above a cent, fractions of a cent are rounded half up.

A requester's money is `available` or `on_hold`. A HIT holds the cost of every assignment that
may still be approved; what is approved is paid from there, and what can no longer be approved
comes back.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from sqlalchemy import Connection, select, update

from hit_manager.marketplace.errors import InsufficientFunds
from hit_manager.marketplace.tables import hits, requesters

BASE_PERCENT: Final = 20
MANY_PERCENT: Final = 20
MASTERS_PERCENT: Final = 5
MANY_ASSIGNMENTS: Final = 10
LEAST_FEE: Final = 1

MASTERS: Final = frozenset({"2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"})
"""The ids of the Masters qualification in production and in the sandbox."""


@dataclass(frozen=True, slots=True)
class Balance:
    """What a requester has, in cents."""

    available: int
    on_hold: int


def percentage(amount: int, percent: int) -> int:
    """So many percent of an amount in cents, rounded half up, and a cent at the least."""
    exact = Decimal(amount) * percent / 100
    return max(LEAST_FEE, int(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP)))


def reward_fee(reward: int, max_assignments: int, required_types: Collection[str]) -> int:
    """The fee on one approved assignment, in cents."""
    percent = BASE_PERCENT
    if max_assignments >= MANY_ASSIGNMENTS:
        percent += MANY_PERCENT
    if not MASTERS.isdisjoint(required_types):
        percent += MASTERS_PERCENT
    return percentage(reward, percent)


def bonus_fee(amount: int) -> int:
    """The fee on a bonus, in cents."""
    return percentage(amount, BASE_PERCENT)


def cents(dollars: str) -> int:
    """The cents in an amount as the API writes it: "5", "5.", "0.5", "101.42"."""
    return int(Decimal(dollars) * 100)


def dollars(amount: int) -> str:
    """Cents as the API writes them, always with two decimals."""
    return f"{amount // 100}.{amount % 100:02d}"


def balance(connection: Connection, requester_id: str) -> Balance:
    row = connection.execute(
        select(requesters.c.available, requesters.c.on_hold).where(requesters.c.id == requester_id)
    ).one()
    return Balance(row.available, row.on_hold)


def deposit(connection: Connection, requester_id: str, amount: int) -> None:
    """Add money that can be spent."""
    connection.execute(
        update(requesters)
        .where(requesters.c.id == requester_id)
        .values(available=requesters.c.available + amount)
    )


def hold(connection: Connection, requester_id: str, hit_id: str, amount: int) -> None:
    """Let a HIT hold exactly `amount`, taking from or giving back to what is available.

    Raises:
        InsufficientFunds: less than the difference is available.
    """
    held = connection.execute(select(hits.c.held).where(hits.c.id == hit_id)).scalar_one()
    more = amount - held
    if not more:
        return
    _take(connection, requester_id, available=more, on_hold=-more)
    connection.execute(update(hits).where(hits.c.id == hit_id).values(held=amount))


def pay_held(connection: Connection, requester_id: str, hit_id: str, amount: int) -> None:
    """Spend `amount` of what a HIT holds; what it does not hold is taken from the available.

    Raises:
        InsufficientFunds: both together do not suffice.
    """
    held = connection.execute(select(hits.c.held).where(hits.c.id == hit_id)).scalar_one()
    from_hold = min(held, amount)
    _take(connection, requester_id, available=amount - from_hold, on_hold=from_hold)
    connection.execute(update(hits).where(hits.c.id == hit_id).values(held=held - from_hold))


def pay(connection: Connection, requester_id: str, amount: int) -> None:
    """Spend `amount` of what is available.

    Raises:
        InsufficientFunds: less is available.
    """
    _take(connection, requester_id, available=amount, on_hold=0)


def _take(connection: Connection, requester_id: str, *, available: int, on_hold: int) -> None:
    now = balance(connection, requester_id)
    if now.available < available:
        raise InsufficientFunds(
            "This Requester has insufficient funds in their account to complete this "
            f"transaction: {dollars(available)} are needed and {dollars(now.available)} available."
        )
    connection.execute(
        update(requesters)
        .where(requesters.c.id == requester_id)
        .values(available=now.available - available, on_hold=now.on_hold - on_hold)
    )
