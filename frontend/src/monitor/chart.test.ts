import { describe, expect, it } from "vitest";
import type { ChartPoint } from "../generated/monitor";
import { columnsOf, merged, sinceBegin, thinned } from "./chart";

const point = (at: number, change: Partial<ChartPoint> = {}): ChartPoint => ({
  at,
  arrivals: 2,
  pairs: 1,
  complete: 1,
  lost: 0,
  wait_s: 30,
  ...change,
});

describe("the chart", () => {
  it("takes the newest points again, and drops those that are too old to be shown", () => {
    let chart = { step_s: 60, points: [point(0)] };
    for (let n = 0; n < 3_000; n += 1) {
      chart = merged(chart, { step_s: 60, points: [point(n * 60), point(n * 60 + 60, { arrivals: 9 })] }, 1);
    }
    expect(chart.points).toHaveLength(60);
    expect(chart.points.at(-1)).toMatchObject({ at: 180_000, arrivals: 9 });
    expect(chart.points.at(-2)?.arrivals).toBe(2);
  });

  it("begins with the study, and is ten minutes wide at least", () => {
    const chart = { step_s: 60, points: Array.from({ length: 180 }, (_, n) => point(n * 60)) };
    const newest = chart.points.at(-1)!.at;
    expect(sinceBegin(chart, null).points).toEqual([]);
    expect(sinceBegin(chart, newest - 90).points).toHaveLength(10);
    expect(sinceBegin(chart, newest - 3_000).points[0]?.at).toBe(newest - 3_000);
    expect(sinceBegin(chart, newest - 90_000)).toEqual(chart);
  });

  it("leaves points of another step alone", () => {
    const chart = { step_s: 300, points: [point(0)] };
    expect(merged(chart, { step_s: 60, points: [point(60)] }, 12)).toBe(chart);
  });

  it("draws counts a minute, whatever the step", () => {
    const columns = columnsOf({ step_s: 120, points: [point(0, { wait_s: null })] });
    expect(columns).toEqual([[0], [1], [0.5], [0.5], [0], [null]]);
  });

  it("draws fewer points where there are many, with the same counts", () => {
    const points = Array.from({ length: 180 }, (_, n) => point(n * 60, { wait_s: n % 2 === 0 ? 10 : null, pairs: n % 2 }));
    const few = thinned({ step_s: 60, points });
    expect(few.step_s).toBe(180);
    expect(few.points).toHaveLength(60);
    expect(few.points[5]).toMatchObject({ at: 900, arrivals: 6, wait_s: 10 });
    // The newest step has only just begun: it is no sudden fall.
    expect(thinned({ step_s: 60, points: [...points, point(10_800)] }).points.at(-1)?.arrivals).toBe(6);
  });
});
