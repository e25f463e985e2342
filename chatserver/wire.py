"""What travels between the page and the server: socket.io payloads and JSON bodies.

The TypeScript types are generated from these models (`make types`). Times are seconds since
1970-01-01 UTC by the server's clock; every payload that holds one also holds `now`, so the
page counts down by differences and never trusts its own clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from dialogs.dialog import RefusalCode
from dialogs.rules import Outcome, Phase, Release, Role, SeatEnd


class Wire(BaseModel):
    """Base of everything on the wire: unknown fields are refused, values never coerced, and a
    number is one that can be compared and stored."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _one_line(text: str) -> str:
    if any(char < " " or char == "\x7f" for char in text):
        raise ValueError("must hold no control characters")
    return text


Plain = Annotated[str, AfterValidator(_one_line)]
"""One line without control characters, such as NUL, which PostgreSQL stores nowhere."""


MOST_ENTRIES = 20
"""Of an object or list in what a page sends: more than any of ours has."""
DEEPEST = 4


def is_modest(data: object, depth: int = DEEPEST) -> bool:
    """Whether what came is no larger than what our pages send, so that validating it costs
    little: each entry too many would be a mistake to write down."""
    match data:
        case dict():
            parts: Iterable[object] = data.values()
        case list():
            parts = data
        case _:
            return True
    return (
        depth > 0
        and len(data) <= MOST_ENTRIES
        and all(is_modest(part, depth - 1) for part in parts)
    )


# --- page → server -------------------------------------------------------------------------


class WirePart(Wire):
    """One part of a message. `text` is checked by `dialogs.limits`, with words for the worker."""

    text: str = Field(max_length=10_000)


class WireMeta(Wire):
    """How the message was composed, for reviewers."""

    pasted: bool = False
    composed_ms: int = Field(default=0, ge=0, le=86_400_000)
    edits: int = Field(default=0, ge=0, le=100_000)


class SendMessage(Wire):
    """`message`: acknowledged by `Sent` or `Refused`. `key` is made by the page, unique."""

    key: str = Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")
    parts: Annotated[list[WirePart], Field(min_length=1, max_length=1)]
    meta: WireMeta = WireMeta()


class Sync(Wire):
    """`sync`: the page has missed something after event `after_seq`; answered by `Events`."""

    after_seq: int = Field(ge=0)


class Typing(Wire):
    """`typing`, both directions. Not acknowledged, not stored."""

    on: bool


class LeaveRequest(Wire):
    """`leave`: the work ends for this person, in the lobby or in a dialog."""

    reason: str = Field(default="", max_length=1000)


class Finish(Wire):
    """`finish`: the last page's feedback; may be sent again."""

    feedback: str = Field(default="", max_length=5000)


class Report(Wire):
    """`report`: a problem the worker tells the team about, at any time."""

    text: str = Field(min_length=1, max_length=5000)


class Nothing(Wire):
    """The empty payload of `ready`, `start`, `decline`, `pair_again`, `stop_waiting`.

    `decline` is *not now* to a match: back to `ready` without blame.
    """


# --- acknowledgements ----------------------------------------------------------------------


class ErrorCode(StrEnum):
    """Refusals that the rules of a dialog do not know."""

    BAD_TOKEN = "bad_token"
    BAD_REQUEST = "bad_request"
    REPLACED = "replaced"
    NOT_NOW = "not_now"
    STUDY_PAUSED = "study_paused"
    TRY_AGAIN = "try_again"
    CAP_REACHED = "cap_reached"
    NOT_NEEDED = "not_needed"
    NO_INVITATION = "no_invitation"
    UNKNOWN_INVITATION = "unknown_invitation"
    WRONG_ANSWERS = "wrong_answers"


class Sent(Wire):
    """The message is committed as event `seq`."""

    seq: int


class Done(Wire):
    """The request is carried out and in the record."""

    ok: Literal[True] = True


class Refused(Wire):
    """Nothing happened. `error` is a sentence the worker can act on."""

    error: str
    code: ErrorCode | RefusalCode


class WrongAnswersOut(Refused):
    """Answer to `POST /api/arrivals` when the check of the instructions is not passed: the
    numbers of its wrong questions, from 1."""

    questions: list[int]


# --- server → page -------------------------------------------------------------------------


class MessageOut(Wire):
    """`message`: one stored message; `key` only on one's own."""

    seq: int
    round: int
    role: Role
    parts: list[WirePart]
    at: float
    key: str | None = None


class PartnerOut(Wire):
    """`partner`: whether the partner is there; event `seq`."""

    seq: int
    present: bool
    grace_ends_at: float | None
    now: float


class PhaseOut(Wire):
    """`phase`: the dialog's phase has changed; event `seq`. A `state` follows."""

    seq: int
    phase: Phase


class ToldOut(Wire):
    """`told`: a message of the team to this person, which is none of the dialog; event `seq`."""

    seq: int
    text: str
    at: float


class ExtendedOut(Wire):
    """`extended`: the team gave more time; event `seq`. The turn begins anew, and so does the wait
    for a partner who is away."""

    seq: int
    turn_ends_at: float | None
    grace_ends_at: float | None
    now: float


class Events(Wire):
    """Answer to `sync`: the frames after `after_seq`, in order; `seq` is the newest event."""

    seq: int
    frames: list[MessageOut | PartnerOut | PhaseOut | ToldOut | ExtendedOut]


