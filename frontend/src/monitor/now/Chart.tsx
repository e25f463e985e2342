/** Arrivals, pairs, completions, losses and the wait over time: drawn, and as a table. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Chart as Points } from "../../generated/monitor";
import { columnsOf, LINES, merged, sinceBegin, thinned, valueOf, type LineName } from "../chart";
import { useMonitor } from "../context";
import { spanOf, timeOf } from "../format";
import { Button } from "../parts/Button";
import { Empty, Loaded } from "../parts/Loaded";
import { useResource } from "../resource";
import { Store, useStore } from "../store";
import { t } from "../texts";

const HOURS = [1, 3, 12, 24] as const;

/** Told apart by their dashes too, not by colour alone. */
const DASHES: Record<LineName, number[]> = {
  arrivals: [],
  pairs: [8, 4],
  complete: [],
  lost: [2, 3],
  wait_s: [10, 3, 2, 3],
};
const WIDTHS: Record<LineName, number> = { arrivals: 1.25, pairs: 1.75, complete: 2.75, lost: 2, wait_s: 1.5 };

export function Chart({ began }: { began: number | null }) {
  const { api, live } = useMonitor();
  const [hours, setHours] = useState<number>(3);
  const [hidden, setHidden] = useState<ReadonlySet<LineName>>(new Set());
  const [points, setPoints] = useState<Points | null>(null);
  const fetched = useResource(() => api.chart(hours), String(hours));
  useEffect(() => setPoints(fetched.data), [fetched.data]);
  useEffect(() => {
    let asked = performance.now();
    return live.onChart((fresh) => {
      setPoints((known) => known && merged(known, fresh, hours));
      // Longer ones have longer steps, which do not come by themselves.
      const step_s = fetched.data?.step_s ?? fresh.step_s;
      if (step_s === fresh.step_s || performance.now() - asked < step_s * 1_000) return;
      asked = performance.now();
      fetched.reload();
    });
  }, [live, hours, fetched.data]);
  const at = useMemo(() => new Store<number | null>(null), []);

  const toggle = (line: LineName) => {
    const next = new Set(hidden);
    if (!next.delete(line)) next.add(line);
    setHidden(next);
  };
  return (
    <section class="panel chart-panel" data-testid="chart">
      <div class="panel-head">
        <h2>{t.chart.title}</h2>
        <div class="choices" role="group" aria-label={t.chart.span}>
          {HOURS.map((each) => (
            <Button key={each} testid={`hours-${each}`} look="quiet" pressed={each === hours} onPress={() => setHours(each)}>
              {t.chart.hours(each)}
            </Button>
          ))}
        </div>
      </div>
      <Loaded resource={fetched} lines={7}>
        {(data) => {
          const shown = thinned(sinceBegin(points ?? data, began));
          if (shown.points.length === 0) return <Empty>{t.chart.empty}</Empty>;
          return (
            <>
              <Legend points={shown} hidden={hidden} at={at} onToggle={toggle} />
              <Plot points={shown} hidden={hidden} at={at} />
              <AsTable points={shown} />
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

interface Shown {
  points: Points;
  hidden: ReadonlySet<LineName>;
  /** The point under the cursor. */
  at: Store<number | null>;
}

function Legend({ points, hidden, at, onToggle }: Shown & { onToggle: (line: LineName) => void }) {
  const { clock } = useMonitor();
  const cursor = useStore(at);
  const point = points.points[cursor ?? points.points.length - 1];
  return (
    <div class="legend">
      {LINES.map((line) => {
        const value = point ? valueOf(point, line, points.step_s) : null;
        return (
          <button
            key={line}
            type="button"
            class="legend-line"
            aria-pressed={!hidden.has(line)}
            data-testid={`line-${line}`}
            onClick={() => onToggle(line)}
          >
            <svg class={`stroke stroke-${line}`} viewBox="0 0 28 8" aria-hidden="true">
              <line x1="0" y1="4" x2="28" y2="4" stroke-dasharray={DASHES[line].join(" ")} stroke-width={WIDTHS[line] + 0.5} />
            </svg>
            {t.chart.lines[line]} <b class="num">{amount(line, value)}</b>
          </button>
        );
      })}
      <span class="muted num">{point && timeOf(point.at, clock.now())}</span>
    </div>
  );
}

const amount = (line: LineName, value: number | null): string =>
  value === null ? "–" : line === "wait_s" ? spanOf(value) : Number(value.toFixed(1)).toString();

function Plot({ points, hidden, at }: Shown) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const newest = useRef({ points, hidden });
  newest.current = { points, hidden };

  useEffect(() => {
    const box = place.current;
    if (box === null) return;
    const draw = () => {
      plot.current?.destroy();
      const { points: now, hidden: off } = newest.current;
      plot.current = new uPlot(optionsOf(box, off, at), columnsOf(now) as uPlot.AlignedData, box);
    };
    draw();
    const sized = new ResizeObserver(() => plot.current?.setSize(sizeOf(box)));
    sized.observe(box);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    return () => {
      sized.disconnect();
      scheme.removeEventListener("change", draw);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, []);
  useEffect(() => plot.current?.setData(columnsOf(points) as uPlot.AlignedData), [points]);
  useEffect(() => {
    LINES.forEach((line, index) => plot.current?.setSeries(index + 1, { show: !hidden.has(line) }));
  }, [hidden]);
  return <div ref={place} class="plot" role="img" aria-label={t.chart.drawing} />;
}

const sizeOf = (box: HTMLElement) => ({ width: Math.max(box.clientWidth, 200), height: 230 });

function optionsOf(box: HTMLElement, hidden: ReadonlySet<LineName>, at: Store<number | null>): uPlot.Options {
  const style = getComputedStyle(box);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const font = `12px ${style.fontFamily}`;
  const axis = { stroke: colour("muted"), font, grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line") } };
  return {
    ...sizeOf(box),
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    hooks: { setCursor: [(u) => at.set(u.cursor.left !== undefined && u.cursor.left >= 0 ? (u.cursor.idx ?? null) : null)] },
    scales: { x: { time: true }, y: { range: (_u, _min, max) => [0, Math.max(1, (max ?? 0) * 1.1)] }, s: { range: (_u, _min, max) => [0, Math.max(10, (max ?? 0) * 1.1)] } },
    axes: [
      { ...axis, size: 34, values: "{HH}:{mm}" },
      { ...axis, size: 44, label: t.chart.left, labelFont: font, labelSize: 18 },
      { ...axis, side: 1, scale: "s", size: 52, grid: { show: false }, label: t.chart.right, labelFont: font, labelSize: 18, values: (_u, all) => all.map((s) => spanOf(s)) },
    ],
    series: [
      {},
      ...LINES.map((line) => ({
        label: t.chart.lines[line],
        scale: line === "wait_s" ? "s" : "y",
        stroke: colour(`chart-${line}`),
        width: WIDTHS[line],
        dash: DASHES[line],
        show: !hidden.has(line),
        spanGaps: line === "wait_s",
        points: { show: false },
      })),
    ],
  };
}

function AsTable({ points }: { points: Points }) {
  const { clock } = useMonitor();
  const [open, setOpen] = useState(false);
  return (
    <details class="as-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary data-testid="as-table">{t.chart.asTable}</summary>
      {open && (
        <div class="scroll" tabIndex={0} role="region" aria-label={t.chart.title}>
          <table class="plain-table">
            <caption class="unseen">{t.chart.caption}</caption>
            <thead>
              <tr>
                <th scope="col">{t.chart.time}</th>
                {LINES.map((line) => (
                  <th key={line} scope="col">
                    {t.chart.lines[line]}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {[...points.points].reverse().map((point) => (
                <tr key={point.at}>
                  <th scope="row">{timeOf(point.at, clock.now())}</th>
                  {LINES.map((line) => (
                    <td key={line}>{amount(line, valueOf(point, line, points.step_s))}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
