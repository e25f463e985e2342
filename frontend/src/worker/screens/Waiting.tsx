/** The lobby: how long already, how long still, and what happens if nobody comes. */

import { useState } from "preact/hooks";
import type { Lobby } from "../../generated/wire";
import { useActions, useAttempt, useLocale, useServerTime, useStudy } from "../context";
import { useHeir } from "../focus";
import { Button } from "../parts/Button";
import { Failure, Note } from "../parts/Note";
import { Page } from "../parts/Page";

interface Props {
  lobby: Lobby;
  /** There was a partner, with whom no conversation began. */
  again: boolean;
}

export function Waiting({ lobby, again }: Props) {
  const { t } = useLocale();
  const study = useStudy();
  const searching = !lobby.nothing_left && !lobby.paused;
  const title = lobby.nothing_left
    ? t.waiting.nothingTitle
    : lobby.paused
      ? t.waiting.pausedTitle
      : t.waiting.title;
  return (
    <Page screen="waiting" title={title} narrow>
      {searching && <Searching />}
      {searching && again && (
        <Note tone="calm" testid="partner-did-not-start">
          <p>{t.waiting.again}</p>
        </Note>
      )}
      <Remark lobby={lobby} />
      {searching && !study.repeat_partners && <p class="muted small">{t.waiting.strangers}</p>}
      <Wait lobby={lobby} />
      {lobby.may_stop || lobby.nothing_left ? <Choice lobby={lobby} /> : <Assurance lobby={lobby} />}
    </Page>
  );
}

function Searching() {
  return (
    <div class="searching" aria-hidden="true">
      <span />
      <span />
      <span />
    </div>
  );
}

function Remark({ lobby }: { lobby: Lobby }) {
  const { t } = useLocale();
  const { waiting_per_minute } = useStudy();
  const [testid, text] = lobby.nothing_left
    ? ["nothing-left", lobby.stop_pays > 0 ? t.waiting.nothing : t.waiting.nothingUnpaid]
    : lobby.paused
      ? ["paused", waiting_per_minute > 0 ? t.waiting.paused : t.waiting.pausedUnpaid]
      : ["stay", t.waiting.stay];
  // One element, so that what changes in it is read out.
  return (
    <div class="lead" role="status">
      <p data-testid={testid}>{text}</p>
      {lobby.may_stop && !lobby.nothing_left && <p class="unseen">{t.waiting.choiceTitle}</p>}
    </div>
  );
}

function Wait({ lobby }: { lobby: Lobby }) {
  const { t, clock, number } = useLocale();
  const waited = lobby.waited_s + Math.max(0, useServerTime() - lobby.now);
  return (
    <dl class="facts">
      <div class="fact">
        <dt>{t.waiting.waited}</dt>
        <dd>
          <span role="timer" data-testid="waited">
            {clock(Math.floor(waited))}
          </span>
        </dd>
      </div>
      {!lobby.nothing_left && !lobby.paused && (
        <>
          <div class="fact">
            <dt>{t.waiting.estimate}</dt>
            <dd data-testid="estimate">
              <Estimate seconds={lobby.estimate_s} />
            </dd>
          </div>
          {lobby.position !== null && (
            <div class="fact">
              <dt>{t.waiting.position}</dt>
              <dd data-testid="position">
                {lobby.position === 1 ? t.waiting.next : number(lobby.position)}
              </dd>
            </div>
          )}
        </>
      )}
    </dl>
  );
}

function Estimate({ seconds }: { seconds: number | null }) {
  const { t } = useLocale();
  if (seconds === null) return <>{t.waiting.unknown}</>;
  if (seconds < 60) return <>{t.waiting.soon}</>;
  return <>{t.common.aboutMinutes(Math.round(seconds / 60))}</>;
}

/** Said before the limit has passed. As the server reckons: every begun minute counts, and waiting
 * pays no more than the dialog. */
function Assurance({ lobby }: { lobby: Lobby }) {
  const { t, span, money } = useLocale();
  const study = useStudy();
  const cents = Math.min(Math.ceil(lobby.limit_s / 60) * study.waiting_per_minute, study.pays);
  const limit = span(lobby.limit_s);
  return (
    <Note tone="calm" silent testid="if-nobody">
      <p>
        {cents > 0
          ? t.waiting.ifNobody(limit, money(cents, study.currency))
          : t.waiting.ifNobodyUnpaid(limit, study.pays > 0)}
      </p>
    </Note>
  );
}

function Choice({ lobby }: { lobby: Lobby }) {
  const { t, money } = useLocale();
  const study = useStudy();
  const attempt = useAttempt(useActions().stopWaiting);
  const [waitingOn, setWaitingOn] = useState(false);
  const kept = useHeir<HTMLParagraphElement>(waitingOn);
  const stop = (
    <Button
      testid="stop-waiting"
      look={lobby.nothing_left ? "main" : "plain"}
      busy={attempt.busy}
      onPress={attempt.go}
    >
      {lobby.stop_pays > 0
        ? t.waiting.stopNow(money(lobby.stop_pays, study.currency))
        : t.waiting.stopNowUnpaid}
    </Button>
  );
  if (lobby.nothing_left) {
    return (
      <>
        <Failure attempt={attempt} />
        <div class="finale">{stop}</div>
      </>
    );
  }
  return (
    <section class="choice" data-testid="choice">
      {waitingOn ? (
        <p ref={kept} role="status" tabIndex={-1}>
          {t.waiting.waitingOn}
        </p>
      ) : (
        <>
          <h2>{lobby.paused ? t.waiting.choicePaused : t.waiting.choiceTitle}</h2>
          {study.waiting_per_minute > 0 && <p class="muted">{t.waiting.waitOnNote}</p>}
        </>
      )}
      <Failure attempt={attempt} />
      <div class="actions">
        {stop}
        {!waitingOn && (
          <Button testid="wait-on" look="main" onPress={() => setWaitingOn(true)}>
            {t.waiting.waitOn}
          </Button>
        )}
      </div>
    </section>
  );
}
