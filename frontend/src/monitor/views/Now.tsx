/** How the study stands: what needs somebody, how far it is, who waits, who talks. */

import type { Now } from "../../generated/monitor";
import { useMay, useMonitor, useMoney } from "../context";
import { count, share, spanOf } from "../format";
import { Chart } from "../now/Chart";
import { Grid } from "../now/Grid";
import { HealthPanel, troubles } from "../now/Health";
import { Lobby } from "../now/Lobby";
import { Head } from "../parts/Head";
import { Skeleton } from "../parts/Loaded";
import { At, useTime } from "../parts/Time";
import { useStore } from "../store";
import { t } from "../texts";
import { inOrder } from "../board";

export function NowView() {
  const { live } = useMonitor();
  const now = useStore(live.now);
  return (
    <>
      <Head title={t.views.now} />
      {now === null ? (
        <Skeleton lines={8} />
      ) : (
        <div class="now-page">
          <Attention now={now} />
          {now.began_at === null && <Begin now={now} />}
          <Figures now={now} />
          <div class="now-columns">
            <Chart began={now.began_at} />
            <Lobby now={now} />
          </div>
          <Grid />
          <HealthPanel health={now.health} at={now.at} />
        </div>
      )}
    </>
  );
}

/** What comes next in a study to which nobody has come. */
function Begin({ now }: { now: Now }) {
  const { me } = useMonitor();
  const { begin } = t.now;
  const { posts, work } = me.study;
  return (
    <p class="note note-calm" data-testid="begin">
      <b>{begin.nobody}</b>{" "}
      {now.status === "paused" ? (
        <a href="/monitor/study">{begin.paused}</a>
      ) : posts ? (
        <>
          {begin.hits} <a href="/monitor/money">{begin.seeHits}</a>
        </>
      ) : work === "" ? (
        begin.invited
      ) : (
        <>
          {begin.link}{" "}
          <a href={work} target="_blank" rel="noreferrer">
            {new URL(work, location.href).href}
          </a>
        </>
      )}
    </p>
  );
}

/** What a person has to look at, the worst first; each leads to where it is dealt with. */
function Attention({ now }: { now: Now }) {
  const { live } = useMonitor();
  const cash = useMoney();
  const may = useMay("reviewer");
  const time = useTime(5);
  const placed = inOrder(useStore(live.board), time);
  const silent = placed.filter(({ trouble }) => trouble === "silent").length;
  const flagged = placed.filter(({ row }) => row.flags > 0).length;
  const { payments, cents, requests, problems, to_approve, to_approve_cents } = now.stuck;

  const items: { tone: string; text: string; href: string }[] = [
    ...troubles(now.health, now.at).map((text) => ({ tone: "bad", text, href: "#health" })),
    ...(payments > 0 ? [{ tone: "bad", text: t.now.paymentsFailed(payments, cash(cents)), href: "/monitor/money?problem=true" }] : []),
    ...(requests > 0 ? [{ tone: "bad", text: t.now.requestsFailed(requests), href: "/monitor/money?request_state=failed" }] : []),
    ...(problems > 0 ? [{ tone: "bad", text: t.now.problems(problems), href: "/monitor/workers#told" }] : []),
    ...(now.status === "paused" ? [{ tone: "warn", text: t.now.paused, href: "/monitor/study" }] : []),
    ...(flagged > 0 ? [{ tone: "warn", text: t.now.flagged(flagged), href: "#live" }] : []),
    ...(silent > 0 ? [{ tone: "warn", text: t.now.silent(silent), href: "#live" }] : []),
    ...(may && to_approve > 0 ? [{ tone: "accent", text: t.now.toApprove(to_approve, cash(to_approve_cents)), href: "/monitor/money?state=owed" }] : []),
    ...(may && now.to_review > 0 ? [{ tone: "accent", text: t.now.toReview(now.to_review), href: "/monitor/review" }] : []),
  ];
  return (
    <section class="attention" aria-label={t.now.attention} data-testid="attention">
      {items.length === 0 ? (
        <p class="attention-none">✓ {t.now.nothing}</p>
      ) : (
        <ul>
          {items.map(({ tone, text, href }) => (
            <li key={text}>
              <a class={`attend attend-${tone}`} href={href}>
                {text} <span aria-hidden="true">→</span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Figures({ now }: { now: Now }) {
  const cash = useMoney();
  const part = now.places === 0 ? 0 : now.done / now.places;
  const all = now.places > 0 && now.done >= now.places;
  return (
    <section class="figures" aria-label={t.now.figures} data-testid="figures">
      <div class="figure figure-wide">
        <h2>{t.now.progress}</h2>
        <p class="figure-main">
          <b>{count(now.done)}</b> {t.now.ofPlaces(count(now.places))}
        </p>
        <progress class="bar" max={Math.max(now.places, 1)} value={now.done} aria-label={t.now.progress} />
        <p class="muted">{share(part)}</p>
      </div>
      <Figure name={t.now.rate} value={t.now.perHour(now.rate)} more={t.now.rateMore} />
      <div class="figure">
        <h2>{t.now.ends}</h2>
        <p class="figure-main">{now.ends_at === null ? (all ? t.now.allDone : "–") : <At at={now.ends_at} />}</p>
        <p class="muted">{now.ends_at !== null ? t.now.endsIn(spanOf(now.ends_at - now.at)) : all ? t.now.allDoneMore : t.now.endsUnknown}</p>
      </div>
      <Figure
        name={t.now.cost}
        value={cash(now.cost)}
        more={now.forecast === null ? t.now.paid(cash(now.paid)) : `${t.now.paid(cash(now.paid))} · ${t.now.forecast(cash(now.forecast))}`}
      />
      <Figure
        name={t.now.hourly}
        value={now.hourly === null ? "–" : cash(now.hourly)}
        more={now.hourly === null ? t.now.hourlyUnknown : t.now.hourlyMore}
      />
      <Figure name={t.now.live} value={count(now.live)} more={t.now.inside(now.inside)} />
    </section>
  );
}

function Figure({ name, value, more }: { name: string; value: string; more: string }) {
  return (
    <div class="figure">
      <h2>{name}</h2>
      <p class="figure-main">{value}</p>
      <p class="muted">{more}</p>
    </div>
  );
}
