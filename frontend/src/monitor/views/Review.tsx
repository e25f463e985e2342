/** The review queue: one dialog at a time, by the keyboard, data and pay decided apart. */

import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { Acceptance, DialogOut, ReviewNext } from "../../generated/monitor";
import { useAct } from "../act";
import type { Answer } from "../api";
import { useMay, useMoney, useMonitor } from "../context";
import { shortId } from "../format";
import { useKeys, type Command } from "../keys";
import { Button } from "../parts/Button";
import { FilterBar, FilterSelect, FilterText, FilterTime, optionsOf } from "../parts/FilterBar";
import { FlagFilter } from "../parts/FlagFilter";
import { Head } from "../parts/Head";
import { Empty, Skeleton } from "../parts/Loaded";
import { Problem } from "../parts/Modal";
import { useFilters } from "../parts/Pager";
import { At, useTime } from "../parts/Time";
import { afterMove, EMPTY_QUEUE, hasVerdict, judgeOf, sumOf, unreasoned, type Queue } from "../queue";
import { BulkAsk } from "../review/Bulk";
import { DecideData, DecidePay, PaySum } from "../review/Decide";
import { Help } from "../review/Help";
import { RejectAsk } from "../review/Reject";
import { Stats } from "../review/Stats";
import { useResource } from "../resource";
import { hrefOf } from "../router";
import { Facts } from "../talk/Aside";
import { FlagAsk } from "../talk/actions";
import { Item } from "../talk/Item";
import { Transcript } from "../talk/Transcript";
import { t } from "../texts";

const NAMES = ["flag", "unflagged", "worker", "outcome", "since", "until"] as const;

const NOTHING: Promise<Answer<DialogOut | null>> = Promise.resolve({ ok: true, value: null });

export function ReviewView() {
  const may = useMay("reviewer");
  return (
    <>
      <Head title={t.views.review} />
      <Stats />
      {may ? <Desk /> : <Empty>{t.review.viewer}</Empty>}
    </>
  );
}

type Asked = "reject" | "flag" | "bulk" | "help" | null;

