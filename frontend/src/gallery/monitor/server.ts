/** Stands for the server: answers every address from the made-up study, and plays the socket. */

import type { io } from "socket.io-client";
import type { Board, Chart, Now } from "../../generated/monitor";
import * as data from "./data";

export type Answers = Readonly<Record<string, unknown>>;

/** An answer that is a refusal. */
export class Refusal {
  constructor(
    readonly status: number,
    readonly error: string,
    readonly code: string,
    readonly retryAfter = "",
  ) {}
}

/** Never answers. */
export const SILENCE = Symbol("silence");

const USUAL: Answers = {
  me: data.me,
  "signed-in": { me: null, study: "Talk about a picture" },
  now: data.now,
  chart: (query: URLSearchParams) => data.chart(Number(query.get("hours"))),
  dialogs: { rows: data.dialogRows, total: 1_204, next: "c2" },
  "dialogs/*": data.live,
  workers: { rows: data.workerRows, total: 318, next: "c2" },
  "workers/*": data.worker,
  hits: data.hits,
  chains: data.chains,
  ledger: data.ledger,
  requests: data.requests,
  flags: data.flags,
  study: data.study,
  told: { rows: data.told, total: 3, next: null },
  audit: { rows: data.auditRows, total: 211, next: "c2" },
  "review/stats": data.stats,
  "review/next": { dialog: data.complete, until: data.NOW + 600, second: false, waiting: 12 },
  "review/*": { request: null, decides: true, pay: [] },
  "review/bulk": { dialogs: 23, payments: 46, cents: 6_900 },
};

/** `fetch`, with these answers before the usual ones; what is changed is done. */
export function fakeFetch(answers: Answers): typeof fetch {
  return (input, init) => {
    const url = new URL(String(input), "http://gallery");
    const path = url.pathname.replace(/^\/api\/(monitor\/)?/, "").replace(/^sign-in$/, init?.method === "POST" ? "sign-in" : "signed-in");
    const name = [path, path.replace(/\/[^/]+$/, "/*")].find((each) => each in answers || each in USUAL);
    const found = name === undefined ? {} : (answers[name] ?? USUAL[name]);
    if (found === SILENCE) return new Promise(() => undefined);
    if (found instanceof Refusal) {
      const { status, error, code, retryAfter } = found;
      return Promise.resolve(Response.json({ error, code }, { status, headers: { "Retry-After": retryAfter } }));
    }
    const body: unknown = typeof found === "function" ? (found as (query: URLSearchParams) => unknown)(url.searchParams) : found;
    return Promise.resolve(Response.json(body));
  };
}

export interface Told {
  link?: "online" | "connecting" | "lost";
  now?: Now;
  board?: Board;
  chart?: Chart;
  typing?: boolean;
  /** Goes on telling what changes, as on a busy day: for measuring. */
  busy?: boolean;
}

/** Every quarter of a second a tenth of the dialogs have moved on; every second the rest is told. */
function beBusy(tell: (event: string, ...args: unknown[]) => void): void {
  const { rows } = data.board(200);
  let beats = 0;
  setInterval(() => {
    beats += 1;
    const now = data.NOW + performance.now() / 1_000;
    const changed = rows.filter((_, n) => (n + beats) % 10 === 0).map((row) => ({ ...row, turn_at: now }));
    tell("board", { now, all: false, rows: changed, over: [] });
    if (beats % 4 !== 0) return;
    tell("now", { ...data.now, at: now, done: data.now.done + beats });
    const { step_s, points } = data.chart(1);
    tell("chart", { step_s, points: points.slice(-2).map((point) => ({ ...point, at: point.at + Math.floor(beats / 240) * 60 })) });
  }, 250);
}

/** socket.io's client as far as the page uses it. */
export function fakeSocket(told: Told, answers: Answers): typeof io {
  const heard = new Map<string, (...args: unknown[]) => void>();
  const tell = (event: string, ...args: unknown[]) => heard.get(event)?.(...args);
  const socket = {
    connected: false,
    active: true,
    on(event: string, hear: (...args: unknown[]) => void) {
      heard.set(event, hear);
      return socket;
    },
    connect() {
      queueMicrotask(() => {
        if (told.link === "connecting") return;
        socket.connected = true;
        tell("connect");
        tell("now", told.now ?? data.now);
        tell("board", told.board ?? data.board(31));
        if (told.busy) beBusy(tell);
        if (told.link === "lost") {
          socket.connected = false;
          tell("disconnect", "transport close");
        }
      });
      return socket;
    },
    disconnect: () => socket,
    emit: () => socket,
    timeout: () => ({
      emitWithAck: (_event: string, { dialog_id }: { dialog_id: string }) => {
        if (told.typing) setTimeout(() => tell("typing", { dialog_id, role: "answerer", on: true }));
        return Promise.resolve(answers["dialogs/*"] ?? USUAL["dialogs/*"]);
      },
    }),
  };
  return (() => socket) as unknown as typeof io;
}
