/**
 * A partner is found; both press start before the time is up, or nobody is blamed.
 *
 * Nothing moves when *start* is pressed: the second press of a double click must not find
 * *not now* where *start* was. So *start* stays, and what may come and go stands below.
 */

import { useState } from "preact/hooks";
import type { Match } from "../../generated/wire";
import { useActions, useAttempt, useLocale, useServerTime, useStudy } from "../context";
import { Button } from "../parts/Button";
import { Failure } from "../parts/Note";
import { Page } from "../parts/Page";

export function Matched({ match }: { match: Match }) {
  const { t } = useLocale();
  const actions = useActions();
  const [pressed, setPressed] = useState(false);
  const start = useAttempt(actions.start, () => setPressed(true));
  const notNow = useAttempt(actions.decline);
  const started = match.started || pressed;
  return (
    <Page screen="matched" title={t.matched.title} narrow>
      <div class="centred">
        <Ring match={match} />
        <p class="lead">{t.matched.intro}</p>
        <div class="stack">
          <Button testid="start" look="main" busy={start.busy} unavailable={started} onPress={start.go}>
            {started ? t.matched.waiting : t.matched.start}
          </Button>
          <Button testid="not-now" look="quiet" busy={notNow.busy} onPress={notNow.go}>
            {t.matched.notNow}
          </Button>
          <p class="muted small">{t.matched.notNowNote}</p>
        </div>
        <p class="unseen" role="status" data-testid="match-line">
          {started && t.matched.started}
        </p>
        <Failure attempt={start} />
        <Failure attempt={notNow} />
      </div>
    </Page>
  );
}

const RADIUS = 54;
const AROUND = 2 * Math.PI * RADIUS;

function Ring({ match }: { match: Match }) {
  const { t, number } = useLocale();
  const study = useStudy();
  const left = Math.max(0, match.start_by - useServerTime());
  const share = Math.min(1, left / study.start_limit_s);
  return (
    <div class="ring" role="timer" data-testid="start-countdown">
      <svg viewBox="0 0 120 120" aria-hidden="true">
        <circle class="ring-track" cx="60" cy="60" r={RADIUS} />
        <circle
          class="ring-left"
          cx="60"
          cy="60"
          r={RADIUS}
          stroke-dasharray={AROUND}
          stroke-dashoffset={AROUND * (1 - share)}
        />
      </svg>
      <span class="ring-number" aria-hidden="true">
        {number(Math.ceil(left))}
      </span>
      <span class="unseen">{t.matched.seconds(Math.ceil(left))}</span>
    </div>
  );
}
