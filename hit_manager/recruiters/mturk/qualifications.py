"""Who may see and take HITs, as requirements of the API.

Source: "Amazon Mechanical Turk API Reference", QualificationRequirement.
"""

from __future__ import annotations

from typing import Any, Final

from hit_manager.recruiters.mturk.config import Wanted

NUMBER_APPROVED: Final = "00000000000000000040"
LOCALE: Final = "00000000000000000071"
ADULT: Final = "00000000000000000060"
PERCENT_APPROVED: Final = "000000000000000000L0"
MASTERS: Final = "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"
MASTERS_SANDBOX: Final = "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"

# People who may not take a HIT are not shown it: a list of what one may not do only annoys.
_HIDDEN: Final = "DiscoverPreviewAndAccept"


def requirements(
    wanted: Wanted, *, block_type: str | None, sandbox: bool = False
) -> list[dict[str, Any]]:
    """`QualificationRequirements` for a HIT. `block_type`: the qualification that people must not
    have."""
    asked: list[dict[str, Any]] = []
    if wanted.countries:
        asked.append(
            _requirement(LOCALE, "In", LocaleValues=[_locale(c) for c in wanted.countries])
        )
    if wanted.percent_approved is not None:
        asked.append(
            _requirement(
                PERCENT_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[wanted.percent_approved]
            )
        )
    if wanted.number_approved is not None:
        asked.append(
            _requirement(
                NUMBER_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[wanted.number_approved]
            )
        )
    if wanted.masters:
        asked.append(_requirement(MASTERS_SANDBOX if sandbox else MASTERS, "Exists"))
    if wanted.adult:
        asked.append(_requirement(ADULT, "EqualTo", IntegerValues=[1]))
    if block_type is not None:
        asked.append(_requirement(block_type, "DoesNotExist"))
    return asked


def _requirement(type_id: str, comparator: str, **values: Any) -> dict[str, Any]:
    return {
        "QualificationTypeId": type_id,
        "Comparator": comparator,
        "ActionsGuarded": _HIDDEN,
        **values,
    }


def _locale(country: str) -> dict[str, str]:
    country, _, subdivision = country.upper().partition("-")
    return {"Country": country, "Subdivision": subdivision} if subdivision else {"Country": country}
