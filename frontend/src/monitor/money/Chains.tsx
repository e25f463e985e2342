/** Items with a dialog that failed, and by which HITs each was relaunched. */

import type { ChainRow } from "../../generated/monitor";
import { useMonitor } from "../context";
import { Empty, Loaded } from "../parts/Loaded";
import { Pager, useFilters } from "../parts/Pager";
import { DialogLink, Pill, type Tone } from "../parts/Pill";
import { useResource } from "../resource";
import { nameOf, t } from "../texts";

const TONES: Readonly<Record<string, Tone>> = { complete: "good", solo: "warn", abandoned: "bad", rejected: "bad" };

export function Chains() {
  const { api } = useMonitor();
  const [{ chains_after: after = "" }] = useFilters(["chains_after"]);
  const list = useResource(() => api.chains({ after }), after, ["hits", "dialogs"]);
  return (
    <section class="panel" data-testid="chains">
      <h2>{t.chains.title}</h2>
      <Loaded resource={list} lines={4}>
        {({ rows, total, next }) =>
          rows.length === 0 ? (
            <Empty>{t.chains.none}</Empty>
          ) : (
            <>
              <ul class="chains">
                {rows.map((row) => (
                  <Chain key={row.image_id} row={row} />
                ))}
              </ul>
              <Pager name="chains_after" total={total} next={next} shown={rows.length} of={t.chains.title} what={t.chains.count} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function Chain({ row }: { row: ChainRow }) {
  return (
    <li class="chain">
      <p>
        <b>{row.image_id}</b> <span class="muted">{t.chains.of(row.complete, row.wanted)}</span>
      </p>
      <ol class="chain-dialogs">
        {row.dialogs.map((dialog) => (
          <li key={dialog.id}>
            <DialogLink id={dialog.id} /> <Pill tone={TONES[dialog.how] ?? "calm"}>{nameOf(dialog.how)}</Pill>
            {dialog.relaunched.length > 0 && (
              <span class="muted">
                → {t.chains.relaunched} <span class="id">{dialog.relaunched.join(", ")}</span>
              </span>
            )}
          </li>
        ))}
      </ol>
    </li>
  );
}
