"""Requirements as sentences for workers."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, select

from hit_manager.marketplace.countries import NAMES
from hit_manager.marketplace.requirements import (
    ADULT,
    LOCALE,
    NUMBER_APPROVED,
    PERCENT_APPROVED,
    SYSTEM_TYPES,
    Comparator,
    Requirement,
)
from hit_manager.marketplace.tables import qualification_types

_COMPARED: Final = {
    Comparator.LESS: "below {}",
    Comparator.LESS_OR_EQUAL: "at most {}",
    Comparator.GREATER: "above {}",
    Comparator.GREATER_OR_EQUAL: "at least {}",
    Comparator.EQUAL: "{}",
    Comparator.NOT_EQUAL: "not {}",
    Comparator.IN: "one of {}",
    Comparator.NOT_IN: "none of {}",
}


def describe(connection: Connection, requirement: Requirement) -> str:
    """What a requirement asks, such as `HITs approved: at least 100`."""
    match requirement.type_id:
        case type_id if type_id == ADULT:
            name = "Willing to see adult content"
            if requirement.comparator is Comparator.EQUAL and requirement.integers == (1,):
                return name
        case type_id if type_id == LOCALE:
            name = "Where you live"
        case type_id if type_id == NUMBER_APPROVED:
            name = "HITs approved"
        case type_id if type_id == PERCENT_APPROVED:
            name = "Percentage of your work that was approved"
        case type_id:
            name = SYSTEM_TYPES.get(type_id) or _name(connection, type_id)
    match requirement.comparator:
        case Comparator.EXISTS:
            return f"Has the qualification “{name}”"
        case Comparator.DOES_NOT_EXIST:
            return f"Does not have the qualification “{name}”"
        case Comparator.IN if requirement.type_id == LOCALE:
            return f"{name}: {_values(requirement)}"
        case Comparator.NOT_IN if requirement.type_id == LOCALE:
            return f"{name}: not {_values(requirement)}"
        case comparator:
            return f"{name}: {_COMPARED[comparator].format(_values(requirement))}"


def _values(requirement: Requirement) -> str:
    if requirement.type_id == LOCALE:
        places = (
            NAMES.get(each.country, each.country)
            + (f" ({each.subdivision})" if each.subdivision else "")
            for each in requirement.locales
        )
        return " or ".join(places)
    return ", ".join(str(each) for each in requirement.integers)


def _name(connection: Connection, type_id: str) -> str:
    found: str | None = connection.execute(
        select(qualification_types.c.name).where(qualification_types.c.id == type_id)
    ).scalar()
    return found or "A qualification that no longer exists"
