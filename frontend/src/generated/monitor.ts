/* Made by `make types` from chatserver/monitor/wire.py. Change that file, not this one. */

/**
 * Why a request of the monitor was not carried out.
 */
export type Trouble =
  | "signed_out"
  | "wrong"
  | "slow_down"
  | "not_allowed"
  | "bad_csrf"
  | "foreign"
  | "bad_request"
  | "not_found"
  | "conflict"
  | "try_again";
/**
 * What somebody of the team may do in the monitor.
 */
export type AdminRole = "owner" | "reviewer" | "viewer";
/**
 * Where a dialog is in its life.
 */
export type Phase = "paired" | "solo" | "ended";
/**
 * What a seat is for.
 */
export type Role = "questioner" | "answerer";
/**
 * Whether a study takes new people. Those inside always may finish.
 */
export type StudyStatus = "open" | "paused";
/**
 * One thing that happened in a dialog; those of `dialogs.events`.
 */
export type EntryKind =
  "opened" | "said" | "away" | "returned" | "seat_lost" | "told" | "extended" | "ended";
/**
 * How a dialog ended.
 */
export type Outcome = "complete" | "solo" | "abandoned";
/**
 * How a dialog ended, as the team is told: its outcome, unless it was ended from outside.
 */
export type Ending = "complete" | "solo" | "abandoned" | "ended_by_team" | "time_limit";
/**
 * How one arrival ended.
 */
export type Release =
  | "completed"
  | "finished_alone"
  | "left"
  | "never_paired"
  | "returned"
  | "screened_out"
  | "study_full"
  | "ended_by_team";
/**
 * Whether a complete dialog is good enough to be data. Never decides pay.
 */
export type Acceptance = "accepted" | "rejected";
/**
 * How far a payment has come.
 */
export type LedgerState =
  "owed" | "approved" | "sending" | "paid" | "failed" | "held" | "cancelled";
/**
 * What has become of one worker's hold on a HIT, as the recruiter says.
 */
export type AssignmentStatus = "taken" | "submitted" | "approved" | "rejected" | "returned";
/**
 * How soon a reviewer should look.
 */
export type Severity = "note" | "doubt" | "harm";
/**
 * Where an arrival is in its life.
 */
export type ArrivalStatus = "arrived" | "waiting" | "seated" | "released";
/**
 * What the team can want of the recruiter.
 */
export type RequestKind = "reject" | "message" | "bonus" | "block" | "unblock" | "retry";
/**
 * How far something has come that the team wants of the recruiter.
 */
export type RequestState = "wanted" | "done" | "failed" | "dismissed";
/**
 * Where one of our HITs is in its life.
 */
export type HitState = "wanted" | "open" | "closed" | "done" | "failed";
/**
 * The same, with what they wrote on the page after the end.
 */
export type ToldKind = "problem" | "leaving" | "feedback";

/**
 * Every payload by its name.
 */
export interface Wire {
  Denied: Denied;
  SignIn: SignIn;
  SignedIn: SignedIn;
  Me: Me;
  Done: Done;
  Watch: Watch;
  Board: Board;
  Now: Now;
  Chart: Chart;
  Changed: Changed;
  TypingSeen: TypingSeen;
  Happened: Happened;
  DialogOut: DialogOut;
  DialogRows: DialogRows;
  Tell: Tell;
  Extend: Extend;
  End: End;
  Flag: Flag;
  Flags: Flags;
  WorkerRows: WorkerRows;
  WorkerOut: WorkerOut;
  Reason: Reason;
  Note: Note;
  WorkerMessage: WorkerMessage;
  BonusWish: BonusWish;
  HitRows: HitRows;
  ChainRows: ChainRows;
  LedgerRows: LedgerRows;
  RequestRows: RequestRows;
  OnFailed: OnFailed;
  PaymentNames: PaymentNames;
  Judge: Judge;
  Judged: Judged;
  Undo: Undo;
  ReviewNext: ReviewNext;
  ReviewStats: ReviewStats;
  Bulk: Bulk;
  BulkDone: BulkDone;
  ChangeStudy: ChangeStudy;
  StudyOut: StudyOut;
  AuditRows: AuditRows;
  ToldRows: ToldRows;
}
/**
 * The answer instead of any other: nothing happened, and why.
 */
