"""HITs in the record: how many people are there, which relaunches wait, and what conflicts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from dialogs.record import hits as rows
from dialogs.record.engine import open_engine
from dialogs.record.errors import Conflict
from dialogs.record.hits import AssignmentRow, HitRow
from dialogs.record.supply import JUST_COME_S, Supply, chains, supply, unposted_relaunches
from dialogs.record.tables import assignments, hits, studies
from dialogs.record.wanted import MoreSeats, NewHit, RelaunchSeats, wanted_hits
from dialogs.rules import (
    Acceptance,
    ArrivalStatus,
    AssignmentStatus,
    HitState,
    Outcome,
    Phase,
    SeatStatus,
)
from tests.records import OPENED_AT, STUDY, begin_study, commit_all, opened, shared_database
from tests.recruiting import add_arrival, add_dialog, add_items, add_relaunch

NOW = OPENED_AT + 10_000.0
IDS = ("dog", "cat", "owl")


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def shared_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    with shared_database(request, tmp_path_factory.mktemp("hits")) as url:
        yield url


def add_hit(connection: Connection, name: str, **fields: Any) -> None:
    row = {
        "id": name,
        "study_id": STUDY,
        "recruiter": "mturk",
        "token": f"token-{name}",
        "remote_id": f"R{name}",
        "state": HitState.OPEN.value,
        "seats": 1,
        "reward": 50,
        "currency": "USD",
        "created_at": OPENED_AT,
        "seats_there": 0 if fields.get("remote_id", "") is None else fields.get("seats", 1),
        **fields,
    }
    connection.execute(hits.insert(), row)


def add_assignment(connection: Connection, name: str, hit: str, status: AssignmentStatus) -> None:
    row = {"study_id": STUDY, "id": name, "hit_id": hit, "worker": "A1", "status": status.value}
    connection.execute(assignments.insert(), row)


class World:
    """Random rows, and the same things counted one by one."""

    def __init__(self, chance: random.Random, connection: Connection) -> None:
        self.chance = chance
        self.wanted = {name: chance.randint(0, 3) for name in IDS}
        self.dialogs: list[dict[str, Any]] = []
        self.people: list[dict[str, Any]] = []
        self.hits: list[dict[str, Any]] = []
        for name, number in self.wanted.items():
            add_items(connection, [name], number)
        for n in range(chance.randint(0, 6)):
            self._hit(connection, f"h{n}")
        for n in range(chance.randint(0, 9)):
            self._person(connection, n)
        self._dialogs(connection)

    def _hit(self, connection: Connection, name: str) -> None:
        state = self.chance.choice(list(HitState))
        seats = self.chance.randint(1, 3)
        # One that was closed may be wanted again.
        again = state is HitState.WANTED and self.chance.random() < 0.5
        posted = again or state not in (HitState.WANTED, HitState.FAILED)
        hit = {
            "id": name,
            "state": state,
            "seats": seats,
            "free": self.chance.randint(0, seats) if again or state is HitState.OPEN else 0,
            "pending": self.chance.randint(0, seats) if posted else 0,
            "seats_there": self.chance.randint(1, seats + 1) if posted else 0,
            "remote_id": f"R{name}" if posted else None,
        }
        self.hits.append(hit)
        add_hit(connection, name, **{**hit, "state": state.value})

    def _person(self, connection: Connection, n: int) -> None:
        hit = self.chance.choice(self.hits)["id"] if self.hits and n % 4 else None
        person = {
            "n": n,
            "hit": hit,
            "status": self.chance.choice(list(ArrivalStatus)),
            "told": self.chance.choice([None, *AssignmentStatus]) if hit else None,
            "at": NOW - self.chance.choice([1.0, JUST_COME_S + 1.0]),
            "seat": None,
        }
        self.people.append(person)
        add_arrival(connection, n, status=person["status"], hit_id=hit, created_at=person["at"])
        if person["told"]:
            add_assignment(connection, f"assignment-{n}", hit, person["told"])

    def _dialogs(self, connection: Connection) -> None:
        seated = [p for p in self.people if p["status"] is ArrivalStatus.SEATED]
        taken: set[tuple[str, int]] = set()
        for n in range(self.chance.randint(0, 6)):
            item, place = self.chance.choice(IDS), self.chance.randint(1, 4)
            kind = self.chance.choice(["paired", "solo", "complete", "rejected", "abandoned"])
            takes = kind in ("paired", "complete")
            if takes and (item, place) in taken:
                continue
            taken |= {(item, place)} if takes else set()
            live = kind in ("paired", "solo") and seated
            person = seated.pop() if live else None
            phase = {"paired": Phase.PAIRED, "solo": Phase.SOLO}.get(kind, Phase.ENDED)
            complete = kind in ("complete", "rejected")
            ended = Outcome.COMPLETE if complete else Outcome.ABANDONED
            add_dialog(
                connection,
                f"d{n}",
                item,
                place,
                phase=phase,
                outcome=ended if phase is Phase.ENDED else None,
                acceptance=Acceptance.REJECTED if kind == "rejected" else None,
                people=[(f"arrival-{person['n']}", SeatStatus.LIVE)] if person else [],
            )
            if person:
                person["seat"] = phase
            self.dialogs.append({"item": item, "place": place, "kind": kind})

    def counted(self, looked_at: float | None) -> Supply:
        missing = sum(
            not any(
                d["item"] == item and d["place"] == place and d["kind"] == "complete"
                for d in self.dialogs
            )
            for item, wanted in self.wanted.items()
            for place in range(1, wanted + 1)
        )
        here = [p for p in self.people if p["status"] is not ArrivalStatus.RELEASED]
        alone = [p for p in here if p["seat"] is Phase.SOLO]
        open_seats = coming = gone = 0
        for hit in self.hits:
            holders = [
                p
                for p in self.people
                if p["hit"] == hit["id"] and p["told"] in (None, AssignmentStatus.TAKEN)
            ]
            if hit["state"] in (HitState.WANTED, HitState.OPEN):
                open_seats += hit["free"] + max(hit["seats"] - hit["seats_there"], 0)
            if hit["state"] in (HitState.WANTED, HitState.OPEN, HitState.CLOSED):
                coming += max(hit["pending"] - len(holders), 0)
                if looked_at is not None and hit["remote_id"] is not None:
                    old = [p for p in holders if p in here and p["at"] < looked_at - JUST_COME_S]
                    idle = [p for p in old if p["status"] is not ArrivalStatus.SEATED]
                    gone += min(max(len(old) - hit["pending"], 0), len(idle))
        waiting = [p for p in self.people if p["status"] is ArrivalStatus.WAITING]
        inside = len(here) - len(alone) - gone
        return Supply(missing, inside, open_seats, coming, len(waiting), len(alone))


@given(st.integers(0, 2**32))
@settings(max_examples=60)
def test_what_is_there_is_as_counted_one_by_one(shared_url: str, seed: int) -> None:
    engine = open_engine(shared_url)
    with engine.connect() as connection:
        transaction = connection.begin()
        connection.execute(
            studies.insert(),
            {"id": STUDY, "status": "open", "config": "{}", "created_at": 1.0},
        )
        world = World(random.Random(seed), connection)
        for looked_at in (None, NOW):
            assert supply(connection, STUDY, looked_at) == world.counted(looked_at)
        transaction.rollback()
    engine.dispose()


async def test_a_place_too_much_of_one_item_is_none_of_another(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0, items=())
        with record.engine.connect() as connection, connection.begin():
            add_items(connection, ["dog"], 1)
            add_items(connection, ["cat"], 1)
            for place in (1, 2):
                add_dialog(
                    connection, f"d{place}", "dog", place,
                    phase=Phase.ENDED, outcome=Outcome.COMPLETE,
                )  # fmt: skip
        assert (await record.read(supply, STUDY)).missing == 1


async def test_relaunches_that_wait_and_chains(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0, items=())
        with record.engine.connect() as connection, connection.begin():
            add_items(connection, ["dog"], 2)
            for n, (place, at) in enumerate([(1, 1.0), (2, 2.0), (1, 5.0)]):
                add_dialog(
                    connection, f"d{n}", "dog", place, phase=Phase.ENDED,
                    outcome=Outcome.ABANDONED, at=at,
                )  # fmt: skip
                add_relaunch(connection, f"d{n}", "dog", place, at=at + 1.0)
        # The place of d0 was taken again by d2, whose own relaunch counts now.
        assert await record.read(unposted_relaunches, STUDY) == ["d1", "d2"]
        new = [NewHit(f"h{n}", f"t{n}", 1, 50, "USD") for n in range(2)]
        again = [RelaunchSeats("d1", hit.id, 1, 1) for hit in new]
        wanted = wanted_hits(STUDY, "mturk", new, 3.0, relaunched=again)
        await record.writer.commit(wanted)
        assert await record.read(unposted_relaunches, STUDY) == ["d2"]
        # Refused, or taken back before it was posted: nobody was invited.
        await record.writer.commit(rows.hit_becomes("h0", HitState.FAILED, "no"))
        assert await record.read(unposted_relaunches, STUDY) == ["d2"]
        await record.writer.commit(rows.hit_becomes("h1", HitState.CLOSED))
        assert await record.read(unposted_relaunches, STUDY) == ["d1", "d2"]
        [chain] = await record.read(chains, STUDY)
        assert (chain.wanted, chain.complete) == (2, 0)
        assert [dialog for dialog, _, _ in chain.dialogs] == ["d0", "d1", "d2"]
        assert chain.dialogs[1][2] == ("h0", "h1")


async def test_a_complete_dialog_that_is_no_data_does_not_count(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        with record.engine.connect() as connection, connection.begin():
            add_dialog(
                connection, "d1", "dog", phase=Phase.ENDED, outcome=Outcome.COMPLETE,
                acceptance=Acceptance.REJECTED,
            )  # fmt: skip
        [chain] = await record.read(chains, STUDY)
        assert chain.complete == 0
        assert (await record.read(supply, STUDY)).missing == 1


async def test_every_decision_on_a_hit_and_what_it_conflicts_with(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        commit = record.writer.commit
        new = [NewHit("h1", "t1", 2, 50, "USD"), NewHit("h2", "t2", 1, 50, "USD")]
        await commit(wanted_hits(STUDY, "mturk", new, 1.0))
        with pytest.raises(Conflict):
            await commit(wanted_hits(STUDY, "mturk", [NewHit("h3", "t1", 1, 1, "USD")], 1.0))
        await commit(rows.posted("h1", "R1", 2, 2, 2.0, 3.0))
        for becomes in (rows.posted, rows.found):
            with pytest.raises(Conflict):
                await commit(becomes("h1", "R9", 2, 2, 2.0, 3.0))
        # One name over there is one HIT here.
        with pytest.raises(Conflict):
            await commit(rows.posted("h2", "R1", 1, 1, 2.0, 3.0))
        [unplaced] = await record.read(rows.unplaced_hits, STUDY)
        assert unplaced.id == "h2"
        await commit(rows.hit_becomes("h2", HitState.CLOSED))
        await commit(rows.found("h2", "R2", 1, 1, 4.0, 5.0))
        found = await record.read(rows.hits_by_remote_id, STUDY, ["R1", "R2", "R3"])
        assert {name: hit.id for name, hit in found.items()} == {"R1": "h1", "R2": "h2"}
        assert found["R2"].state is HitState.OPEN
        await commit(rows.hits_seen(STUDY, {"h1": (1, 1, 2), "h2": (0, 1, 1)}))
        assert [
            (h.free, h.pending) for h in await record.read(rows.hits_in, STUDY, list(HitState))
        ] == [(1, 1), (0, 1)]
        await commit(rows.hit_extended("h1", 99.0))
        await commit(rows.hit_becomes("h1", HitState.DONE))
        by_token = await record.read(rows.hit_by_token, STUDY, "t1")
        assert by_token is not None
        assert (by_token.expires_at, by_token.free, by_token.state) == (99.0, 0, HitState.DONE)


async def test_an_assignment_belongs_to_one_hit(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        new = [NewHit(f"h{n}", f"t{n}", 1, 50, "USD") for n in (1, 2)]
        await commit_all(record, wanted_hits(STUDY, "mturk", new, 1.0))
        told = AssignmentRow("3A", "h1", "A1", AssignmentStatus.SUBMITTED, "code", 2.0)
        await record.writer.commit(rows.assignments_seen(STUDY, [told], []))
        moved = AssignmentRow("3A", "h2", "A2", AssignmentStatus.APPROVED, None, 3.0)
        with pytest.raises(Conflict):
            await record.writer.commit(rows.assignments_seen(STUDY, [moved], []))
        await record.writer.commit(rows.assignments_seen(STUDY, [], [moved]))
        assert await record.read(rows.assignments_by_id, STUDY, ["3A"]) == {"3A": moved}
        assert await record.read(rows.assignments_of, STUDY, ["h1"]) == {}


async def test_how_a_hit_grows(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0)
        commit = record.writer.commit

        async def hit() -> HitRow:
            return (await record.read(rows.hits_by_id, ["h1"]))["h1"]

        async def grow(row: HitRow, total: int) -> None:
            more = [MoreSeats(row, total)]
            await commit(wanted_hits(STUDY, "prolific", [], 2.0, more=more))

        async def open_seats() -> int:
            return (await record.read(supply, STUDY)).open_seats

        new = [NewHit("h1", "t1", 2, 50, "USD")]
        await commit(wanted_hits(STUDY, "prolific", new, 1.0))
        await commit(rows.posted("h1", "R1", 2, 2, 2.0, 3.0))
        before = await hit()
        await grow(before, 5)
        row = await hit()
        assert (row.state, row.seats, row.seats_there, row.free) == (HitState.OPEN, 5, 2, 2)
        assert (row.to_grow, await open_seats()) == (3, 5)
        # Whoever still thinks that it has two seats gives it no more.
        with pytest.raises(Conflict):
            await grow(before, 3)
        await commit(rows.grown("h1", 4, 5))
        row = await hit()
        assert (row.seats, row.seats_there, row.free) == (5, 5, 4)
        assert (row.to_grow, await open_seats()) == (0, 4)
        # Closed, it is wanted again before it is opened again.
        await commit(rows.hit_becomes("h1", HitState.CLOSED))
        with pytest.raises(Conflict):
            await commit(rows.grown("h1", 4, 5))
        with pytest.raises(Conflict):
            await grow(row, 6)
        await commit(rows.hits_seen(STUDY, {"h1": (1, 0, 5)}))
        await grow(await hit(), 7)
        row = await hit()
        assert (row.state, row.seats, row.free) == (HitState.WANTED, 7, 1)
        assert (row.remote_id, await open_seats()) == ("R1", 3)
        await commit(rows.posted("h1", "R1", 3, 7, 4.0, 5.0))
        row = await hit()
        assert (row.state, row.free, row.to_grow) == (HitState.OPEN, 3, 0)


async def test_a_relaunch_is_posted_when_its_seats_are_there(database_url: str) -> None:
    async with opened(database_url) as record:
        await begin_study(record, people=0, items=())
        with record.engine.connect() as connection, connection.begin():
            add_items(connection, ["dog"], 3)
            for n in range(3):
                add_dialog(
                    connection, f"d{n}", "dog", n + 1, phase=Phase.ENDED,
                    outcome=Outcome.ABANDONED, at=1.0,
                )  # fmt: skip
                add_relaunch(connection, f"d{n}", "dog", n + 1, at=2.0)
        commit = record.writer.commit
        # Two in one HIT that is new, the third in what it grows by.
        again = [RelaunchSeats("d0", "h1", 2, 2), RelaunchSeats("d1", "h1", 2, 4)]
        new = [NewHit("h1", "t1", 4, 50, "USD")]
        await commit(wanted_hits(STUDY, "prolific", new, 3.0, relaunched=again))
        assert await record.read(unposted_relaunches, STUDY) == ["d2"]
        await commit(rows.posted("h1", "R1", 4, 4, 3.0, 4.0))
        hit = (await record.read(rows.hits_by_id, ["h1"]))["h1"]
        third = [RelaunchSeats("d2", "h1", 2, 6)]
        more = [MoreSeats(hit, 6)]
        await commit(wanted_hits(STUDY, "prolific", [], 5.0, more=more, relaunched=third))
        assert await record.read(unposted_relaunches, STUDY) == []
        # It is closed before it got them: those who wanted them wait again, the others do not.
        await commit(rows.hit_becomes("h1", HitState.CLOSED))
        assert await record.read(unposted_relaunches, STUDY) == ["d2"]
        # Somebody had given it the seats, and died before saying so.
        await commit(rows.hits_seen(STUDY, {"h1": (0, 0, 6)}))
        assert await record.read(unposted_relaunches, STUDY) == []
        [chain] = await record.read(chains, STUDY)
        assert [hits for _, _, hits in chain.dialogs] == [("h1",)] * 3
