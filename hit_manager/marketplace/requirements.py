"""What a HIT asks of its workers, and whether somebody meets it. Pure.

Source: Amazon's API reference, data structure QualificationRequirement.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, assert_never

from hit_manager.marketplace.errors import InvalidValue
from hit_manager.marketplace.money import MASTERS
from hit_manager.marketplace.states import Action

MAX_REQUIREMENTS: Final = 10
MAX_SET_INTEGERS: Final = 15
MAX_SET_LOCALES: Final = 30

NUMBER_APPROVED: Final = "00000000000000000040"
LOCALE: Final = "00000000000000000071"
ADULT: Final = "00000000000000000060"
PERCENT_APPROVED: Final = "000000000000000000L0"
SYSTEM_TYPES: Final[Mapping[str, str]] = {
    NUMBER_APPROVED: "Worker_NumberHITsApproved",
    LOCALE: "Worker_Locale",
    ADULT: "Worker_Adult",
    PERCENT_APPROVED: "Worker_PercentAssignmentsApproved",
    **dict.fromkeys(sorted(MASTERS), "Masters"),
}
"""Qualification types that nobody makes or grants: their values are computed from the record."""


class Comparator(StrEnum):
    LESS = "LessThan"
    LESS_OR_EQUAL = "LessThanOrEqualTo"
    GREATER = "GreaterThan"
    GREATER_OR_EQUAL = "GreaterThanOrEqualTo"
    EQUAL = "EqualTo"
    NOT_EQUAL = "NotEqualTo"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    IN = "In"
    NOT_IN = "NotIn"


class Guard(StrEnum):
    """Which actions a requirement guards."""

    ACCEPT = "Accept"
    PREVIEW = "PreviewAndAccept"
    DISCOVER = "DiscoverPreviewAndAccept"


GUARDS_OF: Final[Mapping[Action, frozenset[Guard]]] = {
    Action.DISCOVER: frozenset({Guard.DISCOVER}),
    Action.PREVIEW: frozenset({Guard.DISCOVER, Guard.PREVIEW}),
    Action.ACCEPT: frozenset(Guard),
}


@dataclass(frozen=True, slots=True)
class Locale:
    """ISO 3166-1 country and, where it matters, ISO 3166-2 subdivision."""

    country: str
    subdivision: str | None = None

    def covers(self, other: Locale) -> bool:
        """Whether somebody in `other` is in this place: a country covers its subdivisions."""
        return self.country == other.country and self.subdivision in (None, other.subdivision)


@dataclass(frozen=True, slots=True)
class Requirement:
    type_id: str
    comparator: Comparator
    integers: tuple[int, ...] = ()
    locales: tuple[Locale, ...] = ()
    guard: Guard = Guard.ACCEPT


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a worker has: the values of granted qualifications by type, and where they are."""

    values: Mapping[str, int] = field(default_factory=dict)
    locale: Locale | None = None


def allowed(requirements: Iterable[Requirement], holdings: Holdings, action: Action) -> bool:
    """Whether somebody may do this with a HIT."""
    return not unmet(requirements, holdings, action)


def unmet(
    requirements: Iterable[Requirement], holdings: Holdings, action: Action
) -> list[Requirement]:
    """The requirements that keep somebody from this."""
    guards = GUARDS_OF[action]
    return [r for r in requirements if r.guard in guards and not meets(r, holdings)]


def meets(requirement: Requirement, holdings: Holdings) -> bool:
    """Whether one requirement is met.

    Who lacks the qualification meets `DoesNotExist` and nothing else, not even `NotEqualTo`.
    """
    if requirement.type_id == LOCALE:
        return _meets_locale(requirement, holdings.locale)
    value = holdings.values.get(requirement.type_id)
    if value is None:
        return requirement.comparator is Comparator.DOES_NOT_EXIST
    given = requirement.integers
    match requirement.comparator:
        case Comparator.LESS:
            return value < given[0]
        case Comparator.LESS_OR_EQUAL:
            return value <= given[0]
        case Comparator.GREATER:
            return value > given[0]
        case Comparator.GREATER_OR_EQUAL:
            return value >= given[0]
        case Comparator.EQUAL | Comparator.IN:
            return value in given
        case Comparator.NOT_EQUAL | Comparator.NOT_IN:
            return value not in given
        case Comparator.EXISTS:
            return True
        case Comparator.DOES_NOT_EXIST:
            return False
        case _:
            assert_never(requirement.comparator)


