/** Doing something: once, however often it is pressed, and with what came of it. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Done } from "../generated/monitor";
import type { Answer } from "./api";
import { useMonitor } from "./context";
import { t } from "./texts";

export interface Act {
  busy: boolean;
  error: string;
  /** True when it was carried out. What cannot be done now is said, never swallowed. */
  run: <T>(what: () => Promise<Answer<T>>, done?: (value: T) => void) => Promise<boolean>;
  refuse: (error: string) => void;
}

export function useAct(): Act {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const running = useRef(false);
  const shown = useRef(true);
  useEffect(() => {
    shown.current = true;
    return () => void (shown.current = false);
  }, []);
  const run = async <T>(what: () => Promise<Answer<T>>, done?: (value: T) => void) => {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    setError("");
    const answer = await what();
    running.current = false;
    if (answer.ok) done?.(answer.value);
    if (shown.current) {
      setBusy(false);
      if (!answer.ok) setError(answer.error);
    }
    return answer.ok;
  };
  return { busy, error, run, refuse: setError };
}

/** Says what was done, and whether the hit manager still has to carry it out. */
export function useSayDone(): (text: string, done: Done) => void {
  const { toasts } = useMonitor();
  return (text, done) => toasts.say(done.request ? `${text} ${t.asked}` : text);
}

/** A key for one action: the same while it is tried again, so that it is done once. */
export function useKey(): string {
  const [key] = useState(newKey);
  return key;
}

/** `crypto.randomUUID` is only there on https and on the own machine. */
export function newKey(): string {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (n) => n.toString(16).padStart(2, "0")).join("");
}
