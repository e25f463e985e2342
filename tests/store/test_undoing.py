"""Taking a judgement back: all of it, or nothing where something has followed from it."""

from __future__ import annotations

import random
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from dialogs.record import payments as rows
from dialogs.record.cases import case
from dialogs.record.errors import BadRow, Conflict
from dialogs.record.judging import UNDO_S, BadJudgement, Overtaken, Pay
from dialogs.record.queries import free_places
from dialogs.record.supply import unposted_relaunches
from dialogs.record.tables import (
    assignments,
    audit,
    dialogs,
    hits,
    judgements,
    ledger,
    payment_steps,
    relaunches,
    review_claims,
    team_requests,
)
from dialogs.record.undoing import undone
from dialogs.record.wanted import NewHit, RelaunchSeats, wanted_hits
from dialogs.rules import Acceptance, LedgerState, Outcome, Phase
from tests.records import STUDY, rows_of
from tests.recruiting import add_dialog
from tests.reviews import ANY, Review, reviewing

ACCEPTED, REJECTED = Acceptance.ACCEPTED, Acceptance.REJECTED


def _handed_in(connection: Connection, *work: str) -> None:
    hit = {"id": "a-hit", "study_id": STUDY, "recruiter": "mturk", "token": "t", "state": "closed",
           "seats": 2, "reward": 5, "currency": "USD", "created_at": 1.0}  # fmt: skip
    connection.execute(hits.insert(), hit)
    for name in work:
        told = {"study_id": STUDY, "id": name, "hit_id": "a-hit", "worker": f"W-{name}",
                "status": "submitted"}  # fmt: skip
        connection.execute(assignments.insert(), told)


def as_it_was(review: Review) -> dict[str, Any]:
    """All that a judgement changes, but for the log and for who has what in hand."""
    with review.record.engine.connect() as connection:
        data = connection.execute(select(dialogs.c.id, dialogs.c.acceptance)).all()
    return {
        "data": sorted(tuple(row) for row in data),
        **{
            table.name: rows_of(review.record, table)
            for table in (ledger, relaunches, judgements, team_requests)
        },
    }


@pytest.mark.parametrize("verdict", list(Acceptance))
async def test_what_is_taken_back_is_as_if_it_had_never_been(
    database_url: str, verdict: Acceptance
) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended()
        review.pay_becomes("arrival-0q", LedgerState.APPROVED)
        before = as_it_was(review)
        desk, told = review.desk(twice=1.0), []
        desk.on_taken = lambda item, place: told.append((item, place))
        await desk.judge("ada", dialog, verdict)
        assert as_it_was(review) != before
        given = await desk.undo("ada")
        assert (given.dialog_id, given.second) == (dialog, False)
        assert as_it_was(review) == before
        assert told == ([("item-0", 1)] if verdict is REJECTED else [])
        [claim] = rows_of(review.record, review_claims)
        assert (claim["dialog_id"], claim["admin_id"]) == (dialog, "ada")
        assert [r["action"] for r in sorted(rows_of(review.record, audit), key=lambda r: r["at"])] \
            == ["review.judge", "review.undo"]  # fmt: skip
        # It can be judged again, either way.
        await desk.judge("ada", dialog, REJECTED)
        assert await review.record.read(unposted_relaunches, STUDY) == [dialog]


@pytest.mark.parametrize("verdict", [ACCEPTED, REJECTED, None])
async def test_pay_waits_until_a_judgement_can_hardly_be_a_slip(
    database_url: str, verdict: Acceptance | None
) -> None:
    async def due() -> int:
        states = [LedgerState.APPROVED]
        found = await review.record.read(
            rows.payments_due, STUDY, "mturk", states, review.clock.at, 100
        )
        return len(found)

    async with reviewing(database_url) as review:
        dialog = review.ended(Outcome.SOLO if verdict is None else Outcome.COMPLETE, hit_id="a-hit")
        review.write(_handed_in, "assignment-0q", "assignment-0a")
        desk = review.desk()
        await desk.judge("ada", dialog, verdict)
        review.clock.at += UNDO_S - 1
        assert await due() == 0
        await desk.undo("ada")
        await desk.judge("ada", dialog, verdict)
        review.clock.at += UNDO_S + 1
        assert await due() == 2


