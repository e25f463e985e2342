/** Money, times and numbers as the team reads them, in English. */

const PLACES = new Map<string, number>();

/** How many digits a currency has after the point (ISO 4217). */
export function placesOf(currency: string): number {
  let places = PLACES.get(currency);
  if (places === undefined) {
    const { maximumFractionDigits } = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions();
    places = maximumFractionDigits ?? 2;
    PLACES.set(currency, places);
  }
  return places;
}

/** 150 cents as `$1.50`. */
export function money(cents: number, currency: string): string {
  const amount = cents / 10 ** placesOf(currency);
  return new Intl.NumberFormat("en", { style: "currency", currency }).format(amount);
}

/** 150 cents as `1.50`, for a field. */
export const amountOf = (cents: number, currency: string): string =>
  (cents / 10 ** placesOf(currency)).toFixed(placesOf(currency));

/** `1.5` as 150 cents; null for what is no amount, or finer than the smallest coin. */
export function centsOf(text: string, currency: string): number | null {
  const found = /^([0-9]{1,9})(?:[.,]([0-9]*))?$/.exec(text.trim());
  const places = placesOf(currency);
  if (found === null || (found[2] ?? "").length > places) return null;
  return Number(found[1] + (found[2] ?? "").padEnd(places, "0"));
}

const two = (n: number) => String(n).padStart(2, "0");

/** How long something has been going on, for what ticks: `0:08`, `12:30`, `1:02:03`. */
export function clockSpan(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** A duration to be read once: `8 s`, `3 min`, `1 h 20 min`, `5 days`. */
export function spanOf(seconds: number): string {
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.round(hours / 24)} days`;
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const YEAR = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const TIME = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const SECOND = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const WHOLE = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

/** A time as short as it can be seen from `now`: the day only where it is another one. */
export function timeOf(at: number, now: number, seconds = false): string {
  const [then, today] = [new Date(at * 1_000), new Date(now * 1_000)];
  const time = (seconds ? SECOND : TIME).format(then);
  if (then.toDateString() === today.toDateString()) return time;
  const day = then.getFullYear() === today.getFullYear() ? DAY : YEAR;
  return `${day.format(then)}, ${time}`;
}

export const wholeTime = (at: number): string => WHOLE.format(new Date(at * 1_000));

export const share = (part: number): string => `${(part * 100).toFixed(part === 1 ? 0 : 1)}%`;

export const count = (n: number): string => n.toLocaleString("en");

/** What a field for date and time holds, in the reader's own time zone, and back. */
export function localField(at: number): string {
  const when = new Date(at * 1_000);
  const day = `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())}`;
  return `${day}T${two(when.getHours())}:${two(when.getMinutes())}`;
}

export function fromLocalField(text: string): number | null {
  const at = new Date(text).getTime();
  return Number.isNaN(at) ? null : at / 1_000;
}

/** Ids are long; their beginning tells them apart on a screen. */
export const shortId = (id: string): string => (id.length > 10 ? `${id.slice(0, 8)}…` : id);
