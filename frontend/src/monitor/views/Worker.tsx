/** One person: what they did, what they are paid, and what the team knows and does. */

import { useState } from "preact/hooks";
import type { Release, WorkerOut } from "../../generated/monitor";
import { newKey, useAct } from "../act";
import { useMay, useMonitor, useMoney } from "../context";
import { count, shortId, spanOf } from "../format";
import { Button } from "../parts/Button";
import { DialogTable } from "../parts/DialogTable";
import { TextField } from "../parts/fields";
import { Head } from "../parts/Head";
import { Empty, Loaded } from "../parts/Loaded";
import { Problem } from "../parts/Modal";
import { At } from "../parts/Time";
import { RequestPill } from "../people/RequestPill";
import { OnFailed } from "../people/OnFailed";
import { AllowAsk, BonusAsk, ExcludeAsk, WriteAsk } from "../people/actions";
import { useResource } from "../resource";
import { Payments } from "../talk/Aside";
import { t } from "../texts";

export function WorkerView({ id }: { id: string }) {
  const { api } = useMonitor();
  const found = useResource(() => api.worker(id), id, ["workers", "dialogs", "ledger", "requests", "review"]);
  return (
    <>
      <Head title={t.worker.title(shortId(id))} back={{ href: "/monitor/workers", text: t.views.workers }}>
        {found.data && <Actions worker={found.data} onDone={found.reload} />}
      </Head>
      <Loaded resource={found} lines={10}>
        {(worker) => <Whole worker={worker} onNoted={found.reload} />}
      </Loaded>
    </>
  );
}

function Whole({ worker, onNoted }: { worker: WorkerOut; onNoted: () => void }) {
  const cash = useMoney();
  const { row, brief } = worker;
  const speed = brief.median_answer_s === null ? "–" : spanOf(brief.median_answer_s);
  const facts: [string, string | number | preact.JSX.Element][] = [
    [t.worker.recruiter, row.recruiter],
    ...(worker.external_id === null ? [] : ([[t.worker.external, <span class="id">{worker.external_id}</span>]] as [string, preact.JSX.Element][])),
    [t.worker.first, <At at={row.first_at} />],
    [t.worker.last, <At at={row.last_at} />],
    [t.worker.dialogs, t.worker.dialogsOf(brief)],
    [t.worker.speed, speed],
    [t.worker.words, worker.median_words === null ? "–" : String(worker.median_words)],
    [t.worker.flags, t.worker.flagsOf(brief.flags, brief.rejected)],
    [t.worker.pay, t.worker.payOf(cash(row.paid), cash(row.owed))],
  ];
  const releases = Object.entries(worker.releases).filter(([, n]) => n > 0) as [Release, number][];
  return (
    <>
      {row.excluded && (
        <p class="note note-bad" data-testid="excluded">
          <b>{t.worker.excluded}</b> <span dir="auto">{worker.excluded_why}</span>
        </p>
      )}
      <div class="worker-page">
        <section class="panel">
          <h2>{t.worker.facts}</h2>
          <dl class="facts">
            {facts.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          <h3>{t.worker.arrivals(row.arrivals)}</h3>
          {releases.length > 0 && (
            <ul class="plain">
              {releases.map(([release, n]) => (
                <li key={release}>
                  <b class="num">{count(n)}</b> {t.releases[release]}
                </li>
              ))}
            </ul>
          )}
        </section>
        <Notes worker={worker} onNoted={onNoted} />
        <Payments payments={worker.payments} to="dialog" />
        <Requests worker={worker} onDone={onNoted} />
      </div>
      <section class="panel">
        <h2>{t.views.dialogs}</h2>
        {worker.dialogs.length === 0 ? <Empty>{t.worker.noDialogs}</Empty> : <DialogTable rows={worker.dialogs} />}
      </section>
    </>
  );
}

function Notes({ worker, onNoted }: { worker: WorkerOut; onNoted: () => void }) {
  const { api } = useMonitor();
  const may = useMay("reviewer");
  const act = useAct();
  const [text, setText] = useState("");
  const [key, setKey] = useState(newKey);
  const send = () => {
    if (text.trim() === "") return act.refuse(t.act.writeSomething);
    void act.run(
      () => api.note(worker.row.id, { key, text: text.trim() }),
      () => {
        setText("");
        setKey(newKey());
        onNoted();
      },
    );
  };
  return (
    <section class="panel" data-testid="notes">
      <h2>{t.worker.notes}</h2>
      {worker.notes.length === 0 && <Empty>{t.worker.noNotes}</Empty>}
      <ul class="rows">
        {worker.notes.map((note) => (
          <li key={`${note.at} ${note.by}`}>
            <p dir="auto" class="note-said">
              {note.text}
            </p>
            <p class="muted small">
              <span dir="auto">{note.by ?? t.common.system}</span>, <At at={note.at} />
            </p>
          </li>
        ))}
      </ul>
      {may && (
        <form
          class="ask"
          onSubmit={(event) => {
            event.preventDefault();
            send();
          }}
        >
          <TextField label={t.worker.addNote} testid="note-text" lines={2} value={text} onInput={setText} />
          <Problem text={act.error} />
          <Button testid="note-add" onPress={send} busy={act.busy}>
            {t.worker.add}
          </Button>
        </form>
      )}
    </section>
  );
}

function Requests({ worker, onDone }: { worker: WorkerOut; onDone: () => void }) {
  return (
    <section class="panel" data-testid="requests">
      <h2>{t.worker.requests}</h2>
      {worker.requests.length === 0 ? (
        <Empty>{t.worker.noRequests}</Empty>
      ) : (
        <ul class="rows">
          {worker.requests.map((request) => (
            <li key={request.id}>
              <RequestPill state={request.state} /> <b>{t.requestKinds[request.kind]}</b>{" "}
              <span class="muted">
                {request.by ?? t.common.system}, <At at={request.at} />
              </span>
              {request.text && <p dir="auto">{request.text}</p>}
              {request.problem && <p class="problem">{request.problem}</p>}
              <OnFailed request={request} onDone={onDone} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Actions({ worker, onDone }: { worker: WorkerOut; onDone: () => void }) {
  const { me } = useMonitor();
  const writes = useMay("reviewer") && me.study.messages;
  const owner = useMay("owner");
  const [asked, setAsked] = useState<"write" | "bonus" | "exclude" | "allow" | null>(null);
  const props = { worker, onClose: () => setAsked(null), onDone };
  return (
    <>
      {writes && (
        <Button testid="act-write" onPress={() => setAsked("write")}>
          {t.act.writeShort}
        </Button>
      )}
      {owner && me.study.pays && (
        <Button testid="act-bonus" onPress={() => setAsked("bonus")}>
          {t.act.bonusShort}
        </Button>
      )}
      {owner && !worker.row.excluded && (
        <Button testid="act-exclude" look="danger" onPress={() => setAsked("exclude")}>
          {t.act.excludeShort}
        </Button>
      )}
      {owner && worker.row.excluded && (
        <Button testid="act-allow" onPress={() => setAsked("allow")}>
          {t.act.allowShort}
        </Button>
      )}
      {asked === "write" && <WriteAsk {...props} />}
      {asked === "bonus" && <BonusAsk {...props} />}
      {asked === "exclude" && <ExcludeAsk {...props} />}
      {asked === "allow" && <AllowAsk {...props} />}
    </>
  );
}
