/** What this person knows of the item: the role, the caption, the picture. */

import type { Dialog } from "../../generated/wire";
import { useLocale, useStudy } from "../context";
import { RoleBadge } from "../parts/RoleCards";
import { Picture } from "./Picture";

export function Brief({ dialog }: { dialog: Dialog }) {
  const { t, money } = useLocale();
  const study = useStudy();
  const { item, role } = dialog;
  return (
    <aside class="brief" aria-label={t.chat.caption}>
      <div class="brief-role">
        <RoleBadge role={role} />
        <p class="pay-line" data-testid="pays">
          <strong>{t.chat.pays(money(dialog.pays, study.currency))}</strong>
          <span class="muted wide-only"> {t.chat.paysNote}</span>
        </p>
      </div>
      <div class="item">
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
