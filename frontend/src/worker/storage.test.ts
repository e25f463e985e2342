import { describe, expect, it } from "vitest";
import { EMPTY_DRAFT } from "./machine/model";
import { DraftShelf, firstWorking, randomId, workerKey } from "./storage";

const forbidden = () => {
  throw new DOMException("denied", "SecurityError");
};

function shelf(): Storage {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  } as Storage;
}

describe("the browser's storage", () => {
  it("falls back to the next shelf, and at last to memory", () => {
    const second = shelf();
    expect(firstWorking([forbidden, () => second])).toBe(second);
    const memory = firstWorking([forbidden, forbidden]);
    memory.setItem("a", "1");
    expect(memory.getItem("a")).toBe("1");
  });

  it("passes over a shelf that is full from the start", () => {
    const full = { ...shelf(), setItem: forbidden } as Storage;
    const second = shelf();
    expect(firstWorking([() => full, () => second])).toBe(second);
  });
});

describe("the worker's key", () => {
  it("stays the same, and is made anew only when it is not one", () => {
    const kept = shelf();
    const key = workerKey(kept);
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect(workerKey(kept)).toBe(key);
    kept.setItem("duologue.worker", "forged");
    expect(workerKey(kept)).not.toBe("forged");
  });

  it("is never the same twice", () => {
    expect(new Set(Array.from({ length: 100 }, randomId)).size).toBe(100);
  });
});

describe("the draft", () => {
  const pending = {
    key: "key-0001",
    text: "Is it day?",
    meta: { pasted: false, composed_ms: 10, edits: 0 },
    status: "sending" as const,
  };

  it("survives a reload, with a message on its way that may go out again", () => {
    const kept = shelf();
    const draft = { text: "And is", pasted: true, startedAt: 12, edits: 3 };
    new DraftShelf("?link=a", kept).save({ draft, pending });
    expect(new DraftShelf("?link=a", kept).load()).toEqual({
      draft: { ...draft, startedAt: null },
      pending: { ...pending, status: "unsent" },
    });
  });

  it("belongs to one link", () => {
    const kept = shelf();
    new DraftShelf("?link=a", kept).save({ draft: { ...EMPTY_DRAFT, text: "x" }, pending: null });
    expect(new DraftShelf("?link=b", kept).load()).toEqual({ draft: EMPTY_DRAFT, pending: null });
  });

  it("leaves nothing behind when it is empty, and forgives what it cannot read", () => {
    const kept = shelf();
    const drafts = new DraftShelf("", kept);
    drafts.save({ draft: { ...EMPTY_DRAFT, text: "x" }, pending: null });
    drafts.save({ draft: EMPTY_DRAFT, pending: null });
    expect(kept.getItem("duologue.draft:")).toBeNull();
    kept.setItem("duologue.draft:", "{broken");
    expect(drafts.load()).toEqual({ draft: EMPTY_DRAFT, pending: null });
  });
});
