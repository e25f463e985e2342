/** One dialog as it goes on: what has just happened is added to what was known. */

import type { DialogOut, Entry, FindingOut, Happened, Role, TypingSeen } from "../generated/monitor";

/** `typing` holds until when somebody counts as writing, by the server's time. */
export interface Watched {
  dialog: DialogOut;
  typing: Partial<Record<Role, number>>;
}

/** Signs of typing come every few seconds; one that is this old has been overtaken. */
const TYPING_S = 6;

/** `gap` when something before it is missing, so that the whole dialog has to be asked for. */
export function afterHappened(before: Watched, happened: Happened): Watched | "gap" {
  const { dialog } = before;
  if (happened.dialog_id !== dialog.id) return before;
  const last = dialog.entries.at(-1)?.seq ?? 0;
  const fresh = happened.entries.filter((entry) => entry.seq > last);
  if (fresh.length > 0 && fresh[0]!.seq > last + 1) return "gap";
  if (fresh.length === 0 && happened.now < dialog.now) return before;
  const typing = { ...before.typing };
  for (const entry of fresh) if (entry.kind === "said" && entry.role) delete typing[entry.role];
  const entries = fresh.length === 0 ? dialog.entries : [...dialog.entries, ...fresh];
  return { typing, dialog: { ...dialog, entries, now: happened.now, standing: happened.standing } };
}

export function afterTyping(before: Watched | null, seen: TypingSeen, now: number): Watched | null {
  if (before === null || before.dialog.id !== seen.dialog_id) return before;
  const typing = { ...before.typing };
  if (seen.on) typing[seen.role] = now + TYPING_S;
  else delete typing[seen.role];
  return { ...before, typing };
}

export const isTyping = (watched: Watched, role: Role, now: number): boolean =>
  (watched.typing[role] ?? 0) > now;

/** A line of the transcript: what happened, how long after the one before, and its flags. */
export interface Line {
  entry: Entry;
  after: number | null;
  findings: FindingOut[];
}

/** The transcript, and the flags that are about no one message. */
export function linesOf(dialog: DialogOut): { lines: Line[]; general: FindingOut[] } {
  const about = new Map<number, FindingOut[]>();
  const general: FindingOut[] = [];
  const seqs = new Set(dialog.entries.map((entry) => entry.seq));
  for (const finding of dialog.findings) {
    const seq = finding.seq ?? seqOf(dialog.entries, finding);
    if (seq === null || !seqs.has(seq)) general.push(finding);
    else about.set(seq, [...(about.get(seq) ?? []), finding]);
  }
  const spoken = dialog.entries.filter((entry) => entry.kind === "said" || entry.kind === "opened");
  const before = new Map(spoken.map((entry, index) => [entry.seq, spoken[index - 1]?.at]));
  const lines = dialog.entries.map((entry) => {
    const at = entry.kind === "said" ? before.get(entry.seq) : undefined;
    return { entry, after: at === undefined ? null : entry.at - at, findings: about.get(entry.seq) ?? [] };
  });
  return { lines, general };
}

/** A flag that names a round and a person is about what that person said in it. */
function seqOf(entries: Entry[], { round, role }: FindingOut): number | null {
  if (round === null || role === null) return null;
  const said = entries.find((e) => e.kind === "said" && e.round === round && e.role === role);
  return said?.seq ?? null;
}
