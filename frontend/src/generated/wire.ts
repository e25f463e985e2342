/* Made by `make types` from chatserver/wire.py. Change that file, not this one. */

/**
 * Refusals that the rules of a dialog do not know.
 */
export type ErrorCode =
  | "bad_token"
  | "bad_request"
  | "replaced"
  | "not_now"
  | "study_paused"
  | "try_again"
  | "cap_reached"
  | "not_needed"
  | "no_invitation"
  | "unknown_invitation"
  | "wrong_answers";
/**
 * Why a command was refused; the page has a text for each.
 */
export type RefusalCode =
  | "not_your_turn"
  | "bad_text"
  | "seat_lost"
  | "dialog_ended"
  | "all_sent"
  | "not_alone"
  | "not_possible";
/**
 * What a seat is for.
 */
export type Role = "questioner" | "answerer";
/**
 * Where a dialog is in its life.
 */
export type Phase = "paired" | "solo" | "ended";
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
 * How a dialog ended.
 */
export type Outcome = "complete" | "solo" | "abandoned";
/**
 * Why a seat was lost.
 */
export type SeatEnd = "grace" | "turn" | "leave";
/**
 * Where this arrival is; it decides the screen.
 */
export type Stage = "arrived" | "waiting" | "matched" | "talking" | "released";

/**
 * Every payload by its name.
 */
export interface Wire {
  SendMessage: SendMessage;
  Sync: Sync;
  Typing: Typing;
  LeaveRequest: LeaveRequest;
  Finish: Finish;
  Report: Report;
  Nothing: Nothing;
  Sent: Sent;
  Done: Done;
  Refused: Refused;
  MessageOut: MessageOut;
  PartnerOut: PartnerOut;
  PhaseOut: PhaseOut;
  ToldOut: ToldOut;
  ExtendedOut: ExtendedOut;
  Events: Events;
  Lobby: Lobby;
  Match: Match;
  Dialog: Dialog;
  Released: Released;
  State: State;
  Stopped: Stopped;
  ArrivalRequest: ArrivalRequest;
  ArrivalAnswer: ArrivalAnswer;
  WrongAnswersOut: WrongAnswersOut;
  StudyOut: StudyOut;
}
/**
 * `message`: acknowledged by `Sent` or `Refused`. `key` is made by the page, unique.
 */
export interface SendMessage {
  key: string;
  /**
   * @minItems 1
   * @maxItems 1
   */
  parts: WirePart[];
  meta?: WireMeta;
}
/**
 * One part of a message. `text` is checked by `dialogs.limits`, with words for the worker.
 */
export interface WirePart {
  text: string;
}
/**
 * How the message was composed, for reviewers.
 */
export interface WireMeta {
  pasted?: boolean;
  composed_ms?: number;
  edits?: number;
}
/**
 * `sync`: the page has missed something after event `after_seq`; answered by `Events`.
 */
export interface Sync {
  after_seq: number;
}
/**
 * `typing`, both directions. Not acknowledged, not stored.
 */
export interface Typing {
  on: boolean;
}
/**
 * `leave`: the work ends for this person, in the lobby or in a dialog.
 */
export interface LeaveRequest {
  reason?: string;
}
/**
 * `finish`: the last page's feedback; may be sent again.
 */
export interface Finish {
  feedback?: string;
}
/**
 * `report`: a problem the worker tells the team about, at any time.
 */
export interface Report {
  text: string;
}
/**
 * The empty payload of `ready`, `start`, `decline`, `pair_again`, `stop_waiting`.
 *
 * `decline` is *not now* to a match: back to `ready` without blame.
 */
export interface Nothing {}
/**
 * The message is committed as event `seq`.
 */
export interface Sent {
  seq: number;
}
/**
 * The request is carried out and in the record.
 */
export interface Done {
  ok?: true;
}
/**
 * Nothing happened. `error` is a sentence the worker can act on.
 */
export interface Refused {
  error: string;
  code: ErrorCode | RefusalCode;
}
/**
 * `message`: one stored message; `key` only on one's own.
 */
export interface MessageOut {
  seq: number;
  round: number;
  role: Role;
  parts: WirePart[];
  at: number;
  key?: string | null;
}
/**
 * `partner`: whether the partner is there; event `seq`.
 */
export interface PartnerOut {
  seq: number;
  present: boolean;
  grace_ends_at: number | null;
  now: number;
}
/**
 * `phase`: the dialog's phase has changed; event `seq`. A `state` follows.
 */
export interface PhaseOut {
  seq: number;
  phase: Phase;
}
/**
 * `told`: a message of the team to this person, which is none of the dialog; event `seq`.
 */
export interface ToldOut {
  seq: number;
  text: string;
  at: number;
}
/**
 * `extended`: the team gave more time; event `seq`. The turn begins anew, and so does the wait
 * for a partner who is away.
 */
export interface ExtendedOut {
  seq: number;
  turn_ends_at: number | null;
  grace_ends_at: number | null;
  now: number;
}
/**
 * Answer to `sync`: the frames after `after_seq`, in order; `seq` is the newest event.
 */