function Desk() {
  const { api, toasts } = useMonitor();
  const cash = useMoney();
  const [query, set] = useFilters(NAMES);
  const [queue, move] = useReducer(afterMove, EMPTY_QUEUE);
  const [asked, setAsked] = useState<Asked>(null);
  const act = useAct();
  // On a narrow screen they are shown when asked for, or when they leave something out.
  const [filtering, setFiltering] = useState(hrefOf("", query) !== "");
  const place = useRef<HTMLHeadingElement>(null);
  const newest = useRef(0);
  const given = queue.turn?.dialog ?? null;
  // Whoever raises a flag meanwhile, here or elsewhere: it may matter for the judgement.
  const fresh = useResource(() => (given === null ? NOTHING : api.dialog(given.id)), given?.id ?? "", ["dialogs"]);
  const dialog = useMemo(() => {
    const { data } = fresh;
    return given !== null && data?.id === given.id ? { ...given, findings: data.findings } : given;
  }, [given, fresh.data]);
  const filters = hrefOf("", query);

  const show = (turn: ReviewNext) => move({ kind: "came", turn });
  const load = async () => {
    const mine = ++newest.current;
    move({ kind: "asked" });
    const answer = await api.reviewNext(query);
    if (mine !== newest.current) return;
    if (answer.ok) show(answer.value);
    else move({ kind: "failed", error: answer.error });
  };
  useEffect(() => void load(), [filters]);
  // The next dialog is read out, and its keys work at once.
  useLayoutEffect(() => {
    if (newest.current > 1 && dialog !== null) place.current?.focus({ preventScroll: true });
  }, [queue.turn]);

  const judge = async (verdict: Acceptance | null, reason = ""): Promise<boolean> => {
    if (dialog === null || queue.at !== "ready") return false;
    const missing = unreasoned(queue);
    if (missing !== undefined) {
      act.refuse(t.review.payNeedsReason(t.roles[missing.role]));
      document.getElementById(`refusal-${missing.arrival_id}`)?.focus();
      return false;
    }
    const { id } = dialog;
    const said = hasVerdict(queue) && verdict !== null ? t.review.judged[verdict] : t.review.settled;
    return act.run(
      () => api.judge(id, judgeOf(queue, verdict, reason)),
      ({ pay }) => {
        const refused = sumOf(pay.filter(({ moved, state }) => moved && state === "cancelled"));
        toasts.say(refused > 0 ? `${said} ${t.review.refusedToo(cash(refused))}` : said);
        move({ kind: "judged" });
        void load();
      },
    );
  };
  const skip = () => {
    if (dialog === null || queue.at !== "ready") return;
    const { id } = dialog;
    void act.run(
      () => api.skip(id),
      () => {
        toasts.say(t.review.skipped);
        void load();
      },
    );
  };
  const undo = () => {
    if (queue.undone) return act.refuse(t.review.nothingToUndo);
    void act.run(() => api.undo(queue.last?.id ?? null), (answer) => {
      toasts.say(t.review.undone);
      move({ kind: "undone" });
      if ("dialog" in answer) show(answer);
      else void load();
    });
  };
  const toggle = (role: "questioner" | "answerer") => {
    const line = queue.pay.find((each) => each.role === role);
    if (line === undefined) return act.refuse(t.review.nothingOwed(t.roles[role]));
    move({ kind: "pay-toggled", arrival: line.arrival_id });
  };
  const next = () => {
    if (queue.at !== "ready") void load();
    else if (hasVerdict(queue)) act.refuse(t.review.decideFirst);
    else void judge(null);
  };

  const obey = (command: Command) => {
    // What was said of an earlier key is over.
    if (!act.busy) act.refuse("");
    if (command === "help") return setAsked("help");
    if (command === "undo") return undo();
    if (command === "next") return next();
    if (queue.at !== "ready") return;
    switch (command) {
      case "accept":
        return hasVerdict(queue) ? void judge("accepted") : act.refuse(t.review.notComplete);
      case "reject":
        return hasVerdict(queue) ? setAsked("reject") : act.refuse(t.review.notComplete);
      case "pay-questioner":
        return toggle("questioner");
      case "pay-answerer":
        return toggle("answerer");
      case "flag":
        return setAsked("flag");
      case "skip":
        return skip();
      case "down":
        return move({ kind: "stepped", by: 1 });
      case "up":
        return move({ kind: "stepped", by: -1 });
    }
  };
  useKeys(obey);
  const field = { filters: query, set };
  const close = () => setAsked(null);

  return (
    <>
      <div class={filtering ? "review-filters filtering" : "review-filters"}>
        <FilterBar label={t.review.filters}>
          <FlagFilter without {...field} />
          <FilterText name="worker" label={t.filters.worker} {...field} />
          <FilterSelect name="outcome" label={t.filters.outcome} options={optionsOf(t.endings)} {...field} />
          <FilterTime name="since" label={t.filters.since} {...field} />
          <FilterTime name="until" label={t.filters.until} {...field} />
        </FilterBar>
        <div class="review-tools">
          <button
            type="button"
            class="button button-plain filters-button"
            data-testid="filters-button"
            aria-expanded={filtering}
            onClick={() => setFiltering(!filtering)}
          >
            {t.review.filtersShort}
          </button>
          <Button testid="bulk" onPress={() => setAsked("bulk")}>
            {t.review.bulk}
          </Button>
          <Button testid="undo" hint="U" onPress={undo} busy={act.busy}>
            {t.review.undo}
          </Button>
          <Button testid="help" look="quiet" hint="?" onPress={() => setAsked("help")}>
            {t.review.keys}
          </Button>
        </div>
      </div>
      <div class="review-place" aria-busy={queue.at === "loading"}>
        {(dialog === null || queue.at === "empty") && <Problem text={act.error} />}
        {queue.at === "failed" && (
          <div class="note note-bad" role="alert">
            <p>{queue.error}</p>
            <Button testid="review-again" hint="N" onPress={() => void load()}>
              {t.common.again}
            </Button>
          </div>
        )}
        {queue.at === "loading" && dialog === null && <Skeleton lines={10} />}
        {queue.at === "empty" && <NothingLeft filtered={filters !== ""} onNext={() => void load()} />}
        {dialog !== null && queue.at !== "empty" && (
          <div class="talk-page review-page">
            <section class="panel talk-main" aria-labelledby="in-hand">
              <h2 id="in-hand" class="in-hand" ref={place} tabIndex={-1}>
                {t.dialog.title(shortId(dialog.id))} <Hold turn={queue.turn} />
              </h2>
              {queue.turn?.second && (
                <p class="note note-calm" data-testid="second">
                  {t.review.second}
                </p>
              )}
              <Transcript key={dialog.id} dialog={dialog} round={queue.round} />
            </section>
            <InHand
              dialog={dialog}
              queue={queue}
              busy={act.busy || queue.at === "loading"}
              error={act.error}
              onCommand={obey}
              onReason={(arrival, text) => move({ kind: "pay-reason", arrival, text })}
            />
          </div>
        )}
      </div>
      {asked === "help" && <Help onClose={close} />}
      {asked === "flag" && dialog && <FlagAsk dialog={dialog} round={queue.round} onClose={close} onDone={fresh.reload} />}
      {asked === "bulk" && <BulkAsk filters={query} onClose={close} onDone={() => void load()} />}
      {asked === "reject" && dialog && (
        <RejectAsk queue={queue} act={act} onClose={close} onReject={(reason) => void judge("rejected", reason).then((done) => done && close())} />
      )}
    </>
  );
}

interface InHandProps {
  dialog: DialogOut;
  queue: Queue;
  busy: boolean;
  error: string;
  onCommand: (command: Command) => void;
  onReason: (arrival: string, text: string) => void;
}

/**
 * What it is judged by stands above the verdicts. On a narrow screen the bar with them stays at the
 * bottom, below whatever is read.
 */
function InHand({ dialog, queue, busy, error, onCommand, onReason }: InHandProps) {
  return (
    <div class="talk-aside">
      <section class="panel" aria-label={t.talk.about}>
        <Item dialog={dialog} />
      </section>
      <section class="panel decide" aria-label={t.review.decide}>
        <DecidePay queue={queue} onCommand={onCommand} onReason={onReason} />
        <div class="decide-bar" data-testid="decide-bar">
          <PaySum pay={queue.pay} />
          <Problem text={error} />
          <DecideData queue={queue} busy={busy} onCommand={onCommand} />
        </div>
      </section>
      <section class="panel" aria-label={t.review.facts}>
        <Facts dialog={dialog} />
      </section>
    </div>
  );
}

/** For how long nobody else is given this dialog. */
function Hold({ turn }: { turn: ReviewNext | null }) {
  const now = useTime(5);
  if (turn?.until == null) return null;
  return (
    <span class="muted small hold">
      {now > turn.until ? (
        t.review.holdOver
      ) : (
        <>
          {t.review.hold} <At at={turn.until} />
        </>
      )}
    </span>
  );
}

function NothingLeft({ filtered, onNext }: { filtered: boolean; onNext: () => void }) {
  return (
    <div class="nothing" data-testid="nothing-left">
      <Empty>{filtered ? t.review.noneMatch : t.review.none}</Empty>
      <Button testid="look-again" hint="N" onPress={onNext}>
        {t.review.lookAgain}
      </Button>
    </div>
  );
}
