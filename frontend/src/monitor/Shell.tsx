/** What stands around every view: where one can go, how the study stands, what is wrong. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAct } from "./act";
import { useMay, useMonitor } from "./context";
import { count } from "./format";
import { Button } from "./parts/Button";
import { Problem } from "./parts/Modal";
import { Pill } from "./parts/Pill";
import { At } from "./parts/Time";
import type { Place } from "./router";
import { useStore } from "./store";
import { t } from "./texts";

const VIEWS = [
  ["now", "/monitor"],
  ["dialogs", "/monitor/dialogs"],
  ["review", "/monitor/review"],
  ["workers", "/monitor/workers"],
  ["money", "/monitor/money"],
  ["study", "/monitor/study"],
  ["log", "/monitor/log"],
] as const;

const OF: Partial<Record<Place["view"], string>> = { dialog: "dialogs", worker: "workers" };

interface Props {
  place: Place;
  onLeave: () => void;
  children: ComponentChildren;
}

export function Shell({ place, onLeave, children }: Props) {
  const { me } = useMonitor();
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [place.view]);
  return (
    <>
      <a class="skip" href="#main">
        {t.shell.skip}
      </a>
      <header class={open ? "top top-open" : "top"}>
        <div class="brand">
          <span class="brand-title" dir="auto">
            {me.study.title}
          </span>
          <Status />
        </div>
        <button
          type="button"
          class="button button-quiet menu-button"
          data-testid="menu"
          aria-expanded={open}
          aria-controls="menu"
          onClick={() => setOpen(!open)}
        >
          {t.shell.menu}
          {!open && <Waiting />}
        </button>
        <div class="top-menu" id="menu">
          <nav aria-label={t.shell.views}>
            <ul>
              {VIEWS.map(([view, href]) => (
                <li key={view}>
                  <a href={href} aria-current={(OF[place.view] ?? place.view) === view ? "page" : undefined}>
                    {t.views[view]}
                    {view === "review" && <Waiting />}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <Account onLeave={onLeave} />
        </div>
      </header>
      <Lost />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <ToastList />
    </>
  );
}

function Status() {
  const { live } = useMonitor();
  const now = useStore(live.now);
  const link = useStore(live.link);
  return (
    <span class="status" data-testid="status">
      {now !== null && <Pill tone={now.status === "open" ? "good" : "warn"}>{t.studyStatus[now.status]}</Pill>}
      <span class={`link link-${link.state}`}>{t.link[link.state]}</span>
    </span>
  );
}

function Waiting() {
  const { live } = useMonitor();
  const now = useStore(live.now);
  const may = useMay("reviewer");
  if (!may || !now?.to_review) return null;
  return (
    <>
      {" "}
      <span class="badge num">
        {count(now.to_review)}
        <span class="unseen"> {t.shell.waiting}</span>
      </span>
    </>
  );
}

function Account({ onLeave }: { onLeave: () => void }) {
  const { api, me } = useMonitor();
  const act = useAct();
  const leave = (everywhere: boolean) =>
    void act.run(everywhere ? api.signOutEverywhere : api.signOut, onLeave);
  return (
    <details class="account">
      <summary data-testid="account">
        <span dir="auto">{me.name}</span> <span class="muted">{t.adminRoles[me.role]}</span>
      </summary>
      <div class="account-menu">
        <Button testid="sign-out" onPress={() => leave(false)} busy={act.busy}>
          {t.shell.signOut}
        </Button>
        <Button testid="sign-out-everywhere" look="quiet" onPress={() => leave(true)} busy={act.busy}>
          {t.shell.signOutEverywhere}
        </Button>
        <Problem text={act.error} />
      </div>
    </details>
  );
}

/** Says plainly that what is seen may be old, and since when. */
function Lost() {
  const { live } = useMonitor();
  const link = useStore(live.link);
  return (
    <div role="status" class="lost-place">
      {(link.state === "lost" || link.state === "waits") && (
        <p class="lost" data-testid="lost">
          {t.lost.before[link.state]} <At at={link.since / 1_000} seconds />. {t.lost.after}
        </p>
      )}
    </div>
  );
}

function ToastList() {
  const { toasts } = useMonitor();
  const shown = useStore(toasts.shown);
  return (
    <div class="toasts" role="status" data-testid="toasts">
      {shown.map((toast) => (
        <p key={toast.id} class="toast">
          <span>{toast.text}</span>
          <button
            type="button"
            class="button button-quiet"
            aria-label={t.common.dismiss}
            onClick={() => toasts.drop(toast.id)}
          >
            ×
          </button>
        </p>
      ))}
    </div>
  );
}
