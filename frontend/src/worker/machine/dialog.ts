/** A dialog after one more frame: the small part of the rules that the page needs to keep up. */

import type {
  Dialog,
  ExtendedOut,
  MessageOut,
  PartnerOut,
  PhaseOut,
  Role,
  ToldOut,
} from "../../generated/wire";
import type { Frame } from "./model";

const OTHER: Record<Role, Role> = { questioner: "answerer", answerer: "questioner" };

export function isMessage(frame: Frame): frame is MessageOut {
  return "parts" in frame;
}

export function isPartner(frame: Frame): frame is PartnerOut {
  return "present" in frame;
}

export function isTold(frame: Frame): frame is ToldOut {
  return "text" in frame;
}

export function isExtended(frame: Frame): frame is ExtendedOut {
  return "turn_ends_at" in frame;
}

/** `turnLimit` in seconds; the frame does not say when the next turn ends. */
export function advance(dialog: Dialog, frame: Frame, turnLimit: number): Dialog {
  if (isMessage(frame)) return withMessage(dialog, frame, turnLimit);
  if (isPartner(frame)) {
    const { present, grace_ends_at } = frame;
    return { ...dialog, partner: { ...dialog.partner, present, grace_ends_at } };
  }
  if (isTold(frame)) return { ...dialog, told: [...dialog.told, frame] };
  if (isExtended(frame)) return withMoreTime(dialog, frame);
  return withPhase(dialog, frame);
}

/** What stands in the conversation, each with the number of its event. */
export type Entry =
  | { kind: "said"; seq: number; message: MessageOut }
  | { kind: "told"; seq: number; text: string }
  | { kind: "extended"; seq: number };

/** What was said, what the team wrote and where it gave more time, as it happened. */
export function entries({ messages, told, extended }: Dialog): Entry[] {
  const all: Entry[] = [
    ...messages.map((message) => ({ kind: "said", seq: message.seq, message }) as const),
    ...told.map(({ seq, text }) => ({ kind: "told", seq, text }) as const),
    ...extended.map((seq) => ({ kind: "extended", seq }) as const),
  ];
  return all.sort((one, other) => one.seq - other.seq);
}

function withMessage(dialog: Dialog, message: MessageOut, turnLimit: number): Dialog {
  if (dialog.messages.some((known) => known.seq === message.seq)) return dialog;
  const messages = [...dialog.messages, message];
  const sent = dialog.sent + (message.role === dialog.role ? 1 : 0);
  const solo = dialog.phase === "solo";
  const done = solo ? sent : Math.floor(messages.length / 2);
  const turn = solo ? dialog.role : OTHER[message.role];
  const over = done >= dialog.rounds;
  return {
    ...dialog,
    messages,
    sent,
    round: Math.min(done + 1, dialog.rounds),
    turn: over ? null : turn,
    your_turn: !over && turn === dialog.role,
    turn_ends_at: over ? null : message.at + turnLimit,
  };
}

function withMoreTime(dialog: Dialog, { seq, turn_ends_at, grace_ends_at }: ExtendedOut): Dialog {
  return {
    ...dialog,
    extended: [...dialog.extended, seq],
    turn_ends_at,
    partner: { ...dialog.partner, grace_ends_at },
  };
}

/** The server follows this frame with a whole state, so only what would mislead is changed. */
function withPhase(dialog: Dialog, { phase }: PhaseOut): Dialog {
  switch (phase) {
    case "paired":
      return { ...dialog, phase };
    case "solo":
      return {
        ...dialog,
        phase,
        partner: { present: false, left: true, grace_ends_at: null },
        turn: dialog.role,
        your_turn: dialog.sent < dialog.rounds,
        turn_ends_at: null,
      };
    case "ended":
      return { ...dialog, phase, turn: null, your_turn: false, turn_ends_at: null };
  }
}
