/** The socket: turns what the server says into happenings, and requests into replies. */

import { io, type Socket } from "socket.io-client";
import type { Frame, Happening } from "./machine/model";
import type {
  Events,
  Lobby,
  Match,
  Refused,
  Released,
  SendMessage,
  Sent,
  State,
  Stopped,
} from "../generated/wire";

/** `refused` is null when no answer came: offline, or nothing within the time limit. */
export type Reply<T = unknown> = { ok: true; value: T } | { ok: false; refused: Refused | null };

export type Request =
  | ["ready" | "start" | "decline" | "stop_waiting" | "pair_again", Record<string, never>]
  | ["leave", { reason: string }]
  | ["finish", { feedback: string }]
  | ["report", { text: string }]
  | ["message", SendMessage]
  | ["sync", { after_seq: number }];

const ACK_TIMEOUT_MS = 10_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 5_000;

/** Heartbeats come every few seconds; a line this long without one is dead, whatever it says. */
const SILENCE_MS = 30_000;

/** Refusals of a connection that time may heal. Every other one is final. */
const PASSING: ReadonlySet<string> = new Set(["try_again", "not_now", "study_paused"]);

export class Connection {
  readonly #socket: Socket;
  readonly #tell: (happening: Happening) => void;
  readonly #now: () => number;
  #final = false;
  #attempts = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #silenceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(token: string, tell: (happening: Happening) => void, now: () => number, open = io) {
    this.#tell = tell;
    this.#now = now;
    this.#socket = open({
      transports: ["websocket"],
      auth: { token },
      reconnectionDelay: FIRST_RETRY_MS,
      reconnectionDelayMax: LAST_RETRY_MS,
      autoConnect: false,
    });
    this.#listen();
    window.addEventListener("online", this.#hurry);
    document.addEventListener("visibilitychange", this.#hurry);
    this.#socket.connect();
  }

  /** Takes the arrival back from another tab: newest wins. */
  resume(): void {
    this.#final = false;
    this.#tell({ kind: "continued" });
    this.#socket.connect();
  }

  close(): void {
    this.#final = true;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#silenceTimer);
    window.removeEventListener("online", this.#hurry);
    document.removeEventListener("visibilitychange", this.#hurry);
    this.#socket.disconnect();
  }

  /** Never queues: what is not sent now is reported as unanswered, and the page decides. */
  async request<T = unknown>(...[event, payload]: Request): Promise<Reply<T>> {
    if (!this.#socket.connected) return { ok: false, refused: null };
    try {
      const answer: unknown = await this.#socket.timeout(ACK_TIMEOUT_MS).emitWithAck(event, payload);
      return isRefused(answer) ? { ok: false, refused: answer } : { ok: true, value: answer as T };
    } catch {
      return { ok: false, refused: null };
    }
  }

  send(message: SendMessage): Promise<Reply<Sent>> {
    return this.request<Sent>("message", message);
  }

  sync(after: number): Promise<Reply<Events>> {
    return this.request<Events>("sync", { after_seq: after });
  }

  typing(on: boolean): void {
    if (this.#socket.connected) this.#socket.volatile.emit("typing", { on });
  }

  #listen(): void {
    const socket = this.#socket;
    const on = <T>(event: string, make: (payload: T) => Happening) =>
      socket.on(event, (payload: T) => this.#tell(make(payload)));
    const frame = (payload: Frame): Happening => ({ kind: "frame", frame: payload, at: this.#now() });

    socket.on("connect", () => {
      this.#attempts = 0;
      this.#tell({ kind: "connected" });
    });
    socket.on("disconnect", (reason) => this.#onDisconnect(reason));
    socket.on("connect_error", (error) => this.#onConnectError(error));
    socket.on("heartbeat", (...args: unknown[]) => this.#onHeartbeat(args));
    socket.on("stopped", (stopped: Stopped) => this.#stop(stopped));
    on<State>("state", (state) => ({ kind: "state", state, at: this.#now() }));
    on<Frame>("message", frame);
    on<Frame>("partner", frame);
    on<Frame>("phase", frame);
    on<Frame>("told", frame);
    on<Frame>("extended", frame);
    on<Lobby>("lobby", (lobby) => ({ kind: "lobby", lobby, at: this.#now() }));
    on<Match>("match", (match) => ({ kind: "match", match, at: this.#now() }));
    on<Released>("released", (released) => ({ kind: "released", released }));
    on<{ on: boolean }>("typing", (t) => ({ kind: "partner-typing", on: t.on, at: this.#now() }));
  }

  #onHeartbeat(args: unknown[]): void {
    const acknowledge = args.at(-1);
    if (typeof acknowledge === "function") acknowledge();
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = setTimeout(() => this.#socket.io.engine?.close(), SILENCE_MS);
  }

  #onDisconnect(reason: string): void {
    clearTimeout(this.#silenceTimer);
    if (this.#final) return;
    this.#tell({ kind: "disconnected" });
    // The client comes back by itself, except when the server has closed the socket in order.
    if (reason === "io server disconnect") this.#retry();
  }

  #onConnectError(error: Error): void {
    if (this.#final) return;
    const data: unknown = (error as Error & { data?: unknown }).data;
    if (isRefused(data) && !PASSING.has(data.code)) {
      this.#stop(data as Stopped);
      return;
    }
    this.#tell({ kind: "disconnected" });
    if (!this.#socket.active) this.#retry();
  }

  #stop(stopped: Stopped): void {
    this.#final = true;
    clearTimeout(this.#retryTimer);
    this.#socket.disconnect();
    this.#tell({ kind: "stopped", stopped });
  }

  #retry(): void {
    const backoff = Math.min(FIRST_RETRY_MS * 2 ** this.#attempts, LAST_RETRY_MS);
    this.#attempts += 1;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.#socket.connect(), backoff * (0.5 + Math.random()));
  }

  /** The network is back, or somebody looks at the page again: do not sit out a long pause. */
  readonly #hurry = (): void => {
    if (this.#final || this.#socket.connected || document.hidden) return;
    clearTimeout(this.#retryTimer);
    this.#socket.disconnect().connect();
  };
}

export function isRefused(answer: unknown): answer is Refused {
  return typeof answer === "object" && answer !== null && "error" in answer && "code" in answer;
}
