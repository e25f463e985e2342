/** What is owed, approved and paid; what failed, why, and trying again. */

import { useEffect, useState } from "preact/hooks";
import type { Done, PaymentName, PaymentOut } from "../../generated/monitor";
import { useAct, useSayDone } from "../act";
import type { Answer } from "../api";
import { useMay, useMonitor, useMoney } from "../context";
import { count } from "../format";
import { Button } from "../parts/Button";
import { FilterBar, FilterSelect, optionsOf } from "../parts/FilterBar";
import { Empty, Loaded } from "../parts/Loaded";
import { Ask } from "../parts/Modal";
import { Pager, useFilters } from "../parts/Pager";
import { DialogLink, LedgerPill, None, problemClass, WorkerLink } from "../parts/Pill";
import { Table, type Column } from "../parts/Table";
import { At } from "../parts/Time";
import { useResource } from "../resource";
import { hrefOf } from "../router";
import { t } from "../texts";

const YES = [["true", t.filters.onlyProblem]] as const;
const AT_ONCE = 20;
const idOf = (payment: PaymentOut) => `${payment.arrival_id} ${payment.reason}`;

export function Ledger() {
  const { api, me } = useMonitor();
  const cash = useMoney();
  const approves = useMay("reviewer");
  const retries = useMay("owner") && me.study.pays;
  const [query, set] = useFilters(["state", "problem", "after"]);
  const filters = hrefOf("", query);
  const list = useResource(() => api.ledger(query), filters, ["ledger"]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => setChosen(new Set()), [filters]);
  const [asked, setAsked] = useState<"approve" | "retry" | null>(null);

  const can = (payment: PaymentOut) =>
    (approves && payment.state === "owed") || (retries && (payment.state === "failed" || payment.state === "held"));
  const toggle = (payment: PaymentOut) => {
    const next = new Set(chosen);
    if (!next.delete(idOf(payment))) next.add(idOf(payment));
    setChosen(next);
  };
  const columns: readonly Column<PaymentOut>[] = [
    {
      name: t.ledger.worker,
      main: true,
      cell: (row) => (
        <>
          {can(row) && (
            <input
              type="checkbox"
              aria-label={t.ledger.choose(cash(row.cents), row.worker_id)}
              checked={chosen.has(idOf(row))}
              onChange={() => toggle(row)}
            />
          )}{" "}
          <WorkerLink id={row.worker_id} />
        </>
      ),
    },
    { name: t.ledger.dialog, cell: (row) => (row.dialog_id === null ? <None /> : <DialogLink id={row.dialog_id} />) },
    { name: t.ledger.amount, number: true, cell: (row) => cash(row.cents) },
    { name: t.ledger.for, cell: (row) => t.payments.reason(row.reason) },
    { name: t.ledger.state, cell: (row) => <LedgerPill state={row.state} /> },
    { name: t.ledger.handedIn, cell: (row) => (row.handed_in === null ? <None /> : t.assignments[row.handed_in]) },
    { name: t.ledger.at, cell: (row) => <At at={row.at} /> },
    {
      name: t.ledger.problem,
      cell: (row) => (
        <>
          {row.problem && <span class={problemClass(row)}>{row.problem}</span>}
          {row.note && (
            <span class="muted" dir="auto">
              {row.note}
            </span>
          )}
          {!row.problem && !row.note && <None />}
        </>
      ),
    },
  ];
  const picked = (list.data?.rows ?? []).filter((row) => chosen.has(idOf(row)) && can(row));
  const owed = picked.filter(({ state }) => state === "owed");
  const failed = picked.filter(({ state }) => state !== "owed");
  const field = { filters: query, set };
  const finish = () => {
    setAsked(null);
    setChosen(new Set());
    list.reload();
  };
  return (
    <section class="panel" data-testid="ledger">
      <h2>{t.ledger.title}</h2>
      <Loaded resource={list} lines={10}>
        {({ sums, rows, total, next }) => (
          <>
            <ul class="sums" aria-label={t.ledger.sums}>
              {sums.map((sum) => (
                <li key={sum.state} class={`sum sum-${sum.state}`}>
                  <a href={hrefOf("/monitor/money", { state: query.state === sum.state ? "" : sum.state })} aria-current={query.state === sum.state ? "true" : undefined}>
                    <span>{t.ledgerStates[sum.state]}</span>
                    <b class="num">{cash(sum.cents)}</b>
                    <span class="muted num">{t.ledger.payments(sum.payments)}</span>
                  </a>
                </li>
              ))}
            </ul>
            <div class="list-head">
              <FilterBar label={t.ledger.filters}>
                <FilterSelect name="state" label={t.filters.state} options={optionsOf(t.ledgerStates)} {...field} />
                <FilterSelect name="problem" label={t.filters.problem} options={YES} {...field} />
              </FilterBar>
              <div class="list-tools">
                {approves && (
                  <Button testid="approve" look="main" unavailable={owed.length === 0} onPress={() => setAsked("approve")}>
                    {t.ledger.approve(owed.length)}
                  </Button>
                )}
                {retries && (
                  <Button testid="retry" unavailable={failed.length === 0} onPress={() => setAsked("retry")}>
                    {t.ledger.retry(failed.length)}
                  </Button>
                )}
              </div>
            </div>
            {rows.length === 0 ? (
              <Empty>{query.state || query.problem ? t.ledger.noneMatch : t.ledger.none}</Empty>
            ) : (
              <>
                <Table testid="payments-table" caption={t.ledger.title} columns={columns} rows={rows} id={idOf} />
                <Pager total={total} next={next} shown={rows.length} of={t.ledger.title} what={t.ledger.payments} />
              </>
            )}
          </>
        )}
      </Loaded>
      {asked === "approve" && <PayAsk payments={owed} text={t.ledger.approving} send={(p) => api.approve({ payments: p })} onClose={() => setAsked(null)} onDone={finish} />}
      {asked === "retry" && <PayAsk payments={failed} text={t.ledger.retrying} send={(p) => api.retry({ payments: p })} onClose={() => setAsked(null)} onDone={finish} />}
    </section>
  );
}

interface PayAskProps {
  payments: PaymentOut[];
  text: { title: string; what: (n: number, cash: string) => string; submit: (cash: string) => string; done: (n: number, cash: string) => string };
  send: (names: [PaymentName, ...PaymentName[]]) => Promise<Answer<Done>>;
  onClose: () => void;
  onDone: () => void;
}

function PayAsk({ payments, text, send, onClose, onDone }: PayAskProps) {
  const cash = useMoney();
  const act = useAct();
  const say = useSayDone();
  const [first, ...rest] = payments.slice(0, AT_ONCE).map(({ arrival_id, reason }) => ({ arrival_id, reason }));
  const sum = cash(payments.slice(0, AT_ONCE).reduce((all, { cents }) => all + cents, 0));
  const n = rest.length + 1;
  if (first === undefined) return null;
  return (
    <Ask
      title={text.title}
      testid="pay-ask"
      act={act}
      submit={text.submit(sum)}
      onClose={onClose}
      onSubmit={() =>
        void act.run(
          () => send([first, ...rest]),
          (done) => {
            say(text.done(n, sum), done);
            onDone();
          },
        )
      }
    >
      <p>{text.what(n, sum)}</p>
      {payments.length > AT_ONCE && <p class="muted">{t.ledger.atOnce(AT_ONCE, count(payments.length))}</p>}
    </Ask>
  );
}

