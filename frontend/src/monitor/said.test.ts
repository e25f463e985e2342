import { describe, expect, it } from "vitest";
import type { AuditRow } from "../generated/monitor";
import { money } from "./format";
import { saidOf } from "./study/said";

const row = (action: string, before: object | null, after: object | null): AuditRow => ({
  id: "1",
  at: 0,
  by: "ada",
  action,
  target: "d_1",
  before: before && JSON.stringify(before),
  after: after && JSON.stringify(after),
});
const said = (action: string, before: object | null, after: object | null) =>
  saidOf(row(action, before, after), (cents) => money(cents, "USD"))?.join(" · ");

describe("what the log says was done", () => {
  it("says what an end pays", () => {
    expect(said("dialog.end", null, { cents: {}, seq: 4 })).toContain("paid in full");
    expect(said("dialog.end", null, { cents: { answerer: 20, questioner: 50 }, seq: 4 })).toContain("Paid: Answerer $0.20, Questioner $0.50");
  });

  it("says what a judgement did, without ids", () => {
    const after = { verdict: "accepted", approved: { "a_2aff17 dialog": 150, "a_3bee waiting": 20 }, refused: [], taken_back: {} };
    expect(said("review.judge", { verdict: null }, after)).toBe("Accepted · $1.70 approved");
    const rejected = { verdict: "rejected", approved: {}, refused: ["a_3bee"], taken_back: { "a_3bee dialog": 150 } };
    expect(said("review.judge", { verdict: null }, rejected)).toBe("Rejected · $1.50 refused · the reason stands in the dialog");
    expect(said("review.judge", null, { verdict: "accepted", second: true })).toBe("Accepted (second opinion)");
    expect(said("review.undo", { verdict: "rejected", by: "adm_1" }, { verdict: null })).toBe("was: Rejected");
  });

  it("says what was approved or tried again", () => {
    const payment = { reason: "dialog", cents: 150 };
    expect(said("ledger.approve", { state: "owed", ...payment }, { state: "approved", ...payment })).toBe("$1.50 for the dialog");
    expect(said("ledger.retry", { state: "failed", problem: "No funds.", reason: "waiting" }, { request: "r" })).toBe("what is paid for waiting · No funds.");
  });

  it("says why somebody was excluded", () => {
    expect(said("worker.exclude", { excluded: false }, { excluded: true, why: "Copies." })).toBe("Copies.");
    expect(said("worker.allow", { excluded: true }, { excluded: false })).toBe("");
  });

  it("leaves what has no words of its own to its fields", () => {
    expect(said("study.change", { changes: {} }, { changes: { pay: 1 } })).toBeUndefined();
    expect(said("sign_in", null, null)).toBeUndefined();
  });
});