export interface Denied {
  error: string;
  code: Trouble;
  retry_after_s?: number | null;
}
/**
 * `POST /api/sign-in`: answered by `Me` and a cookie.
 */
export interface SignIn {
  name: string;
  password: string;
}
/**
 * `GET /api/sign-in`: who this browser is signed in as, if at all, and the title of the study,
 * which its workers read as well.
 */
export interface SignedIn {
  me: Me | null;
  study: string;
}
/**
 * `GET /api/monitor/me`. `csrf` goes into the header X-CSRF-Token of every change, and into
 * the socket's auth payload.
 */
export interface Me {
  name: string;
  role: AdminRole;
  csrf: string;
  study: StudyBrief;
}
/**
 * `work` is the address that whoever wants to take part opens; empty where they come by HITs or
 * by invitations of their own.
 */
export interface StudyBrief {
  id: string;
  title: string;
  currency: string;
  recruiter: string;
  rounds: number;
  posts: boolean;
  pays: boolean;
  messages: boolean;
  work: string;
}
/**
 * An action was carried out, or, with `request`, will be by the hit manager.
 */
export interface Done {
  request?: string | null;
}
/**
 * `watch`: follow this dialog, instead of any other; answered by `DialogOut`.
 */
export interface Watch {
  dialog_id: string;
}
/**
 * `board`: rows that are new or have changed, and those that are over. With `all`, these are
 * all there are.
 */
export interface Board {
  now: number;
  all: boolean;
  rows: BoardRow[];
  over: string[];
}
/**
 * One live dialog. `turn_at` is since when the turn is whose it is, `turn_ends_at` when it ends
 * without signs of typing. `flags` is how many were raised so far.
 */
export interface BoardRow {
  id: string;
  image_id: string;
  caption: string;
  phase: Phase;
  round: number;
  rounds: number;
  turn: Role | null;
  turn_at: number;
  turn_ends_at: number;
  opened_at: number;
  seats: BoardSeat[];
  flags: number;
}
/**
 * `grace_ends_at` is when the seat of somebody who is away since `away_at` is lost; None for
 * whoever is here, and for who has sent everything and so cannot lose it.
 */
export interface BoardSeat {
  role: Role;
  worker_id: string;
  sent: number;
  away: boolean;
  away_at: number | null;
  grace_ends_at: number | null;
  gone: boolean;
}
/**
 * `now`: how the study stands.
 *
 * `done` of `places` are complete and not rejected. `rate` is complete dialogs an hour over the
 * last hour, `ends_at` when it would be done at that rate. `cost` is what is owed or paid so
 * far, `forecast` what it comes to when every place is done. `hourly` is what an hour of
 * people's time has been paid, at the median. `began_at` is when the first person came; None
 * while nobody has.
 */
export interface Now {
  at: number;
  began_at: number | null;
  status: StudyStatus;
  places: number;
  done: number;
  live: number;
  inside: number;
  rate: number;
  ends_at: number | null;
  cost: number;
  paid: number;
  forecast: number | null;
  hourly: number | null;
  to_review: number;
  stuck: Stuck;
  lobby: LobbyRow[];
  lobby_size: number;
  health: Health;
}
/**
 * What waits for a person: payments that failed or are held, `cents` in all, requests of
 * the team that failed, and, where the study approves by hand, payments to approve,
 * `to_approve_cents` in all; and `problems` that workers have reported in the last hour.
 */
export interface Stuck {
  payments: number;
  cents: number;
  requests: number;
  problems: number;
  to_approve: number;
  to_approve_cents: number;
}
/**
 * Somebody who waits: `waited_s` before `since`, and since then without a break.
 */
export interface LobbyRow {
  arrival_id: string;
  worker_id: string;
  since: number;
  waited_s: number;
  language: string;
}
/**
 * What is in order. `recruiting` is what was in the way of the last round of recruiting and
 * paying, at `recruiting_at`; None where no round is ever made.
 */
