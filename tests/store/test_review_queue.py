"""The queue of a review: what waits for whom, in which order, and who has what in hand."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import select

from dialogs.record.errors import Conflict
from dialogs.record.judging import Overtaken
from dialogs.record.review_desk import ReviewDesk
from dialogs.record.review_queue import CLAIM_S, Filters, claimed
from dialogs.record.store import Record
from dialogs.record.tables import erasures, judgements, ledger, relaunches, review_claims, seats
from dialogs.rules import Acceptance, Ending, LedgerState, Outcome, Phase
from tests.records import STUDY, rows_of
from tests.recruiting import add_dialog, add_items
from tests.reviews import ANY, ENDED_AT, Review, add_admins, reviewing

ACCEPTED, REJECTED = Acceptance.ACCEPTED, Acceptance.REJECTED


async def order(review: Review, admin: str = "ada", filters: Filters = ANY) -> list[str]:
    """What this reviewer is given, one after the other; nothing is judged."""
    desk, seen = review.desk(), list[str]()
    while (given := await desk.next(admin, filters)) and given.dialog_id not in seen:
        seen.append(given.dialog_id)
        await desk.skip(admin, given.dialog_id)
    assert await desk.waiting(admin, filters) == len(seen)
    for dialog in seen:
        await desk.skip(admin, dialog)
    return seen


async def test_what_waits_longest_comes_first(database_url: str) -> None:
    async with reviewing(database_url) as review:
        paid, owed = LedgerState.PAID, LedgerState.OWED
        complete = review.ended(state=paid)
        review.ended(Outcome.SOLO, state=paid)
        solo_owed = review.ended(Outcome.SOLO, state=owed)
        review.ended(Outcome.ABANDONED, cents=0)
        flagged = review.ended(Outcome.ABANDONED, cents=0, flags=("gibberish",))
        last = review.ended()
        review.write(add_items, ["running"])
        review.write(add_dialog, "running", "running", phase=Phase.PAIRED)
        assert await order(review) == [complete, solo_owed, flagged, last]
        desk = review.desk()
        await desk.judge("bob", complete, ACCEPTED)
        await desk.judge("bob", solo_owed, None)
        await desk.judge("bob", flagged, None)
        assert await order(review) == [last]
        assert await order(review, "bob") == [last]


FILTERS: dict[str, tuple[Filters, list[int]]] = {
    "a flag": (Filters(flag="copied"), [1, 3]),
    "another flag": (Filters(flag="short"), [3]),
    "a flag that nobody has": (Filters(flag="none"), []),
    "no flag": (Filters(unflagged=True), [0, 2]),
    "a worker": (Filters(worker="worker-2a"), [2]),
    "complete": (Filters(outcome=Ending.COMPLETE), [0, 1, 3]),
    "not complete": (Filters(complete=False), [2]),
    "since": (Filters(since=ENDED_AT + 2), [2, 3]),
    "until": (Filters(until=ENDED_AT + 2), [0, 1]),
    "several": (Filters(flag="copied", since=ENDED_AT + 2, outcome=Ending.COMPLETE), [3]),
}


@pytest.mark.parametrize(("filters", "expected"), FILTERS.values(), ids=FILTERS)
async def test_a_reviewer_is_given_what_they_ask_for(
    database_url: str, filters: Filters, expected: list[int]
) -> None:
    async with reviewing(database_url) as review:
        for outcome, flags in (
            (Outcome.COMPLETE, ()),
            (Outcome.COMPLETE, ("copied",)),
            (Outcome.SOLO, ()),
            (Outcome.COMPLETE, ("copied", "short")),
        ):
            review.ended(outcome, flags=flags)
        assert await order(review, filters=filters) == [f"d{n}" for n in expected]


async def test_a_dialog_stays_with_whoever_has_it_as_long_as_they_ask(database_url: str) -> None:
    async with reviewing(database_url) as review:
        review.ended()
        review.ended()
        desk = review.desk()
        first = await desk.next("ada", ANY)
        assert first is not None
        assert first.until == pytest.approx(review.clock.at + CLAIM_S, abs=1.0)
        review.clock.at += CLAIM_S - 10.0
        again = await desk.next("ada", ANY)
        assert again is not None
        assert again.dialog_id == first.dialog_id
        review.clock.at += CLAIM_S - 10.0
        other = await desk.next("bob", ANY)
        assert other is not None
        assert other.dialog_id != first.dialog_id
        assert await desk.next("cleo", ANY) is None
        assert await desk.waiting("cleo", ANY) == 0
        # Ada has gone for lunch.
        review.clock.at += 20.0
        third = await desk.next("cleo", ANY)
        assert third is not None
        assert third.dialog_id == first.dialog_id
        assert await desk.next("ada", ANY) is None
        assert len(rows_of(review.record, review_claims)) == 2


async def test_a_claim_of_a_clock_that_ran_ahead_holds_nothing(database_url: str) -> None:
    async with reviewing(database_url) as review:
        review.ended()
        desk = review.desk()
        review.clock.at += 3600.0
        ahead = await desk.next("ada", ANY)
        review.clock.at -= 3600.0
        assert ahead is not None
        assert await desk.waiting("bob", ANY) == 1
        given = await desk.next("bob", ANY)
        assert given is not None
        assert given.dialog_id == ahead.dialog_id
        assert given.until == pytest.approx(review.clock.at + CLAIM_S, abs=1.0)
        assert await desk.next("cleo", ANY) is None


async def test_a_reviewer_has_one_dialog_at_a_time(database_url: str) -> None:
    async with reviewing(database_url) as review:
        flagged = review.ended(flags=("copied",))
        plain = review.ended()
        desk = review.desk()
        assert (given := await desk.next("ada", ANY)) is not None
        assert given.dialog_id == flagged
        assert (given := await desk.next("ada", Filters(unflagged=True))) is not None
        assert given.dialog_id == plain
        assert (given := await desk.next("bob", ANY)) is not None
        assert given.dialog_id == flagged
        # Who asks for what nobody has gives back what they had.
        assert await desk.next("ada", Filters(flag="none")) is None
        assert [row["admin_id"] for row in rows_of(review.record, review_claims)] == ["bob"]


async def test_what_is_skipped_comes_after_everything_else(database_url: str) -> None:
    async with reviewing(database_url) as review:
        names = [review.ended() for _ in range(3)]
        desk = review.desk()
        await desk.next("ada", ANY)
        await desk.skip("ada", names[0])
        assert (given := await desk.next("bob", ANY)) is not None
        assert given.dialog_id == names[0], "somebody else may have it"
        for expected in names[1:]:
            assert (given := await desk.next("ada", ANY)) is not None
            assert given.dialog_id == expected
            await desk.judge("ada", expected, ACCEPTED)
        assert await desk.next("ada", ANY) is None
        await desk.skip("bob", names[0])
        assert (given := await desk.next("ada", ANY)) is not None
        assert given.dialog_id == names[0]


async def test_a_second_judge_is_somebody_else(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended()
        desk = review.desk(twice=1.0)
        assert (given := await desk.next("ada", ANY)) is not None
        assert not given.second
        await desk.judge("ada", dialog, ACCEPTED)
        assert await desk.next("ada", ANY) is None
        assert await desk.waiting("ada", ANY) == 0
        assert await desk.waiting("bob", ANY) == 1
        assert (given := await desk.next("bob", ANY)) is not None
        assert given.second
        assert await desk.next("cleo", ANY) is None
        await desk.judge("bob", dialog, ACCEPTED)
        assert await desk.next("cleo", ANY) is None


async def test_what_was_judged_as_it_was_taken_is_not_given(database_url: str) -> None:
    """A claim and a judgement of somebody who holds none, in one transaction of the writer."""
    async with reviewing(database_url) as review:
        solo, other = review.ended(Outcome.SOLO), review.ended()
        desk, rival = review.desk(), review.desk()
        look = desk._look

        def meanwhile(*args: Any) -> Any:
            found = look(*args)
            if found[1].dialog_id == solo and not rows_of(review.record, judgements):
                asyncio.run_coroutine_threadsafe(rival.judge("bob", solo, None), loop).result(10)
            return found

        loop = asyncio.get_running_loop()
        desk._look = meanwhile  # type: ignore[method-assign]
        assert (given := await desk.next("ada", ANY)) is not None
        assert given.dialog_id == other


async def test_of_two_who_take_the_same_one_does(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended()
        now = review.clock()
        commit = review.record.writer.commit
        results = await asyncio.gather(
            *(commit(claimed(dialog, name, None, None, now)) for name in ("ada", "bob", "cleo")),
            return_exceptions=True,
        )
        assert [type(r) for r in results].count(Conflict) == 2
        assert len(rows_of(review.record, review_claims)) == 1


async def test_no_dialog_is_given_to_two_of_many_reviewers(database_url: str) -> None:
    """Twelve people in two processes, each judging what they are given, until nothing is left."""
    names = [f"reviewer-{n}" for n in range(12)]
    async with reviewing(database_url, *names, serving=False) as review:
        dialogs = [review.ended(item=None) for _ in range(60)]
        other = Record(database_url, serving=False)
        other.writer.start()
        desks = [review.desk(), review.desk(record=other)]
        given: list[tuple[str, str]] = []

        async def work(n: int) -> None:
            desk = desks[n % 2]
            while (one := await desk.next(names[n], ANY)) is not None:
                given.append((one.dialog_id, names[n]))
                verdict = REJECTED if n % 3 else ACCEPTED
                await desk.judge(names[n], one.dialog_id, verdict)

        await asyncio.gather(*(work(n) for n in range(12)))
        await other.close()
        assert sorted(d for d, _ in given) == sorted(dialogs)
        made = {(row["dialog_id"], row["admin_id"]) for row in rows_of(review.record, judgements)}
        assert made == set(given)
        assert rows_of(review.record, review_claims) == []
        rejected = [r for r in rows_of(review.record, judgements) if r["verdict"] == "rejected"]
        assert len(rows_of(review.record, relaunches)) == len(rejected)


# --- All at once -----------------------------------------------------------------------------


async def test_many_are_judged_at_once(database_url: str) -> None:
    async with reviewing(database_url) as review:
        held = review.ended()
        review.ended(state=LedgerState.PAID)
        for _ in range(3):
            review.ended()
        review.ended(flags=("copied",))
        review.ended(Outcome.SOLO)
        desk = review.desk()
        assert (given := await desk.next("bob", ANY)) is not None
        assert given.dialog_id == held
        plain = Filters(unflagged=True)
        plan = await desk.plan("ada", ACCEPTED, plain, approve_pay=True)
        assert (plan.dialogs, plan.payments, plan.cents) == (4, 6, 900)
        unpaid = await desk.plan("ada", ACCEPTED, plain, approve_pay=False)
        assert (unpaid.dialogs, unpaid.payments, unpaid.cents) == (4, 0, 0)
        for wrong in (3, 5):
            with pytest.raises(Overtaken, match=f"4 dialogs now, not {wrong}"):
                await desk.bulk("ada", ACCEPTED, plain, approve_pay=True, expected=wrong)
        assert rows_of(review.record, judgements) == []
        done = await desk.bulk("ada", ACCEPTED, plain, approve_pay=True, expected=4)
        assert done == plan
        assert {r["dialog_id"] for r in rows_of(review.record, judgements)} == {
            "d1", "d2", "d3", "d4"
        }  # fmt: skip
        left = await desk.plan("ada", None, ANY, approve_pay=True)
        assert (left.dialogs, left.payments) == (1, 2)
        assert await desk.bulk("ada", None, ANY, approve_pay=True, expected=1) == left


async def test_without_pay_what_is_owed_stays_owed(database_url: str) -> None:
    async with reviewing(database_url) as review:
        review.ended()
        freed = []
        desk = review.desk()
        desk.on_place = lambda item, place: freed.append((item, place))
        done = await desk.bulk("ada", REJECTED, ANY, approve_pay=False, expected=1)
        assert (done.dialogs, done.payments, done.cents) == (1, 0, 0)
        assert {row["state"] for row in rows_of(review.record, ledger)} == {"owed"}
        assert freed == [("item-0", 1)]
        assert len(rows_of(review.record, relaunches)) == 1


async def test_what_is_taken_while_many_are_judged_is_left_out(database_url: str) -> None:
    async with reviewing(database_url) as review:
        names = [review.ended() for _ in range(5)]
        desk = review.desk()
        one_by_one = desk._one_of_many

        async def meanwhile(found: Any, *args: Any, **how: Any) -> Any:
            if found.dialog_id == names[2]:
                taken = claimed(names[2], "bob", None, None, review.clock())
                await review.record.writer.commit(taken)
            return await one_by_one(found, *args, **how)

        desk._one_of_many = meanwhile  # type: ignore[method-assign]
        done = await desk.bulk("ada", ACCEPTED, ANY, approve_pay=True, expected=5)
        assert (done.dialogs, done.payments, done.cents) == (4, 8, 1200)
        assert review.acceptance(names[2]) is None


async def test_what_holds_words_that_were_erased_is_no_longer_judged(database_url: str) -> None:
    async with reviewing(database_url) as review:
        erased, kept = review.ended(), review.ended()
        lost = review.ended(Outcome.SOLO)
        with review.record.engine.begin() as connection:
            for dialog in (erased, lost):
                who = select(seats.c.worker_id).where(seats.c.dialog_id == dialog).limit(1)
                worker = connection.execute(who).scalar_one()
                row = {"worker_id": worker, "at": 500.0, "arrivals": 1, "texts": 3}
                connection.execute(erasures.insert().values(row))
        # What is lost can be no data either way; whether its pay goes out is still to be said.
        assert await order(review) == [kept, lost]
        assert await review.desk().undecided() == 2
        plan = await review.desk().plan("ada", ACCEPTED, ANY, approve_pay=True)
        assert plan.dialogs == 1


async def test_only_dialogs_of_the_study_wait(database_url: str) -> None:
    async with reviewing(database_url) as review:
        review.ended()
        review.write(add_admins, "dora")
        desk = ReviewDesk(review.record, "other", now=review.clock)
        assert await desk.next("dora", ANY) is None
        assert await ReviewDesk(review.record, STUDY, now=review.clock).waiting("dora", ANY) == 1
