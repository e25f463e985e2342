/** The two decisions on a dialog: whether it is data, and what becomes of each one's pay. */

import { useEffect, useRef } from "preact/hooks";
import { useMoney } from "../context";
import type { Command } from "../keys";
import { Button } from "../parts/Button";
import { RolePill, WorkerLink } from "../parts/Pill";
import { hasVerdict, type PayLine, type Queue } from "../queue";
import { History } from "../talk/People";
import { t } from "../texts";

interface Props {
  queue: Queue;
  onCommand: (command: Command) => void;
}

export function DecidePay({ queue, onCommand, onReason }: Props & { onReason: (arrival: string, text: string) => void }) {
  const dialog = queue.turn?.dialog;
  if (!dialog) return null;
  return (
    <>
      <h2 id="decide-pay">{t.review.pay}</h2>
      {dialog.standing.seats.map((seat) => {
        const line = queue.pay.find((each) => each.arrival_id === seat.arrival_id);
        return (
          <div key={seat.arrival_id} class="person">
            <p class="person-head">
              <RolePill role={seat.role} /> <WorkerLink id={seat.worker_id} />
              {seat.release !== null && <span class="muted">{t.releases[seat.release]}</span>}
            </p>
            <History brief={dialog.workers.find(({ id }) => id === seat.worker_id)} />
            {line === undefined ? (
              <p class="muted">{t.review.nothingOwed(t.roles[seat.role])}</p>
            ) : (
              <Pay line={line} onToggle={() => onCommand(`pay-${seat.role}`)} onReason={(text) => onReason(line.arrival_id, text)} />
            )}
          </div>
        );
      })}
    </>
  );
}

/** What the pay comes to, where the lines themselves may be out of sight. */
export function PaySum({ pay }: { pay: readonly PayLine[] }) {
  const cash = useMoney();
  const sum = (lines: readonly PayLine[]) => cash(lines.reduce((all, { cents }) => all + cents, 0));
  const [paid, refused] = [pay.filter((line) => line.approve), pay.filter((line) => !line.approve)];
  const parts = [
    ...(paid.length > 0 ? [t.review.pays(sum(paid))] : []),
    ...(refused.length > 0 ? [t.review.refuses(sum(refused))] : []),
  ];
  return (
    <p class="pay-sum small">
      <a href="#decide-pay">{t.review.paySum}</a>: {parts.length > 0 ? parts.join(", ") : t.review.paysNothing}
    </p>
  );
}

export function DecideData({ queue, busy, onCommand }: Props & { busy: boolean }) {
  const press = (command: Command) => () => onCommand(command);
  return (
    <>
      <h2>{t.review.data}</h2>
      <div class="verdicts">
        {hasVerdict(queue) ? (
          <>
            <Button testid="accept" look="main" hint="A" busy={busy} onPress={press("accept")}>
              {t.review.accept}
            </Button>
            <Button testid="reject" look="danger" hint="R" busy={busy} onPress={press("reject")}>
              {t.review.reject}
            </Button>
          </>
        ) : (
          <>
            <p class="muted verdict-none">{t.review.notData}</p>
            <Button testid="settle" look="main" hint="N" busy={busy} onPress={press("next")}>
              {queue.pay.length > 0 ? t.review.settle : t.review.seen}
            </Button>
          </>
        )}
        <Button testid="review-flag" hint="F" busy={busy} onPress={press("flag")}>
          {t.act.flagShort}
        </Button>
        <Button testid="skip" hint="S" busy={busy} onPress={press("skip")}>
          {t.review.skip}
        </Button>
      </div>
    </>
  );
}

interface PayProps {
  line: PayLine;
  onToggle: () => void;
  onReason: (text: string) => void;
}

function Pay({ line, onToggle, onReason }: PayProps) {
  const cash = useMoney();
  const box = useRef<HTMLTextAreaElement>(null);
  const id = `refusal-${line.arrival_id}`;
  const was = useRef(line.approve);
  // Whoever refuses goes on writing why.
  useEffect(() => {
    if (was.current && !line.approve) box.current?.focus();
    was.current = line.approve;
  }, [line.approve]);
  return (
    <div class={line.approve ? "pay" : "pay pay-refused"} data-testid={`pay-${line.role}`}>
      <p class="pay-line">
        <b class="num">{cash(line.cents)}</b>
        <span>{line.approve ? t.review.willPay : t.review.willRefuse}</span>
        <Button testid={`pay-${line.role}-toggle`} hint={line.role === "questioner" ? "P" : "Shift+P"} onPress={onToggle}>
          {line.approve ? t.review.refuse : t.review.payAfterAll}
        </Button>
      </p>
      {!line.approve && (
        <div class="field">
          <label for={id}>{t.review.refusal}</label>
          <textarea
            ref={box}
            id={id}
            class="box"
            rows={2}
            maxLength={1000}
            dir="auto"
            data-testid={`refusal-${line.role}`}
            value={line.reason}
            onInput={(event) => onReason(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") event.currentTarget.blur();
            }}
          />
          <span class="field-hint">{t.review.refusalHint}</span>
        </div>
      )}
    </div>
  );
}
