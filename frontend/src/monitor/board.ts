/** The live dialogs, and in which order they are shown: what needs somebody comes first. */

import type { Board, BoardRow } from "../generated/monitor";

export type BoardState = ReadonlyMap<string, BoardRow>;

/** From calm to worst. */
export type Trouble = "calm" | "slow" | "solo" | "away" | "silent";

export const EMPTY_BOARD: BoardState = new Map();

/** Seconds without a message after which a dialog is slow, and after which it is silent. */
export const SLOW_S = 75;
export const SILENT_S = 150;

const RANK: Record<Trouble, number> = { silent: 0, away: 1, solo: 2, slow: 3, calm: 4 };

export function afterBoard(before: BoardState, change: Board): BoardState {
  const after = new Map(change.all ? [] : before);
  for (const id of change.over) after.delete(id);
  for (const row of change.rows) {
    if (row.phase === "ended") after.delete(row.id);
    else after.set(row.id, row);
  }
  return after;
}

export function troubleOf(row: BoardRow, now: number): Trouble {
  const silence = now - row.turn_at;
  if (silence >= SILENT_S) return "silent";
  if (row.seats.some((seat) => seat.away && !seat.gone)) return "away";
  if (row.phase === "solo") return "solo";
  return silence >= SLOW_S ? "slow" : "calm";
}

export interface Placed {
  row: BoardRow;
  trouble: Trouble;
}

/**
 * Those in trouble by how bad it is and for how long; the others by when they began, so that they
 * keep their place while they talk.
 */
export function inOrder(board: BoardState, now: number): Placed[] {
  const placed = [...board.values()].map((row) => ({ row, trouble: troubleOf(row, now) }));
  const since = ({ row, trouble }: Placed) => (trouble === "calm" ? row.opened_at : row.turn_at);
  return placed.sort(
    (a, b) =>
      RANK[a.trouble] - RANK[b.trouble] || since(a) - since(b) || (a.row.id < b.row.id ? -1 : 1),
  );
}
