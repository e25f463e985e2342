/** How it ended, what is paid, and the last step; the same whenever the link is opened again. */

import { useId, useRef, useState } from "preact/hooks";
import type { Dialog, Released, Submit } from "../../generated/wire";
import { Shown } from "../chat/Conversation";
import type { Reply } from "../connection";
import { useActions, useAttempt, useLocale, useStudy } from "../context";
import { useHeir } from "../focus";
import { entries } from "../machine/dialog";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Failure, Note } from "../parts/Note";
import { Page } from "../parts/Page";
import { COMPLETED, Receipt } from "./Receipt";
import type { Locale, Texts } from "../../texts";

interface Props {
  released: Released;
  /** Only for who stayed to the end. */
  dialog: Dialog | null;
  onAnother: (() => Promise<Reply>) | null;
}

export function End({ released, dialog, onAnother }: Props) {
  const { t } = useLocale();
  const { recruiter, pays } = useStudy();
  const good = released.cents > 0 || (pays === 0 && COMPLETED.has(released.release));
  const words = released.by_team ? t.end.ended_by_team.by : t.end[released.release];
  const way = wayOut(released, recruiter);
  // In a small frame only the top is seen, and who misses the last step there is not paid.
  const lastStep = way === "none" ? null : t.end.lastStep[way];
  return (
    <Page
      screen="released"
      title={lastStep ?? words.title}
      narrow
      above={
        lastStep === null && (
          <span class={good ? "seal seal-good" : "seal"} aria-hidden="true">
            <Icon name={good ? "check" : "info"} large />
          </span>
        )
      }
    >
      {lastStep !== null && <LastStep released={released} way={way} />}
      {lastStep !== null && <h2>{words.title}</h2>}
      <p class="lead" data-testid="release" data-release={released.release}>
        {wordsOf(released, t)}
      </p>
      {released.reason !== undefined && released.reason !== "" && (
        <div class="team" data-testid="team-reason">
          <p class="bubble-who">{t.chat.team}</p>
          <p class="bubble-text" dir="auto">
            {released.reason}
          </p>
        </div>
      )}
      {lastStep === null && <Receipt released={released} />}
      {lastStep === null && <LastStep released={released} way={way} />}
      {released.another && onAnother !== null && <Another onAnother={onAnother} />}
      {dialog !== null && <Transcript dialog={dialog} />}
    </Page>
  );
}

/**
 * What is left to do: hand in by the recruiter's form, go back to Prolific, which wants to hear of
 * every end, give the work back where there is nothing to hand in, or nothing.
 */
type WayOut = "handIn" | "toProlific" | "giveBack" | "none";

function wayOut({ submit }: Released, recruiter: string): WayOut {
  if (submit !== null) return recruiter === "prolific" ? "toProlific" : "handIn";
  return recruiter === "mturk" ? "giveBack" : "none";
}

function wordsOf({ release, why, cents, by_team }: Released, t: Texts): string {
  if (by_team) return t.end.ended_by_team.by.text;
  if (release === "left" && why != null) return t.end.left.by[why];
  if ((release === "never_paired" || release === "finished_alone") && cents === 0) {
    return t.end[release].unpaid;
  }
  return t.end[release].text;
}

/** The last message ends the dialog, so this is where it is read. */
function Transcript({ dialog }: { dialog: Dialog }) {
  const { t } = useLocale();
  const heading = useId();
  return (
    <section class="transcript" aria-labelledby={heading} data-testid="transcript">
      <h2 id={heading}>{t.end.transcript}</h2>
      {dialog.item.caption !== null && (
        <div class="caption">
          <p class="caption-name">{t.chat.caption}</p>
          <p class="caption-text" dir="auto">
            {dialog.item.caption}
          </p>
        </div>
      )}
      <ol class="log">
        {entries(dialog).map((entry) => (
          <li key={entry.seq}>
            <Shown entry={entry} dialog={dialog} />
          </li>
        ))}
      </ol>
    </section>
  );
}

const PATIENCE_MS = 3_000;

/** The feedback; and the button that hands the work in, where the recruiter has a form for it. */
function LastStep({ released, way }: { released: Released; way: WayOut }) {
  const { submit } = released;
  if (submit !== null) return <HandIn released={released} submit={submit} way={way} />;
  return way === "giveBack" ? <GiveBack released={released} /> : <Farewell released={released} />;
}

/** The platform still holds the work as this person's, and only its own page can end that. */
function GiveBack({ released }: { released: Released }) {
  const { t } = useLocale();
  const [feedback, setFeedback] = useState("");
  return (
    <section class="last-step">
      <Note tone="warn" silent testid="give-back">
        <p>{t.end.giveBack}</p>
      </Note>
      <Opinion value={feedback} onInput={setFeedback} sent={released.feedback_sent} />
    </section>
  );
}

function Farewell({ released }: { released: Released }) {
  const { t } = useLocale();
  const actions = useActions();
  const [feedback, setFeedback] = useState("");
  const [finished, setFinished] = useState(released.feedback_sent);
  const done = useHeir<HTMLParagraphElement>(finished);
  const attempt = useAttempt(
    () => actions.finish(feedback.trim()),
    () => setFinished(true),
  );
  if (finished) {
    return (
      <Note tone="good" icon="check" testid="finished">
        <p ref={done} tabIndex={-1}>
          {t.end.finished}
        </p>
      </Note>
    );
  }
  return (
    <section class="last-step">
      <Feedback value={feedback} onInput={setFeedback} />
      <Failure attempt={attempt} />
      <div class="finale">
        <Button testid="finish" look="main" busy={attempt.busy} onPress={attempt.go}>
          {t.end.finish}
        </Button>
      </div>
    </section>
  );
}

