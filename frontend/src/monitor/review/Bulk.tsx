/** Judging all that wait and match the filters: first counted, then confirmed by that number. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Acceptance, Bulk, BulkDone, Ending } from "../../generated/monitor";
import { newKey, useAct } from "../act";
import { useMonitor, useMoney } from "../context";
import { flagOf } from "../flags";
import { CheckField, RadioField } from "../parts/fields";
import { Ask } from "../parts/Modal";
import type { Filters } from "../parts/Pager";
import { useStore } from "../store";
import { nameOf, t } from "../texts";

interface Props {
  filters: Filters;
  onClose: () => void;
  onDone: () => void;
}

const VERDICTS = [
  ["accepted", t.bulk.accept],
  ["rejected", t.bulk.reject],
  ["none", t.bulk.none],
] as const;

export function BulkAsk({ filters, onClose, onDone }: Props) {
  const { api, toasts, flags } = useMonitor();
  const cash = useMoney();
  const act = useAct();
  const [verdict, setVerdict] = useState("accepted");
  const [approve, setApprove] = useState(true);
  const [unflagged, setUnflagged] = useState(!filters.flag);
  const known = useStore(flags.known);
  const [counted, setCounted] = useState<BulkDone | null>(null);
  const [refused, setRefused] = useState(0);

  const time = (name: string) => (filters[name] ? Number(filters[name]) : null);
  const wish: Bulk = {
    verdict: verdict === "none" ? null : (verdict as Acceptance),
    approve_pay: approve,
    flag: filters.flag || null,
    unflagged,
    worker: filters.worker || null,
    outcome: (filters.outcome || null) as Ending | null,
    since: time("since"),
    until: time("until"),
  };
  const asked = JSON.stringify(wish);
  // Something else that is asked for is another action, even if the last answer was lost.
  const key = useMemo(newKey, [asked]);
  useEffect(() => {
    let current = true;
    setCounted(null);
    void api.bulk({ ...wish, dry_run: true }).then((answer) => {
      if (!current) return;
      if (answer.ok) setCounted(answer.value);
      else act.refuse(answer.error);
    });
    return () => void (current = false);
  }, [asked, refused]);

  const send = () => {
    if (counted === null || counted.dialogs === 0) return act.refuse(t.bulk.nothing);
    const answer = act.run(
      () => api.bulk({ ...wish, key, dry_run: false, expected: counted.dialogs }),
      (done) => {
        toasts.say(t.bulk.done(done.dialogs, done.payments, cash(done.cents)));
        onDone();
        onClose();
      },
    );
    // There may be another number by now, which is to be confirmed instead.
    void answer.then((done) => done || setRefused(refused + 1));
  };
  // Whether flagged ones belong to it is asked below.
  const by = Object.entries(filters).filter(([name, value]) => value !== "" && name !== "unflagged");
  const said = (name: string, value: string) => {
    if (name === "since" || name === "until") return new Date(Number(value) * 1_000).toLocaleString("en-GB");
    return name === "flag" ? flagOf(known, value).label : nameOf(value);
  };
  const submit = counted === null ? t.bulk.counting : t.bulk.submit(verdict, counted.dialogs, approve ? cash(counted.cents) : null);
  return (
    <Ask title={t.bulk.title} testid="bulk-ask" grave={verdict === "rejected"} act={act} submit={submit} unavailable={!counted?.dialogs} onSubmit={send} onClose={onClose}>
      <p>
        {by.length === 0 ? t.bulk.everything : `${t.bulk.matching} ${by.map(([name, value]) => `${nameOf(name)} ${said(name, value)}`).join(", ")}.`}
      </p>
      <RadioField label={t.review.data} testid="bulk-verdict" value={verdict} options={VERDICTS} onChange={setVerdict} />
      <CheckField testid="bulk-unflagged" checked={unflagged} onChange={setUnflagged}>
        {t.bulk.unflagged}
      </CheckField>
      <CheckField testid="bulk-pay" checked={approve} onChange={setApprove}>
        {t.bulk.pay}
      </CheckField>
      <p class="bulk-count" role="status" data-testid="bulk-count">
        {counted === null ? t.bulk.counting : t.bulk.counted(counted.dialogs, counted.payments, cash(counted.cents))}
      </p>
    </Ask>
  );
}
