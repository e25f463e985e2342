"""The sections of the study file, each a model: its keys, their meaning and their defaults.

The template that `duologue init` writes and the reference page are made from these.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from chatserver.config import SameAddress
from dialogs.money import CURRENCIES, to_cents
from dialogs.rules import PROTOCOLS, Pay
from duologue import texts

# --- The kinds of values -------------------------------------------------------------------


def _quoted(value: Any) -> Any:
    if isinstance(value, int | float):
        raise ValueError('must be an amount in quotes, such as "1.50"')
    return value


def _protocol(name: str) -> str:
    if name not in PROTOCOLS:
        raise ValueError(f"must be {' or '.join(repr(known) for known in PROTOCOLS)}")
    return name


def _matching(pattern: str, what: str) -> AfterValidator:
    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"must be {what}")
        return text

    return AfterValidator(check)


_Language = Annotated[
    str,
    _matching("[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", 'a language tag such as "en" or "pt-BR"'),
]
_Slug = Annotated[
    str,
    _matching("[a-z0-9][a-z0-9-]{0,62}", 'lower-case letters, digits and hyphens, as "kitchens-2"'),
]


def _currency(code: str) -> str:
    if code not in CURRENCIES:
        raise ValueError('must be a currency code such as "USD"')
    return code


def _plain(text: str) -> str:
    """What nobody can see or type, and databases may not be able to keep, is no text."""
    if odd := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", text):
        raise ValueError(f"must not hold control characters such as U+{ord(odd[0]):04X}")
    return text


_Currency = Annotated[str, AfterValidator(_currency)]


def _once_each(values: tuple[str, ...]) -> tuple[str, ...]:
    if twice := [value for value, count in Counter(values).items() if count > 1]:
        raise ValueError(f"must name {twice[0]!r} once")
    return values


Seconds = Annotated[float, Field(gt=0, le=7 * 86_400)]
Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=300),
    AfterValidator(_plain),
]
Prose = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=20_000), AfterValidator(_plain)
]
Amount = Annotated[str, BeforeValidator(_quoted)]


class Section(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


# --- The sections --------------------------------------------------------------------------


class StudySection(Section):
    """What the study is, who may take part, and how often."""

    id: _Slug
    """The study's name in the record and in links: lower-case letters, digits and hyphens. It
    cannot be changed once the study has begun."""
    title: Line
    """What workers see as the name of the work."""
    description: Prose = ""
    """A few sentences for workers about what the study is for."""
    contact: Annotated[
        str, StringConstraints(strip_whitespace=True, max_length=300), AfterValidator(_plain)
    ] = ""
    """Whom workers can write to, shown on every page: a name and an e-mail address."""
    languages: Annotated[
        tuple[_Language, ...],
        Field(min_length=1),
        AfterValidator(_once_each),
    ] = ("en",)
    """The languages dialogs are held in, as BCP 47 tags. A worker chooses one, and both people of
    a dialog have chosen the same."""
    minutes: Annotated[int, Field(ge=1, le=600)] = 15
    """About how many minutes the work takes, as told to workers."""
    dialogs_per_item: Annotated[int, Field(ge=1, le=10_000)] = 1
    """How many complete dialogs are wanted about each item."""
    dialogs_per_worker: Annotated[int, Field(ge=1, le=100_000)] = 10
    """How many dialogs one worker may take part in, at most."""
    repeat_partners: bool = False
    """Whether two workers may meet again in this study."""
    same_address: SameAddress = SameAddress.FLAG
    """What happens when both people of a pair come from one network address: "flag" marks the
    dialog for review, "refuse" does not pair them, "allow" does nothing."""
    one_time_invitations: bool = False
    """Whether only people with an invitation code may take part, each code once."""
    invitations: Line | None = Field(None, examples=["invitations.txt"])
    """The file with the invitation codes, one a line, relative to this file. Only with
    one_time_invitations."""


class ProtocolSection(Section):
    """The rules of a dialog. A running dialog keeps the rules that it began with."""

    name: Annotated[str, AfterValidator(_protocol)] = "visdial"
    """The kind of dialog. "visdial": the questioner sees the caption and the answerer the image;
    "visdial-blurred": the questioner sees a strongly blurred image instead of the caption."""
    rounds: Annotated[int, Field(ge=1, le=100)] = 10
    """How many questions and answers make a complete dialog."""
    grace_s: Seconds = 60.0
    """Seconds in which a person whose connection was lost may come back before the seat is
    lost."""
    turn_limit_s: Seconds = 180.0
    """Seconds without a message after which the person whose turn it is loses the seat."""
    turn_stretch: Annotated[int, Field(ge=1, le=10)] = 3
    """To how many turn limits a turn can grow while its person is seen typing."""
    dialog_limit_s: Seconds = 3600.0
    """Seconds after which a dialog ends whatever happens; who is there is paid in full."""
    pair_again_below: Annotated[int, Field(ge=0, le=100)] = 3
    """A person left alone before this many rounds may choose a new partner instead of finishing
    alone; 0 offers it to nobody."""


class LobbySection(Section):
    """Waiting for a partner."""

    start_s: Seconds = 20.0
    """Seconds in which both people of a new pair must press start."""
    limit_s: Seconds = 600.0
    """Seconds of waiting after which a worker may submit and be paid for the wait."""
    heartbeat_s: Annotated[float, Field(gt=0, le=15)] = 10.0
    """How often a page is asked whether it is still there, in seconds. A page silent for 30 s
    counts as away."""


class ItemsSection(Section):
    """What the dialogs are about."""

    file: Line
    """The items file, relative to this file: JSON lines or CSV with image, image_id and
    caption."""


class PaySection(Section):
    """What workers are paid. Amounts stand in quotes, so that none is rounded. None is more than
    1,000,000,000 of the currency's smallest unit, such as 10000000.00 USD; one that the monitor
    changes is no more than ten times `complete` as it stands here."""

    currency: _Currency = "USD"
    """The currency, as its ISO 4217 code."""
    complete: Amount = "1.50"
    """For a complete dialog, and in full for a person who was left alone and finished."""
    left: Amount = "0.00"
    """For a person who left before the end."""
    waiting_per_minute: Amount = "0.10"
    """For each begun minute of waiting of a person for whom no partner was found."""

    @model_validator(mode="after")
    def _amounts(self) -> Self:
        problems = []
        for key in ("complete", "left", "waiting_per_minute"):
            try:
                to_cents(getattr(self, key), self.currency)
            except ValueError as problem:
                problems.append(f".{key} {problem} (it is {getattr(self, key)!r})")
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def to_pay(self) -> Pay:
        return Pay(
            currency=self.currency,
            complete=to_cents(self.complete, self.currency),
            left=to_cents(self.left, self.currency),
            waiting_per_minute=to_cents(self.waiting_per_minute, self.currency),
        )


class ReviewSection(Section):
    """Looking through what was collected, on the team's own page."""

    twice: Annotated[float, Field(ge=0, le=1)] = 0.0
    """For which share of the complete dialogs that are judged from now on a second person is asked,
    who is not shown what the first one said: 0.1 for one in ten. It tells how far reviewers agree,
    and decides nothing."""


