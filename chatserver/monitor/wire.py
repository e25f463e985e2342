"""What travels between the monitor and the server: JSON bodies and socket.io payloads.

The TypeScript types are generated from these models (`make types`). Times are seconds since
1970-01-01 UTC by the server's clock, money is in cents of the study's currency. A list comes in
pages: `next` is what to ask the next one with, None at the end.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from chatserver.wire import Plain, Wire
from dialogs.limits import is_blank
from dialogs.quality import Severity
from dialogs.rules import (
    Acceptance,
    AdminRole,
    ArrivalStatus,
    AssignmentStatus,
    Ending,
    HitState,
    LedgerState,
    Outcome,
    Phase,
    Release,
    RequestKind,
    RequestState,
    Role,
    StudyStatus,
    ToldKind,
)


def _says_something(text: str) -> str:
    if is_blank(text):
        raise ValueError("must not be empty")
    return text


def _lines(text: str) -> str:
    if any(char < " " and char not in "\n\r\t" for char in text) or "\x7f" in text:
        raise ValueError("must hold no control characters but line breaks")
    return text


Words = Annotated[Plain, Field(min_length=1, max_length=1000), AfterValidator(_says_something)]
"""A line that somebody of the team writes."""
Name = Annotated[Plain, Field(min_length=1, max_length=100)]
Key = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
"""Made by the page, new for every action and the same when it is sent again: it is done once."""


class Trouble(StrEnum):
    """Why a request of the monitor was not carried out."""

    SIGNED_OUT = "signed_out"
    """There is no session (any more)."""
    WRONG = "wrong"
    """Name and password do not belong together."""
    SLOW_DOWN = "slow_down"
    """Too many tries; `retry_after_s` says how long to wait."""
    NOT_ALLOWED = "not_allowed"
    """It takes another role."""
    BAD_CSRF = "bad_csrf"
    FOREIGN = "foreign"
    """A page of somebody else's asks."""
    BAD_REQUEST = "bad_request"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    """Something else happened meanwhile."""
    TRY_AGAIN = "try_again"


class Denied(Wire):
    """The answer instead of any other: nothing happened, and why."""

    error: str
    code: Trouble
    retry_after_s: int | None = None


# --- Sign-in -------------------------------------------------------------------------------


class SignIn(Wire):
    """`POST /api/sign-in`: answered by `Me` and a cookie."""

    name: Name
    password: str = Field(min_length=1, max_length=1000)


class Me(Wire):
    """`GET /api/monitor/me`. `csrf` goes into the header X-CSRF-Token of every change, and into
    the socket's auth payload."""

    name: str
    role: AdminRole
    csrf: str
    study: StudyBrief


class SignedIn(Wire):
    """`GET /api/sign-in`: who this browser is signed in as, if at all, and the title of the study,
    which its workers read as well."""

    me: Me | None
    study: str


class StudyBrief(Wire):
    """`work` is the address that whoever wants to take part opens; empty where they come by HITs or
    by invitations of their own."""

    id: str
    title: str
    currency: str
    recruiter: str
    rounds: int
    posts: bool
    pays: bool
    messages: bool
    work: str


class Done(Wire):
    """An action was carried out, or, with `request`, will be by the hit manager."""

    request: str | None = None


# --- Live (socket.io namespace /monitor) ---------------------------------------------------


class Watch(Wire):
    """`watch`: follow this dialog, instead of any other; answered by `DialogOut`."""

    dialog_id: Plain = Field(max_length=100)


class BoardSeat(Wire):
    """`grace_ends_at` is when the seat of somebody who is away since `away_at` is lost; None for
    whoever is here, and for who has sent everything and so cannot lose it."""

    role: Role
    worker_id: str
    sent: int
    away: bool
    away_at: float | None
    grace_ends_at: float | None
    gone: bool


class BoardRow(Wire):
    """One live dialog. `turn_at` is since when the turn is whose it is, `turn_ends_at` when it ends
    without signs of typing. `flags` is how many were raised so far."""

    id: str
    image_id: str
    caption: str
    phase: Phase
    round: int
    rounds: int
    turn: Role | None
    turn_at: float
    turn_ends_at: float
    opened_at: float
    seats: list[BoardSeat]
    flags: int


class Board(Wire):
    """`board`: rows that are new or have changed, and those that are over. With `all`, these are
    all there are."""

    now: float
    all: bool
    rows: list[BoardRow]
    over: list[str]


class LobbyRow(Wire):
    """Somebody who waits: `waited_s` before `since`, and since then without a break."""

    arrival_id: str
    worker_id: str
    since: float
    waited_s: float
    language: str


