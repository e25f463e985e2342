/** Who has taken part, who came last first. */

import type { WorkerRow } from "../../generated/monitor";
import { useMonitor, useMoney } from "../context";
import { count } from "../format";
import { FilterBar, FilterSelect, FilterText } from "../parts/FilterBar";
import { Head } from "../parts/Head";
import { Empty, Loaded } from "../parts/Loaded";
import { Pager, useFilters } from "../parts/Pager";
import { Pill, WorkerLink } from "../parts/Pill";
import { Table, type Column } from "../parts/Table";
import { At } from "../parts/Time";
import { WorkersTold } from "../people/WorkersTold";
import { useResource } from "../resource";
import { hrefOf } from "../router";
import { t } from "../texts";

const NAMES = ["search", "excluded", "flagged"] as const;

export function WorkersView() {
  const { api } = useMonitor();
  const cash = useMoney();
  const [query, set] = useFilters([...NAMES, "after"]);
  const list = useResource(() => api.workers(query), hrefOf("", query), ["workers"]);
  const field = { filters: query, set };
  const columns: readonly Column<WorkerRow>[] = [
    { name: t.workers.worker, main: true, cell: (row) => <WorkerLink id={row.id} /> },
    { name: t.workers.now, cell: (row) => <Stands row={row} /> },
    { name: t.workers.dialogs, number: true, cell: (row) => count(row.dialogs) },
    { name: t.workers.complete, number: true, cell: (row) => count(row.complete) },
    { name: t.workers.rejected, number: true, cell: (row) => count(row.rejected) },
    { name: t.workers.flags, number: true, cell: (row) => (row.flags > 0 ? <Pill tone="warn">{count(row.flags)}</Pill> : "0") },
    { name: t.workers.owed, number: true, cell: (row) => cash(row.owed) },
    { name: t.workers.paid, number: true, cell: (row) => cash(row.paid) },
    { name: t.workers.last, cell: (row) => <At at={row.last_at} /> },
  ];
  return (
    <>
      <Head title={t.views.workers}>
        <a href="#told">{t.told.below}</a>
      </Head>
      <FilterBar>
        <FilterText name="search" label={t.filters.search} {...field} />
        <FilterSelect name="flagged" label={t.filters.flagged} options={[["true", t.filters.onlyFlagged]]} {...field} />
        <FilterSelect name="excluded" label={t.filters.excluded} options={[["true", t.filters.onlyExcluded]]} {...field} />
      </FilterBar>
      <Loaded resource={list} lines={12}>
        {({ rows, total, next }) =>
          rows.length === 0 ? (
            <Empty>{NAMES.some((name) => query[name]) ? t.workers.noneMatch : t.workers.none}</Empty>
          ) : (
            <>
              <Table testid="workers" caption={t.views.workers} columns={columns} rows={rows} id={(row) => row.id} />
              <Pager total={total} next={next} shown={rows.length} of={t.views.workers} what={t.workers.count} />
            </>
          )
        }
      </Loaded>
      <WorkersTold />
    </>
  );
}

function Stands({ row }: { row: WorkerRow }) {
  if (row.excluded) return <Pill tone="bad">{t.people.excluded}</Pill>;
  if (row.inside === null) return <span class="muted">{t.workers.gone}</span>;
  return <Pill tone="accent">{t.arrivalStatus[row.inside]}</Pill>;
}
