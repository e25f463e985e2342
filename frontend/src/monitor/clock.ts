/** The server's time, and the one timer by which everything that ticks is moved on. */

import type { Now } from "../generated/monitor";

const TICK_MS = 1_000;

export class Clock {
  #offset = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #ticking = new Set<() => void>();
  readonly #pageNow: () => number;

  constructor(pageNow: () => number = () => Date.now() / 1_000) {
    this.#pageNow = pageNow;
  }

  /** Seconds since 1970 by the server's clock, as far as this page knows. */
  now(): number {
    return this.#pageNow() + this.#offset;
  }

  /** Takes the server's time from what it just sent. */
  sync(at: Now["at"]): void {
    this.#offset = at - this.#pageNow();
  }

  /** Calls `tick` each second until the result is called. No timer runs when nobody wants it. */
  every(tick: () => void): () => void {
    this.#ticking.add(tick);
    this.#timer ??= setInterval(() => {
      for (const each of [...this.#ticking]) each();
    }, TICK_MS);
    return () => {
      this.#ticking.delete(tick);
      if (this.#ticking.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  get ticking(): number {
    return this.#ticking.size;
  }
}
