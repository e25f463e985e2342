/** What is talked about. */

import type { DialogOut } from "../../generated/monitor";
import { useMonitor } from "../context";
import { t } from "../texts";

export function Item({ dialog }: { dialog: DialogOut }) {
  const { api } = useMonitor();
  return (
    <figure class="item">
      <a href={api.picture(dialog.item_id)} target="_blank" rel="noreferrer" class="item-picture">
        <img
          src={api.picture(dialog.item_id)}
          width={dialog.width}
          height={dialog.height}
          alt={t.talk.picture(dialog.image_id)}
        />
      </a>
      <figcaption>
        <span class="muted">{t.talk.caption}</span> <span dir="auto">{dialog.caption}</span>
      </figcaption>
    </figure>
  );
}