export interface Health {
  database: boolean;
  redis: boolean;
  processes: ProcessOut[];
  recruiting_at: number | null;
  recruiting: string[];
}
/**
 * A server process, `seen_at` by its last sign of life.
 */
export interface ProcessOut {
  id: string;
  started_at: number;
  seen_at: number;
  pages: number;
}
/**
 * `GET /api/monitor/chart?hours=3`; the socket's `chart` brings the newest points again.
 */
export interface Chart {
  step_s: number;
  points: ChartPoint[];
}
/**
 * One step of time from `at` on; `wait_s` is the median wait of those who were paired in it.
 */
export interface ChartPoint {
  at: number;
  arrivals: number;
  pairs: number;
  complete: number;
  lost: number;
  wait_s: number | null;
}
/**
 * `changed`: what a list or a page shows is older than the record.
 */
export interface Changed {
  what:
    "dialogs" | "workers" | "hits" | "ledger" | "requests" | "review" | "study" | "audit" | "told";
}
/**
 * `typing` of somebody in the watched dialog.
 */
export interface TypingSeen {
  dialog_id: string;
  role: Role;
  on: boolean;
}
/**
 * `entries`: what has just happened in the watched dialog, and how it stands since.
 */
export interface Happened {
  dialog_id: string;
  now: number;
  entries: Entry[];
  standing: Standing;
}
/**
 * What happened, as event `seq`. `text` is what was said, told, or the reason of the end;
 * `why` how a seat was lost, or how the dialog ended; `seconds` how much longer it may take.
 */
export interface Entry {
  seq: number;
  at: number;
  kind: EntryKind;
  role?: Role | null;
  round?: number | null;
  text?: string;
  why?: string;
  seconds?: number | null;
  pasted?: boolean;
  composed_ms?: number | null;
  edits?: number | null;
}
/**
 * How a dialog stands. `turn_ends_at` without signs of typing, `limit_at` whatever comes.
 */
export interface Standing {
  phase: Phase;
  outcome: Outcome | null;
  ending: Ending | null;
  round: number;
  turn: Role | null;
  turn_at: number;
  turn_ends_at: number | null;
  limit_at: number | null;
  ended_at: number | null;
  seats: SeatOut[];
}
/**
 * One person's part. `cents` is earned by it, whether it has been paid or not; `full_pay` is
 * what it pays in full, by the rules that the dialog began with. Who has sent a message in each
 * round is never paid less.
 */
export interface SeatOut {
  role: Role;
  arrival_id: string;
  worker_id: string;
  sent: number;
  away_at: number | null;
  gone: boolean;
  release: Release | null;
  cents: number;
  full_pay: number;
}
/**
 * `GET /api/monitor/dialogs/{id}`: everything about one dialog.
 */
export interface DialogOut {
  id: string;
  now: number;
  item_id: string;
  image_id: string;
  caption: string;
  width: number;
  height: number;
  place: number;
  language: string;
  same_address: boolean;
  opened_at: number;
  rounds: number;
  acceptance: Acceptance | null;
  standing: Standing;
  entries: Entry[];
  findings: FindingOut[];
  judgements: JudgementOut[];
  workers: WorkerBrief[];
  payments: PaymentOut[];
  relaunched: boolean;
}
/**
 * A quality flag with its reason; `by` is who of the team raised it, None for the rules.
 */
export interface FindingOut {
  number: number;
  flag: string;
  role: Role | null;
  round: number | null;
  seq: number | null;
  reason: string;
  by: string | null;
}
export interface JudgementOut {
  by: string;
  verdict: Acceptance | null;
  reason: string;
  decides: boolean;
  at: number;
}
/**
 * Somebody's history at a glance, counted over the whole study.
 */
export interface WorkerBrief {
  id: string;
  dialogs: number;
  complete: number;
  solo: number;
  left: number;
  flags: number;
  rejected: number;
  excluded: boolean;
  median_answer_s: number | null;
}
/**
 * A payment; `dialog_id` is the dialog in which its person had a part, None if in none.
 */
