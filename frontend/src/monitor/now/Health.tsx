/** Whether what the study runs on answers. */

import type { Health } from "../../generated/monitor";
import { useMonitor } from "../context";
import { count } from "../format";
import { Pill } from "../parts/Pill";
import { At, Elapsed } from "../parts/Time";
import { t } from "../texts";

/** A process gives a sign of life every few seconds; one that is silent for so long is gone. */
const SILENT_S = 15;

/**
 * What was wrong at that time, a sentence each: while this page is cut off, it knows nothing of
 * what goes on meanwhile.
 */
export function troubles(health: Health, at: number): string[] {
  const silent = health.processes.filter((process) => at - process.seen_at > SILENT_S);
  return [
    ...(health.database ? [] : [t.health.databaseDown]),
    ...(health.redis ? [] : [t.health.redisDown]),
    ...(silent.length > 0 ? [t.health.processesSilent(silent.length)] : []),
    ...(health.recruiting.length > 0 ? [t.health.recruitingStuck(health.recruiting.length)] : []),
  ];
}

export function HealthPanel({ health, at }: { health: Health; at: number }) {
  const { me } = useMonitor();
  const state = (good: boolean) => <Pill tone={good ? "good" : "bad"}>{good ? t.health.answers : t.health.silent}</Pill>;
  return (
    <section class="panel" id="health" data-testid="health">
      <h2>{t.health.title}</h2>
      <dl class="facts">
        <div>
          <dt>{t.health.database}</dt>
          <dd>{state(health.database)}</dd>
        </div>
        <div>
          <dt>{t.health.redis}</dt>
          <dd>{state(health.redis)}</dd>
        </div>
        <div>
          <dt>{t.health.recruiter(me.study.recruiter)}</dt>
          <dd>
            {health.recruiting_at === null ? (
              <span class="muted">{t.health.noRounds}</span>
            ) : (
              <>
                <Pill tone={health.recruiting.length === 0 ? "good" : "bad"}>
                  {health.recruiting.length === 0 ? t.health.inOrder : t.health.stuck}
                </Pill>{" "}
                <span class="muted">
                  {t.health.lastRound} <At at={health.recruiting_at} seconds />
                </span>
              </>
            )}
          </dd>
        </div>
        {health.processes.map((process) => (
          <div key={process.id}>
            <dt>
              {t.health.process} <span class="id">{process.id}</span>
            </dt>
            <dd>
              {state(at - process.seen_at <= SILENT_S)}{" "}
              <span class="muted">
                {t.health.seen(count(process.pages))} <Elapsed since={process.seen_at} /> {t.health.ago}
              </span>
            </dd>
          </div>
        ))}
      </dl>
      {health.recruiting.length > 0 && (
        <ul class="problems">
          {health.recruiting.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
    </section>
  );
}
