/** The screen that belongs to the stage an arrival is in. */

import { useEffect, useState } from "preact/hooks";
import type { State } from "../generated/wire";
import type { Reply } from "./connection";
import { useLocale, useStudy } from "./context";
import { mayWrite, type Model } from "./machine/model";
import { Bar } from "./parts/Bar";
import { LinkBanner } from "./parts/LinkBanner";
import { Arrived } from "./screens/Arrived";
import { End } from "./screens/End";
import { Loading, Stopped } from "./screens/Halted";
import { Matched } from "./screens/Matched";
import { Talking } from "./screens/Talking";
import { Waiting } from "./screens/Waiting";
import { flashTitle, showTitle } from "./title";

interface Props {
  model: Model;
  onAnother: (() => Promise<Reply>) | null;
}

export function LiveView({ model, onAnother }: Props) {
  useTitle(model);
  const { state, stopped } = model;
  const talking = state?.stage === "talking" && stopped === null;
  return (
    <div class={talking ? "frame frame-chat" : "frame"} data-stage={state?.stage} data-link={model.link}>
      <Bar state={stopped === null ? state : null} />
      {!talking && <LinkBanner link={model.link} />}
      {stopped !== null ? (
        <Stopped stopped={stopped} />
      ) : state === null ? (
        <Loading />
      ) : (
        <Stage state={state} model={model} onAnother={onAnother} />
      )}
    </div>
  );
}

function Stage({ state, model, onAnother }: Props & { state: State }) {
  const { stage, lobby, match, dialog, released } = state;
  if (stage === "waiting" && lobby) return <Waiting lobby={lobby} again={model.unmatched === "partner"} />;
  if (stage === "matched" && match) return <Matched match={match} />;
  if (stage === "talking" && dialog) return <Talking model={model} dialog={dialog} />;
  if (stage === "released" && released) {
    return <End released={released} dialog={dialog ?? null} onAnother={onAnother} />;
  }
  const declined = model.unmatched === "declined";
  return <Arrived missedStart={state.missed_start ?? false} declined={declined} />;
}

/** Whoever looks elsewhere sees in the title that they are wanted. */
function useTitle(model: Model): void {
  const { t } = useLocale();
  const { title } = useStudy();
  const stage = model.state?.stage;
  const wanted = stage === "talking" && mayWrite(model);
  const unseen = useUnseen(model.state?.dialog?.told.length ?? 0);
  const news = unseen ? t.chat.newTold : wanted ? t.chat.newTurn : null;
  useEffect(() => {
    if (stage === "matched") flashTitle(t.matched.flash, title);
    else showTitle(news === null ? title : `${news} – ${title}`);
    return () => showTitle(title);
  }, [stage, news, title, t]);
}

/** Whether something has been added to so many things while nobody looked at the page. */
function useUnseen(count: number): boolean {
  const [seen, setSeen] = useState(count);
  useEffect(() => {
    const look = () => {
      if (!document.hidden) setSeen(count);
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [count]);
  return count > 0 && count !== seen && document.hidden;
}