export interface PaymentOut {
  arrival_id: string;
  reason: string;
  worker_id: string;
  dialog_id: string | null;
  cents: number;
  state: LedgerState;
  at: number;
  paid_at: number | null;
  problem: string | null;
  note: string | null;
  handed_in: AssignmentStatus | null;
}
/**
 * `GET /api/monitor/dialogs?phase=&outcome=&acceptance=&flag=&worker=&since=&until=&after=`,
 * the newest first.
 */
export interface DialogRows {
  rows: DialogRow[];
  total: number;
  next: string | null;
}
/**
 * A dialog in a list.
 */
export interface DialogRow {
  id: string;
  image_id: string;
  caption: string;
  place: number;
  phase: Phase;
  outcome: Outcome | null;
  ending: Ending | null;
  acceptance: Acceptance | null;
  opened_at: number;
  ended_at: number | null;
  messages: number;
  flags: string[];
  workers: string[];
  judged_by: string[];
}
/**
 * `POST …/dialogs/{id}/message`: `to` one of them, or both. `key` is made by the page; sent
 * again with it, it is told once.
 */
export interface Tell {
  key: string;
  to?: Role | null;
  text: string;
}
/**
 * `POST …/dialogs/{id}/extend`: so many minutes more, and the running turn begins anew.
 */
export interface Extend {
  key: string;
  minutes: number;
}
/**
 * `POST …/dialogs/{id}/end`: `cents` is what each who is still there is paid; both are told
 * the reason. Without `cents`, everybody is paid in full.
 */
export interface End {
  key: string;
  reason: string;
  cents?: {
    [k: string]: number;
  };
}
/**
 * `POST …/dialogs/{id}/flag`: somebody of the team saw something. Sent again with its `key`, it
 * is one flag.
 */
export interface Flag {
  key?: string | null;
  reason: string;
  role?: Role | null;
  seq?: number | null;
}
/**
 * `GET /api/monitor/flags`: all that are known, the most frequent first.
 */
export interface Flags {
  flags: FlagOut[];
}
/**
 * A kind of flag: what it is called and means, and in how many `dialogs` it stands. `severity`
 * is None for what no rule raises: flags of the team, and those that a later version knows.
 */
export interface FlagOut {
  name: string;
  label: string;
  means: string;
  severity: Severity | null;
  dialogs: number;
}
/**
 * `GET /api/monitor/workers?search=&excluded=&flagged=&after=`, who came last first.
 */
export interface WorkerRows {
  rows: WorkerRow[];
  total: number;
  next: string | null;
}
/**
 * One person in the list. In cents, `paid` is what has gone out and `owed` what has not.
 */
export interface WorkerRow {
  id: string;
  recruiter: string;
  first_at: number;
  last_at: number;
  arrivals: number;
  dialogs: number;
  complete: number;
  flags: number;
  rejected: number;
  owed: number;
  paid: number;
  excluded: boolean;
  inside: ArrivalStatus | null;
}
/**
 * `GET /api/monitor/workers/{id}`. `external_id` is the recruiter's name of the person; only
 * owners and reviewers are given it.
 */
export interface WorkerOut {
  row: WorkerRow;
  external_id: string | null;
  excluded_why: string | null;
  brief: WorkerBrief;
  releases: {
    [k: string]: number;
  };
  median_words: number | null;
  dialogs: DialogRow[];
  payments: PaymentOut[];
  notes: NoteOut[];
  requests: RequestOut[];
}
export interface NoteOut {
  by: string | null;
  text: string;
  at: number;
}
/**
 * What the team wants of the recruiter about a person, and how far that has come. `needs` is
 * the least role of who may ask for it again, or dismiss it, once it has failed.
 */
export interface RequestOut {
  id: string;
  kind: RequestKind;
  target: string;
  worker_id: string;
  needs: AdminRole;
  by: string | null;
  state: RequestState;
  at: number;
  done_at: number | null;
  problem: string | null;
  text: string;
}
/**
 * `POST …/workers/{id}/exclude` and whatever else takes a reason alone.
 */
