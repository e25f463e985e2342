"""What is read from the record is what a simple model of its rows says."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine

from dialogs import events
from dialogs.record import queries, tables
from dialogs.record.bulk import insert_rows
from dialogs.record.engine import open_engine
from dialogs.record.queries import History
from dialogs.record.totals import study_totals
from dialogs.rules import ArrivalStatus
from tests.records import (
    OPENED_AT,
    STUDY,
    arrival_row,
    opening_of,
    said_row,
    shared_database,
    worker_row,
)

ITEMS = ("item-0", "item-1", "item-2")
PEOPLE = tuple(f"worker-{n}" for n in range(5))

names = itertools.count()


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    with shared_database(request, tmp_path_factory.mktemp("shared")) as url:
        engine = open_engine(url)
        yield engine
        engine.dispose()


@dataclass(frozen=True)
class Held:
    """A dialog as its rows say: the two people, and how it stands."""

    item: int
    place: int
    questioner: int
    answerer: int
    phase: str
    outcome: str | None = None
    acceptance: str | None = None
    given_up: str | None = None
    messages: int = 0

    @property
    def takes_its_place(self) -> bool:
        good = self.outcome == "complete" and self.acceptance != "rejected"
        return self.phase == "paired" or good


endings = st.one_of(
    st.sampled_from(
        [
            ("paired", None, None, None),
            ("solo", None, None, None),
            ("ended", "complete", None, None),
            ("ended", "complete", "accepted", None),
            ("ended", "complete", "rejected", None),
            ("ended", "solo", None, None),
            ("ended", "abandoned", None, None),
            ("ended", "abandoned", None, "questioner"),
            ("ended", "abandoned", None, "answerer"),
        ]
    )
)
ways = st.tuples(
    st.integers(0, 2), st.integers(1, 3), st.permutations(range(5)), endings, st.integers(0, 4)
)


@st.composite
def held_dialogs(draw: st.DrawFn) -> list[Held]:
    """Dialogs that the constraints allow: nobody with an item twice, no place taken twice."""
    held: list[Held] = []
    for item, place, people, (phase, outcome, acceptance, given_up), messages in draw(
        st.lists(ways, max_size=8)
    ):
        made = Held(
            item, place, people[0], people[1], phase, outcome, acceptance, given_up, messages
        )
        clash = any(
            one.item == item
            and (
                {one.questioner, one.answerer} & set(people[:2])
                or (one.place == place and one.takes_its_place and made.takes_its_place)
            )
            for one in held
        )
        if not clash:
            held.append(made)
    return held


def seats_of(n: int, held: Held) -> list[tuple[str, int, str, str]]:
    """(role, person, arrival, status) of dialog `n`. Each seat has an arrival of its own."""
    made = []
    for role, person in (("questioner", held.questioner), ("answerer", held.answerer)):
        match held:
            case Held(given_up=given_up) if given_up == role:
                status = "given_up"
            case Held(outcome=None) if not (held.phase == "solo" and role == "answerer"):
                status = "live" if n == 0 else "done"
            case Held(outcome="complete"):
                status = "done"
            case _:
                status = "lost"
        made.append((role, person, f"arrival-{n}-{role}", status))
    return made


def write(connection: Connection, wanted: tuple[int, ...], held: list[Held]) -> None:
    """A study, another study beside it that must not be counted, and the dialogs."""
    for study in (STUDY, "other"):
        row = {"id": study, "status": "open", "config": "{}", "created_at": 1.0}
        insert_rows(connection, tables.studies, [row])
        # The positions are not the order of the ids.
        for n, many in enumerate(wanted):
            insert_rows(
                connection,
                tables.items,
                [
                    {
                        "id": f"item-{n}" if study == STUDY else f"other-{n}",
                        "study_id": study,
                        "image_id": f"image-{n}",
                        "caption": "A dog.",
                        "file": "f.jpg",
                        "width": 8,
                        "height": 8,
                        "sha256": "00",
                        "wanted": many,
                        "position": 9 - n,
                        "added_at": 1.0,
                    }
                ],
            )
    insert_rows(connection, tables.workers, [worker_row(n) for n in range(len(PEOPLE))])
    for n, one in enumerate(held):
        insert_rows(
            connection,
            tables.dialogs,
            [
                {
                    "id": f"dialog-{n}",
                    "study_id": STUDY,
                    "item_id": ITEMS[one.item],
                    "place": one.place,
                    "phase": one.phase,
                    "outcome": one.outcome,
                    "acceptance": one.acceptance,
                    "language": "en",
                    "same_address": False,
                    "opened_at": 1.0,
                }
            ],
        )
        opened = said_row(f"dialog-{n}", 1, kind="opened")
        said = [said_row(f"dialog-{n}", 2 + k) for k in range(one.messages)]
        insert_rows(connection, tables.events, [opened, *said])
        for role, person, arrival, status in seats_of(n, one):
            insert_rows(
                connection,
                tables.arrivals,
                [
                    {
                        **arrival_row(person),
                        "id": arrival,
                        "assignment_id": arrival,
                        "status": "released",
                    }
                ],
            )
            row = {
                "dialog_id": f"dialog-{n}",
                "role": role,
                "arrival_id": arrival,
                "worker_id": PEOPLE[person],
                "item_id": ITEMS[one.item],
                "status": status,
            }
            insert_rows(connection, tables.seats, [row])
            if status in ("lost", "done"):
                release = "completed" if status == "done" else "left"
                row = {
                    "arrival_id": arrival,
                    "dialog_id": f"dialog-{n}",
                    "release": release,
                    "code": arrival,
                    "at": 1.0,
                }
                insert_rows(connection, tables.releases, [row])
            if status == "done":
                row = {
                    "arrival_id": arrival,
                    "reason": "dialog",
                    "cents": 100 + n,
                    "currency": "USD",
                    "state": "owed",
                    "at": 1.0,
                }
                insert_rows(connection, tables.ledger, [row])
        if one.phase != "paired" and one.outcome != "complete":
            row = {
                "dialog_id": f"dialog-{n}",
                "item_id": ITEMS[one.item],
                "place": one.place,
                "at": 1.0,
            }
            insert_rows(connection, tables.relaunches, [row])


numbers_wanted = st.tuples(*[st.integers(0, 3)] * 3)


@settings(max_examples=40)
@given(wanted=numbers_wanted, held=held_dialogs())
def test_places_histories_and_totals_are_those_of_the_model(
    engine: Engine, wanted: tuple[int, ...], held: list[Held]
) -> None:
    with engine.connect() as connection, connection.begin() as transaction:
        write(connection, wanted, held)
        check_places(connection, wanted, held)
        check_histories(connection, held)
        check_totals(connection, wanted, held)
        transaction.rollback()


def check_places(connection: Connection, wanted: tuple[int, ...], held: list[Held]) -> None:
    taken = {(ITEMS[one.item], one.place) for one in held if one.takes_its_place}
    free = [
        (item, place)
        for place in (1, 2, 3)
        for item, many in reversed(list(zip(ITEMS, wanted, strict=True)))
        if place <= many and (item, place) not in taken
    ]
    assert queries.free_places(connection, STUDY) == free, "first the first place of every item"
    others = [(f"other-{n}", p) for p in (1, 2, 3) for n in (2, 1, 0) if p <= wanted[n]]
    assert queries.free_places(connection, "other") == others


def check_histories(connection: Connection, held: list[Held]) -> None:
    expected = {}
    for person, worker in enumerate(PEOPLE):
        seen, met, dialogs = set(), set(), 0
        for n, one in enumerate(held):
            for role, someone, _, status in seats_of(n, one):
                if someone == person:
                    seen.add(ITEMS[one.item])
                    met.add(PEOPLE[one.answerer if role == "questioner" else one.questioner])
                    dialogs += status != "given_up"
        expected[worker] = History(frozenset(seen), frozenset(met), dialogs)
    assert queries.histories(connection, PEOPLE) == expected
    nobody = History(frozenset(), frozenset(), 0)
    assert queries.histories(connection, ["worker-0", "nobody"]) == {
        "worker-0": expected["worker-0"],
        "nobody": nobody,
    }


def check_totals(connection: Connection, wanted: tuple[int, ...], held: list[Held]) -> None:
    totals = study_totals(connection, STUDY)
    everyone = [(n, seat) for n, one in enumerate(held) for seat in seats_of(n, one)]
    done = [n for n, (_, _, _, status) in everyone if status == "done"]
    lost = [n for n, (_, _, _, status) in everyone if status == "lost"]
    assert totals.places == sum(wanted)
    assert totals.complete == sum(one.outcome == "complete" for one in held)
    assert totals.live == sum(one.outcome is None for one in held)
    assert totals.solo == sum(one.outcome == "solo" for one in held)
    assert totals.abandoned == sum(one.outcome == "abandoned" for one in held)
    assert totals.messages == sum(one.messages for one in held if one.outcome == "complete")
    assert (totals.owed, totals.owed_cents) == (len(done), sum(100 + n for n in done))
    assert totals.relaunches == sum(
        one.phase != "paired" and one.outcome != "complete" for one in held
    )
    counted = {"completed": len(done), "left": len(lost)}
    assert totals.releases == {name: n for name, n in counted.items() if n}
    other = study_totals(connection, "other")
    assert (other.places, other.complete, other.live, other.owed) == (sum(wanted), 0, 0, 0)


arrived = st.tuples(
    st.integers(0, 2), st.sampled_from(list(ArrivalStatus)), st.integers(0, 5).map(float)
)


@settings(max_examples=40)
@given(made=st.lists(arrived, max_size=10))
def test_the_latest_arrival_is_the_open_one_or_else_the_newest(
    engine: Engine, made: list[tuple[int, ArrivalStatus, float]]
) -> None:
    with engine.connect() as connection, connection.begin() as transaction:
        write(connection, (0, 0, 0), [])
        kept: list[tuple[str, int, ArrivalStatus, float]] = []
        for n, (person, status, at) in enumerate(made):
            open_already = any(p == person and s != "released" for _, p, s, _ in kept)
            if open_already and status is not ArrivalStatus.RELEASED:
                continue
            # Two arrivals of one moment have no order.
            if any(p == person and t == at for _, p, _, t in kept):
                continue
            kept.append((f"a-{n}", person, status, at))
            row = arrival_row(person, id=f"a-{n}", assignment_id=f"s-{n}", status=status.value)
            insert_rows(connection, tables.arrivals, [{**row, "created_at": at}])
        for person in range(3):
            mine = [one for one in kept if one[1] == person]
            opened = [one for one in mine if one[2] is not ArrivalStatus.RELEASED]
            latest = queries.latest_arrival(connection, f"worker-{person}")
            expected = opened or sorted(mine, key=lambda one: one[3])[-1:]
            assert (latest.id if latest else None) == (expected[0][0] if expected else None)
        for status in ArrivalStatus:
            found = {row.id for row in queries.open_arrivals(connection, STUDY, [status])}
            assert found == {name for name, _, s, _ in kept if s is status}
        by_id = queries.arrivals_by_id(connection, [name for name, *_ in kept] + ["nobody"])
        assert {name: row.status for name, row in by_id.items()} == {
            name: status for name, _, status, _ in kept
        }
        transaction.rollback()


def test_more_ids_than_a_query_can_name_are_asked_for_in_parts(engine: Engine) -> None:
    with engine.connect() as connection, connection.begin() as transaction:
        dialogs = [f"dialog-{n}" for n in range(1200)]
        rows = [said_row(name, seq) for name in dialogs for seq in range(1, 2 + len(name) % 3)]
        insert_rows(connection, tables.events, rows)
        last = queries.last_seqs(connection, dialogs + [f"none-{n}" for n in range(1200)])
        assert last == {name: 1 + len(name) % 3 for name in dialogs}
        assert queries.last_seqs(connection, []) == {}
        assert len(queries.histories(connection, [f"nobody-{n}" for n in range(1200)])) == 1200
        transaction.rollback()


def test_a_dialog_that_cannot_be_read_holds_up_no_other(engine: Engine) -> None:
    with engine.connect() as connection, connection.begin() as transaction:
        opened = events.to_json(opening_of("whole", 0, 1))
        for dialog, data in (("whole", opened), ("broken", {"rules": {}})):
            row = {"dialog_id": dialog, "seq": 1, "kind": "opened", "at": OPENED_AT}
            row["data"] = orjson.dumps(data).decode()
            connection.execute(tables.events.insert(), row)
        assert set(queries.dialogs_by_id(connection, ["whole", "broken", "none"])) == {"whole"}
        transaction.rollback()