async def test_a_dialog_without_a_verdict_is_taken_back_too(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended(Outcome.SOLO)
        before = as_it_was(review)
        await review.desk().judge("ada", dialog, None)
        await review.desk().undo("ada")
        assert as_it_was(review) == before


async def test_the_last_judgement_is_taken_back_first(database_url: str) -> None:
    async with reviewing(database_url) as review:
        first, second, third = (review.ended() for _ in range(3))
        desk = review.desk()
        await desk.judge("ada", first, ACCEPTED)
        await desk.judge("ada", second, REJECTED)
        await desk.judge("bob", third, ACCEPTED)
        await desk.next("ada", ANY)
        assert (await desk.undo("ada")).dialog_id == second
        assert (await desk.undo("ada")).dialog_id == first
        with pytest.raises(Overtaken, match="judged nothing"):
            await desk.undo("ada")
        assert [r["dialog_id"] for r in rows_of(review.record, judgements)] == [third]
        [claim] = rows_of(review.record, review_claims)
        assert claim["dialog_id"] == first, "one at a time"


async def test_somebody_elses_is_for_owners(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog = review.ended()
        before = as_it_was(review)
        desk = review.desk()
        await desk.judge("ada", dialog, ACCEPTED)
        with pytest.raises(Overtaken, match="You have not judged"):
            await desk.undo("bob", dialog)
        with pytest.raises(LookupError):
            await desk.undo("bob", "none", of_anybody=True)
        await desk.undo("bob", dialog, of_anybody=True)
        assert as_it_was(review) == before


def send(review: Review, arrival: str) -> None:
    review.pay_becomes(arrival, LedgerState.SENDING)


def begin(review: Review, arrival: str) -> None:
    row = {"arrival_id": arrival, "reason": "dialog", "step": "approve", "key": "k",
           "started_at": 1.0}  # fmt: skip
    review.write(lambda connection: connection.execute(payment_steps.insert(), row))


async def post(review: Review, dialog: str) -> None:
    hit = NewHit("h", "token", 2, 10, "USD")
    seats = RelaunchSeats(dialog, "h", 2, 2)
    decision = wanted_hits(STUDY, "mturk", [hit], review.clock(), relaunched=[seats])
    await review.record.writer.commit(decision)


def take_place(review: Review, phase: Phase, outcome: Outcome | None) -> None:
    review.write(add_dialog, "later", "item-0", phase=phase, outcome=outcome, at=review.clock())


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("sent", "on its way"),
        ("begun", "on its way"),
        ("paid", "on its way"),
        ("held", "on its way"),
        ("tried again", "on its way"),
        ("posted", "been invited"),
        ("paired", "taken its place"),
        ("abandoned", "taken its place"),
        ("second", "judged this dialog since"),
        ("in hand", "in hand"),
        ("refused", "refused with it"),
    ],
)
async def test_what_has_followed_keeps_it_from_being_taken_back(
    database_url: str, what: str, told: str
) -> None:
    async with reviewing(database_url) as review:
        dialog, desk = review.ended(), review.desk(twice=1.0)
        fraud = {"arrival-0a": Pay(approve=False, reason="Nonsense.")}
        await desk.judge("ada", dialog, REJECTED, "", fraud if what == "refused" else {})
        match what:
            case "sent":
                send(review, "arrival-0a")
            case "begun":
                begin(review, "arrival-0a")
            case "paid" | "held":
                review.pay_becomes("arrival-0a", LedgerState(what))
            case "tried again":
                review.pay_becomes("arrival-0a", LedgerState.HELD)
                [held] = await review.record.read(rows.payments_of, ["arrival-0a"])
                await review.record.writer.commit(rows.approved(held, review.clock()))
                review.pay_becomes("arrival-0a", LedgerState.PAID)
            case "posted":
                await post(review, dialog)
            case "paired":
                take_place(review, Phase.PAIRED, None)
            case "abandoned":
                take_place(review, Phase.ENDED, Outcome.ABANDONED)
            case "second":
                await desk.judge("bob", dialog, ACCEPTED)
            case "in hand":
                assert await desk.next("bob", ANY)
        before = as_it_was(review)
        with pytest.raises(Overtaken, match=told):
            await desk.undo("ada")
        assert as_it_was(review) == before


@pytest.mark.parametrize("what", ["sent", "begun", "posted", "paired", "abandoned", "second"])
async def test_what_follows_at_the_last_moment_does_as_well(database_url: str, what: str) -> None:
    """It was looked at before, and is carried out after."""
    async with reviewing(database_url) as review:
        dialog, desk = review.ended(), review.desk(twice=1.0)
        await desk.judge("ada", dialog, REJECTED)
        read = await review.record.read(case, STUDY, dialog)
        assert read is not None
        stale = undone(read, read.judgements[0], "ada", None, review.clock())
        match what:
            case "sent":
                send(review, "arrival-0a")
            case "begun":
                begin(review, "arrival-0a")
            case "posted":
                await post(review, dialog)
            case "paired":
                take_place(review, Phase.PAIRED, None)
            case "abandoned":
                take_place(review, Phase.ENDED, Outcome.ABANDONED)
            case "second":
                await desk.judge("bob", dialog, ACCEPTED)
        before = as_it_was(review)
        with pytest.raises((Conflict, BadRow)):
            await review.record.writer.commit(stale)
        assert as_it_was(review) == before


async def test_a_second_judgement_can_be_taken_back_and_made_again(database_url: str) -> None:
    async with reviewing(database_url) as review:
        dialog, desk = review.ended(), review.desk(twice=1.0)
        await desk.judge("ada", dialog, ACCEPTED)
        before = as_it_was(review)
        await desk.judge("bob", dialog, REJECTED)
        given = await desk.undo("bob")
        assert given.second
        assert as_it_was(review) == before
        await desk.judge("bob", dialog, ACCEPTED)
        assert await desk.waiting("cleo", ANY) == 0


# --- Any order of things -----------------------------------------------------------------------


