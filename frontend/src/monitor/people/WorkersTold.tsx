/** What workers told the team: problems, why they left, and feedback; the newest first. */

import type { ToldRow } from "../../generated/monitor";
import { useMonitor } from "../context";
import { FilterBar, FilterSelect, optionsOf } from "../parts/FilterBar";
import { Empty, Loaded } from "../parts/Loaded";
import { Pager, useFilters } from "../parts/Pager";
import { DialogLink, None, Pill, WorkerLink } from "../parts/Pill";
import { Table, type Column } from "../parts/Table";
import { At } from "../parts/Time";
import { useResource } from "../resource";
import { hrefOf } from "../router";
import { t } from "../texts";

const COLUMNS: readonly Column<ToldRow>[] = [
  { name: t.told.kind, main: true, cell: (row) => <Pill tone={row.kind === "problem" ? "bad" : "calm"}>{t.told.kinds[row.kind]}</Pill> },
  { name: t.told.text, cell: (row) => <span dir="auto">{row.text}</span> },
  { name: t.told.worker, cell: (row) => <WorkerLink id={row.worker_id} /> },
  { name: t.told.dialog, cell: (row) => (row.dialog_id === null ? <None /> : <DialogLink id={row.dialog_id} />) },
  { name: t.told.at, cell: (row) => <At at={row.at} /> },
];

export function WorkersTold() {
  const { api } = useMonitor();
  const [{ told: kind = "", told_after: after = "" }, set] = useFilters(["told", "told_after"]);
  const query = { kind, after };
  const list = useResource(() => api.told(query), hrefOf("told", query), ["told"]);
  return (
    <section class="panel" id="told" data-testid="told">
      <h2>{t.told.title}</h2>
      <Loaded resource={list} lines={4}>
        {({ rows, total, next }) => (
          <>
            <FilterBar label={t.told.filters}>
              <FilterSelect name="told" label={t.told.kind} options={optionsOf(t.told.kinds)} filters={{ told: kind }} set={set} />
            </FilterBar>
            {rows.length === 0 ? (
              <Empty>{kind ? t.told.noneMatch : t.told.none}</Empty>
            ) : (
              <>
                <Table testid="told-table" caption={t.told.title} columns={COLUMNS} rows={rows} id={(row) => row.id} />
                <Pager name="told_after" total={total} next={next} shown={rows.length} of={t.told.title} what={t.told.count} />
              </>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}
