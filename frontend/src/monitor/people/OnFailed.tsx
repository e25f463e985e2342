/** What can be done about a request of the team that failed: once more, or leave it at that. */

import { useState } from "preact/hooks";
import type { RequestOut } from "../../generated/monitor";
import { useAct, useSayDone } from "../act";
import { useMay, useMonitor } from "../context";
import { Button } from "../parts/Button";
import { Ask } from "../parts/Modal";
import { t } from "../texts";

interface Props {
  request: RequestOut;
  onDone: () => void;
}

export function OnFailed({ request, onDone }: Props) {
  const may = useMay(request.needs);
  const [asked, setAsked] = useState<"again" | "dismiss" | null>(null);
  if (request.state !== "failed" || !may) return null;
  const what = t.requestKinds[request.kind];
  const again = request.kind === "message" ? t.requests.sendAgain : t.common.again;
  return (
    <span class="on-failed">
      <Button testid="request-again" label={`${again}: ${what}`} onPress={() => setAsked("again")}>
        {again}
      </Button>
      <Button testid="request-dismiss" look="quiet" label={`${t.common.dismiss}: ${what}`} onPress={() => setAsked("dismiss")}>
        {t.requests.dismissShort}
      </Button>
      {asked !== null && <FailedAsk request={request} how={asked} onClose={() => setAsked(null)} onDone={onDone} />}
    </span>
  );
}

function FailedAsk({ request, how, onClose, onDone }: Props & { how: "again" | "dismiss"; onClose: () => void }) {
  const { api } = useMonitor();
  const act = useAct();
  const say = useSayDone();
  const text = t.requests[how];
  const send = () =>
    void act.run(
      () => api[how](request.id, { failed_at: request.done_at }),
      (done) => {
        say(text.done, done);
        onDone();
        onClose();
      },
    );
  return (
    <Ask title={text.title(t.requestKinds[request.kind])} testid="failed-ask" act={act} submit={text.submit} onSubmit={send} onClose={onClose}>
      <p>{how === "again" && request.kind === "message" ? t.requests.maybeSent : text.what}</p>
      {request.problem && <p class="problem">{request.problem}</p>}
    </Ask>
  );
}
