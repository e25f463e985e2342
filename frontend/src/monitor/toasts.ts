/** Short lines that say what came of an action; each goes by itself. */

import { Store } from "./store";

export interface Toast {
  id: number;
  text: string;
}

/** More would pile up over what is read, when somebody works quickly. */
const AT_MOST = 1;
const SHOWN_MS = 10_000;

export class Toasts {
  readonly shown = new Store<readonly Toast[]>([]);
  #last = 0;

  say(text: string): void {
    const id = ++this.#last;
    this.shown.set([...this.shown.value, { id, text }].slice(-AT_MOST));
    setTimeout(() => this.drop(id), SHOWN_MS);
  }

  drop(id: number): void {
    this.shown.set(this.shown.value.filter((toast) => toast.id !== id));
  }
}
