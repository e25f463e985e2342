/** The conversation: what it is about, what was said, and what to do now. */

import { useEffect, useRef } from "preact/hooks";
import type { Dialog } from "../../generated/wire";
import { Brief } from "../chat/Brief";
import { Composer } from "../chat/Composer";
import { Conversation } from "../chat/Conversation";
import { OwnClock } from "../chat/Notices";
import { NowLine } from "../chat/NowLine";
import { Progress } from "../chat/Progress";
import { useLocale } from "../context";
import { useHeir } from "../focus";
import { LinkBanner } from "../parts/LinkBanner";
import { allSent, type Model } from "../machine/model";

export function Talking({ model, dialog }: { model: Model; dialog: Dialog }) {
  const { t } = useLocale();
  const writable = dialog.phase !== "ended" && !allSent(dialog);
  const heading = useRef<HTMLHeadingElement>(null);
  const dock = useHeir<HTMLDivElement>(writable);
  useEffect(() => {
    // Where there is a box that wants it, the box has taken the focus already.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <main
      class={dialog.item.picture === null ? "room" : "room room-picture"}
      data-testid="screen-talking"
      data-phase={dialog.phase}
    >
      <h1 ref={heading} class="unseen" tabIndex={-1}>
        {t.chat.log}: {t.roles[dialog.role]}
      </h1>
      <LinkBanner link={model.link} writing />
      <Brief dialog={dialog} />
      <section class="talk">
        <Progress dialog={dialog} />
        <Conversation dialog={dialog} model={model} />
        <div ref={dock} class="dock" tabIndex={-1}>
          <OwnClock dialog={dialog} />
          <NowLine dialog={dialog} pending={model.pending} />
          {writable && <Composer model={model} dialog={dialog} />}
        </div>
      </section>
    </main>
  );
}
