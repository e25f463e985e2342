/** Dialogs in a list. */

import type { DialogRow } from "../../generated/monitor";
import { count } from "../format";
import { dialogHref } from "../router";
import { t } from "../texts";
import { AcceptancePill, FlagPill, None, StandPill, WorkerLink } from "./Pill";
import { Table, type Column } from "./Table";
import { At } from "./Time";

const COLUMNS: readonly Column<DialogRow>[] = [
  {
    name: t.dialogs.caption,
    main: true,
    cell: (row) => (
      <a href={dialogHref(row.id)} dir="auto">
        {row.caption || row.image_id}
      </a>
    ),
  },
  { name: t.dialogs.stands, cell: (row) => <StandPill phase={row.phase} ending={row.ending} /> },
  { name: t.dialogs.acceptance, cell: (row) => <AcceptancePill acceptance={row.acceptance} outcome={row.outcome} /> },
  { name: t.dialogs.messages, number: true, cell: (row) => count(row.messages) },
  {
    name: t.dialogs.flags,
    cell: (row) =>
      row.flags.length === 0 ? (
        <None />
      ) : (
        row.flags.map((flag) => <FlagPill key={flag} flag={flag} />)
      ),
  },
  { name: t.dialogs.workers, cell: (row) => row.workers.map((id) => <WorkerLink key={id} id={id} />) },
  { name: t.dialogs.opened, cell: (row) => <At at={row.opened_at} /> },
  { name: t.dialogs.ended, cell: (row) => (row.ended_at === null ? <None /> : <At at={row.ended_at} />) },
  { name: t.dialogs.judgedBy, cell: (row) => (row.judged_by.length === 0 ? <None /> : <span dir="auto">{row.judged_by.join(", ")}</span>) },
];

export function DialogTable({ rows }: { rows: DialogRow[] }) {
  return <Table testid="dialogs" caption={t.views.dialogs} columns={COLUMNS} rows={rows} id={(row) => row.id} />;
}
