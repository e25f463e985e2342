/** The keys of the review queue. They never act while somebody writes. */

import { useEffect, useRef } from "preact/hooks";

export const COMMANDS = {
  accept: "A",
  reject: "R",
  "pay-questioner": "P",
  "pay-answerer": "Shift+P",
  flag: "F",
  next: "N",
  skip: "S",
  undo: "U",
  down: "J",
  up: "K",
  help: "?",
} as const;

export type Command = keyof typeof COMMANDS;

const BY_KEY: Readonly<Record<string, Command>> = {
  a: "accept",
  r: "reject",
  f: "flag",
  n: "next",
  " ": "next",
  s: "skip",
  u: "undo",
  j: "down",
  k: "up",
  "?": "help",
};

const WRITES = "input, textarea, select, [contenteditable]";
const PRESSED_BY_SPACE = "button, a[href], summary, [role='button']";

export function commandOf(event: KeyboardEvent): Command | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return null;
  const { target } = event;
  if (target instanceof Element) {
    if (target.closest(WRITES) !== null) return null;
    if (event.key === " " && target.closest(PRESSED_BY_SPACE) !== null) return null;
  }
  // A question stands before the page: its answer is meant.
  if (document.querySelector("dialog[open]") !== null) return null;
  const command = commandFor(event.key.toLowerCase(), event.shiftKey);
  // A key that is held down steps on through the rounds, but decides once.
  if (event.repeat && command !== "down" && command !== "up") return null;
  return command;
}

/** Capital letters also come of a lock, so only the shift key itself counts. */
function commandFor(key: string, shift: boolean): Command | null {
  if (key === "p") return shift ? "pay-answerer" : "pay-questioner";
  return BY_KEY[key] ?? null;
}

export function useKeys(obey: (command: Command) => void): void {
  const newest = useRef(obey);
  newest.current = obey;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const command = commandOf(event);
      if (command === null) return;
      event.preventDefault();
      newest.current(command);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
