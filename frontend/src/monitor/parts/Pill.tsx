/** A word with a colour: how something stands. */

import type { ComponentChildren } from "preact";
import type { Acceptance, Ending, LedgerState, Outcome, Phase, Role, Severity } from "../../generated/monitor";
import { useFlag } from "../flags";
import { shortId } from "../format";
import { dialogHref, workerHref } from "../router";
import { t } from "../texts";

export type Tone = "calm" | "good" | "warn" | "bad" | "questioner" | "answerer" | "accent";

/** `more` is what the word means, for whoever points at it. */
export function Pill({ tone = "calm", more = "", children }: { tone?: Tone; more?: string; children: ComponentChildren }) {
  return (
    <span class={`pill pill-${tone}`} title={more || undefined}>
      {children}
    </span>
  );
}

/** Stands where there is nothing. */
export const None = () => <span class="none muted">–</span>;

export const RolePill = ({ role }: { role: Role }) => <Pill tone={role}>{t.roles[role]}</Pill>;

const PHASES: Record<Phase, Tone> = { paired: "accent", solo: "warn", ended: "calm" };
const ENDINGS: Record<Ending, Tone> = {
  complete: "good",
  solo: "warn",
  abandoned: "bad",
  ended_by_team: "calm",
  time_limit: "warn",
};

/** How it ended, or the phase of what goes on. */
export function StandPill({ phase, ending }: { phase: Phase; ending: Ending | null }) {
  if (phase === "ended" && ending !== null) return <Pill tone={ENDINGS[ending]}>{t.endings[ending]}</Pill>;
  return <Pill tone={PHASES[phase]}>{t.phases[phase]}</Pill>;
}

/** Only what is complete can become data. */
export function AcceptancePill({ acceptance, outcome }: { acceptance: Acceptance | null; outcome: Outcome | null }) {
  if (acceptance === null && outcome !== "complete") return <None />;
  if (acceptance === null) return <span class="muted undecided">{t.undecided}</span>;
  return <Pill tone={acceptance === "accepted" ? "good" : "bad"}>{t.acceptances[acceptance]}</Pill>;
}

const LEDGER: Record<LedgerState, Tone> = {
  owed: "warn",
  approved: "accent",
  sending: "accent",
  paid: "good",
  failed: "bad",
  held: "bad",
  cancelled: "calm",
};

export const LedgerPill = ({ state }: { state: LedgerState }) => <Pill tone={LEDGER[state]}>{t.ledgerStates[state]}</Pill>;

/** What is done and noted is no failure. */
export const problemClass = ({ state }: { state: LedgerState }): string =>
  state === "paid" || state === "cancelled" ? "muted" : "problem";

const SEVERITIES: Record<Severity, Tone> = { note: "calm", doubt: "warn", harm: "bad" };

export function FlagPill({ flag }: { flag: string }) {
  const { label, means, severity } = useFlag(flag);
  return (
    <Pill tone={severity === null ? "warn" : SEVERITIES[severity]} more={means}>
      ⚑ {label}
    </Pill>
  );
}

export const WorkerLink = ({ id }: { id: string }) => (
  <a class="id" href={workerHref(id)} title={id}>
    {shortId(id)}
  </a>
);

export const DialogLink = ({ id }: { id: string }) => (
  <a class="id" href={dialogHref(id)} title={id}>
    {shortId(id)}
  </a>
);
