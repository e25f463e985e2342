import { describe, expect, it } from "vitest";
import type { BoardRow } from "../generated/monitor";
import { afterBoard, EMPTY_BOARD, inOrder, LEAVING, needsALook, SILENT, SLOW, troubleOf } from "./board";

const NOW = 10_000;
const LIMIT = 200;
const GRACE = 40;
const row = (id: string, change: Partial<BoardRow> = {}): BoardRow => ({
  id,
  image_id: "i",
  caption: "",
  phase: "paired",
  round: 1,
  rounds: 10,
  turn: "questioner",
  turn_at: NOW - 5,
  turn_ends_at: (change.turn_at ?? NOW - 5) + LIMIT,
  opened_at: NOW - 100,
  seats: [],
  flags: 0,
  ...change,
});
const awayFor = (seconds: number) =>
  ({ role: "answerer", worker_id: "w", sent: 0, away: true, away_at: NOW - seconds, grace_ends_at: NOW - seconds + GRACE, gone: false }) as const;
const seat = awayFor(1);
const board = (rows: BoardRow[], over: string[] = [], all = false) => ({ now: NOW, all, rows, over });

describe("the board", () => {
  it("takes what is new or has changed, and drops what is over", () => {
    const first = afterBoard(EMPTY_BOARD, board([row("a"), row("b")]));
    const next = afterBoard(first, board([row("b", { round: 2 }), row("c")], ["a"]));
    expect([...next.keys()].sort()).toEqual(["b", "c"]);
    expect(next.get("b")?.round).toBe(2);
    // A row that did not change stays the same one, so that its tile is not drawn again.
    expect(afterBoard(next, board([])).get("c")).toBe(next.get("c"));
  });

  it("holds nothing but the given rows when they are all there are", () => {
    const first = afterBoard(EMPTY_BOARD, board([row("a"), row("b")]));
    expect([...afterBoard(first, board([row("c")], [], true)).keys()]).toEqual(["c"]);
  });

  it("does not grow over a day of dialogs that begin and end", () => {
    let state = EMPTY_BOARD;
    for (let n = 0; n < 5_000; n += 1) state = afterBoard(state, board([row(`d${n}`)], n >= 30 ? [`d${n - 30}`] : []));
    expect(state.size).toBe(30);
    expect(afterBoard(state, board([row("d4999", { phase: "ended" })])).size).toBe(29);
  });
});

describe("trouble", () => {
  it.each([
    ["calm", {}],
    ["calm", { turn_at: NOW - SLOW * LIMIT + 1 }],
    ["slow", { turn_at: NOW - SLOW * LIMIT }],
    // By the limit of its own study, not by a number of seconds.
    ["calm", { turn_at: NOW - LIMIT, turn_ends_at: NOW + 10 * LIMIT }],
    ["silent", { turn_at: NOW - 20, turn_ends_at: NOW + 4 }],
    ["solo", { phase: "solo" }],
    ["away", { seats: [seat] }],
    ["leaving", { seats: [awayFor(LEAVING * GRACE)] }],
    ["calm", { seats: [{ ...seat, away: false, away_at: null, grace_ends_at: null, gone: true }] }],
    // Who has sent everything has no seat to lose.
    ["calm", { seats: [{ ...seat, grace_ends_at: null }] }],
    ["silent", { turn_at: NOW - SILENT * LIMIT - 1, seats: [seat] }],
  ] as const)("is %s", (trouble, change) =>
    expect(troubleOf(row("a", change as Partial<BoardRow>), NOW)).toBe(trouble),
  );

  it("comes first, the longest first; the others keep their place while they talk", () => {
    const rows = [
      row("late", { opened_at: NOW - 10, turn_at: NOW - 60 }),
      row("early", { opened_at: NOW - 900, turn_at: NOW - 1 }),
      row("solo", { phase: "solo" }),
      row("silent", { turn_at: NOW - 200 }),
      row("mute", { turn_at: NOW - 400 }),
      row("away", { seats: [seat] }),
      row("leaving", { seats: [awayFor(30)] }),
      row("flagged", { flags: 1 }),
    ];
    const order = inOrder(afterBoard(EMPTY_BOARD, board(rows)), NOW).map(({ row: { id } }) => id);
    expect(order).toEqual(["flagged", "mute", "silent", "leaving", "away", "solo", "early", "late"]);
  });

  it("is not the only thing that somebody should look at", () => {
    const looks = (change: Partial<BoardRow>) => needsALook(inOrder(afterBoard(EMPTY_BOARD, board([row("a", change)])), NOW)[0]!);
    expect([looks({}), looks({ phase: "solo" }), looks({ flags: 2 })]).toEqual([false, true, true]);
  });
});
