/** What this person knows of the item: the role, the caption, the picture. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Dialog } from "../../generated/wire";
import { useLocale, useStudy } from "../context";
import { RoleBadge } from "../parts/RoleCards";
import { Picture } from "./Picture";

/** Up to this many characters a caption has room beside the picture, even on a phone. */
const SHORT_CAPTION = 80;

export function Brief({ dialog }: { dialog: Dialog }) {
  const { t, pay: payOf } = useLocale();
  const study = useStudy();
  const { item, role } = dialog;
  const pay = payOf(dialog.pays, study.currency);
  const long = (item.caption?.length ?? 0) > SHORT_CAPTION;
  const box = useRef<HTMLElement>(null);
  const scrolls = useOverflow(box);
  return (
    // Without a picture to press, a caption that scrolls can be reached in no other way.
    <aside
      ref={box}
      class="brief"
      aria-label={t.chat.caption}
      tabIndex={scrolls && item.picture === null ? 0 : undefined}
    >
      <div class="brief-role">
        <RoleBadge role={role} />
        {pay !== null && (
          <p class="pay-line" data-testid="pays">
            <strong>{t.chat.pays(pay)}</strong>
            <span class="muted">, {t.chat.paysNote}</span>
          </p>
        )}
      </div>
      <div class={long ? "item item-long" : "item"}>
        {item.picture !== null && <Picture item={item} address={item.picture} />}
        {item.caption !== null && (
          <div class="caption">
            <p class="caption-name">{t.chat.caption}</p>
            <p class="caption-text" dir="auto" data-testid="caption">
              {item.caption}
            </p>
          </div>
        )}
      </div>
    </aside>
  );
}

/** Whether there is more in the box than it shows, as its size changes. */
function useOverflow(box: { current: HTMLElement | null }): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setOver(element.scrollHeight > element.clientHeight + 1));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return over;
}
