import { describe, expect, it } from "vitest";
import type { Dialog, MessageOut, Role, State } from "../../generated/wire";
import { entries } from "./dialog";
import { EMPTY_DRAFT, initialModel, mayWrite, type Effect, type Frame, type Happening, type Model } from "./model";
import { reduce } from "./reduce";

const LIMITS = { turn_limit_s: 180 };
const AT = 5;
const NOW = 1_005;

function message(seq: number, role: Role, key: string | null = null, round = 1): MessageOut {
  return { seq, round, role, parts: [{ text: `text ${seq}` }], at: NOW, key };
}

function dialog(change: Partial<Dialog> = {}): Dialog {
  return {
    role: "questioner",
    phase: "paired",
    item: { caption: "A dog.", picture: null, blurred: false, width: null, height: null },
    round: 1,
    rounds: 10,
    turn: "questioner",
    your_turn: true,
    sent: 0,
    messages: [],
    told: [],
    extended: [],
    partner: { present: true, left: false, grace_ends_at: null },
    turn_ends_at: NOW + 180,
    may_pair_again: false,
    pays: 150,
    max_characters: 500,
    ...change,
  };
}

function talking(seq: number, change: Partial<Dialog> = {}): State {
  return { stage: "talking", seq, now: NOW, dialog: dialog(change) };
}

/** Runs happenings in order and gathers every effect. */
function run(model: Model, ...happenings: Happening[]): { model: Model; effects: Effect[] } {
  const effects: Effect[] = [];
  for (const happening of happenings) {
    const step = reduce(model, happening, LIMITS);
    model = step.model;
    effects.push(...step.effects);
  }
  return { model, effects };
}

const fresh = () => initialModel({ draft: EMPTY_DRAFT, pending: null });
const state = (s: State): Happening => ({ kind: "state", state: s, at: AT });
const frame = (f: Frame): Happening => ({ kind: "frame", frame: f, at: AT });
const typed = (text: string, change = {}): Happening => ({
  kind: "typed",
  text,
  pasted: false,
  removed: false,
  at: AT,
  ...change,
});
const matched: State = {
  stage: "matched",
  seq: 0,
  now: NOW,
  match: { start_by: NOW + 20, started: false, now: NOW },
};
const online = (s: State = talking(1)) => run(fresh(), { kind: "connected" }, state(s)).model;
const seqs = (model: Model) => model.state?.dialog?.messages.map((m) => m.seq);
const asking = (text = "Is it day?", key = "key-0001") =>
  run(online(), typed(text), { kind: "submitted", key, at: AT + 2 });

describe("frames", () => {
  it("are applied in order and move the turn", () => {
    const { model, effects } = run(online(), frame(message(2, "questioner")));
    expect(model.state?.dialog).toMatchObject({ sent: 1, round: 1, turn: "answerer", your_turn: false });
    const next = run(model, frame(message(3, "answerer")));
    expect(next.model.state?.dialog).toMatchObject({ sent: 1, round: 2, your_turn: true });
    expect(next.model.state?.dialog?.turn_ends_at).toBe(NOW + 180);
    expect([...effects, ...next.effects]).toEqual([]);
  });

  it("that are old change nothing", () => {
    const { model } = run(online(), frame(message(2, "questioner")));
    expect(run(model, frame(message(2, "questioner")), frame(message(1, "answerer"))).model).toBe(model);
  });

  it("after a gap wait for the missing ones, and are then applied once", () => {
    const gap = run(online(), frame(message(4, "questioner", null, 2)), frame(message(5, "answerer", null, 2)));
    expect(gap.effects).toEqual([{ kind: "sync", after: 1 }]);
    expect(seqs(gap.model)).toEqual([]);
    const events = { seq: 4, frames: [message(2, "questioner"), message(3, "answerer"), message(4, "questioner", null, 2)] };
    const filled = run(gap.model, { kind: "synced", events, at: AT });
    expect(seqs(filled.model)).toEqual([2, 3, 4, 5]);
    expect(filled.model).toMatchObject({ seq: 5, catchingUp: false, held: [] });
    expect(filled.effects).toEqual([]);
  });

  it("that the page has no use for still count", () => {
    const gap = run(online(), frame(message(3, "questioner")));
    const events = { seq: 3, frames: [message(3, "questioner")] };
    const filled = run(gap.model, { kind: "synced", events, at: AT }, frame(message(4, "answerer")));
    expect(seqs(filled.model)).toEqual([3, 4]);
  });

  it("held beyond a second gap ask again", () => {
    const gap = run(online(), frame(message(3, "questioner")), frame(message(9, "answerer")));
    const answer = { seq: 4, frames: [message(2, "answerer"), message(3, "questioner"), message(4, "answerer")] };
    const filled = run(gap.model, { kind: "synced", events: answer, at: AT });
    expect(filled.effects).toEqual([{ kind: "sync", after: 4 }]);
    expect(filled.model.held.map((f) => f.seq)).toEqual([9]);
  });

  it("about the partner move the clock too", () => {
    const away = { seq: 2, present: false, grace_ends_at: NOW + 60, now: NOW + 1 };
    const { model } = run(online(), { kind: "frame", frame: away, at: AT });
    expect(model.state?.dialog?.partner).toEqual({ present: false, left: false, grace_ends_at: NOW + 60 });
    expect(model.clock).toBe(NOW + 1 - AT);
  });

  it("about the phase leave the person alone", () => {
    const { model } = run(online(), { kind: "frame", frame: { seq: 2, phase: "solo" }, at: AT });
    expect(model.state?.dialog).toMatchObject({ phase: "solo", your_turn: true });
    expect(model.state?.dialog?.partner.left).toBe(true);
  });

  it("count one's own messages when alone", () => {
    const alone = online(talking(1, { phase: "solo", sent: 8, round: 9 }));
    const { model } = run(alone, frame(message(2, "questioner", null, 9)));
    expect(model.state?.dialog).toMatchObject({ sent: 9, round: 10, your_turn: true });
    const last = run(model, frame(message(3, "questioner", null, 10)));
    expect(last.model.state?.dialog).toMatchObject({ sent: 10, turn: null, your_turn: false });
  });

  it("that come before any state are not lost track of", () => {
    const { effects } = run(fresh(), { kind: "connected" }, frame(message(7, "answerer")));
    expect(effects).toEqual([{ kind: "sync", after: 0 }]);
  });
});

