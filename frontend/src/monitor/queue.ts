/** The review queue on this page: the dialog in hand, what becomes of its pay, and what was last. */

import type { Acceptance, Judge, PaymentOut, ReviewNext, Role } from "../generated/monitor";

/** What one person of the dialog is owed, and what becomes of it. */
export interface PayLine {
  arrival_id: string;
  worker_id: string;
  role: Role;
  cents: number;
  approve: boolean;
  reason: string;
}

export interface Queue {
  at: "loading" | "ready" | "empty" | "failed";
  turn: ReviewNext | null;
  pay: PayLine[];
  /** The round that the reader has moved to; 0 before the first move. */
  round: number;
  /** What can be undone. */
  last: { id: string; caption: string } | null;
  /** It has just been undone; what was before it is not undone by the same key. */
  undone: boolean;
  error: string;
}

export type Move =
  | { kind: "asked" }
  | { kind: "came"; turn: ReviewNext }
  | { kind: "failed"; error: string }
  | { kind: "pay-toggled"; arrival: string }
  | { kind: "pay-reason"; arrival: string; text: string }
  | { kind: "stepped"; by: 1 | -1 }
  | { kind: "judged" }
  | { kind: "undone" };

export const EMPTY_QUEUE: Queue = { at: "loading", turn: null, pay: [], round: 0, last: null, undone: false, error: "" };

export function afterMove(queue: Queue, move: Move): Queue {
  switch (move.kind) {
    case "asked":
      return { ...queue, at: "loading", error: "" };
    case "came": {
      const at = move.turn.dialog === null ? "empty" : "ready";
      return { ...queue, at, turn: move.turn, pay: payOf(move.turn), round: 0, error: "" };
    }
    case "failed":
      return { ...queue, at: "failed", error: move.error };
    case "pay-toggled":
      return withPay(queue, move.arrival, (line) => ({ ...line, approve: !line.approve }));
    case "pay-reason":
      return withPay(queue, move.arrival, (line) => ({ ...line, reason: move.text }));
    case "stepped": {
      const last = queue.turn?.dialog?.entries.reduce((most, entry) => Math.max(most, entry.round ?? 0), 0) ?? 0;
      return { ...queue, round: Math.min(Math.max(queue.round + move.by, Math.min(1, last)), last) };
    }
    case "judged": {
      const dialog = queue.turn?.dialog;
      return dialog ? { ...queue, last: { id: dialog.id, caption: dialog.caption }, undone: false } : queue;
    }
    case "undone":
      return { ...queue, last: null, undone: true };
  }
}

/** Whether it can be data at all: only a complete dialog is accepted or rejected. */
export const hasVerdict = (queue: Queue): boolean =>
  queue.turn?.dialog?.standing.outcome === "complete";

/** Who is refused pay without a reason; nothing is sent before there is one. */
export const unreasoned = (queue: Queue): PayLine | undefined =>
  queue.pay.find((line) => !line.approve && line.reason.trim() === "");

export function judgeOf(queue: Queue, verdict: Acceptance | null, reason = ""): Judge {
  const pay = queue.pay.map(({ arrival_id, approve, reason: why }) => ({
    arrival_id,
    approve,
    reason: approve ? "" : why.trim(),
  }));
  return { verdict: hasVerdict(queue) ? verdict : null, reason: reason.trim(), pay };
}

/** One line a person, questioner first, of those who are still owed something. */
function payOf({ dialog }: ReviewNext): PayLine[] {
  if (dialog === null) return [];
  const seats = [...dialog.standing.seats].sort((a, b) => (a.role < b.role ? 1 : -1));
  return seats.flatMap((seat) => {
    const cents = sumOf(dialog.payments.filter((p) => p.arrival_id === seat.arrival_id && p.state === "owed"));
    if (cents === 0) return [];
    const { arrival_id, worker_id, role } = seat;
    return [{ arrival_id, worker_id, role, cents, approve: true, reason: "" }];
  });
}

export const sumOf = (payments: readonly Pick<PaymentOut, "cents">[]): number => payments.reduce((sum, { cents }) => sum + cents, 0);

function withPay(queue: Queue, arrival: string, change: (line: PayLine) => PayLine): Queue {
  const pay = queue.pay.map((line) => (line.arrival_id === arrival ? change(line) : line));
  return { ...queue, pay };
}