export interface Reason {
  reason: string;
}
/**
 * `POST …/workers/{id}/note`. Sent again with its `key`, it is one note.
 */
export interface Note {
  key?: string | null;
  text: string;
}
/**
 * `POST …/workers/{id}/message`: by the recruiter. Asked again with its `key`, it is sent
 * once.
 */
export interface WorkerMessage {
  key?: string | null;
  subject: string;
  text: string;
}
/**
 * `POST …/workers/{id}/bonus`: for the newest of their arrivals, or the one named. Sent again
 * with its `key`, it is given once.
 */
export interface BonusWish {
  key: string;
  cents: number;
  reason: string;
  arrival_id?: string | null;
}
/**
 * `GET /api/monitor/hits?state=&after=`, the newest first. `wanted` people are missing,
 * `have` on their way; `why` says what keeps anybody from being invited.
 */
export interface HitRows {
  wanted: number;
  have: number;
  why: string;
  states: {
    [k: string]: number;
  };
  rows: HitRow[];
  total: number;
  next: string | null;
}
export interface HitRow {
  id: string;
  remote_id: string | null;
  state: HitState;
  seats: number;
  taken: number;
  submitted: number;
  reward: number;
  posted_at: number | null;
  expires_at: number | null;
  problem: string | null;
}
/**
 * `GET /api/monitor/chains?after=`: items with a dialog that failed.
 */
export interface ChainRows {
  rows: ChainRow[];
  total: number;
  next: string | null;
}
/**
 * An item, its dialogs, and the HITs by which each failed one was relaunched.
 */
export interface ChainRow {
  image_id: string;
  caption: string;
  wanted: number;
  complete: number;
  dialogs: ChainDialog[];
}
export interface ChainDialog {
  id: string;
  how: string;
  relaunched: string[];
}
/**
 * `GET /api/monitor/ledger?state=&problem=&after=`, the newest first.
 */
export interface LedgerRows {
  sums: LedgerSum[];
  rows: PaymentOut[];
  total: number;
  next: string | null;
}
export interface LedgerSum {
  state: LedgerState;
  payments: number;
  cents: number;
}
/**
 * `GET /api/monitor/requests?state=&after=`, the newest first.
 */
export interface RequestRows {
  states: {
    [k: string]: number;
  };
  rows: RequestOut[];
  total: number;
  next: string | null;
}
/**
 * `POST …/requests/{id}/again` and `…/requests/{id}/dismiss`: about a request that failed at
 * `failed_at`, its `done_at`. Sent again it changes nothing, even if the request has failed anew
 * since.
 */
export interface OnFailed {
  failed_at: number | null;
}
/**
 * `POST …/ledger/approve` and `…/ledger/retry`.
 */
export interface PaymentNames {
  /**
   * @minItems 1
   * @maxItems 20
   */
  payments: PaymentName[];
}
export interface PaymentName {
  arrival_id: string;
  reason: string;
}
/**
 * `POST …/review/{dialog_id}`: `verdict` is None for a dialog that is not complete. It needs no
 * key: each judges a dialog once, and who says the same again, of the pay too, is answered as the
 * first time.
 */
export interface Judge {
  verdict: Acceptance | null;
  reason?: string;
  /**
   * @maxItems 2
   */
  pay?: PayDecision[];
}
/**
 * What becomes of what one arrival is owed; refusing takes a reason, which they are told.
 */
export interface PayDecision {
  arrival_id: string;
  approve?: boolean;
  reason?: string;
}
/**
 * A judgement is stored. One that does not decide is kept for agreement alone.
 */
export interface Judged {
  request?: string | null;
  decides: boolean;
  pay: Settled[];
}
/**
 * A payment after a judgement; `moved` says that the judgement brought it into its state.
 */
