/** What is out of the ordinary: a partner away or gone, a turn that is running out. */

import type { Dialog } from "../../generated/wire";
import { useActions, useAttempt, useLocale, useServerTime, useStudy } from "../context";
import { allSent } from "../machine/model";
import { Button } from "../parts/Button";
import { Failure, Note } from "../parts/Note";

/** The last seconds of a turn, in which its clock is shown. */
const TURN_SHOWN_S = 60;

export function Notices({ dialog }: { dialog: Dialog }) {
  const away = dialog.phase === "paired" && !dialog.partner.present;
  return (
    <>
      {dialog.phase === "solo" && !allSent(dialog) && <Alone dialog={dialog} />}
      {away && <Away dialog={dialog} />}
      {!away && !allSent(dialog) && <PartnersClock dialog={dialog} />}
      {!away && allSent(dialog) && <LastAnswer dialog={dialog} />}
    </>
  );
}

function Away({ dialog }: { dialog: Dialog }) {
  const { t, clock } = useLocale();
  const now = useServerTime();
  const left = (dialog.partner.grace_ends_at ?? now) - now;
  const until = (time: string) =>
    allSent(dialog) ? t.away.untilDone(time) : t.away.until(time, dialog.pays > 0);
  return (
    <Note tone="warn" icon="away" silent testid="partner-away">
      <p>
        <strong role="status">{t.away.note}</strong>{" "}
        <span role="timer">{left > 0 ? until(clock(left)) : t.away.over}</span>
      </p>
    </Note>
  );
}

/** The seconds that whoever's turn it is still has; null while there is no need to hurry. */
function useHurry(dialog: Dialog): number | null {
  const now = useServerTime();
  if (dialog.turn_ends_at === null || dialog.turn === null || allSent(dialog)) return null;
  const left = dialog.turn_ends_at - now;
  return left > TURN_SHOWN_S ? null : left;
}

function PartnersClock({ dialog }: { dialog: Dialog }) {
  const { t, clock } = useLocale();
  const left = useHurry(dialog);
  if (dialog.your_turn || left === null || left <= 0) return null;
  return (
    <p class="turn-clock muted" role="timer" data-testid="partner-countdown">
      {t.turn.partner(clock(left), dialog.pays > 0)}
    </p>
  );
}

/** For who has sent everything: how long it takes at most until the last step. */
function LastAnswer({ dialog }: { dialog: Dialog }) {
  const { t, clock } = useLocale();
  const now = useServerTime();
  if (dialog.phase !== "paired" || dialog.turn_ends_at === null) return null;
  const left = dialog.turn_ends_at - now;
  return (
    <p class="turn-clock muted" role="timer" data-testid="last-answer">
      {left > 0 ? t.turn.lastAnswer(clock(left)) : t.turn.lastAnswerLate}
    </p>
  );
}

/** Beside the box, where nothing scrolls it out of sight. */
export function OwnClock({ dialog }: { dialog: Dialog }) {
  const { t, clock } = useLocale();
  const left = useHurry(dialog);
  if (!dialog.your_turn || left === null) return null;
  return (
    <Note tone="warn" icon="clock" silent testid="turn-countdown">
      <p role="timer">{left > 0 ? t.turn.left(clock(left)) : t.turn.over}</p>
      {/* A timer is not read out; its two occasions are. */}
      <p class="unseen" role="alert">
        {left > 0 ? t.turn.soon : t.turn.over}
      </p>
    </Note>
  );
}

function Alone({ dialog }: { dialog: Dialog }) {
  const { t, pay } = useLocale();
  const study = useStudy();
  return (
    <Note tone="good" urgent testid="solo-note">
      <p>
        <strong>{t.solo.title}.</strong> {t.solo.pay(pay(dialog.pays, study.currency))}{" "}
        {dialog.role === "questioner" ? t.solo.ask : t.solo.tell}
      </p>
      {dialog.may_pair_again && <PairAgain dialog={dialog} />}
    </Note>
  );
}

/** Up to this many messages a conversation had only just begun: the first question and answer. */
const JUST_BEGUN = 2;

/**
 * The other choice, and what it pays: the next conversation as a whole, nothing for this one; and
 * if there is no next, the wait, which the server reckons from the first *ready* on.
 */
function PairAgain({ dialog }: { dialog: Dialog }) {
  const { t, pay: payOf } = useLocale();
  const { pays, waiting_per_minute, currency } = useStudy();
  const pay = payOf(pays, currency);
  const rate = payOf(waiting_per_minute, currency);
  const attempt = useAttempt(useActions().pairAgain);
  return (
    <div class="pair-again">
      <p data-testid="pair-again-pays">
        {dialog.messages.length <= JUST_BEGUN && `${t.solo.againTitle} `}
        {t.solo.againNote}{" "}
        {pay === null
          ? t.solo.againUnpaid
          : `${t.solo.againPay(pay)} ${rate === null ? t.solo.againNoWait : t.solo.againWait(rate, pay)}`}
      </p>
      <Button testid="pair-again" busy={attempt.busy} onPress={attempt.go}>
        {t.solo.again}
      </Button>
      <Failure attempt={attempt} />
    </div>
  );
}
