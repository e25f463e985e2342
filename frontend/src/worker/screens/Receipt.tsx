/** What is paid and by whom, and the code that proves it. */

import { useRef, useState } from "preact/hooks";
import type { Released } from "../../generated/wire";
import { useLocale, useStudy } from "../context";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";

/** The ends by which somebody has done what was asked. */
export const COMPLETED: ReadonlySet<Released["release"]> = new Set([
  "completed",
  "finished_alone",
  "ended_by_team",
]);

export function Receipt({ released }: { released: Released }) {
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
      {released.code !== "" && <Code code={released.code} done={done} paid={paid} />}
    </dl>
  );
}

interface CodeProps {
  code: string;
  done: boolean;
  paid: boolean;
}

function Code({ code, done, paid }: CodeProps) {
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
      {paid && <PaidByTeam />}
      <dd>
        <p role="status" class={copied === "failed" ? "small" : "unseen"}>
          {copied === "failed" ? t.end.copyFailed : copied === "yes" ? t.end.copied : ""}
        </p>
      </dd>
    </div>
  );
}

/** Only a plain link has a code to show, and there no platform pays. */
function PaidByTeam() {
  const { t } = useLocale();
  const { contact } = useStudy();
  return (
    <dd class="small" data-testid="paid-by-team">
      {t.end.paidByTeam}
      {contact !== "" && (
        <>
          {" "}
          {t.end.paidContact} <bdi>{contact}</bdi>
        </>
      )}
    </dd>
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