export interface Settled {
  arrival_id: string;
  reason: string;
  cents: number;
  state: LedgerState;
  moved: boolean;
}
/**
 * `POST …/review/undo`: what this reviewer judged last, or their judgement of `dialog_id`; an
 * owner may name whatever dialog. Answered by `ReviewNext`, with that dialog.
 */
export interface Undo {
  dialog_id?: string | null;
}
/**
 * `POST …/review/next?flag=&unflagged=&worker=&outcome=&since=&until=`: the next dialog for
 * this reviewer, held for them until `until`; None when nothing waits. `second` says that
 * somebody has judged it already, whose verdict is not shown.
 */
export interface ReviewNext {
  dialog: DialogOut | null;
  until: number | null;
  second: boolean;
  waiting: number;
}
/**
 * `GET …/review/stats`. `waiting` are all that somebody is to judge, in hand or not, as in
 * `Now.to_review`. Agreement over the `twice` dialogs that two people judged: the share
 * on which they agree, None if there are none, and Cohen's kappa (1960), None below two and where
 * both said the same of every dialog, for which it is not defined.
 */
export interface ReviewStats {
  waiting: number;
  judged: number;
  accepted: number;
  rejected: number;
  mine: number;
  twice: number;
  agree: number | null;
  kappa: number | null;
  reviewers?: ReviewerOut[];
}
/**
 * How much one person has judged; of the `twice` that somebody else judged too, `alike` say
 * the same.
 */
export interface ReviewerOut {
  name: string;
  judged: number;
  rejected: number;
  twice: number;
  alike: number;
}
/**
 * `POST …/review/bulk`: all that wait and match the filters. With `dry_run`, only what it
 * would do; `expected` is the number that was confirmed, and nothing is done if it is another.
 * Sent again with its `key`, it is done once and answered the same.
 */
export interface Bulk {
  key?: string | null;
  verdict: Acceptance | null;
  approve_pay?: boolean;
  flag?: string | null;
  unflagged?: boolean;
  worker?: string | null;
  outcome?: Ending | null;
  since?: number | null;
  until?: number | null;
  dry_run?: boolean;
  expected?: number | null;
}
export interface BulkDone {
  dialogs: number;
  payments: number;
  cents: number;
}
/**
 * `POST …/study/change`: these take the place of all earlier ones. `known` are the earlier ones
 * as the page showed them: if there are others by now, nothing is changed. Sent again, it changes
 * nothing.
 */
export interface ChangeStudy {
  changes: Limits;
  known?: Limits | null;
  reason: string;
}
/**
 * What can be changed for dialogs to come; None leaves it as the study file says. Seconds.
 */
export interface Limits {
  grace_s?: number | null;
  turn_limit_s?: number | null;
  dialog_limit_s?: number | null;
  lobby_limit_s?: number | null;
  pay_complete?: number | null;
  pay_left?: number | null;
  pay_waiting_per_minute?: number | null;
}
/**
 * `GET /api/monitor/study`: the study file as it was read (`file`, by section), what the file
 * says of what can be changed, and what was changed. `keys` are what the errors call it: each
 * one's key in the study file.
 */
export interface StudyOut {
  status: StudyStatus;
  file: {
    [k: string]: unknown;
  };
  from_file: Limits;
  changes: Limits;
  may_change: string[];
  keys: {
    [k: string]: string;
  };
}
/**
 * `GET /api/monitor/audit?by=&action=&target=&after=`, the newest first.
 */
export interface AuditRows {
  rows: AuditRow[];
  total: number;
  next: string | null;
}
/**
 * What somebody did. `before` and `after` are JSON as text.
 */
export interface AuditRow {
  id: string;
  at: number;
  by: string | null;
  action: string;
  target: string;
  before: string | null;
  after: string | null;
}
/**
 * `GET /api/monitor/told?kind=&after=`, the newest first.
 */
export interface ToldRows {
  rows: ToldRow[];
  total: number;
  next: string | null;
}
/**
 * What a worker told: a problem, why they left, or their feedback at the end.
 */
export interface ToldRow {
  id: string;
  at: number;
  kind: ToldKind;
  text: string;
  worker_id: string;
  dialog_id: string | null;
}
