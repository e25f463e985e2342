/** One line that says what to do now. */

import type { Dialog } from "../../generated/wire";
import { useLocale } from "../context";
import { allSent, type Pending } from "../machine/model";
import { Icon } from "../parts/Icon";
import type { Texts } from "../../texts";

/** The box is described by this line. */
export const NOW_LINE_ID = "now-line";

export function NowLine({ dialog, pending }: { dialog: Dialog; pending: Pending | null }) {
  const { t } = useLocale();
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
      <span>{nowText(dialog, pending, t)}</span>
    </p>
  );
}

export function nowText(dialog: Dialog, pending: Pending | null, t: Texts): string {
  if (dialog.phase === "ended") return t.now.ending;
  if (pending !== null) return pending.status === "unsent" ? t.now.unsent : t.now.sending;
  if (allSent(dialog)) return t.now.allSent;
  const asks = dialog.role === "questioner";
  if (dialog.phase === "solo") {
    const left = dialog.rounds - dialog.sent;
    return asks ? t.now.soloAsk(left, dialog.rounds) : t.now.soloTell(left, dialog.rounds);
  }
  if (!dialog.your_turn) return asks ? t.now.waitAnswer : t.now.waitQuestion;
  if (!asks) return t.now.answer(dialog.round);
  return dialog.round === 1 ? t.now.askFirst : t.now.ask(dialog.round);
}
