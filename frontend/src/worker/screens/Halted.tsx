/** The page cannot go on: why, and the one thing that can be done about it. */

import type { ComponentChildren } from "preact";
import type { Refused } from "../../generated/wire";
import { refusalText, useActions, useLocale } from "../context";
import { Button } from "../parts/Button";
import { Page } from "../parts/Page";

export function Stopped({ stopped }: { stopped: Refused }) {
  const { t } = useLocale();
  const { continueHere } = useActions();
  if (stopped.code !== "replaced") return <Refusal refused={stopped} />;
  return (
    <Page screen="stopped" title={t.stopped.replacedTitle} narrow>
      <p class="lead" data-testid="stopped-reason" data-code={stopped.code}>
        {t.stopped.replaced}
      </p>
      <div class="finale">
        <Button testid="continue-here" look="main" onPress={continueHere}>
          {t.stopped.continueHere}
        </Button>
      </div>
    </Page>
  );
}

/** Of these, loading the page again would only say the same. */
const FINAL: ReadonlySet<Refused["code"]> = new Set([
  "cap_reached",
  "not_needed",
  "no_invitation",
  "unknown_invitation",
]);

export function Refusal({ refused }: { refused: Refused }) {
  const locale = useLocale();
  const { t } = locale;
  return (
    <Page screen="stopped" title={t.stopped.title} narrow>
      <p class="lead" dir="auto" data-testid="stopped-reason" data-code={refused.code}>
        {refusalText(locale, refused)}
      </p>
      {!FINAL.has(refused.code) && <Reload>{t.stopped.reload}</Reload>}
    </Page>
  );
}

export function Unreachable({ onRetry }: { onRetry: () => void }) {
  const { t } = useLocale();
  return (
    <Page screen="unreachable" title={t.stopped.failedTitle} narrow>
      <p class="lead">{t.stopped.failed}</p>
      <div class="finale">
        <Button testid="try-again" look="main" onPress={onRetry}>
          {t.common.tryAgain}
        </Button>
      </div>
    </Page>
  );
}

export function Crashed() {
  const { t } = useLocale();
  return (
    <Page screen="crashed" title={t.stopped.crashTitle} narrow>
      <p class="lead">{t.stopped.crash}</p>
      <Reload>{t.stopped.reload}</Reload>
    </Page>
  );
}

function Reload({ children }: { children: ComponentChildren }) {
  return (
    <div class="finale">
      <Button testid="reload" look="main" onPress={() => window.location.reload()}>
        {children}
      </Button>
    </div>
  );
}

export function Loading() {
  const { t } = useLocale();
  return (
    <main class="page page-narrow loading" data-testid="screen-loading">
      <h1 class="loading-text">
        {t.common.loading}
      </h1>
    </main>
  );
}
