/** A dialog after one more frame: the small part of the rules that the page needs to keep up. */

import type { Dialog, MessageOut, PartnerOut, PhaseOut, Role } from "../../generated/wire";
import type { Frame } from "./model";

const OTHER: Record<Role, Role> = { questioner: "answerer", answerer: "questioner" };

export function isMessage(frame: Frame): frame is MessageOut {
  return "parts" in frame;
}

export function isPartner(frame: Frame): frame is PartnerOut {
  return "present" in frame;
}

/** `turnLimit` in seconds; the frame does not say when the next turn ends. */
export function advance(dialog: Dialog, frame: Frame, turnLimit: number): Dialog {
  if (isMessage(frame)) return withMessage(dialog, frame, turnLimit);
  if (isPartner(frame)) {
    const { present, grace_ends_at } = frame;
    return { ...dialog, partner: { ...dialog.partner, present, grace_ends_at } };
  }
  return withPhase(dialog, frame);
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
