import { describe, expect, it } from "vitest";
import { amountOf, centsOf, clockSpan, fromLocalField, localField, money, shortId, spanOf, timeOf } from "./format";
import { differences, isAmount, shortened } from "./study/diff";
import { readLimit, shownLimit } from "./study/limits";

describe("money", () => {
  it("has as many digits as its currency", () => {
    expect(money(150, "USD")).toBe("$1.50");
    expect(money(150, "JPY")).toBe("¥150");
    expect(amountOf(1_500, "KWD")).toBe("1.500");
  });
  it.each([
    ["1.50", "USD", 150],
    ["1,5", "USD", 150],
    ["2", "USD", 200],
    ["0.07", "USD", 7],
    ["1.555", "USD", null],
    ["1.5", "JPY", null],
    ["-1", "USD", null],
    ["1e3", "USD", null],
    ["", "USD", null],
  ])("%s of %s is read exactly", (text, currency, cents) => expect(centsOf(text, currency)).toBe(cents));
});

describe("times", () => {
  it("pass as on a clock", () => expect([-3, 8.9, 125, 3_723].map(clockSpan)).toEqual(["0:00", "0:08", "2:05", "1:02:03"]));
  it("are read as durations", () =>
    expect([0.64, 8, 74, 180, 4_800, 7_200, 400_000].map(spanOf)).toEqual(["0.6 s", "8 s", "74 s", "3 min", "1 h 20 min", "2 h", "5 days"]));
  it("name the day only where it is another one", () => {
    const at = new Date(2026, 10, 30, 14, 3, 9).getTime() / 1_000;
    expect(timeOf(at, at + 60)).toBe("14:03");
    expect(timeOf(at, at + 60, true)).toBe("14:03:09");
    expect(timeOf(at, at + 90_000)).toBe("30 Nov, 14:03");
    expect(timeOf(at, at + 300 * 86_400)).toBe("30 Nov 2026, 14:03");
  });
  it("stay the same in a field and out of it", () => {
    const at = new Date(2026, 10, 30, 14, 3).getTime() / 1_000;
    expect(fromLocalField(localField(at))).toBe(at);
    expect(fromLocalField("")).toBeNull();
  });
});

it("shows the beginning of a long id", () => expect([shortId("abc"), shortId("0123456789ab")]).toEqual(["abc", "01234567…"]));

describe("limits", () => {
  it("tells an empty field from what is no number", () => {
    expect(readLimit("grace_s", " ", "USD")).toBeNull();
    expect(readLimit("grace_s", "0", "USD")).toBeUndefined();
    expect(readLimit("grace_s", "soon", "USD")).toBeUndefined();
    expect(readLimit("grace_s", "90", "USD")).toBe(90);
    expect(readLimit("pay_left", "0", "USD")).toBe(0);
    expect(readLimit("pay_complete", "1.80", "USD")).toBe(180);
    expect(shownLimit("pay_complete", 180, "USD")).toBe("$1.80");
    expect(shownLimit("turn_limit_s", 240, "USD")).toBe("4 min");
  });
});

describe("an audit row", () => {
  it("says what changed, by its path", () =>
    expect(differences('{"a":1,"b":{"c":"x"},"d":true}', '{"a":1,"b":{"c":"y"},"e":[1]}')).toEqual([
      { key: "b.c", before: "x", after: "y" },
      { key: "d", before: "true", after: null },
      { key: "e", before: null, after: "[1]" },
    ]));
  it("takes what is no JSON as it is", () =>
    expect(differences(null, "told")).toEqual([{ key: "", before: null, after: "told" }]));

  it("knows amounts and ids among what the log holds", () => {
    const amounts = ["cents", "cents.questioner", "changes.pay_complete", "approved.a_00112233445566778899aabb dialog", "taken_back.a_1 dialog"];
    expect(amounts.map(isAmount)).toEqual(amounts.map(() => true));
    expect(["minutes", "seq", "dialogs", "payments", "changes.grace_s", "refused"].map(isAmount)).not.toContain(true);
    expect(shortened("approved.a_00112233445566778899aabb dialog")).toBe("approved.a_001122… dialog");
    expect(shortened("Rude, twice")).toBe("Rude, twice");
  });
});
