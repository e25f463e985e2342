"""The study file's section on where workers come from and how they are invited and paid."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from duologue.sections import Amount, Line, Seconds, Section
from hit_manager.config import MAX_SEATS, Approval
from hit_manager.recruiters.prolific.config import MOST_PLACES, REJECTION_CATEGORIES

DAY_S = 86_400.0


def _endpoint(text: str) -> str:
    if text not in ("production", "sandbox") and not re.match(r"https?://[^/\s]+", text):
        raise ValueError('must be "production", "sandbox" or the address of a marketplace')
    return text.rstrip("/")


def _site(text: str) -> str:
    if not re.fullmatch(r"https?://[^/\s]+", text):
        raise ValueError("must be addresses without a path, such as https://market.example.org")
    return text


def _country(text: str) -> str:
    if not re.fullmatch(r"[A-Z]{2}(-[A-Z]{2})?", text):
        raise ValueError('must be country codes such as "US" or "US-NY"')
    return text


def _hours(text: str) -> str:
    found = re.fullmatch(r"(\d{1,2})-(\d{1,2})", text)
    if not found or not (int(found[1]) < 24 and int(found[2]) <= 24 and found[1] != found[2]):
        raise ValueError('must be two hours such as "8-20"')
    return text


def _filter(wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    """The shape of one filter, by https://docs.prolific.com/api-reference/filters; which of them
    there are, Prolific says when the study is published."""
    match wanted:
        case {"filter_id": "and" | "or", "selected_filters": [_, *_] as inner, **more} if not more:
            for each in inner:
                if not isinstance(each, dict):
                    raise ValueError("must have tables in selected_filters")
                _filter(each)
        case {"filter_id": "and" | "or"}:
            raise ValueError('must be filter_id = "and" or "or" with selected_filters')
        case {"filter_id": str(), "selected_values": [_, *_] as values, **more}:
            weights = more.pop("weightings", {})
            if more or not all(isinstance(value, str) for value in values):
                raise ValueError("must have selected_values in quotes, and nothing else")
            if not isinstance(weights, dict):
                raise ValueError("must have a table of weightings")
        case {"filter_id": str(), "selected_range": {**ends}, **more} if not more:
            numbers = [end for end in ends.values() if isinstance(end, int | float)]
            if not ends or not ends.keys() <= {"lower", "upper"} or len(numbers) < len(ends):
                raise ValueError("must have lower, upper or both as numbers in selected_range")
            lower: Any = ends.get("lower", -math.inf)
            if lower > ends.get("upper", math.inf):
                raise ValueError("must have a lower end that is not above the upper one")
        case _:
            raise ValueError("must have a filter_id, and selected_values or selected_range")
    return wanted


def _category(text: str) -> str:
    if text not in REJECTION_CATEGORIES:
        raise ValueError(f"must be one of {', '.join(sorted(REJECTION_CATEGORIES))}")
    return text


def _prolific_id(text: str) -> str:
    if not re.fullmatch(r"[0-9A-Fa-f]{24}", text):
        raise ValueError(
            "must be the id that stands in the address of its page: 24 digits and letters from a "
            "to f"
        )
    return text


ProlificId = Annotated[Line, AfterValidator(_prolific_id)]


class ProlificSection(Section):
    """Only for kind = "prolific"."""

    workspace: ProlificId | None = Field(None, examples=["65a0f2c81d3e4b5a6c7d8e9f"])
    """The id of the workspace over there."""
    project: ProlificId | None = Field(None, examples=["65a0f2c81d3e4b5a6c7d8ea0"])
    """The id of the project in which the study is made; without it, the account's first."""
    service_fee_percent: Annotated[float, Field(ge=0, le=100)] = 42.8
    """What Prolific adds to every payment, in per cent. Set what your workspace pays: the budget
    is held with it."""
    vat_percent: Annotated[float, Field(ge=0, le=100)] = 0.0
    """Tax on that, in per cent of it, where the workspace is charged any."""
    devices: Annotated[tuple[Literal["desktop", "tablet", "mobile"], ...], Field(min_length=1)] = (
        "desktop",
        "tablet",
        "mobile",
    )
    """The devices that participants may use."""
    filters: tuple[Annotated[dict[str, Any], AfterValidator(_filter)], ...] = ()
    """Who may take part: a list of Prolific's filters, each a table with filter_id and
    selected_values, or selected_range with lower and upper; none means all."""
    inside_at_once: Annotated[int, Field(ge=2, le=10_000)] | None = Field(None, examples=[20])
    """How many participants may be inside a study at once. Others wait on Prolific's side, until
    somebody has handed in."""
    screen_out: Amount | None = Field(None, examples=["0.30"])
    """The fixed payment of a screen-out, in workspaces that have them: those who waited in vain
    get it instead of being asked to return, and what they are owed beyond it as a bonus."""
    screen_out_slots: Annotated[int, Field(ge=1, le=10_000)] = 100
    """How many screen-outs one study has."""
    rejection_category: Annotated[str, AfterValidator(_category)] = "OTHER"
    """Why work is refused, if it is: one of Prolific's categories."""
    block_group: Line = "Duologue: not invited"
    """The name of the participant group of those who see no study of yours."""