class Lobby(Wire):
    """`lobby`: the wait so far and what to expect. `position` is 1 for the next in line.

    `estimate_s` is None while nothing is known. `may_stop` says that the lobby limit has
    passed, so the worker may submit now; `stop_pays` is what the wait is worth (cents).
    `nothing_left`: no item is left that this worker could talk about.
    """

    waited_s: float
    estimate_s: float | None
    position: int | None
    limit_s: float
    may_stop: bool
    stop_pays: int
    nothing_left: bool
    paused: bool
    now: float


class Match(Wire):
    """A partner is found; press start until `start_by`."""

    start_by: float
    started: bool
    now: float


class ItemOut(Wire):
    """What this role may see of the item. `picture` is a relative URL, or None."""

    caption: str | None
    picture: str | None
    blurred: bool
    width: int | None
    height: int | None


class Partner(Wire):
    """The partner as shown. `left`: the seat is lost for good."""

    present: bool
    left: bool
    grace_ends_at: float | None


class Dialog(Wire):
    """The dialog as this role may see it. `told` is what the team wrote to this person, `extended`
    the numbers of the events by which it gave more time."""

    role: Role
    phase: Phase
    item: ItemOut
    round: int
    rounds: int
    turn: Role | None
    your_turn: bool
    sent: int
    messages: list[MessageOut]
    told: list[ToldOut]
    extended: list[int]
    partner: Partner
    turn_ends_at: float | None
    may_pair_again: bool
    pays: int
    max_characters: int


class Submit(Wire):
    """How the end page hands the work in: a form to `url` with `fields`, sent by `method`.

    `reward` is what is paid as such, in cents, and the rest comes as a bonus; None if nobody knows.
    `by_hand`: nothing is paid before the team has looked at the work, but that the platform pays
    the reward by itself after `reward_after_s`, where it does.
    """

    url: str
    fields: dict[str, str]
    method: Literal["post", "get"] = "post"
    reward: int | None = None
    by_hand: bool = False
    reward_after_s: float | None = None


class Released(Wire):
    """How it ended for this arrival and what it is owed. `why` its seat was lost, if it was.

    `by_team`: the team ended the dialog; `reason` is what it wrote then, if anything.
    """

    release: Release
    outcome: Outcome | None
    cents: int
    currency: str
    code: str
    submit: Submit | None
    feedback_sent: bool
    another: bool
    why: SeatEnd | None = None
    by_team: bool = False
    reason: str = ""


class Stage(StrEnum):
    """Where this arrival is; it decides the screen."""

    ARRIVED = "arrived"
    WAITING = "waiting"
    MATCHED = "matched"
    TALKING = "talking"
    RELEASED = "released"


class State(Wire):
    """`state`: the whole view of this arrival. Sent on connect and after every gap.

    `missed_start`: this person did not press start in time, and may press ready again.
    """

    stage: Stage
    seq: int
    now: float
    lobby: Lobby | None = None
    match: Match | None = None
    dialog: Dialog | None = None
    released: Released | None = None
    missed_start: bool = False


class Stopped(Wire):
    """`stopped`: this page must stop for good, for example since another tab took over."""

    error: str
    code: ErrorCode


# --- HTTP ----------------------------------------------------------------------------------


class ArrivalRequest(Wire):
    """`POST /api/arrivals`: the recruiter's parameters as the page's query had them.

    `worker_key` is the random id that the page keeps in its storage for open links;
    `another` asks for a new arrival after the last one was released.
    """

    query: dict[Plain, Plain] = Field(default_factory=dict, max_length=20)
    worker_key: Plain | None = Field(default=None, min_length=16, max_length=64)
    language: Plain = Field(default="en", max_length=35)
    another: bool = False
    consented: bool = False
    check_answers: list[int] = Field(default_factory=list, max_length=20)


class ArrivalAnswer(Wire):
    """The signed token that goes into the socket's `auth` payload."""

    token: str


class CheckQuestion(Wire):
    """One question of the instructions check; the right answer stays on the server."""

    question: str
    options: list[str]


class Example(Wire):
    """The example dialog of the instructions."""

    caption: str
    rounds: list[tuple[str, str]]


class StudyOut(Wire):
    """`GET /api/study`: what the preview, consent and instructions show.

    `recruiter` is `link`, `mturk` or `prolific`: where the work is handed in, or given back.
    """

    recruiter: str
    title: str
    description: str
    protocol: str
    rounds: int
    currency: str
    pays: int
    leaving_pays: int
    waiting_per_minute: int
    minutes: int
    start_limit_s: float
    grace_s: float
    turn_limit_s: float
    lobby_limit_s: float
    consent: str
    check: list[CheckQuestion]
    example: Example
    contact: str
    languages: list[str]
    repeat_partners: bool
    paused: bool
    preview: bool
    max_characters: int


EXPORTED: tuple[type[BaseModel], ...] = (
    SendMessage, Sync, Typing, LeaveRequest, Finish, Report, Nothing,
    Sent, Done, Refused,
    MessageOut, PartnerOut, PhaseOut, ToldOut, ExtendedOut, Events,
    Lobby, Match, Dialog, Released, State, Stopped,
    ArrivalRequest, ArrivalAnswer, WrongAnswersOut, StudyOut,
)  # fmt: skip
"""The models the page needs; `make types` writes frontend/src/generated/wire.ts from them."""
