import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Connection } from "./connection";
import { live as screens } from "../gallery/fixtures";
import { Live } from "./live";
import { DraftShelf } from "./storage";

beforeEach(() => localStorage.clear());

describe("what leaves the page", () => {
  it("holds no half of a character, wherever people write", async () => {
    const request = vi.fn(async () => ({ ok: true, value: null }));
    const send = vi.fn(async () => ({ ok: true, value: { seq: 2 } }));
    const connection = { request, send, typing: vi.fn(), close: vi.fn() } as unknown as Connection;
    let tell: Parameters<ConstructorParameters<typeof Live>[3] & object>[1] = () => undefined;
    const live = new Live("token", { turn_limit_s: 180 }, new DraftShelf(""), (_, told) => {
      tell = told;
      return connection;
    });
    const state = screens["ask-first"]?.("en").state;
    tell({ kind: "connected" });
    tell({ kind: "state", state: state!, at: 0 });

    live.typed("Is it a \ud83d?", { pasted: false, removed: false });
    live.submit();
    expect(send).toHaveBeenCalledWith(expect.objectContaining({ parts: [{ text: "Is it a \ufffd?" }] }));

    await live.report("bad \ude00");
    await live.leave("\ud83d");
    await live.finish("fine 😀\ud83d");
    expect(request.mock.calls).toEqual([
      ["report", { text: "bad \ufffd" }],
      ["leave", { reason: "\ufffd" }],
      ["finish", { feedback: "fine 😀\ufffd" }],
    ]);
    live.close();
  });
});
