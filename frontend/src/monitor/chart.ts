/** The points of the chart, kept up to date and no longer than what is shown. */

import type { Chart, ChartPoint } from "../generated/monitor";

/** The newest points again: those of the same step take the place of the old ones. */
export function merged(known: Chart, fresh: Chart, hours: number): Chart {
  if (fresh.step_s !== known.step_s || fresh.points.length === 0) return known;
  const points = new Map<number, ChartPoint>(known.points.map((point) => [point.at, point]));
  for (const point of fresh.points) points.set(point.at, point);
  const sorted = [...points.values()].sort((a, b) => a.at - b.at);
  const oldest = sorted[sorted.length - 1]!.at - hours * 3_600;
  return { step_s: known.step_s, points: sorted.filter((point) => point.at > oldest) };
}

/** Seconds that the chart shows at least, however new a study is. */
const LEAST_S = 600;

/** Without the time before the study began, in which nothing can have happened. */
export function sinceBegin(chart: Chart, began_at: number | null): Chart {
  const newest = chart.points.at(-1);
  if (newest === undefined || began_at === null) return { ...chart, points: [] };
  const from = Math.min(began_at - chart.step_s, newest.at - LEAST_S);
  return { ...chart, points: chart.points.filter((point) => point.at > from) };
}

export const LINES = ["arrivals", "pairs", "complete", "lost", "wait_s"] as const;
export type LineName = (typeof LINES)[number];

/** Counts as so many a minute, whatever the step; a wait stays seconds. */
export function valueOf(point: ChartPoint, line: LineName, step_s: number): number | null {
  const value = point[line];
  return line === "wait_s" || value === null ? value : (value * 60) / step_s;
}

/** More points than this side by side are noise. */
const DRAWN = 72;

/**
 * The same with fewer, longer steps where there are many. A wait of several steps is the mean of
 * their medians, by how many were paired.
 */
export function thinned({ points, step_s }: Chart): Chart {
  const size = Math.ceil(points.length / DRAWN);
  if (size <= 1) return { points, step_s };
  const long = size * step_s;
  const bins = new Map<number, ChartPoint[]>();
  for (const point of points) {
    const at = Math.floor(point.at / long) * long;
    const bin = bins.get(at);
    if (bin === undefined) bins.set(at, [point]);
    else bin.push(point);
  }
  return { step_s: long, points: [...bins].map(([at, bin]) => summed(at, bin, size)) };
}

/** The first and the newest step are seldom whole: they count as much as is there of them. */
function summed(at: number, bin: ChartPoint[], size: number): ChartPoint {
  const sum = (count: (point: ChartPoint) => number) => bin.reduce((all, point) => all + count(point), 0);
  const scaled = (count: (point: ChartPoint) => number) => (sum(count) * size) / bin.length;
  const weight = sum(({ pairs, wait_s }) => (wait_s === null ? 0 : Math.max(pairs, 1)));
  const waits = sum(({ pairs, wait_s }) => (wait_s ?? 0) * Math.max(pairs, 1));
  return {
    at,
    arrivals: scaled(({ arrivals }) => arrivals),
    pairs: scaled(({ pairs }) => pairs),
    complete: scaled(({ complete }) => complete),
    lost: scaled(({ lost }) => lost),
    wait_s: weight === 0 ? null : waits / weight,
  };
}

/** What uPlot draws: the times, and each line's values. */
export function columnsOf({ points, step_s }: Chart): (number | null)[][] {
  const times = points.map((point) => point.at);
  return [times, ...LINES.map((line) => points.map((point) => valueOf(point, line, step_s)))];
}
