/** What the team wants of the recruiter, how far each has come, and what failed. */

import type { RequestOut } from "../../generated/monitor";
import { useMonitor } from "../context";
import { FilterBar, FilterSelect, optionsOf } from "../parts/FilterBar";
import { Empty, Loaded } from "../parts/Loaded";
import { Pager, useFilters } from "../parts/Pager";
import { None, WorkerLink } from "../parts/Pill";
import { Table, type Column } from "../parts/Table";
import { At } from "../parts/Time";
import { OnFailed } from "../people/OnFailed";
import { RequestPill } from "../people/RequestPill";
import { useResource } from "../resource";
import { hrefOf } from "../router";
import { t } from "../texts";

export function Requests() {
  const { api } = useMonitor();
  const [{ request_state: state = "", requests_after: after = "" }, set] = useFilters(["request_state", "requests_after"]);
  const query = { state, after };
  const list = useResource(() => api.requests(query), hrefOf("", query), ["requests"]);
  const columns: readonly Column<RequestOut>[] = [
    { name: t.requests.what, main: true, cell: (row) => <b>{t.requestKinds[row.kind]}</b> },
    { name: t.requests.worker, cell: (row) => <WorkerLink id={row.worker_id} /> },
    { name: t.requests.text, cell: (row) => (row.text ? <span dir="auto">{row.text}</span> : <None />) },
    { name: t.requests.by, cell: (row) => <span dir="auto">{row.by ?? t.common.system}</span> },
    { name: t.requests.at, cell: (row) => <At at={row.at} /> },
    { name: t.requests.state, cell: (row) => <RequestPill state={row.state} /> },
    {
      name: t.requests.problem,
      cell: (row) => (
        <>
          {row.problem ? <span class={row.state === "failed" ? "problem" : "muted"}>{row.problem}</span> : <None />}
          <OnFailed request={row} onDone={list.reload} />
        </>
      ),
    },
  ];
  return (
    <section class="panel" data-testid="requests">
      <h2>{t.requests.title}</h2>
      <Loaded resource={list} lines={4}>
        {({ rows, total, next }) => (
          <>
            <FilterBar label={t.requests.filters}>
              <FilterSelect name="request_state" label={t.filters.state} options={optionsOf(t.requestStates)} filters={{ request_state: state }} set={set} />
            </FilterBar>
            {rows.length === 0 ? (
              <Empty>{state ? t.requests.noneMatch : t.worker.noRequests}</Empty>
            ) : (
              <>
                <Table testid="requests-table" caption={t.requests.title} columns={columns} rows={rows} id={(row) => row.id} />
                <Pager name="requests_after" total={total} next={next} shown={rows.length} of={t.requests.title} what={t.requests.count} />
              </>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}
