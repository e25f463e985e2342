/** What the team may do to a dialog, each behind a question. */

import { useState } from "preact/hooks";
import type { DialogOut, Role, SeatOut } from "../../generated/monitor";
import { useAct, useKey, useSayDone } from "../act";
import { useMonitor, useMoney } from "../context";
import { amountOf, centsOf } from "../format";
import { RadioField, TextField } from "../parts/fields";
import { Ask } from "../parts/Modal";
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
  const there = dialog.standing.seats.filter((seat) => !seat.gone && seat.release === null);
  // Who has sent everything is paid in full, whatever the others are given.
  const done = there.filter((seat) => seat.sent >= dialog.rounds);
  const others = there.filter((seat) => seat.sent < dialog.rounds);
  const inFull = (seats: readonly SeatOut[]) => seats.reduce((sum, { full_pay }) => sum + full_pay, 0);
  const [reason, setReason] = useState("");
  const [how, setHow] = useState("full");
  const [amounts, setAmounts] = useState<Partial<Record<Role, string>>>({});

  const textOf = (seat: SeatOut) => amounts[seat.role] ?? amountOf(seat.full_pay, currency);
  const cents = others.map((seat) => [seat.role, centsOf(textOf(seat), currency)] as const);
  const own = cents.reduce<number | null>((all, [, c]) => (all === null || c === null ? null : all + c), inFull(done));
  const sum = how === "full" ? inFull(there) : own;
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
          ["full", t.act.inFullOf(cash(there[0]?.full_pay ?? 0))],
          ["own", t.act.own],
        ]}
        onChange={setHow}
      />
      {how === "own" &&
        done.map(({ role, full_pay }) => (
          <p key={role} class="muted" data-testid={`end-full-${role}`}>
            {t.act.alwaysInFull(t.roles[role], cash(full_pay))}
          </p>
        ))}
      {how === "own" &&
        others.map((seat) => (
          <TextField
            key={seat.role}
            label={t.roles[seat.role]}
            hint={t.act.atMost(cash(seat.full_pay))}
            testid={`end-${seat.role}`}
            mode="decimal"
            unit={currency}
            value={textOf(seat)}
            onInput={(text) => setAmounts({ ...amounts, [seat.role]: text })}
          />
        ))}
    </Ask>
  );
}

export function FlagAsk({ dialog, onClose, onDone, round = 0 }: Props & { round?: number }) {
  const { api } = useMonitor();
  const act = useAct();
  const say = useSayDone();
  const key = useKey();
  const [about, setAbout] = useState("both");
  const [reason, setReason] = useState("");
  const seq = dialog.entries.find((e) => e.kind === "said" && e.round === round && e.role === about)?.seq;
  const send = () => {
    if (reason.trim() === "") return act.refuse(t.act.giveReason);
    const what = { key, reason: reason.trim(), role: isRole(about) ? about : null, seq: seq ?? null };
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
