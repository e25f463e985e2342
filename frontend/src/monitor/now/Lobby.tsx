/** Who waits for a partner, and for how long. */

import type { Now } from "../../generated/monitor";
import { count } from "../format";
import { Empty } from "../parts/Loaded";
import { WorkerLink } from "../parts/Pill";
import { Elapsed } from "../parts/Time";
import { t } from "../texts";

export function Lobby({ now }: { now: Now }) {
  const hidden = now.lobby_size - now.lobby.length;
  return (
    <section class="panel" data-testid="lobby">
      <h2>
        {t.lobby.title} <span class="muted num">{count(now.lobby_size)}</span>
      </h2>
      {now.lobby.length === 0 ? (
        <Empty>{t.lobby.empty}</Empty>
      ) : (
        <ul class="lobby" tabIndex={0} aria-label={t.lobby.title}>
          {now.lobby.map((row) => (
            <li key={row.arrival_id}>
              <WorkerLink id={row.worker_id} />
              <span class="muted">{row.language}</span>
              <b class="lobby-wait">
                <Elapsed since={row.since} before={row.waited_s} />
              </b>
            </li>
          ))}
        </ul>
      )}
      {hidden > 0 && <p class="muted">{t.lobby.more(hidden)}</p>}
    </section>
  );
}
