import { describe, expect, it } from "vitest";
import { live, standing } from "../gallery/monitor/data";
import type { Entry, Happened } from "../generated/monitor";
import { afterHappened, afterTyping, isTyping, linesOf, type Watched } from "./dialog";

const last = live.entries.at(-1)!.seq;
const said = (seq: number): Entry => ({ seq, at: live.now + seq, kind: "said", role: "answerer", round: 7, text: "Yes." });
const happened = (...entries: Entry[]): Happened => ({
  dialog_id: live.id,
  now: live.now + 1,
  entries,
  standing: standing({ round: 8 }),
});
const watched: Watched = { dialog: live, typing: {} };

describe("a dialog that goes on", () => {
  it("takes what has just happened, once, and how it stands since", () => {
    const next = afterHappened(watched, happened(said(last), said(last + 1)));
    if (next === "gap") throw new Error("no gap");
    expect(next.dialog.entries.map(({ seq }) => seq)).toEqual([...live.entries.map(({ seq }) => seq), last + 1]);
    expect(next.dialog.standing.round).toBe(8);
    expect(afterHappened(next, happened(said(last + 1)))).toMatchObject({ dialog: { entries: next.dialog.entries } });
  });

  it("asks for the whole when something before it is missing", () =>
    expect(afterHappened(watched, happened(said(last + 2)))).toBe("gap"));

  it("leaves another dialog alone", () =>
    expect(afterHappened(watched, { ...happened(said(last + 1)), dialog_id: "other" })).toBe(watched));

  it("is not turned back by what comes late", () =>
    expect(afterHappened(watched, { ...happened(), now: live.now - 5 })).toBe(watched));

  it("shows who writes, until they have written or it is long ago", () => {
    const typing = afterTyping(watched, { dialog_id: live.id, role: "answerer", on: true }, 100)!;
    expect(isTyping(typing, "answerer", 101)).toBe(true);
    expect(isTyping(typing, "questioner", 101)).toBe(false);
    expect(isTyping(typing, "answerer", 107)).toBe(false);
    const off = afterTyping(typing, { dialog_id: live.id, role: "answerer", on: false }, 101)!;
    expect(isTyping(off, "answerer", 101)).toBe(false);
    const next = afterHappened(typing, happened(said(last + 1)));
    expect(next !== "gap" && isTyping(next, "answerer", 101)).toBe(false);
  });
});

describe("the transcript", () => {
  it("says how long each message took after the one before, over quiet lines too", () => {
    const { lines } = linesOf(live);
    const first = lines.find(({ entry }) => entry.kind === "said")!;
    expect(first.after).toBe(first.entry.at - live.opened_at);
    expect(lines.filter(({ entry }) => entry.kind !== "said").every(({ after }) => after === null)).toBe(true);
  });

  it("has flags beside what they are about, by number or by round and role; the others apart", () => {
    const finding = { flag: "x", reason: "r", by: null };
    const { lines, general } = linesOf({
      ...live,
      findings: [
        { ...finding, number: 1, seq: 2, role: null, round: null },
        { ...finding, number: 2, seq: null, role: "answerer", round: 2 },
        { ...finding, number: 3, seq: null, role: "answerer", round: null },
        { ...finding, number: 4, seq: 999, role: null, round: null },
      ],
    });
    const at = (number: number) => lines.find(({ findings }) => findings.some((f) => f.number === number))?.entry;
    expect(at(1)?.seq).toBe(2);
    expect(at(2)).toMatchObject({ role: "answerer", round: 2, kind: "said" });
    expect(general.map(({ number }) => number)).toEqual([3, 4]);
  });
});
