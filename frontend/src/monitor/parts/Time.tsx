/** Times: as they were, and as they pass. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useMonitor } from "../context";
import { clockSpan, timeOf, wholeTime } from "../format";

export function At({ at, seconds = false }: { at: number; seconds?: boolean }) {
  const { clock } = useMonitor();
  return (
    <time class="num" dateTime={new Date(at * 1_000).toISOString()} title={wholeTime(at)}>
      {timeOf(at, clock.now(), seconds)}
    </time>
  );
}

interface ElapsedProps {
  since: number;
  /** Seconds that had passed before. */
  before?: number;
}

/** Moves its own text on, so that two hundred of them cost no rendering. */
export function Elapsed({ since, before = 0 }: ElapsedProps) {
  const { clock } = useMonitor();
  const ref = useRef<HTMLSpanElement>(null);
  const text = () => clockSpan(clock.now() - since + before);
  useLayoutEffect(() => {
    const tick = () => {
      const node = ref.current?.firstChild;
      if (node instanceof Text) node.data = text();
    };
    tick();
    return clock.every(tick);
  }, [clock, since, before]);
  return (
    <span ref={ref} class="num">
      {text()}
    </span>
  );
}

/** The server's time, to the step; what shows it is rendered once in every step. */
export function useTime(step_s: number): number {
  const { clock } = useMonitor();
  const stepped = () => Math.floor(clock.now() / step_s) * step_s;
  const [time, setTime] = useState(stepped);
  useEffect(() => clock.every(() => setTime(stepped())), [clock, step_s]);
  return time;
}
