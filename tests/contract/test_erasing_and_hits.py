"""Who was erased is not learnt again from a marketplace, and is no stranger who is paid again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from dialogs.record import erasing, payments
from dialogs.record.errors import Conflict
from dialogs.record.hits import assignments_by_id
from dialogs.record.unowed import handed_in_for_nothing, never_came
from dialogs.rules import ERASED, AssignmentStatus, HitState, LedgerState, StudyStatus
from hit_manager.reconciler import THOROUGH
from tests.records import STUDY
from tests.recruiting import Recruiting, recruiting, release


@pytest_asyncio.fixture
async def at(database_url: str, tmp_path: Path) -> AsyncIterator[Recruiting]:
    async with recruiting(database_url, tmp_path) as opened:
        opened.study_of_items("dog", "cat")
        yield opened


def erase(at: Recruiting, arrival: str) -> None:
    url = at.record.engine.url.render_as_string(hide_password=False)
    worker = arrival.replace("arrival", "worker")
    assert erasing.erase(url, [worker], lambda _, name: f"{ERASED}{name[::-1]}", 1.0)


async def told(at: Recruiting, arrival: str) -> Any:
    name = at.visits[arrival].assignment_id
    return (await at.record.read(assignments_by_id, STUDY, [name])).get(name)


async def books(at: Recruiting) -> dict[str, Any]:
    """All that money and people are counted by."""
    outbox = at.manager.outbox
    return {
        "totals": await at.record.read(payments.ledger_totals, STUDY),
        "spent": await outbox.spent(),
        "committed": await outbox.committed(),
        "strangers": await at.record.read(never_came, STUDY),
        "for nothing": await at.record.read(handed_in_for_nothing, STUDY),
    }


async def rounds(at: Recruiting, number: int = THOROUGH + 2) -> list[int]:
    """Rounds, one of which looks at everything; how many payments each made."""
    return [(await at.round()).paid.payments for _ in range(number)]


async def test_a_paid_person_is_paid_no_more_and_stays_erased(at: Recruiting) -> None:
    await at.round()
    gone, other = await at.worked(), await at.worked()
    assert sum(await rounds(at, 3)) == 2
    before, got = await books(at), await at.got(gone)
    assert got == ([50], [100])
    assert (await told(at, gone)).worker == at.visits[gone].worker_id
    erase(at, gone)
    assert sum(await rounds(at)) == 0
    assert await books(at) == before
    assert await at.got(gone) == got
    row = await told(at, gone)
    assert (row.worker, row.code) == (f"{ERASED}{at.visits[gone].worker_id[::-1]}", None)
    assert (await told(at, other)).worker == at.visits[other].worker_id
    # A manager that knows nothing of the first one's rounds, and all that it looks at anew.
    at.set()
    assert sum(await rounds(at)) == 0
    assert await books(at) == before
    assert (await told(at, gone)).worker == row.worker


async def test_what_becomes_of_the_work_is_learnt_still(at: Recruiting) -> None:
    """Somebody left, is owed nothing, is erased, and hands in all the same."""
    await at.round()
    [hit, *_] = await at.hits(HitState.OPEN)
    gone = await at.arrive(hit)
    at.write(release, gone, 0)
    assert await told(at, gone) is None
    erase(at, gone)
    await at.hand_in(gone)
    assert sum(await rounds(at)) == 0
    row = await told(at, gone)
    assert row.status is AssignmentStatus.SUBMITTED
    assert (row.worker, row.code) == (f"{ERASED}{at.visits[gone].worker_id[::-1]}", None)
    # By their arrival, not as a stranger.
    assert await at.record.read(never_came, STUDY) == []
    assert await at.record.read(handed_in_for_nothing, STUDY) == [gone]
    await at.stage.recruiter.reject(row.id, "Nothing was done.")
    assert sum(await rounds(at)) == 0
    row = await told(at, gone)
    assert (row.status, row.code) == (AssignmentStatus.REJECTED, None)
    assert row.worker.startswith(ERASED)


async def test_its_hit_is_cleared_away_all_the_same(at: Recruiting) -> None:
    await at.round()
    gone = await at.worked()
    await rounds(at, 3)
    assert (await at.payment(gone)).state is LedgerState.PAID
    erase(at, gone)
    hits = {visit.hit_id for visit in at.visits.values()}
    await at.study_becomes(StudyStatus.PAUSED)
    await rounds(at)
    assert {hit.remote_id for hit in await at.hits(HitState.DONE)} >= hits


async def test_who_is_still_to_be_paid_stays_and_is_paid(at: Recruiting) -> None:
    await at.round()
    gone = await at.worked()
    with pytest.raises(Conflict):
        erase(at, gone)
    assert sum(await rounds(at, 3)) == 1
    assert await at.got(gone) == ([50], [100])
