"""Who may talk with whom, who asks, and how long it will take."""

from __future__ import annotations

from itertools import combinations

import pytest

from dialogs.rules import Role
from pairing.rules import (
    Match,
    MatchSeat,
    Waiting,
    assign_roles,
    by_age,
    choose,
    compatible,
    estimate,
    item_for,
)
from tests.lobbies import person

ASKS = frozenset({Role.QUESTIONER})
ANSWERS = frozenset({Role.ANSWERER})

A = person("a", 1.0)
B = person("b", 2.0)


def test_two_strangers_fit() -> None:
    assert compatible(A, B, same_address_allowed=False)


@pytest.mark.parametrize(
    "other",
    [
        person("b", worker_id=A.worker_id),
        person("b", met=frozenset({A.worker_id})),
        person("b", language="de"),
        person("b", dialogs_left=0),
        person("b", roles=frozenset()),
    ],
    ids=["same worker", "met before", "other language", "over the cap", "no role"],
)
def test_who_does_not_fit(other: Waiting) -> None:
    assert not compatible(A, other, same_address_allowed=True)
    assert not compatible(other, A, same_address_allowed=True)


def test_nobody_fits_with_themselves() -> None:
    assert not compatible(A, A, same_address_allowed=True)


@pytest.mark.parametrize("roles", [ASKS, ANSWERS])
def test_two_people_for_one_role_do_not_fit(roles: frozenset[Role]) -> None:
    assert not compatible(person("a", roles=roles), person("b", roles=roles), True)


def test_an_address_counts_only_where_the_study_says_so() -> None:
    a, b = person("a", address="home"), person("b", address="home")
    assert compatible(a, b, same_address_allowed=True)
    assert not compatible(a, b, same_address_allowed=False)
    assert compatible(a, person("b", address="work"), same_address_allowed=False)


@pytest.mark.parametrize("unknown", [None, ""])
def test_two_unknown_addresses_are_not_the_same(unknown: str | None) -> None:
    assert compatible(person("a", address=unknown), person("b", address=unknown), False)


def test_the_item_is_the_first_that_neither_has_seen() -> None:
    a, b = person("a", seen=frozenset({"1"})), person("b", seen=frozenset({"2"}))
    assert item_for(a, b, ["1", "2", "3", "4"]) == "3"
    assert item_for(a, b, ["1", "2"]) is None


def test_the_coin_decides_who_asks() -> None:
    assert assign_roles(A, B, coin=True) == (A, B)
    assert assign_roles(A, B, coin=False) == (B, A)


@pytest.mark.parametrize("coin", [True, False])
def test_the_coin_does_not_decide_where_one_way_is_possible(coin: bool) -> None:
    only_asks, only_answers = person("a", roles=ASKS), person("b", roles=ANSWERS)
    assert assign_roles(only_asks, B, coin) == (only_asks, B)
    assert assign_roles(B, only_asks, coin) == (only_asks, B)
    assert assign_roles(only_answers, A, coin) == (A, only_answers)


def test_two_people_for_one_role_get_none() -> None:
    with pytest.raises(ValueError, match="questioner"):
        assign_roles(person("a", roles=ASKS), person("b", roles=ASKS), coin=True)


def test_equal_ages_are_sorted_by_the_bytes_of_the_id() -> None:
    assert [w.arrival_id for w in by_age([person("é"), person("z"), person("a")])] == [
        "a",
        "z",
        "é",
    ]


def test_the_oldest_who_fit_come_first() -> None:
    odd = person("odd", 0.0, language="xx")
    c = person("c", 3.0)
    assert choose([odd, A, B, c], ["1"], True) == (A, B, "1")
    assert choose([odd, A], ["1"], True) is None
    assert choose([A, B], [], True) is None


def test_choosing_takes_a_partner_from_nobody_older() -> None:
    met = frozenset({"worker-a"})
    queue = [A, person("b", 2.0, met=met), person("c", 3.0, met=met), person("d", 4.0)]
    chosen = choose(queue, ["1"], True)
    assert chosen is not None
    assert [w.arrival_id for w in chosen[:2]] == ["b", "c"]  # "a" fits only with "d"
    older, younger, _ = chosen
    for one, two in combinations(queue, 2):
        blocking = compatible(one, two, True) and one.ready_at < younger.ready_at
        assert not (blocking and two.ready_at < younger.ready_at)
        assert not (blocking and {one, two} & {older, younger} and one.ready_at < older.ready_at)


def test_the_estimate_is_the_median_of_what_those_who_waited_longer_had_left() -> None:
    waits = [10.0, 20.0, 30.0, 40.0, 50.0]
    assert estimate(waits) == 30.0
    assert estimate(waits, waited=25.0) == 15.0
    assert estimate(waits, waited=45.0) == 5.0


@pytest.mark.parametrize(("waits", "waited"), [([], 0.0), ([10.0] * 4, 0.0), ([10.0] * 9, 10.0)])
def test_there_is_no_estimate_without_grounds(waits: list[float], waited: float) -> None:
    assert estimate(waits, waited) is None


def test_a_match_knows_its_seats() -> None:
    asks, answers = MatchSeat("a", "wa"), MatchSeat("b", "wb")
    match = Match("m", asks, answers, "1", 1, 20.0, frozenset({"a"}))
    assert match.arrivals == ("a", "b")
    assert match.role_of("a") is Role.QUESTIONER
    assert match.role_of("b") is Role.ANSWERER
    assert match.seat(Role.QUESTIONER) == asks
    assert match.seat(Role.ANSWERER) == answers
    assert match.partner_of("a") == answers
    assert match.partner_of("b") == asks
    assert not match.both_started
    assert Match("m", asks, answers, "1", 1, 20.0, frozenset({"a", "b"})).both_started
    with pytest.raises(ValueError, match="c is not"):
        match.role_of("c")