export interface Events {
  seq: number;
  frames: (MessageOut | PartnerOut | PhaseOut | ToldOut | ExtendedOut)[];
}
/**
 * `lobby`: the wait so far and what to expect. `position` is 1 for the next in line.
 *
 * `estimate_s` is None while nothing is known. `may_stop` says that the lobby limit has
 * passed, so the worker may submit now; `stop_pays` is what the wait is worth (cents).
 * `nothing_left`: no item is left that this worker could talk about.
 */
export interface Lobby {
  waited_s: number;
  estimate_s: number | null;
  position: number | null;
  limit_s: number;
  may_stop: boolean;
  stop_pays: number;
  nothing_left: boolean;
  paused: boolean;
  now: number;
}
/**
 * A partner is found; press start until `start_by`.
 */
export interface Match {
  start_by: number;
  started: boolean;
  now: number;
}
/**
 * The dialog as this role may see it. `told` is what the team wrote to this person, `extended`
 * the numbers of the events by which it gave more time.
 */
export interface Dialog {
  role: Role;
  phase: Phase;
  item: ItemOut;
  round: number;
  rounds: number;
  turn: Role | null;
  your_turn: boolean;
  sent: number;
  messages: MessageOut[];
  told: ToldOut[];
  extended: number[];
  partner: Partner;
  turn_ends_at: number | null;
  may_pair_again: boolean;
  pays: number;
  max_characters: number;
}
/**
 * What this role may see of the item. `picture` is a relative URL, or None.
 */
export interface ItemOut {
  caption: string | null;
  picture: string | null;
  blurred: boolean;
  width: number | null;
  height: number | null;
}
/**
 * The partner as shown. `left`: the seat is lost for good.
 */
export interface Partner {
  present: boolean;
  left: boolean;
  grace_ends_at: number | null;
}
/**
 * How it ended for this arrival and what it is owed. `why` its seat was lost, if it was.
 *
 * `by_team`: the team ended the dialog; `reason` is what it wrote then, if anything.
 */
export interface Released {
  release: Release;
  outcome: Outcome | null;
  cents: number;
  currency: string;
  code: string;
  submit: Submit | null;
  feedback_sent: boolean;
  another: boolean;
  why?: SeatEnd | null;
  by_team?: boolean;
  reason?: string;
}
/**
 * How the end page hands the work in: a form to `url` with `fields`, sent by `method`.
 *
 * `reward` is what is paid as such, in cents, and the rest comes as a bonus; None if nobody knows.
 * `by_hand`: nothing is paid before the team has looked at the work, but that the platform pays
 * the reward by itself after `reward_after_s`, where it does.
 */
export interface Submit {
  url: string;
  fields: {
    [k: string]: string;
  };
  method?: "post" | "get";
  reward?: number | null;
  by_hand?: boolean;
  reward_after_s?: number | null;
}
/**
 * `state`: the whole view of this arrival. Sent on connect and after every gap.
 *
 * `missed_start`: this person did not press start in time, and may press ready again.
 */
export interface State {
  stage: Stage;
  seq: number;
  now: number;
  lobby?: Lobby | null;
  match?: Match | null;
  dialog?: Dialog | null;
  released?: Released | null;
  missed_start?: boolean;
}
/**
 * `stopped`: this page must stop for good, for example since another tab took over.
 */
export interface Stopped {
  error: string;
  code: ErrorCode;
}
/**
 * `POST /api/arrivals`: the recruiter's parameters as the page's query had them.
 *
 * `worker_key` is the random id that the page keeps in its storage for open links;
 * `another` asks for a new arrival after the last one was released.
 */
export interface ArrivalRequest {
  query?: {
    [k: string]: string;
  };
  worker_key?: string | null;
  language?: string;
  another?: boolean;
  consented?: boolean;
  /**
   * @maxItems 20
   */
  check_answers?: number[];
}
/**
 * The signed token that goes into the socket's `auth` payload.
 */
export interface ArrivalAnswer {
  token: string;
}
/**
 * Answer to `POST /api/arrivals` when the check of the instructions is not passed: the
 * numbers of its wrong questions, from 1.
 */
export interface WrongAnswersOut {
  error: string;
  code: ErrorCode | RefusalCode;
  questions: number[];
}
/**
 * `GET /api/study`: what the preview, consent and instructions show.
 *
 * `recruiter` is `link`, `mturk` or `prolific`: where the work is handed in, or given back.
 */
export interface StudyOut {
  recruiter: string;
  title: string;
  description: string;
  protocol: string;
  rounds: number;
  currency: string;
  pays: number;
  leaving_pays: number;
  waiting_per_minute: number;
  minutes: number;
  start_limit_s: number;
  grace_s: number;
  turn_limit_s: number;
  lobby_limit_s: number;
  consent: string;
  check: CheckQuestion[];
  example: Example;
  contact: string;
  languages: string[];
  repeat_partners: boolean;
  paused: boolean;
  preview: boolean;
  max_characters: number;
}
/**
 * One question of the instructions check; the right answer stays on the server.
 */
export interface CheckQuestion {
  question: string;
  options: string[];
}
/**
 * The example dialog of the instructions.
 */
export interface Example {
  caption: string;
  rounds: unknown[][];
}
