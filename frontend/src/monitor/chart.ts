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

export const LINES = ["arrivals", "pairs", "complete", "lost", "wait_s"] as const;
export type LineName = (typeof LINES)[number];

/** Counts as so many a minute, whatever the step; a wait stays seconds. */
export function valueOf(point: ChartPoint, line: LineName, step_s: number): number | null {
  const value = point[line];
  return line === "wait_s" || value === null ? value : (value * 60) / step_s;
}

/** What uPlot draws: the times, and each line's values. */
export function columnsOf({ points, step_s }: Chart): (number | null)[][] {
  const times = points.map((point) => point.at);
  return [times, ...LINES.map((line) => points.map((point) => valueOf(point, line, step_s)))];
}
