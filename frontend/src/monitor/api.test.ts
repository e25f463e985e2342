import { describe, expect, it, vi } from "vitest";
import { me } from "../gallery/monitor/data";
import { Api } from "./api";

interface Asked {
  url: string;
  init: RequestInit;
}

function served(...answers: (Response | Error)[]): { api: Api; asked: Asked[] } {
  const asked: Asked[] = [];
  const fetcher = (url: string, init: RequestInit) => {
    asked.push({ url, init });
    const answer = answers.shift() ?? Response.json({});
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const api = new Api(fetcher as typeof fetch, () => Promise.resolve());
  return { api, asked };
}
const refused = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ error: "No.", code }, { status, headers });
const token = ({ init }: Asked) => new Headers(init.headers).get("X-CSRF-Token");

describe("the api", () => {
  it("sends the token that it was given with every change, and with nothing else", async () => {
    const { api, asked } = served(Response.json(me));
    await api.me();
    await api.dialog("d/1");
    await api.note("w1", { key: "key-of-a-page", text: "Hello" });
    expect(asked.map(({ url }) => url)).toEqual(["/api/monitor/me", "/api/monitor/dialogs/d%2F1", "/api/monitor/workers/w1/note"]);
    expect(asked.map(token)).toEqual([null, null, "token"]);
    expect(asked[2]?.init).toMatchObject({ method: "POST", body: '{"key":"key-of-a-page","text":"Hello"}' });
  });

  it("tells a refusal in the server's own sentence", async () => {
    const { api } = served(refused(409, "conflict"), refused(429, "too_many", { "Retry-After": "12" }));
    expect(await api.now()).toEqual({ ok: false, status: 409, error: "No.", code: "conflict", retryAfter: null });
    expect(await api.signIn({ name: "a", password: "b" })).toMatchObject({ status: 429, retryAfter: 12 });
  });

  it("has a sentence of its own for silence and for what is not ours", async () => {
    const { api } = served(new TypeError("failed"), new Response("<html>", { status: 502 }), new Response("<html>"));
    for (const _ of [1, 2, 3]) expect(await api.now()).toMatchObject({ ok: false, error: expect.stringMatching(/server/) as string });
  });

  it("sends once more what is done once, when nobody knows whether it was", async () => {
    const note = { key: "key-of-a-page", text: "Hello" };
    for (const lost of [new TypeError("failed"), new Response("<html>", { status: 502 }), new Response("<html>", { status: 504 })]) {
      const { api, asked } = served(lost);
      expect((await api.note("w", note)).ok).toBe(true);
      expect(asked.map(({ init }) => init.body)).toEqual([JSON.stringify(note), JSON.stringify(note)]);
    }
    const { api, asked } = served(...[1, 2, 3].map(() => new TypeError("failed")));
    expect((await api.note("w", note)).ok).toBe(false);
    expect(asked).toHaveLength(2);
  });

  it("sends once only what the server has refused, and what would be done twice", async () => {
    const { api, asked } = served(refused(409, "conflict"), refused(503, "try_again"));
    await api.judge("d", { verdict: null });
    await api.pause();
    expect(asked).toHaveLength(2);
    const { api: other, asked: tries } = served(...[1, 2, 3, 4].map(() => new TypeError("failed")));
    await other.undo(null);
    await other.exclude("w", "Rude");
    await other.approve({ payments: [{ arrival_id: "a", reason: "dialog" }] });
    await other.now();
    expect(tries).toHaveLength(4);
  });

  it("says so when the server no longer knows who this is, but not for a wrong password", async () => {
    const { api } = served(refused(401, "signed_out"), refused(401, "wrong"));
    api.onSignedOut = vi.fn();
    await api.now();
    expect(api.onSignedOut).toHaveBeenCalledTimes(1);
    await api.signIn({ name: "a", password: "b" });
    expect(api.onSignedOut).toHaveBeenCalledTimes(1);
  });

  it("takes the newer token when another tab has signed in, and tries once more", async () => {
    const { api, asked } = served(Response.json(me), refused(403, "bad_csrf"), Response.json({ ...me, csrf: "newer" }), Response.json({}));
    await api.me();
    expect((await api.pause()).ok).toBe(true);
    expect(asked.map(token)).toEqual([null, "token", null, "newer"]);
    const { api: other, asked: tries } = served(refused(403, "bad_csrf"), Response.json(me), refused(403, "bad_csrf"));
    expect((await other.pause()).ok).toBe(false);
    expect(tries).toHaveLength(3);
  });
});
