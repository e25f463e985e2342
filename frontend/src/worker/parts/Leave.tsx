/** Asks once, and says what leaving means for the pay. */

import { useId, useState } from "preact/hooks";
import type { State } from "../../generated/wire";
import { useActions, useAttempt, useLocale, useStudy } from "../context";
import { allSent } from "../machine/model";
import { Button } from "./Button";
import { Modal } from "./Modal";
import { Failure } from "./Note";
import { allSentText } from "../chat/NowLine";

export function Leave({ state, onClose }: { state: State; onClose: () => void }) {
  const { t } = useLocale();
  const actions = useActions();
  const [reason, setReason] = useState("");
  const box = useId();
  const attempt = useAttempt(() => actions.leave(reason.trim()), onClose);
  if (state.stage === "talking" && state.dialog && allSent(state.dialog)) {
    return <NothingToLeave paid={state.dialog.pays > 0} onClose={onClose} />;
  }
  return (
    <Modal title={t.leave.title} testid="leave-dialog" onClose={onClose}>
      <Meaning state={state} />
      <label class="field" for={box}>
        {t.leave.reason}
      </label>
      <textarea
        id={box}
        class="box"
        data-testid="leave-reason"
        dir={reason === "" ? undefined : "auto"}
        rows={2}
        maxLength={1000}
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      <Failure attempt={attempt} />
      <div class="actions">
        <Button testid="leave-confirm" look="danger" busy={attempt.busy} onPress={attempt.go}>
          {t.leave.confirm}
        </Button>
        <Button testid="leave-cancel" look="main" onPress={onClose}>
          {t.leave.stay}
        </Button>
      </div>
    </Modal>
  );
}

/** Who has sent everything cannot leave, only miss the last step. */
function NothingToLeave({ paid, onClose }: { paid: boolean; onClose: () => void }) {
  const { t } = useLocale();
  const { recruiter } = useStudy();
  return (
    <Modal title={t.leave.allSentTitle} testid="leave-dialog" onClose={onClose}>
      <p data-testid="leave-meaning">{allSentText(recruiter, paid, t)}</p>
      <div class="actions">
        <Button testid="leave-cancel" look="main" onPress={onClose}>
          {t.leave.stay}
        </Button>
      </div>
    </Modal>
  );
}

function Meaning({ state }: { state: State }) {
  const { t, money, pay: payOf } = useLocale();
  const study = useStudy();
  const dialog = state.dialog;
  const pay = payOf(dialog?.pays ?? study.pays, study.currency);
  if (state.stage === "talking" && dialog) {
    const left = dialog.rounds - dialog.sent;
    const text = dialog.phase === "solo" ? t.leave.solo(pay, left) : t.leave.seat(pay);
    return (
      <div class="prose" data-testid="leave-meaning">
        <p>{text}</p>
        {study.leaving_pays > 0 && <p>{t.leave.paid(money(study.leaving_pays, study.currency))}</p>}
      </div>
    );
  }
  return (
    <div class="prose" data-testid="leave-meaning">
      <p>{t.leave.lobby(pay)}</p>
      {state.stage === "waiting" && study.waiting_per_minute > 0 && <p>{t.leave.lobbyWaiting}</p>}
    </div>
  );
}
