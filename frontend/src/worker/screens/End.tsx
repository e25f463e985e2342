/** How it ended, what is paid, and the last step; the same whenever the link is opened again. */

import { useId, useRef, useState } from "preact/hooks";
import type { Dialog, Released } from "../../generated/wire";
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
  const glad = released.cents > 0;
  return (
    <Page
      screen="released"
      title={t.end[released.release].title}
      narrow
      above={
        <span class={glad ? "seal seal-good" : "seal"} aria-hidden="true">
          <Icon name={glad ? "check" : "info"} large />
        </span>
      }
    >
      <p class="lead" data-testid="release" data-release={released.release}>
        {wordsOf(released, t)}
      </p>
      <Receipt released={released} />
      <LastStep released={released} />
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
  return (
    <dl class="receipt">
      <div>
        <dt>{t.end.amount}</dt>
        <dd class="amount" data-testid="amount" data-cents={released.cents}>
          {released.cents > 0 ? money(released.cents, released.currency) : t.end.unpaid}
        </dd>
      </div>
      {released.code !== "" && <Code code={released.code} />}
    </dl>
  );
}

function Code({ code }: { code: string }) {
  const { t } = useLocale();
  const [copied, setCopied] = useState<"no" | "yes" | "failed">("no");
  const text = useRef<HTMLElement>(null);
  const copy = async () => setCopied((await copyText(code, text.current)) ? "yes" : "failed");
  return (
    <div>
      <dt>{t.end.code}</dt>
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

function LastStep({ released }: { released: Released }) {
  const { t } = useLocale();
  const actions = useActions();
  const [feedback, setFeedback] = useState("");
  const [finished, setFinished] = useState(released.feedback_sent);
  const form = useRef<HTMLFormElement>(null);
  const done = useHeir<HTMLParagraphElement>(finished);
  const box = useId();
  const { submit } = released;
  const attempt = useAttempt(
    async () => {
      const reply = actions.finish(feedback.trim());
      if (submit === null) return reply;
      // Handing in must not hang on the feedback, and may be tried as often as wanted.
      await Promise.race([reply, new Promise((patience) => setTimeout(patience, PATIENCE_MS))]);
      form.current?.submit();
      return { ok: true, value: null };
    },
    () => setFinished(true),
  );
  if (finished && submit === null) {
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
      {finished ? (
        <p class="muted" role="status">
          {t.end.feedbackSent}
        </p>
      ) : (
        <>
          <label class="field" for={box}>
            {t.end.feedback}
          </label>
          <textarea
            id={box}
            class="box"
            data-testid="feedback"
            dir={feedback === "" ? undefined : "auto"}
            rows={3}
            maxLength={5000}
            placeholder={t.end.feedbackHint}
            value={feedback}
            onInput={(event) => setFeedback(event.currentTarget.value)}
          />
        </>
      )}
      {submit !== null && <p class="muted small">{t.end.submitNote}</p>}
      <Failure attempt={attempt} />
      <div class="finale">
        <Button testid="finish" look="main" busy={attempt.busy} onPress={attempt.go}>
          {submit === null ? t.end.finish : t.end.submit}
        </Button>
      </div>
      {submit !== null && (
        <form
          ref={form}
          method={submit.method}
          action={submit.url}
          data-testid="submit-form"
          hidden
        >
          {Object.entries(submit.fields).map(([name, value]) => (
            <input key={name} type="hidden" name={name} value={value} />
          ))}
        </form>
      )}
    </section>
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
