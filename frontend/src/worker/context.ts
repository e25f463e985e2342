/** What every screen needs and no screen owns: the language, the study, the time, the actions. */

import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Refused, StudyOut } from "../generated/wire";
import { localeFor, type Locale } from "../texts";
import type { Reply } from "./connection";
import type { Actions } from "./live";

export const LocaleContext = createContext<Locale>(localeFor("en"));
export const StudyContext = createContext<StudyOut | null>(null);
export const ActionsContext = createContext<Actions | null>(null);

/** The server's time in seconds, as well as the page knows it. */
export const TimeContext = createContext<() => number>(() => 0);

export const useLocale = (): Locale => useContext(LocaleContext);

export function useStudy(): StudyOut {
  const study = useContext(StudyContext);
  if (study === null) throw new Error("a screen outside of a study");
  return study;
}

export function useActions(): Actions {
  const actions = useContext(ActionsContext);
  if (actions === null) throw new Error("a screen outside of an arrival");
  return actions;
}

/** The server's time, redrawn often enough for a clock that shows whole seconds. */
export function useServerTime(): number {
  const now = useContext(TimeContext);
  const [, redraw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => redraw((n) => n + 1), 250);
    return () => clearInterval(timer);
  }, []);
  return now();
}

export interface Attempt {
  busy: boolean;
  /** Set while the last try has failed; its `refused` is null when no answer came. */
  failed: { refused: Refused | null } | null;
  go: () => void;
}

/** A request to the server behind a button: one at a time, and its failure stays to be shown. */
export function useAttempt(run: () => Promise<Reply>, done?: () => void): Attempt {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<Attempt["failed"]>(null);
  const go = async () => {
    if (busy) return;
    setBusy(true);
    setFailed(null);
    const reply = await run();
    setBusy(false);
    if (reply.ok) done?.();
    else setFailed({ refused: reply.refused });
  };
  return { busy, failed, go: () => void go() };
}

/** The server's sentences are English and know more; other languages have one for each code. */
export function refusalText(locale: Locale, refused: Refused | null): string {
  if (refused === null) return locale.t.problems.noAnswer;
  const translated: string | undefined = locale.t.refusals[refused.code];
  return locale.lang === "en" || translated === undefined ? refused.error : translated;
}
