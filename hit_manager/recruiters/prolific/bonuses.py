"""A payment beside the reward: set up, which is free, and then paid, which cannot be repeated.

Sources: https://docs.prolific.com/api-reference/bonuses/create-bonus-payments (amounts in pounds
or dollars, not in pence or cents; the answer in pence or cents) and
https://docs.prolific.com/api-reference/bonuses/pay-bonus-payments ("not idempotent").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final, Protocol

from hit_manager.recruiters.base import Bonus, Refused
from hit_manager.recruiters.prolific.client import Client, Repeat


class BonusStep(StrEnum):
    """The two steps of a payment."""

    CREATE = "create"
    """Nothing is paid by it. A crash before its end is no reason to look."""
    PAY = "pay"
    """From before this step the bonus may have been paid."""


Detail = Mapping[str, str | int]
"""What is known at a step. Always `before`: how many bonuses of this amount the submission had
already, which `Prolific.paid` wants to know after a crash. After `CREATE`, and before and after
`PAY`, besides: `payment`, the id of what was set up, and `total`, what it costs in cents, fees and
taxes included."""


class Steps(Protocol):
    """Is told before and after each step, and may store it; the step waits for it. An exception
    from `before` stops the payment ahead of that step."""

    async def before(self, step: BonusStep, detail: Detail) -> None: ...

    async def after(self, step: BonusStep, detail: Detail) -> None: ...


class _NoSteps:
    async def before(self, step: BonusStep, detail: Detail) -> None:
        pass

    async def after(self, step: BonusStep, detail: Detail) -> None:
        pass


NO_STEPS: Final[Steps] = _NoSteps()


def major_units(cents: int) -> str:
    """An amount as the set-up wants it: 425 is "4.25"."""
    return f"{cents // 100}.{cents % 100:02d}"


async def pay(
    client: Client, bonus: Bonus, before: int, steps: Steps, sending: Callable[[], None]
) -> None:
    """Take both steps for one submission; `sending` is called around the second.

    Raises:
        Unsure: the second step may have been carried out.
    """
    known: Detail = {"before": before}
    await steps.before(BonusStep.CREATE, known)
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
    detail: Detail = {
        **known,
        "payment": str(made["id"]),
        "total": int(made["total_amount"]),
    }
    await steps.after(BonusStep.CREATE, detail)
    await steps.before(BonusStep.PAY, detail)
    sending()
    try:
        await client.post(f"bulk-bonus-payments/{made['id']}/pay/", None, Repeat.ONCE)
    finally:
        sending()
    await steps.after(BonusStep.PAY, detail)
