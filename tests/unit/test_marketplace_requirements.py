"""Whether a worker meets a requirement, and the status of a HIT: pure rules."""

from __future__ import annotations

from typing import Any

import pytest

from hit_manager.marketplace.hits import Counts, status_of
from hit_manager.marketplace.requirements import (
    LOCALE,
    Comparator,
    Guard,
    Holdings,
    Locale,
    Requirement,
    allowed,
    dump_requirements,
    load_requirements,
    meets,
    parse_requirements,
    show_requirements,
    unmet,
)
from hit_manager.marketplace.states import Action, HitStatus

KIND = "3KIND"
HAS_FIVE = Holdings({KIND: 5}, Locale("US", "WA"))
HAS_NOTHING = Holdings()


@pytest.mark.parametrize(
    ("comparator", "values", "met"),
    [
        ("LessThan", [6], True),
        ("LessThan", [5], False),
        ("LessThanOrEqualTo", [5], True),
        ("LessThanOrEqualTo", [4], False),
        ("GreaterThan", [4], True),
        ("GreaterThan", [5], False),
        ("GreaterThanOrEqualTo", [5], True),
        ("GreaterThanOrEqualTo", [6], False),
        ("EqualTo", [5], True),
        ("EqualTo", [4], False),
        ("NotEqualTo", [4], True),
        ("NotEqualTo", [5], False),
        ("In", [1, 5], True),
        ("In", [1, 2], False),
        ("NotIn", [1, 2], True),
        ("NotIn", [1, 5], False),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
    ],
)
def test_values_are_compared(comparator: str, values: list[int], met: bool) -> None:
    requirement = Requirement(KIND, Comparator(comparator), tuple(values))
    assert meets(requirement, HAS_FIVE) is met
    # Who has none meets the absence only.
    assert meets(requirement, HAS_NOTHING) is (comparator == "DoesNotExist")


@pytest.mark.parametrize(
    ("comparator", "places", "met"),
    [
        ("EqualTo", ["US"], True),
        ("EqualTo", ["US-WA"], True),
        ("EqualTo", ["US-CA"], False),
        ("EqualTo", ["CA"], False),
        ("NotEqualTo", ["CA"], True),
        ("NotEqualTo", ["US"], False),
        ("NotEqualTo", ["US-CA"], True),
        ("In", ["CA", "US-WA"], True),
        ("In", ["CA", "US-CA"], False),
        ("NotIn", ["CA", "US-WA"], False),
        ("NotIn", ["CA", "US-CA"], True),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
    ],
)
def test_places_are_compared(comparator: str, places: list[str], met: bool) -> None:
    locales = tuple(Locale(*place.split("-")) for place in places)
    requirement = Requirement(LOCALE, Comparator(comparator), (), locales)
    assert meets(requirement, HAS_FIVE) is met
    assert meets(requirement, HAS_NOTHING) is (comparator == "DoesNotExist")


def test_a_country_is_no_subdivision_of_its_own() -> None:
    requirement = Requirement(LOCALE, Comparator.EQUAL, (), (Locale("US", "WA"),))
    assert not meets(requirement, Holdings({}, Locale("US")))


@pytest.mark.parametrize(
    ("guard", "kept_from"),
    [
        ("Accept", {Action.ACCEPT}),
        ("PreviewAndAccept", {Action.PREVIEW, Action.ACCEPT}),
        ("DiscoverPreviewAndAccept", set(Action)),
    ],
)
def test_what_a_requirement_guards(guard: str, kept_from: set[Action]) -> None:
    requirement = Requirement(KIND, Comparator.EXISTS, guard=Guard(guard))
    met = Requirement(KIND, Comparator.DOES_NOT_EXIST, guard=Guard.DISCOVER)
    for action in Action:
        assert allowed([met, requirement], HAS_NOTHING, action) is (action not in kept_from)
    assert unmet([met, requirement], HAS_NOTHING, Action.ACCEPT) == [requirement]


GIVEN: list[dict[str, Any]] = [
    {"QualificationTypeId": KIND, "Comparator": "In", "IntegerValues": [1, 2]},
    {
        "QualificationTypeId": LOCALE,
        "Comparator": "NotEqualTo",
        "LocaleValues": [{"Country": "US", "Subdivision": "WA"}],
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    },
    {"QualificationTypeId": KIND, "Comparator": "Exists", "RequiredToPreview": True},
]


def test_requirements_survive_being_kept_and_shown() -> None:
    parsed = parse_requirements(GIVEN)
    assert parsed[2].guard is Guard.PREVIEW
    assert load_requirements(dump_requirements(parsed)) == parsed
    shown = show_requirements(parsed)
    assert [entry["ActionsGuarded"] for entry in shown] == [
        "Accept",
        "DiscoverPreviewAndAccept",
        "PreviewAndAccept",
    ]
    for entry in shown:
        del entry["RequiredToPreview"]
    assert parse_requirements(shown) == parsed


@pytest.mark.parametrize(
    ("stored", "counts", "expired", "status"),
    [
        ("Assignable", Counts(), False, "Assignable"),
        ("Assignable", Counts(pending=1), False, "Assignable"),
        ("Assignable", Counts(pending=2), False, "Unassignable"),
        ("Assignable", Counts(pending=1, submitted=1), False, "Unassignable"),
        ("Unassignable", Counts(submitted=2), False, "Reviewable"),
        ("Assignable", Counts(), True, "Reviewable"),
        ("Assignable", Counts(pending=1), True, "Unassignable"),
        ("Reviewable", Counts(approved=1, rejected=1), False, "Reviewable"),
        ("Reviewing", Counts(submitted=2), False, "Reviewing"),
        ("Reviewing", Counts(submitted=1), True, "Reviewing"),
        ("Reviewing", Counts(submitted=1), False, "Assignable"),
        ("Disposed", Counts(), False, "Disposed"),
    ],
)
def test_status_of_a_hit_of_two(stored: str, counts: Counts, expired: bool, status: str) -> None:
    assert status_of(HitStatus(stored), counts, 2, expired=expired) == status
