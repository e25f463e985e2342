import { describe, expect, it } from "vitest";
import { ar } from "./ar";
import { en } from "./en";
import { localeFor, pickLanguage } from ".";

/** Every text by its path, with functions called on plausible values. */
function flatten(value: unknown, path = ""): Map<string, string> {
  if (typeof value === "string") return new Map([[path, value]]);
  if (typeof value === "function") {
    const texts = [1, 2, 3, 11, 100].map((n) => String(value(n, 12, n)));
    return new Map([[path, texts.join("\n")]]);
  }
  const entries = Object.entries(value as Record<string, unknown>);
  return new Map(entries.flatMap(([key, inner]) => [...flatten(inner, `${path}.${key}`)]));
}

describe("the catalogues", () => {
  it("have the same keys", () => {
    expect([...flatten(ar).keys()].sort()).toEqual([...flatten(en).keys()].sort());
  });

  it.each([["en", en], ["ar", ar]] as const)("have no empty or broken text in %s", (_, texts) => {
    for (const [path, text] of flatten(texts)) {
      expect(text.trim(), path).not.toBe("");
      expect(text, path).not.toMatch(/undefined|NaN|\[object/);
    }
  });

  it("are in their own scripts", () => {
    for (const [path, text] of flatten(ar)) expect(text, path).toMatch(/\p{Script=Arabic}/u);
    for (const [path, text] of flatten(en)) expect(text, path).not.toMatch(/\p{Script=Arabic}/u);
  });
});

describe("a locale", () => {
  it("knows its direction", () => {
    expect(localeFor("ar-EG").dir).toBe("rtl");
    expect(localeFor("en-GB").dir).toBe("ltr");
  });

  it("falls back to English, and says so", () => {
    expect(localeFor("xx").lang).toBe("en");
  });

  it("writes amounts in the currency's own smallest unit", () => {
    expect(localeFor("en").money(150, "USD")).toBe("$1.50");
    expect(localeFor("en").money(150, "JPY")).toBe("¥150");
  });

  it("keeps an amount together among words that run from right to left", () => {
    expect(localeFor("ar").money(150, "USD")).toMatch(/^\u2068[^\u200f]*1\.50[^\u200f]*\u2069$/);
  });

  it("writes clocks rounded up and never below zero", () => {
    const { clock } = localeFor("en");
    expect([clock(59.2), clock(60), clock(0.1), clock(-3)]).toEqual(["1:00", "1:00", "0:01", "0:00"]);
  });

  it("writes spans in words", () => {
    const { span } = localeFor("en");
    expect([span(60), span(180), span(600)]).toEqual(["60 seconds", "3 minutes", "10 minutes"]);
    expect([span(3_600), span(7_200), span(604_800)]).toEqual(["60 minutes", "2 hours", "7 days"]);
  });
});

describe("the choice of a language", () => {
  it("keeps what was chosen, while the study has it", () => {
    expect(pickLanguage(["en", "ar"], "ar", ["en-US"])).toBe("ar");
    expect(pickLanguage(["en"], "ar", ["en-US"])).toBe("en");
  });

  it("follows the browser by the base language, then the study's order", () => {
    expect(pickLanguage(["en", "ar"], null, ["de-AT", "ar-EG"])).toBe("ar");
    expect(pickLanguage(["ar", "en"], null, ["de"])).toBe("ar");
    expect(pickLanguage([], null, [])).toBe("en");
  });
});
