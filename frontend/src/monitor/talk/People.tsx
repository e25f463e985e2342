/** The two people of a dialog: their part in it, and who they have been before. */

import type { ComponentChildren } from "preact";
import type { DialogOut, Ending, Release, SeatOut, WorkerBrief } from "../../generated/monitor";
import { useMoney } from "../context";
import { spanOf } from "../format";
import { Pill, RolePill, WorkerLink } from "../parts/Pill";
import { Elapsed } from "../parts/Time";
import { t } from "../texts";

interface Props {
  dialog: DialogOut;
  /** More about one of them, below what is known. */
  more?: (seat: SeatOut) => ComponentChildren;
}

export function People({ dialog, more }: Props) {
  const cash = useMoney();
  return (
    <section class="panel" data-testid="people">
      <h2>{t.people.title}</h2>
      {dialog.same_address && <p class="note note-warn">{t.people.sameAddress}</p>}
      {dialog.standing.seats.map((seat) => (
        <div key={seat.role} class="person">
          <p class="person-head">
            <RolePill role={seat.role} /> <WorkerLink id={seat.worker_id} />
            {dialog.standing.turn === seat.role && dialog.standing.phase !== "ended" && <Pill tone="accent">{t.people.turn}</Pill>}
            {seat.gone && <Pill tone="bad">{t.people.gone}</Pill>}
            {seat.away_at !== null && !seat.gone && (
              <Pill tone="bad">
                {t.people.away} <Elapsed since={seat.away_at} />
              </Pill>
            )}
          </p>
          <p>
            {t.people.sent(seat.sent)}
            {seat.release !== null && ` · ${released(seat.release, dialog.standing.ending)}`}
            {` · ${t.people.earned(cash(seat.cents))}`}
          </p>
          <History brief={dialog.workers.find(({ id }) => id === seat.worker_id)} />
          {more?.(seat)}
        </div>
      ))}
    </section>
  );
}

/** One release is two things: what became of the dialog tells them apart. */
const released = (release: Release, ending: Ending | null): string =>
  release === "ended_by_team" && (ending === "ended_by_team" || ending === "time_limit") ? t.people.endedBy[ending] : t.releases[release];

export function History({ brief }: { brief: WorkerBrief | undefined }) {
  if (brief === undefined) return null;
  return (
    <p class="muted small history">
      {brief.excluded && (
        <>
          <Pill tone="bad">{t.people.excluded}</Pill>{" "}
        </>
      )}
      {t.people.history(brief)}
      {brief.median_answer_s !== null && ` · ${t.people.speed(spanOf(brief.median_answer_s))}`}
    </p>
  );
}
