import { afterEach, describe, expect, it } from "vitest";
import { commandOf } from "./keys";

afterEach(() => {
  document.body.innerHTML = "";
});

function press(key: string, html = "<main><p id=at></p></main>", init: KeyboardEventInit = {}) {
  document.body.innerHTML = html;
  let found: unknown;
  document.body.addEventListener("keydown", (event) => void (found = commandOf(event)), { once: true });
  const event = new KeyboardEvent("keydown", { key, bubbles: true, ...init });
  (document.getElementById("at") ?? document.body).dispatchEvent(event);
  return found;
}

describe("a key", () => {
  it.each([
    ["a", "accept"],
    ["A", "accept"],
    ["r", "reject"],
    ["p", "pay-questioner"],
    ["P", "pay-questioner"],
    ["f", "flag"],
    ["n", "next"],
    [" ", "next"],
    ["s", "skip"],
    ["u", "undo"],
    ["j", "down"],
    ["k", "up"],
    ["?", "help"],
    ["x", null],
    ["Enter", null],
  ])("%s is %s", (key, command) => expect(press(key)).toBe(command));

  it("with shift is the answerer's pay, whatever lock is on", () =>
    expect(press("P", undefined, { shiftKey: true })).toBe("pay-answerer"));

  it.each(["<input id=at>", "<textarea id=at></textarea>", "<select id=at></select>", "<div contenteditable><p id=at></p></div>"])(
    "does nothing in %s",
    (html) => expect(press("a", html)).toBeNull(),
  );

  it("does nothing before an open question", () =>
    expect(press("a", "<dialog open><p id=at></p></dialog>")).toBeNull());

  it("leaves the space bar to a button that has the focus", () => {
    expect(press(" ", "<button id=at></button>")).toBeNull();
    expect(press("a", "<button id=at></button>")).toBe("accept");
  });

  it("does nothing with another key held, or while a word is composed", () => {
    expect(press("a", undefined, { ctrlKey: true })).toBeNull();
    expect(press("r", undefined, { metaKey: true })).toBeNull();
    expect(press("a", undefined, { isComposing: true })).toBeNull();
  });

  it("decides once while it is held, but steps on", () => {
    expect(press("a", undefined, { repeat: true })).toBeNull();
    expect(press("j", undefined, { repeat: true })).toBe("down");
  });
});
