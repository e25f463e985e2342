/** What the team may do to a dialog, each behind a question. */

import { useState } from "preact/hooks";
import type { DialogOut, Role } from "../../generated/monitor";
import { useAct, useKey, useSayDone } from "../act";
import { useMonitor, useMoney } from "../context";
import { amountOf, centsOf } from "../format";
import { RadioField, TextField } from "../parts/fields";
import { Ask } from "../parts/Modal";
import { useResource } from "../resource";
import { t } from "../texts";

interface Props {
  dialog: DialogOut;
  onClose: () => void;
  /** Called when it was done. */
  onDone?: () => void;
}

const isRole = (text: string): text is Role => text === "questioner" || text === "answerer";

const BOTH = [
  ["both", t.act.both],
  ["questioner", t.roles.questioner],
  ["answerer", t.roles.answerer],
] as const;

export function TellAsk({ dialog, onClose }: Props) {
  const { api } = useMonitor();
  const act = useAct();
  const say = useSayDone();
  const key = useKey();
  const [to, setTo] = useState("both");
  const [text, setText] = useState("");
  const send = () => {
    if (text.trim() === "") return act.refuse(t.act.writeSomething);
    const what = { key, to: isRole(to) ? to : null, text: text.trim() };
    void act.run(
      () => api.tell(dialog.id, what),
      (done) => {
        say(t.act.told, done);
        onClose();
      },
    );
  };
  return (
    <Ask title={t.act.tell} testid="tell" act={act} submit={t.act.send} onSubmit={send} onClose={onClose}>
      <RadioField label={t.act.to} testid="tell-to" value={to} options={BOTH} onChange={setTo} />
      <TextField label={t.act.text} hint={t.act.textHint} testid="tell-text" lines={3} value={text} onInput={setText} first />
    </Ask>
  );
}

export function ExtendAsk({ dialog, onClose }: Props) {
  const { api } = useMonitor();
  const act = useAct();
  const say = useSayDone();
  const key = useKey();
  const [text, setText] = useState("5");
  const send = () => {
    const minutes = Number(text);
    if (!Number.isInteger(minutes) || minutes < 1 || minutes > 60) return act.refuse(t.act.minutesWrong);
    void act.run(
      () => api.extend(dialog.id, { key, minutes }),
      (done) => {
        say(t.act.extended(minutes), done);
        onClose();
      },
    );
  };
  return (
    <Ask title={t.act.extend} testid="extend" act={act} submit={t.act.extendDo} onSubmit={send} onClose={onClose}>
      <p>{t.act.extendWhat}</p>
      <TextField label={t.act.minutes} testid="extend-minutes" mode="numeric" value={text} onInput={setText} first />
    </Ask>
  );
}

export function EndAsk({ dialog, onClose }: Props) {
  const { api, me } = useMonitor();
  const { currency } = me.study;
  const cash = useMoney();
  const act = useAct();
  const say = useSayDone();
  const key = useKey();
  const study = useResource(api.study, "study");
  const full = study.data?.changes.pay_complete ?? study.data?.from_file.pay_complete ?? null;
  const there = dialog.standing.seats.filter((seat) => !seat.gone && seat.release === null);
  const [reason, setReason] = useState("");
  const [how, setHow] = useState("full");
  const [amounts, setAmounts] = useState<Partial<Record<Role, string>>>({});

  const textOf = (role: Role) => amounts[role] ?? (full === null ? "" : amountOf(full, currency));
  const cents = there.map(({ role }) => [role, centsOf(textOf(role), currency)] as const);
  const sum = how === "full" ? (full === null ? null : full * there.length) : cents.reduce<number | null>((all, [, c]) => (all === null || c === null ? null : all + c), 0);
  const send = () => {
    if (reason.trim() === "") return act.refuse(t.act.giveReason);
    if (how === "own" && cents.some(([, c]) => c === null)) return act.refuse(t.act.amountWrong(amountOf(150, currency)));
    const pay = how === "own" ? { cents: Object.fromEntries(cents.map(([role, c]) => [role, c ?? 0])) } : {};
    void act.run(
      () => api.end(dialog.id, { key, reason: reason.trim(), ...pay }),
      (done) => {
        say(t.act.ended, done);
        onClose();
      },
    );
  };
  return (
    <Ask title={t.act.end} testid="end" grave act={act} submit={sum === null ? t.act.endDo : t.act.endPays(cash(sum))} onSubmit={send} onClose={onClose}>
      <p>{t.act.endWhat(there.length)}</p>
      <TextField label={t.act.reason} hint={t.act.endReasonHint} testid="end-reason" lines={2} value={reason} onInput={setReason} first />
      <RadioField
        label={t.act.pay}
        testid="end-how"
        value={how}
        options={[
          ["full", full === null ? t.act.inFull : t.act.inFullOf(cash(full))],
          ["own", t.act.own],
        ]}
        onChange={setHow}
      />
      {how === "own" &&
        there.map(({ role }) => (
          <TextField
            key={role}
            label={t.roles[role]}
            testid={`end-${role}`}
            mode="decimal"
            unit={currency}
            value={textOf(role)}
            onInput={(text) => setAmounts({ ...amounts, [role]: text })}
          />
        ))}
    </Ask>
  );
}

export function FlagAsk({ dialog, onClose, onDone, round = 0 }: Props & { round?: number }) {
  const { api } = useMonitor();
  const act = useAct();
  const say = useSayDone();
  const [about, setAbout] = useState("both");
  const [reason, setReason] = useState("");
  const seq = dialog.entries.find((e) => e.kind === "said" && e.round === round && e.role === about)?.seq;
  const send = () => {
    if (reason.trim() === "") return act.refuse(t.act.giveReason);
    const what = { reason: reason.trim(), role: isRole(about) ? about : null, seq: seq ?? null };
    void act.run(
      () => api.flag(dialog.id, what),
      (done) => {
        say(t.act.flagged, done);
        onDone?.();
        onClose();
      },
    );
  };
  return (
    <Ask title={t.act.flag} testid="flag" act={act} submit={t.act.flagDo} onSubmit={send} onClose={onClose}>
      <TextField label={t.act.seen} testid="flag-reason" lines={2} value={reason} onInput={setReason} first />
      <RadioField label={t.act.about} testid="flag-about" value={about} options={BOTH} onChange={setAbout} />
      {seq !== undefined && <p class="muted small">{t.act.aboutRound(round)}</p>}
    </Ask>
  );
}