class ProcessOut(Wire):
    """A server process, `seen_at` by its last sign of life."""

    id: str
    started_at: float
    seen_at: float
    pages: int


class Health(Wire):
    """What is in order. `recruiting` is what was in the way of the last round of recruiting and
    paying, at `recruiting_at`; None where no round is ever made."""

    database: bool
    redis: bool
    processes: list[ProcessOut]
    recruiting_at: float | None
    recruiting: list[str]


class Stuck(Wire):
    """What waits for a person: payments that failed or are held, `cents` in all, requests of
    the team that failed, and, where the study approves by hand, payments to approve,
    `to_approve_cents` in all; and `problems` that workers have reported in the last hour."""

    payments: int
    cents: int
    requests: int
    problems: int
    to_approve: int
    to_approve_cents: int


class Now(Wire):
    """`now`: how the study stands.

    `done` of `places` are complete and not rejected. `rate` is complete dialogs an hour over the
    last hour, `ends_at` when it would be done at that rate. `cost` is what is owed or paid so
    far, `forecast` what it comes to when every place is done. `hourly` is what an hour of
    people's time has been paid, at the median. `began_at` is when the first person came; None
    while nobody has.
    """

    at: float
    began_at: float | None
    status: StudyStatus
    places: int
    done: int
    live: int
    inside: int
    rate: float
    ends_at: float | None
    cost: int
    paid: int
    forecast: int | None
    hourly: int | None
    to_review: int
    stuck: Stuck
    lobby: list[LobbyRow]
    lobby_size: int
    health: Health


class ChartPoint(Wire):
    """One step of time from `at` on; `wait_s` is the median wait of those who were paired in it."""

    at: float
    arrivals: int
    pairs: int
    complete: int
    lost: int
    wait_s: float | None


class Chart(Wire):
    """`GET /api/monitor/chart?hours=3`; the socket's `chart` brings the newest points again."""

    step_s: int
    points: list[ChartPoint]


class Changed(Wire):
    """`changed`: what a list or a page shows is older than the record."""

    what: Literal[
        "dialogs", "workers", "hits", "ledger", "requests", "review", "study", "audit", "told"
    ]


class TypingSeen(Wire):
    """`typing` of somebody in the watched dialog."""

    dialog_id: str
    role: Role
    on: bool


# --- Dialogs -------------------------------------------------------------------------------


class EntryKind(StrEnum):
    """One thing that happened in a dialog; those of `dialogs.events`."""

    OPENED = "opened"
    SAID = "said"
    AWAY = "away"
    RETURNED = "returned"
    SEAT_LOST = "seat_lost"
    TOLD = "told"
    EXTENDED = "extended"
    ENDED = "ended"


class Entry(Wire):
    """What happened, as event `seq`. `text` is what was said, told, or the reason of the end;
    `why` how a seat was lost, or how the dialog ended; `seconds` how much longer it may take."""

    seq: int
    at: float
    kind: EntryKind
    role: Role | None = None
    round: int | None = None
    text: str = ""
    why: str = ""
    seconds: float | None = None
    pasted: bool = False
    composed_ms: int | None = None
    edits: int | None = None


class Happened(Wire):
    """`entries`: what has just happened in the watched dialog, and how it stands since."""

    dialog_id: str
    now: float
    entries: list[Entry]
    standing: Standing


class Standing(Wire):
    """How a dialog stands. `turn_ends_at` without signs of typing, `limit_at` whatever comes."""

    phase: Phase
    outcome: Outcome | None
    ending: Ending | None
    round: int
    turn: Role | None
    turn_at: float
    turn_ends_at: float | None
    limit_at: float | None
    ended_at: float | None
    seats: list[SeatOut]


class SeatOut(Wire):
    """One person's part. `cents` is earned by it, whether it has been paid or not; `full_pay` is
    what it pays in full, by the rules that the dialog began with. Who has sent a message in each
    round is never paid less."""

    role: Role
    arrival_id: str
    worker_id: str
    sent: int
    away_at: float | None
    gone: bool
    release: Release | None
    cents: int
    full_pay: int


class FindingOut(Wire):
    """A quality flag with its reason; `by` is who of the team raised it, None for the rules."""

    number: int
    flag: str
    role: Role | None
    round: int | None
    seq: int | None
    reason: str
    by: str | None


class JudgementOut(Wire):
    by: str
    verdict: Acceptance | None
    reason: str
    decides: bool
    at: float


class WorkerBrief(Wire):
    """Somebody's history at a glance, counted over the whole study."""

    id: str
    dialogs: int
    complete: int
    solo: int
    left: int
    flags: int
    rejected: int
    excluded: bool
    median_answer_s: float | None