def _meets_locale(requirement: Requirement, locale: Locale | None) -> bool:
    match requirement.comparator:
        case Comparator.EXISTS:
            return locale is not None
        case Comparator.DOES_NOT_EXIST:
            return locale is None
        case Comparator.EQUAL | Comparator.IN:
            return locale is not None and any(p.covers(locale) for p in requirement.locales)
        case Comparator.NOT_EQUAL | Comparator.NOT_IN:
            return locale is not None and not any(p.covers(locale) for p in requirement.locales)
        case _:
            return False


def parse_requirements(given: Sequence[Mapping[str, Any]]) -> tuple[Requirement, ...]:
    """Requirements in the API's form, which has the shape of the service model already.

    Raises:
        InvalidValue: a combination that the reference excludes.
    """
    if len(given) > MAX_REQUIREMENTS:
        raise InvalidValue(
            f"A HIT can have at most {MAX_REQUIREMENTS} Qualification requirements; "
            f"there are {len(given)}."
        )
    return tuple(_parse(entry) for entry in given)


def _parse(entry: Mapping[str, Any]) -> Requirement:
    type_id = entry["QualificationTypeId"]
    comparator = Comparator(entry["Comparator"])
    integers = tuple(entry.get("IntegerValues") or ())
    locales = tuple(
        Locale(place["Country"], place.get("Subdivision"))
        for place in entry.get("LocaleValues") or ()
    )
    if "RequiredToPreview" in entry and "ActionsGuarded" in entry:
        raise InvalidValue("RequiredToPreview and ActionsGuarded exclude each other.")
    guard = Guard.PREVIEW if entry.get("RequiredToPreview") else Guard.ACCEPT
    if "ActionsGuarded" in entry:
        guard = Guard(entry["ActionsGuarded"])
    _check_values(type_id, comparator, len(integers), len(locales))
    return Requirement(type_id, comparator, integers, locales, guard)


def _check_values(type_id: str, comparator: Comparator, integers: int, locales: int) -> None:
    of_place = type_id == LOCALE
    given, other, most, word = (
        (locales, integers, MAX_SET_LOCALES, "LocaleValues")
        if of_place
        else (integers, locales, MAX_SET_INTEGERS, "IntegerValues")
    )
    if other:
        raise InvalidValue(f"The Qualification type {type_id} is compared with {word} only.")
    match comparator:
        case Comparator.EXISTS | Comparator.DOES_NOT_EXIST:
            if given:
                raise InvalidValue(f"{comparator} takes no {word}.")
        case Comparator.IN | Comparator.NOT_IN:
            if not 1 <= given <= most:
                raise InvalidValue(f"{comparator} takes 1 to {most} {word}, not {given}.")
        case Comparator.EQUAL | Comparator.NOT_EQUAL:
            if given != 1:
                raise InvalidValue(f"{comparator} takes one of {word}, not {given}.")
        case _:
            if of_place:
                raise InvalidValue(f"A locale cannot be compared by {comparator}.")
            if given != 1:
                raise InvalidValue(f"{comparator} takes one of {word}, not {given}.")


def show_requirements(requirements: Iterable[Requirement]) -> list[dict[str, Any]]:
    """Requirements in the API's form."""
    shown = []
    for r in requirements:
        entry: dict[str, Any] = {
            "QualificationTypeId": r.type_id,
            "Comparator": r.comparator.value,
            "RequiredToPreview": r.guard is not Guard.ACCEPT,
            "ActionsGuarded": r.guard.value,
        }
        if r.integers:
            entry["IntegerValues"] = list(r.integers)
        if r.locales:
            entry["LocaleValues"] = [
                {"Country": p.country} | ({"Subdivision": p.subdivision} if p.subdivision else {})
                for p in r.locales
            ]
        shown.append(entry)
    return shown


def dump_requirements(requirements: Iterable[Requirement]) -> str:
    """Requirements as the tables keep them; equal ones are equal texts."""
    return json.dumps(
        [
            [
                r.type_id,
                r.comparator,
                r.integers,
                [[p.country, p.subdivision] for p in r.locales],
                r.guard,
            ]
            for r in requirements
        ]
    )


def load_requirements(stored: str) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(
            type_id,
            Comparator(comparator),
            tuple(integers),
            tuple(Locale(country, subdivision) for country, subdivision in locales),
            Guard(guard),
        )
        for type_id, comparator, integers, locales, guard in json.loads(stored)
    )
