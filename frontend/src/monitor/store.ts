/** A value that is watched: what is live is kept in a few of these. */

import { useLayoutEffect, useState } from "preact/hooks";

export class Store<T> {
  #value: T;
  readonly #watchers = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const watcher of [...this.#watchers]) watcher();
  }

  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** For measuring: nothing may be left when nothing is shown. */
  get watchers(): number {
    return this.#watchers.size;
  }
}

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.value);
  useLayoutEffect(() => {
    const take = () => setValue(() => store.value);
    take();
    return store.watch(take);
  }, [store]);
  return value;
}
