/** Rejecting a dialog as data; what becomes of its pay is said once more. */

import { useState } from "preact/hooks";
import type { Act } from "../act";
import { useMoney } from "../context";
import { TextField } from "../parts/fields";
import { Ask } from "../parts/Modal";
import type { Queue } from "../queue";
import { t } from "../texts";

interface Props {
  queue: Queue;
  act: Act;
  onClose: () => void;
  onReject: (reason: string) => void;
}

export function RejectAsk({ queue, act, onClose, onReject }: Props) {
  const cash = useMoney();
  const [reason, setReason] = useState("");
  const send = () => (reason.trim() === "" ? act.refuse(t.act.giveReason) : onReject(reason));
  return (
    <Ask title={t.review.rejectTitle} testid="reject-ask" grave act={act} submit={t.review.rejectDo} onSubmit={send} onClose={onClose}>
      <p>{t.review.rejectWhat}</p>
      <TextField label={t.act.reason} hint={t.review.rejectHint} testid="reject-reason" lines={2} value={reason} onInput={setReason} first />
      {queue.pay.length > 0 && (
        <ul class="plain small">
          {queue.pay.map((line) => (
            <li key={line.arrival_id}>
              {t.roles[line.role]}: {cash(line.cents)}, {line.approve ? t.review.willPay : t.review.willRefuse}
            </li>
          ))}
        </ul>
      )}
    </Ask>
  );
}
