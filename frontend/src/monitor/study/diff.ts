/** What an audit row changed, of the two JSON texts it holds. */

import { shortId } from "../format";

export interface Difference {
  key: string;
  before: string | null;
  after: string | null;
}

export function differences(before: string | null, after: string | null): Difference[] {
  const [was, is] = [fieldsOf(before), fieldsOf(after)];
  const keys = [...new Set([...was.keys(), ...is.keys()])];
  return keys
    .map((key) => ({ key, before: was.get(key) ?? null, after: is.get(key) ?? null }))
    .filter((each) => each.before !== each.after);
}

const ID = /\b([a-z]{1,3}_[0-9a-f]{16,})\b/g;

/** Ids in a text as short as elsewhere. */
export const shortened = (text: string): string => text.replace(ID, shortId);

/**
 * Whether what stands at this path is an amount in cents: by its name, or because each payment that
 * was moved stands there with its own.
 */
export const isAmount = (key: string): boolean => /(^|\.)cents(\.|$)|(^|\.)pay_|^(approved|taken_back)\./.test(key);

/** Whether it only tells one action from another: an event's number, a flag's, or a request's id. */
export const isNumbering = (key: string): boolean => key === "seq" || key === "number" || key === "request";

/** Each value as a text, by the path to it; a text that is no JSON stands for itself. */
function fieldsOf(text: string | null): Map<string, string> {
  const fields = new Map<string, string>();
  if (text === null) return fields;
  const collect = (value: unknown, path: string) => {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      for (const [key, each] of Object.entries(value)) collect(each, path === "" ? key : `${path}.${key}`);
    } else if (value !== null) fields.set(path, typeof value === "string" ? value : JSON.stringify(value));
  };
  try {
    collect(JSON.parse(text), "");
  } catch {
    fields.set("", text);
  }
  return fields;
}
