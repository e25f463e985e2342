/** Everything that the team has done, the newest first. */

import { useMonitor } from "../context";
import { FilterBar, FilterSelect, FilterText, optionsOf } from "../parts/FilterBar";
import { Head } from "../parts/Head";
import { Empty, Loaded } from "../parts/Loaded";
import { Pager, useFilters } from "../parts/Pager";
import { useResource } from "../resource";
import { hrefOf } from "../router";
import { AuditTable } from "../study/AuditTable";
import { t } from "../texts";

const NAMES = ["by", "action", "target"] as const;

export function LogView() {
  const { api } = useMonitor();
  const [query, set] = useFilters([...NAMES, "after"]);
  const list = useResource(() => api.audit(query), hrefOf("", query), ["audit"]);
  const field = { filters: query, set };
  return (
    <>
      <Head title={t.views.log} />
      <FilterBar>
        <FilterText name="by" label={t.filters.by} {...field} />
        <FilterSelect name="action" label={t.filters.action} options={optionsOf(t.log.actions)} {...field} />
        <FilterText name="target" label={t.filters.target} {...field} />
      </FilterBar>
      <Loaded resource={list} lines={12}>
        {({ rows, total, next }) =>
          rows.length === 0 && NAMES.some((name) => query[name]) ? (
            <Empty>{t.log.noneMatch}</Empty>
          ) : (
            <>
              <AuditTable rows={rows} />
              <Pager total={total} next={next} shown={rows.length} of={t.views.log} what={t.log.count} />
            </>
          )
        }
      </Loaded>
    </>
  );
}
