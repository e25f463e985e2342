/** The page from the link to the end: what the study is, who this is, and then the live part. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Refused, StudyOut } from "../generated/wire";
import { localeFor, pickLanguage, type Locale } from "../texts";
import { fetchStudy, postArrival } from "./api";
import type { Reply } from "./connection";
import { ActionsContext, LocaleContext, StudyContext, TimeContext } from "./context";
import { Live, pageNow } from "./live";
import { LiveView } from "./LiveView";
import { Onboarding, type StepName } from "./Onboarding";
import { Bar } from "./parts/Bar";
import { LanguageChooser } from "./parts/LanguageChooser";
import { Guard } from "./Guard";
import { Loading, Refusal, Unreachable } from "./screens/Halted";
import { chooseLanguage, chosenLanguage, DraftShelf, workerKey } from "./storage";

type Entry =
  | { at: "loading" }
  | { at: "unreachable"; study: StudyOut | null }
  | { at: "refused"; study: StudyOut | null; refused: Refused }
  | { at: "door"; study: StudyOut; first: StepName; another: boolean }
  | { at: "inside"; study: StudyOut; token: string };

/** How long to wait before asking again, unasked, a server that does not answer. */
const ASK_AGAIN_MS = 5_000;

const query = window.location.search;
const parameters = Object.fromEntries(new URLSearchParams(query));

export function App() {
  const [entry, setEntry] = useState<Entry>({ at: "loading" });
  const [chosen, setChosen] = useState(chosenLanguage);
  const study = "study" in entry ? entry.study : null;
  const language = pickLanguage(study?.languages ?? ["en", "ar"], chosen, navigator.languages);
  const locale = useMemo(() => localeFor(language), [language]);
  useDocumentLanguage(locale);

  const open = async () => setEntry(await enter(chosen));
  useEffect(() => void open(), []);
  useEffect(() => {
    if (entry.at !== "unreachable") return;
    const timer = setTimeout(() => void open(), ASK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [entry]);

  const arrive = async (to: StudyOut, another: boolean, check_answers: number[]): Promise<Reply> => {
    const answer = await request({ language, another, consented: true, check_answers });
    if (answer.ok) setEntry({ at: "inside", study: to, token: answer.value.token });
    return answer;
  };
  const again = async (from: StudyOut): Promise<Reply> => {
    const reply = await arrive(from, true, []);
    const unchecked = !reply.ok && reply.refused?.code === "wrong_answers";
    if (unchecked) setEntry({ at: "door", study: from, first: "instructions", another: true });
    return reply;
  };
  const choose = (tag: string) => {
    chooseLanguage(tag);
    setChosen(tag);
  };

  return (
    <LocaleContext.Provider value={locale}>
      <StudyContext.Provider value={study}>
        <Guard>
          {entry.at === "loading" && <Loading />}
          {entry.at === "unreachable" && <Unreachable onRetry={() => void open()} />}
          {entry.at === "refused" && <Refusal refused={entry.refused} />}
          {entry.at === "door" && (
            <div class="frame">
              <Bar
                extra={
                  <LanguageChooser
                    offered={entry.study.languages}
                    language={language}
                    onChoose={choose}
                  />
                }
              />
              <Onboarding
                study={entry.study}
                first={entry.first}
                arrive={(answers) => arrive(entry.study, entry.another, answers)}
              />
            </div>
          )}
          {entry.at === "inside" && (
            <Inside
              key={entry.token}
              study={entry.study}
              token={entry.token}
              onAnother={() => again(entry.study)}
            />
          )}
        </Guard>
      </StudyContext.Provider>
    </LocaleContext.Provider>
  );
}

interface InsideProps {
  study: StudyOut;
  token: string;
  onAnother: () => Promise<Reply>;
}

function Inside({ study, token, onAnother }: InsideProps) {
  const live = useMemo(() => new Live(token, study, new DraftShelf(query)), [token]);
  const [model, setModel] = useState(live.model);
  useEffect(() => {
    setModel(live.model);
    const unwatch = live.watch(setModel);
    return () => {
      unwatch();
      live.close();
    };
  }, [live]);
  const serverTime = useMemo(() => () => pageNow() + live.model.clock, [live]);
  return (
    <ActionsContext.Provider value={live}>
      <TimeContext.Provider value={serverTime}>
        <LiveView model={model} onAnother={onAnother} />
      </TimeContext.Provider>
    </ActionsContext.Provider>
  );
}

/** What the page begins with: the study, and this worker's arrival if there is one already. */
async function enter(chosen: string | null): Promise<Entry> {
  const study = await fetchStudy(query);
  if (!study.ok) {
    const { refused } = study;
    return refused === null ? { at: "unreachable", study: null } : { at: "refused", study: null, refused };
  }
  const door: Entry = { at: "door", study: study.value, first: "preview", another: false };
  if (study.value.preview) return door;
  const language = pickLanguage(study.value.languages, chosen, navigator.languages);
  const arrival = await request({ language, another: false, consented: false, check_answers: [] });
  if (arrival.ok) return { at: "inside", study: study.value, token: arrival.value.token };
  if (arrival.refused === null) return { at: "unreachable", study: study.value };
  const unknown = arrival.status === 404 || arrival.refused.code === "study_paused";
  return unknown ? door : { at: "refused", study: study.value, refused: arrival.refused };
}

interface Wish {
  language: string;
  another: boolean;
  consented: boolean;
  check_answers: number[];
}

function request(wish: Wish) {
  return postArrival({ query: parameters, worker_key: workerKey(), ...wish });
}

function useDocumentLanguage({ lang, dir }: Locale): void {
  useEffect(() => {
    document.documentElement.lang = lang;
    document.documentElement.dir = dir;
  }, [lang, dir]);
}
