/** Where the focus goes when the button that was pressed has gone. */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** An element that takes the focus when a change of `what` has left it nowhere. */
export function useHeir<T extends HTMLElement>(what: unknown): RefObject<T | null> {
  const heir = useRef<T>(null);
  const known = useRef(what);
  useLayoutEffect(() => {
    if (known.current === what) return;
    known.current = what;
    const { activeElement, body } = document;
    if (activeElement === null || activeElement === body) heir.current?.focus({ preventScroll: true });
  }, [what]);
  return heir;
}
