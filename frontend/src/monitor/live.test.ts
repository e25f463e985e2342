import type { io } from "socket.io-client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { board, live as dialog, now, NOW, standing } from "../gallery/monitor/data";
import { Clock } from "./clock";
import { Live } from "./live";

/** Stands for socket.io's client: records what is sent, and lets a test play the server. */
class FakeSocket {
  connected = false;
  active = true;
  connects = 0;
  sent: [string, unknown][] = [];
  answer: () => Promise<unknown> = () => Promise.resolve(dialog);
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
  emit(event: string, payload: unknown): void {
    this.sent.push([event, payload]);
  }
  timeout() {
    return {
      emitWithAck: (event: string, payload: unknown) => {
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

describe("the live connection", () => {
  let socket: FakeSocket;
  let opened: [string, { auth: (take: (auth: unknown) => void) => void }];
  let clock: Clock;
  let live: Live;

  beforeEach(() => {
    vi.useFakeTimers();
    socket = new FakeSocket();
    clock = new Clock(() => 5);
    const open = ((...given: unknown[]) => {
      opened = given as typeof opened;
      return socket;
    }) as unknown as typeof io;
    live = new Live(() => "token", clock, open);
  });
  afterEach(() => {
    live.close();
    vi.useRealTimers();
  });
  const settle = () => vi.advanceTimersByTimeAsync(0);
  const watches = () => socket.sent.filter(([event]) => event === "watch").length;

  it("opens the team's namespace, with the token of the moment", () => {
    expect(opened[0]).toBe("/monitor");
    const auth = vi.fn();
    opened[1].auth(auth);
    expect(auth).toHaveBeenCalledWith({ csrf: "token" });
  });

  it("keeps what stands now, by the server's clock", () => {
    socket.serve("connect");
    socket.serve("now", now);
    socket.serve("board", board(3));
    expect(live.now.value).toBe(now);
    expect(live.board.value.size).toBe(3);
    expect(clock.now()).toBe(NOW);
  });

  it("says since when it is lost, and once it is back that anything may have changed", () => {
    const heard = vi.fn();
    live.onChanged(heard);
    socket.serve("connect");
    expect(heard).not.toHaveBeenCalled();
    vi.setSystemTime(7_000);
    socket.serve("disconnect", "transport close");
    vi.setSystemTime(9_000);
    socket.serve("connect_error", new Error("timeout"));
    expect(live.link.value).toEqual({ state: "lost", since: 7_000 });
    socket.serve("connect");
    expect(live.link.value).toEqual({ state: "online" });
    expect(heard.mock.calls).toEqual([[null]]);
    socket.serve("changed", { what: "ledger" });
    expect(heard).toHaveBeenLastCalledWith("ledger");
  });

  it("follows one dialog, asks for it again after a reconnection and after a gap", async () => {
    socket.serve("connect");
    const leave = live.follow(dialog.id);
    await settle();
    expect(live.watched.value?.dialog).toBe(dialog);
    const last = dialog.entries.at(-1)!.seq;
    const tell = (seq: number) =>
      socket.serve("entries", { dialog_id: dialog.id, now: NOW + seq, entries: [{ seq, at: NOW, kind: "away", role: "answerer" }], standing: standing() });
    tell(last + 1);
    expect(live.watched.value?.dialog.entries.at(-1)?.seq).toBe(last + 1);
    expect(watches()).toBe(1);
    tell(last + 5);
    await settle();
    expect(watches()).toBe(2);
    socket.serve("disconnect", "transport close");
    socket.serve("connect");
    await settle();
    expect(watches()).toBe(3);
    leave();
    expect(live.watched.value).toBeNull();
    expect(socket.sent.at(-1)).toEqual(["unwatch", {}]);
    tell(last + 6);
    expect(live.watched.value).toBeNull();
  });

  it("asks again for a dialog that did not come, until nobody follows it", async () => {
    socket.answer = () => Promise.reject(new Error("operation has timed out"));
    socket.serve("connect");
    const leave = live.follow(dialog.id);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(watches()).toBe(2);
    leave();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(watches()).toBe(2);
  });

  it("does not take a dialog that is older than what it knows, or another one", async () => {
    socket.serve("connect");
    live.follow(dialog.id);
    await settle();
    live.take({ ...dialog, now: dialog.now - 1, caption: "old" });
    live.take({ ...dialog, id: "other" });
    expect(live.watched.value?.dialog).toBe(dialog);
    live.take({ ...dialog, now: dialog.now + 1, caption: "new" });
    expect(live.watched.value?.dialog.caption).toBe("new");
  });

  it("says that it is not live while the server knows nothing new, or is silent", () => {
    const heard = vi.fn();
    live.onChanged(heard);
    socket.serve("connect");
    socket.serve("now", now);
    socket.serve("waits", { error: "The database does not answer.", code: "try_again", retry_after_s: null });
    expect(live.link.value).toEqual({ state: "waits", since: Date.now() });
    expect(heard).not.toHaveBeenCalled();
    socket.serve("now", now);
    expect(live.link.value).toEqual({ state: "online" });
    expect(heard.mock.calls).toEqual([[null]]);
    const since = Date.now();
    vi.advanceTimersByTime(26_000);
    expect(live.link.value).toEqual({ state: "waits", since });
    socket.serve("disconnect", "ping timeout");
    expect(live.link.value.state).toBe("lost");
    vi.advanceTimersByTime(60_000);
    expect(live.link.value.state).toBe("lost");
  });

  it("keeps nobody who has stopped listening", () => {
    const stop = [live.onChanged(vi.fn()), live.onChart(vi.fn()), live.now.watch(vi.fn()), live.follow(dialog.id)];
    expect(live.listeners).toBe(3);
    for (const each of stop) each();
    expect(live.listeners).toBe(0);
  });

  it("leaves for the sign-in when the server no longer knows who this is", () => {
    live.onSignedOut = vi.fn();
    socket.active = false;
    socket.serve("connect_error", Object.assign(new Error("x"), { data: { error: "No.", code: "signed_out" } }));
    vi.advanceTimersByTime(60_000);
    expect(live.onSignedOut).toHaveBeenCalledTimes(1);
    expect(socket.connects).toBe(1);
  });

  it("leaves at once when the server says that this session is over", () => {
    live.onSignedOut = vi.fn();
    socket.serve("connect");
    socket.serve("stopped", { error: "You are signed out.", code: "signed_out" });
    expect(live.onSignedOut).toHaveBeenCalledTimes(1);
  });

  it("comes back after the server has closed it in order, and at once when the network is back", () => {
    socket.serve("connect");
    socket.serve("disconnect", "io server disconnect");
    vi.advanceTimersByTime(2_000);
    expect(socket.connects).toBe(2);
    dispatchEvent(new Event("online"));
    expect(socket.connects).toBe(3);
    live.close();
    vi.advanceTimersByTime(60_000);
    dispatchEvent(new Event("online"));
    expect(socket.connects).toBe(3);
    expect(live.link.value.state).toBe("lost");
  });
});
