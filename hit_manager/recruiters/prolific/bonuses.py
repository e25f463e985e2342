"""A payment beside the reward: set up, which is free, and then paid, which cannot be repeated.

Sources: https://docs.prolific.com/api-reference/bonuses/create-bonus-payments (amounts in pounds
or dollars, not in pence or cents; the answer in pence or cents) and
https://docs.prolific.com/api-reference/bonuses/pay-bonus-payments ("not idempotent").
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from hit_manager.recruiters.base import Bonus, Keep, Known, Refused
from hit_manager.recruiters.prolific.client import Client, Repeat


class BonusStep(StrEnum):
    """The two steps of a payment. What is kept ahead of each holds its name as `step`, and as
    `before` how many bonuses of this amount the submission had already; ahead of `PAY` besides
    `payment`, the id of what was set up, and `total`, what it costs in cents, fees and taxes
    included."""

    CREATE = "create"
    """Nothing is paid by it. A crash before its end is no reason to look."""
    PAY = "pay"
    """From before this step the bonus may have been paid."""


def major_units(cents: int) -> str:
    """An amount as the set-up wants it: 425 is "4.25"."""
    return f"{cents // 100}.{cents % 100:02d}"


async def pay(
    client: Client, bonus: Bonus, before: int, keep: Keep, sending: Callable[[], None]
) -> None:
    """Take both steps for one submission; `sending` is called around the second.

    Raises:
        Unsure: the second step may have been carried out.
    """
    known: Known = {"before": before}
    await keep({**known, "step": BonusStep.CREATE.value})
    # One submission at a time: a wrong one among many fails all, and what a submission has been
    # paid is all there is to look at after a lost answer.
    made: dict[str, Any] = await client.post(
        "submissions/bonus-payments/",
        {
            "study_id": bonus.hit_id,
            "csv_bonuses": f"{bonus.assignment_id},{major_units(bonus.cents)}",
        },
        Repeat.HARMLESS,
    )
    if made.get("amount") != bonus.cents:
        raise Refused(
            f"Prolific would pay {made.get('amount')} instead of {bonus.cents} cents: nothing "
            "has been paid"
        )
    set_up: Known = {"payment": str(made["id"]), "total": int(made["total_amount"])}
    await keep({**known, "step": BonusStep.PAY.value, **set_up})
    sending()
    try:
        await client.post(f"bulk-bonus-payments/{made['id']}/pay/", None, Repeat.ONCE)
    except Refused:
        # A plain no: nothing is on its way, and a later bonus must not be taken for this one.
        await keep({**known, "step": BonusStep.CREATE.value})
        raise
    finally:
        sending()
