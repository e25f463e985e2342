/** Who did what, when, and what it changed. */

import type { AuditRow } from "../../generated/monitor";
import { useMoney } from "../context";
import { shortId } from "../format";
import { Empty } from "../parts/Loaded";
import { None } from "../parts/Pill";
import { Table, type Column } from "../parts/Table";
import { At } from "../parts/Time";
import { dialogHref, workerHref } from "../router";
import { t } from "../texts";
import { saidOf } from "./said";
import { differences, isAmount, isNumbering, shortened } from "./diff";

const COLUMNS: readonly Column<AuditRow>[] = [
  { name: t.log.at, main: true, cell: (row) => <At at={row.at} seconds /> },
  { name: t.log.by, cell: (row) => <span dir="auto">{row.by ?? t.common.system}</span> },
  { name: t.log.action, cell: (row) => t.log.actionOf(row.action) },
  { name: t.log.target, cell: (row) => <Target row={row} /> },
  { name: t.log.change, cell: (row) => <Change row={row} /> },
];

export function AuditTable({ rows }: { rows: AuditRow[] }) {
  if (rows.length === 0) return <Empty>{t.log.none}</Empty>;
  return <Table testid="audit" caption={t.views.log} columns={COLUMNS} rows={rows} id={(row) => row.id} />;
}

function Target({ row }: { row: AuditRow }) {
  const kind = row.action.split(".")[0];
  const href = kind === "dialog" || kind === "review" ? dialogHref(row.target) : kind === "worker" ? workerHref(row.target) : null;
  const id = <span title={row.target}>{shortId(row.target)}</span>;
  return href === null ? (
    <span class="id">{id}</span>
  ) : (
    <a class="id" href={href}>
      {id}
    </a>
  );
}

/** What can be changed of a study is called as in its form; all else by its name in the row. */
function Field({ name }: { name: string }) {
  const label = (t.limits.names as Partial<Record<string, string>>)[name.replace(/^changes\./, "")];
  return label === undefined ? <code title={name}>{shortened(name)}</code> : <span title={name}>{label}:</span>;
}

function Change({ row }: { row: AuditRow }) {
  const cash = useMoney();
  const said = saidOf(row, cash);
  if (said?.length === 0) return <None />;
  if (said !== null) return <span dir="auto">{said.join(" · ")}</span>;
  const all = differences(row.before, row.after).filter(({ key }) => !isNumbering(key));
  const shown = (key: string, value: string) =>
    isAmount(key) && /^[0-9]+$/.test(value) ? cash(Number(value)) : shortened(value);
  if (all.length === 0) return <None />;
  return (
    <ul class="changes">
      {all.map(({ key, before, after }) => (
        <li key={key}>
          {key && <Field name={key} />}{" "}
          {before !== null && (
            <del dir="auto" title={before}>
              {shown(key, before)}
            </del>
          )}{" "}
          {before !== null && after !== null && "→ "}
          {after !== null && (
            <ins dir="auto" title={after}>
              {shown(key, after)}
            </ins>
          )}
        </li>
      ))}
    </ul>
  );
}
