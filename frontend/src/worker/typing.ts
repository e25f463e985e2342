/** Tells the partner's page that this person is writing, sparingly. */

const AGAIN_MS = 5_000;
const IDLE_MS = 4_000;

export class TypingSignal {
  readonly #send: (on: boolean) => void;
  readonly #now: () => number;
  #saidAt: number | null = null;
  #idle: ReturnType<typeof setTimeout> | undefined;

  /** `now` in milliseconds. */
  constructor(send: (on: boolean) => void, now: () => number) {
    this.#send = send;
    this.#now = now;
  }

  touch(): void {
    const now = this.#now();
    if (this.#saidAt === null || now - this.#saidAt >= AGAIN_MS) {
      this.#saidAt = now;
      this.#send(true);
    }
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.stop(), IDLE_MS);
  }

  stop(): void {
    clearTimeout(this.#idle);
    if (this.#saidAt === null) return;
    this.#saidAt = null;
    this.#send(false);
  }
}
