/** Limits and pay for dialogs to come: what the file says, what holds now, and what shall hold. */

import { useState } from "preact/hooks";
import type { Limits, StudyOut } from "../../generated/monitor";
import { useAct, useSayDone } from "../act";
import { useMay, useMonitor } from "../context";
import { amountOf } from "../format";
import { Button } from "../parts/Button";
import { TextField } from "../parts/fields";
import { Ask } from "../parts/Modal";
import { t } from "../texts";
import { byLabels, heldLimit, isPay, LIMITS, readLimit, shownLimit, type LimitName } from "./limits";

interface Props {
  /** As it was when the form was opened. */
  study: StudyOut;
  onDone: () => void;
}

interface FormProps extends Props {
  /** Somebody else has changed it since. */
  overtaken: boolean;
  /** Somebody has begun to write. */
  onChanging: () => void;
  /** Forget what was written, and begin with what holds now. */
  onAgain: () => void;
}

export function LimitsForm({ study, overtaken, onChanging, onAgain, onDone }: FormProps) {
  const { me } = useMonitor();
  const { currency } = me.study;
  const owner = useMay("owner");
  const names = LIMITS.filter((name) => study.may_change.includes(name));
  const [texts, setTexts] = useState<Partial<Record<LimitName, string>>>(() =>
    Object.fromEntries(names.map((name) => [name, heldLimit(name, study.changes[name], currency)])),
  );
  const [asked, setAsked] = useState<Limits | null>(null);
  const [wrong, setWrong] = useState<ReadonlySet<LimitName>>(new Set());
  const act = useAct();

  const review = () => {
    const read = names.map((name) => [name, readLimit(name, texts[name] ?? "", currency)] as const);
    const bad = new Set(read.filter(([, value]) => value === undefined).map(([name]) => name));
    setWrong(bad);
    if (bad.size > 0) return act.refuse(t.limits.wrong);
    act.refuse("");
    setAsked(Object.fromEntries(read.filter(([, value]) => value !== null)));
  };
  const standing = (name: LimitName) => study.changes[name] ?? study.from_file[name];
  return (
    <section class="panel" data-testid="limits">
      <h2>{t.limits.title}</h2>
      <p class="muted">
        {t.limits.what} {owner && t.limits.emptied}
      </p>
      {overtaken && (
        <div class="note note-warn" role="alert" data-testid="overtaken">
          <p>{t.limits.overtaken}</p>
          <Button testid="limits-again" onPress={onAgain}>
            {t.limits.showAgain}
          </Button>
        </div>
      )}
      <ul class="limits">
        {names.map((name) => (
          <li key={name}>
            <div>
              <b>{t.limits.names[name]}</b>
              <p class="muted small">
                {t.limits.file(shownLimit(name, study.from_file[name], currency))} ·{" "}
                {t.limits.now(shownLimit(name, standing(name), currency))}
              </p>
            </div>
            {owner && (
              <TextField
                label={t.limits.shall(t.limits.names[name])}
                testid={`limit-${name}`}
                mode="decimal"
                unit={isPay(name) ? currency : t.limits.seconds}
                value={texts[name] ?? ""}
                placeholder={heldLimit(name, study.from_file[name], currency)}
                problem={wrong.has(name) ? (isPay(name) ? t.act.amountWrong(amountOf(150, currency)) : t.limits.secondsWrong) : undefined}
                onInput={(text) => {
                  onChanging();
                  setTexts({ ...texts, [name]: text });
                }}
              />
            )}
          </li>
        ))}
      </ul>
      {owner && (
        <>
          {act.error && (
            <p class="problem" role="alert">
              {act.error}
            </p>
          )}
          <Button testid="limits-review" look="main" onPress={review}>
            {t.limits.review}
          </Button>
        </>
      )}
      {asked !== null && <ChangeAsk study={study} changes={asked} names={names} onClose={() => setAsked(null)} onDone={onDone} />}
    </section>
  );
}

interface ChangeProps extends Props {
  changes: Limits;
  names: readonly LimitName[];
  onClose: () => void;
}

function ChangeAsk({ study, changes, names, onClose, onDone }: ChangeProps) {
  const { api, me } = useMonitor();
  const act = useAct();
  const say = useSayDone();
  const [reason, setReason] = useState("");
  const of = (limits: Limits, name: LimitName) => shownLimit(name, limits[name] ?? study.from_file[name], me.study.currency);
  const changed = names.filter((name) => of(study.changes, name) !== of(changes, name));
  const send = () => {
    if (reason.trim() === "") return act.refuse(t.act.giveReason);
    void act.run(
      async () => {
        const answer = await api.change({ changes, known: study.changes, reason: reason.trim() });
        return answer.ok ? answer : { ...answer, error: byLabels(answer.error, study.keys) };
      },
      (done) => {
        say(t.limits.changed, done);
        onDone();
        onClose();
      },
    );
  };
  return (
    <Ask title={t.limits.ask} testid="change-ask" act={act} submit={t.limits.change} unavailable={changed.length === 0} onSubmit={send} onClose={onClose}>
      {changed.length === 0 ? (
        <p>{t.limits.nothing}</p>
      ) : (
        <ul class="bullets">
          {changed.map((name) => (
            <li key={name}>{t.limits.fromTo(t.limits.names[name], of(study.changes, name), of(changes, name))}</li>
          ))}
        </ul>
      )}
      <p class="muted">{t.limits.askWhat}</p>
      <TextField label={t.act.reason} hint={t.act.teamOnly} testid="change-reason" lines={2} value={reason} onInput={setReason} first />
    </Ask>
  );
}
