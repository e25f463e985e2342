import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TypingSignal } from "./typing";

describe("the typing signal", () => {
  let sent: boolean[] = [];
  let signal: TypingSignal;

  beforeEach(() => {
    vi.useFakeTimers();
    sent = [];
    signal = new TypingSignal((on) => sent.push(on), () => Date.now());
  });
  afterEach(() => void vi.useRealTimers());

  it("is sent once for many keys, and again every five seconds", () => {
    for (let key = 0; key < 12; key += 1) {
      signal.touch();
      vi.advanceTimersByTime(500);
    }
    expect(sent).toEqual([true, true]);
  });

  it("ends after four idle seconds", () => {
    signal.touch();
    vi.advanceTimersByTime(3_999);
    expect(sent).toEqual([true]);
    vi.advanceTimersByTime(1);
    expect(sent).toEqual([true, false]);
  });

  it("ends at once when the message is sent, and only then", () => {
    signal.stop();
    signal.touch();
    signal.stop();
    vi.advanceTimersByTime(10_000);
    expect(sent).toEqual([true, false]);
  });
});
