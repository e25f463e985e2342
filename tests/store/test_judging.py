"""Judging what has ended: whether it is data, what becomes of the pay, and what follows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dialogs.record import erasing
from dialogs.record.cases import case
from dialogs.record.erasing import MARK
from dialogs.record.errors import Conflict, Unavailable
from dialogs.record.judging import BadJudgement, Overtaken, Pay, is_for_two, judged
from dialogs.record.payments import given_by_hand, payments_of, sending, step_begins
from dialogs.record.queries import free_places
from dialogs.record.requests import asked, done, requests_by_id
from dialogs.record.review_desk import ReviewDesk
from dialogs.record.store import Record
from dialogs.record.supply import supply, unposted_relaunches
from dialogs.record.tables import (
    audit,
    findings,
    judgements,
    ledger,
    relaunches,
    review_claims,
    team_requests,
    worker_notes,
)
from dialogs.record.writer import Decision, together
from dialogs.rules import Acceptance, LedgerState, Outcome, RequestKind
from tests.records import STUDY, rows_of
from tests.recruiting import owes
from tests.reviews import ANY, Review, reviewing

ACCEPTED, REJECTED = Acceptance.ACCEPTED, Acceptance.REJECTED
FRAUD = Pay(approve=False, reason="The answers come from a machine.")


def states(review: Review) -> dict[str, str]:
    return {row["arrival_id"]: row["state"] for row in rows_of(review.record, ledger)}


async def test_what_is_accepted_is_data_and_paid(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended()
        done = await review.desk().judge("ada", dialog, ACCEPTED)
        assert done.decides
        assert not done.frees
        assert [(p.cents, p.state, p.moved) for p in done.pay] == [
            (150, LedgerState.APPROVED, True)
        ] * 2
        assert review.acceptance(dialog) == "accepted"
        assert set(states(review).values()) == {"approved"}
        assert rows_of(review.record, relaunches) == []
        assert rows_of(review.record, review_claims) == []
        [row] = rows_of(review.record, judgements)
        assert (row["verdict"], row["decides"], row["again"]) == ("accepted", True, False)
        [row] = rows_of(review.record, audit)
        assert (row["admin_id"], row["action"], row["target"]) == ("ada", "review.judge", dialog)


async def test_what_is_rejected_is_paid_all_the_same_and_collected_once_more(
    database_url: str,
) -> None:
    async with reviewing(database_url) as review:
        dialog, kept = review.ended(), review.ended()
        freed = []
        desk = review.desk()
        desk.on_place = lambda item, place: freed.append((item, place))
        assert (await review.record.read(supply, STUDY)).missing == 0
        await desk.judge("ada", kept, ACCEPTED)
        assert freed == []
        await desk.judge("ada", dialog, REJECTED)
        assert set(states(review).values()) == {"approved"}
        assert freed == [("item-0", 1)]
        assert await review.record.read(free_places, STUDY) == [("item-0", 1)]
        assert await review.record.read(unposted_relaunches, STUDY) == [dialog]
        assert (await review.record.read(supply, STUDY)).missing == 1
        [row] = rows_of(review.record, relaunches)
        assert (row["dialog_id"], row["item_id"], row["place"]) == (dialog, "item-0", 1)


async def test_a_dialog_that_is_not_complete_is_judged_without_a_verdict(
    database_url: str,
) -> None:
    async with reviewing(database_url) as review:
        solo, complete = review.ended(Outcome.SOLO), review.ended()
        desk = review.desk()
        with pytest.raises(BadJudgement, match="verdict: only a complete"):
            await desk.judge("ada", solo, ACCEPTED)
        with pytest.raises(BadJudgement, match="verdict: a complete"):
            await desk.judge("ada", complete, None)
        assert rows_of(review.record, judgements) == []
        done = await desk.judge("ada", solo, None)
        assert done.decides
        assert not done.frees
        assert states(review)["arrival-0q"] == "approved"
        assert rows_of(review.record, relaunches) == []
        with pytest.raises(LookupError):
            await desk.judge("ada", "none", ACCEPTED)


async def test_what_is_approved_or_paid_stays_as_it_is_and_is_told(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended()
        review.pay_becomes("arrival-0q", LedgerState.PAID)
        done = await review.desk().judge("ada", dialog, ACCEPTED)
        assert {p.arrival_id: (p.state, p.moved) for p in done.pay} == {
            "arrival-0q": (LedgerState.PAID, False),
            "arrival-0a": (LedgerState.APPROVED, True),
        }


async def test_refused_pay_is_taken_back_and_the_recruiter_is_to_be_told(
    database_url: str,
) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended(hit_id="h")
        pay = {"arrival-0a": FRAUD}
        done = await review.desk().judge("ada", dialog, REJECTED, "Nonsense.", pay)
        assert {p.arrival_id: p.state for p in done.pay} == {
            "arrival-0q": LedgerState.APPROVED,
            "arrival-0a": LedgerState.CANCELLED,
        }
        notes = {row["arrival_id"]: row["note"] for row in rows_of(review.record, ledger)}
        assert notes == {"arrival-0q": None, "arrival-0a": f"taken back: {FRAUD.reason}"}
        [row] = rows_of(review.record, team_requests)
        assert (row["kind"], row["target"], row["state"]) == ("reject", "arrival-0a", "wanted")
        assert row["data"] == '{"reason":"The answers come from a machine."}'
        [row] = rows_of(review.record, audit)
        assert '"refused":["arrival-0a"]' in row["after"]
        assert FRAUD.reason not in row["after"], "rows of the log cannot be erased"


async def test_nobody_is_to_be_told_of_the_refused_work_of_a_link(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended()
        await review.desk().judge("ada", dialog, REJECTED, "", {"arrival-0a": FRAUD})
        [row] = rows_of(review.record, team_requests)
        assert (row["state"], row["done_at"]) == ("done", row["at"])


@pytest.mark.parametrize("why", ["", "  "])
async def test_refusing_pay_takes_a_written_reason(database_url: str, why: str) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended()
        pay = {"arrival-0a": replace(FRAUD, reason=why)}
        with pytest.raises(BadJudgement, match="pay: say in the reason"):
            await review.desk().judge("ada", dialog, ACCEPTED, "", pay)
        with pytest.raises(BadJudgement, match="pay: that arrival has no part"):
            await review.desk().judge("ada", dialog, ACCEPTED, "", {"arrival-9": Pay()})
        assert rows_of(review.record, judgements) == []


@pytest.mark.parametrize(
    "state", [s for s in LedgerState if s not in (LedgerState.OWED, LedgerState.CANCELLED)]
)
async def test_pay_that_may_have_gone_out_is_not_refused_and_nothing_is_stored(
    database_url: str, state: LedgerState
) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended()
        if state is LedgerState.APPROVED:
            # A call was begun and has brought nothing so far.
            [payment] = await review.record.read(payments_of, ["arrival-0a"])
            await review.record.writer.commit(step_begins(payment, "bonus", "key", 1.0))
        review.pay_becomes("arrival-0a", state)
        before = states(review)
        with pytest.raises(Overtaken, match="may have gone out"):
            await review.desk().judge("ada", dialog, REJECTED, "", {"arrival-0a": FRAUD})
        assert states(review) == before
        assert review.acceptance(dialog) is None
        for table in (judgements, relaunches, team_requests, audit):
            assert rows_of(review.record, table) == []


async def test_approved_pay_of_which_nothing_was_sent_can_be_refused(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended(state=LedgerState.APPROVED)
        await review.desk().judge("ada", dialog, REJECTED, "", {"arrival-0a": FRAUD})
        assert states(review) == {"arrival-0q": "approved", "arrival-0a": "cancelled"}


async def test_pay_that_begins_to_go_out_at_the_last_moment_is_not_refused(
    database_url: str,
) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended(state=LedgerState.APPROVED)
        read = await review.record.read(case, STUDY, dialog)
        assert read is not None
        stale = judged(read, "ada", REJECTED, "", {"arrival-0a": FRAUD}, review.clock())
        [payment] = await review.record.read(payments_of, ["arrival-0a"])
        commit = review.record.writer.commit
        begins = step_begins(payment, "bonus", "key", 1.0)
        await commit(Decision("x", begins.inserts, sending(payment, 1.0).changes))
        with pytest.raises(Conflict):
            await commit(stale.decision)
        # And if it has come back to where it was, the call that was begun is what tells.
        review.pay_becomes("arrival-0a", LedgerState.APPROVED)
        with pytest.raises(Conflict):
            await commit(stale.decision)
        assert rows_of(review.record, judgements) == []


async def test_work_for_which_a_bonus_was_given_is_not_refused(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended()
        bonus = {"reason": "bonus-1", "state": LedgerState.APPROVED}
        review.write(owes, "arrival-0a", 20, **bonus)
        with pytest.raises(Overtaken, match="A bonus has been given"):
            await review.desk().judge("ada", dialog, REJECTED, "", {"arrival-0a": FRAUD})
        assert rows_of(review.record, judgements) == []


async def test_work_for_which_a_bonus_is_asked_is_not_refused(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog, desk, commit = review.ended(hit_id="h"), review.desk(), review.record.writer.commit
        read = await review.record.read(case, STUDY, dialog)
        assert read is not None
        stale = judged(read, "ada", REJECTED, "", {"arrival-0a": FRAUD}, review.clock())
        data = {"cents": 50, "reason": "Thanks."}
        wish = asked(STUDY, "wish", "ada", RequestKind.BONUS, "arrival-0a", data, 1.0)
        await commit(wish)
        with pytest.raises(Overtaken, match="A bonus is asked for this work"):
            await desk.judge("ada", dialog, REJECTED, "", {"arrival-0a": FRAUD})
        with pytest.raises(Conflict):
            await commit(stale.decision)
        # Given in the moment between a look and the judgement, it is in the way as well.
        [request] = (await review.record.read(requests_by_id, ["wish"])).values()
        given = given_by_hand("arrival-0a", "wish", 50, "USD", "Thanks.", 2.0)
        await commit(together(done(request, 2.0), given))
        with pytest.raises(Conflict):
            await commit(stale.decision)
        assert rows_of(review.record, judgements) == []
        # Whose work is another's is refused all the same.
        await desk.judge("ada", dialog, REJECTED, "", {"arrival-0q": FRAUD})


async def test_the_first_judgement_decides_and_no_other_is_taken(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog, desk = review.ended(), review.desk()
        await desk.judge("ada", dialog, ACCEPTED)
        with pytest.raises(Overtaken, match="Somebody else has judged"):
            await desk.judge("bob", dialog, REJECTED)
        with pytest.raises(Overtaken, match="You have judged"):
            await desk.judge("ada", dialog, REJECTED)
        assert review.acceptance(dialog) == "accepted"
        assert rows_of(review.record, relaunches) == []


async def test_what_somebody_else_has_in_hand_is_not_judged(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog, desk = review.ended(), review.desk()
        assert await desk.next("bob", ANY)
        with pytest.raises(Overtaken, match="in hand"):
            await desk.judge("ada", dialog, ACCEPTED)
        review.clock.at += 601.0
        await desk.judge("ada", dialog, ACCEPTED)
        assert rows_of(review.record, review_claims) == []


async def test_two_judgements_at_once_are_one(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended()
        read = await review.record.read(case, STUDY, dialog)
        assert read is not None
        first = judged(read, "ada", REJECTED, "", {}, review.clock())
        second = judged(read, "bob", REJECTED, "", {}, review.clock())
        await review.record.writer.commit(first.decision)
        with pytest.raises(Conflict):
            await review.record.writer.commit(second.decision)
        assert len(rows_of(review.record, judgements)) == len(rows_of(review.record, relaunches))


@pytest.mark.parametrize("when", ["before_commit", "after_commit"])
async def test_a_judgement_sent_again_after_an_outage_is_one(database_url: str, when: str) -> None:
    """Whoever dies around the commit leaves all of it or nothing, and asking again is harmless."""
    async with reviewing(database_url) as review:
        dialog = review.ended(hit_id="h")
        pay = {"arrival-0a": FRAUD}

        def die() -> None:
            raise RuntimeError("killed")

        dying = Record(database_url, serving=False, **{when: die})  # type: ignore[arg-type]
        dying.writer.start()
        with pytest.raises(Unavailable):
            await review.desk(record=dying).judge("ada", dialog, REJECTED, "No.", pay)
        await dying.close()
        stored = when == "after_commit"
        assert len(rows_of(review.record, judgements)) == stored
        assert len(rows_of(review.record, relaunches)) == stored
        assert (states(review)["arrival-0a"] == "cancelled") is stored
        for _ in range(2):
            done = await review.desk().judge("ada", dialog, REJECTED, "No.", pay)
            assert {p.arrival_id: p.state for p in done.pay} == {
                "arrival-0q": LedgerState.APPROVED,
                "arrival-0a": LedgerState.CANCELLED,
            }
        for table in (judgements, relaunches, team_requests, audit):
            assert len(rows_of(review.record, table)) == 1


APART = "You have judged this dialog already, and decided otherwise on its pay."


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({}, {"arrival-0a": FRAUD}),
        ({"arrival-0a": FRAUD}, {}),
        ({"arrival-0a": FRAUD}, {"arrival-0q": FRAUD}),
        ({"arrival-0a": FRAUD}, {"arrival-0a": replace(FRAUD, reason="Nothing was written.")}),
        ({"arrival-0a": FRAUD}, {"arrival-0a": FRAUD, "arrival-0q": FRAUD}),
    ],
)
async def test_a_judgement_sent_again_with_other_pay_is_another_one(
    database_url: str, first: dict[str, Pay], then: dict[str, Pay]
) -> None:
    async with reviewing(database_url) as review:
        dialog, desk = review.ended(hit_id="h"), review.desk()
        done = await desk.judge("ada", dialog, ACCEPTED, "", first)
        before = states(review)
        with pytest.raises(Overtaken, match=APART):
            await desk.judge("ada", dialog, ACCEPTED, "", then)
        assert states(review) == before
        assert len(rows_of(review.record, team_requests)) == len(first)
        # The same one gets the answer of the first.
        again = await desk.judge("ada", dialog, ACCEPTED, "", first)
        assert sorted(map(str, again.pay)) == sorted(map(str, done.pay))


async def test_pay_that_a_judgement_left_alone_is_not_said_to_be_approved(
    database_url: str,
) -> None:
    async with reviewing(database_url) as review:
        dialog, desk = review.ended(), review.desk(twice=1.0)
        await desk.judge("ada", dialog, ACCEPTED, approve_pay=False)
        await desk.judge("ada", dialog, ACCEPTED, approve_pay=False)
        with pytest.raises(Overtaken, match=APART):
            await desk.judge("ada", dialog, ACCEPTED)
        # Whoever comes second has no say in it, whatever the first one left.
        for _ in range(2):
            assert (await desk.judge("bob", dialog, REJECTED)).pay == ()
        with pytest.raises(Overtaken, match=APART):
            await desk.judge("bob", dialog, REJECTED, "", {"arrival-0a": FRAUD})
        # What was approved since is as it was asked for.
        for arrival in ("arrival-0q", "arrival-0a"):
            review.pay_becomes(arrival, LedgerState.APPROVED)
        assert (await desk.judge("ada", dialog, ACCEPTED)).decides
        assert set(states(review).values()) == {"approved"}


def test_every_share_of_dialogs_is_the_same_each_time() -> None:
    ids = [f"d_{n:x}" for n in range(2000)]
    assert not any(is_for_two(each, 0.0) for each in ids)
    assert all(is_for_two(each, 1.0) for each in ids)
    chosen = [each for each in ids if is_for_two(each, 0.1)]
    assert 150 < len(chosen) < 250
    assert all(is_for_two(each, 0.2) for each in chosen)


async def test_a_second_judgement_is_kept_and_decides_nothing(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog, desk = review.ended(), review.desk(twice=1.0)
        await desk.judge("ada", dialog, ACCEPTED)
        before = states(review)
        with pytest.raises(Overtaken, match="decided on the pay"):
            await desk.judge("bob", dialog, REJECTED, "", {"arrival-0a": FRAUD})
        done = await desk.judge("bob", dialog, REJECTED)
        assert not done.decides
        assert not done.frees
        assert done.pay == ()
        assert review.acceptance(dialog) == "accepted"
        assert states(review) == before
        assert rows_of(review.record, relaunches) == []
        with pytest.raises(Overtaken, match="Somebody else has judged"):
            await desk.judge("cleo", dialog, REJECTED)
        assert [r["again"] for r in rows_of(review.record, judgements)] == [False, False]


async def test_two_second_judgements_at_once_are_one(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog, desk = review.ended(), review.desk(twice=1.0)
        await desk.judge("ada", dialog, ACCEPTED)
        read = await review.record.read(case, STUDY, dialog)
        assert read is not None
        await desk.judge("bob", dialog, REJECTED)
        stale = judged(read, "cleo", REJECTED, "", {}, review.clock())
        with pytest.raises(Conflict):
            await review.record.writer.commit(stale.decision)
        assert len(rows_of(review.record, judgements)) == 2


async def test_an_incomplete_dialog_is_never_judged_twice(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog, desk = review.ended(Outcome.SOLO), review.desk(twice=1.0)
        await desk.judge("ada", dialog, None)
        with pytest.raises(Overtaken, match="Somebody else has judged"):
            await desk.judge("bob", dialog, None)


async def test_a_dialog_of_another_study_is_none_of_ours(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended()
        with pytest.raises(LookupError):
            await ReviewDesk(review.record, "other").judge("ada", dialog, ACCEPTED)


async def test_who_is_erased_leaves_no_words_in_the_review(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog, other = review.ended(hit_id="h", flags=("copied",)), review.ended()
        pay = {"arrival-0a": FRAUD}
        await review.desk().judge("ada", dialog, REJECTED, "They said it.", pay)
        await review.desk().judge("ada", other, REJECTED, "Others said it.")
        note = {"id": "n", "worker_id": "worker-0a", "text": "They wrote it.", "at": 1.0}
        review.write(lambda connection: connection.execute(worker_notes.insert(), note))
        review.pay_becomes("arrival-0q", LedgerState.PAID)
        before = {t: len(rows_of(review.record, t)) for t in (findings, judgements, audit)}
        erasing.erase(database_url, ["worker-0a"], lambda recruiter, name: "erased:x", 5.0)
        assert [row["reason"] for row in rows_of(review.record, findings)] == [MARK]
        assert {r["dialog_id"]: r["reason"] for r in rows_of(review.record, judgements)} == {
            dialog: MARK,
            other: "Others said it.",
        }
        assert [row["text"] for row in rows_of(review.record, worker_notes)] == [MARK]
        assert [row["data"] for row in rows_of(review.record, team_requests)] == ["{}"]
        assert {t: len(rows_of(review.record, t)) for t in before} == before
