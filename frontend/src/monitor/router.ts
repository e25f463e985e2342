/** Which view an address names, and going from one to another without loading the page anew. */

import { Store } from "./store";

export type Place =
  | { view: "now" | "dialogs" | "review" | "workers" | "money" | "study" | "log" | "sign-in" | "missing" }
  | { view: "dialog" | "worker"; id: string };

/** The part of `window` that a router needs, so that a test or the gallery can stand in for it. */
export interface Site {
  read(): string;
  push(href: string): void;
  replace(href: string): void;
  /** Calls back when the browser went back or forward. */
  watch(moved: () => void): () => void;
}

const HOME = "/monitor";
const LISTS = ["dialogs", "review", "workers", "money", "study", "log"] as const;

export function placeOf(href: string): Place {
  const path = pathOf(href).replace(/\/+$/, "");
  if (path === "/sign-in") return { view: "sign-in" };
  if (path === HOME) return { view: "now" };
  const [first, second, ...rest] = path.slice(HOME.length + 1).split("/");
  if (!path.startsWith(`${HOME}/`) || rest.length > 0) return { view: "missing" };
  if (second !== undefined) {
    const id = decoded(second);
    if (id === null) return { view: "missing" };
    if (first === "dialogs") return { view: "dialog", id };
    return first === "workers" ? { view: "worker", id } : { view: "missing" };
  }
  const view = LISTS.find((each) => each === first);
  return view === undefined ? { view: "missing" } : { view };
}

export const pathOf = (href: string): string => href.replace(/[?#].*$/s, "");

export function queryOf(href: string): URLSearchParams {
  const start = href.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : href.slice(start).replace(/#.*$/s, ""));
}

/** An address of this page with a query; what is empty is left out. */
export function hrefOf(path: string, query: Readonly<Record<string, string>> = {}): string {
  const filled = Object.entries(query).filter(([, value]) => value !== "");
  const text = new URLSearchParams(filled).toString();
  return text === "" ? path : `${path}?${text}`;
}

export const dialogHref = (id: string): string => `${HOME}/dialogs/${encodeURIComponent(id)}`;
export const workerHref = (id: string): string => `${HOME}/workers/${encodeURIComponent(id)}`;

/** Where to go after signing in: only to a view of this page, never to another site. */
export function nextOf(href: string): string {
  const next = queryOf(href).get("next") ?? "";
  const ours = /^\/monitor(?:[/?]|$)/.test(next) && !/[\\\p{Cc}]/u.test(next);
  // A browser takes "/monitor/.." for what is above it.
  return ours && /^\/monitor(?:\/|$)/.test(new URL(next, "http://here").pathname) ? next : HOME;
}

export class Router {
  readonly at: Store<string>;
  readonly #site: Site;
  readonly #unwatch: () => void;

  constructor(site: Site) {
    this.#site = site;
    this.at = new Store(site.read());
    this.#unwatch = site.watch(() => this.at.set(site.read()));
  }

  go(href: string): void {
    if (href === this.at.value) return;
    this.#site.push(href);
    this.at.set(href);
  }

  /** As `go`, but the browser's back button does not lead here again. */
  replace(href: string): void {
    this.#site.replace(href);
    this.at.set(href);
  }

  close(): void {
    this.#unwatch();
  }
}

export const browserSite: Site = {
  read: () => location.pathname + location.search,
  push: (href) => history.pushState(null, "", href),
  replace: (href) => history.replaceState(null, "", href),
  watch: (moved) => {
    addEventListener("popstate", moved);
    return () => removeEventListener("popstate", moved);
  },
};

/** The address of a link that was pressed plainly and leads to a view of this page, or null. */
export function pressedLink(event: MouseEvent): string | null {
  if (event.defaultPrevented || event.button !== 0) return null;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null;
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  const href = link?.getAttribute("href") ?? "";
  if (link?.hasAttribute("target") || placeOf(href).view === "missing") return null;
  return href;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text) || null;
  } catch {
    return null;
  }
}