class PaymentOut(Wire):
    """A payment; `dialog_id` is the dialog in which its person had a part, None if in none."""

    arrival_id: str
    reason: str
    worker_id: str
    dialog_id: str | None
    cents: int
    state: LedgerState
    at: float
    paid_at: float | None
    problem: str | None
    note: str | None
    handed_in: AssignmentStatus | None


class DialogOut(Wire):
    """`GET /api/monitor/dialogs/{id}`: everything about one dialog."""

    id: str
    now: float
    item_id: str
    image_id: str
    caption: str
    width: int
    height: int
    place: int
    language: str
    same_address: bool
    opened_at: float
    rounds: int
    acceptance: Acceptance | None
    standing: Standing
    entries: list[Entry]
    findings: list[FindingOut]
    judgements: list[JudgementOut]
    workers: list[WorkerBrief]
    payments: list[PaymentOut]
    relaunched: bool


class DialogRow(Wire):
    """A dialog in a list."""

    id: str
    image_id: str
    caption: str
    place: int
    phase: Phase
    outcome: Outcome | None
    ending: Ending | None
    acceptance: Acceptance | None
    opened_at: float
    ended_at: float | None
    messages: int
    flags: list[str]
    workers: list[str]
    judged_by: list[str]


class DialogRows(Wire):
    """`GET /api/monitor/dialogs?phase=&outcome=&acceptance=&flag=&worker=&since=&until=&after=`,
    the newest first."""

    rows: list[DialogRow]
    total: int
    next: str | None


class Tell(Wire):
    """`POST …/dialogs/{id}/message`: `to` one of them, or both. `key` is made by the page; sent
    again with it, it is told once."""

    key: Key
    to: Role | None = None
    text: Words


class Extend(Wire):
    """`POST …/dialogs/{id}/extend`: so many minutes more, and the running turn begins anew."""

    key: Key
    minutes: int = Field(ge=1, le=60)


class End(Wire):
    """`POST …/dialogs/{id}/end`: `cents` is what each who is still there is paid; both are told
    the reason. Without `cents`, everybody is paid in full."""

    key: Key
    reason: Words
    cents: dict[Role, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)


class Flag(Wire):
    """`POST …/dialogs/{id}/flag`: somebody of the team saw something. Sent again with its `key`, it
    is one flag."""

    key: Key | None = None
    reason: Words
    role: Role | None = None
    seq: int | None = Field(default=None, ge=1)


class FlagOut(Wire):
    """A kind of flag: what it is called and means, and in how many `dialogs` it stands. `severity`
    is None for what no rule raises: flags of the team, and those that a later version knows."""

    name: str
    label: str
    means: str
    severity: Severity | None
    dialogs: int


class Flags(Wire):
    """`GET /api/monitor/flags`: all that are known, the most frequent first."""

    flags: list[FlagOut]


# --- Workers -------------------------------------------------------------------------------


class WorkerRow(Wire):
    """One person in the list. In cents, `paid` is what has gone out and `owed` what has not."""

    id: str
    recruiter: str
    first_at: float
    last_at: float
    arrivals: int
    dialogs: int
    complete: int
    flags: int
    rejected: int
    owed: int
    paid: int
    excluded: bool
    inside: ArrivalStatus | None


class WorkerRows(Wire):
    """`GET /api/monitor/workers?search=&excluded=&flagged=&after=`, who came last first."""

    rows: list[WorkerRow]
    total: int
    next: str | None


class NoteOut(Wire):
    by: str | None
    text: str
    at: float


class RequestOut(Wire):
    """What the team wants of the recruiter about a person, and how far that has come. `needs` is
    the least role of who may ask for it again, or dismiss it, once it has failed."""

    id: str
    kind: RequestKind
    target: str
    worker_id: str
    needs: AdminRole
    by: str | None
    state: RequestState
    at: float
    done_at: float | None
    problem: str | None
    text: str


class WorkerOut(Wire):
    """`GET /api/monitor/workers/{id}`. `external_id` is the recruiter's name of the person; only
    owners and reviewers are given it."""

    row: WorkerRow
    external_id: str | None
    excluded_why: str | None
    brief: WorkerBrief
    releases: dict[Release, int]
    median_words: float | None
    dialogs: list[DialogRow]
    payments: list[PaymentOut]
    notes: list[NoteOut]
    requests: list[RequestOut]


class Reason(Wire):
    """`POST …/workers/{id}/exclude` and whatever else takes a reason alone."""

    reason: Words


