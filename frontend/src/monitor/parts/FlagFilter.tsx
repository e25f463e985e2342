/** Which flag: chosen by its label, with the number of dialogs that have it, and what it means. */

import { useEffect, useId } from "preact/hooks";
import { useMonitor } from "../context";
import { flagOf } from "../flags";
import { count } from "../format";
import { useResource } from "../resource";
import { useStore } from "../store";
import { t } from "../texts";
import type { FieldProps } from "./FilterBar";
import { SelectField } from "./fields";

/** No flag is called so. */
const WITHOUT = " ";

interface Props extends Omit<FieldProps, "name" | "label"> {
  /** Whether dialogs without any flag can be asked for, as `unflagged` in the address. */
  without?: boolean;
}

export function FlagFilter({ filters, set, without = false }: Props) {
  const { api, flags: book } = useMonitor();
  const { data } = useResource(api.flags, "flags", ["review"]);
  useEffect(() => {
    if (data !== null) book.take(data.flags);
  }, [data]);
  const known = useStore(book.known);
  const id = useId();
  const chosen = filters.flag ?? "";
  const value = without && filters.unflagged === "true" ? WITHOUT : chosen;
  const names = [...known.keys()];
  // What stands in the address is shown, also when nobody knows it.
  if (chosen !== "" && !known.has(chosen)) names.push(chosen);
  const options = names.map((name) => {
    const { label, dialogs } = flagOf(known, name);
    return [name, t.flags.option(label, count(dialogs))] as const;
  });
  const change = (next: string) => {
    if (without) set("unflagged", next === WITHOUT ? "true" : "");
    set("flag", next === WITHOUT ? "" : next);
  };
  const means = chosen === "" ? "" : flagOf(known, chosen).means;
  return (
    <>
      <SelectField
        label={t.filters.flag}
        testid="filter-flag"
        value={value}
        options={[["", t.filters.all], ...(without ? ([[WITHOUT, t.flags.without]] as const) : []), ...options]}
        onChange={change}
        describedBy={means ? id : undefined}
      />
      {means && (
        <p id={id} class="filter-more muted small" data-testid="flag-means">
          {t.flags.means(flagOf(known, chosen).label, means)}
        </p>
      )}
    </>
  );
}
