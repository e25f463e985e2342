import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { io } from "socket.io-client";
import { Connection } from "./connection";
import type { Happening } from "./machine/model";

/** Stands for socket.io's client: records what is sent, and lets a test play the server. */
class FakeSocket {
  connected = false;
  active = true;
  connects = 0;
  sent: [string, unknown][] = [];
  answer: () => Promise<unknown> = () => Promise.resolve({ ok: true });
  closed = 0;
  readonly io = { engine: { close: () => void (this.closed += 1) } };
  readonly volatile = { emit: (event: string, payload: unknown) => this.sent.push([event, payload]) };
  readonly #handlers = new Map<string, (...args: unknown[]) => void>();

  on(event: string, handler: (...args: never[]) => void): this {
    this.#handlers.set(event, handler as (...args: unknown[]) => void);
    return this;
  }
  connect(): this {
    this.connects += 1;
    return this;
  }
  disconnect(): this {
    this.connected = false;
    return this;
  }
  timeout(): { emitWithAck: (event: string, payload: unknown) => Promise<unknown> } {
    return {
      emitWithAck: (event, payload) => {
        this.sent.push([event, payload]);
        return this.answer();
      },
    };
  }
  serve(event: string, ...args: unknown[]): void {
    if (event === "connect") this.connected = true;
    if (event === "disconnect") this.connected = false;
    this.#handlers.get(event)?.(...args);
  }
}

describe("the connection", () => {
  let socket: FakeSocket;
  let options: unknown;
  let told: Happening[];
  let connection: Connection;

  beforeEach(() => {
    vi.useFakeTimers();
    socket = new FakeSocket();
    told = [];
    const open = ((given: unknown) => {
      options = given;
      return socket;
    }) as unknown as typeof io;
    connection = new Connection("token", (happening) => told.push(happening), () => 7, open);
  });
  afterEach(() => {
    connection.close();
    vi.useRealTimers();
  });

  const kinds = () => told.map((happening) => happening.kind);
  const refuse = (code: string) =>
    socket.serve("connect_error", Object.assign(new Error(code), { data: { error: "No.", code } }));

  it("opens a websocket with the token, and nothing else", () => {
    expect(options).toMatchObject({ transports: ["websocket"], auth: { token: "token" } });
    expect(socket.connects).toBe(1);
  });

  it("answers a heartbeat at once, with or without a payload before the callback", () => {
    const acknowledge = vi.fn();
    socket.serve("heartbeat", {}, acknowledge);
    socket.serve("heartbeat", acknowledge);
    expect(acknowledge).toHaveBeenCalledTimes(2);
  });

  it("gives up a line on which no heartbeat comes any more", () => {
    socket.serve("connect");
    vi.advanceTimersByTime(120_000);
    expect(socket.closed).toBe(0);
    socket.serve("heartbeat", {}, () => undefined);
    vi.advanceTimersByTime(30_000);
    expect(socket.closed).toBe(1);
  });

  it("stops for good on a final refusal, and says why", () => {
    socket.active = false;
    refuse("bad_token");
    vi.advanceTimersByTime(60_000);
    expect(told).toEqual([{ kind: "stopped", stopped: { error: "No.", code: "bad_token" } }]);
    expect(socket.connects).toBe(1);
  });

  it("tries again after a passing refusal", () => {
    socket.active = false;
    refuse("try_again");
    vi.advanceTimersByTime(1_000);
    expect(kinds()).toEqual(["disconnected"]);
    expect(socket.connects).toBe(2);
  });

  it("comes back after the server has closed the socket", () => {
    socket.serve("connect");
    socket.serve("disconnect", "io server disconnect");
    vi.advanceTimersByTime(1_000);
    expect(kinds()).toEqual(["connected", "disconnected"]);
    expect(socket.connects).toBe(2);
  });

  it("leaves other disconnections to the client, which comes back by itself", () => {
    socket.serve("connect");
    socket.serve("disconnect", "transport close");
    vi.advanceTimersByTime(60_000);
    expect(socket.connects).toBe(1);
  });

  it("yields to another tab, and takes the arrival back when asked", () => {
    socket.serve("connect");
    socket.serve("stopped", { error: "Elsewhere.", code: "replaced" });
    socket.serve("disconnect", "io server disconnect");
    vi.advanceTimersByTime(60_000);
    expect(kinds()).toEqual(["connected", "stopped"]);
    connection.resume();
    expect(socket.connects).toBe(2);
    expect(kinds().at(-1)).toBe("continued");
  });

  it("reconnects at once when the network is back", () => {
    socket.serve("connect");
    socket.serve("disconnect", "transport close");
    window.dispatchEvent(new Event("online"));
    expect(socket.connects).toBe(2);
  });

  it("never queues a request", async () => {
    expect(await connection.request("ready", {})).toEqual({ ok: false, refused: null });
    connection.typing(true);
    expect(socket.sent).toEqual([]);
  });

  it("tells an answer from a refusal, and both from silence", async () => {
    socket.serve("connect");
    expect(await connection.sync(3)).toEqual({ ok: true, value: { ok: true } });
    const refused = { error: "Wait.", code: "not_your_turn" };
    socket.answer = () => Promise.resolve(refused);
    expect(await connection.request("ready", {})).toEqual({ ok: false, refused });
    socket.answer = () => Promise.reject(new Error("operation has timed out"));
    expect(await connection.request("ready", {})).toEqual({ ok: false, refused: null });
  });

  it("passes everything on with the time it came", () => {
    socket.serve("message", { seq: 2, parts: [] });
    socket.serve("typing", { on: true });
    expect(told).toMatchObject([
      { kind: "frame", frame: { seq: 2 }, at: 7 },
      { kind: "partner-typing", on: true, at: 7 },
    ]);
  });
});
