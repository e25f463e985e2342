/** The last stop before the lobby: nothing happens until the worker says so. */

import { useActions, useAttempt, useLocale, useStudy } from "../context";
import { Button } from "../parts/Button";
import { Failure, Note } from "../parts/Note";
import { Page } from "../parts/Page";

interface Props {
  missedStart: boolean;
  /** They have just pressed *not now*. */
  declined: boolean;
}

export function Arrived({ missedStart, declined }: Props) {
  const { t, number } = useLocale();
  const study = useStudy();
  const attempt = useAttempt(useActions().ready);
  return (
    <Page screen="arrived" title={t.arrived.title} narrow>
      {missedStart && (
        <Note tone="calm" testid="missed-start">
          <p>{t.arrived.missed}</p>
        </Note>
      )}
      {declined && (
        <Note tone="calm" testid="declined">
          <p>{t.arrived.declined}</p>
        </Note>
      )}
      <p class="lead">{t.arrived.intro}</p>
      <ol class="steps">
        {t.arrived.steps.map((step, index) => (
          <li key={step}>
            {step}
            {index === 1 && (
              <span class="muted"> {t.arrived.stepSeconds(number(study.start_limit_s))}</span>
            )}
          </li>
        ))}
      </ol>
      <Failure attempt={attempt} />
      <div class="finale">
        <Button testid="ready" look="main" busy={attempt.busy} onPress={attempt.go}>
          {t.arrived.ready}
        </Button>
      </div>
    </Page>
  );
}
