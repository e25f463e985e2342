/** The live connection: keeps what stands now, follows one dialog, and says when it is lost. */

import { io, type Socket } from "socket.io-client";
import type {
  Board,
  Changed,
  Chart,
  DialogOut,
  Happened,
  Now,
  TypingSeen,
} from "../generated/monitor";
import { afterBoard, EMPTY_BOARD, type BoardState } from "./board";
import type { Clock } from "./clock";
import { afterHappened, afterTyping, type Watched } from "./dialog";
import { Store } from "./store";

/**
 * `since` is the page's time in milliseconds. A connection that was never there is not lost; by one
 * that waits nothing new has come, since the server knows nothing new itself or is silent.
 */
export type Link =
  | { state: "connecting" }
  | { state: "online" }
  | { state: "waits"; since: number }
  | { state: "lost"; since: number };

export type What = Changed["what"];

const ACK_WITHIN_MS = 10_000;
const AGAIN_MS = 2_000;
/** Whoever is told how things stand every second has not been told for so long. */
const SILENT_MS = 20_000;
const LOOK_MS = 5_000;

export class Live {
  readonly link = new Store<Link>({ state: "connecting" });
  readonly now = new Store<Now | null>(null);
  readonly board = new Store<BoardState>(EMPTY_BOARD);
  readonly watched = new Store<Watched | null>(null);
  /** Called when the server no longer knows who this is. */
  onSignedOut: () => void = () => undefined;

  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #changes = new Set<(what: What | null) => void>();
  readonly #charts = new Set<(chart: Chart) => void>();
  #following: string | null = null;
  #again: ReturnType<typeof setTimeout> | undefined;
  #closed = false;
  #heardAt = 0;
  readonly #looking: ReturnType<typeof setInterval>;

  constructor(csrf: () => string, clock: Clock, open: typeof io = io) {
    this.#clock = clock;
    this.#socket = open("/monitor", {
      transports: ["websocket"],
      auth: (take: (auth: object) => void) => take({ csrf: csrf() }),
      reconnectionDelay: 500,
      reconnectionDelayMax: 5_000,
      autoConnect: false,
    });
    this.#listen();
    this.#looking = setInterval(() => {
      if (Date.now() - this.#heardAt > SILENT_MS) this.#wait(this.#heardAt);
    }, LOOK_MS);
    addEventListener("online", this.#hurry);
    document.addEventListener("visibilitychange", this.#hurry);
    this.#socket.connect();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#again);
    clearInterval(this.#looking);
    removeEventListener("online", this.#hurry);
    document.removeEventListener("visibilitychange", this.#hurry);
    this.#socket.disconnect();
  }

  /** Follows this dialog instead of any other, until the result is called. */
  follow(id: string): () => void {
    this.#following = id;
    this.watched.set(null);
    void this.#watch();
    return () => {
      if (this.#following !== id) return;
      this.#following = null;
      this.watched.set(null);
      if (this.#socket.connected) this.#socket.emit("unwatch", {});
    };
  }

  /** Takes a dialog as it was fetched, if it is the one that is followed and not older. */
  take(dialog: DialogOut): void {
    if (dialog.id !== this.#following) return;
    const known = this.watched.value;
    if (known !== null && known.dialog.now > dialog.now) return;
    this.#clock.sync(dialog.now);
    this.watched.set({ dialog, typing: known?.typing ?? {} });
  }

  /** Hears what has changed; null after a reconnection, when anything may have. */
  onChanged(heard: (what: What | null) => void): () => void {
    this.#changes.add(heard);
    return () => void this.#changes.delete(heard);
  }

  onChart(heard: (chart: Chart) => void): () => void {
    this.#charts.add(heard);
    return () => void this.#charts.delete(heard);
  }

  /** For measuring: how many listen to something of this connection. */
  get listeners(): number {
    const stores = [this.link, this.now, this.board, this.watched];
    return stores.reduce((sum, each) => sum + each.watchers, this.#changes.size + this.#charts.size);
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on("connect", () => {
      const again = this.link.value.state === "lost" || this.link.value.state === "waits";
      this.link.set({ state: "online" });
      this.#heardAt = Date.now();
      void this.#watch();
      if (again) this.#tell(null);
    });
    socket.on("disconnect", (reason) => {
      this.#lose();
      // The client comes back by itself, except when the server has closed the socket in order.
      if (reason === "io server disconnect") this.#reconnect();
    });
    socket.on("connect_error", (error) => {
      const data = (error as Error & { data?: unknown }).data;
      if (isCode(data, "signed_out")) return this.onSignedOut();
      this.#lose();
      if (!socket.active) this.#reconnect();
    });
    socket.on("now", (now: Now) => {
      this.#clock.sync(now.at);
      this.now.set(now);
      this.#heardAt = Date.now();
      if (this.link.value.state !== "waits") return;
      this.link.set({ state: "online" });
      void this.#watch();
      this.#tell(null);
    });
    socket.on("waits", () => this.#wait(Date.now()));
    socket.on("board", (board: Board) => {
      this.#heardAt = Date.now();
      this.board.set(afterBoard(this.board.value, board));
    });
    socket.on("chart", (chart: Chart) => {
      this.#heardAt = Date.now();
      for (const heard of [...this.#charts]) heard(chart);
    });
    socket.on("entries", (happened: Happened) => this.#onHappened(happened));
    socket.on("typing", (seen: TypingSeen) => {
      this.watched.set(afterTyping(this.watched.value, seen, this.#clock.now()));
    });
    socket.on("changed", (changed: Changed) => this.#tell(changed.what));
    socket.on("stopped", () => this.onSignedOut());
  }

  #onHappened(happened: Happened): void {
    const { value } = this.watched;
    const next = value && afterHappened(value, happened);
    if (next === "gap") void this.#watch();
    else if (next) this.watched.set(next);
  }

  /** Asks for the whole dialog, which is also how what was missed comes. */
  async #watch(): Promise<void> {
    const id = this.#following;
    clearTimeout(this.#again);
    if (id === null || !this.#socket.connected) return;
    try {
      const answer: unknown = await this.#socket
        .timeout(ACK_WITHIN_MS)
        .emitWithAck("watch", { dialog_id: id });
      if (isDialog(answer)) this.take(answer);
    } catch {
      if (this.#following === id) this.#again = setTimeout(() => void this.#watch(), AGAIN_MS);
    }
  }

  #tell(what: What | null): void {
    for (const heard of [...this.#changes]) heard(what);
  }

  #wait(since: number): void {
    if (this.link.value.state === "online") this.link.set({ state: "waits", since });
  }

  #lose(): void {
    if (this.#closed || this.link.value.state === "lost") return;
    this.link.set({ state: "lost", since: Date.now() });
  }

  #reconnect(): void {
    if (this.#closed) return;
    setTimeout(() => !this.#closed && this.#socket.connect(), AGAIN_MS);
  }

  /** The network is back, or somebody looks at the page again: do not sit out a long pause. */
  readonly #hurry = (): void => {
    if (this.#closed || this.#socket.connected || document.hidden) return;
    this.#socket.disconnect().connect();
  };
}

const isDialog = (answer: unknown): answer is DialogOut =>
  typeof answer === "object" && answer !== null && "entries" in answer;

const isCode = (data: unknown, code: string): boolean =>
  typeof data === "object" && data !== null && "code" in data && data.code === code;
