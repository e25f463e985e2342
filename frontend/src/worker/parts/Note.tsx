/** A boxed remark. `urgent` ones are read out at once, the others when the reader pauses. */

import type { ComponentChildren } from "preact";
import { refusalText, useLocale, type Attempt } from "../context";
import { Icon, type IconName } from "./Icon";

interface Props {
  tone: "calm" | "warn" | "bad" | "good";
  testid?: string;
  icon?: IconName;
  urgent?: boolean;
  silent?: boolean;
  children: ComponentChildren;
}

export function Note({ tone, testid, icon = "info", urgent = false, silent = false, children }: Props) {
  const role = silent ? undefined : urgent ? "alert" : "status";
  return (
    <div class={`note note-${tone}`} role={role} data-testid={testid}>
      <Icon name={icon} />
      <div class="note-text">{children}</div>
    </div>
  );
}

/** Why the last try of `attempt` came to nothing, if it did. */
export function Failure({ attempt }: { attempt: Attempt }) {
  const locale = useLocale();
  if (attempt.failed === null) return null;
  return (
    <Note tone="bad" urgent testid="problem">
      <p dir="auto">{refusalText(locale, attempt.failed.refused)}</p>
    </Note>
  );
}
