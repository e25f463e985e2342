/** Shows one screen by `?screen=name&lang=ar`, or the list of them. For looking and testing only. */

import { render } from "preact";
import "../styles/worker.css";
import { localeFor } from "../texts";
import { ActionsContext, LocaleContext, StudyContext, TimeContext } from "../worker/context";
import type { Actions } from "../worker/live";
import { LiveView } from "../worker/LiveView";
import { Onboarding, type StepName } from "../worker/Onboarding";
import { Bar } from "../worker/parts/Bar";
import { LanguageChooser } from "../worker/parts/LanguageChooser";
import { Crashed, Loading, Refusal, Unreachable } from "../worker/screens/Halted";
import { live, NOW, study, studyOf } from "./fixtures";

const search = new URLSearchParams(window.location.search);
const screen = search.get("screen") ?? "";
const locale = localeFor(search.get("lang") ?? "en");
document.documentElement.lang = locale.lang;
document.documentElement.dir = locale.dir;

const accepted = () => Promise.resolve({ ok: true, value: null } as const);
const nothing = () => undefined;
const actions: Actions = {
  ready: accepted,
  start: accepted,
  decline: accepted,
  leave: accepted,
  stopWaiting: accepted,
  pairAgain: accepted,
  finish: accepted,
  report: accepted,
  typed: nothing,
  submit: nothing,
  retry: nothing,
  continueHere: nothing,
};

const STEPS: Record<string, StepName> = {
  preview: "preview",
  "preview-not-accepted": "preview",
  "preview-paused": "preview",
  "preview-unpaid-study": "preview",
  consent: "consent",
  instructions: "instructions",
  "instructions-blurred": "instructions",
  "instructions-unpaid-study": "instructions",
  check: "check",
};

const HALTS = {
  loading: <Loading />,
  unreachable: <Unreachable onRetry={nothing} />,
  refusal: <Refusal refused={{ code: "cap_reached", error: "You have taken part often enough." }} />,
  "no-invitation": (
    <Refusal refused={{ code: "no_invitation", error: locale.t.refusals.no_invitation }} />
  ),
  crashed: <Crashed />,
};

function Screen() {
  const step = STEPS[screen];
  if (step !== undefined) {
    const chooser = <LanguageChooser offered={study.languages} language={locale.lang} onChoose={nothing} />;
    return (
      <div class="frame">
        <Bar extra={chooser} />
        <Onboarding study={studyOf(screen)} first={step} arrive={accepted} />
      </div>
    );
  }
  if (screen in HALTS) return HALTS[screen as keyof typeof HALTS];
  const make = live[screen];
  if (make === undefined) return <Index />;
  return (
    <ActionsContext.Provider value={actions}>
      <LiveView model={make(locale.lang)} onAnother={accepted} />
    </ActionsContext.Provider>
  );
}

function Index() {
  const names = [...Object.keys(STEPS), ...Object.keys(live), ...Object.keys(HALTS)];
  return (
    <main class="page">
      <h1>Gallery</h1>
      <ul data-testid="screens">
        {names.map((name) => (
          <li key={name}>
            <a href={`?screen=${name}`}>{name}</a>
          </li>
        ))}
      </ul>
    </main>
  );
}

const root = document.getElementById("app");
if (root !== null) {
  render(
    <LocaleContext.Provider value={locale}>
      <StudyContext.Provider value={studyOf(screen)}>
        <TimeContext.Provider value={() => NOW}>
          <Screen />
        </TimeContext.Provider>
      </StudyContext.Provider>
    </LocaleContext.Provider>,
    root,
  );
}
