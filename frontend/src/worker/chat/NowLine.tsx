/** One line that says what to do now. */

import type { Dialog } from "../../generated/wire";
import { useLocale } from "../context";
import { allSent } from "../machine/model";
import type { Texts } from "../../texts";

export function NowLine({ dialog }: { dialog: Dialog }) {
  const { t } = useLocale();
  const look = dialog.your_turn ? `now now-${dialog.role}` : "now";
  return (
    <p class={look} role="status" data-testid="now-line" data-your-turn={dialog.your_turn}>
      {nowText(dialog, t)}
    </p>
  );
}

export function nowText(dialog: Dialog, t: Texts): string {
  if (dialog.phase === "ended") return t.now.ending;
  if (allSent(dialog)) return t.now.allSent;
  const asks = dialog.role === "questioner";
  if (dialog.phase === "solo") {
    const left = dialog.rounds - dialog.sent;
    return asks ? t.now.soloAsk(left) : t.now.soloTell(left);
  }
  if (!dialog.your_turn) return asks ? t.now.waitAnswer : t.now.waitQuestion;
  if (!asks) return t.now.answer(dialog.round);
  return dialog.round === 1 ? t.now.askFirst : t.now.ask(dialog.round);
}
