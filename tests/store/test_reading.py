"""What the team reads of dialogs, people, HITs and payments."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, insert, update

from dialogs.dialog import Leave, PairAgain
from dialogs.record import accounts, listing, people
from dialogs.record.listing import PAGE, Filters
from dialogs.record.people import Wanted
from dialogs.record.tables import (
    admins,
    arrivals,
    assignments,
    dialogs,
    findings,
    hits,
    judgements,
    ledger,
    relaunch_seats,
    seats,
    workers,
)
from dialogs.record.whole import whole
from dialogs.rules import (
    Acceptance,
    AdminRole,
    ArrivalStatus,
    Ending,
    HitState,
    LedgerState,
    Phase,
    Release,
    Role,
    SeatStatus,
)
from tests.records import OPENED_AT, STUDY, begin_study, never_paired, open_a_dialog, opened
from tests.store.test_overview import carry_out, talk_to_the_end


def add_admin(connection: Connection, name: str = "Ada") -> str:
    row = {
        "id": f"admin-{name}",
        "name": name,
        "role": AdminRole.OWNER.value,
        "password": "-",
        "created_at": 1.0,
    }
    connection.execute(insert(admins).values(row))
    return row["id"]  # type: ignore[return-value]


def flag(connection: Connection, dialog: str, number: int, kind: str, **more: object) -> None:
    row = {"dialog_id": dialog, "number": number, "flag": kind, "reason": "so", "at": 2.0, **more}
    connection.execute(insert(findings).values(row))


# --- Dialogs -------------------------------------------------------------------------------


async def test_filters_find_what_they_say(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=4, items=("dog", "cat"))
        first = await open_a_dialog(record, "d-1", 0, 1, "dog")
        await open_a_dialog(record, "d-2", 2, 3, "cat")
        await talk_to_the_end(record, first, OPENED_AT, 1.0)
        with record.engine.begin() as connection:
            admin = add_admin(connection)
            flag(connection, "d-1", 1, "repeats", role="questioner")
            flag(connection, "d-1", 2, "repeats")
            connection.execute(
                update(dialogs).where(dialogs.c.id == "d-1").values(acceptance="rejected")
            )
            connection.execute(
                update(dialogs).where(dialogs.c.id == "d-2").values(opened_at=OPENED_AT + 60)
            )
            judged = {"dialog_id": "d-1", "admin_id": admin, "reason": "", "at": 3.0}
            connection.execute(
                insert(judgements).values(**judged, verdict="rejected", decides=True, again=False)
            )

        async def found(**how: object) -> list[str]:
            rows, total, following = await record.read(
                listing.listed,
                STUDY,
                Filters(**how),  # type: ignore[arg-type]
            )
            assert total == len(rows)
            assert following is None
            return [row.id for row in rows]

        assert await found() == ["d-2", "d-1"]
        assert await found(phase=Phase.PAIRED) == ["d-2"]
        assert await found(outcome=Ending.COMPLETE) == ["d-1"]
        assert await found(acceptance=Acceptance.REJECTED) == ["d-1"]
        assert await found(flag="repeats") == ["d-1"]
        assert await found(flag="other") == []
        assert await found(worker="worker-3") == ["d-2"]
        assert await found(since=OPENED_AT + 1) == ["d-2"]
        assert await found(until=OPENED_AT + 1) == ["d-1"]
        assert (await record.read(listing.listed, "another", Filters()))[0] == []
        (_, row), _, _ = await record.read(listing.listed, STUDY, Filters())
    assert row.messages == 4
    assert row.flags == ("repeats",)
    assert sorted(row.workers) == ["worker-0", "worker-1"]
    assert row.judged_by == ("Ada",)
    assert row.ended_at == OPENED_AT + 4


async def test_pages_leave_nothing_out_and_show_nothing_twice(database_url: str) -> None:
    many = PAGE + 7
    async with opened(database_url) as record:
        await begin_study(record, people=2 * many, items=[f"item-{n:03d}" for n in range(many)])
        for n in range(many):
            await open_a_dialog(record, f"d-{n:03d}", 2 * n, 2 * n + 1, f"item-{n:03d}")
        first, total, after = await record.read(listing.listed, STUDY, Filters())
        assert after is not None
        rest, again, end = await record.read(listing.listed, STUDY, Filters(), after)
        assert (total, again, end) == (many, many, None)
        # All were opened in the same moment.
        ids = [row.id for row in first + rest]
        assert ids == sorted((f"d-{n:03d}" for n in range(many)), reverse=True)
        some, total, after = await record.read(people.people, STUDY, Wanted())
        assert (len(some), total) == (PAGE, 2 * many)
        assert after is not None
        seen = {p.id for p in some}
        while after is not None:
            more, _, after = await record.read(people.people, STUDY, Wanted(), after)
            assert not seen & {p.id for p in more}
            seen |= {p.id for p in more}
        assert len(seen) == 2 * many


# --- One dialog ----------------------------------------------------------------------------


async def test_a_dialog_with_all_that_belongs_to_it(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=2)
        state = await open_a_dialog(record, "d", 0, 1)
        state = await carry_out(record, state, Leave(Role.QUESTIONER), OPENED_AT + 9)
        with record.engine.begin() as connection:
            admin = add_admin(connection)
            flag(connection, "d", 1, "pasted", role="answerer", round=1, seq=2)
            flag(connection, "d", 2, "team", admin_id=admin)
        found = await record.read(whole, STUDY, "d")
        assert await record.read(whole, "another", "d") is None
        assert await record.read(whole, STUDY, "none") is None
    assert found is not None
    assert [e.kind for e in found.events] == ["opened", "seat_lost"]
    assert found.state == state
    assert found.item.image_id == "image-dog"
    assert [(f.flag, f.role, f.by) for f in found.findings] == [
        ("pasted", Role.ANSWERER, None),
        ("team", None, "Ada"),
    ]
    assert found.relaunched
    assert set(found.people) == {"worker-0", "worker-1"}
    assert found.people["worker-0"].left == 1
    # Who left is owed nothing, and the other is still there.
    assert found.payments == ()


# --- People --------------------------------------------------------------------------------


async def test_what_somebody_has_done(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=3)
        await talk_to_the_end(record, await open_a_dialog(record, "d", 0, 1), OPENED_AT, 5.0)
        await record.writer.commit(never_paired(2))
        with record.engine.begin() as connection:
            flag(connection, "d", 1, "pasted", role="questioner")
            flag(connection, "d", 2, "same_address")
            connection.execute(
                update(ledger)
                .where(ledger.c.arrival_id == "arrival-0")
                .values(state=LedgerState.PAID.value)
            )
            connection.execute(
                update(workers)
                .where(workers.c.id == "worker-2")
                .values(excluded_at=5.0, excluded_why="spam")
            )
        by_id = await record.read(people.people_by_id, STUDY, [f"worker-{n}" for n in range(3)])
        habits = await record.read(people.habits, ["worker-0", "worker-1", "worker-2"])
        ended = await record.read(people.releases_of_worker, "worker-2")
        assert await record.read(people.people_by_id, "another", ["worker-0"]) == {}

        async def found(**how: object) -> list[str]:
            rows, total, _ = await record.read(
                people.people,
                STUDY,
                Wanted(**how),  # type: ignore[arg-type]
            )
            assert total == len(rows)
            return sorted(row.id for row in rows)

        assert await found(excluded=True) == ["worker-2"]
        assert await found(flagged=True) == ["worker-0", "worker-1"]
        assert await found(search="person-1") == ["worker-1"]
        assert await found(search="worker-") == ["worker-0", "worker-1", "worker-2"]
        # No wildcards: people are looked for by what their ids are.
        assert await found(search="%") == []
        assert await found(search="worker_0") == []
    asker, teller, waiter = (by_id[f"worker-{n}"] for n in range(3))
    assert (asker.dialogs, asker.complete, asker.flags) == (1, 1, 2)
    assert (teller.flags, teller.owed, teller.paid) == (1, 150, 0)
    assert (asker.owed, asker.paid, asker.inside) == (0, 150, None)
    assert (waiter.dialogs, waiter.owed, waiter.excluded_why) == (0, 10, "spam")
    assert habits["worker-1"].answer_s == 5.0
    assert habits["worker-1"].words == 2
    assert habits["worker-2"].answer_s is None
    assert ended == {Release.NEVER_PAIRED: 1}


async def test_a_seat_that_was_given_up_is_no_dialog(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=2)
        await open_a_dialog(record, "d", 0, 1)
        with record.engine.begin() as connection:
            connection.execute(
                update(seats)
                .where(seats.c.worker_id == "worker-0")
                .values(status=SeatStatus.GIVEN_UP.value)
            )
            connection.execute(
                update(arrivals)
                .where(arrivals.c.id == "arrival-0")
                .values(status=ArrivalStatus.WAITING.value)
            )
        found = await record.read(people.people_by_id, STUDY, ["worker-0", "worker-1"])
    assert (found["worker-0"].dialogs, found["worker-0"].inside) == (0, ArrivalStatus.WAITING)
    assert (found["worker-1"].dialogs, found["worker-1"].inside) == (1, ArrivalStatus.SEATED)


# --- HITs and payments ---------------------------------------------------------------------


def hit(n: int, state: HitState = HitState.OPEN) -> dict[str, object]:
    return {
        "id": f"h-{n}",
        "study_id": STUDY,
        "recruiter": "mturk",
        "token": f"token-{n}",
        "state": state.value,
        "seats": 1,
        "reward": 50,
        "currency": "USD",
        "created_at": float(n),
    }


async def test_hits_and_what_was_relaunched(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=2, items=("dog", "cat"))
        state = await open_a_dialog(record, "d", 0, 1, "cat")
        await carry_out(record, state, Leave(Role.QUESTIONER), OPENED_AT + 9)
        with record.engine.begin() as connection:
            on_its_way = {"pending": 2}
            connection.execute(
                insert(hits), [hit(1, HitState.DONE) | {"pending": 0}, hit(2) | on_its_way]
            )
            held = (
                ("as-1", "h-1", "approved"),
                ("as-2", "h-2", "taken"),
                ("as-3", "h-2", "returned"),
            )
            for name, hit_id, status in held:
                row = {"id": name, "study_id": STUDY, "hit_id": hit_id, "status": status}
                connection.execute(insert(assignments).values(row | {"worker": name}))
            seat = {"dialog_id": "d", "hit_id": "h-2", "seats": 1, "upto": 1}
            connection.execute(insert(relaunch_seats).values(seat))
        rows, total, _ = await record.read(accounts.listed_hits, STUDY, None, None)
        # Who has not handed in counts by what the recruiter says, who has by their assignment.
        assert [(row.id, row.taken) for row in rows] == [("h-2", 2), ("h-1", 1)]
        assert total == 2
        rows, total, _ = await record.read(accounts.listed_hits, STUDY, HitState.DONE, None)
        assert [row.id for row in rows] == ["h-1"]
        states = await record.read(accounts.hits_by_state, STUDY)
        assert states == {HitState.DONE: 1, HitState.OPEN: 1}
        failed, total, after = await record.read(accounts.relaunched_items, STUDY, None)
        assert (total, after) == (1, None)
        assert [(f.image_id, f.complete, f.dialogs) for f in failed] == [
            ("image-cat", 0, (("d", "solo", ("h-2",)),))
        ]


async def test_payments_by_state_and_by_what_is_in_their_way(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=3)
        for n in range(3):
            await record.writer.commit(never_paired(n))
        with record.engine.begin() as connection:
            for n, (state, problem) in enumerate(
                ((LedgerState.PAID, "paid by hand"), (LedgerState.FAILED, "no"), (None, None))
            ):
                if state is not None:
                    connection.execute(
                        update(ledger)
                        .where(ledger.c.arrival_id == f"arrival-{n}")
                        .values(state=state.value, problem=problem)
                    )

        async def found(**how: object) -> list[str]:
            rows, total, _ = await record.read(
                accounts.listed_payments,
                STUDY,
                **how,  # type: ignore[arg-type]
            )
            assert total == len(rows)
            return sorted(row.payment.arrival_id for row in rows)

        assert await found() == ["arrival-0", "arrival-1", "arrival-2"]
        assert await found(states=(LedgerState.OWED,)) == ["arrival-2"]
        assert await found(problem=True) == ["arrival-1"]


@pytest.mark.parametrize("cursor", [(OPENED_AT + 1, ""), (OPENED_AT, "arrival-0/zzz")])
async def test_a_page_of_payments_begins_after_its_place(
    database_url: str, cursor: tuple[float, str]
) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=2)
        for n in range(2):
            await record.writer.commit(never_paired(n))
        rows, _, _ = await record.read(accounts.listed_payments, STUDY, after=cursor)
    wanted = ["arrival-1", "arrival-0"] if cursor[0] > OPENED_AT else ["arrival-0"]
    assert [row.payment.arrival_id for row in rows] == wanted


async def test_a_payment_says_in_which_dialog_its_person_had_a_part(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=5, items=("dog", "cat"))
        left = await open_a_dialog(record, "d-1", 0, 1, "dog")
        left = await carry_out(record, left, Leave(Role.QUESTIONER), OPENED_AT + 9)
        # Who goes back to the lobby is paid for the dialog they finish, not for the one before.
        await carry_out(record, left, PairAgain(Role.ANSWERER), OPENED_AT + 10)
        again = await open_a_dialog(record, "d-2", 2, 1, "cat")
        await talk_to_the_end(record, again, OPENED_AT + 20, 1.0)
        await record.writer.commit(never_paired(3))
        rows, _, _ = await record.read(accounts.listed_payments, STUDY)
        found = {row.payment.arrival_id: row.dialog_id for row in rows}
        assert found == {"arrival-1": "d-2", "arrival-2": "d-2", "arrival-3": None}
        theirs = await record.read(accounts.payments_of_arrivals, ["arrival-1", "arrival-3"])
        assert {row.payment.arrival_id: row.dialog_id for row in theirs} == {
            "arrival-1": "d-2",
            "arrival-3": None,
        }
