/** Items with a dialog that failed, and by which HITs each was relaunched. */

import type { ChainRow, Ending, Phase } from "../../generated/monitor";
import { useMonitor } from "../context";
import { shortId } from "../format";
import { Empty, Loaded } from "../parts/Loaded";
import { Pager, useFilters } from "../parts/Pager";
import { DialogLink, Pill, StandPill } from "../parts/Pill";
import { useResource } from "../resource";
import { t } from "../texts";

/** How a dialog of a chain stands: as everywhere, but for what was rejected as data. */
function How({ how }: { how: string }) {
  if (how === "rejected") return <Pill tone="bad">{t.acceptances.rejected}</Pill>;
  if (how in t.endings) return <StandPill phase="ended" ending={how as Ending} />;
  return <StandPill phase={how as Phase} ending={null} />;
}

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
        <b>{t.chains.item(row.image_id)}</b>{" "}
        <span class="chain-caption" dir="auto" title={row.caption}>
          {row.caption}
        </span>{" "}
        <span class="muted">{t.chains.of(row.complete, row.wanted)}</span>
      </p>
      <ol class="chain-dialogs">
        {row.dialogs.map((dialog) => (
          <li key={dialog.id}>
            <DialogLink id={dialog.id} /> <How how={dialog.how} />
            {dialog.relaunched.length > 0 && (
              <span class="muted">
                {" "}
                → {t.chains.relaunched}{" "}
                {dialog.relaunched.map((hit) => (
                  <span key={hit} class="id" title={hit}>
                    {shortId(hit)}{" "}
                  </span>
                ))}
              </span>
            )}
          </li>
        ))}
      </ol>
    </li>
  );
}
