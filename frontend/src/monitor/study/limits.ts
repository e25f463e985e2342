/** What can be changed of a study: as fields hold it, and as it travels. */

import type { Limits } from "../../generated/monitor";
import { amountOf, centsOf, money, spanOf } from "../format";
import { t } from "../texts";

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

/**
 * What the server refuses, by the names of the form instead of the settings' keys. Settings that
 * stand in the study file alone keep theirs.
 */
export function byLabels(error: string, keys: Readonly<Record<string, string>>): string {
  const labels = new Map<string, string>();
  for (const name of LIMITS) {
    const label = `“${t.limits.names[name]}”`;
    labels.set(`changes.${name}`, label);
    if (keys[name]) labels.set(keys[name], label);
  }
  return error.replace(/\b[a-z]+(?:\.[a-z_]+)+\b/g, (key) => labels.get(key) ?? key);
}

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