describe("what the team does", () => {
  const told = (seq: number): Frame => ({ seq, text: `told ${seq}`, at: NOW });
  const extended = (seq: number, grace: number | null = null): Frame => ({
    seq,
    turn_ends_at: NOW + 300,
    grace_ends_at: grace,
    now: NOW + 2,
  });
  const kinds = (model: Model) => {
    const dialog = model.state?.dialog;
    return dialog && entries(dialog).map((entry) => `${entry.kind} ${entry.seq}`);
  };

  it("stands where it happened, and is no message", () => {
    const asked = run(online(), frame(message(2, "questioner")), frame(told(3))).model;
    expect(asked.state?.dialog).toMatchObject({ sent: 1, round: 1, turn: "answerer", your_turn: false });
    expect(asked.state?.dialog?.turn_ends_at).toBe(NOW + 180);
    const { model } = run(asked, frame(message(4, "answerer")), frame(extended(5)), frame(told(6)));
    expect(kinds(model)).toEqual(["said 2", "told 3", "said 4", "extended 5", "told 6"]);
    expect(model.state?.dialog).toMatchObject({ sent: 1, round: 2, your_turn: true });
    expect(seqs(model)).toEqual([2, 4]);
  });

  it("gives the turn, and the wait for the partner, a new end", () => {
    const away: Frame = { seq: 2, present: false, grace_ends_at: NOW + 20, now: NOW };
    const { model } = run(online(), frame(away), frame(extended(3, NOW + 62)));
    expect(model.state?.dialog).toMatchObject({
      turn_ends_at: NOW + 300,
      partner: { present: false, left: false, grace_ends_at: NOW + 62 },
    });
    expect(model.clock).toBe(NOW + 2 - AT);
  });

  it("comes once, by whatever way, and in a whole state too", () => {
    const gap = run(online(), frame(extended(4)));
    expect(gap.effects).toEqual([{ kind: "sync", after: 1 }]);
    const events = { seq: 4, frames: [told(2), { seq: 3, phase: "paired" } as const, extended(4)] };
    const filled = run(gap.model, { kind: "synced", events, at: AT }, frame(told(2)), frame(extended(4)));
    expect(kinds(filled.model)).toEqual(["told 2", "extended 4"]);
    const whole = talking(4, { told: [{ seq: 2, text: "told 2", at: NOW }], extended: [4] });
    expect(kinds(run(filled.model, state(whole)).model)).toEqual(["told 2", "extended 4"]);
  });

  it("leaves alone what is typed, sent and seen of the partner", () => {
    const busy = run(asking().model, typed("And"), { kind: "partner-typing", on: true, at: AT }).model;
    const { model } = run(busy, frame(told(2)), frame(extended(3)));
    expect(model.pending).toBe(busy.pending);
    expect(model.draft).toBe(busy.draft);
    expect(model.typingUntil).toBe(busy.typingUntil);
  });
});

