"""The settings of the `mturk` recruiter, checked when made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

PRODUCTION: Final = "https://mturk-requester.us-east-1.amazonaws.com"
SANDBOX: Final = "https://mturk-requester-sandbox.us-east-1.amazonaws.com"
# Any other region names a host that does not exist.
REGION: Final = "us-east-1"

_SITES: Final = {PRODUCTION: "https://www.mturk.com", SANDBOX: "https://workersandbox.mturk.com"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Who may take HITs. What is None is not asked.

    `countries`: ISO 3166-1 codes, a subdivision after a hyphen ("US", "US-NY"). `percent_approved`:
    at least that many of a hundred; over there it stays 100 until 100 assignments are in, so it
    says little without `number_approved`. `masters`: costs 5 % more. `adult`: people who agreed to
    see adult content.
    """

    countries: tuple[str, ...] = ()
    percent_approved: int | None = None
    number_approved: int | None = None
    masters: bool = False
    adult: bool = False


@dataclass(frozen=True, slots=True)
class MturkConfig:
    """Where, as whom, and for whom HITs are posted.

    `endpoint`: "production", "sandbox", or the URL of a server that speaks the same API.
    `submit_to`: sites that pages may be told to submit to, beside Amazon's
    or, for another server, the endpoint's own.
    `seats_per_hit`: at most 9, as 10 or more cost 40 % instead of 20 %. `block_name`: the name of
    the qualification that people have who are shown none of our HITs; empty for no such thing.
    `mark`: what the annotation of our HITs begins with, so that other people's HITs on the same
    account are never touched. `threads`: requests at a time.

    Raises:
        ValueError: a value that cannot be right, named in the text.
    """

    endpoint: str
    access_key: str
    secret_key: str = field(repr=False)
    wanted: Wanted = Wanted()
    title: str = "Talk with another person about a photo"
    description: str = "Have a short written conversation with another person about a photo."
    keywords: str = "chat, conversation, dialog, photo"
    seats_per_hit: int = 1
    frame_height: int = 0
    submit_to: tuple[str, ...] = ()
    block_name: str = "Group B (Duologue)"
    mark: str = "duologue"
    threads: int = 8
    connect_timeout_s: float = 5.0
    read_timeout_s: float = 20.0

    def __post_init__(self) -> None:
        if not self.access_key or not self.secret_key:
            raise ValueError("access_key, secret_key: both are needed")
        if self.endpoint not in ("production", "sandbox") and not self.endpoint.startswith(
            ("https://", "http://")
        ):
            raise ValueError('endpoint: "production", "sandbox" or a URL')
        if not 1 <= self.seats_per_hit <= 9:
            raise ValueError("seats_per_hit: 1 to 9; from 10 on the commission is doubled")
        if self.frame_height < 0:
            raise ValueError("frame_height: 0 (fit the window) or more, in pixels")
        if not self.mark or ":" in self.mark:
            raise ValueError("mark: some characters, without a colon")
        percent = self.wanted.percent_approved
        if percent is not None and not 0 <= percent <= 100:
            raise ValueError("percent_approved: 0 to 100")
        if (self.wanted.number_approved or 0) < 0:
            raise ValueError("number_approved: 0 or more")
        if len(self.wanted.countries) > 30:
            raise ValueError("countries: at most 30")
        for country in self.wanted.countries:
            parts = country.split("-")
            if len(parts) > 2 or any(len(p) != 2 or not p.isalpha() for p in parts):
                raise ValueError(f'countries: "{country}" is not like "US" or "US-NY"')

    @property
    def url(self) -> str:
        """Where the API is."""
        return {"production": PRODUCTION, "sandbox": SANDBOX}.get(self.endpoint, self.endpoint)

    @property
    def sandbox(self) -> bool:
        return self.url == SANDBOX

    @property
    def sites(self) -> frozenset[str]:
        """What `turkSubmitTo` may be, without trailing slash."""
        at = urlsplit(self.url)
        own = _SITES.get(self.url, f"{at.scheme}://{at.netloc}")
        return frozenset(site.rstrip("/") for site in (own, *self.submit_to))
