"""What the team wants of people and payments, carried out once through each recruiter."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import update

from dialogs.record import payments, requests, studies
from dialogs.record.hits import assignments_by_id
from dialogs.record.requests import TeamRequest
from dialogs.record.rounds import LastRound, last_round
from dialogs.record.store import Record
from dialogs.record.tables import erasures, ledger
from dialogs.record.unowed import handed_in_for_nothing
from dialogs.rules import (
    AssignmentStatus,
    HitState,
    LedgerState,
    RequestKind,
    RequestState,
)
from hit_manager.config import HitConfig
from hit_manager.manager import HitManager
from hit_manager.recruiters.base import Unavailable, Unsure
from hit_manager.recruiters.link import Link
from tests.chaos.hits_child import Point
from tests.chaos.hits_run import Killing, killing
from tests.contract.recruiters import NoSeat
from tests.live import until
from tests.prolific_recruiting import ProlificRecruiting, recruiting_there
from tests.records import STUDY, opened
from tests.recruiting import CONFIG, Recruiting, add_arrival, recruiting, release

TEXT = {"subject": "Thank you", "text": "You did well."}


@pytest_asyncio.fixture
async def at(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Recruiting]:
    async with recruiting(sqlite_url, tmp_path) as made:
        made.study_of_items("dog", "cat")
        await made.round()
        yield made


@pytest_asyncio.fixture
async def there(sqlite_url: str, tmp_path: Path) -> AsyncIterator[ProlificRecruiting]:
    async with recruiting_there(sqlite_url, tmp_path) as made:
        made.study_of_items("dog", "cat")
        await made.round()
        yield made


async def ask(
    record: Record, kind: RequestKind, target: str, name: str = "request-1", **data: Any
) -> None:
    await record.writer.commit(requests.asked(STUDY, name, None, kind, target, data, 5.0))


async def of(record: Record, name: str = "request-1") -> TeamRequest:
    return (await record.read(requests.requests_by_id, [name]))[name]


async def became(record: Record, name: str = "request-1") -> tuple[RequestState, str | None]:
    request = await of(record, name)
    return request.state, request.problem


async def status_of(at: Recruiting, arrival: str) -> AssignmentStatus:
    """What was seen of the work: HITs whose work is all reviewed are cleared away over there."""
    name = at.visits[arrival].assignment_id
    return (await at.record.read(assignments_by_id, STUDY, [name]))[name].status


async def bonuses(record: Record, arrival: str) -> list[tuple[str, int, LedgerState]]:
    found = await record.read(payments.payments_of, [arrival])
    return [(p.reason, p.cents, p.state) for p in found if p.reason.startswith("bonus-")]


def worker_of(arrival: str) -> str:
    return arrival.replace("arrival", "worker")


# --- Bonuses -----------------------------------------------------------------------------------


async def test_a_bonus_is_given_once_and_paid(at: Recruiting) -> None:
    arrival = await at.worked(150)
    await ask(at.record, RequestKind.BONUS, arrival, cents=25, reason="You waited long.")
    for _ in range(3):
        await at.round()
        at.stage.clock.advance(61.0)
    assert await became(at.record) == (RequestState.DONE, None)
    assert await bonuses(at.record, arrival) == [("bonus-request-1", 25, LedgerState.PAID)]
    assert await at.got(arrival) == ([50], [100, 25])


async def test_a_bonus_that_the_budget_does_not_cover_is_refused_in_words(at: Recruiting) -> None:
    arrival = await at.worked(150)
    # 1.50 and the commission on it, and ten cents more.
    at.set(budget=190)
    await ask(at.record, RequestKind.BONUS, arrival, cents=25, reason="You waited long.")
    await at.round()
    state, problem = await became(at.record)
    assert state is RequestState.FAILED
    assert problem is not None
    assert "with its commission it would take 0.30 USD" in problem
    assert "left of the budget of 1.90 USD" in problem
    assert await bonuses(at.record, arrival) == []


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"cents": 25, "reason": " "}, "the reason must say something"),
        ({"cents": 25, "reason": "x" * 1001}, "1000 characters or fewer"),
        ({"cents": 0, "reason": "Thanks."}, "no amount"),
        ({"cents": 2**31, "reason": "Thanks."}, "no amount"),
    ],
)
async def test_a_bonus_that_nobody_could_send_is_not_given(
    at: Recruiting, data: dict[str, Any], said: str
) -> None:
    arrival = await at.worked(150)
    await ask(at.record, RequestKind.BONUS, arrival, **data)
    await at.round()
    state, problem = await became(at.record)
    assert state is RequestState.FAILED
    assert said in (problem or "")
    assert await bonuses(at.record, arrival) == []


async def test_nothing_is_given_to_somebody_who_was_erased(at: Recruiting) -> None:
    arrival = await at.worked(150)
    gone = {"worker_id": worker_of(arrival), "at": 1.0, "arrivals": 1, "texts": 0}
    at.write(lambda connection: connection.execute(erasures.insert(), gone))
    await ask(at.record, RequestKind.BONUS, arrival, cents=25, reason="Thanks.")
    await ask(at.record, RequestKind.MESSAGE, worker_of(arrival), "request-2", **TEXT)
    await at.round()
    for name in ("request-1", "request-2"):
        state, problem = await became(at.record, name)
        assert state is RequestState.FAILED
        assert "erased on request" in (problem or "")


# --- Refusing work -----------------------------------------------------------------------------


async def came(at: Recruiting, cents: int = 0) -> str:
    """Somebody has worked, is owed so much, and has not handed in yet."""
    arrival = await at.arrive((await at.hits(HitState.OPEN))[0])
    at.write(release, arrival, cents)
    return arrival


async def test_work_is_refused_as_soon_as_it_is_handed_in(at: Recruiting) -> None:
    arrival = await came(at)
    await ask(at.record, RequestKind.REJECT, arrival, reason="Nothing was written.")
    await at.round()
    assert (await became(at.record))[0] is RequestState.WANTED
    await at.hand_in(arrival)
    at.stage.clock.advance(61.0)
    await at.round()
    assert await became(at.record) == (RequestState.DONE, None)
    assert await status_of(at, arrival) is AssignmentStatus.REJECTED


async def test_work_is_not_refused_while_something_is_owed_for_it(at: Recruiting) -> None:
    arrival = await came(at, 150)
    await at.hand_in(arrival)
    await ask(at.record, RequestKind.REJECT, arrival, reason="Nothing was written.")
    await at.manager.requests.once()
    state, problem = await became(at.record)
    assert (state, problem) == (
        RequestState.FAILED,
        "is owed 1.50 USD by the rules of the study, so the work cannot be refused",
    )
    assert await at.status_there(arrival) is AssignmentStatus.SUBMITTED


async def test_work_that_was_refused_beside_a_bonus_is_named(at: Recruiting) -> None:
    """The bonus was asked before; nobody else would say that the work waits."""
    arrival = await came(at)
    await at.hand_in(arrival)
    await ask(at.record, RequestKind.BONUS, arrival, cents=50, reason="Thanks.")
    await at.round()
    assert await at.record.read(handed_in_for_nothing, STUDY) == []
    await ask(at.record, RequestKind.REJECT, arrival, "request-2", reason="Nothing was written.")
    await at.round()
    state, problem = await became(at.record, "request-2")
    assert (state, "was given 0.50 USD by hand" in (problem or "")) == (RequestState.FAILED, True)
    assert await at.status_there(arrival) is AssignmentStatus.SUBMITTED
    assert await at.record.read(handed_in_for_nothing, STUDY) == [arrival]


async def test_work_of_somebody_else_is_not_refused(at: Recruiting) -> None:
    """A link can name anybody's work."""
    hit = (await at.hits(HitState.OPEN))[0]
    arrival = await at.arrive(hit, external_id="SOMEBODYELSE")
    at.write(release, arrival, 0)
    await at.hand_in(arrival)
    await ask(at.record, RequestKind.REJECT, arrival, reason="Nothing was written.")
    await at.round()
    assert await became(at.record) == (
        RequestState.FAILED,
        "over there, somebody else did this work",
    )
    assert await at.status_there(arrival) is AssignmentStatus.SUBMITTED


