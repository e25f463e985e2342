/** How it ended, what is paid, and the last step; the same whenever the link is opened again. */

import { useId, useRef, useState } from "preact/hooks";
import type { Dialog, Released, Submit } from "../../generated/wire";
import { Said } from "../chat/Conversation";
import type { Reply } from "../connection";
import { useActions, useAttempt, useLocale, useStudy } from "../context";
import { useHeir } from "../focus";
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
  const owed = released.cents > 0;
  const words = t.end[released.release];
  // In a small frame only the top is seen, and who misses the last step there is not paid.
  const handIn = owed && released.submit !== null;
  return (
    <Page
      screen="released"
      title={handIn ? t.end.lastStep : words.title}
      narrow
      above={
        !handIn && (
          <span class={owed ? "seal seal-good" : "seal"} aria-hidden="true">
            <Icon name={owed ? "check" : "info"} large />
          </span>
        )
      }
    >
      {handIn && <LastStep released={released} />}
      {handIn && <h2>{words.title}</h2>}
      <p class="lead" data-testid="release" data-release={released.release}>
        {wordsOf(released, t)}
      </p>
      {!handIn && <Receipt released={released} />}
      {!handIn && <LastStep released={released} />}
      {released.another && onAnother !== null && <Another onAnother={onAnother} />}
      {dialog !== null && <Transcript dialog={dialog} />}
    </Page>
  );
}

function wordsOf({ release, why, cents }: Released, t: Texts): string {
  if (release === "left" && why != null) return t.end.left.by[why];
  if (release === "never_paired" && cents === 0) return t.end.never_paired.unpaid;
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
        {dialog.messages.map((message) => (
          <li key={message.seq}>
            <Said message={message} dialog={dialog} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Receipt({ released }: { released: Released }) {
  const { t, money } = useLocale();
  const paid = released.cents > 0;
  // Where the work is handed in here, nobody asks for a code.
  const coded = released.code !== "" && released.submit === null;
  return (
    <dl class="receipt">
      <div>
        <dt>{paid ? t.end.amount : t.end.pay}</dt>
        <dd class="amount" data-testid="amount" data-cents={released.cents}>
          {paid ? money(released.cents, released.currency) : t.end.unpaid}
        </dd>
      </div>
      {coded && <Code code={released.code} paid={paid} />}
    </dl>
  );
}

function Code({ code, paid }: { code: string; paid: boolean }) {
  const { t } = useLocale();
  const [copied, setCopied] = useState<"no" | "yes" | "failed">("no");
  const text = useRef<HTMLElement>(null);
  const copy = async () => setCopied((await copyText(code, text.current)) ? "yes" : "failed");
  return (
    <div>
      <dt>{paid ? t.end.code : t.end.codeUnpaid}</dt>
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
function LastStep({ released }: { released: Released }) {
  const { submit } = released;
  return submit === null ? <Farewell released={released} /> : <HandIn released={released} submit={submit} />;
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

function HandIn({ released, submit }: { released: Released; submit: Submit }) {
  const { t, money } = useLocale();
  const actions = useActions();
  const [feedback, setFeedback] = useState("");
  const [told, setTold] = useState(released.feedback_sent);
  const form = useRef<HTMLFormElement>(null);
  const thanks = useHeir<HTMLParagraphElement>(told);
  const handIn = useAttempt(async () => {
    // Handing in must not hang on the feedback, and may be tried as often as wanted.
    const patience = new Promise((over) => setTimeout(over, PATIENCE_MS));
    await Promise.race([actions.finish(feedback.trim()), patience]);
    form.current?.submit();
    return { ok: true, value: null };
  });
  const tell = useAttempt(
    () => actions.finish(feedback.trim()),
    () => setTold(true),
  );
  return (
    <section class="last-step">
      {released.cents > 0 && (
        <p data-testid="hand-in">{t.end.handIn(money(released.cents, released.currency))}</p>
      )}
      <div class="finale">
        <Button testid="finish" look="main" busy={handIn.busy} onPress={handIn.go}>
          {t.end.submit}
        </Button>
      </div>
      <p class="muted small">{t.end.submitNote}</p>
      {told ? (
        <p ref={thanks} tabIndex={-1} class="muted" role="status">
          {t.end.feedbackSent}
        </p>
      ) : (
        <>
          <Feedback value={feedback} onInput={setFeedback} />
          <Failure attempt={tell} />
          {feedback.trim() !== "" && (
            <Button testid="send-feedback" busy={tell.busy} onPress={tell.go}>
              {t.end.sendFeedback}
            </Button>
          )}
        </>
      )}
      <form ref={form} method={submit.method} action={submit.url} data-testid="submit-form" hidden>
        {Object.entries(submit.fields).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
      </form>
    </section>
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
  const { t, money } = useLocale();
  const study = useStudy();
  const attempt = useAttempt(onAnother);
  return (
    <section class="another">
      <p class="muted">{t.end.anotherNote(money(study.pays, study.currency))}</p>
      <Failure attempt={attempt} />
      <Button testid="another" busy={attempt.busy} onPress={attempt.go}>
        {t.end.another}
      </Button>
    </section>
  );
}
