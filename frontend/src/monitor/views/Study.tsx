/** The study as it runs: pausing it, what can be changed for dialogs to come, and its file. */

import { useEffect, useState } from "preact/hooks";
import type { StudyOut } from "../../generated/monitor";
import { useAct, useSayDone } from "../act";
import { useMay, useMonitor } from "../context";
import { Button } from "../parts/Button";
import { Head } from "../parts/Head";
import { Loaded } from "../parts/Loaded";
import { Ask } from "../parts/Modal";
import { Pill } from "../parts/Pill";
import { useResource } from "../resource";
import { File } from "../study/File";
import { LimitsForm } from "../study/LimitsForm";
import { AuditTable } from "../study/AuditTable";
import { t } from "../texts";

export function StudyView() {
  const { api, me } = useMonitor();
  const study = useResource(api.study, "study", ["study"]);
  const audit = useResource(() => api.audit({ target: me.study.id }), "audit", ["audit", "study"]);
  return (
    <>
      <Head title={t.views.study} />
      <Loaded resource={study} lines={12}>
        {(data) => (
          <div class="study-page">
            <Standing study={data} onDone={study.reload} />
            <Limits study={data} onDone={study.reload} />
            <section class="panel" data-testid="study-log">
              <h2>{t.study.log}</h2>
              <Loaded resource={audit} lines={4}>
                {({ rows }) => <AuditTable rows={rows.filter(({ action }) => action.startsWith("study.")).slice(0, 10)} />}
              </Loaded>
              <p>
                <a href="/monitor/log">{t.study.wholeLog}</a>
              </p>
            </section>
            <File file={data.file} />
          </div>
        )}
      </Loaded>
    </>
  );
}

/**
 * The form stays with what it was opened for: nothing that somebody writes is lost when somebody
 * else changes the study meanwhile. It begins anew when it is done, or when they want it to.
 */
function Limits({ study, onDone }: { study: StudyOut; onDone: () => void }) {
  const [seen, setSeen] = useState(study);
  const [changing, setChanging] = useState(false);
  const other = JSON.stringify(study.changes) !== JSON.stringify(seen.changes);
  const again = () => {
    setSeen(study);
    setChanging(false);
  };
  useEffect(() => {
    if (other && !changing) again();
  }, [other, changing]);
  return (
    <LimitsForm
      key={JSON.stringify(seen.changes)}
      study={seen}
      overtaken={other}
      onChanging={() => setChanging(true)}
      onAgain={again}
      onDone={() => {
        setChanging(false);
        onDone();
      }}
    />
  );
}

function Standing({ study, onDone }: { study: StudyOut; onDone: () => void }) {
  const { me } = useMonitor();
  const owner = useMay("owner");
  const [asked, setAsked] = useState(false);
  const open = study.status === "open";
  return (
    <section class="panel standing" data-testid="standing">
      <h2>
        <span dir="auto">{me.study.title}</span> <Pill tone={open ? "good" : "warn"}>{t.studyStatus[study.status]}</Pill>
      </h2>
      <p>{open ? t.study.openSo : t.study.pausedSo}</p>
      {owner && (
        <Button testid={open ? "pause" : "resume"} look={open ? "danger" : "main"} onPress={() => setAsked(true)}>
          {open ? t.study.pauseShort : t.study.resumeShort}
        </Button>
      )}
      {asked && <StatusAsk open={open} onClose={() => setAsked(false)} onDone={onDone} />}
    </section>
  );
}

function StatusAsk({ open, onClose, onDone }: { open: boolean; onClose: () => void; onDone: () => void }) {
  const { api } = useMonitor();
  const act = useAct();
  const say = useSayDone();
  const send = () =>
    void act.run(open ? api.pause : api.resume, (done) => {
      say(open ? t.study.paused : t.study.resumed, done);
      onDone();
      onClose();
    });
  return (
    <Ask
      title={open ? t.study.pauseTitle : t.study.resumeTitle}
      testid="status-ask"
      grave={open}
      act={act}
      submit={open ? t.study.pause : t.study.resume}
      onSubmit={send}
      onClose={onClose}
    >
      <ul class="bullets">
        {(open ? t.study.pauseWhat : t.study.resumeWhat).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </Ask>
  );
}
