import { describe, expect, it } from "vitest";
import { abandoned, complete } from "../gallery/monitor/data";
import type { DialogOut } from "../generated/monitor";
import { afterMove, EMPTY_QUEUE, hasVerdict, judgeOf, unreasoned, type Move, type Queue } from "./queue";

const came = (dialog: DialogOut | null): Move => ({ kind: "came", turn: { dialog, until: 1, second: false, waiting: 3 } });
const moved = (queue: Queue, ...moves: Move[]) => moves.reduce(afterMove, queue);
const inHand = moved(EMPTY_QUEUE, came(complete));

describe("the queue", () => {
  it("approves by default, the questioner first", () => {
    expect(inHand.pay.map(({ role, cents, approve }) => [role, cents, approve])).toEqual([
      ["questioner", 150, true],
      ["answerer", 150, true],
    ]);
    expect(judgeOf(inHand, "accepted")).toEqual({
      verdict: "accepted",
      reason: "",
      pay: [
        { arrival_id: "aq", approve: true, reason: "" },
        { arrival_id: "aa", approve: true, reason: "" },
      ],
    });
  });

  it("refuses pay only with a reason, and sends no reason with what is paid", () => {
    const toggle: Move = { kind: "pay-toggled", arrival: "aa" };
    const refused = moved(inHand, toggle);
    expect(unreasoned(refused)?.arrival_id).toBe("aa");
    const reasoned = moved(refused, { kind: "pay-reason", arrival: "aa", text: " Copied. " });
    expect(unreasoned(reasoned)).toBeUndefined();
    expect(judgeOf(reasoned, "rejected", " Bad. ")).toMatchObject({
      verdict: "rejected",
      reason: "Bad.",
      pay: [{ approve: true }, { approve: false, reason: "Copied." }],
    });
    expect(judgeOf(moved(reasoned, toggle), "accepted").pay?.[1]).toEqual({ arrival_id: "aa", approve: true, reason: "" });
  });

  it("offers nothing to decide of what is paid or approved already", () => {
    const paid = complete.payments.map((payment) => ({ ...payment, state: "paid" as const }));
    expect(moved(EMPTY_QUEUE, came({ ...complete, payments: paid })).pay).toEqual([]);
  });

  it("gives no verdict on a dialog that is not complete", () => {
    const queue = moved(EMPTY_QUEUE, came(abandoned));
    expect(hasVerdict(queue)).toBe(false);
    expect(judgeOf(queue, "accepted").verdict).toBeNull();
  });

  it("steps through the rounds and stops at both ends", () => {
    const down: Move = { kind: "stepped", by: 1 };
    const up: Move = { kind: "stepped", by: -1 };
    expect(moved(inHand, up).round).toBe(1);
    expect(moved(inHand, down, down, up).round).toBe(1);
    expect(moved(inHand, ...Array<Move>(30).fill(down)).round).toBe(10);
    expect(moved(inHand, down, down, came(complete)).round).toBe(0);
  });

  it("starts anew with each dialog, and knows what can be undone", () => {
    const next = moved(inHand, { kind: "pay-toggled", arrival: "aa" }, { kind: "judged" }, { kind: "asked" }, came(complete));
    expect(next.pay.every(({ approve }) => approve)).toBe(true);
    expect(next.last?.id).toBe(complete.id);
    expect(moved(next, { kind: "undone" }).last).toBeNull();
    expect(moved(next, came(null)).at).toBe("empty");
    expect(moved(next, { kind: "failed", error: "No." })).toMatchObject({ at: "failed", error: "No." });
  });
});
