/** The languages the page speaks, and how numbers, money and times are written in each. */

import { ar } from "./ar";
import { en, type Texts } from "./en";

export type { Texts } from "./en";

const CATALOGUES: Readonly<Record<string, Texts>> = { en, ar };

const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(["ar"]);

export interface Locale {
  lang: string;
  dir: "ltr" | "rtl";
  t: Texts;
  number(n: number): string;
  /** An amount in the currency's smallest unit. */
  money(cents: number, currency: string): string;
  /** The same, or null where there is nothing to be paid and so nothing to be said of it. */
  pay(cents: number, currency: string): string | null;
  /** Minutes and seconds as on a clock, rounded up to whole seconds. */
  clock(seconds: number): string;
  /** A span in words, in whole minutes from 90 seconds on, then in hours and days from two on. */
  span(seconds: number): string;
}

const HOUR_S = 3_600;
const DAY_S = 86_400;

export function localeFor(language: string): Locale {
  const base = language.toLowerCase().split("-")[0] ?? "en";
  const lang = base in CATALOGUES ? base : "en";
  const t = CATALOGUES[lang] ?? en;
  return {
    lang,
    dir: RIGHT_TO_LEFT.has(lang) ? "rtl" : "ltr",
    t,
    number: (n) => new Intl.NumberFormat(lang).format(n),
    money: (cents, currency) => money(lang, cents, currency),
    pay: (cents, currency) => (cents > 0 ? money(lang, cents, currency) : null),
    clock: (seconds) => {
      const whole = Math.max(0, Math.ceil(seconds));
      return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
    },
    span: (seconds) => span(lang, seconds, t),
  };
}

function money(lang: string, cents: number, currency: string): string {
  const format = new Intl.NumberFormat(lang, {
    style: "currency",
    currency,
    currencyDisplay: "narrowSymbol",
  });
  const amount = format.format(cents / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
  if (!RIGHT_TO_LEFT.has(lang)) return amount;
  // Between words that run from right to left, "1.50 US$" would come apart into "$US 1.50".
  return `\u2068${amount.replace(/^\u200f/, "")}\u2069`;
}

function span(lang: string, seconds: number, t: Texts): string {
  if (seconds >= 2 * DAY_S) return t.common.days(Math.round(seconds / DAY_S));
  if (seconds >= 2 * HOUR_S) return t.common.hours(Math.round(seconds / HOUR_S));
  if (seconds >= 90) return t.common.minutes(Math.round(seconds / 60));
  const format = { style: "unit", unit: "second", unitDisplay: "long" } as const;
  return new Intl.NumberFormat(lang, format).format(Math.round(seconds));
}

/** The study's language that fits the reader best: chosen before, then the browser's, then first. */
export function pickLanguage(
  offered: readonly string[],
  chosen: string | null,
  preferred: readonly string[],
): string {
  if (chosen !== null && offered.includes(chosen)) return chosen;
  const base = (tag: string) => tag.toLowerCase().split("-")[0];
  for (const tag of preferred) {
    const fit = offered.find((language) => base(language) === base(tag));
    if (fit !== undefined) return fit;
  }
  return offered[0] ?? "en";
}

/** A language's name in itself, for the chooser. */
export function languageName(language: string): string {
  try {
    return new Intl.DisplayNames([language], { type: "language" }).of(language) ?? language;
  } catch {
    return language;
  }
}
