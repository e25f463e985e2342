/** What the page keeps in the browser. Third-party frames may have no storage; no cookies ever. */

import { EMPTY_DRAFT, type Draft, type Pending } from "./machine/model";

type Shelf = Pick<Storage, "getItem" | "setItem" | "removeItem">;

class Memory implements Shelf {
  readonly #kept = new Map<string, string>();
  getItem(key: string): string | null {
    return this.#kept.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.#kept.set(key, value);
  }
  removeItem(key: string): void {
    this.#kept.delete(key);
  }
}

/** The first shelf that really keeps things; merely naming a forbidden one throws. */
export function firstWorking(candidates: readonly (() => Shelf)[]): Shelf {
  const probe = "duologue.probe";
  for (const open of candidates) {
    try {
      const shelf = open();
      shelf.setItem(probe, probe);
      const works = shelf.getItem(probe) === probe;
      shelf.removeItem(probe);
      if (works) return shelf;
    } catch {
      continue;
    }
  }
  return new Memory();
}

const lasting = firstWorking([() => window.localStorage, () => window.sessionStorage]);
const passing = firstWorking([() => window.sessionStorage]);

/** 128 random bits in hexadecimal. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The id by which an open link knows this browser again. */
export function workerKey(shelf: Shelf = lasting): string {
  const name = "duologue.worker";
  const known = shelf.getItem(name);
  if (known !== null && /^[0-9a-f]{32}$/.test(known)) return known;
  const made = randomId();
  put(shelf, name, made);
  return made;
}

export function chosenLanguage(shelf: Shelf = lasting): string | null {
  return shelf.getItem("duologue.language");
}

export function chooseLanguage(language: string, shelf: Shelf = lasting): void {
  put(shelf, "duologue.language", language);
}

export interface Kept {
  draft: Draft;
  pending: Pending | null;
}

/** The text in the box and a message on its way, for one link in one tab; both survive a reload. */
export class DraftShelf {
  readonly #name: string;
  readonly #shelf: Shelf;

  constructor(link: string, shelf: Shelf = passing) {
    this.#name = `duologue.draft:${link}`;
    this.#shelf = shelf;
  }

  load(): Kept {
    try {
      const kept = JSON.parse(this.#shelf.getItem(this.#name) ?? "null") as Kept | null;
      if (typeof kept?.draft.text === "string") {
        const draft = { ...EMPTY_DRAFT, ...kept.draft, startedAt: null };
        return { draft, pending: kept.pending && { ...kept.pending, status: "unsent" } };
      }
    } catch {
      // What cannot be read is as good as nothing kept.
    }
    return { draft: EMPTY_DRAFT, pending: null };
  }

  save({ draft, pending }: Kept): void {
    if (draft.text === "" && pending === null) this.#shelf.removeItem(this.#name);
    else put(this.#shelf, this.#name, JSON.stringify({ draft, pending }));
  }
}

/** A full shelf must not stop anybody from working. */
function put(shelf: Shelf, name: string, value: string): void {
  try {
    shelf.setItem(name, value);
  } catch {
    shelf.removeItem(name);
  }
}
