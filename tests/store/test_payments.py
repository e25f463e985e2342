"""Payments in the record: from owed to paid, each step from the state before it only."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from dialogs.record import payments as rows
from dialogs.record.errors import Conflict
from dialogs.record.payments import PaymentRow
from dialogs.record.reviewing import reviewed
from dialogs.record.spending import Which, amounts
from dialogs.record.store import Record
from dialogs.record.stuck import hits_with_unpaid
from dialogs.record.tables import assignments, hits
from dialogs.record.writer import Decision
from dialogs.rules import ArrivalStatus, LedgerState, Release
from tests.records import STUDY, begin_study, opened
from tests.recruiting import add_arrival, owes, release


def person(record: Record, n: int, cents: int = 150, **how: object) -> str:
    with record.engine.connect() as connection, connection.begin():
        arrival = add_arrival(connection, n)
        release(connection, arrival, cents, **how)  # type: ignore[arg-type]
    return arrival


async def payment(record: Record, arrival: str) -> PaymentRow:
    return (await record.read(rows.payments_of, [arrival]))[0]


async def test_the_life_of_a_payment(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        arrival, commit = person(record, 1), record.writer.commit
        owed = await payment(record, arrival)
        await commit(rows.put_off(owed, "later", 50.0))
        waits = await payment(record, arrival)
        assert (waits.tries, waits.retry_at, waits.problem) == (1, 50.0, "later")
        await commit(rows.approved(waits, 2.0))
        approved = await payment(record, arrival)
        assert (approved.state, approved.retry_at, approved.problem) == (
            LedgerState.APPROVED,
            None,
            None,
        )
        await commit(rows.sending(approved, 2.0))
        sending = await payment(record, arrival)
        for step in ("approve", "bonus"):
            await commit(rows.step_begins(sending, step, f"key-{step}", 3.0))
            with pytest.raises(Conflict):
                await commit(rows.step_begins(sending, step, f"key-{step}", 3.0))
        await commit(rows.step_done(sending, "approve", 4.0))
        found = {s.step: s.done_at for s in await record.read(rows.steps_of, arrival, "dialog")}
        assert found == {"approve": 4.0, "bonus": None}
        await commit(rows.paid(sending, 5.0))
        assert (await payment(record, arrival)).state is LedgerState.PAID


@pytest.mark.parametrize("state", list(LedgerState))
async def test_nothing_is_decided_on_a_state_that_is_no_more(
    database_url: str, state: LedgerState
) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        arrival = person(record, 1, state=state)
        now = await payment(record, arrival)
        for other in LedgerState:
            if other is state:
                continue
            stale = replace(now, state=other)
            decisions: list[Decision] = [
                rows.approved(stale, 1.0),
                rows.sending(stale, 1.0),
                rows.paid(stale, 1.0),
                rows.stopped(stale, LedgerState.HELD, "why"),
                rows.put_off(stale, "why", 1.0),
                rows.cancelled(stale, "why"),
            ]
            for decision in decisions:
                with pytest.raises(Conflict):
                    await record.writer.commit(decision)
        assert await payment(record, arrival) == now


async def test_what_is_put_off_is_not_sent_by_who_does_not_know_it(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        arrival, commit = person(record, 1), record.writer.commit
        await commit(rows.approved(await payment(record, arrival), 1.0, not_before=20.0))
        stale = await payment(record, arrival)
        # It is taken back and approved anew, while somebody has the list of before.
        await commit(rows.unapproved(stale))
        await commit(rows.approved(await payment(record, arrival), 25.0, not_before=45.0))
        for decision in (rows.sending(stale, 26.0), rows.put_off(stale, "why", 36.0)):
            with pytest.raises(Conflict):
                await commit(decision)
        fresh = await payment(record, arrival)
        assert (fresh.state, fresh.retry_at) == (LedgerState.APPROVED, 45.0)
        # Who knows of it, and asks all the same, is let.
        await commit(rows.put_off(fresh, "why", 46.0))
        await commit(rows.sending(await payment(record, arrival), 30.0))
        assert (await payment(record, arrival)).retry_at is None


async def test_one_bonus_of_a_name(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        arrival = person(record, 1, 0)
        given = rows.given_by_hand(arrival, "x", 20, "USD", "Thanks.", 1.0)
        await record.writer.commit(given)
        with pytest.raises(Conflict):
            await record.writer.commit(given)
        found = await payment(record, arrival)
        assert (found.reason, found.state, found.note) == (
            "bonus-x",
            LedgerState.APPROVED,
            "Thanks.",
        )


async def test_sums_and_what_is_out(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        states = [state for n, state in enumerate(LedgerState) for _ in range(n + 1)]
        for n, state in enumerate(states):
            person(record, n, 100 + n, state=state)
        expected: Counter[LedgerState] = Counter()
        for n, state in enumerate(states):
            expected[state] += 100 + n
        totals = await record.read(rows.ledger_totals, STUDY)
        assert {t.state: (t.payments, t.cents) for t in totals} == {
            state: (states.count(state), expected[state]) for state in LedgerState
        }
        out = {LedgerState.SENDING, LedgerState.PAID}
        recruiter = (await record.read(rows.payments_in, STUDY, list(LedgerState)))[0].recruiter

        async def cents(which: Which) -> int:
            found = await record.read(amounts, STUDY, recruiter, which)
            return sum(alike.payments * alike.cents for alike in found)

        assert await cents(Which.BEGUN) == sum(expected[state] for state in out)
        assert await cents(Which.UNSURE) == 0
        cancelled = expected[LedgerState.CANCELLED]
        assert cancelled
        assert await cents(Which.ALL) == sum(expected.values()) - cancelled
        assert await record.read(amounts, STUDY, "another") == []
        # One that is held with a call begun may have gone out, too.
        [held, *_] = await record.read(rows.payments_in, STUDY, [LedgerState.HELD])
        await record.writer.commit(rows.step_begins(held, "bonus", "k", 1.0))
        assert await cents(Which.BEGUN) == sum(expected[state] for state in out) + held.cents
        assert await cents(Which.UNSURE) == held.cents


async def test_hits_in_which_somebody_is_or_is_owed(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        with record.engine.connect() as connection, connection.begin():
            add_arrival(connection, 1, hit_id="inside", status=ArrivalStatus.ARRIVED)
            for n, (hit, cents, state) in enumerate(
                [
                    ("owed", 10, LedgerState.OWED),
                    ("held", 10, LedgerState.HELD),
                    ("paid", 10, LedgerState.PAID),
                    ("left", 0, LedgerState.OWED),
                    ("cancelled", 10, LedgerState.CANCELLED),
                    ("held, never handed in", 10, LedgerState.HELD),
                ],
                2,
            ):
                release(connection, add_arrival(connection, n, hit_id=hit), cents, state=state)
            owes(connection, "arrival-4", 5, reason="bonus-1", state=LedgerState.APPROVED)
            release(connection, add_arrival(connection, 9, hit_id="done"), 5,
                    state=LedgerState.PAID)  # fmt: skip
            # Of those who are held, the first has handed in.
            row = {"id": "held", "study_id": STUDY, "recruiter": "mturk", "token": "t",
                   "state": "closed", "seats": 1, "reward": 5, "currency": "USD",
                   "created_at": 1.0}  # fmt: skip
            connection.execute(hits.insert(), row)
            told = {"study_id": STUDY, "id": "assignment-3", "hit_id": "held", "worker": "W",
                    "status": "submitted"}  # fmt: skip
            connection.execute(assignments.insert(), told)
        found = await record.read(hits_with_unpaid, STUDY)
        assert found == {"inside", "owed", "held", "paid"}


async def test_a_reviewer_sees_what_needs_them(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        arrival = person(record, 1, 150, state=LedgerState.HELD)
        with record.engine.connect() as connection, connection.begin():
            owes(connection, arrival, 20, reason="bonus-1", state=LedgerState.APPROVED)
            owes(connection, arrival, 5, reason="bonus-2", state=LedgerState.PAID)
            owes(connection, arrival, 900, reason="bonus-3", state=LedgerState.CANCELLED)
        person(record, 2, 0, how=Release.LEFT)
        first, second = await record.read(reviewed, STUDY)
        assert (first.owed_cents, first.state) == (175, LedgerState.HELD)
        assert (second.owed_cents, second.state, second.release) == (0, None, "left")
