import { describe, expect, it } from "vitest";
import type { BoardRow } from "../generated/monitor";
import { afterBoard, EMPTY_BOARD, inOrder, SILENT_S, SLOW_S, troubleOf } from "./board";

const NOW = 10_000;
const row = (id: string, change: Partial<BoardRow> = {}): BoardRow => ({
  id,
  image_id: "i",
  caption: "",
  phase: "paired",
  round: 1,
  rounds: 10,
  turn: "questioner",
  turn_at: NOW - 5,
  opened_at: NOW - 100,
  seats: [],
  ...change,
});
const seat = { role: "answerer", worker_id: "w", sent: 0, away: true, gone: false } as const;
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
    ["slow", { turn_at: NOW - SLOW_S }],
    ["solo", { phase: "solo" }],
    ["away", { seats: [seat] }],
    ["calm", { seats: [{ ...seat, gone: true }] }],
    ["silent", { turn_at: NOW - SILENT_S, seats: [seat] }],
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
    ];
    const order = inOrder(afterBoard(EMPTY_BOARD, board(rows)), NOW).map(({ row: { id } }) => id);
    expect(order).toEqual(["mute", "silent", "away", "solo", "early", "late"]);
  });
});
