/** The conversation: what it is about, what was said, and what to do now. */

import type { Dialog } from "../../generated/wire";
import { Brief } from "../chat/Brief";
import { Composer } from "../chat/Composer";
import { Conversation } from "../chat/Conversation";
import { NowLine } from "../chat/NowLine";
import { Progress } from "../chat/Progress";
import { useLocale } from "../context";
import { LinkBanner } from "../parts/LinkBanner";
import { allSent, type Model } from "../machine/model";

export function Talking({ model, dialog }: { model: Model; dialog: Dialog }) {
  const { t } = useLocale();
  const writable = dialog.phase !== "ended" && !allSent(dialog);
  return (
    <main
      class={dialog.item.picture === null ? "room" : "room room-picture"}
      data-testid="screen-talking"
      data-phase={dialog.phase}
    >
      <h1 class="unseen">
        {t.chat.log}: {t.roles[dialog.role]}
      </h1>
      <LinkBanner link={model.link} />
      <Brief dialog={dialog} />
      <section class="talk">
        <Progress dialog={dialog} />
        <Conversation dialog={dialog} model={model} />
        <div class="dock">
          <NowLine dialog={dialog} pending={model.pending} />
          {writable && <Composer model={model} dialog={dialog} />}
        </div>
      </section>
    </main>
  );
}