class Nothing(Wire):
    """`POST …/workers/{id}/allow`, `…/study/pause` and others that need no more."""


class Note(Wire):
    """`POST …/workers/{id}/note`. Sent again with its `key`, it is one note."""

    key: Key | None = None
    text: Words


class WorkerMessage(Wire):
    """`POST …/workers/{id}/message`: by the recruiter. Asked again with its `key`, it is sent
    once."""

    key: Key | None = None
    subject: Annotated[Words, Field(max_length=200)]
    text: Annotated[
        str,
        Field(min_length=1, max_length=4096),
        AfterValidator(_lines),
        AfterValidator(_says_something),
    ]


class BonusWish(Wire):
    """`POST …/workers/{id}/bonus`: for the newest of their arrivals, or the one named. Sent again
    with its `key`, it is given once."""

    key: Key
    cents: int = Field(ge=1, le=1_000_000)
    reason: Words
    arrival_id: Annotated[Plain, Field(max_length=100)] | None = None


# --- HITs and ledger -----------------------------------------------------------------------


class HitRow(Wire):
    id: str
    remote_id: str | None
    state: HitState
    seats: int
    taken: int
    submitted: int
    reward: int
    posted_at: float | None
    expires_at: float | None
    problem: str | None


class HitRows(Wire):
    """`GET /api/monitor/hits?state=&after=`, the newest first. `wanted` people are missing,
    `have` on their way; `why` says what keeps anybody from being invited."""

    wanted: int
    have: int
    why: str
    states: dict[HitState, int]
    rows: list[HitRow]
    total: int
    next: str | None


class ChainDialog(Wire):
    id: str
    how: str
    relaunched: list[str]


class ChainRow(Wire):
    """An item, its dialogs, and the HITs by which each failed one was relaunched."""

    image_id: str
    caption: str
    wanted: int
    complete: int
    dialogs: list[ChainDialog]


class ChainRows(Wire):
    """`GET /api/monitor/chains?after=`: items with a dialog that failed."""

    rows: list[ChainRow]
    total: int
    next: str | None


class LedgerSum(Wire):
    state: LedgerState
    payments: int
    cents: int


class LedgerRows(Wire):
    """`GET /api/monitor/ledger?state=&problem=&after=`, the newest first."""

    sums: list[LedgerSum]
    rows: list[PaymentOut]
    total: int
    next: str | None


class RequestRows(Wire):
    """`GET /api/monitor/requests?state=&after=`, the newest first."""

    states: dict[RequestState, int]
    rows: list[RequestOut]
    total: int
    next: str | None


class OnFailed(Wire):
    """`POST …/requests/{id}/again` and `…/requests/{id}/dismiss`: about a request that failed at
    `failed_at`, its `done_at`. Sent again it changes nothing, even if the request has failed anew
    since."""

    failed_at: float | None


class PaymentName(Wire):
    arrival_id: Plain = Field(max_length=100)
    reason: Plain = Field(max_length=100)


class PaymentNames(Wire):
    """`POST …/ledger/approve` and `…/ledger/retry`."""

    payments: Annotated[list[PaymentName], Field(min_length=1, max_length=20)]


# --- Review --------------------------------------------------------------------------------


class PayDecision(Wire):
    """What becomes of what one arrival is owed; refusing takes a reason, which they are told."""

    arrival_id: Plain = Field(max_length=100)
    approve: bool = True
    reason: Annotated[Plain, Field(max_length=1000)] = ""


class Judge(Wire):
    """`POST …/review/{dialog_id}`: `verdict` is None for a dialog that is not complete. It needs no
    key: each judges a dialog once, and who says the same again, of the pay too, is answered as the
    first time."""

    verdict: Acceptance | None
    reason: Annotated[Plain, Field(max_length=1000)] = ""
    pay: list[PayDecision] = Field(default_factory=list, max_length=2)


class Settled(Wire):
    """A payment after a judgement; `moved` says that the judgement brought it into its state."""

    arrival_id: str
    reason: str
    cents: int
    state: LedgerState
    moved: bool


class Judged(Wire):
    """A judgement is stored. One that does not decide is kept for agreement alone."""

    request: str | None = None
    decides: bool
    pay: list[Settled]


class Undo(Wire):
    """`POST …/review/undo`: what this reviewer judged last, or their judgement of `dialog_id`; an
    owner may name whatever dialog. Answered by `ReviewNext`, with that dialog."""

    dialog_id: Annotated[Plain, Field(max_length=100)] | None = None


