/** What else is known of a dialog: how it stands, what it costs, what was said of it. */

import type { DialogOut, PaymentOut } from "../../generated/monitor";
import { useMoney } from "../context";
import { Empty } from "../parts/Loaded";
import { AcceptancePill, DialogLink, LedgerPill, Pill, problemClass, StandPill, WorkerLink } from "../parts/Pill";
import { At, Elapsed } from "../parts/Time";
import { TakeBack } from "../review/TakeBack";
import { t } from "../texts";

export function Facts({ dialog }: { dialog: DialogOut }) {
  const { standing } = dialog;
  const over = standing.phase === "ended";
  return (
    <dl class="facts" data-testid="facts">
      <div>
        <dt>{t.facts.stands}</dt>
        <dd>
          <StandPill phase={standing.phase} ending={standing.ending} /> <span class="nowrap">{t.grid.round(standing.round, dialog.rounds)}</span>
        </dd>
      </div>
      {!over && (
        <div>
          <dt>{t.facts.turn}</dt>
          <dd>
            {standing.turn === null ? t.facts.nobody : t.roles[standing.turn]} <Elapsed since={standing.turn_at} />
          </dd>
        </div>
      )}
      {!over && standing.turn_ends_at !== null && (
        <div>
          <dt>{t.facts.turnEnds}</dt>
          <dd>
            <At at={standing.turn_ends_at} seconds />
          </dd>
        </div>
      )}
      {!over && standing.limit_at !== null && (
        <div>
          <dt>{t.facts.limit}</dt>
          <dd>
            <At at={standing.limit_at} seconds />
          </dd>
        </div>
      )}
      <div>
        <dt>{t.facts.opened}</dt>
        <dd>
          <At at={dialog.opened_at} />
        </dd>
      </div>
      {standing.ended_at !== null && (
        <div>
          <dt>{t.facts.ended}</dt>
          <dd>
            <At at={standing.ended_at} />
          </dd>
        </div>
      )}
      {over && (
        <div>
          <dt>{t.facts.acceptance}</dt>
          <dd>
            <AcceptancePill acceptance={dialog.acceptance} outcome={standing.outcome} />
          </dd>
        </div>
      )}
      <div>
        <dt>{t.facts.item}</dt>
        <dd>
          {dialog.image_id}, {t.facts.place(dialog.place)}
        </dd>
      </div>
      <div>
        <dt>{t.facts.language}</dt>
        <dd>{dialog.language}</dd>
      </div>
      {dialog.relaunched && (
        <div>
          <dt>{t.facts.relaunched}</dt>
          <dd>{t.facts.relaunchedSo}</dd>
        </div>
      )}
    </dl>
  );
}

/** Each leads to the other page that it belongs on. */
export function Payments({ payments, to = "worker" }: { payments: PaymentOut[]; to?: "worker" | "dialog" }) {
  const cash = useMoney();
  return (
    <section class="panel" data-testid="payments">
      <h2>{t.payments.title}</h2>
      {payments.length === 0 ? (
        <Empty>{t.payments.none}</Empty>
      ) : (
        <ul class="rows">
          {payments.map((payment) => (
            <li key={`${payment.arrival_id} ${payment.reason}`}>
              <b class="num">{cash(payment.cents)}</b> {t.payments.reason(payment.reason)}{" "}
              <LedgerPill state={payment.state} />{" "}
              {to === "worker" ? <WorkerLink id={payment.worker_id} /> : payment.dialog_id !== null && <DialogLink id={payment.dialog_id} />}
              {payment.problem && <p class={problemClass(payment)}>{payment.problem}</p>}
              {payment.note && (
                <p class="muted" dir="auto">
                  {payment.note}
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

export function Judgements({ dialog: { id, judgements } }: { dialog: DialogOut }) {
  return (
    <section class="panel" data-testid="judgements">
      <h2>{t.judgements.title}</h2>
      {judgements.length === 0 ? (
        <Empty>{t.judgements.none}</Empty>
      ) : (
        <ul class="rows">
          {judgements.map((judgement) => (
            <li key={judgement.by}>
              {judgement.verdict === null ? (
                <Pill>{t.judgements.noVerdict}</Pill>
              ) : (
                <AcceptancePill acceptance={judgement.verdict} outcome="complete" />
              )}{" "}
              <span dir="auto">{judgement.by}</span>{" "}
              <span class="muted">
                <At at={judgement.at} /> {judgement.decides ? t.judgements.decides : t.judgements.second}
              </span>
              {judgement.reason && <p dir="auto">{judgement.reason}</p>}
              <TakeBack id={id} judgement={judgement} among={judgements} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
