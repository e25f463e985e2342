/** What the team may do to a person, each behind a question. */

import { useState } from "preact/hooks";
import type { WorkerOut } from "../../generated/monitor";
import { useAct, useKey, useSayDone } from "../act";
import { useMonitor, useMoney } from "../context";
import { amountOf, centsOf, shortId } from "../format";
import { TextField } from "../parts/fields";
import { Ask } from "../parts/Modal";
import { t } from "../texts";

interface Props {
  worker: WorkerOut;
  onClose: () => void;
  onDone: () => void;
}

/** What every one of them does when it is carried out. */
function useFinish({ onClose, onDone }: Props, text: string) {
  const say = useSayDone();
  return (done: { request?: string | null }) => {
    say(text, done);
    onDone();
    onClose();
  };
}

export function ExcludeAsk(props: Props) {
  const { api } = useMonitor();
  const act = useAct();
  const finish = useFinish(props, t.act.excluded);
  const [reason, setReason] = useState("");
  const { id } = props.worker.row;
  const send = () =>
    reason.trim() === "" ? act.refuse(t.act.giveReason) : void act.run(() => api.exclude(id, reason.trim()), finish);
  return (
    <Ask title={t.act.exclude(shortId(id))} testid="exclude" grave act={act} submit={t.act.excludeDo} onSubmit={send} onClose={props.onClose}>
      <p>{t.act.excludeWhat}</p>
      <TextField label={t.act.reason} hint={t.act.teamOnly} testid="exclude-reason" lines={2} value={reason} onInput={setReason} first />
    </Ask>
  );
}

export function AllowAsk(props: Props) {
  const { api } = useMonitor();
  const act = useAct();
  const finish = useFinish(props, t.act.allowed);
  const { id } = props.worker.row;
  return (
    <Ask
      title={t.act.allow(shortId(id))}
      testid="allow"
      act={act}
      submit={t.act.allowDo}
      onSubmit={() => void act.run(() => api.allow(id), finish)}
      onClose={props.onClose}
    >
      <p>{t.act.allowWhat}</p>
    </Ask>
  );
}

export function WriteAsk(props: Props) {
  const { api } = useMonitor();
  const act = useAct();
  const key = useKey();
  const finish = useFinish(props, t.act.written);
  const [subject, setSubject] = useState("");
  const [text, setText] = useState("");
  const send = () => {
    if (subject.trim() === "" || text.trim() === "") return act.refuse(t.act.subjectAndText);
    void act.run(() => api.write(props.worker.row.id, { key, subject: subject.trim(), text: text.trim() }), finish);
  };
  return (
    <Ask title={t.act.write(shortId(props.worker.row.id))} testid="write" act={act} submit={t.act.send} onSubmit={send} onClose={props.onClose}>
      <p>{t.act.writeWhat}</p>
      <TextField label={t.act.subject} testid="write-subject" max={200} value={subject} onInput={setSubject} first />
      <TextField label={t.act.text} testid="write-text" lines={5} max={4096} value={text} onInput={setText} />
    </Ask>
  );
}

export function BonusAsk(props: Props) {
  const { api, me } = useMonitor();
  const { currency } = me.study;
  const cash = useMoney();
  const act = useAct();
  const key = useKey();
  const [amount, setAmount] = useState("");
  const [reason, setReason] = useState("");
  const cents = centsOf(amount, currency);
  const finish = useFinish(props, t.act.bonusGiven(cash(cents ?? 0)));
  const { id } = props.worker.row;
  const send = () => {
    if (cents === null || cents < 1) return act.refuse(t.act.amountWrong(amountOf(150, currency)));
    if (reason.trim() === "") return act.refuse(t.act.giveReason);
    void act.run(() => api.bonus(id, { key, cents, reason: reason.trim() }), finish);
  };
  return (
    <Ask
      title={t.act.bonus(shortId(id))}
      testid="bonus"
      act={act}
      submit={cents === null ? t.act.bonusNone : t.act.bonusDo(cash(cents))}
      onSubmit={send}
      onClose={props.onClose}
    >
      <TextField label={t.act.amount} testid="bonus-amount" mode="decimal" unit={currency} value={amount} onInput={setAmount} first />
      <TextField label={t.act.reason} hint={t.act.theyAreTold} testid="bonus-reason" lines={2} value={reason} onInput={setReason} />
    </Ask>
  );
}
