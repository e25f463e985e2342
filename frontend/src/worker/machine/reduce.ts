/** The page's reducer: pure, so that every order of events can be tested without a server. */

import type { Events, State } from "../../generated/wire";
import { advance, isExtended, isMessage, isPartner } from "./dialog";
import {
  EMPTY_DRAFT,
  mayWrite,
  TYPING_LASTS_S,
  type Effect,
  type Frame,
  type Happening,
  type Model,
  type Pending,
  type Step,
  type Unmatched,
} from "./model";
import { fits, oneLine } from "./text";

export interface Limits {
  turn_limit_s: number;
}

export function reduce(model: Model, happening: Happening, limits: Limits): Step {
  switch (happening.kind) {
    case "connected":
      return only({ ...model, link: "online", stopped: null });
    case "disconnected":
      return only(disconnect(model));
    case "stopped":
      return only({ ...disconnect(model), link: "stopped", stopped: happening.stopped });
    case "continued":
      return only({ ...model, link: "connecting", stopped: null });
    case "state":
      return takeState(model, happening.state, happening.at, limits);
    case "frame":
      return takeFrame(model, happening.frame, happening.at, limits);
    case "synced":
      return takeEvents(model, happening.events, happening.at, limits);
    case "lobby":
      return only(
        model.state?.stage === "waiting"
          ? { ...model, ...clocked(happening.lobby.now, happening.at), state: { ...model.state, lobby: happening.lobby } }
          : model,
      );
    case "match":
      return only(takeMatch(model, happening));
    case "released":
      return only(
        model.state === null
          ? model
          : settle({ ...model, state: { ...model.state, stage: "released", released: happening.released } }),
      );
    case "partner-typing":
      return only({ ...model, typingUntil: happening.on ? happening.at + TYPING_LASTS_S : 0 });
    case "typed":
      return only(type(model, happening));
    case "submitted":
      return submit(model, happening.key, happening.at);
    case "acknowledged":
      return only(mark(model, happening.key, "sent"));
    case "refused":
      return only(giveBack(model, happening));
    case "unsent":
      return only(mark(model, happening.key, "unsent"));
    case "retried":
      return resend(model);
    case "unseen":
      // Stored, yet its frame never came: the record has it.
      return model.pending?.key === happening.key && model.pending.status === "sent"
        ? sync(model)
        : only(model);
  }
}

function only(model: Model): Step {
  return { model, effects: [] };
}

function clocked(now: number, at: number): Pick<Model, "clock"> {
  return { clock: now - at };
}

// --- The connection --------------------------------------------------------------------------

function disconnect(model: Model): Model {
  const pending = model.pending && { ...model.pending, status: "unsent" as const };
  return { ...model, link: "offline", catchingUp: false, held: [], typingUntil: 0, pending };
}

// --- What the server says --------------------------------------------------------------------

function takeState(model: Model, state: State, at: number, limits: Limits): Step {
  const talking = state.stage === "talking" && model.state?.stage === "talking";
  const behind = talking && state.seq < model.seq;
  const fresh: Model = {
    ...model,
    ...clocked(state.now, at),
    state,
    seq: state.seq,
    catchingUp: false,
    held: [],
    unmatched: unmatchedBy(model, state),
  };
  const confirmed = settle(fresh);
  const replayed = takeFrames(confirmed, model.held, at, limits);
  // A state that was read before a frame we know must not hide it for long.
  if (behind && !replayed.model.catchingUp) return join(sync(replayed.model), replayed.effects);
  if (replayed.model.pending?.status === "unsent") {
    return join(resend(replayed.model), replayed.effects);
  }
  return replayed;
}

/** The server says only where this person is now, so what became of a match shows in the change. */
function unmatchedBy({ state: before, unmatched }: Model, after: State): Unmatched | null {
  if (before?.stage === after.stage) return unmatched;
  if (before?.stage !== "matched") return null;
  if (after.stage === "waiting") return "partner";
  return after.stage === "arrived" && after.missed_start !== true ? "declined" : null;
}

function takeMatch(model: Model, { match, at }: Extract<Happening, { kind: "match" }>): Model {
  const stage = model.state?.stage;
  if (model.state === null || stage === "talking" || stage === "released") return model;
  const state: State = { ...model.state, stage: "matched", match, missed_start: false };
  return { ...model, ...clocked(match.now, at), state, unmatched: null };
}

function takeFrames(model: Model, frames: readonly Frame[], at: number, limits: Limits): Step {
  return frames.reduce<Step>(
    (step, frame) => join(takeFrame(step.model, frame, at, limits), step.effects),
    only(model),
  );
}

