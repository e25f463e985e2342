/** What a view shows of the record: fetched, and fetched anew when it is said to have changed. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Answer, Failure } from "./api";
import { useMonitor } from "./context";
import type { What } from "./live";

export interface Resource<T> {
  data: T | null;
  failure: Failure | null;
  loading: boolean;
  reload: () => void;
}

/** However often something changes, what shows it asks no more often than this. */
const PAUSE_MS = 1_500;

/**
 * What was there stays in place while it is fetched again, also for another `key`, so that nothing
 * jumps. `stale` names the changes after which it is asked for again.
 */
export function useResource<T>(
  load: () => Promise<Answer<T>>,
  key: string,
  stale: readonly What[] = [],
): Resource<T> {
  const { live } = useMonitor();
  const [data, setData] = useState<T | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [loading, setLoading] = useState(true);
  const newest = useRef(0);
  const loader = useRef(load);
  loader.current = load;

  const reload = useCallback(async () => {
    const mine = ++newest.current;
    setLoading(true);
    const answer = await loader.current();
    if (mine !== newest.current) return;
    setLoading(false);
    setFailure(answer.ok ? null : answer);
    if (answer.ok) setData(answer.value);
  }, []);

  useEffect(() => {
    void reload();
    return () => void newest.current++;
  }, [key]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const unhear = live.onChanged((what) => {
      if (timer !== undefined || (what !== null && !stale.includes(what))) return;
      timer = setTimeout(() => {
        timer = undefined;
        void reload();
      }, what === null ? 0 : PAUSE_MS);
    });
    return () => {
      unhear();
      clearTimeout(timer);
    };
  }, [live, stale.join()]);

  return { data, failure, loading, reload: () => void reload() };
}
