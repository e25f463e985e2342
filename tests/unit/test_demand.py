"""How many people are invited, and which invitations are taken back."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dialogs.record.hits import HitRow
from dialogs.record.supply import Supply
from dialogs.rules import HitState
from hit_manager.config import HitConfig
from hit_manager.demand import (
    MAX_STRANGERS,
    Demand,
    Share,
    apart,
    demand,
    seats_of,
    split,
    together,
    within_hours,
)

CONFIG = HitConfig("s", "t", "d", "k", 50, 150, "USD", "https://x.example")
NOON = 1_700_000_000.0 - 1_700_000_000.0 % 86_400 + 12 * 3600

counts = st.integers(0, 60)
configs = st.builds(
    lambda over, most, lobby, hours: replace(
        CONFIG, over_recruit=over, max_open=most, max_in_lobby=lobby, hours=hours
    ),
    st.sampled_from([1.0, 1.1, 1.5, 3.0]),
    st.integers(1, 80),
    st.integers(1, 80),
    st.none() | st.tuples(st.integers(0, 23), st.integers(1, 24)).filter(lambda h: h[0] != h[1]),
)


@st.composite
def hit_rows(draw: st.DrawFn) -> list[HitRow]:
    found = []
    for n in range(draw(st.integers(0, 12))):
        state = draw(st.sampled_from([HitState.WANTED, HitState.OPEN]))
        seats = draw(st.integers(1, 9))
        free = 0 if state is HitState.WANTED else draw(st.integers(0, seats))
        remote = None if state is HitState.WANTED else f"R{n}"
        there = 0 if state is HitState.WANTED else draw(st.integers(seats - 1, seats + 1))
        created = float(draw(st.integers(0, 5)))
        found.append(
            HitRow(
                f"h{n}", "mturk", f"t{n}", remote, state, seats, 50, "USD", created, None,
                None, free, 0, None, there,
            )
        )  # fmt: skip
    return found


@st.composite
def supplies(draw: st.DrawFn, hits: list[HitRow]) -> Supply:
    lobby = draw(counts)
    return Supply(
        missing=draw(counts),
        inside=lobby + draw(counts),
        open_seats=sum(seats_of(hit) for hit in hits),
        coming=draw(counts),
        in_lobby=lobby,
        alone=draw(st.integers(0, 5)),
    )


@given(st.data(), configs, st.booleans(), st.none() | st.integers(0, 200))
def test_never_more_than_is_wanted_allowed_and_affordable(
    data: st.DataObject, config: HitConfig, running: bool, affordable: int | None
) -> None:
    hits = data.draw(hit_rows())
    supply = data.draw(supplies(hits))
    plan = demand(config, supply, hits, running=running, affordable=affordable, now=NOON)
    assert plan.seats >= 0
    assert not (plan.seats and plan.expire)
    taken_back = sum(seats_of(hit) for hit in plan.expire)
    target = math.ceil(supply.wanted * config.over_recruit)
    if not running or not supply.missing or not within_hours(config.hours, NOON):
        assert plan.seats == 0
        assert set(plan.expire) == set(hits)
        assert plan.why
        return
    if plan.seats:
        assert supply.have + plan.seats <= target
        assert supply.open_seats + plan.seats <= config.max_open
        assert supply.in_lobby < config.max_in_lobby
        if affordable is not None:
            assert supply.have + supply.alone + plan.seats <= affordable
    if plan.expire:
        money = supply.wanted if affordable is None else max(affordable - supply.alone, 0)
        if affordable is None or money >= target:
            assert supply.have - taken_back >= supply.wanted
        elif money < supply.wanted:
            # What cannot be paid comes down, and of the rest no more than belongs to one HIT.
            rest = supply.have - taken_back
            assert rest <= money or taken_back == supply.open_seats
            assert rest + max(seats_of(hit) for hit in plan.expire) > money
    assert len(set(plan.expire)) == len(plan.expire)


@given(st.data(), configs)
def test_what_is_missing_is_posted_unless_something_holds_it_back(
    data: st.DataObject, config: HitConfig
) -> None:
    hits = data.draw(hit_rows())
    supply = data.draw(supplies(hits))
    assume(supply.missing and within_hours(config.hours, NOON))
    plan = demand(config, supply, hits, running=True, affordable=None, now=NOON)
    if supply.have + plan.seats < supply.wanted:
        assert plan.why
    # Carried out, it leaves nothing to be done.
    after = replace(
        supply,
        open_seats=supply.open_seats + plan.seats - sum(seats_of(hit) for hit in plan.expire),
    )
    rest = [hit for hit in hits if hit not in plan.expire]
    again = demand(config, after, rest, running=True, affordable=None, now=NOON)
    assert (again.seats, again.expire) == (0, ())


def test_people_who_are_there_are_not_invited_once_more() -> None:
    config = replace(CONFIG, over_recruit=2.0)

    def seats(inside: int, open_seats: int = 0) -> tuple[int, int]:
        plan = demand(
            config,
            Supply(5, inside, open_seats, 0, 0),
            [],
            running=True,
            affordable=None,
            now=NOON,
        )
        return plan.seats, len(plan.expire)

    assert seats(0) == (20, 0)
    assert seats(4) == (12, 0)
    assert seats(10) == (0, 0)


def test_a_tenth_more_of_ten_is_eleven() -> None:
    config = replace(CONFIG, over_recruit=1.1)
    plan = demand(config, Supply(5, 0, 0, 0, 0), [], running=True, affordable=None, now=NOON)
    assert plan.seats == 11


def test_the_newest_go_first_and_no_hit_is_cut_in_two() -> None:
    def hit(n: int, free: int) -> HitRow:
        return HitRow(
            f"h{n}", "mturk", f"t{n}", f"R{n}", HitState.OPEN, 5, 50, "USD", float(n), None,
            None, free, 0, None, 5,
        )  # fmt: skip

    hits = [hit(1, 1), hit(2, 1), hit(3, 5), hit(4, 0), hit(5, 1)]
    plan = demand(CONFIG, Supply(3, 0, 8, 0, 0), hits, running=True, affordable=None, now=NOON)
    assert [h.id for h in plan.expire] == ["h5", "h2"]


@pytest.mark.parametrize(
    ("hours", "inside"),
    [
        (None, range(24)),
        ((8, 20), range(8, 20)),
        ((20, 8), [*range(20, 24), *range(8)]),
        ((0, 24), range(24)),
        ((23, 24), [23]),
    ],
)
def test_hours(hours: tuple[int, int] | None, inside: range) -> None:
    found = [h for h in range(24) if within_hours(hours, NOON + (h - 12) * 3600)]
    assert found == sorted(inside)


@given(st.integers(0, 500), st.integers(1, 9))
def test_split(seats: int, each: int) -> None:
    parts = split(seats, each)
    assert sum(parts) == seats
    assert all(0 < part <= each for part in parts)
    assert len(parts) == math.ceil(seats / each)


def seats_by_relaunch(shares: list[Share]) -> dict[str, int]:
    of: dict[str, int] = {}
    for share in shares:
        for name, seats, _ in share.relaunches:
            of[name] = of.get(name, 0) + seats
    return of


def the_oldest_come_first(shares: list[Share], seats: int, names: list[str]) -> None:
    of = seats_by_relaunch(shares)
    # Two each; the last may get one.
    assert sorted(of, key=names.index) == names[: math.ceil(seats / 2)]
    assert sum(n == 1 for n in of.values()) <= 1
    assert all(n <= 2 for n in of.values())


@given(st.integers(0, 60), st.integers(1, 9), st.integers(0, 20))
def test_relaunches_apart(seats: int, each: int, number: int) -> None:
    names = [f"d{n}" for n in range(number)]
    found = list(apart(seats, each, names))
    assert sum(share.total for share in found) == seats
    assert all(0 < share.total <= each and share.hit is None for share in found)
    assert all(len(share.relaunches) <= 1 for share in found)
    the_oldest_come_first(found, seats, names)


@st.composite
def hits_to_grow(draw: st.DrawFn) -> list[HitRow]:
    found = []
    for n, hit in enumerate(draw(hit_rows())):
        states = st.sampled_from([hit.state, HitState.CLOSED, HitState.DONE])
        problem = draw(st.sampled_from([None, None, "refused"]))
        free = draw(st.integers(0, hit.seats))
        changed = replace(hit, state=draw(states), problem=problem, free=free)
        posted = changed.state is not HitState.WANTED
        found.append(replace(changed, remote_id=f"R{n}" if posted else None))
    return found


@given(st.integers(0, 60), st.integers(1, 15), st.integers(0, 20), hits_to_grow())
def test_seats_together(seats: int, most: int, number: int, hits: list[HitRow]) -> None:
    names = [f"d{n}" for n in range(number)]
    found = together(seats, most, names, hits)
    added = 0
    for share in found:
        numbers = {upto for _, _, upto in share.relaunches}
        if share.hit is None:
            assert 0 < share.total <= most
            added += share.total
            assert all(0 < n <= share.total for n in numbers)
            continue
        hit = share.hit
        had = max(hit.seats, hit.seats_there)
        opened = hit.free if hit.state is HitState.CLOSED else 0
        assert hit.state not in (HitState.DONE, HitState.FAILED)
        assert had <= share.total <= max(most, had)
        assert opened + share.total - had > 0, "a HIT that gets nothing is left alone"
        if hit.state is HitState.CLOSED:
            assert hit.problem is None
            assert hit.seats <= hit.seats_there
        added += opened + share.total - had
        assert all(had <= n <= share.total for n in numbers)
    # Neither more nor fewer people could come than are wanted, closed HITs included.
    assert added == seats
    the_oldest_come_first(found, seats, names)
    # A new HIT only where no open one has room, and no more of them than are needed.
    new = [share for share in found if share.hit is None]
    if new:
        of_open = {s.hit.id: s.total for s in found if s.hit is not None}
        for hit in hits:
            if hit.state in (HitState.WANTED, HitState.OPEN):
                assert of_open.get(hit.id, max(hit.seats, hit.seats_there)) >= most
        assert all(share.total == most for share in new[:-1])


def test_a_closed_hit_opens_with_all_that_is_free_in_it() -> None:
    def hit(state: HitState, free: int) -> HitRow:
        return HitRow(
            "h1", "prolific", "t", "R1", state, 8, 50, "USD", 1.0, None, None, free, 0, None, 8
        )

    closed = hit(HitState.CLOSED, 3)
    # Two are wanted, and three would come.
    assert together(2, 20, [], [closed]) == [Share(2)]
    assert together(3, 20, [], [closed]) == [Share(8, closed)]
    assert together(5, 20, ["d1", "d2"], [closed]) == [
        Share(10, closed, (("d1", 2, 8), ("d2", 2, 9)))
    ]
    is_open = hit(HitState.OPEN, 3)
    assert together(2, 20, ["d1"], [closed, is_open]) == [Share(10, is_open, (("d1", 2, 10),))]
    assert together(4, 10, ["d1"], [is_open]) == [Share(10, is_open, (("d1", 2, 10),)), Share(2)]


def test_a_large_hit_comes_down_whole_when_money_is_short() -> None:
    def plan(affordable: int | None, missing: int = 4) -> Demand:
        supply = Supply(missing, 0, 8, 0, 0)
        return demand(CONFIG, supply, [hit], running=True, affordable=affordable, now=NOON)

    hit = HitRow("h", "mturk", "t", "R", HitState.OPEN, 9, 50, "USD", 1.0, None, None, 8, 0,
                 None, 9)  # fmt: skip
    assert plan(8).expire == ()
    assert plan(2).expire == (hit,)
    # Where only fewer are wanted, it stays: nobody loses anything.
    assert plan(None, missing=1).expire == ()


def test_work_of_people_who_never_came_stops_the_inviting() -> None:
    hit = HitRow("h", "mturk", "t", "R", HitState.OPEN, 1, 50, "USD", 1.0, None, None, 1, 0,
                 None, 1)  # fmt: skip

    def plan(strangers: int) -> Demand:
        supply = Supply(5, 0, 1, 0, 0, strangers=strangers)
        return demand(CONFIG, supply, [hit], running=True, affordable=None, now=NOON)

    assert plan(MAX_STRANGERS - 1) == Demand(seats=9)
    stopped = plan(MAX_STRANGERS)
    assert (stopped.seats, stopped.expire) == (0, (hit,))
    assert stopped.why.startswith("20 pieces of work were handed in by people who never came here")