async def test_work_that_never_comes_is_not_waited_for_for_ever(at: Recruiting) -> None:
    arrival = await came(at)
    await ask(at.record, RequestKind.REJECT, arrival, reason="Nothing was written.")
    at.stage.clock.advance(CONFIG.assignment_duration_s + 1000.0)
    await at.round()
    state, problem = await became(at.record)
    assert state is RequestState.DONE
    assert "never handed in" in (problem or "")


async def test_work_that_never_comes_is_not_waited_for_on_prolific(
    there: ProlificRecruiting,
) -> None:
    """There, what is not handed in is shown as taken."""
    (arrival,) = await there.come_in(1)
    there.write(release, arrival, 0)
    await ask(there.record, RequestKind.REJECT, arrival, reason="No text. " * 20)
    await there.manager.round()
    assert (await became(there.record))[0] is RequestState.WANTED
    there.stage.clock.advance(CONFIG.assignment_duration_s + 1000.0)
    await there.manager.round()
    state, problem = await became(there.record)
    assert state is RequestState.DONE
    assert "so nothing is paid for it" in (problem or "")


# --- Messages ----------------------------------------------------------------------------------


async def paid(at: Recruiting) -> str:
    """Somebody whose work was approved: only they can be written to."""
    arrival = await at.worked(150)
    await at.round()
    at.stage.clock.advance(61.0)
    return arrival


