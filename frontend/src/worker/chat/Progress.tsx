/** How far the dialog has come, in words and as a row of marks. */

import type { Dialog } from "../../generated/wire";
import { useLocale } from "../context";

export function Progress({ dialog }: { dialog: Dialog }) {
  const { t } = useLocale();
  const solo = dialog.phase === "solo";
  const done = solo ? dialog.sent : dialog.round - 1;
  const marks = Array.from({ length: dialog.rounds }, (_, index) => index);
  const look = (index: number) => (index < done ? "mark mark-done" : index === done ? "mark mark-now" : "mark");
  return (
    <div class="progress">
      <p data-testid="round" data-round={dialog.round}>
        {solo ? t.chat.soloCount(dialog.sent, dialog.rounds) : t.chat.round(dialog.round, dialog.rounds)}
      </p>
      <div class="marks" aria-hidden="true">
        {marks.map((index) => (
          <span key={index} class={look(index)} />
        ))}
      </div>
    </div>
  );
}