function takeFrame(model: Model, frame: Frame, at: number, limits: Limits): Step {
  if (frame.seq <= model.seq) return only(model);
  if (model.catchingUp) return only({ ...model, held: [...model.held, frame] });
  if (frame.seq > model.seq + 1) return sync({ ...model, held: [frame] });
  return only(apply(model, frame, at, limits));
}

function takeEvents(model: Model, events: Events, at: number, limits: Limits): Step {
  const caughtUp = events.frames
    .filter((frame) => frame.seq > model.seq)
    .reduce((known, frame) => apply(known, frame, at, limits), model);
  const held = model.held;
  const seq = Math.max(caughtUp.seq, events.seq);
  return takeFrames({ ...caughtUp, seq, catchingUp: false, held: [] }, held, at, limits);
}

function apply(model: Model, frame: Frame, at: number, limits: Limits): Model {
  const dialog = model.state?.dialog;
  if (!model.state || !dialog) return { ...model, seq: frame.seq };
  const next: Model = {
    ...model,
    seq: frame.seq,
    state: { ...model.state, dialog: advance(dialog, frame, limits.turn_limit_s) },
  };
  if (isPartner(frame) || isExtended(frame)) return { ...next, ...clocked(frame.now, at) };
  if (!isMessage(frame)) return next;
  return frame.role === dialog.role ? settle(next) : { ...next, typingUntil: 0 };
}

/** Drops the pending message once the record shows it, or once there is no dialog for it. */
function settle(model: Model): Model {
  const { state, pending } = model;
  if (state?.stage !== "talking") {
    return { ...model, pending: null, draft: EMPTY_DRAFT, refused: null, typingUntil: 0 };
  }
  const stored = state.dialog?.messages.some((m) => m.key != null && m.key === pending?.key);
  return stored ? { ...model, pending: null } : model;
}

function sync(model: Model): Step {
  if (model.catchingUp) return only(model);
  return { model: { ...model, catchingUp: true }, effects: [{ kind: "sync", after: model.seq }] };
}

function join(step: Step, before: readonly Effect[]): Step {
  return { model: step.model, effects: [...before, ...step.effects] };
}

// --- One's own message -----------------------------------------------------------------------

function type(model: Model, typed: Extract<Happening, { kind: "typed" }>): Model {
  const text = oneLine(typed.text);
  if (text === "") return { ...model, draft: EMPTY_DRAFT, refused: null };
  const { draft } = model;
  return {
    ...model,
    refused: null,
    draft: {
      text,
      pasted: draft.pasted || typed.pasted,
      startedAt: draft.startedAt ?? typed.at,
      edits: draft.edits + (typed.removed ? 1 : 0),
    },
  };
}

function submit(model: Model, key: string, at: number): Step {
  const { draft } = model;
  const max = model.state?.dialog?.max_characters ?? 0;
  if (!mayWrite(model) || !fits(draft.text, max)) return only(model);
  const composed = Math.max(0, at - (draft.startedAt ?? at)) * 1000;
  const pending: Pending = {
    key,
    text: draft.text.trim(),
    meta: {
      pasted: draft.pasted,
      composed_ms: Math.min(Math.round(composed), DAY_MS),
      edits: Math.min(draft.edits, MOST_EDITS),
    },
    status: "unsent",
  };
  return resend({ ...model, pending, draft: EMPTY_DRAFT, refused: null });
}

/** The wire's upper limits of what is told about a message. */
const DAY_MS = 86_400_000;
const MOST_EDITS = 100_000;

/** The key stays, so sending twice stores once. Offline, the message waits for the next state. */
function resend(model: Model): Step {
  if (model.pending === null || model.link !== "online") return only(model);
  const message: Pending = { ...model.pending, status: "sending" };
  return { model: { ...model, pending: message }, effects: [{ kind: "send", message }] };
}

function mark(model: Model, key: string, status: Pending["status"]): Model {
  if (model.pending?.key !== key) return model;
  return { ...model, pending: { ...model.pending, status } };
}

function giveBack(model: Model, { key, refused }: Extract<Happening, { kind: "refused" }>): Model {
  const { pending, draft } = model;
  if (pending?.key !== key) return model;
  const text = draft.text === "" ? pending.text : `${pending.text} ${draft.text}`;
  const { pasted, edits } = pending.meta;
  const back = { text, pasted: pasted || draft.pasted, startedAt: draft.startedAt, edits: edits + draft.edits };
  return { ...model, pending: null, draft: back, refused };
}
