/** Telling the team about a problem: over the socket, or by the contact before there is one. */

import { useContext, useId, useState } from "preact/hooks";
import { ActionsContext, useAttempt, useLocale, useStudy } from "../context";
import { useHeir } from "../focus";
import type { Actions } from "../live";
import { Button } from "./Button";
import { Modal } from "./Modal";
import { Failure, Note } from "./Note";

export function Report({ onClose }: { onClose: () => void }) {
  const { t } = useLocale();
  const { contact } = useStudy();
  const actions = useContext(ActionsContext);
  return (
    <Modal title={t.report.title} testid="report-dialog" onClose={onClose}>
      {actions === null ? <p>{t.report.noContact}</p> : <ReportForm actions={actions} onClose={onClose} />}
      {contact !== "" && (
        <p class="muted">
          {t.report.contact} <bdi data-testid="contact">{contact}</bdi>
        </p>
      )}
    </Modal>
  );
}

function ReportForm({ actions, onClose }: { actions: Actions; onClose: () => void }) {
  const { t } = useLocale();
  const { pays } = useStudy();
  const [text, setText] = useState("");
  const [sent, setSent] = useState(false);
  const thanks = useHeir<HTMLParagraphElement>(sent);
  const box = useId();
  const attempt = useAttempt(() => actions.report(text.trim()), () => setSent(true));
  if (sent) {
    return (
      <>
        <Note tone="good" icon="check" testid="report-thanks">
          <p ref={thanks} tabIndex={-1}>
            {t.report.thanks}
          </p>
        </Note>
        <div class="actions">
          <Button testid="report-done" look="main" onPress={onClose}>
            {t.common.close}
          </Button>
        </div>
      </>
    );
  }
  return (
    <>
      <p>{t.report.intro(pays > 0)}</p>
      <label class="field" for={box}>
        {t.report.text}
      </label>
      <textarea
        id={box}
        class="box"
        data-testid="report-text"
        dir={text === "" ? undefined : "auto"}
        rows={4}
        maxLength={5000}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Failure attempt={attempt} />
      <div class="actions">
        <Button testid="report-cancel" onPress={onClose}>
          {t.common.cancel}
        </Button>
        <Button
          testid="report-send"
          look="main"
          busy={attempt.busy}
          unavailable={text.trim() === ""}
          onPress={attempt.go}
        >
          {attempt.busy ? t.common.sending : t.report.send}
        </Button>
      </div>
    </>
  );
}
