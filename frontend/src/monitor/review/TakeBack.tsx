/** Taking a judgement back that is no longer the newest one, beside what was judged. */

import { useState } from "preact/hooks";
import type { JudgementOut } from "../../generated/monitor";
import { useAct } from "../act";
import { useMay, useMonitor } from "../context";
import { Button } from "../parts/Button";
import { Ask } from "../parts/Modal";
import { t } from "../texts";

interface Props {
  id: string;
  judgement: JudgementOut;
  among: readonly JudgementOut[];
}

export function TakeBack({ id, judgement, among }: Props) {
  const { api, me, toasts } = useMonitor();
  const act = useAct();
  const [asked, setAsked] = useState(false);
  const reviews = useMay("reviewer");
  const owns = useMay("owner");
  // An owner who has judged it themselves takes that back first.
  const anybodys = owns && judgement.decides && among.every(({ by }) => by !== me.name);
  if (!reviews || !(judgement.by === me.name || anybodys)) return null;
  const close = () => setAsked(false);
  const send = () =>
    void act.run(
      () => api.undo(id),
      () => {
        toasts.say(t.judgements.takenBack);
        close();
      },
    );
  return (
    <p>
      <Button testid="take-back" onPress={() => setAsked(true)}>
        {t.judgements.takeBack}
      </Button>
      {asked && (
        <Ask title={t.judgements.takeBackTitle} testid="take-back-ask" grave act={act} submit={t.judgements.takeBackDo} onSubmit={send} onClose={close}>
          <p>{t.judgements.takeBackWhat}</p>
        </Ask>
      )}
    </p>
  );
}
