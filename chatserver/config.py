"""What the live server needs to know, given by the composition root."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from dialogs.dialog import PRESENCE_S
from dialogs.rules import Rules
from dialogs.terms import Changes, Terms, contradictions
from pairing.lobby import FRESH_S


class SameAddress(StrEnum):
    """What to do when both people of a pair come from one network address."""

    ALLOW = "allow"
    FLAG = "flag"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Check:
    """One question of the instructions check; `answer` is the index of the right option."""

    question: str
    options: tuple[str, ...]
    answer: int


@dataclass(frozen=True, slots=True)
class StudyConfig:
    """The study as the live server runs it. Durations in seconds. `review_twice` is the share of
    dialogs that two people are to judge, and `approve_by_hand` whether what is owed waits for
    somebody to approve it; of the recruiter it knows only what its `terms` must fit to."""

    id: str
    title: str
    rules: Rules
    description: str = ""
    contact: str = ""
    languages: tuple[str, ...] = ("en",)
    consent: str = ""
    check: tuple[Check, ...] = ()
    example_caption: str = ""
    example_rounds: tuple[tuple[str, str], ...] = ()
    minutes: int = 15
    start_s: float = 20.0
    lobby_limit_s: float = 600.0
    assignment_duration_s: float = 7200.0
    dialogs_per_worker: int = 10
    repeat_partners: bool = False
    same_address: SameAddress = SameAddress.FLAG
    review_twice: float = 0.0
    approve_by_hand: bool = False
    invitations: frozenset[str] | None = None
    recruiter: str = "link"
    reward: int | None = None
    screen_out: int | None = None

    @property
    def terms(self) -> Terms:
        """What can be changed while it runs, and what that must fit to."""
        return Terms(
            self.rules,
            self.start_s,
            self.lobby_limit_s,
            self.assignment_duration_s,
            self.recruiter,
            self.reward,
            self.screen_out,
        )

    def changed(self, changes: Changes) -> StudyConfig:
        """The study as the team has changed it while it runs.

        Raises:
            ValueError: it does not fit together; one line a problem.
        """
        terms = self.terms.changed(changes)
        if problems := contradictions(terms):
            raise ValueError("\n".join(problems))
        return replace(self, rules=terms.rules, lobby_limit_s=terms.lobby_limit_s)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the study's recruiter can do, as far as the monitor offers it: `posts` HITs, `pays`
    for work, carries `messages`, `blocks` people."""

    posts: bool = False
    pays: bool = False
    messages: bool = False
    blocks: bool = False


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One server process. `pictures` holds the items' files, `static` the built pages.

    With `guests`, `?guest=NAME` in a link is a person of its own: for trying both sides in one
    browser, never for a study. `heartbeat_s` is how often a page is asked whether it is there;
    `health_s` how often the database and Redis are; `poll_s` how often missed events are looked
    for in the record; `sweep_s` how often missing deadlines are; `lobby_s` how often who waits is
    told how the wait goes; after `outage_s` without
    readiness the pages are sent elsewhere.

    A page that is silent for `fresh_s` is not matched, and for `presence_s`, or `closed_s` after
    its connection was lost, its person counts as away. When no process was healthy for more than
    `no_outage_s`, that time counts for nobody.

    Who bears `metrics_token` sees the metrics; without one, only programs on this machine.
    """

    study: StudyConfig
    secret_key: str = field(repr=False)
    pictures: Path
    static: Path
    host: str = "127.0.0.1"
    port: int = 8000
    public_url: str = ""
    frame_ancestors: tuple[str, ...] = ()
    trusted_proxies: int = 0
    heartbeat_s: float = 10.0
    health_s: float = 1.0
    poll_s: float = 2.0
    sweep_s: float = 30.0
    lobby_s: float = 3.0
    outage_s: float = 10.0
    fresh_s: float = FRESH_S
    presence_s: float = PRESENCE_S
    closed_s: float = 5.0
    no_outage_s: float = 5.0
    reuse_port: bool = False
    guests: bool = False
    abilities: Abilities = Abilities()
    metrics_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Failpoints:
    """Hooks around a commit, for the chaos suite: called in the writer's thread."""

    before_commit: Callable[[], None] | None = None
    after_commit: Callable[[], None] | None = None