describe("a state", () => {
  it("replaces everything", () => {
    const before = run(online(), frame(message(2, "questioner"))).model;
    const { model } = run(before, state(talking(9, { round: 4, messages: [message(8, "answerer")] })));
    expect(model).toMatchObject({ seq: 9, clock: NOW - AT });
    expect(seqs(model)).toEqual([8]);
  });

  it("that was read before a known frame asks for what it lacks", () => {
    const before = run(online(), frame(message(2, "questioner"))).model;
    expect(run(before, state(talking(1))).effects).toEqual([{ kind: "sync", after: 1 }]);
  });

  it("of a new dialog does not", () => {
    const old = online(talking(30));
    const lobby: State = { stage: "waiting", seq: 0, now: NOW };
    expect(run(old, state(lobby), state(talking(1))).effects).toEqual([]);
  });

  it("keeps what is being written, until there is no dialog for it", () => {
    const writing = run(online(), typed("Is it")).model;
    expect(run(writing, state(talking(1))).model.draft.text).toBe("Is it");
    expect(run(writing, state({ stage: "released", seq: 9, now: NOW })).model.draft).toBe(EMPTY_DRAFT);
  });
});

describe("one's own message", () => {
  it("is sent with how it was written", () => {
    const { model, effects } = run(
      online(),
      typed("Is it\nda"),
      typed("Is it d", { removed: true }),
      typed("Is it day? ", { pasted: true }),
      { kind: "submitted", key: "key-0001", at: AT + 3.2 },
    );
    const meta = { pasted: true, composed_ms: 3200, edits: 1 };
    const sent = { key: "key-0001", text: "Is it day?", meta, status: "sending" };
    expect(effects).toEqual([{ kind: "send", message: sent }]);
    expect(model).toMatchObject({ pending: sent, draft: EMPTY_DRAFT });
    expect(mayWrite(model)).toBe(false);
  });

  it("is confirmed by the frame with its key, before or after the acknowledgement", () => {
    const { model } = asking();
    const ack: Happening = { kind: "acknowledged", key: "key-0001", seq: 2 };
    const stored = frame(message(2, "questioner", "key-0001"));
    expect(run(model, ack).model.pending?.status).toBe("sent");
    for (const order of [[ack, stored], [stored, ack]]) {
      const { model: after } = run(model, ...order);
      expect(after.pending).toBeNull();
      expect(seqs(after)).toEqual([2]);
    }
  });

  it("is asked for when its frame does not come", () => {
    const { model } = run(asking().model, { kind: "acknowledged", key: "key-0001", seq: 2 });
    expect(run(model, { kind: "unseen", key: "key-0001" }).effects).toEqual([{ kind: "sync", after: 1 }]);
    expect(run(asking().model, { kind: "unseen", key: "key-0001" }).effects).toEqual([]);
  });

  it("goes out again with the same key after a lost connection", () => {
    const down = run(asking().model, { kind: "disconnected" }).model;
    expect(down.pending?.status).toBe("unsent");
    const { effects } = run(down, { kind: "connected" }, state(talking(1)));
    expect(effects).toMatchObject([{ kind: "send", message: { key: "key-0001" } }]);
  });

  it("does not go out again when the record has it", () => {
    const down = run(asking().model, { kind: "disconnected" }).model;
    const known = talking(2, { messages: [message(2, "questioner", "key-0001")], your_turn: false });
    const { model, effects } = run(down, { kind: "connected" }, state(known));
    expect(effects).toEqual([]);
    expect(model.pending).toBeNull();
  });

  it("can be written offline and waits", () => {
    const down = run(online(), { kind: "disconnected" }, typed("Is it day?")).model;
    const { model, effects } = run(down, { kind: "submitted", key: "key-0001", at: AT });
    expect(effects).toEqual([]);
    expect(model.pending?.status).toBe("unsent");
    expect(run(model, { kind: "retried" }).effects).toEqual([]);
  });

  it("can be sent again by hand after no answer came", () => {
    const { model } = run(asking().model, { kind: "unsent", key: "key-0001" });
    expect(run(model, { kind: "retried" }).effects).toMatchObject([{ message: { key: "key-0001" } }]);
  });

  it("comes back into the box with the reason when it is refused", () => {
    const refused = { code: "bad_text", error: "Too long." } as const;
    const { model } = run(asking().model, typed("And"), { kind: "refused", key: "key-0001", refused });
    expect(model).toMatchObject({ pending: null, refused, draft: { text: "Is it day? And" } });
    expect(run(model, typed("Is")).model.refused).toBeNull();
  });

  it("is not sent out of turn, blank, too long, or beside another", () => {
    const submitted: Happening = { kind: "submitted", key: "key-0002", at: AT };
    const theirs = online(talking(1, { your_turn: false, turn: "answerer" }));
    expect(run(theirs, typed("Hello"), submitted).effects).toEqual([]);
    expect(run(online(), typed(" \u200b "), submitted).effects).toEqual([]);
    expect(run(online(), typed("a".repeat(501)), submitted).effects).toEqual([]);
    expect(run(asking().model, typed("Two"), submitted).effects).toEqual([]);
  });

  it("is forgotten when the dialog is over", () => {
    const { model } = run(asking().model, state({ stage: "waiting", seq: 0, now: NOW }));
    expect(model.pending).toBeNull();
  });
});

