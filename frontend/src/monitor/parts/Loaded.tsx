/** What is fetched: while it comes, when it does not come, and when it is there. */

import type { ComponentChildren } from "preact";
import type { Resource } from "../resource";
import { t } from "../texts";
import { Button } from "./Button";

interface Props<T> {
  resource: Resource<T>;
  /** How many lines to keep free for it. */
  lines?: number;
  children: (data: T) => ComponentChildren;
}

export function Loaded<T>({ resource, lines = 6, children }: Props<T>) {
  const { data, failure, loading, reload } = resource;
  return (
    <div class="loaded" aria-busy={loading}>
      {failure !== null && (
        <div class="note note-bad" role="alert" data-testid="load-failed">
          <p>{data === null ? failure.error : t.errors.stale(failure.error)}</p>
          <Button testid="load-again" onPress={reload} busy={loading}>
            {t.common.again}
          </Button>
        </div>
      )}
      {data === null ? failure === null && <Skeleton lines={lines} /> : children(data)}
    </div>
  );
}

export function Skeleton({ lines }: { lines: number }) {
  return (
    <div class="skeleton">
      <p class="unseen">{t.common.loading}</p>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class="skeleton-line" />
      ))}
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return (
    <p class="empty" data-testid="empty">
      {children}
    </p>
  );
}