async def inbox(at: Recruiting, arrival: str) -> list[str]:
    return list(await at.stage.inbox(at.visits[arrival].worker_id))


async def test_a_message_reaches_the_worker_once(at: Recruiting) -> None:
    arrival = await paid(at)
    await ask(at.record, RequestKind.MESSAGE, worker_of(arrival), **TEXT)
    for _ in range(3):
        await at.round()
        at.stage.clock.advance(61.0)
    assert await became(at.record) == (RequestState.DONE, None)
    assert await inbox(at, arrival) == ["You did well."]


async def test_who_cannot_be_reached_is_told(at: Recruiting) -> None:
    arrival = await at.arrive((await at.hits(HitState.OPEN))[0])
    await ask(at.record, RequestKind.MESSAGE, worker_of(arrival), **TEXT)
    await at.round()
    state, problem = await became(at.record)
    assert state is RequestState.FAILED
    assert problem
    assert await inbox(at, arrival) == []


async def test_a_message_that_may_have_been_sent_is_not_sent_again(
    at: Recruiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrival = await paid(at)
    await ask(at.record, RequestKind.MESSAGE, worker_of(arrival), **TEXT)
    sends = at.stage.recruiter.message

    async def answers_not(*words: Any) -> dict[str, str]:
        await sends(*words)
        raise Unsure("no answer")

    monkeypatch.setattr(at.stage.recruiter, "message", answers_not)
    for _ in range(3):
        await at.round()
        at.stage.clock.advance(4000.0)
    state, problem = await became(at.record)
    assert state is RequestState.FAILED
    assert "may have been sent" in (problem or "")
    assert await inbox(at, arrival) == ["You did well."]


async def test_what_the_recruiter_does_not_answer_is_asked_again_ever_later(
    at: Recruiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrival = await paid(at)
    await ask(at.record, RequestKind.MESSAGE, worker_of(arrival), **TEXT)

    async def away(*words: Any) -> dict[str, str]:
        raise Unavailable("nobody is there")

    waits = []
    with monkeypatch.context() as patch:
        patch.setattr(at.stage.recruiter, "message", away)
        for _ in range(3):
            await at.round()
            request = await of(at.record)
            assert (request.state, request.problem) == (RequestState.WANTED, "nobody is there")
            assert request.retry_at is not None
            waits.append(request.retry_at - at.stage.clock.now())
            await at.round()
            assert await of(at.record) == request
            at.stage.clock.advance(waits[-1] + 1.0)
    assert waits == [10.0, 20.0, 40.0]
    await at.round()
    assert await inbox(at, arrival) == ["You did well."]


# --- Keeping away ------------------------------------------------------------------------------


async def test_a_worker_is_kept_away_and_let_in_again(at: Recruiting) -> None:
    arrival = await paid(at)
    worker, hit = at.visits[arrival].worker_id, (await at.open_there())[0]
    await ask(at.record, RequestKind.BLOCK, worker_of(arrival), reason="Wrote nothing.")
    await at.round()
    with pytest.raises(NoSeat):
        await at.stage.take_again(worker, hit)
    await ask(at.record, RequestKind.UNBLOCK, worker_of(arrival), "request-2")
    await at.round()
    assert await at.stage.take_again(worker, hit)
    assert [(await became(at.record, f"request-{n}"))[0] for n in (1, 2)] == [RequestState.DONE] * 2


async def test_an_older_wish_that_was_put_off_does_not_undo_a_newer_one(
    at: Recruiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrival = await paid(at)
    worker, hit = at.visits[arrival].worker_id, (await at.open_there())[0]
    await ask(at.record, RequestKind.BLOCK, worker_of(arrival), reason="Wrote nothing.")

    async def away(*words: Any) -> None:
        raise Unavailable("nobody is there")

    with monkeypatch.context() as patch:
        patch.setattr(at.stage.recruiter, "block", away)
        await at.round()
    await at.record.writer.commit(
        requests.asked(STUDY, "request-2", None, RequestKind.UNBLOCK, worker_of(arrival), {}, 6.0)
    )
    await at.round()
    at.stage.clock.advance(4000.0)
    await at.round()
    assert await at.stage.take_again(worker, hit)
    assert (await became(at.record))[0] is RequestState.DONE


# --- Payments ----------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [LedgerState.FAILED, LedgerState.HELD])
async def test_a_payment_that_failed_is_tried_again(at: Recruiting, state: LedgerState) -> None:
    arrival = await came(at, 150)
    at.write(
        lambda connection: connection.execute(
            update(ledger).values(state=state.value, problem="no money")
        )
    )
    await at.hand_in(arrival)
    await ask(at.record, RequestKind.RETRY, arrival, reason="dialog")
    await at.round()
    assert await became(at.record) == (RequestState.DONE, None)
    payment = await at.payment(arrival)
    assert (payment.state, payment.problem) == (LedgerState.PAID, None)
    assert await at.got(arrival) == ([50], [100])


async def test_a_payment_that_was_taken_back_stays_so(at: Recruiting) -> None:
    arrival = await came(at, 150)
    await at.record.writer.commit(payments.cancelled(await at.payment(arrival), "wrong"))
    await ask(at.record, RequestKind.RETRY, arrival, reason="dialog")
    await at.round()
    assert await became(at.record) == (RequestState.FAILED, "this payment was taken back")
    assert (await at.payment(arrival)).state is LedgerState.CANCELLED


# --- A link ------------------------------------------------------------------------------------


async def test_a_link_gives_bonuses_and_reaches_nobody(sqlite_url: str) -> None:
    config = HitConfig(STUDY, "t", "d", "k", 0, 150, "USD", "https://study.example.org")
    async with opened(sqlite_url) as record:
        await record.writer.commit(studies.new_study(STUDY, {}, 1.0))
        with record.engine.begin() as connection:
            add_arrival(connection, 0, recruiter="link")
            release(connection, "arrival-0", 0)
        await ask(record, RequestKind.BONUS, "arrival-0", "request-1", cents=25, reason="Thanks.")
        await ask(record, RequestKind.MESSAGE, "worker-0", "request-2", **TEXT)
        await ask(record, RequestKind.BLOCK, "worker-0", "request-3", reason="Wrote nothing.")
        await ask(record, RequestKind.REJECT, "arrival-0", "request-4", reason="Nothing there.")
        manager = HitManager(record, Link(), config)
        await manager.round()
        assert await bonuses(record, "arrival-0") == [("bonus-request-1", 25, LedgerState.APPROVED)]
        assert await became(record, "request-2") == (
            RequestState.FAILED,
            "who came by a link cannot be reached by a link; write to them by other means",
        )
        state, problem = await became(record, "request-3")
        assert state is RequestState.FAILED
        assert "cannot be kept away" in (problem or "")
        assert await became(record, "request-4") == (
            RequestState.DONE,
            "the recruiter 'link' takes no work in",
        )
        await manager.close()


async def test_a_request_is_carried_out_at_once_when_somebody_says_so(sqlite_url: str) -> None:
    config = HitConfig(STUDY, "t", "d", "k", 0, 150, "USD", "https://study.example.org",
                       interval_s=600.0)  # fmt: skip
    async with opened(sqlite_url) as record:
        await record.writer.commit(studies.new_study(STUDY, {}, 1.0))
        with record.engine.begin() as connection:
            add_arrival(connection, 0, recruiter="link")
            release(connection, "arrival-0", 0)
        stop, soon = asyncio.Event(), asyncio.Event()
        manager = HitManager(record, Link(), config)
        work = asyncio.create_task(manager.run(stop, soon))

        def noted() -> LastRound | None:
            with record.engine.connect() as connection:
                return last_round(connection, STUDY)

        await until(noted)
        await ask(record, RequestKind.BONUS, "arrival-0", cents=25, reason="Thanks.")
        soon.set()

        def done() -> bool:
            with record.engine.connect() as connection:
                found = requests.requests_at(connection, "arrival-0")
                return found[0].state is RequestState.DONE

        await until(done, within=10.0)
        stop.set()
        await work


# --- Prolific ----------------------------------------------------------------------------------


async def test_prolific_carries_all_of_it_out(there: ProlificRecruiting) -> None:
    good, bad = await there.come_in(2)
    there.write(release, good, 150)
    there.write(release, bad, 0)
    for arrival in (good, bad):
        await there.hand_in(arrival)
    await ask(there.record, RequestKind.BONUS, good, "request-1", cents=25, reason="Thanks.")
    await ask(
        there.record, RequestKind.REJECT, bad, "request-2", reason="Nothing was written. " * 8
    )
    await ask(there.record, RequestKind.MESSAGE, worker_of(good), "request-3", **TEXT)
    await ask(there.record, RequestKind.BLOCK, worker_of(bad), "request-4", reason="Wrote nothing.")
    for _ in range(4):
        await there.round()
        there.stage.clock.advance(61.0)
    for n in range(1, 5):
        assert await became(there.record, f"request-{n}") == (RequestState.DONE, None), n
    assert await status_of(there, bad) is AssignmentStatus.REJECTED
    assert await there.got(good) == ([150], [25])
    assert len(await inbox(there, good)) == 1
    hit = next(h for h in await there.hits() if h.remote_id)
    with pytest.raises(NoSeat):
        await there.stage.take_again(there.visits[bad].worker_id, hit.remote_id or "")


# --- Death -------------------------------------------------------------------------------------


async def ready(killed: Killing) -> tuple[str, str]:
    """Somebody whose work is paid, and somebody who is owed nothing, handed in."""
    at = killed.at
    at.study_of_items("dog", "cat")
    await killed.life()
    good = await at.worked(150)
    await killed.life()
    bad = await at.worked(0)
    return good, bad


@pytest.mark.parametrize(
    "point",
    [
        *(Point("commit", moment, nth) for nth in range(1, 5) for moment in ("before", "after")),
        Point("reject", "before"),
        Point("reject", "after"),
        Point("message", "before"),
        Point("message", "after"),
    ],
    ids=str,
)
async def test_whoever_dies_leaves_nothing_undone_and_nothing_done_twice(
    sqlite_url: str, tmp_path: Path, point: Point
) -> None:
    async with killing(sqlite_url, tmp_path, 1) as killed:
        good, bad = await ready(killed)
        at = killed.at
        await ask(at.record, RequestKind.MESSAGE, worker_of(good), "request-1", **TEXT)
        await ask(at.record, RequestKind.REJECT, bad, "request-2", reason="Nothing was written.")
        await ask(at.record, RequestKind.BONUS, good, "request-3", cents=25, reason="Thanks.")
        assert await killed.life(point) == -9
        for _ in range(3):
            await killed.life()
        state, problem = await became(at.record)
        sent = len(await inbox(at, good))
        if state is RequestState.DONE:
            assert sent == 1
        else:
            assert sent <= 1
            assert "may have been sent" in (problem or "")
        assert await became(at.record, "request-2") == (RequestState.DONE, None)
        assert await status_of(at, bad) is AssignmentStatus.REJECTED
        assert await became(at.record, "request-3") == (RequestState.DONE, None)
        assert await bonuses(at.record, good) == [("bonus-request-3", 25, LedgerState.PAID)]
        assert await at.got(good) == ([50], [100, 25])


# --- What the monitor reads of the rounds ------------------------------------------------------


async def test_how_a_round_went_is_kept_and_seldom_written(
    at: Recruiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def noted() -> LastRound:
        found = await at.record.read(last_round, STUDY)
        assert found is not None
        return found

    first = await noted()
    assert (first.good_at, first.problems) == (first.at, ())
    at.stage.clock.advance(15.0)
    await at.round()
    assert await noted() == first
    recruiter = at.stage.recruiter

    async def away() -> Any:
        raise Unavailable("nobody is there")

    with monkeypatch.context() as patch:
        patch.setattr(recruiter, "hits", away)
        await at.round()
    failed = await noted()
    assert (failed.at, failed.good_at) == (at.stage.clock.now(), first.at)
    assert failed.problems == ("nobody is there",)
    await at.round()
    assert (await noted()).problems == ()
    at.stage.clock.advance(60.0)
    await at.round()
    assert (await noted()).at == at.stage.clock.now()
