/** One line that says what to do now. */

import type { Dialog } from "../../generated/wire";
import { useLocale, useStudy } from "../context";
import { recruiterText } from "../recruiter";
import { allSent, openQuestion, type Pending } from "../machine/model";
import { Icon } from "../parts/Icon";
import type { Texts } from "../../texts";

/** The box is described by this line. */
export const NOW_LINE_ID = "now-line";

export function NowLine({ dialog, pending }: { dialog: Dialog; pending: Pending | null }) {
  const { t } = useLocale();
  const { recruiter } = useStudy();
  const wanted = dialog.your_turn && pending === null;
  return (
    <p
      id={NOW_LINE_ID}
      class={wanted ? `now now-${dialog.role}` : "now"}
      role="status"
      data-testid="now-line"
      data-your-turn={dialog.your_turn}
    >
      <Icon name={wanted ? "pen" : "clock"} />
      <span>{nowText(dialog, pending, recruiter, t)}</span>
    </p>
  );
}

function nowText(dialog: Dialog, pending: Pending | null, recruiter: string, t: Texts): string {
  if (dialog.phase === "ended") return t.now.ending;
  if (pending !== null) return pending.status === "unsent" ? t.now.unsent : t.now.sending;
  if (allSent(dialog)) return allSentText(recruiter, dialog.pays > 0, t);
  const asks = dialog.role === "questioner";
  if (dialog.phase === "solo") {
    const left = dialog.rounds - dialog.sent;
    const open = openQuestion(dialog);
    const first = dialog.sent === 0;
    if (open !== null) return t.now.soloAnswer(open, left, dialog.rounds);
    if (asks) return t.now.soloAsk(left, dialog.rounds, first);
    return t.now.soloTell(left, dialog.rounds, first);
  }
  if (!dialog.your_turn) return asks ? t.now.waitAnswer : t.now.waitQuestion;
  if (!asks) return t.now.answer(dialog.round);
  return dialog.round === 1 ? t.now.askFirst : t.now.ask(dialog.round);
}

/** The work is done, but only what comes after the last answer counts it, and brings the pay. */
export function allSentText(recruiter: string, paid: boolean, t: Texts): string {
  return `${t.now.allSent(paid)} ${recruiterText(recruiter, t.now.lastStep)}`;
}