class RecruiterSection(Section):
    """Where workers come from, how they are invited, and how they are paid."""

    kind: Literal["link", "mturk", "prolific"] = "link"
    """"link": whoever has the link may take part. "mturk": Mechanical Turk, or a marketplace of
    your own that speaks its interface. "prolific": Prolific."""
    assignment_duration_s: Seconds = 7200.0
    """Seconds from opening the link to submitting, at most."""
    endpoint: Annotated[str, AfterValidator(_endpoint)] = "sandbox"
    """Only for mturk: "production", "sandbox", or the address of a marketplace such as
    "http://127.0.0.1:8100"."""
    submit_to: tuple[Annotated[str, AfterValidator(_site)], ...] = ()
    """Only for mturk: sites that pages may hand in to, where a marketplace's own address is not
    that of its interface."""
    reward: Amount | None = Field(None, examples=["0.10"])
    """What approving the work pays by itself; what is owed beyond that is sent as a bonus. Without
    it, the least that anybody can be owed on mturk, and the whole pay on prolific."""
    keywords: Line = "chat, conversation, dialog, image"
    """Words by which workers find the HITs."""
    lifetime_s: Annotated[float, Field(ge=30, le=31_536_000)] = DAY_S
    """Seconds for which a HIT can be found."""
    auto_approval_s: Annotated[float, Field(ge=0, le=2_592_000)] = 7 * DAY_S
    """Seconds after which work that nobody has reviewed is approved over there."""
    seats: Annotated[int, Field(ge=1, le=MOST_PLACES)] | None = Field(None, examples=[2])
    """How many people one HIT is for, at most. On mturk without it 1, and no more than 9, as ten
    or more would cost twice the commission. On prolific, where a HIT is a study that grows,
    without it as many as are wanted."""
    over_recruit: Annotated[float, Field(ge=1, le=5)] = 1.0
    """Times the people needed are invited, since some never come."""
    max_open: Annotated[int, Field(ge=1, le=10_000)] = 200
    """How many invitations stand open at a time, at most."""
    max_in_lobby: Annotated[int, Field(ge=1, le=10_000)] = 50
    """While so many people wait for a partner, nobody new is invited."""
    hours: Annotated[str, AfterValidator(_hours)] | None = Field(None, examples=["8-20"])
    """The hours of the day (UTC) in which people are invited, such as "8-20"."""
    budget: Amount | None = Field(None, examples=["150.00"])
    """What may be spent in all, commission included. Payments stop before it is passed."""
    approval: Approval = Approval.AUTOMATIC
    """"automatic": what is owed is paid once it is handed in. "by_hand": after `duologue hits
    approve`."""
    countries: tuple[Annotated[str, AfterValidator(_country)], ...] = ()
    """Only for mturk: the countries that workers may live in; none means all."""
    percent_approved: Annotated[int, Field(ge=0, le=100)] | None = Field(None, examples=[95])
    """Only for mturk: the least share of a worker's earlier work that was approved, in per
    cent."""
    number_approved: Annotated[int, Field(ge=0, le=1_000_000)] | None = Field(None, examples=[100])
    """Only for mturk: how many assignments of a worker must have been approved."""
    masters: bool = False
    """Only for mturk: only masters; costs 5 % more."""
    adult_content: bool = False
    """Only for mturk: only workers who agreed to see adult content."""
    prolific: ProlificSection = ProlificSection()
    """Prolific"""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kind == "prolific" and self.prolific.workspace is None:
            raise ValueError(".prolific.workspace is missing; it is the id of your workspace")
        if self.kind == "mturk" and (self.seats or 1) > MAX_SEATS:
            raise ValueError(f".seats must be {MAX_SEATS} or less for mturk")
        return self

    def most_seats(self) -> int:
        """How many seats one HIT has, at most."""
        return self.seats or (MOST_PLACES if self.kind == "prolific" else 1)

    def open_hours(self) -> tuple[int, int] | None:
        """The hours as numbers: from the first, before the second."""
        if self.hours is None:
            return None
        first, last = self.hours.split("-")
        return int(first), int(last)
