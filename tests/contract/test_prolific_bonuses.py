"""The two steps of a bonus on Prolific, each with its answer lost, and how payment is found out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio

from hit_manager.recruiters.base import Bonus, NoFunds, NotYet, Refused, Unavailable, Unsure
from hit_manager.recruiters.prolific import BonusStep, bonuses
from hit_manager.recruiters.prolific.bonuses import Detail
from tests.contract.prolific_server import Trouble
from tests.contract.prolific_stage import CODES, ProlificStage
from tests.contract.recruiters import Visit

PAY = r"/pay/$"
CREATE = r"submissions/bonus-payments/$"


@dataclass
class Diary:
    """Steps as they were told; `stop_at` is where the one who stores them fails."""

    stop_at: tuple[str, BonusStep] | None = None
    told: list[tuple[str, BonusStep, Detail]] = field(default_factory=list)

    async def before(self, step: BonusStep, detail: Detail) -> None:
        self.told.append(("before", step, detail))
        if self.stop_at == ("before", step):
            raise RuntimeError("the record cannot be written")

    async def after(self, step: BonusStep, detail: Detail) -> None:
        self.told.append(("after", step, detail))

    @property
    def steps(self) -> list[tuple[str, BonusStep]]:
        return [(when, step) for when, step, _ in self.told]


ALL_STEPS = [
    ("before", BonusStep.CREATE),
    ("after", BonusStep.CREATE),
    ("before", BonusStep.PAY),
    ("after", BonusStep.PAY),
]


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


async def test_each_step_is_told_before_and_after(stage: ProlificStage, visit: Visit) -> None:
    diary = Diary()
    await stage.prolific.pay(bonus_for(visit), diary)
    assert diary.steps == ALL_STEPS
    (payment,) = stage.world.payments.values()
    assert diary.told[0][2] == {"before": 0}
    for _, _, detail in diary.told[1:]:
        assert detail == {"before": 0, "payment": payment.id, "total": 595}


@pytest.mark.parametrize("step", list(BonusStep))
async def test_nothing_is_paid_that_was_not_stored(
    stage: ProlificStage, visit: Visit, step: BonusStep
) -> None:
    diary = Diary(stop_at=("before", step))
    with pytest.raises(RuntimeError):
        await stage.prolific.pay(bonus_for(visit), diary)
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
        await stage.prolific.pay(bonus_for(visit), diary)
    assert diary.steps == ALL_STEPS[:3]
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
        await stage.prolific.pay(bonus_for(visit), diary)
    before = int(diary.told[-1][2]["before"])
    recruiter = await stage.again()
    with pytest.raises(NotYet):
        await recruiter.paid(bonus_for(visit), before)
    stage.world.move(301.0)
    stage.seconds += 301.0
    assert await recruiter.paid(bonus_for(visit), before) is True
    # Without what was stored, the amount may be another bonus.
    assert await recruiter.paid(bonus_for(visit)) is None


async def test_a_new_process_says_no_in_the_end(stage: ProlificStage, visit: Visit) -> None:
    await stage.prolific.pay(bonus_for(visit))
    recruiter = await stage.again()
    with pytest.raises(NotYet):
        await recruiter.paid(bonus_for(visit, key="pay-2"), before=1)
    with pytest.raises(NotYet):
        await recruiter.paid(bonus_for(visit, 75, "pay-3"))
    stage.seconds += stage.config.paid_within_s
    assert await recruiter.paid(bonus_for(visit, key="pay-2"), before=1) is False
    assert await recruiter.paid(bonus_for(visit, 75, "pay-3")) is False


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


async def test_another_persons_submission_is_not_paid(stage: ProlificStage, visit: Visit) -> None:
    other = await stage.take(visit.hit_id)
    mixed = Bonus("pay-1", visit.assignment_id, visit.hit_id, other.worker_id, 425, "USD", "")
    with pytest.raises(Refused, match="another person's"):
        await stage.prolific.pay(mixed)
    assert list(await stage.bonuses(visit)) == []
    assert not any("bonus" in call for call in stage.server.calls)
