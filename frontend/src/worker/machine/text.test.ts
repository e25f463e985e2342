import { describe, expect, it, vi } from "vitest";
import { countCharacters, fits, isBlank, oneLine, wellFormed } from "./text";

describe("a message's text", () => {
  it("is counted in code points after trimming, as the server does", () => {
    expect(countCharacters("  a😀é  ")).toBe(3);
    expect(countCharacters("👨‍👩‍👧")).toBe(5);
  });

  it("is one line", () => {
    expect(oneLine("a\r\nb\tc")).toBe("a b c");
  });

  it("may not consist of what nobody sees", () => {
    expect(["", "   ", "\u200b\u2060", "\u00a0", "\u0301"].map(isBlank)).toEqual(Array(5).fill(true));
    expect(["\u3164", "\u115f\u1160\uffa0", "\u2800 \u2800"].every(isBlank)).toBe(true);
    expect(["a", "😀", "؟"].some(isBlank)).toBe(false);
  });

  it.each([["knows it by itself", true], ["does not", false]])(
    "holds no half of a character, in a browser that %s",
    (_, modern) => {
      const prototype = String.prototype as { toWellFormed?: () => string };
      const own = vi.fn(prototype.toWellFormed);
      prototype.toWellFormed = modern ? own : (undefined as never);
      try {
        expect(wellFormed("a\ud83d b\ude00 😀\ud800\ud83d\ude00")).toBe("a\ufffd b\ufffd 😀\ufffd😀");
        expect(wellFormed("plain \u0301 ؟")).toBe("plain \u0301 ؟");
        expect(own.mock.calls.length).toBe(modern ? 2 : 0);
      } finally {
        prototype.toWellFormed = own.getMockImplementation() as never;
      }
    },
  );

  it("fits up to the limit and not beyond", () => {
    expect(fits("😀".repeat(500), 500)).toBe(true);
    expect(fits("😀".repeat(501), 500)).toBe(false);
    expect(fits(" ", 500)).toBe(false);
  });
});
