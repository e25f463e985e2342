/** The live dialogs, and in which order they are shown: what needs somebody comes first. */

import type { Board, BoardRow, BoardSeat } from "../generated/monitor";

export type BoardState = ReadonlyMap<string, BoardRow>;

/** From calm to worst. */
export type Trouble = "calm" | "slow" | "solo" | "away" | "leaving" | "silent";

export const EMPTY_BOARD: BoardState = new Map();

/** The share of its time after which a turn is slow, and after which it is nearly over. */
export const SLOW = 0.5;
export const SILENT = 5 / 6;
/** The share of the grace after which somebody who is away counts as leaving. */
export const LEAVING = 0.5;

const RANK: Record<Trouble, number> = { silent: 0, leaving: 1, away: 2, solo: 3, slow: 4, calm: 5 };

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
  const silence = passed(row.turn_at, row.turn_ends_at, now);
  if (silence >= SILENT) return "silent";
  const away = Math.max(...row.seats.map((seat) => graceOf(seat, now)), -1);
  if (away >= LEAVING) return "leaving";
  if (away >= 0) return "away";
  if (row.phase === "solo") return "solo";
  return silence >= SLOW ? "slow" : "calm";
}

const passed = (from: number, to: number, now: number): number => (to > from ? Math.max(now - from, 0) / (to - from) : 1);

/** Which share of the grace has passed; below 0 for whoever has none to lose. */
const graceOf = ({ away_at, grace_ends_at }: BoardSeat, now: number): number =>
  away_at === null || grace_ends_at === null ? -1 : passed(away_at, grace_ends_at, now);

/** Whether somebody should look at it. */
export const needsALook = ({ row, trouble }: Placed): boolean => trouble !== "calm" || row.flags > 0;

export interface Placed {
  row: BoardRow;
  trouble: Trouble;
}

/**
 * Flagged ones first, then those in trouble by how bad it is and for how long; the others by when they began, so that they
 * keep their place while they talk.
 */
export function inOrder(board: BoardState, now: number): Placed[] {
  const placed = [...board.values()].map((row) => ({ row, trouble: troubleOf(row, now) }));
  const since = ({ row, trouble }: Placed) => (trouble === "calm" ? row.opened_at : row.turn_at);
  return placed.sort(
    (a, b) =>
      Number(b.row.flags > 0) - Number(a.row.flags > 0) ||
      RANK[a.trouble] - RANK[b.trouble] || since(a) - since(b) || (a.row.id < b.row.id ? -1 : 1),
  );
}
