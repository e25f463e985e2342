"""The two steps of a bonus on Prolific, each with its answer lost, and how payment is found out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import pytest_asyncio

from hit_manager.recruiters.base import (
    Bonus,
    Known,
    NoFunds,
    NotYet,
    Refused,
    Unavailable,
    Unsure,
)
from hit_manager.recruiters.prolific import BonusStep, bonuses
from tests.contract.prolific_server import Trouble
from tests.contract.prolific_stage import CODES, ProlificStage
from tests.contract.recruiters import Visit

PAY = r"/pay/$"
CREATE = r"submissions/bonus-payments/$"


@dataclass
class Diary:
    """What was kept, in order; `stop_at` is the step ahead of which it cannot be kept."""

    stop_at: BonusStep | None = None
    told: list[Known] = field(default_factory=list)

    async def keep(self, known: Known) -> None:
        self.told.append(known)
        if known["step"] == self.stop_at:
            raise RuntimeError("the record cannot be written")

    @property
    def steps(self) -> list[object]:
        return [known["step"] for known in self.told]


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[ProlificStage]:
    async with ProlificStage.opened(tmp_path) as opened:
        yield opened


@pytest_asyncio.fixture
async def visit(stage: ProlificStage) -> Visit:
    hit = await stage.prolific.post(stage.posting("hit-1", seats=2))
    visit = await stage.take(hit.id)
    await stage.submit(visit, CODES.completed)
    return visit


def bonus_for(visit: Visit, cents: int = 425, key: str = "pay-1") -> Bonus:
    return Bonus(
        key, visit.assignment_id, visit.hit_id, visit.worker_id, cents, "USD", "For your time."
    )


@pytest.mark.parametrize("cents", [1, 5, 99, 100, 425, 3000])
async def test_cents_arrive_as_cents(stage: ProlificStage, visit: Visit, cents: int) -> None:
    await stage.prolific.pay(bonus_for(visit, cents))
    assert list(await stage.bonuses(visit)) == [cents]
    assert await stage.prolific.paid(bonus_for(visit, cents)) is True


async def test_another_amount_than_ours_is_not_paid(
    stage: ProlificStage, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bonuses, "major_units", str)
    with pytest.raises(Refused, match="42500 instead of 425"):
        await stage.prolific.pay(bonus_for(visit))
    assert list(await stage.bonuses(visit)) == []


async def test_what_must_be_known_is_kept_ahead_of_each_step(
    stage: ProlificStage, visit: Visit
) -> None:
    diary = Diary()
    await stage.prolific.pay(bonus_for(visit), diary.keep)
    (payment,) = stage.world.payments.values()
    assert diary.told == [
        {"step": "create", "before": 0},
        {"step": "pay", "before": 0, "payment": payment.id, "total": 595},
    ]


@pytest.mark.parametrize("step", list(BonusStep))
async def test_nothing_is_paid_that_was_not_stored(
    stage: ProlificStage, visit: Visit, step: BonusStep
) -> None:
    diary = Diary(stop_at=step)
    with pytest.raises(RuntimeError):
        await stage.prolific.pay(bonus_for(visit), diary.keep)
    assert list(await stage.bonuses(visit)) == []
    # Whoever starts again sets up anew; what was set up costs nothing.
    await stage.prolific.pay(bonus_for(visit))
    assert list(await stage.bonuses(visit)) == [425]


@pytest.mark.parametrize("trouble", sorted(set(Trouble) - {Trouble.MOVED}))
async def test_trouble_while_setting_up_is_no_trouble(
    stage: ProlificStage, visit: Visit, trouble: Trouble
) -> None:
    stage.server.trouble(trouble, 2, path=CREATE)
    await stage.prolific.pay(bonus_for(visit))
    assert list(await stage.bonuses(visit)) == [425]
    assert len(stage.waits) == 2


async def test_a_set_up_that_never_answers_has_paid_nothing(
    stage: ProlificStage, visit: Visit
) -> None:
    stage.server.trouble(Trouble.LOST, 99, path=CREATE)
    with pytest.raises(Unavailable) as refused:
        await stage.prolific.pay(bonus_for(visit))
    assert not isinstance(refused.value, Unsure)
    stage.server.plans.clear()
    assert list(await stage.bonuses(visit)) == []


@pytest.mark.parametrize(
    ("trouble", "arrived"),
    [(Trouble.LOST, True), (Trouble.BAD_GATEWAY_AFTER, True), (Trouble.BAD_GATEWAY, False)],
)
async def test_a_payment_whose_answer_is_lost_is_looked_at_and_not_repeated(
    stage: ProlificStage, visit: Visit, trouble: Trouble, arrived: bool
) -> None:
    diary = Diary()
    stage.server.trouble(trouble, path=PAY)
    with pytest.raises(Unsure):
        await stage.prolific.pay(bonus_for(visit), diary.keep)
    assert diary.steps == list(BonusStep)
    assert sum(call.endswith("/pay/") for call in stage.server.calls) == 1
    assert stage.waits == []
    stage.seconds += 60
    if arrived:
        assert await stage.prolific.paid(bonus_for(visit)) is True
    else:
        with pytest.raises(NotYet):
            await stage.prolific.paid(bonus_for(visit))
    stage.seconds += stage.config.paid_within_s
    assert await stage.prolific.paid(bonus_for(visit)) is arrived
    if not arrived:
        await stage.prolific.pay(bonus_for(visit))
    assert list(await stage.bonuses(visit)) == [425]
    (most,) = {p.times_paid for p in stage.world.payments.values()} - {0}
    assert most == 1


async def test_a_throttled_payment_is_sent_again(stage: ProlificStage, visit: Visit) -> None:
    stage.server.trouble(Trouble.THROTTLED, 3, path=PAY)
    await stage.prolific.pay(bonus_for(visit))
    assert list(await stage.bonuses(visit)) == [425]
    assert len(stage.waits) == 3


async def test_the_fake_pays_twice_what_is_asked_for_twice(
    stage: ProlificStage, visit: Visit
) -> None:
    await stage.prolific.pay(bonus_for(visit))
    await stage.prolific.pay(bonus_for(visit))
    assert list(await stage.bonuses(visit)) == [425, 425]


async def test_a_payment_takes_minutes_to_be_seen(stage: ProlificStage, visit: Visit) -> None:
    stage.world.payments_take_s = 300.0
    stage.server.trouble(Trouble.LOST, path=PAY)
    with pytest.raises(Unsure):
        await stage.prolific.pay(bonus_for(visit))
    with pytest.raises(NotYet):
        await stage.prolific.paid(bonus_for(visit))
    stage.world.move(301.0)
    stage.seconds += 301.0
    assert await stage.prolific.paid(bonus_for(visit)) is True


async def test_a_new_process_does_not_say_no_too_early(stage: ProlificStage, visit: Visit) -> None:
    """Killed between the payment and its answer: the next one knows only what was stored."""
    stage.world.payments_take_s = 300.0
    diary = Diary()
    stage.server.trouble(Trouble.LOST, path=PAY)
    with pytest.raises(Unsure):
        await stage.prolific.pay(bonus_for(visit), diary.keep)
    known = replace(bonus_for(visit), known=diary.told[-1])
    recruiter = await stage.again()
    with pytest.raises(NotYet):
        await recruiter.paid(known)
    stage.world.move(301.0)
    stage.seconds += 301.0
    assert await recruiter.paid(known) is True


async def test_a_new_process_says_no_in_the_end(stage: ProlificStage, visit: Visit) -> None:
    await stage.prolific.pay(bonus_for(visit))
    recruiter = await stage.again()
    second = replace(bonus_for(visit, key="pay-2"), known={"step": "pay", "before": 1})
    with pytest.raises(NotYet):
        await recruiter.paid(second)
    third = replace(bonus_for(visit, 75, "pay-3"), known={"step": "pay", "before": 0})
    with pytest.raises(NotYet):
        await recruiter.paid(third)
    stage.seconds += stage.config.paid_within_s
    assert await recruiter.paid(second) is False
    assert await recruiter.paid(third) is False


async def test_bonuses_that_could_not_be_told_apart_do_not_overlap(
    stage: ProlificStage, visit: Visit
) -> None:
    stage.world.payments_take_s = 300.0
    first, second = bonus_for(visit, key="pay-1"), bonus_for(visit, key="pay-2")
    stage.server.trouble(Trouble.LOST, path=PAY)
    with pytest.raises(Unsure):
        await stage.prolific.pay(first)
    with pytest.raises(NotYet):
        await stage.prolific.pay(second)
    # One of another amount is no matter.
    await stage.prolific.pay(bonus_for(visit, 75, "pay-3"))
    stage.world.move(301.0)
    assert await stage.prolific.paid(first) is True
    await stage.prolific.pay(second)
    # It is not listed yet, and the first is not taken for it.
    with pytest.raises(NotYet):
        await stage.prolific.paid(second)
    stage.world.move(301.0)
    assert await stage.prolific.paid(second) is True
    assert sorted(await stage.bonuses(visit)) == [75, 425, 425]


async def test_one_of_the_same_amount_a_moment_later_is_told_apart(
    stage: ProlificStage, visit: Visit
) -> None:
    stage.world.payments_take_s = 300.0
    await stage.prolific.pay(bonus_for(visit, key="pay-1"))
    stage.server.trouble(Trouble.BAD_GATEWAY, path=PAY)
    with pytest.raises(Unsure):
        await stage.prolific.pay(bonus_for(visit, key="pay-2"))
    stage.world.move(301.0)
    stage.seconds += stage.config.paid_within_s
    assert await stage.prolific.paid(bonus_for(visit, key="pay-1")) is True
    assert await stage.prolific.paid(bonus_for(visit, key="pay-2")) is False


async def test_an_empty_wallet_pays_nothing(stage: ProlificStage, visit: Visit) -> None:
    stage.world.balance = 100
    with pytest.raises(NoFunds):
        await stage.prolific.pay(bonus_for(visit))
    assert list(await stage.bonuses(visit)) == []


async def test_what_was_refused_is_in_nobodys_way_and_not_taken_for_paid(
    stage: ProlificStage, visit: Visit
) -> None:
    first, second, diary = bonus_for(visit, key="pay-1"), bonus_for(visit, key="pay-2"), Diary()
    full, stage.world.balance = stage.world.balance, 100
    with pytest.raises(NoFunds):
        await stage.prolific.pay(first, diary.keep)
    stage.world.balance = full
    await stage.prolific.pay(second)
    known = replace(first, known=diary.told[-1])
    assert await stage.prolific.paid(known) is False
    assert await (await stage.again()).paid(known) is False
    await stage.prolific.pay(known)
    assert list(await stage.bonuses(visit)) == [425, 425]


async def test_another_persons_submission_is_not_paid(stage: ProlificStage, visit: Visit) -> None:
    other = await stage.take(visit.hit_id)
    mixed = Bonus("pay-1", visit.assignment_id, visit.hit_id, other.worker_id, 425, "USD", "")
    with pytest.raises(Refused, match="another person's"):
        await stage.prolific.pay(mixed)
    assert list(await stage.bonuses(visit)) == []
    assert not any("bonus" in call for call in stage.server.calls)


async def test_what_was_only_being_set_up_was_not_paid(stage: ProlificStage, visit: Visit) -> None:
    """Killed before the second step: the next one need not wait to know."""
    await stage.prolific.pay(bonus_for(visit, key="pay-1"))
    recruiter = await stage.again()
    begun = replace(bonus_for(visit, key="pay-2"), known={"step": "create", "before": 1})
    assert await recruiter.paid(begun) is False
    # Or even before the first.
    assert await recruiter.paid(replace(begun, known={})) is False


async def test_what_is_paid_and_not_listed_yet_counts_after_a_restart(
    stage: ProlificStage, visit: Visit
) -> None:
    stage.world.payments_take_s = 300.0
    await stage.prolific.pay(bonus_for(visit, key="pay-1"))
    recruiter, diary = await stage.again(), Diary()
    second = replace(bonus_for(visit, key="pay-2"), earlier=1)
    stage.server.trouble(Trouble.BAD_GATEWAY, path=PAY)
    with pytest.raises(Unsure):
        await recruiter.pay(second, diary.keep)
    stage.world.move(301.0)
    stage.seconds += stage.config.paid_within_s
    third = await stage.again()
    second = replace(second, known=diary.told[-1])
    with pytest.raises(NotYet):
        await third.paid(second)
    stage.seconds += stage.config.paid_within_s
    assert await third.paid(second) is False
