/** What the page knows, and what can happen to it. The reducer beside this file joins the two. */

import type {
  Dialog,
  Events,
  ExtendedOut,
  Lobby,
  Match,
  MessageOut,
  PartnerOut,
  PhaseOut,
  Refused,
  Released,
  State,
  Stopped,
  ToldOut,
  WireMeta,
} from "../../generated/wire";

/** One numbered event of the dialog, as the server pushes it. */
export type Frame = MessageOut | PartnerOut | PhaseOut | ToldOut | ExtendedOut;

export type Link = "connecting" | "online" | "offline" | "stopped";

/** The text in the box and how it came about. Times are the page's own seconds. */
export interface Draft {
  text: string;
  pasted: boolean;
  startedAt: number | null;
  edits: number;
}

/** One's own message that the record has not shown yet. There is at most one. */
export interface Pending {
  key: string;
  text: string;
  meta: Required<WireMeta>;
  status: "sending" | "sent" | "unsent";
}

/** `declined`: this person pressed *not now*; `partner`: the other one did, or pressed nothing. */
export type Unmatched = "declined" | "partner";

export interface Model {
  link: Link;
  stopped: Stopped | null;
  state: State | null;
  /** The newest dialog event this page has applied. */
  seq: number;
  /** The server's clock minus the page's, in seconds. */
  clock: number;
  /** A `sync` is under way; frames that come meanwhile are held until it is answered. */
  catchingUp: boolean;
  held: readonly Frame[];
  draft: Draft;
  pending: Pending | null;
  /** Why the last message was refused, until the worker writes on. */
  refused: Refused | null;
  /** Why the last match led to no dialog, until there is something newer to tell. */
  unmatched: Unmatched | null;
  /** The partner counts as typing until then, by the page's clock. */
  typingUntil: number;
}

export type Happening =
  | { kind: "connected" }
  | { kind: "disconnected" }
  | { kind: "stopped"; stopped: Stopped }
  | { kind: "continued" }
  | { kind: "state"; state: State; at: number }
  | { kind: "frame"; frame: Frame; at: number }
  | { kind: "synced"; events: Events; at: number }
  | { kind: "lobby"; lobby: Lobby; at: number }
  | { kind: "match"; match: Match; at: number }
  | { kind: "released"; released: Released }
  | { kind: "partner-typing"; on: boolean; at: number }
  | { kind: "typed"; text: string; pasted: boolean; removed: boolean; at: number }
  | { kind: "submitted"; key: string; at: number }
  | { kind: "acknowledged"; key: string; seq: number }
  | { kind: "refused"; key: string; refused: Refused }
  | { kind: "unsent"; key: string }
  | { kind: "retried" }
  | { kind: "unseen"; key: string };

/** What the reducer wants done; whoever runs it reports back with another happening. */
export type Effect = { kind: "send"; message: Pending } | { kind: "sync"; after: number };

export interface Step {
  model: Model;
  effects: readonly Effect[];
}

export const EMPTY_DRAFT: Draft = { text: "", pasted: false, startedAt: null, edits: 0 };

/** How long a partner counts as typing after the last sign of it; signs come every 5 s. */
export const TYPING_LASTS_S = 8;

export function initialModel(kept: { draft: Draft; pending: Pending | null }): Model {
  return {
    link: "connecting",
    stopped: null,
    state: null,
    seq: 0,
    clock: 0,
    catchingUp: false,
    held: [],
    draft: kept.draft,
    pending: kept.pending,
    refused: null,
    unmatched: null,
    typingUntil: 0,
  };
}

/** Whether this person has given all that was asked; such a seat is never lost. */
export function allSent(dialog: Dialog): boolean {
  return dialog.sent >= dialog.rounds;
}

/** The round of a question that the answerer, left alone, may still answer; null if there is none. */
export function openQuestion({ role, messages }: Dialog): number | null {
  const last = messages.at(-1);
  return role === "answerer" && last?.role === "questioner" ? last.round : null;
}

/** Whether the box's text could be sent now, as far as turns go. */
export function mayWrite(model: Model): boolean {
  const dialog = model.state?.dialog;
  return dialog?.your_turn === true && !allSent(dialog) && model.pending === null;
}
