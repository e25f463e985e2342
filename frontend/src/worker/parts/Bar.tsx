/** The top of every screen: which study this is, and the two ways out that are always in reach. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { State } from "../../generated/wire";
import { useLocale, useStudy } from "../context";
import { Icon } from "./Icon";
import { Leave } from "./Leave";
import { Report } from "./Report";

interface Props {
  /** The arrival's state once there is one that can be left. */
  state?: State | null;
  extra?: ComponentChildren;
}

export function Bar({ state = null, extra }: Props) {
  const { t } = useLocale();
  const study = useStudy();
  const [open, setOpen] = useState<"report" | "leave" | null>(null);
  const close = () => setOpen(null);
  // A match has its own "not now", which goes back to the lobby instead of out of the work.
  const leavable = state !== null && state.stage !== "released" && state.stage !== "matched";
  return (
    <header class="bar">
      <p class="bar-title" dir="auto">
        {study.title}
      </p>
      <div class="bar-tools">
        {extra}
        <button
          type="button"
          class="button button-quiet"
          data-testid="report"
          aria-label={t.report.button}
          onClick={() => setOpen("report")}
        >
          <Icon name="flag" />
          <span class="wide-only">{t.report.button}</span>
          <span class="narrow-only">{t.report.short}</span>
        </button>
        {leavable && (
          <button
            type="button"
            class="button button-quiet"
            data-testid="leave"
            onClick={() => setOpen("leave")}
          >
            <Icon name="door" />
            <span>{t.leave.button}</span>
          </button>
        )}
      </div>
      {open === "report" && <Report onClose={close} />}
      {open === "leave" && state !== null && <Leave state={state} onClose={close} />}
    </header>
  );
}
