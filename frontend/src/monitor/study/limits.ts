/** What can be changed of a study: as fields hold it, and as it travels. */

import type { Limits } from "../../generated/monitor";
import { amountOf, centsOf, money, spanOf } from "../format";

export type LimitName = keyof Limits;

export const LIMITS: readonly LimitName[] = [
  "grace_s",
  "turn_limit_s",
  "dialog_limit_s",
  "lobby_limit_s",
  "pay_complete",
  "pay_left",
  "pay_waiting_per_minute",
];

export const isPay = (name: LimitName): boolean => name.startsWith("pay_");

/** As it is read: `3 min`, `$1.50`. */
export function shownLimit(name: LimitName, value: number | null | undefined, currency: string): string {
  if (value == null) return "–";
  return isPay(name) ? money(value, currency) : spanOf(value);
}

/** As a field holds it: seconds, or an amount. */
export function heldLimit(name: LimitName, value: number | null | undefined, currency: string): string {
  if (value == null) return "";
  return isPay(name) ? amountOf(value, currency) : String(value);
}

/** What was written: null for an empty field, `undefined` for what is none. */
export function readLimit(name: LimitName, text: string, currency: string): number | null | undefined {
  const given = text.trim();
  if (given === "") return null;
  if (isPay(name)) return centsOf(given, currency) ?? undefined;
  const seconds = Number(given.replace(",", "."));
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}
