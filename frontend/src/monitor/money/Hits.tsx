/** The HITs as the recruiter has them, and whether anybody is still invited. */

import type { HitRow } from "../../generated/monitor";
import { useMonitor, useMoney } from "../context";
import { count } from "../format";
import { FilterBar, FilterSelect, optionsOf } from "../parts/FilterBar";
import { Empty, Loaded } from "../parts/Loaded";
import { Pager, useFilters } from "../parts/Pager";
import { None, Pill, type Tone } from "../parts/Pill";
import { Table, type Column } from "../parts/Table";
import { At } from "../parts/Time";
import { useResource } from "../resource";
import { hrefOf } from "../router";
import { t } from "../texts";

const TONES: Record<HitRow["state"], Tone> = { wanted: "warn", open: "accent", closed: "calm", done: "good", failed: "bad" };

export function Hits() {
  const { api } = useMonitor();
  const cash = useMoney();
  const [{ hit_state: state = "", hits_after: after = "" }, set] = useFilters(["hit_state", "hits_after"]);
  const query = { state, after };
  const list = useResource(() => api.hits(query), hrefOf("", query), ["hits"]);
  const columns: readonly Column<HitRow>[] = [
    { name: t.hits.hit, main: true, cell: (row) => <span class="id">{row.remote_id ?? row.id}</span> },
    { name: t.hits.state, cell: (row) => <Pill tone={TONES[row.state]}>{t.hitStates[row.state]}</Pill> },
    { name: t.hits.seats, number: true, cell: (row) => count(row.seats) },
    { name: t.hits.taken, number: true, cell: (row) => count(row.taken) },
    { name: t.hits.submitted, number: true, cell: (row) => count(row.submitted) },
    { name: t.hits.reward, number: true, cell: (row) => cash(row.reward) },
    { name: t.hits.posted, cell: (row) => (row.posted_at === null ? <None /> : <At at={row.posted_at} />) },
    { name: t.hits.expires, cell: (row) => (row.expires_at === null ? <None /> : <At at={row.expires_at} />) },
    { name: t.hits.problem, cell: (row) => (row.problem ? <span class="problem">{row.problem}</span> : <None />) },
  ];
  return (
    <section class="panel" data-testid="hits">
      <h2>{t.hits.title}</h2>
      <Loaded resource={list} lines={6}>
        {({ wanted, have, why, states, rows, total, next }) => (
          <>
            <p>
              {t.hits.people(count(wanted), count(have))}
              {Object.entries(states).map(([each, n]) => ` · ${count(n)} ${t.hitStates[each as HitRow["state"]].toLowerCase()}`)}
            </p>
            {why && <p class="note note-warn">{why}</p>}
            <FilterBar label={t.hits.filters}>
              <FilterSelect name="hit_state" label={t.filters.state} options={optionsOf(t.hitStates)} filters={{ hit_state: state }} set={set} />
            </FilterBar>
            {rows.length === 0 ? (
              <Empty>{state ? t.hits.noneMatch : t.hits.none}</Empty>
            ) : (
              <>
                <Table testid="hits-table" caption={t.hits.title} columns={columns} rows={rows} id={(row) => row.id} />
                <Pager name="hits_after" total={total} next={next} shown={rows.length} of={t.hits.title} what={t.hits.count} />
              </>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}
