/** Says that the line is down, and that nothing is lost by it. */

import { useLocale } from "../context";
import type { Link } from "../machine/model";

interface Props {
  link: Link;
  writing?: boolean;
}

export function LinkBanner({ link, writing = false }: Props) {
  const { t } = useLocale();
  return (
    <div role="status" class="banner-place">
      {link === "offline" && (
        <p class="banner" data-testid="offline-banner">
          <span class="pulse" aria-hidden="true" />
          <strong>{t.offline.title}</strong>{" "}
          <span class="banner-note">{writing ? t.offline.note : t.offline.noteElsewhere}</span>
        </p>
      )}
    </div>
  );
}
