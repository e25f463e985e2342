/** Says that the line is down, and that nothing is lost by it. */

import { useLocale } from "../context";
import type { Link } from "../machine/model";

export function LinkBanner({ link }: { link: Link }) {
  const { t } = useLocale();
  return (
    <div role="status" class="banner-place">
      {link === "offline" && (
        <p class="banner" data-testid="offline-banner">
          <span class="pulse" aria-hidden="true" />
          <strong>{t.offline.title}</strong> {t.offline.note}
        </p>
      )}
    </div>
  );
}
