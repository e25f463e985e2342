"""Giving a bonus by hand: what keeps it from being given, told before it is written down."""

from __future__ import annotations

import re
from typing import Final

from dialogs.money import with_currency
from dialogs.record import payments as rows
from dialogs.record.erasing import erased_among
from dialogs.record.payments import PaymentRow
from dialogs.record.queries import ArrivalRow
from dialogs.record.store import Record
from dialogs.rules import LedgerState
from hit_manager.config import HitConfig
from hit_manager.outbox import Outbox

MOST_REASON: Final = 1000
"""Characters that a worker is told about a bonus: marketplaces take 1024, and a reference is added
to them."""

_NO_TEXT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def unfit(reason: str) -> str:
    """What a recruiter would refuse in a reason when the bonus is sent, long after it was given;
    empty, if nothing."""
    if not reason.strip():
        return "must say something: the worker reads it"
    if len(reason) > MOST_REASON:
        return f"must have {MOST_REASON} characters or fewer"
    if _NO_TEXT.search(reason):
        return "must be text, without control characters"
    return ""


async def erased(record: Record, row: ArrivalRow) -> str:
    """That the person of an arrival was erased; empty, if they were not."""
    if await record.read(erased_among, [row.worker_id]):
        return "was erased on request; nobody knows who to pay"
    return ""


async def given(record: Record, arrival_id: str, name: str) -> PaymentRow | None:
    """The payment of this name, such as `bonus-1f00`, that the arrival has been given already."""
    payments = await record.read(rows.payments_of, [arrival_id])
    return next((each for each in payments if each.reason == name), None)


def differs(earlier: PaymentRow, cents: int) -> str:
    """Why a bonus given before by this name is not the one that is to be given; empty, if it
    is."""
    if earlier.cents == cents and earlier.state is not LedgerState.CANCELLED:
        return ""
    amount = with_currency(earlier.cents, earlier.currency)
    return f"{earlier.reason} was given already, {amount}, and is {earlier.state.shown}"


async def unaffordable(config: HitConfig, outbox: Outbox, price: int) -> str:
    """Why the budget does not suffice for a bonus of this price, commission included; empty, if it
    does."""
    if config.budget is None:
        return ""
    left = max(config.budget - await outbox.committed(), 0)
    if price <= left:
        return ""
    needed, rest, budget = (
        with_currency(cents, config.currency) for cents in (price, left, config.budget)
    )
    return (
        f"with its commission it would take {needed}, and {rest} are left of the budget of {budget}"
    )
