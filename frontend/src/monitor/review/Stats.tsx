/** How far the review is, and how far reviewers agree. */

import { useMonitor } from "../context";
import { count, share } from "../format";
import { useResource } from "../resource";
import { t } from "../texts";

export function Stats() {
  const { api } = useMonitor();
  const { data } = useResource(api.reviewStats, "stats", ["review"]);
  const text = (value: number | null | undefined) => (value == null ? "–" : count(value));
  const facts: [string, string, string?][] = [
    [t.stats.waiting, text(data?.waiting)],
    [t.stats.judged, text(data?.judged), data ? t.stats.split(data.accepted, data.rejected, data.judged - data.accepted - data.rejected) : ""],
    [t.stats.mine, text(data?.mine)],
    [t.stats.twice, text(data?.twice)],
    [t.stats.agree, data?.agree == null ? "–" : share(data.agree)],
    [t.stats.kappa, data?.kappa == null ? "–" : data.kappa.toFixed(2), t.stats.kappaMore],
  ];
  return (
    <dl class="stats" data-testid="stats">
      {facts.map(([name, value, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b class="num">{value}</b> {more && <span class="muted small">{more}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
