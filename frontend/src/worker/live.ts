/** One arrival while its page is open: the model, the socket that feeds it, and who watches. */

import { Connection, type Reply } from "./connection";
import { initialModel, mayWrite, type Effect, type Happening, type Model } from "./machine/model";
import { reduce, type Limits } from "./machine/reduce";
import { wellFormed } from "./machine/text";
import { play, unlockSound } from "./sound";
import { randomId, type DraftShelf } from "./storage";
import { TypingSignal } from "./typing";
import type { SendMessage } from "../generated/wire";

/** How long a stored message may stay without its frame before the record is asked. */
const FRAME_OVERDUE_MS = 3_000;

const SYNC_PAUSE_MS = 2_000;

/** Everything a screen can do. */
export interface Actions {
  ready(): Promise<Reply>;
  start(): Promise<Reply>;
  decline(): Promise<Reply>;
  leave(reason: string): Promise<Reply>;
  stopWaiting(): Promise<Reply>;
  pairAgain(): Promise<Reply>;
  finish(feedback: string): Promise<Reply>;
  report(text: string): Promise<Reply>;
  typed(text: string, how: { pasted: boolean; removed: boolean }): void;
  submit(): void;
  retry(): void;
  continueHere(): void;
}

/** The page's own seconds: they only ever go forward. */
export function pageNow(): number {
  return performance.now() / 1000;
}

export class Live implements Actions {
  model: Model;
  readonly #connection: Connection;
  readonly #drafts: DraftShelf;
  readonly #limits: Limits;
  readonly #watchers = new Set<(model: Model) => void>();
  readonly #signal: TypingSignal;

  constructor(token: string, limits: Limits, drafts: DraftShelf, connect = makeConnection) {
    this.#drafts = drafts;
    this.#limits = limits;
    this.model = initialModel(drafts.load());
    this.#connection = connect(token, (happening) => this.#dispatch(happening));
    this.#signal = new TypingSignal((on) => this.#connection.typing(on), () => performance.now());
  }

  watch(watcher: (model: Model) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  close(): void {
    this.#signal.stop();
    this.#connection.close();
  }

  // Screens pass these on as plain functions, so they are bound to their arrival.
  readonly ready = (): Promise<Reply> => {
    unlockSound();
    return this.#connection.request("ready", {});
  };
  readonly start = (): Promise<Reply> => {
    unlockSound();
    return this.#connection.request("start", {});
  };
  readonly decline = (): Promise<Reply> => this.#connection.request("decline", {});
  readonly leave = (reason: string): Promise<Reply> =>
    this.#connection.request("leave", { reason: wellFormed(reason) });
  readonly stopWaiting = (): Promise<Reply> => this.#connection.request("stop_waiting", {});
  readonly pairAgain = (): Promise<Reply> => this.#connection.request("pair_again", {});
  readonly finish = (feedback: string): Promise<Reply> =>
    this.#connection.request("finish", { feedback: wellFormed(feedback) });
  readonly report = (text: string): Promise<Reply> =>
    this.#connection.request("report", { text: wellFormed(text) });

  readonly typed = (text: string, how: { pasted: boolean; removed: boolean }): void => {
    unlockSound();
    this.#dispatch({ kind: "typed", text, ...how, at: pageNow() });
    if (this.model.draft.text === "") this.#signal.stop();
    else if (mayWrite(this.model)) this.#signal.touch();
  };

  readonly submit = (): void => {
    this.#signal.stop();
    this.#dispatch({ kind: "submitted", key: randomId(), at: pageNow() });
  };

  readonly retry = (): void => {
    this.#dispatch({ kind: "retried" });
  };

  readonly continueHere = (): void => {
    this.#connection.resume();
  };

  #dispatch(happening: Happening): void {
    const before = this.model;
    const { model, effects } = reduce(before, happening, this.#limits);
    this.model = model;
    for (const effect of effects) void this.#run(effect);
    if (model === before) return;
    if (model.draft !== before.draft || model.pending !== before.pending) this.#drafts.save(model);
    chime(before, model);
    for (const watcher of this.#watchers) watcher(model);
  }

  async #run(effect: Effect): Promise<void> {
    if (effect.kind === "sync") return this.#sync(effect.after);
    const { key, text, meta } = effect.message;
    const message: SendMessage = { key, parts: [{ text: wellFormed(text) }], meta };
    const reply = await this.#connection.send(message);
    if (reply.ok) {
      this.#dispatch({ kind: "acknowledged", key, seq: reply.value.seq });
      setTimeout(() => this.#dispatch({ kind: "unseen", key }), FRAME_OVERDUE_MS);
    } else if (reply.refused) this.#dispatch({ kind: "refused", key, refused: reply.refused });
    else this.#dispatch({ kind: "unsent", key });
  }

  async #sync(after: number): Promise<void> {
    const reply = await this.#connection.sync(after);
    if (reply.ok) this.#dispatch({ kind: "synced", events: reply.value, at: pageNow() });
    else setTimeout(() => this.#syncAgain(), SYNC_PAUSE_MS);
  }

  /** Unless a whole state has come meanwhile, which is what a new connection begins with. */
  #syncAgain(): void {
    if (this.model.link !== "online" || !this.model.catchingUp) return;
    void this.#sync(this.model.seq);
  }
}

function makeConnection(token: string, tell: (happening: Happening) => void): Connection {
  return new Connection(token, tell, pageNow);
}

/** A match must be heard by whoever looks elsewhere; a turn, the team and the last step only then. */
function chime(before: Model, after: Model): void {
  const matched = (model: Model) => model.state?.stage === "matched";
  const talking = (model: Model) => model.state?.stage === "talking";
  const told = (model: Model) => model.state?.dialog?.told.length ?? 0;
  if (!matched(before) && matched(after)) play("match");
  else if (document.hidden && !mayWrite(before) && mayWrite(after)) play("turn");
  else if (document.hidden && talking(before) && told(after) > told(before)) play("turn");
  else if (document.hidden && talking(before) && after.state?.stage === "released") play("turn");
}