class ExampleRound(Section):
    """One round of the example dialog."""

    question: Line
    """What the questioner asks."""
    answer: Line
    """What the answerer says."""


class ExampleSection(Section):
    """The example dialog that the instructions show."""

    caption: Line = texts.EXAMPLE_CAPTION
    """The caption of the image that the example is about."""
    round: Annotated[tuple[ExampleRound, ...], Field(min_length=1, max_length=20)] = tuple(
        ExampleRound(question=question, answer=answer) for question, answer in texts.EXAMPLE_ROUNDS
    )
    """The rounds of the example, in order."""


class TextsSection(Section):
    """What workers read before they begin."""

    consent: Prose = texts.CONSENT
    """What a worker agrees to; an empty text asks for no consent. Replace what stands in
    [SQUARE BRACKETS]: no HITs are posted before."""
    example: ExampleSection = ExampleSection()
    """The example dialog."""


class CheckSection(Section):
    """One question that tests whether the instructions were read."""

    question: Line
    """The question."""
    options: Annotated[
        tuple[Line, ...], Field(min_length=2, max_length=10), AfterValidator(_once_each)
    ]
    """The answers to choose from."""
    answer: Line
    """The right one, word for word as in options."""

    @model_validator(mode="after")
    def _is_an_option(self) -> Self:
        if self.answer not in self.options:
            raise ValueError(f".answer must be one of the options (it is {self.answer!r})")
        return self