interface HandInProps {
  released: Released;
  submit: Submit;
  way: WayOut;
}

function HandIn({ released, submit, way }: HandInProps) {
  const locale = useLocale();
  const { t } = locale;
  const { pays } = useStudy();
  const pay = locale.money(released.cents, released.currency);
  const actions = useActions();
  const [feedback, setFeedback] = useState("");
  const form = useRef<HTMLFormElement>(null);
  const handIn = useAttempt(async () => {
    // Handing in must not hang on the feedback, and may be tried as often as wanted.
    const patience = new Promise((over) => setTimeout(over, PATIENCE_MS));
    await Promise.race([actions.finish(feedback.trim()), patience]);
    form.current?.submit();
    return { ok: true, value: null };
  });
  return (
    <section class="last-step">
      <p data-testid="hand-in">
        {way === "toProlific"
          ? toProlificText(released, submit, locale, pays)
          : `${(submit.by_hand ? t.end.handInByHand : t.end.handIn)(pay)} ${t.end.handInNoReturn}`}
      </p>
      {!released.feedback_sent && <Feedback value={feedback} onInput={setFeedback} along />}
      <div class="finale">
        <Button testid="finish" look="main" busy={handIn.busy} onPress={handIn.go}>
          {way === "toProlific" ? t.end.prolific.button : t.end.submit}
        </Button>
      </div>
      {way === "handIn" && <HowPaid released={released} submit={submit} />}
      <p class="muted small">{t.end.submitNote}</p>
      <form ref={form} method={submit.method} action={submit.url} data-testid="submit-form" hidden>
        {Object.entries(submit.fields).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
      </form>
    </section>
  );
}

/**
 * In which parts the pay comes, as the marketplace shows the reward alone until the bonus is there,
 * and when at the latest. Below the button, which a small frame must show.
 */
function HowPaid({ released: { cents, currency }, submit }: { released: Released; submit: Submit }) {
  const { t, money, span } = useLocale();
  const { reward = null, by_hand = false, reward_after_s = null } = submit;
  const inParts = reward !== null && reward < cents;
  const words: string[] = [];
  if (inParts) words.push(t.end.handInParts(money(reward, currency), money(cents - reward, currency)));
  if (by_hand && reward_after_s && reward !== null) {
    const latest = inParts ? t.end.handInLatestReward : t.end.handInLatest;
    words.push(latest(span(reward_after_s)));
  }
  return words.length > 0 ? <p data-testid="how-paid">{words.join(" ")}</p> : null;
}

/**
 * What going back to Prolific means for the pay: it asks who did not complete the work to return it,
 * and whom the team gives less than the `full` pay.
 */
function toProlificText(
  { release, cents, currency, by_team }: Released,
  submit: Submit,
  { t, money }: Locale,
  full: number,
): string {
  if (cents === 0) return t.end.prolific.unpaid;
  const completed = COMPLETED.has(release) && !(by_team && cents < full);
  const words = (completed ? t.end.prolific.paid : t.end.prolific.bonus)(money(cents, currency));
  return submit.by_hand ? `${words} ${t.end.prolific.byHand}` : words;
}

interface OpinionProps {
  value: string;
  onInput: (text: string) => void;
  /** It was sent before. */
  sent: boolean;
}

/** The feedback by itself, where nothing is left to press that it could go along with. */
function Opinion({ value, onInput, sent }: OpinionProps) {
  const { t } = useLocale();
  const actions = useActions();
  const [told, setTold] = useState(sent);
  const thanks = useHeir<HTMLParagraphElement>(told);
  const tell = useAttempt(
    () => actions.finish(value.trim()),
    () => setTold(true),
  );
  if (told) {
    return (
      <p ref={thanks} tabIndex={-1} class="muted" role="status">
        {t.end.feedbackSent}
      </p>
    );
  }
  return (
    <>
      <Feedback value={value} onInput={onInput} />
      <Failure attempt={tell} />
      {value.trim() !== "" && (
        <Button testid="send-feedback" busy={tell.busy} onPress={tell.go}>
          {t.end.sendFeedback}
        </Button>
      )}
    </>
  );
}

interface FeedbackProps {
  value: string;
  onInput: (text: string) => void;
  /** Above the button that hands in, which it must leave in sight. */
  along?: boolean;
}

function Feedback({ value, onInput, along = false }: FeedbackProps) {
  const { t } = useLocale();
  const box = useId();
  return (
    <>
      <label class="field" for={box}>
        {along ? t.end.feedbackAlong : t.end.feedback}
      </label>
      <textarea
        id={box}
        class="box"
        data-testid="feedback"
        dir={value === "" ? undefined : "auto"}
        rows={along ? 1 : 3}
        maxLength={5000}
        placeholder={along ? undefined : t.end.feedbackHint}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </>
  );
}

function Another({ onAnother }: { onAnother: () => Promise<Reply> }) {
  const { t, pay } = useLocale();
  const study = useStudy();
  const attempt = useAttempt(onAnother);
  return (
    <section class="another">
      <p class="muted">{t.end.anotherNote(pay(study.pays, study.currency))}</p>
      <Failure attempt={attempt} />
      <Button testid="another" busy={attempt.busy} onPress={attempt.go}>
        {t.end.another}
      </Button>
    </section>
  );
}
