/** All dialogs, the newest first. */

import { useMonitor } from "../context";
import { DialogTable } from "../parts/DialogTable";
import { FilterBar, FilterSelect, FilterText, FilterTime, optionsOf } from "../parts/FilterBar";
import { FlagFilter } from "../parts/FlagFilter";
import { Head } from "../parts/Head";
import { Empty, Loaded } from "../parts/Loaded";
import { Pager, useFilters } from "../parts/Pager";
import { useResource } from "../resource";
import { hrefOf } from "../router";
import { t } from "../texts";

const NAMES = ["phase", "outcome", "acceptance", "flag", "worker", "since", "until"] as const;

export function DialogsView() {
  const { api } = useMonitor();
  const [query, set] = useFilters([...NAMES, "after"]);
  const list = useResource(() => api.dialogs(query), hrefOf("", query), ["dialogs", "review"]);
  const filtered = NAMES.some((name) => query[name]);
  const field = { filters: query, set };
  return (
    <>
      <Head title={t.views.dialogs} />
      <FilterBar>
        <FilterSelect name="phase" label={t.filters.phase} options={optionsOf(t.phases)} {...field} />
        <FilterSelect name="outcome" label={t.filters.outcome} options={optionsOf(t.endings)} {...field} />
        <FilterSelect name="acceptance" label={t.filters.acceptance} options={optionsOf(t.acceptances)} {...field} />
        <FlagFilter {...field} />
        <FilterText name="worker" label={t.filters.worker} {...field} />
        <FilterTime name="since" label={t.filters.since} {...field} />
        <FilterTime name="until" label={t.filters.until} {...field} />
      </FilterBar>
      <Loaded resource={list} lines={12}>
        {({ rows, total, next }) =>
          rows.length === 0 ? (
            <Empty>{filtered ? t.dialogs.noneMatch : t.dialogs.none}</Empty>
          ) : (
            <>
              <DialogTable rows={rows} />
              <Pager total={total} next={next} shown={rows.length} of={t.views.dialogs} what={t.dialogs.count} />
            </>
          )
        }
      </Loaded>
    </>
  );
}