class ReviewNext(Wire):
    """`POST …/review/next?flag=&unflagged=&worker=&outcome=&since=&until=`: the next dialog for
    this reviewer, held for them until `until`; None when nothing waits. `second` says that
    somebody has judged it already, whose verdict is not shown."""

    dialog: DialogOut | None
    until: float | None
    second: bool
    waiting: int


class ReviewerOut(Wire):
    """How much one person has judged; of the `twice` that somebody else judged too, `alike` say
    the same."""

    name: str
    judged: int
    rejected: int
    twice: int
    alike: int


class ReviewStats(Wire):
    """`GET …/review/stats`. `waiting` are all that somebody is to judge, in hand or not, as in
    `Now.to_review`. Agreement over the `twice` dialogs that two people judged: the share
    on which they agree, None if there are none, and Cohen's kappa (1960), None below two and where
    both said the same of every dialog, for which it is not defined."""

    waiting: int
    judged: int
    accepted: int
    rejected: int
    mine: int
    twice: int
    agree: float | None
    kappa: float | None
    reviewers: list[ReviewerOut] = Field(default_factory=list)


class Bulk(Wire):
    """`POST …/review/bulk`: all that wait and match the filters. With `dry_run`, only what it
    would do; `expected` is the number that was confirmed, and nothing is done if it is another.
    Sent again with its `key`, it is done once and answered the same."""

    key: Key | None = None
    verdict: Acceptance | None
    approve_pay: bool = True
    flag: Plain | None = None
    unflagged: bool = False
    worker: Plain | None = None
    outcome: Ending | None = None
    since: float | None = None
    until: float | None = None
    dry_run: bool = True
    expected: int | None = None


class BulkDone(Wire):
    dialogs: int
    payments: int
    cents: int


# --- Study ---------------------------------------------------------------------------------


class Limits(Wire):
    """What can be changed for dialogs to come; None leaves it as the study file says. Seconds."""

    grace_s: float | None = Field(default=None, gt=0, le=604_800)
    turn_limit_s: float | None = Field(default=None, gt=0, le=604_800)
    dialog_limit_s: float | None = Field(default=None, gt=0, le=604_800)
    lobby_limit_s: float | None = Field(default=None, gt=0, le=604_800)
    pay_complete: int | None = Field(default=None, ge=0, le=2_147_483_647)
    pay_left: int | None = Field(default=None, ge=0, le=2_147_483_647)
    pay_waiting_per_minute: int | None = Field(default=None, ge=0, le=2_147_483_647)


class ChangeStudy(Wire):
    """`POST …/study/change`: these take the place of all earlier ones. `known` are the earlier ones
    as the page showed them: if there are others by now, nothing is changed. Sent again, it changes
    nothing."""

    changes: Limits
    known: Limits | None = None
    reason: Words


class StudyOut(Wire):
    """`GET /api/monitor/study`: the study file as it was read (`file`, by section), what the file
    says of what can be changed, and what was changed. `keys` are what the errors call it: each
    one's key in the study file."""

    status: StudyStatus
    file: dict[str, object]
    from_file: Limits
    changes: Limits
    may_change: list[str]
    keys: dict[str, str]


class ToldRow(Wire):
    """What a worker told: a problem, why they left, or their feedback at the end."""

    id: str
    at: float
    kind: ToldKind
    text: str
    worker_id: str
    dialog_id: str | None


class ToldRows(Wire):
    """`GET /api/monitor/told?kind=&after=`, the newest first."""

    rows: list[ToldRow]
    total: int
    next: str | None


class AuditRow(Wire):
    """What somebody did. `before` and `after` are JSON as text."""

    id: str
    at: float
    by: str | None
    action: str
    target: str
    before: str | None
    after: str | None


class AuditRows(Wire):
    """`GET /api/monitor/audit?by=&action=&target=&after=`, the newest first."""

    rows: list[AuditRow]
    total: int
    next: str | None


MONITOR_EXPORTED: tuple[type[BaseModel], ...] = (
    Denied,
    SignIn,
    SignedIn,
    Me,
    Done,
    Watch,
    Board,
    Now,
    Chart,
    Changed,
    TypingSeen,
    Happened,
    DialogOut,
    DialogRows,
    Tell,
    Extend,
    End,
    Flag,
    Flags,
    WorkerRows,
    WorkerOut,
    Reason,
    Note,
    WorkerMessage,
    BonusWish,
    HitRows,
    ChainRows,
    LedgerRows,
    RequestRows,
    OnFailed,
    PaymentNames,
    Judge,
    Judged,
    Undo,
    ReviewNext,
    ReviewStats,
    Bulk,
    BulkDone,
    ChangeStudy,
    StudyOut,
    AuditRows,
    ToldRows,
)
"""What the TypeScript types are made from."""