describe("the rest", () => {
  it("takes a match only outside of a dialog", () => {
    const match: Happening = { kind: "match", match: { start_by: NOW + 20, started: false, now: NOW }, at: AT };
    const waiting: State = { stage: "waiting", seq: 0, now: NOW, missed_start: true };
    expect(run(online(waiting), match).model.state).toMatchObject({ stage: "matched", missed_start: false });
    expect(run(online(), match).model.state?.stage).toBe("talking");
  });

  it.each([
    ["partner", { stage: "waiting", seq: 0, now: NOW }],
    ["declined", { stage: "arrived", seq: 0, now: NOW }],
    [null, { stage: "arrived", seq: 0, now: NOW, missed_start: true }],
    [null, talking(1)],
  ] as [string | null, State][])("tells from %s how a match that led to nothing ended", (why, after) => {
    const { model } = run(online(matched), state(after));
    expect(model.unmatched).toBe(why);
    expect(run(model, state(after)).model.unmatched, "kept when the line comes back").toBe(why);
    expect(run(model, state(matched)).model.unmatched, "until the next match").toBeNull();
  });

  it("takes news of the lobby only while waiting", () => {
    const lobby = {
      waited_s: 3, estimate_s: null, position: 1, limit_s: 600,
      may_stop: false, stop_pays: 0, nothing_left: false, paused: false, now: NOW,
    };
    const news: Happening = { kind: "lobby", lobby, at: AT };
    expect(run(online({ stage: "waiting", seq: 0, now: NOW }), news).model.state?.lobby).toBe(lobby);
    expect(run(online(), news).model.state?.lobby).toBeUndefined();
  });

  it("lets signs of typing fade, and ends them with the message", () => {
    const { model } = run(online(), { kind: "partner-typing", on: true, at: AT });
    expect(model.typingUntil).toBeGreaterThan(AT + 5);
    expect(run(model, frame(message(2, "answerer"))).model.typingUntil).toBe(0);
    expect(run(model, { kind: "partner-typing", on: false, at: AT }).model.typingUntil).toBe(0);
  });

  it("stops for good and can go on", () => {
    const stopped = { code: "replaced", error: "Elsewhere." } as const;
    const { model } = run(online(), { kind: "stopped", stopped });
    expect(model).toMatchObject({ link: "stopped", stopped });
    expect(run(model, { kind: "continued" }).model).toMatchObject({ link: "connecting", stopped: null });
  });
});

describe("any order of frames, repeats and gaps", () => {
  it("ends with every message once, in order", () => {
    const all = Array.from({ length: 20 }, (_, index) =>
      message(index + 2, index % 2 === 0 ? "questioner" : "answerer", null, Math.floor(index / 2) + 1),
    );
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = generator(seed);
      let model = online();
      let asked: number | null = null;
      const step = (happening: Happening) => {
        const done = run(model, happening);
        model = done.model;
        for (const effect of done.effects) if (effect.kind === "sync") asked = effect.after;
      };
      const answer = (upTo: number) => {
        if (asked === null) return;
        const after: number = asked;
        asked = null;
        step({ kind: "synced", events: { seq: upTo, frames: all.filter((m) => m.seq > after && m.seq <= upTo) }, at: AT });
      };
      for (const m of all) {
        if (random() < 0.7) step(frame(m));
        if (random() < 0.2) step(frame(all[Math.floor(random() * all.length)] ?? m));
        if (random() < 0.3) answer(m.seq);
      }
      step(frame(message(22, "questioner", null, 10)));
      while (asked !== null) answer(21);
      expect(seqs(model)?.filter((seq) => seq <= 21), `seed ${seed}`).toEqual(all.map((m) => m.seq));
    }
  });
});

/** Mulberry32: small, seeded, good enough to shuffle. */
function generator(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
