/** The live dialogs, those in trouble first. A tile is rendered anew only when its dialog changed. */

import { Component } from "preact";
import type { BoardRow, BoardSeat } from "../../generated/monitor";
import { inOrder, needsALook, type Placed, type Trouble } from "../board";
import { useMonitor } from "../context";
import { count, shortId } from "../format";
import { Empty } from "../parts/Loaded";
import { Elapsed, useTime } from "../parts/Time";
import { dialogHref } from "../router";
import { useStore } from "../store";
import { t } from "../texts";

export function Grid() {
  const { live } = useMonitor();
  const board = useStore(live.board);
  const placed = inOrder(board, useTime(5));
  const bad = placed.filter(needsALook).length;
  return (
    <section class="panel" id="live" data-testid="grid">
      <h2>
        {t.grid.title} <span class="muted num">{count(placed.length)}</span>{" "}
        {bad > 0 && <span class="muted">{t.grid.bad(bad)}</span>}
      </h2>
      {placed.length === 0 ? (
        <Empty>{t.grid.empty}</Empty>
      ) : (
        <ul class="grid">
          {placed.map(({ row, trouble }) => (
            <Tile key={row.id} row={row} trouble={trouble} />
          ))}
        </ul>
      )}
    </section>
  );
}

export class Tile extends Component<Placed> {
  override shouldComponentUpdate(next: Placed): boolean {
    return next.row !== this.props.row || next.trouble !== this.props.trouble;
  }

  override render({ row, trouble }: Placed) {
    return (
      <li class={`tile tile-${trouble}${row.flags > 0 ? " tile-flagged" : ""}`} data-testid="tile">
        <a href={dialogHref(row.id)} class="tile-link">
          <span class="tile-caption" dir="auto">
            {row.caption}
          </span>
        </a>
        <p class="tile-line">
          <span class="num">{t.grid.round(row.round, row.rounds)}</span>
          <span class="tile-silence">
            <Elapsed since={row.turn_at} />
          </span>
        </p>
        <p class="tile-line tile-turn">
          <TurnOf row={row} trouble={trouble} />
        </p>
        <p class="tile-seats">
          {row.seats.map((seat) => (
            <SeatMark key={seat.role} seat={seat} />
          ))}
        </p>
      </li>
    );
  }
}

function TurnOf({ row, trouble }: { row: BoardRow; trouble: Trouble }) {
  return (
    <>
      {row.turn !== null && <span class={`turn turn-${row.turn}`}>{t.grid.turn[row.turn]}</span>}
      {row.flags > 0 && (
        <span class="tile-flags">
          <span aria-hidden="true">⚑</span> {t.flags.count(row.flags)}
        </span>
      )}
      {trouble !== "calm" && <span class="trouble">{t.grid.trouble[trouble]}</span>}
    </>
  );
}

function SeatMark({ seat }: { seat: BoardSeat }) {
  const how = seat.gone ? "gone" : seat.away ? "away" : "here";
  return (
    <span class={`seat seat-${how}`} title={seat.worker_id}>
      <span class={`dot dot-${seat.role}`} aria-hidden="true" />
      <span class="unseen">{t.roles[seat.role]} </span>
      {shortId(seat.worker_id)} <span class="num">{seat.sent}</span>
      <span class="unseen">{t.grid.sent}</span> {how !== "here" && t.grid[how]}
    </span>
  );
}