class Model:
    """What the rules say of four places, beside which the record is held."""

    def __init__(self, review: Review, rng: random.Random) -> None:
        self.review = review
        self.rng = rng
        self.desk = review.desk(twice=0.5)
        self.before: dict[str, Any] = {}
        self.undone = 0

    def dialogs(self) -> list[Any]:
        with self.review.record.engine.connect() as connection:
            return list(connection.execute(select(dialogs).order_by(dialogs.c.opened_at)))

    def of(self, dialog: str) -> Any:
        """All of one dialog that its first judgement changes."""
        now = as_it_was(self.review)
        number = dialog[1:]
        return [
            [d for d in now["data"] if d[0] == dialog],
            [r for r in now["ledger"] if r["arrival_id"][8:-1] == number],
            [r for r in now["relaunches"] if r["dialog_id"] == dialog],
            [r for r in now["judgements"] if r["dialog_id"] == dialog],
        ]

    async def step(self) -> None:
        dialog = self.rng.choice([row.id for row in self.dialogs()])
        who = self.rng.choice(("ada", "bob"))
        before = as_it_was(self.review)
        here = self.of(dialog)
        match self.rng.choice(("judge",) * 4 + ("undo",) * 4 + ("hold", "post", "pay", "take")):
            case "judge":
                verdict = self.rng.choice((ACCEPTED, REJECTED, REJECTED))
                try:
                    done = await self.desk.judge(who, dialog, verdict)
                except (Overtaken, BadJudgement):
                    assert as_it_was(self.review) == before
                else:
                    if done.decides and done.decision.inserts:
                        self.before[dialog] = here
            case "undo":
                try:
                    which = self.rng.choice((None, dialog))
                    given = await self.desk.undo(who, which, of_anybody=self.rng.random() < 0.7)
                except Overtaken:
                    assert as_it_was(self.review) == before
                else:
                    if not given.second:
                        restored = self.of(given.dialog_id)
                        assert restored == self.before.pop(given.dialog_id)
                        self.undone += 1
            case "hold":
                await self.desk.next(who, ANY)
                self.review.clock.at += self.rng.choice((1.0, 400.0))
            case "take":
                await self._take()
            case "post":
                for name in await self.review.record.read(unposted_relaunches, STUDY):
                    hit = f"h-{name}-{self.review.clock()}"
                    seats = RelaunchSeats(name, hit, 2, 2)
                    decision = wanted_hits(STUDY, "mturk", [NewHit(hit, hit, 2, 1, "USD")],
                                           self.review.clock(), relaunched=[seats])  # fmt: skip
                    await self.review.record.writer.commit(decision)
            case "pay":
                arrival = f"arrival-{dialog[1:]}a"
                [payment] = await self.review.record.read(rows.payments_of, [arrival])
                if payment.state is LedgerState.APPROVED:
                    await self.review.record.writer.commit(
                        rows.sending(payment, self.review.clock.at + UNDO_S)
                    )

    async def _take(self) -> None:
        """The lobby opens a dialog about the item, if the record says that its place is free."""
        if free := await self.review.record.read(free_places, STUDY):
            item, _ = self.rng.choice(free)
            outcome = self.rng.choice((Outcome.COMPLETE, Outcome.SOLO))
            dialog = self.review.ended(outcome, item=item)
            self.review.write(self._opened_now, dialog)
            if outcome is Outcome.SOLO:
                self.review.write(self._relaunch, dialog, item)

    def _opened_now(self, connection: Connection, dialog: str) -> None:
        now = {"opened_at": self.review.clock()}
        connection.execute(update(dialogs).where(dialogs.c.id == dialog).values(**now))

    def _relaunch(self, connection: Connection, dialog: str, item: str) -> None:
        row = {"dialog_id": dialog, "item_id": item, "place": 1, "at": self.review.clock()}
        connection.execute(relaunches.insert(), row)

    def holds(self) -> None:
        found = self.dialogs()
        complete = [d for d in found if d.outcome == "complete"]
        takes = [d.item_id for d in complete if d.acceptance != "rejected"]
        assert len(takes) == len(set(takes))
        lost = {d.id for d in found if d.outcome != "complete" or d.acceptance == "rejected"}
        relaunched = [row["dialog_id"] for row in rows_of(self.review.record, relaunches)]
        assert sorted(relaunched) == sorted(lost)
        judged = rows_of(self.review.record, judgements)
        decided = {row["dialog_id"]: row["verdict"] for row in judged if row["decides"]}
        assert decided == {d.id: d.acceptance for d in complete if d.acceptance}
        assert all(row["dialog_id"] in decided for row in judged)


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5])
async def test_any_order_of_judging_and_taking_back_keeps_the_promises(
    database_url: str, seed: int
) -> None:
    """A place has one dialog that counts at most; a rejected dialog leads to one relaunch, and
    one that is not, or not any more, to none."""
    async with reviewing(database_url) as review:
        for _ in range(4):
            review.ended()
        model = Model(review, random.Random(seed))
        for _ in range(50):
            await model.step()
            model.holds()
        assert model.undone, "the steps come to nothing"
