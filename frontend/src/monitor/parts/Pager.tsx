/** From one page of a list to the next. Pages are addresses, so that the back button leads back. */

import { useMonitor } from "../context";
import { count } from "../format";
import { hrefOf, pathOf, queryOf } from "../router";
import { useStore } from "../store";
import { t } from "../texts";

export type Filters = Readonly<Record<string, string>>;

/** The filters in the address, and how to set one of them: from the first page on. */
export function useFilters(names: readonly string[]): [Filters, (name: string, value: string) => void] {
  const { router } = useMonitor();
  const at = useStore(router.at);
  const query = queryOf(at);
  const filters = Object.fromEntries(names.map((name) => [name, query.get(name) ?? ""]));
  const set = (name: string, value: string) => {
    const rest = [...queryOf(router.at.value)].filter(([each]) => !each.endsWith("after"));
    router.replace(hrefOf(pathOf(router.at.value), { ...Object.fromEntries(rest), [name]: value }));
  };
  return [filters, set];
}

interface Props {
  total: number;
  next: string | null;
  /** The name in the address of where this list has got to. */
  name?: string;
  shown: number;
  /** What the list is called. */
  of: string;
  what: (n: number) => string;
}

export function Pager({ total, next, name = "after", shown, of, what }: Props) {
  const { router } = useMonitor();
  const at = useStore(router.at);
  const query = Object.fromEntries(queryOf(at));
  const to = (after: string) => hrefOf(pathOf(at), { ...query, [name]: after });
  const first = (query[name] ?? "") === "";
  if (first && next === null) return <p class="pager muted">{what(total)}</p>;
  return (
    <nav class="pager" aria-label={t.pager.label(of)}>
      <span class="muted">{t.pager.some(count(shown), what(total))}</span>
      {!first && (
        <a class="button button-plain" href={to("")} data-testid="page-first">
          {t.pager.newest}
        </a>
      )}
      {next !== null && (
        <a class="button button-plain" href={to(next)} data-testid="page-next">
          {t.pager.older}
        </a>
      )}
    </nav>
  );
}
