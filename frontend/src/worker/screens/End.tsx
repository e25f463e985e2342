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
import type { Texts } from "../../texts";

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

function Receipt({ released }: { released: Released }) {
  const { t, money } = useLocale();
  const { pays } = useStudy();
  const paid = released.cents > 0;
  const done = paid || (pays === 0 && COMPLETED.has(released.release));
  if (pays === 0 && !paid && released.code === "") return null;
  return (
    <dl class="receipt">
      {(paid || pays > 0) && (
        <div>
          <dt>{paid ? t.end.amount : t.end.pay}</dt>
          <dd class="amount" data-testid="amount" data-cents={released.cents}>
            {paid ? money(released.cents, released.currency) : t.end.unpaid}
          </dd>
        </div>
      )}
      {released.code !== "" && <Code code={released.code} done={done} />}
    </dl>
  );
}

function Code({ code, done }: { code: string; done: boolean }) {
  const { t } = useLocale();
  const [copied, setCopied] = useState<"no" | "yes" | "failed">("no");
  const text = useRef<HTMLElement>(null);
  const copy = async () => setCopied((await copyText(code, text.current)) ? "yes" : "failed");
  return (
    <div>
      <dt>{done ? t.end.code : t.end.codeUnpaid}</dt>
      <dd class="code-row">
        <bdi ref={text} class="code" dir="ltr" data-testid="code">
          {code}
        </bdi>
        <Button testid="copy" onPress={() => void copy()}>
          <Icon name={copied === "yes" ? "check" : "copy"} />
          {copied === "yes" ? t.end.copied : t.end.copy}
        </Button>
      </dd>
      <dd class="muted small">{t.end.codeUse}</dd>
      <dd>
        <p role="status" class={copied === "failed" ? "small" : "unseen"}>
          {copied === "failed" ? t.end.copyFailed : copied === "yes" ? t.end.copied : ""}
        </p>
      </dd>
    </div>
  );
}

/** A frame may be denied the clipboard; then the code is at least selected. */
async function copyText(code: string, element: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(code);
    return true;
  } catch {
    if (element === null) return false;
    window.getSelection()?.selectAllChildren(element);
    return document.execCommand("copy");
  }
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
  const { t, money } = useLocale();
  const { pays } = useStudy();
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
      <p data-testid="hand-in">{handInText(released, way, t, money(released.cents, released.currency), pays)}</p>
      <div class="finale">
        <Button testid="finish" look="main" busy={handIn.busy} onPress={handIn.go}>
          {way === "toProlific" ? t.end.prolific.button : t.end.submit}
        </Button>
      </div>
      <p class="muted small">{t.end.submitNote}</p>
      <Opinion value={feedback} onInput={setFeedback} sent={released.feedback_sent} />
      <form ref={form} method={submit.method} action={submit.url} data-testid="submit-form" hidden>
        {Object.entries(submit.fields).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
      </form>
    </section>
  );
}

/**
 * What handing in means for the pay. Prolific asks who did not complete the work to return it, and
 * whom the team gives less than the `full` pay.
 */
function handInText(
  { release, cents, by_team }: Released,
  way: WayOut,
  t: Texts,
  pay: string,
  full: number,
): string {
  if (way !== "toProlific") return t.end.handIn(pay);
  if (cents === 0) return t.end.prolific.unpaid;
  return COMPLETED.has(release) && !(by_team && cents < full) ? t.end.prolific.paid(pay) : t.end.prolific.bonus(pay);
}

const COMPLETED: ReadonlySet<Released["release"]> = new Set([
  "completed",
  "finished_alone",
  "ended_by_team",
]);

interface OpinionProps {
  value: string;
  onInput: (text: string) => void;
  /** It was sent before. */
  sent: boolean;
}

/** The feedback by itself, beside a last step that does not hang on it. */
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

function Feedback({ value, onInput }: { value: string; onInput: (text: string) => void }) {
  const { t } = useLocale();
  const box = useId();
  return (
    <>
      <label class="field" for={box}>
        {t.end.feedback}
      </label>
      <textarea
        id={box}
        class="box"
        data-testid="feedback"
        dir={value === "" ? undefined : "auto"}
        rows={3}
        maxLength={5000}
        placeholder={t.end.feedbackHint}
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
