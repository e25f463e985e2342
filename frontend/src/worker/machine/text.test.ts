import { describe, expect, it } from "vitest";
import { countCharacters, fits, isBlank, oneLine } from "./text";

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
    expect(["a", "😀", "؟"].some(isBlank)).toBe(false);
  });

  it("fits up to the limit and not beyond", () => {
    expect(fits("😀".repeat(500), 500)).toBe(true);
    expect(fits("😀".repeat(501), 500)).toBe(false);
    expect(fits(" ", 500)).toBe(false);
  });
});
