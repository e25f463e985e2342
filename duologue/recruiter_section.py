"""The study file's section on where workers come from and how they are invited and paid."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from duologue.sections import Amount, Line, Seconds, Section
from hit_manager.config import MAX_SEATS, Approval

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


class ProlificSection(Section):
    """Only for kind = "prolific"."""

    workspace: Line | None = None
    """The id of the workspace over there."""
    project: Line | None = None
    """The id of the project in which the study is made; without it, the account's first."""
    service_fee_percent: Annotated[float, Field(ge=0, le=100)] = 42.8
    """What Prolific adds to every payment, in per cent. Set what your workspace pays: the budget
    is held with it."""
    screen_out: Amount | None = None
    """What a person is paid who waited in vain, in workspaces that have screen-outs."""


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
    reward: Amount | None = None
    """What approving the work pays by itself; what is owed beyond that is sent as a bonus. Without
    it, the least that anybody can be owed on mturk, and the whole pay on prolific."""
    keywords: Line = "chat, conversation, dialog, image"
    """Words by which workers find the HITs."""
    lifetime_s: Annotated[float, Field(ge=30, le=31_536_000)] = DAY_S
    """Seconds for which a HIT can be found."""
    auto_approval_s: Annotated[float, Field(ge=0, le=2_592_000)] = 7 * DAY_S
    """Seconds after which work that nobody has reviewed is approved over there."""
    seats: Annotated[int, Field(ge=1, le=MAX_SEATS)] = 1
    """How many people one HIT is for. Ten or more would cost twice the commission."""
    over_recruit: Annotated[float, Field(ge=1, le=5)] = 1.0
    """Times the people needed are invited, since some never come."""
    max_open: Annotated[int, Field(ge=1, le=10_000)] = 200
    """How many invitations stand open at a time, at most."""
    max_in_lobby: Annotated[int, Field(ge=1, le=10_000)] = 50
    """While so many people wait for a partner, nobody new is invited."""
    hours: Annotated[str, AfterValidator(_hours)] | None = None
    """The hours of the day (UTC) in which people are invited, such as "8-20"."""
    budget: Amount | None = None
    """What may be spent in all, commission included. Payments stop before it is passed."""
    approval: Approval = Approval.AUTOMATIC
    """"automatic": what is owed is paid once it is handed in. "by_hand": after `duologue hits
    approve`."""
    countries: tuple[Annotated[str, AfterValidator(_country)], ...] = ()
    """Only for mturk: the countries that workers may live in; none means all."""
    percent_approved: Annotated[int, Field(ge=0, le=100)] | None = None
    """Only for mturk: the least share of a worker's earlier work that was approved, in per
    cent."""
    number_approved: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
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
        return self

    def open_hours(self) -> tuple[int, int] | None:
        """The hours as numbers: from the first, before the second."""
        if self.hours is None:
            return None
        first, last = self.hours.split("-")
        return int(first), int(last)
